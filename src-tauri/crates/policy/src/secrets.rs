//! Secrets in texts: masked before a text reaches the log or the model.

use std::borrow::Cow;
use std::sync::Arc;

/// A shorter value is no secret, and would be found everywhere.
const SHORTEST: usize = 8;

/// A text with its secrets replaced, and how many there were.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Masked<'a> {
    pub text: Cow<'a, str>,
    pub count: u32,
}

/// Masks known values.
#[derive(Clone, Debug, Default)]
pub struct Masker {
    known: Vec<(String, String)>,
}

impl Masker {
    /// `known`: label and value.
    pub fn new(known: impl IntoIterator<Item = (String, String)>) -> Self {
        let known = known.into_iter().filter(|(_, value)| value.len() >= SHORTEST);
        Self {
            known: known.collect(),
        }
    }

    pub fn mask<'a>(&self, text: &'a str) -> Masked<'a> {
        let mut masked = Masked {
            text: Cow::Borrowed(text),
            count: 0,
        };
        for (label, value) in &self.known {
            let found = masked.text.matches(value.as_str()).count();
            if found > 0 {
                masked.count += u32::try_from(found).unwrap_or(u32::MAX);
                masked.text = Cow::Owned(masked.text.replace(value.as_str(), &format!("[secret: {label}]")));
            }
        }
        masked
    }
}

/// Masks a text that arrives in pieces.
pub struct MaskStream {
    masker: Arc<Masker>,
}

impl MaskStream {
    pub fn new(masker: Arc<Masker>) -> Self {
        Self { masker }
    }

    /// What can be shown of the text so far.
    pub fn push(&mut self, text: &str) -> String {
        self.masker.mask(text).text.into_owned()
    }
}
