//! Goes through an answer from line to line and tells calls from text, while it streams and when it is complete.
//!
//! One machine for both, so that what is shown while it streams is what the complete text means: as long as more text may come, it
//! waits wherever that text could change the meaning of a line.

use super::call::XML_TAGS;
use super::fence::Fence;
use super::held::Held;
use super::quotation::Quotation;
use super::scan::Glimpse;
use super::{BrokenCall, RESULT_MARK, TextCall};
use crate::reading::split_lone_close;
use std::mem;

/// Beginnings of results that a model invents after its own call, in lower case; beside [`RESULT_MARK`].
const INVENTED: [&str; 4] = ["<tool_result>", "<tool_response>", "observation:", "result:"];
const THINK_TAGS: [(&str, &str); 2] = [("<think>", "</think>"), ("<thinking>", "</thinking>")];
pub(super) const BLANKS: [char; 3] = ['\u{feff}', ' ', '\t'];

/// What the machine found.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    Prose(String),
    Call(TextCall),
    Broken(BrokenCall),
    /// A call that still streams.
    Glimpse(Glimpse),
}

#[derive(Clone, Debug)]
pub(super) enum Place {
    LineStart,
    /// In a line of prose.
    Prose,
    /// At the start of a line, or within one, of a fence that is no call.
    Fence(Fence),
    FenceLine(Fence),
    /// In a fence whose content may be calls: where that goes on, and whether a call came in it.
    CallFence {
        fence: Fence,
        content: usize,
        called: bool,
    },
    /// In reasoning in the middle of an answer, up to this tag: shown, but no call.
    Reasoning(&'static str),
    /// Behind a call, in the same line.
    AfterCall(Option<Fence>),
    /// What follows is dropped.
    Done,
}

#[derive(Debug)]
pub(super) struct LineReader<'a> {
    pub(super) tools: Vec<&'a str>,
    pub(super) text: String,
    pub(super) ended: bool,
    /// The text is read while it comes.
    pub(super) is_live: bool,
    /// Up to here everything is sorted.
    pub(super) at: usize,
    /// Where the answer begins; reasoning may come before it.
    pub(super) base: usize,
    /// Start of the line of prose.
    pub(super) line: usize,
    pub(super) place: Place,
    pub(super) open: Quotation,
    pub(super) calls: usize,
    pub(super) held: Option<Held>,
    /// Bytes of a fence at which it is looked at again.
    pub(super) next_look: usize,
    pub(super) found: Vec<Found>,
}

/// The line that begins at a place.
pub(super) struct Line {
    /// After the blanks.
    pub(super) here: usize,
    /// Without the blanks before it.
    pub(super) text: String,
    pub(super) next: usize,
    pub(super) is_complete: bool,
}

impl<'a> LineReader<'a> {
    pub fn new(tools: Vec<&'a str>) -> Self {
        Self {
            tools,
            text: String::new(),
            ended: false,
            is_live: false,
            at: 0,
            base: 0,
            line: 0,
            place: Place::LineStart,
            open: Quotation::default(),
            calls: 0,
            held: None,
            next_look: 0,
            found: Vec::new(),
        }
    }

    /// Takes more text; `ended` says that nothing follows.
    pub fn push(&mut self, text: &str, ended: bool) -> Vec<Found> {
        self.text.push_str(text);
        self.ended = ended;
        self.is_live |= !ended;
        while self.at < self.text.len() && self.step() {}
        mem::take(&mut self.found)
    }

    /// False = more text is needed.
    fn step(&mut self) -> bool {
        if let Some(start) = self.held.as_ref().map(|held| held.start) {
            let fence = match &self.place {
                Place::CallFence { fence, .. } => Some(fence.clone()),
                Place::AfterCall(fence) => fence.clone(),
                _ => None,
            };
            return self.value(start, fence);
        }
        match self.place.clone() {
            Place::LineStart => self.line_start(),
            Place::Prose => self.rest_of_line(Place::LineStart),
            Place::Fence(fence) => self.fence_line(fence),
            Place::FenceLine(fence) => self.rest_of_line(Place::Fence(fence)),
            Place::CallFence {
                fence,
                content,
                called,
            } => self.call_fence(fence, content, called),
            Place::Reasoning(end) => self.reasoning(end),
            Place::AfterCall(fence) => self.after_call(fence),
            Place::Done => false,
        }
    }

    pub(super) fn prose(&mut self, end: usize) {
        if self.at < end {
            self.found.push(Found::Prose(self.text[self.at..end].to_owned()));
            self.at = end;
        }
    }

    pub(super) fn go(&mut self, place: Place) -> bool {
        if matches!(place, Place::Prose) {
            self.line = self.at;
        }
        self.place = place;
        true
    }

    /// The line at `from`.
    pub(super) fn line_at(&self, from: usize) -> Line {
        let rest = &self.text[from..];
        let begun = rest.trim_start_matches(BLANKS);
        let here = self.text.len() - begun.len();
        let end = begun.find('\n');
        let text = &begun[..end.unwrap_or(begun.len())];
        Line {
            here,
            text: text.strip_suffix('\r').unwrap_or(text).to_owned(),
            next: end.map_or(self.text.len(), |end| here + end + 1),
            is_complete: end.is_some() || self.ended,
        }
    }

    fn line_start(&mut self) -> bool {
        let line = self.line_at(self.at);
        if line.text.is_empty() {
            if line.is_complete {
                self.open = Quotation::default();
                self.prose(line.next);
            }
            return line.is_complete;
        }
        if let Some(moved) = self.reasoning_end(&line) {
            return moved;
        }
        if let Some((_, end)) = THINK_TAGS.iter().find(|(tag, _)| line.text.starts_with(tag)) {
            return self.go(Place::Reasoning(end));
        }
        if !line.is_complete && THINK_TAGS.iter().any(|(tag, _)| tag.starts_with(&line.text)) {
            return false;
        }
        match self.is_invented(&line) {
            Some(true) => return self.go(Place::Done),
            None => return false,
            Some(false) => {}
        }
        if !line.is_complete && Fence::may_begin(&line.text) {
            return false;
        }
        if let Some(fence) = Fence::of(&line.text) {
            return self.open_fence(fence, &line);
        }
        if self.open.is_open() {
            return self.go(Place::Prose);
        }
        match may_begin_value(&line.text, line.is_complete) {
            Some(true) => self.value(line.here, None),
            Some(false) => self.go(Place::Prose),
            None => false,
        }
    }

    /// A line that ends reasoning whose beginning stood in the template: everything before was no answer. `None` = it is none.
    pub(super) fn reasoning_end(&mut self, line: &Line) -> Option<bool> {
        let text = line.text.trim_end();
        if !self.is_live || !text.starts_with('<') {
            return None;
        }
        if !line.is_complete {
            return THINK_TAGS
                .iter()
                .any(|(_, end)| end.starts_with(text))
                .then_some(false);
        }
        let is_end = THINK_TAGS.iter().any(|(_, end)| *end == text)
            && split_lone_close(&self.text[..line.next]).is_some_and(|(_, answer)| answer.is_empty());
        if !is_end {
            return None;
        }
        self.at = line.next;
        self.base = line.next;
        self.open = Quotation::default();
        self.calls = 0;
        Some(self.go(Place::LineStart))
    }

    fn reasoning(&mut self, end: &str) -> bool {
        let rest = &self.text[self.at..];
        if let Some(found) = rest.find(end) {
            self.prose(self.at + found + end.len());
            return self.go(Place::Prose);
        }
        // The last characters may be the beginning of the tag.
        let mut known = self.text.len();
        if !self.ended {
            known = known.saturating_sub(end.len() - 1).max(self.at);
            while !self.text.is_char_boundary(known) {
                known -= 1;
            }
        }
        let moved = known > self.at;
        self.prose(known);
        moved
    }

    /// Whether the line begins an invented result. `None` = more text decides.
    pub(super) fn is_invented(&self, line: &Line) -> Option<bool> {
        if self.calls == 0 {
            return Some(false);
        }
        let start: String = line.text.chars().take(20).collect::<String>().to_lowercase();
        let mark = RESULT_MARK.to_lowercase();
        let mut marks = INVENTED.iter().copied().chain([mark.as_str()]);
        if marks.clone().any(|mark| start.starts_with(mark)) {
            return Some(true);
        }
        let open = !line.is_complete && marks.any(|mark| mark.starts_with(&start));
        (!open).then_some(false)
    }

    /// Text up to the end of the line.
    fn rest_of_line(&mut self, then: Place) -> bool {
        let Some(end) = self.text[self.at..].find('\n').map(|end| self.at + end + 1) else {
            self.prose(self.text.len());
            return true;
        };
        self.prose(end);
        if matches!(then, Place::LineStart) {
            let line = self.text[self.line..end].to_owned();
            self.open.follow(&line);
        }
        self.go(then)
    }

    /// The rest of a line in which a call ended.
    fn after_call(&mut self, fence: Option<Fence>) -> bool {
        let line = self.line_at(self.at);
        if line.text.is_empty() {
            if !line.is_complete {
                return false;
            }
            self.at = line.next;
            let place = match fence {
                None => Place::LineStart,
                Some(fence) => Place::CallFence {
                    fence,
                    content: self.at,
                    called: true,
                },
            };
            return self.go(place);
        }
        if line.text.starts_with(',') {
            self.at = line.here + 1;
            return true;
        }
        match self.is_invented(&line) {
            Some(true) => return self.go(Place::Done),
            None => return false,
            Some(false) => {}
        }
        match may_begin_value(&line.text, line.is_complete) {
            Some(true) => return self.value(line.here, fence),
            None => return false,
            Some(false) => {}
        }
        // A closing tag that closes nothing is no text either.
        if line.text.starts_with("</") {
            let close = line.text.find('>');
            if close.is_none() && !line.is_complete {
                return false;
            }
            self.at = close.map_or(line.next, |close| line.here + close + 1);
            return true;
        }
        if !line.is_complete && ("</".starts_with(&line.text) || Fence::may_begin(&line.text)) {
            return false;
        }
        match fence {
            None => self.go(Place::Prose),
            Some(fence) if Fence::of(&line.text).is_some_and(|closing| closing.closes(&fence)) => {
                self.at = line.next;
                self.go(Place::LineStart)
            }
            Some(fence) => self.go(Place::FenceLine(fence)),
        }
    }
}

/// Whether text at the beginning of a line may be a value of a call. `None` = more text decides.
pub(super) fn may_begin_value(text: &str, is_complete: bool) -> Option<bool> {
    if text.starts_with(['{', '[']) || XML_TAGS.iter().any(|(open, _)| text.starts_with(open)) {
        return Some(true);
    }
    match !is_complete && XML_TAGS.iter().any(|(open, _)| open.starts_with(text)) {
        true => None,
        false => Some(false),
    }
}
