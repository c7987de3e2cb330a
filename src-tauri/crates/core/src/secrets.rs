//! Secrets that outputs, logs and requests must not show: keys that this program holds, values of secret-looking variables of
//! its environment, and what looks like a secret in itself.

use paddock_policy::secrets::{MaskStream, Masker};
use paddock_protocol::CallOutput;
use std::borrow::Cow;
use std::sync::{Arc, PoisonError, RwLock};

/// Parts of a variable's name that say that its value is secret.
const SECRET_NAMES: &[&str] = &["KEY", "TOKEN", "SECRET", "PASSW", "CREDENTIAL"];

pub struct Secrets {
    known: RwLock<Known>,
}

struct Known {
    values: Vec<(String, String)>,
    masker: Arc<Masker>,
}

impl Default for Secrets {
    fn default() -> Self {
        let values: Vec<(String, String)> = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .filter(|(name, _)| {
                let name = name.to_uppercase();
                SECRET_NAMES.iter().any(|part| name.contains(part))
            })
            .collect();
        let masker = Arc::new(Masker::new(values.clone()));
        Self {
            known: RwLock::new(Known { values, masker }),
        }
    }
}

impl Secrets {
    /// A key that this program holds from now on; `label` says what it is where it is masked.
    pub fn learn(&self, label: &str, value: &str) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        let pair = (label.to_owned(), value.to_owned());
        if !value.is_empty() && !known.values.contains(&pair) {
            known.values.push(pair);
            known.masker = Arc::new(Masker::new(known.values.clone()));
        }
    }

    pub fn masker(&self) -> Arc<Masker> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.masker.clone()
    }

    pub fn stream(&self) -> MaskStream {
        MaskStream::new(self.masker())
    }

    pub fn mask(&self, text: String) -> String {
        match self.masker().mask(&text).text {
            Cow::Borrowed(_) => text,
            Cow::Owned(masked) => masked,
        }
    }

    /// Bytes in which nothing is masked stay as they are, whatever their encoding.
    pub fn mask_bytes<'a>(&self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        let masked = self.masker();
        let text = String::from_utf8_lossy(bytes);
        let masked = masked.mask(&text);
        if masked.count == 0 {
            Cow::Borrowed(bytes)
        } else {
            Cow::Owned(masked.text.into_owned().into_bytes())
        }
    }

    /// Masks what the model and the log get of a result.
    pub fn mask_output(&self, output: &mut CallOutput) {
        let masker = self.masker();
        let masked = masker.mask(&output.text);
        output.masked = masked.count;
        if masked.count > 0 {
            output.text = masked.text.into_owned();
        }
        let diffs = output
            .changes
            .iter_mut()
            .filter_map(|change| change.diff.as_mut());
        let lines = diffs
            .flat_map(|diff| &mut diff.hunks)
            .flat_map(|hunk| &mut hunk.lines);
        for line in lines {
            if let Cow::Owned(masked) = masker.mask(&line.text).text {
                line.text = masked;
            }
        }
    }
}
