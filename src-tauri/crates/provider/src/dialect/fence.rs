//! Lines that open and close a block of code.

/// A line that opens or closes a block of code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fence {
    mark: char,
    length: usize,
    /// First word behind the marks, in lower case.
    pub tag: String,
    is_bare: bool,
    /// Its content is a call in tags.
    pub holds_tags: bool,
}

impl Fence {
    /// The fence that a line without leading blanks is; `None` when it is something else.
    pub fn of(line: &str) -> Option<Self> {
        let line = line.lines().next().unwrap_or_default();
        let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
        let length = line.chars().take_while(|c| *c == mark).count();
        let after = line[length..].trim();
        if length < 3 || after.contains('`') {
            return None;
        }
        Some(Self {
            mark,
            length,
            tag: after.split_whitespace().next().unwrap_or_default().to_lowercase(),
            is_bare: after.is_empty(),
            holds_tags: false,
        })
    }

    /// Whether a line that is not complete yet may become a fence.
    pub fn may_begin(line: &str) -> bool {
        let Some(mark) = line.chars().next().filter(|c| matches!(c, '`' | '~')) else {
            return false;
        };
        let length = line.chars().take_while(|c| *c == mark).count();
        length == line.len() || length >= 3
    }

    pub fn closes(&self, opening: &Fence) -> bool {
        self.mark == opening.mark && self.length >= opening.length && self.is_bare
    }

    /// Where the line after the closing one begins in `text`, the content of this fence.
    pub fn end(&self, text: &str) -> Option<usize> {
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            at += line.len();
            if Fence::of(line.trim_start()).is_some_and(|fence| fence.closes(self)) {
                return Some(at);
            }
        }
        None
    }
}
