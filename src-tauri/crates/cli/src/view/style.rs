//! Colours, or none.

/// Sixteen-colour codes that every terminal and every theme has.
#[derive(Clone, Copy)]
pub struct Style {
    pub colours: bool,
}

impl Style {
    pub fn dim(self, text: &str) -> String {
        self.with("2", text)
    }

    pub fn bold(self, text: &str) -> String {
        self.with("1", text)
    }

    pub fn good(self, text: &str) -> String {
        self.with("32", text)
    }

    pub fn bad(self, text: &str) -> String {
        self.with("31", text)
    }

    pub fn attention(self, text: &str) -> String {
        self.with("33", text)
    }

    /// Line by line, so that no colour runs over a line end.
    fn with(self, code: &str, text: &str) -> String {
        if !self.colours || text.is_empty() {
            return text.to_owned();
        }
        let lines: Vec<String> = text
            .split('\n')
            .map(|line| match line {
                "" => String::new(),
                line => format!("\u{1b}[{code}m{line}\u{1b}[0m"),
            })
            .collect();
        lines.join("\n")
    }
}
