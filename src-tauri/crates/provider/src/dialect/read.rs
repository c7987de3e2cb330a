//! A complete answer, split into its text and its calls.

use super::TextPart;
use super::lines::{Found, LineReader};
use std::mem;

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
