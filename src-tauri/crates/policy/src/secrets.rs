//! Secrets in texts: masked before a text reaches the log, the model or a file that leaves Paddock. Known values are always found,
//! also in the usual encodings; others by what keys of well-known makers look like, and by the names that stand before them.
//!
//! A net under the rule that secrets are not printed. It rather leaves a hash or a name readable than makes outputs useless:
//! a person who reads "[secret: …]" must be able to believe it.

mod assigned;
mod formed;
mod known;
mod stream;

pub use stream::MaskStream;

use assigned::is_noise;
use known::Known;
use std::borrow::Cow;
use std::ops::Range;

/// So long a secret must be for its last four characters to be shown.
const RECOGNISABLE: usize = 20;

/// A text with its secrets replaced, and how many there were.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Masked<'a> {
    pub text: Cow<'a, str>,
    pub count: u32,
}

/// Masks known values and what looks like a secret, in time linear in the text.
#[derive(Clone, Debug, Default)]
pub struct Masker {
    known: Known,
}

/// A secret in a text.
struct Find {
    at: Range<usize>,
    label: Cow<'static, str>,
    /// Its end may be shown, so that it can be told from others.
    recognisable: bool,
}

impl Find {
    fn new(at: Range<usize>, label: &'static str) -> Self {
        Self {
            at,
            label: Cow::Borrowed(label),
            recognisable: true,
        }
    }
}

impl Masker {
    /// `known`: label and value. Values of less than eight bytes are no secrets and would be found everywhere.
    pub fn new(known: impl IntoIterator<Item = (String, String)>) -> Self {
        Self {
            known: Known::new(known),
        }
    }

    pub fn mask<'a>(&self, text: &'a str) -> Masked<'a> {
        let finds = self.find(text);
        if finds.is_empty() {
            return Masked {
                text: Cow::Borrowed(text),
                count: 0,
            };
        }
        let mut masked = String::with_capacity(text.len());
        let mut from = 0;
        for find in &finds {
            masked.push_str(text.get(from..find.at.start).unwrap_or_default());
            masked.push_str(&shown(text.get(find.at.clone()).unwrap_or_default(), find));
            from = find.at.end;
        }
        masked.push_str(text.get(from..).unwrap_or_default());
        Masked {
            text: Cow::Owned(masked),
            count: u32::try_from(finds.len()).unwrap_or(u32::MAX),
        }
    }

    /// The lines, counted from 1, in which secrets begin, each once.
    pub fn lines(&self, text: &str) -> Vec<u32> {
        let (mut line, mut from) = (1, 0);
        let mut lines: Vec<u32> = Vec::new();
        for find in self.find(text) {
            let before = text.get(from..find.at.start).unwrap_or_default();
            line += u32::try_from(before.matches('\n').count()).unwrap_or(0);
            from = find.at.start;
            if lines.last() != Some(&line) {
                lines.push(line);
            }
        }
        lines
    }

    /// In their order. What overlaps is one secret, named by the one that begins first and is longest.
    fn find(&self, text: &str) -> Vec<Find> {
        let mut finds = Vec::new();
        self.known.find(text, &mut finds);
        formed::find(text, &mut finds);
        assigned::find(text, &mut finds);
        finds.sort_by_key(|find| (find.at.start, std::cmp::Reverse(find.at.end)));
        let mut merged: Vec<Find> = Vec::with_capacity(finds.len());
        for find in finds {
            match merged.last_mut() {
                Some(last) if find.at.start < last.at.end => last.at.end = last.at.end.max(find.at.end),
                _ => merged.push(find),
            }
        }
        merged
    }
}

fn shown(secret: &str, find: &Find) -> String {
    let length = secret.chars().count();
    if find.recognisable && length >= RECOGNISABLE {
        let end: String = secret.chars().skip(length - 4).collect();
        if end
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
        {
            return format!("[secret: {} …{end}]", find.label);
        }
    }
    format!("[secret: {}]", find.label)
}

#[cfg(test)]
mod tests;
