//! Reasoning that a model writes into its text between think tags.
//!
//! Only at the start of a message: tags later on are text about tags. A closing tag without an opening one (the template opened
//! it) counts when it stands alone on its line.

use std::mem;

const TAGS: [(&str, &str); 2] = [("<think>", "</think>"), ("<thinking>", "</thinking>")];

/// A piece of streamed text, sorted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Sorted {
    Text(String),
    Reasoning(String),
}

#[derive(Debug, Default)]
pub(crate) struct ThinkSplitter {
    state: State,
    held: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// Nothing but blanks and perhaps the beginning of a tag came.
    #[default]
    Start,
    /// Inside of the tag pair with this index.
    Thinking(usize),
    /// After the closing tag: blanks before the answer are dropped.
    AfterThinking,
    Text,
}

impl ThinkSplitter {
    pub fn push(&mut self, text: &str, out: &mut Vec<Sorted>) {
        self.held.push_str(text);
        loop {
            match self.state {
                State::Start => {
                    let begun = self.held.trim_start();
                    if begun.is_empty() {
                        return;
                    }
                    if let Some(tag) = TAGS.iter().position(|(open, _)| begun.starts_with(open)) {
                        self.held = begun[TAGS[tag].0.len()..].to_string();
                        self.state = State::Thinking(tag);
                    } else if TAGS.iter().any(|(open, _)| open.starts_with(begun)) {
                        return;
                    } else {
                        self.state = State::Text;
                    }
                }
                State::Thinking(tag) => {
                    let close = TAGS[tag].1;
                    if let Some(end) = self.held.find(close) {
                        let rest = self.held.split_off(end + close.len());
                        self.held.truncate(end);
                        push_reasoning(mem::replace(&mut self.held, rest), out);
                        self.state = State::AfterThinking;
                    } else {
                        let keep = beginning_of(close, &self.held);
                        let rest = self.held.split_off(self.held.len() - keep);
                        push_reasoning(mem::replace(&mut self.held, rest), out);
                        return;
                    }
                }
                State::AfterThinking => {
                    self.held = self.held.trim_start().to_string();
                    if self.held.is_empty() {
                        return;
                    }
                    self.state = State::Text;
                }
                State::Text => {
                    if !self.held.is_empty() {
                        out.push(Sorted::Text(mem::take(&mut self.held)));
                    }
                    return;
                }
            }
        }
    }

    /// What was held back at the end of the stream.
    pub fn finish(&mut self, out: &mut Vec<Sorted>) {
        let held = mem::take(&mut self.held);
        match self.state {
            State::Thinking(_) => push_reasoning(held, out),
            _ if held.is_empty() => {}
            _ => out.push(Sorted::Text(held)),
        }
    }
}

fn push_reasoning(text: String, out: &mut Vec<Sorted>) {
    if !text.is_empty() {
        out.push(Sorted::Reasoning(text));
    }
}

/// Length of the longest end of `text` that is a beginning of `tag`.
fn beginning_of(tag: &str, text: &str) -> usize {
    (1..tag.len())
        .rev()
        .find(|length| text.ends_with(&tag[..*length]))
        .unwrap_or(0)
}

/// Splits a whole text at a closing tag that has no opening one: reasoning before it, answer after it.
pub(crate) fn split_lone_close(text: &str) -> Option<(&str, &str)> {
    TAGS.iter().find_map(|(open, close)| {
        let at = text.find(close)?;
        let (before, after) = (&text[..at], &text[at + close.len()..]);
        let line_start = before.is_empty() || before.trim_end_matches([' ', '\t']).ends_with('\n');
        let line_end = after.is_empty() || after.trim_start_matches([' ', '\t', '\r']).starts_with('\n');
        let fences = before.matches("```").count();
        (line_start && line_end && fences % 2 == 0 && !before.contains(open))
            .then(|| (before.trim_end(), after.trim_start()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(text: &str, step: usize) -> (String, String) {
        let mut splitter = ThinkSplitter::default();
        let mut out = Vec::new();
        let characters: Vec<char> = text.chars().collect();
        for piece in characters.chunks(step) {
            splitter.push(&piece.iter().collect::<String>(), &mut out);
        }
        splitter.finish(&mut out);
        let mut result = (String::new(), String::new());
        for piece in out {
            match piece {
                Sorted::Reasoning(text) => result.0.push_str(&text),
                Sorted::Text(text) => result.1.push_str(&text),
            }
        }
        result
    }

    #[test]
    fn tags_at_the_start_are_reasoning_however_they_are_cut() {
        for (text, reasoning, answer) in [
            ("<think>why</think>\n\nBecause.", "why", "Because."),
            ("\n<thinking>a < b </thin</thinking>x", "a < b </thin", "x"),
            ("<think>never closed", "never closed", ""),
            ("<think></think>Hi", "", "Hi"),
            (
                "Use <think> to think.</think>",
                "",
                "Use <think> to think.</think>",
            ),
            ("<thi", "", "<thi"),
            ("<thin air", "", "<thin air"),
            ("  plain", "", "  plain"),
        ] {
            for step in 1..=text.len() {
                assert_eq!(
                    sorted(text, step),
                    (reasoning.into(), answer.into()),
                    "{text} by {step}"
                );
            }
        }
    }

    #[test]
    fn a_lone_closing_tag_counts_on_its_own_line_only() {
        assert_eq!(
            split_lone_close("Let me see.\n</think>\n\nDone."),
            Some(("Let me see.", "Done."))
        );
        assert_eq!(split_lone_close("The tag </think> closes."), None);
        assert_eq!(split_lone_close("```\na\n</think>\n```"), None);
    }
}
