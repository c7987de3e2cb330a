//! The output items of an answer, and which of them an event is about.

use super::item::{Kind, text};
use crate::reading::DecodeFailure;
use serde_json::Value;
use std::collections::BTreeMap;

/// Output items of one answer.
const ITEM_LIMIT: usize = 256;

/// An output item, as far as it has come.
pub(super) struct Item {
    pub kind: Kind,
    pub id: String,
    /// Id of a call, which some servers use for the item too.
    pub call_id: String,
    pub name: String,
    pub number: Option<u64>,
    /// Texts of a message so far, by number of the part and whether it is a refusal.
    pub texts: BTreeMap<(u64, bool), String>,
    /// Reasoning or arguments so far.
    pub streamed: String,
    /// Parts of reasoning: whether of the reasoning itself, and the number.
    pub sections: Vec<(bool, u64)>,
    pub done: bool,
}

/// In the order in which they began.
#[derive(Default)]
pub(super) struct Items(pub Vec<Item>);

impl Items {
    /// The item that an event is about, a new one where there is none yet. `begins`: the event announces the item.
    pub fn find(&mut self, kind: Kind, event: &Value, begins: bool) -> Result<usize, DecodeFailure> {
        let told = event.get("item").unwrap_or(&Value::Null);
        let id = match text(told, "id") {
            "" => text(event, "item_id"),
            id => id,
        };
        let call_id = text(told, "call_id");
        let number = event.get("output_index").and_then(Value::as_u64);
        let mut same_kind = self
            .0
            .iter()
            .enumerate()
            .rev()
            .filter(|(_, item)| item.kind == kind);
        let is_named = |item: &Item| {
            let names = [item.id.as_str(), item.call_id.as_str()];
            [id, call_id]
                .iter()
                .any(|name| !name.is_empty() && names.contains(name))
        };
        let by_name = same_kind.clone().find(|(_, item)| is_named(item));
        let found = by_name.or_else(|| match (begins, number, id) {
            (true, _, _) => None,
            (_, Some(_), _) => same_kind
                .clone()
                .find(|(_, item)| item.number == number)
                .or_else(|| same_kind.find(|(_, item)| id.is_empty() && item.number.is_none() && !item.done)),
            (_, None, "") => same_kind.find(|(_, item)| !item.done),
            _ => None,
        });
        if let Some((at, _)) = found {
            return Ok(at);
        }
        if self.0.len() == ITEM_LIMIT {
            return Err(DecodeFailure::Runaway(
                "The answer came in more than 256 parts and was stopped.",
            ));
        }
        self.0.push(Item {
            kind,
            id: id.to_owned(),
            call_id: String::new(),
            name: String::new(),
            number,
            texts: BTreeMap::new(),
            streamed: String::new(),
            sections: Vec::new(),
            done: false,
        });
        Ok(self.0.len() - 1)
    }
}
