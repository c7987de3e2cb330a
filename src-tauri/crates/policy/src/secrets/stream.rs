//! Masking of a text that arrives in pieces: what may be the begin of a secret waits for the rest of it.

use super::Masker;
use std::sync::Arc;

/// So many bytes wait at most.
const MOST_HELD: usize = 64 * 1024;
/// So much of them stays back when they are too many: no secret but a private key is longer.
const LONGEST: usize = 8 * 1024;
/// Words after which a secret may stand in the same line.
const TELLING: &[&str] = &[
    "key",
    "token",
    "secret",
    "pass",
    "pwd",
    "credential",
    "bearer",
    "basic",
    "://",
    "akia",
    "asia",
    "sig=",
    "-----",
];
const BEGIN: &str = "-----BEGIN";
const END: &str = "-----END";

/// Masks a text that arrives in pieces. Its outputs together are what [`Masker::mask`] makes of the whole text, as long as no line
/// that holds a secret is longer than 64 KiB.
#[derive(Clone, Debug)]
pub struct MaskStream {
    masker: Arc<Masker>,
    held: String,
    /// A private key was too long to wait for; it is dropped up to its end.
    in_key: bool,
    masked: u32,
}

impl MaskStream {
    pub fn new(masker: Arc<Masker>) -> Self {
        Self {
            masker,
            held: String::new(),
            in_key: false,
            masked: 0,
        }
    }

    /// What can be shown of the text so far.
    pub fn push(&mut self, text: &str) -> String {
        self.held.push_str(text);
        if self.in_key && !self.skip_key() {
            return String::new();
        }
        let cut = self.cut();
        self.give(cut)
    }

    /// The rest; nothing more comes.
    pub fn finish(&mut self) -> String {
        if std::mem::take(&mut self.in_key) {
            self.held.clear();
        }
        self.give(self.held.len())
    }

    /// How many secrets were masked so far.
    pub fn masked(&self) -> u32 {
        self.masked
    }

    fn give(&mut self, cut: usize) -> String {
        let rest = self.held.split_off(cut);
        let ready = std::mem::replace(&mut self.held, rest);
        let masked = self.masker.mask(&ready);
        self.masked = self.masked.saturating_add(masked.count);
        masked.text.into_owned()
    }

    /// Drops the lines of a private key; true behind its end.
    fn skip_key(&mut self) -> bool {
        let behind = self.held.find(END).and_then(|at| {
            let line = self.held.get(at + END.len()..)?;
            line.find("-----").map(|end| at + END.len() + end + 5)
        });
        match behind {
            Some(at) => {
                self.held.drain(..at);
                self.in_key = false;
                true
            }
            None => {
                let mut from = self.held.len().saturating_sub(200);
                while !self.held.is_char_boundary(from) {
                    from -= 1;
                }
                self.held.drain(..from);
                false
            }
        }
    }

    /// Up to where the held text is complete.
    fn cut(&mut self) -> usize {
        let text = self.held.as_str();
        let cut = self
            .open_key()
            .unwrap_or_else(|| self.last_word())
            .min(self.masker.known.unfinished(text));
        if text.len() - cut <= MOST_HELD {
            return cut;
        }
        if self.open_key().is_some_and(|key| key <= cut) {
            self.in_key = true;
            return text.len();
        }
        // One endless line: between two words of it, or anywhere.
        let mut forced = text.len() - LONGEST;
        while !text.is_char_boundary(forced) {
            forced -= 1;
        }
        let word = |c: char| {
            c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '+' | '/' | '=' | '.' | ':' | '@' | '%')
        };
        let head = text.get(cut..forced).unwrap_or_default();
        head.rfind(|c: char| !word(c)).map_or(forced, |at| cut + at)
    }

    /// Where a private key begins that has not ended.
    fn open_key(&self) -> Option<usize> {
        let at = self.held.rfind(BEGIN)?;
        let rest = self.held.get(at + BEGIN.len()..)?;
        let header = rest.split("-----").next().unwrap_or_default();
        let named = header.contains("PRIVATE KEY") || !rest.contains("-----");
        let end = rest.find(END);
        // The line with the end belongs to the key.
        let ended = end.is_some_and(|end| {
            let line = rest.get(end + END.len()..).unwrap_or_default();
            line.find("-----")
                .is_some_and(|close| line.get(close..).is_some_and(|behind| behind.contains('\n')))
        });
        // Signs and lines that no key has: the marker stood alone, or the key was cut off.
        let signs = [
            ';', '{', '}', '<', '>', '[', ']', '(', ')', '`', '\'', '|', '*', '#', '!', '?', '_',
        ];
        let prose = |line: &str| !line.contains([':', '-']) && line.split_whitespace().count() > 2;
        let body = rest
            .get(header.len()..end.unwrap_or(rest.len()).max(header.len()))
            .unwrap_or_default();
        let other = body.contains(signs) || body.lines().any(prose);
        (named && !ended && !other).then_some(at)
    }

    /// Where the last word begins, or the last line if something in it tells of a secret.
    fn last_word(&self) -> usize {
        let text = self.held.as_str();
        let line = text.rfind('\n').map_or(0, |at| at + 1);
        let last = text.get(line..).unwrap_or_default();
        let lower = last.to_lowercase();
        if TELLING.iter().any(|word| lower.contains(word)) {
            return line;
        }
        let word = last.rfind([' ', '\t']).map_or(line, |at| line + at + 1);
        let silent = text.get(word..).is_some_and(|rest| {
            !rest.is_empty()
                && rest
                    .chars()
                    .all(|c| matches!(c, '.' | '#' | '=' | '*' | '█' | '░'))
        });
        if silent { text.len() } else { word }
    }
}
