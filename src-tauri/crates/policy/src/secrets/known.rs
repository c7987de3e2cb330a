//! Values that are known to be secret, found as they are and in the encodings in which programs print them.

use super::Find;
use crate::base64::encoded;
use aho_corasick::{AhoCorasick, MatchKind};
use std::borrow::Cow;

/// A shorter value is no secret, and would be found everywhere.
const SHORTEST: usize = 8;

#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    finder: Option<AhoCorasick>,
    forms: Vec<Form>,
}

#[derive(Clone, Debug)]
struct Form {
    text: String,
    label: String,
    /// The value itself and no encoding of it.
    plain: bool,
}

impl Known {
    pub fn new(known: impl IntoIterator<Item = (String, String)>) -> Self {
        let mut forms: Vec<Form> = Vec::new();
        for (label, value) in known {
            if value.trim().len() < SHORTEST {
                continue;
            }
            for (at, text) in std::iter::once(value.clone())
                .chain(encodings(&value))
                .enumerate()
            {
                if text.len() >= SHORTEST && forms.iter().all(|form| form.text != text) {
                    forms.push(Form {
                        text,
                        label: label.clone(),
                        plain: at == 0,
                    });
                }
            }
        }
        let finder = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .build(forms.iter().map(|form| &form.text))
            .ok();
        Self {
            finder: finder.filter(|_| !forms.is_empty()),
            forms,
        }
    }

    pub fn find(&self, text: &str, finds: &mut Vec<Find>) {
        let Some(finder) = &self.finder else { return };
        for found in finder.find_iter(text) {
            let Some(form) = self.forms.get(found.pattern().as_usize()) else {
                continue;
            };
            finds.push(Find {
                at: found.range(),
                label: Cow::Owned(form.label.clone()),
                recognisable: form.plain,
            });
        }
    }

    /// Where, at the end of the text, a known value could have begun.
    pub fn unfinished(&self, text: &str) -> usize {
        let longest = self
            .forms
            .iter()
            .map(|form| form.text.len())
            .max()
            .unwrap_or_default();
        let mut from = text.len().saturating_sub(longest.saturating_sub(1));
        while !text.is_char_boundary(from) {
            from -= 1;
        }
        let end = text.get(from..).unwrap_or_default();
        let begins = |tail: &str| self.forms.iter().any(|form| form.text.starts_with(tail));
        end.char_indices()
            .find(|(at, _)| begins(&end[*at..]))
            .map_or(text.len(), |(at, _)| from + at)
    }
}

/// The value as URLs, JSON and Base64 write it; Base64 also from the middle of a longer text.
fn encodings(value: &str) -> Vec<String> {
    let url = |upper: bool, form: bool| -> String {
        value
            .bytes()
            .map(|byte| match byte {
                b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                    char::from(byte).to_string()
                }
                b' ' if form => "+".to_owned(),
                byte if upper => format!("%{byte:02X}"),
                byte => format!("%{byte:02x}"),
            })
            .collect()
    };
    let mut all = vec![url(true, false), url(false, false), url(true, true)];
    let mut json = String::new();
    for c in value.chars() {
        match c {
            '"' | '\\' => json.extend(['\\', c]),
            '\n' => json.push_str("\\n"),
            '\r' => json.push_str("\\r"),
            '\t' => json.push_str("\\t"),
            c if u32::from(c) < 0x20 => json.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => json.push(c),
        }
    }
    all.push(json.replace('/', "\\/"));
    all.push(json);
    for before in 0..3 {
        let bytes: Vec<u8> = std::iter::repeat_n(0, before).chain(value.bytes()).collect();
        let text = encoded(&bytes);
        // Letters that hold bits of what stands before or behind are cut off.
        let from = [0, 2, 3][before];
        let to = if bytes.len().is_multiple_of(3) {
            text.len()
        } else {
            text.len() - 1
        };
        let core = text.get(from..to).unwrap_or_default().to_owned();
        all.push(core.replace('+', "-").replace('/', "_"));
        all.push(core);
    }
    all
}
