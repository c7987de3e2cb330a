//! A value at the beginning of a line, held back until it is known to be a call or text.

use super::call::{Frame, Taken, take};
use super::fence::Fence;
use super::lines::{Found, LineReader, Place};
use super::scan::CallScanner;
use crate::loose_json::{LooseError, read_value};

/// Bytes of a held value up to which it is read again with each piece; then at each doubling.
const READ_ALWAYS: usize = 1_024;
/// Times a value that looks complete is read again.
const READ_COMPLETE: u32 = 64;

/// A value that may become a call.
#[derive(Debug)]
pub(super) struct Held {
    pub start: usize,
    scanned: usize,
    scanner: CallScanner,
    next_read: usize,
    read_complete: u32,
}

impl LineReader<'_> {
    /// A value that may be a call, at `start`.
    pub(super) fn value(&mut self, start: usize, fence: Option<Fence>) -> bool {
        if !self.ended && !self.look(start) {
            return false;
        }
        let taken = take(&self.text[start..], &self.tools, self.ended);
        if matches!(taken, Taken::Wait) {
            return false;
        }
        self.held = None;
        match (taken, fence) {
            (Taken::Calls { found, end }, fence) => {
                self.calls += found.len();
                self.found.extend(found.into_iter().map(|call| match call {
                    Ok(call) => Found::Call(call),
                    Err(broken) => Found::Broken(broken),
                }));
                self.at = start + end;
                self.go(Place::AfterCall(fence))
            }
            (Taken::Broken(broken), _) => {
                self.found.push(Found::Broken(broken));
                self.go(Place::Done)
            }
            (_, Some(fence)) => {
                let (content, called) = match &self.place {
                    Place::CallFence { content, called, .. } => (*content, *called),
                    _ => (self.at, true),
                };
                self.text_fence(fence, content, called)
            }
            (Taken::Value { end }, None) => {
                self.prose(start + end);
                self.go(Place::Prose)
            }
            (_, None) => self.go(Place::Prose),
        }
    }

    /// Looks at a held value while it streams. False = reading it would be in vain.
    fn look(&mut self, start: usize) -> bool {
        let frame = match Frame::of(&self.text[start..], false) {
            Ok(frame) => frame,
            Err(wait) => return !wait,
        };
        let length = self.text.len() - start;
        let held = self
            .held
            .take_if(|held| held.start == start)
            .unwrap_or_else(|| Held {
                start,
                scanned: start + frame.start,
                scanner: CallScanner::default(),
                next_read: 0,
                read_complete: 0,
            });
        let held = self.held.insert(held);
        let due = length >= held.next_read;
        let mut valid = self.text.len();
        if due {
            // Behind a mistake nothing is known to be a call.
            if let Err(LooseError::Invalid { at, .. }) = read_value(&self.text[start + frame.start..]) {
                valid = start + frame.start + at;
            }
            if length >= READ_ALWAYS {
                held.next_read = length * 2;
            }
        }
        if held.scanned < valid {
            let glimpses = held.scanner.push(&self.text[held.scanned..valid], &self.tools);
            held.scanned = valid;
            self.found.extend(glimpses.into_iter().map(Found::Glimpse));
        }
        let complete = held.scanner.is_complete() && held.read_complete < READ_COMPLETE;
        held.read_complete += u32::from(complete);
        complete || due
    }
}
