//! Signatures of the model on parts of its answers: which part one came with, and when it goes back.

use crate::AgentPart;
use paddock_protocol::ProviderId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The part that a signature came with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Place {
    /// A piece of reasoning.
    Thought,
    /// The text after it.
    Text,
    /// The call after it.
    Call,
    /// A part of its own, without text.
    Alone,
}

/// What is kept of a signature in the neutral history, byte for byte.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Signature {
    pub place: Place,
    #[serde(rename = "thoughtSignature")]
    pub value: String,
}

impl Signature {
    /// The JSON text that is kept.
    pub fn data(&self) -> String {
        serde_json::json!(self).to_string()
    }

    /// The signatures of an answer by the number of the part that holds them. None at all when one of them is another model's, cannot
    /// be read, or has lost the part that it belongs to: half of them would be refused.
    pub fn of_message(parts: &[AgentPart], provider: &ProviderId, model: &str) -> BTreeMap<usize, Self> {
        let mut found = BTreeMap::new();
        for (at, part) in parts.iter().enumerate() {
            let AgentPart::Reasoning {
                text,
                opaque: Some(opaque),
            } = part
            else {
                continue;
            };
            let own = opaque.provider == *provider && opaque.model == model;
            let signature: Option<Self> = serde_json::from_str(&opaque.data).ok().filter(|_| own);
            match signature {
                Some(signature) if signature.fits(text, parts.get(at + 1)) => {
                    found.insert(at, signature);
                }
                _ => return BTreeMap::new(),
            }
        }
        found
    }

    fn fits(&self, text: &str, next: Option<&AgentPart>) -> bool {
        match self.place {
            Place::Thought => true,
            Place::Alone => text.is_empty(),
            Place::Text => text.is_empty() && matches!(next, Some(AgentPart::Text { .. })),
            Place::Call => text.is_empty() && matches!(next, Some(AgentPart::Call { .. })),
        }
    }
}
