//! Lines within fences: a fence of another language is text, one of calls holds calls.

use super::fence::Fence;
use super::lines::{BLANKS, Line, LineReader, Place, may_begin_value};
use super::quotation::Quotation;

/// Tags of fences whose content may be a call.
const CALL_FENCES: [&str; 5] = ["", "json", "tool", "tool_call", "xml"];

impl LineReader<'_> {
    pub(super) fn open_fence(&mut self, mut fence: Fence, line: &Line) -> bool {
        let content = line.next;
        let body = self.text[content..].trim_start();
        let may_call = match CALL_FENCES.contains(&fence.tag.as_str()) {
            false => Some(false),
            true if body.is_empty() && !self.ended => None,
            true => may_begin_value(body, self.ended),
        };
        fence.holds_tags = body.starts_with('<');
        let may_call = match may_call {
            Some(true) if fence.holds_tags => self.is_alone(&fence, line),
            Some(true) => Some(fence.tag != "xml"),
            known => known,
        };
        let Some(may_call) = may_call else {
            return false;
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

    /// Whether the fence is the whole message; while it streams that is not known before something else follows.
    fn is_alone(&mut self, fence: &Fence, line: &Line) -> Option<bool> {
        if !self.text[self.base..line.here]
            .trim_matches(BLANKS)
            .trim()
            .is_empty()
        {
            return Some(false);
        }
        // Not with every piece, that would be slow.
        let content = &self.text[line.next..];
        if !self.ended && content.len() < self.next_look {
            return None;
        }
        self.next_look = content.len() + content.len() / 4;
        let follows = fence
            .end(content)
            .is_some_and(|end| !content[end..].trim().is_empty());
        match follows {
            true => Some(false),
            false => self.ended.then_some(true),
        }
    }

    /// A line in a fence that is no call.
    pub(super) fn fence_line(&mut self, fence: Fence) -> bool {
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
    pub(super) fn call_fence(&mut self, fence: Fence, content: usize, called: bool) -> bool {
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
    pub(super) fn text_fence(&mut self, fence: Fence, content: usize, called: bool) -> bool {
        if called {
            self.at = content;
        } else {
            self.prose(content);
        }
        self.go(Place::Fence(fence))
    }
}
