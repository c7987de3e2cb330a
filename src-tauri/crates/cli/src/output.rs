//! Standard output, of which the reader may go away at any time: that is a fact to act on, never a panic.

use std::io::{self, IsTerminal, Write};

/// Standard output with the memory of whether anyone still reads it.
pub struct Output {
    stdout: io::Stdout,
    gone: bool,
}

impl Output {
    pub fn new() -> Self {
        Self {
            stdout: io::stdout(),
            gone: false,
        }
    }

    /// Writes all of it at once.
    pub fn write(&mut self, bytes: &[u8]) {
        if self.gone {
            return;
        }
        let mut stdout = self.stdout.lock();
        if stdout.write_all(bytes).and_then(|()| stdout.flush()).is_err() {
            self.gone = true;
        }
    }

    /// Whether nobody reads any more.
    pub fn is_gone(&self) -> bool {
        self.gone
    }

    /// Whether colours are wanted: a terminal, and no NO_COLOR.
    pub fn has_colours(&self) -> bool {
        let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|value| value == "dumb");
        !refused && !dumb && self.stdout.is_terminal()
    }
}

/// Prints a text and gives the exit code for it.
pub fn print(text: &str) -> u8 {
    Output::new().write(text.as_bytes());
    crate::failure::COMPLETED
}
