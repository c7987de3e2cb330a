//! Blocks of reasoning that only their provider reads: kept beside the text, sent back as they came.

use paddock_protocol::Opaque;
use serde::{Deserialize, Serialize};
use std::hash::{DefaultHasher, Hash, Hasher};

/// What is kept of a block of reasoning, as JSON in [`Opaque::data`].
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Sealed {
    /// The text stands beside; an empty signature means that none came.
    Thinking {
        #[serde(default)]
        signature: String,
    },
    RedactedThinking {
        data: String,
    },
}

impl Sealed {
    pub fn written(&self) -> String {
        // Two strings: writing them cannot fail.
        serde_json::to_string(self).unwrap_or_default()
    }

    pub fn read(opaque: &Opaque) -> Option<Self> {
        serde_json::from_str(&opaque.data).ok()
    }
}

/// By which a refused block is known again.
pub(crate) fn fingerprint(opaque: &Opaque) -> u64 {
    let mut hasher = DefaultHasher::new();
    opaque.data.hash(&mut hasher);
    hasher.finish()
}
