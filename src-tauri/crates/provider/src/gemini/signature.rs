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
    /// The call of this number in the answer, from 0: calls that stream may be told of before their signatures.
    Call(u32),
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

    /// The signatures of an answer, by the number of the part that each goes with. None at all when one of them is another model's,
    /// cannot be read, or has lost its part: half of them would be refused.
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
            let placed = signature.and_then(|signature| Some((signature.part(parts, at, text)?, signature)));
            match placed {
                Some((part, signature)) if !found.contains_key(&part) => {
                    found.insert(part, signature);
                }
                _ => return BTreeMap::new(),
            }
        }
        found
    }

    /// The number of the part that this one goes with, when it stands beside part `at` with this text.
    fn part(&self, parts: &[AgentPart], at: usize, text: &str) -> Option<usize> {
        let is_call = |part: &AgentPart| matches!(part, AgentPart::Call { .. });
        match self.place {
            Place::Thought => Some(at),
            _ if !text.is_empty() => None,
            Place::Alone => Some(at),
            Place::Text => matches!(parts.get(at + 1)?, AgentPart::Text { .. }).then_some(at + 1),
            Place::Call(number) => {
                let mut calls = (0..parts.len()).filter(|at| is_call(&parts[*at]));
                calls.nth(usize::try_from(number).ok()?)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use paddock_protocol::Opaque;

    fn block(place: Place) -> AgentPart {
        let value = "s".to_owned();
        AgentPart::Reasoning {
            text: String::new(),
            opaque: Some(Opaque {
                provider: ProviderId::new("p"),
                model: "m".into(),
                data: Signature { place, value }.data(),
            }),
        }
    }

    fn call() -> AgentPart {
        AgentPart::Call {
            id: String::new(),
            name: "read_file".into(),
            arguments: "{}".into(),
        }
    }

    fn text() -> AgentPart {
        AgentPart::Text { text: "Hi".into() }
    }

    fn parts_signed(parts: &[AgentPart]) -> Vec<usize> {
        let found = Signature::of_message(parts, &ProviderId::new("p"), "m");
        found.into_keys().collect()
    }

    #[test]
    fn a_signature_finds_its_part() {
        assert_eq!(
            parts_signed(&[text(), block(Place::Call(0)), call(), call()]),
            [2]
        );
        assert_eq!(
            parts_signed(&[block(Place::Text), text(), block(Place::Call(1)), call(), call()]),
            [1, 4]
        );
        assert_eq!(parts_signed(&[text(), block(Place::Alone)]), [1]);
        // Calls that streamed stand before what was known of them at the end.
        assert_eq!(
            parts_signed(&[call(), call(), block(Place::Call(1)), block(Place::Call(0))]),
            [0, 1]
        );
    }

    #[test]
    fn when_one_has_lost_its_part_none_is_sent() {
        for lost in [
            vec![block(Place::Call(0))],
            vec![block(Place::Text), call()],
            vec![block(Place::Call(0)), block(Place::Call(1)), call()],
            vec![block(Place::Call(0)), block(Place::Call(0)), call()],
        ] {
            assert!(parts_signed(&lost).is_empty(), "{lost:?}");
            let more = [vec![block(Place::Text), text()], lost].concat();
            assert!(parts_signed(&more).is_empty(), "{more:?}");
        }
    }
}
