//! Reasoning as the server sealed it: an item that is kept as it came and goes back to where it came from.

use crate::AgentPart;
use paddock_protocol::{Opaque, ProviderId};
use serde_json::Value;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Whether an item says enough to be sent back to a server that keeps nothing: its content, sealed or open. A summary is none.
pub(super) fn can_go_back(item: &Value) -> bool {
    let sealed = item.get("encrypted_content").and_then(Value::as_str);
    let open = item.pointer("/content/0/text").and_then(Value::as_str);
    item.get("type").is_some_and(|kind| kind == "reasoning")
        && (sealed.is_some_and(|text| !text.is_empty()) || open.is_some_and(|text| !text.is_empty()))
}

/// Of what a request was made, for what its refusal teaches.
pub(super) fn fingerprint(data: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    data.hash(&mut hasher);
    hasher.finish()
}

/// The sealed items of one answer, by the part that they are; empty when one of them cannot be sent, because a part of the
/// reasoning is worth less than none, and servers refuse what has nothing after it.
pub(super) fn items(
    parts: &[AgentPart],
    provider: &ProviderId,
    model: &str,
    is_refused: impl Fn(u64) -> bool,
) -> Vec<(usize, Value)> {
    let mut items = Vec::new();
    let mut waits = false;
    for (at, part) in parts.iter().enumerate() {
        match part {
            AgentPart::Reasoning { opaque, .. } => {
                let Some(item) = opaque.as_ref().and_then(|opaque| item(opaque, provider, model)) else {
                    return Vec::new();
                };
                if opaque
                    .as_ref()
                    .is_some_and(|opaque| is_refused(fingerprint(&opaque.data)))
                {
                    return Vec::new();
                }
                items.push((at, item));
                waits = true;
            }
            AgentPart::Text { text } => waits &= text.trim().is_empty(),
            AgentPart::Call { .. } => waits = false,
        }
    }
    if waits { Vec::new() } else { items }
}

fn item(opaque: &Opaque, provider: &ProviderId, model: &str) -> Option<Value> {
    if opaque.provider != *provider || opaque.model != model {
        return None;
    }
    serde_json::from_str(&opaque.data).ok().filter(can_go_back)
}
