//! Goes through an answer from line to line and tells calls from text, while it streams and when it is complete.
//!
//! One machine for both, so that what is shown while it streams is what the complete text means: as long as more text may come, it
//! waits wherever that text could change the meaning of a line.

use super::call::{Frame, Taken, XML_TAGS, take};
use super::fence::Fence;
use super::scan::{CallScanner, Glimpse};
use super::{BrokenCall, RESULT_MARK, TextCall, TextPart};
use crate::chat::split_lone_close;
use crate::loose_json::{LooseError, read_value};
use std::mem;

/// Beginnings of results that a model invents after its own call, in lower case; beside [`RESULT_MARK`].
const INVENTED: [&str; 4] = ["<tool_result>", "<tool_response>", "observation:", "result:"];
/// Tags of fences whose content may be a call.
const CALL_FENCES: [&str; 5] = ["", "json", "tool", "tool_call", "xml"];
const THINK_ENDS: [&str; 2] = ["</think>", "</thinking>"];
/// Bytes of a held value up to which it is read again with each piece; then at each doubling.
const READ_ALWAYS: usize = 1_024;
/// Times a value that looks complete is read again.
const READ_COMPLETE: u32 = 64;
const BLANKS: [char; 3] = ['\u{feff}', ' ', '\t'];

/// What the machine found.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    Prose(String),
    Call(TextCall),
    Broken(BrokenCall),
    /// A call that still streams.
    Glimpse(Glimpse),
}

/// The parts of a complete answer from which reasoning was taken away.
pub(crate) fn read_answer(text: &str, tools: &[&str]) -> Vec<TextPart> {
    let mut reader = LineReader::new(tools.to_vec());
    let mut parts = Vec::new();
    let mut prose = ProseJoiner::default();
    for found in reader.push(text, true) {
        match found {
            Found::Prose(text) => {
                let Some(text) = prose.push(&text) else { continue };
                match parts.last_mut() {
                    Some(TextPart::Prose(all)) => all.push_str(&text),
                    _ => parts.push(TextPart::Prose(text)),
                }
            }
            Found::Call(call) => parts.push(TextPart::Call(call)),
            Found::Broken(broken) => parts.push(TextPart::Broken(broken)),
            Found::Glimpse(_) => {}
        }
        if !matches!(parts.last(), Some(TextPart::Prose(_))) {
            prose = ProseJoiner::default();
        }
    }
    parts
}

/// Leaves out the blanks around a text that comes in pieces.
#[derive(Debug, Default)]
pub(super) struct ProseJoiner {
    begun: bool,
    blanks: String,
}

impl ProseJoiner {
    pub fn push(&mut self, text: &str) -> Option<String> {
        let mut all = mem::take(&mut self.blanks) + text;
        let end = all.trim_end().len();
        self.blanks = all.split_off(end);
        if !self.begun {
            all = all.trim_start().to_owned();
            if all.is_empty() {
                self.blanks.clear();
            }
        }
        self.begun |= !all.is_empty();
        (!all.is_empty()).then_some(all)
    }
}

/// What was opened in the prose of a paragraph and is still open: in there is no call.
#[derive(Debug, Default)]
struct Quotation {
    /// Marks of a piece of inline code.
    code: Option<usize>,
    /// Braces and brackets.
    brackets: usize,
}

impl Quotation {
    fn is_open(&self) -> bool {
        self.code.is_some() || self.brackets > 0
    }

    /// Takes a line of prose.
    fn follow(&mut self, line: &str) {
        let mut run = 0;
        for c in line.chars().chain(['\n']) {
            if c == '`' {
                run += 1;
                continue;
            }
            if run > 0 {
                self.code = match self.code {
                    None => Some(run),
                    Some(open) if open == run => None,
                    open => open,
                };
                run = 0;
            }
            match c {
                '{' | '[' if self.code.is_none() => self.brackets += 1,
                '}' | ']' if self.code.is_none() => self.brackets = self.brackets.saturating_sub(1),
                _ => {}
            }
        }
    }
}

#[derive(Clone, Debug)]
enum Place {
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
    /// Behind a call, in the same line.
    AfterCall(Option<Fence>),
    /// What follows is dropped.
    Done,
}

/// A value that may become a call.
#[derive(Debug)]
struct Held {
    start: usize,
    scanned: usize,
    scanner: CallScanner,
    next_read: usize,
    read_complete: u32,
}

#[derive(Debug)]
pub(super) struct LineReader<'a> {
    tools: Vec<&'a str>,
    text: String,
    ended: bool,
    /// The text is read while it comes.
    is_live: bool,
    /// Up to here everything is sorted.
    at: usize,
    /// Where the answer begins; reasoning may come before it.
    base: usize,
    /// Start of the line of prose.
    line: usize,
    place: Place,
    open: Quotation,
    calls: usize,
    held: Option<Held>,
    found: Vec<Found>,
}

/// The line that begins at a place.
struct Line {
    /// After the blanks.
    here: usize,
    /// Without the blanks before it.
    text: String,
    next: usize,
    is_complete: bool,
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
            Place::AfterCall(fence) => self.after_call(fence),
            Place::Done => false,
        }
    }

    fn prose(&mut self, end: usize) {
        if self.at < end {
            self.found.push(Found::Prose(self.text[self.at..end].to_owned()));
            self.at = end;
        }
    }

    fn go(&mut self, place: Place) -> bool {
        if matches!(place, Place::Prose) {
            self.line = self.at;
        }
        self.place = place;
        true
    }

    /// The line at `from`.
    fn line_at(&self, from: usize) -> Line {
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
    fn reasoning_end(&mut self, line: &Line) -> Option<bool> {
        let text = line.text.trim_end();
        if !self.is_live || !text.starts_with('<') {
            return None;
        }
        if !line.is_complete {
            return THINK_ENDS
                .iter()
                .any(|end| end.starts_with(text))
                .then_some(false);
        }
        let is_end = THINK_ENDS.contains(&text)
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

    /// Whether the line begins an invented result. `None` = more text decides.
    fn is_invented(&self, line: &Line) -> Option<bool> {
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

    fn open_fence(&mut self, mut fence: Fence, line: &Line) -> bool {
        let body = self.text[line.next..].trim_start();
        if body.is_empty() && !self.ended {
            return false;
        }
        let content = line.next;
        let kind = match CALL_FENCES.contains(&fence.tag.as_str()) {
            true => may_begin_value(body, self.ended),
            false => Some(false),
        };
        fence.holds_tags = body.starts_with('<');
        let may_call = match kind {
            None => return false,
            Some(false) => false,
            Some(true) if fence.holds_tags => self.is_alone(&fence, line),
            Some(true) => fence.tag != "xml",
        };
        self.open = Quotation::default();
        if may_call {
            return self.go(Place::CallFence {
                fence,
                content,
                called: false,
            });
        }
        self.prose(content);
        self.go(Place::Fence(fence))
    }

    /// Whether the fence is the whole message, as far as that is known.
    fn is_alone(&self, fence: &Fence, line: &Line) -> bool {
        let after = fence.end(&self.text[line.next..]).map(|end| line.next + end);
        let follows = after.is_some_and(|after| !self.text[after..].trim().is_empty());
        self.text[self.base..line.here]
            .trim_matches(BLANKS)
            .trim()
            .is_empty()
            && !follows
    }

    /// A line in a fence that is no call.
    fn fence_line(&mut self, fence: Fence) -> bool {
        let line = self.line_at(self.at);
        if !line.is_complete && (line.text.is_empty() || Fence::may_begin(&line.text)) {
            return false;
        }
        if let Some(moved) = self.reasoning_end(&line) {
            return moved;
        }
        if Fence::of(&line.text).is_some_and(|closing| closing.closes(&fence)) {
            self.prose(line.next);
            return self.go(Place::LineStart);
        }
        self.go(Place::FenceLine(fence))
    }

    /// Content of a fence that may be calls, at `content`.
    fn call_fence(&mut self, fence: Fence, content: usize, called: bool) -> bool {
        let body = self.text[content..].trim_start();
        let here = self.text.len() - body.len();
        let line = self.line_at(here);
        if line.text.is_empty() {
            return self.ended && self.text_fence(fence, content, called);
        }
        if called {
            match self.is_invented(&line) {
                Some(true) => return self.go(Place::Done),
                None => return false,
                Some(false) => {}
            }
            if !line.is_complete && Fence::may_begin(&line.text) {
                return false;
            }
            if Fence::of(&line.text).is_some_and(|closing| closing.closes(&fence)) {
                self.at = line.next;
                return self.go(Place::LineStart);
            }
        }
        match may_begin_value(&line.text, line.is_complete) {
            None => false,
            Some(true) if fence.holds_tags || !line.text.starts_with('<') => self.value(here, Some(fence)),
            Some(_) => self.text_fence(fence, content, called),
        }
    }

    /// The rest of a fence is text after all.
    fn text_fence(&mut self, fence: Fence, content: usize, called: bool) -> bool {
        if called {
            self.at = content;
        } else {
            self.prose(content);
        }
        self.go(Place::Fence(fence))
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

    /// A value that may be a call, at `start`.
    fn value(&mut self, start: usize, fence: Option<Fence>) -> bool {
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

/// Whether text at the beginning of a line may be a value of a call. `None` = more text decides.
fn may_begin_value(text: &str, is_complete: bool) -> Option<bool> {
    if text.starts_with(['{', '[']) || XML_TAGS.iter().any(|(open, _)| text.starts_with(open)) {
        return Some(true);
    }
    match !is_complete && XML_TAGS.iter().any(|(open, _)| open.starts_with(text)) {
        true => None,
        false => Some(false),
    }
}
