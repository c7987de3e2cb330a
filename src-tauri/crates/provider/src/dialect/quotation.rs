//! Inline code and brackets that go over several lines of a paragraph.

/// What was opened in the prose of a paragraph and is still open: in there is no call.
#[derive(Debug, Default)]
pub(super) struct Quotation {
    /// Marks of a piece of inline code.
    code: Option<usize>,
    /// Braces and brackets.
    brackets: usize,
}

impl Quotation {
    pub fn is_open(&self) -> bool {
        self.code.is_some() || self.brackets > 0
    }

    /// Takes a line of prose.
    pub fn follow(&mut self, line: &str) {
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
