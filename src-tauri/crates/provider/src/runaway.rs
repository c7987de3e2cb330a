//! Guards against answers that never end: a token repeated for ever keeps every idle timer quiet.

/// Bytes of one answer.
const ANSWER_LIMIT: usize = 4 * 1024 * 1024;
/// Blanks in a row.
const BLANK_LIMIT: usize = 2_000;
/// Bytes between two looks for a repetition.
const LOOK_EVERY: usize = 200;
/// Longest repeated piece that is looked for, in bytes.
const LONGEST_PERIOD: usize = 200;

/// Watches one channel (text, reasoning, arguments of a call).
#[derive(Debug)]
pub(crate) struct RunawayGuard {
    tail: Vec<u8>,
    /// Bytes of pure repetition that are too much.
    repetition_limit: usize,
    since_look: usize,
    blanks: usize,
    total: usize,
}

impl RunawayGuard {
    /// For prose.
    pub fn text() -> Self {
        Self::new(2_400)
    }

    /// For arguments: files may well hold long rows of the same.
    pub fn arguments() -> Self {
        Self::new(12_000)
    }

    fn new(repetition_limit: usize) -> Self {
        Self {
            tail: Vec::new(),
            repetition_limit,
            since_look: 0,
            blanks: 0,
            total: 0,
        }
    }

    /// Takes more text; says what runs away, if anything does.
    pub fn push(&mut self, text: &str) -> Option<&'static str> {
        self.total += text.len();
        if self.total > ANSWER_LIMIT {
            return Some("The answer grew above 4 MiB and was stopped.");
        }
        for byte in text.bytes() {
            self.blanks = if byte.is_ascii_whitespace() {
                self.blanks + 1
            } else {
                0
            };
            if self.blanks > BLANK_LIMIT {
                return Some("The model sent nothing but blanks and was stopped.");
            }
        }
        self.tail.extend_from_slice(text.as_bytes());
        self.since_look += text.len();
        if self.since_look < LOOK_EVERY || self.tail.len() < self.repetition_limit {
            return None;
        }
        self.since_look = 0;
        let start = self.tail.len() - self.repetition_limit;
        let tail = &self.tail[start..];
        let repeats = (1..=LONGEST_PERIOD).any(|period| tail[period..] == tail[..tail.len() - period]);
        if self.tail.len() > 4 * self.repetition_limit {
            self.tail.drain(..start);
        }
        repeats.then_some("The model repeated itself without end and was stopped.")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs_away(guard: &mut RunawayGuard, piece: &str, times: usize) -> bool {
        (0..times).any(|_| guard.push(piece).is_some())
    }

    #[test]
    fn endless_repetition_is_seen() {
        assert!(runs_away(&mut RunawayGuard::text(), "</invoke>\n", 6_000));
        assert!(runs_away(&mut RunawayGuard::text(), "\n", 3_000));
        assert!(runs_away(
            &mut RunawayGuard::text(),
            "I will now read the file again. ",
            200
        ));
        assert!(runs_away(&mut RunawayGuard::arguments(), "0, ", 6_000));
    }

    #[test]
    fn ordinary_text_is_not() {
        let prose: String = (0..4_000).map(|n| format!("Line {n} of the file. ")).collect();
        assert!(!runs_away(&mut RunawayGuard::text(), &prose, 1));
        assert!(!runs_away(&mut RunawayGuard::text(), "-", 500));
        assert!(!runs_away(&mut RunawayGuard::arguments(), "0, ", 2_000));
    }
}
