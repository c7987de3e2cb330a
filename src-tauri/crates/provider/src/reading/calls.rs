//! Calls put together from the pieces in which they stream.
//!
//! Servers number, name and identify the pieces in every imaginable way; a piece is put where it belongs by what it says, never
//! by assuming that missing means zero.

use super::halves::Seam;
use super::names::ToolNames;
use crate::arguments::{is_complete_object, read_arguments, several_objects};
use crate::runaway::RunawayGuard;
use crate::{AskedCall, CallArguments, ModelEvent, ToolSpec};
use serde_json::Value;
use std::borrow::Cow;

/// Calls of one answer.
const CALL_LIMIT: usize = 64;
/// Wrappers that some models invent to ask for several calls at once.
const PARALLEL: [&str; 3] = ["multi_tool_use.parallel", "multi_tool_use_parallel", "parallel"];

#[derive(Debug)]
struct Slot {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
    /// The end of the arguments.
    seam: Seam,
    announced: bool,
    /// Bytes of the arguments that were reported.
    reported: usize,
    guard: RunawayGuard,
}

#[derive(Debug, Default)]
pub(crate) struct Calls {
    slots: Vec<Slot>,
}

/// A piece of a call, every field optional; empty means absent.
#[derive(Debug, Default)]
pub(crate) struct CallPiece<'a> {
    /// The server's number of the call, or of its block.
    pub index: Option<u64>,
    pub id: &'a str,
    pub name: &'a str,
    /// More of the JSON text of the arguments.
    pub arguments: Cow<'a, str>,
}

impl<'a> CallPiece<'a> {
    /// As Chat Completions and its imitators write it.
    pub fn of_chat(value: &'a Value) -> Self {
        let function = value.get("function").unwrap_or(value);
        let text =
            |value: &'a Value, field: &str| value.get(field).and_then(Value::as_str).unwrap_or_default();
        let arguments = match function.get("arguments").or_else(|| function.get("parameters")) {
            None | Some(Value::Null) => Cow::Borrowed(""),
            Some(Value::String(text)) => Cow::Borrowed(text.as_str()),
            Some(other) => Cow::Owned(other.to_string()),
        };
        Self {
            index: value.get("index").and_then(Value::as_u64),
            id: text(value, "id"),
            name: text(function, "name"),
            arguments,
        }
    }
}

impl Calls {
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Bytes of name and arguments of a slot.
    pub fn size(&self, slot: usize) -> usize {
        self.slots
            .get(slot)
            .map_or(0, |slot| slot.name.len() + slot.arguments.len())
    }

    /// Takes one piece; `halved` = it may hold halves of characters. Returns the number of the slot and whether it is new; the error says why the answer must be given up.
    pub fn push(
        &mut self,
        piece: &CallPiece<'_>,
        halved: bool,
        names: &ToolNames,
        events: &mut dyn FnMut(ModelEvent),
    ) -> Result<(usize, bool), &'static str> {
        let found = self.find(piece, names);
        let new = found.is_none();
        let at = found.unwrap_or(self.slots.len());
        if new {
            if at == CALL_LIMIT {
                return Err("The model asked for more than 64 calls in one answer and was stopped.");
            }
            self.announce_all(names, events);
            self.slots.push(Slot {
                index: piece.index,
                id: String::new(),
                name: String::new(),
                arguments: String::new(),
                seam: Seam::default(),
                announced: false,
                reported: 0,
                guard: RunawayGuard::arguments(),
            });
        }
        let slot = &mut self.slots[at];
        if slot.id.is_empty() {
            slot.id = piece.id.to_string();
        }
        if slot.arguments.is_empty() || slot.name.is_empty() {
            slot.add_name(piece.name, names);
        }
        let arguments = slot.seam.join(&piece.arguments, halved);
        slot.arguments.push_str(&arguments);
        if let Some(why) = slot.guard.push(&arguments) {
            return Err(why);
        }
        if !slot.name.is_empty() && !slot.arguments.is_empty() {
            slot.report(at, names, events);
        }
        Ok((at, new))
    }

    /// What the server says of the arguments of the call `index` in the end counts, whatever its pieces came to. Nothing more of
    /// them is reported.
    pub fn settle(&mut self, index: u64, arguments: &str, halved: bool) {
        if let Some(slot) = self.slots.iter_mut().find(|slot| slot.index == Some(index)) {
            slot.seam = Seam::default();
            slot.arguments = slot.seam.join(arguments, halved).into_owned();
            slot.reported = slot.arguments.len();
        }
    }

    /// The slot that a piece belongs to; `None` = a new call.
    fn find(&self, piece: &CallPiece<'_>, names: &ToolNames) -> Option<usize> {
        let at = match piece.index {
            Some(index) => {
                let same_id = self.slots.iter().rposition(|slot| {
                    slot.index == Some(index) && !piece.id.is_empty() && slot.id == piece.id
                });
                same_id.or_else(|| self.slots.iter().rposition(|slot| slot.index == Some(index)))?
            }
            None if !piece.id.is_empty() => {
                let same_id = self.slots.iter().rposition(|slot| slot.id == piece.id);
                // A call that began without an id may get it later.
                same_id.or_else(|| {
                    let last = self.slots.len().checked_sub(1)?;
                    (self.slots[last].id.is_empty() && piece.name.is_empty()).then_some(last)
                })?
            }
            None => self.slots.len().checked_sub(1)?,
        };
        let slot = &self.slots[at];
        let other_id = !piece.id.is_empty() && !slot.id.is_empty() && slot.id != piece.id;
        (!other_id && !slot.is_followed_by(piece, names)).then_some(at)
    }

    fn announce_all(&mut self, names: &ToolNames, events: &mut dyn FnMut(ModelEvent)) {
        for (at, slot) in self.slots.iter_mut().enumerate() {
            if !slot.name.is_empty() {
                slot.report(at, names, events);
            }
        }
    }

    /// The calls of the complete answer, per slot. `cut` says why none may be run, when the answer was cut.
    pub fn finish(
        mut self,
        cut: Option<&str>,
        names: &ToolNames,
        tools: &[ToolSpec],
        events: &mut dyn FnMut(ModelEvent),
    ) -> Vec<Vec<AskedCall>> {
        self.announce_all(names, events);
        self.slots
            .into_iter()
            .map(|slot| slot.finish(cut, names, tools))
            .collect()
    }
}

impl Slot {
    /// Whether the piece begins another call although it looks like a continuation.
    fn is_followed_by(&self, piece: &CallPiece<'_>, names: &ToolNames) -> bool {
        if piece.name.is_empty() || self.name.is_empty() {
            return false;
        }
        if !piece.id.is_empty() && piece.id == self.id {
            return false;
        }
        if self.arguments.is_empty() {
            // Two whole names in a row are two calls without arguments; anything else is a name in pieces.
            return piece.name != self.name
                && names.is_known(&self.name)
                && names.is_known(piece.name)
                && !names.is_known(&format!("{}{}", self.name, piece.name));
        }
        if piece.name != self.name {
            return true;
        }
        !piece.arguments.is_empty() && is_complete_object(&self.arguments)
    }

    fn add_name(&mut self, piece: &str, names: &ToolNames) {
        if piece.is_empty() || piece == self.name {
            return;
        }
        // Some servers repeat the name so far with each piece.
        if !self.name.is_empty() && piece.starts_with(&self.name) && names.is_known(piece) {
            self.name.clear();
        }
        self.name.push_str(piece);
    }

    fn report(&mut self, at: usize, names: &ToolNames, events: &mut dyn FnMut(ModelEvent)) {
        let slot = u32::try_from(at).unwrap_or(u32::MAX);
        if !self.announced {
            self.announced = true;
            events(ModelEvent::CallStarted {
                slot,
                name: names.to_own(&self.name),
            });
        }
        if self.reported < self.arguments.len() {
            let text = self.arguments[self.reported..].to_string();
            self.reported = self.arguments.len();
            events(ModelEvent::CallArguments { slot, text });
        }
    }

    fn finish(mut self, cut: Option<&str>, names: &ToolNames, tools: &[ToolSpec]) -> Vec<AskedCall> {
        self.arguments.extend(self.seam.close());
        let reason = match (cut, self.seam.is_damaged()) {
            (Some(cut), _) => Some(cut),
            (None, true) => Some("a character of the arguments was damaged on the way"),
            (None, false) => None,
        };
        if let Some(reason) = reason {
            return vec![AskedCall {
                server_id: self.id,
                name: names.to_own(&self.name),
                arguments: CallArguments::Malformed {
                    reason: reason.to_string(),
                    raw: self.arguments,
                },
                terminate: false,
            }];
        }
        if !names.is_known(&self.name)
            && PARALLEL.contains(&self.name.trim_start_matches("functions."))
            && let Some(calls) = unwrap_parallel(&self.arguments, names, tools)
        {
            return calls;
        }
        // Only a server that gives no ids can have run two calls together.
        let objects = match self.id.is_empty() {
            true => several_objects(&self.arguments),
            false => None,
        };
        let objects = objects.unwrap_or_else(|| vec![self.arguments.as_str()]);
        objects
            .into_iter()
            .map(|raw| asked_call(self.id.clone(), &self.name, raw, names, tools))
            .collect()
    }
}

/// One call as the loop gets it.
pub(crate) fn asked_call(
    server_id: String,
    asked: &str,
    raw: &str,
    names: &ToolNames,
    tools: &[ToolSpec],
) -> AskedCall {
    let name = names.to_own(asked);
    let schema = tools
        .iter()
        .find(|tool| tool.name == name)
        .map(|tool| &tool.parameters);
    let arguments = if name.is_empty() {
        CallArguments::Malformed {
            reason: "the call has no name".into(),
            raw: raw.to_string(),
        }
    } else {
        read_arguments(raw, schema)
    };
    AskedCall {
        server_id,
        name,
        arguments,
        terminate: false,
    }
}

/// `{"tool_uses":[{"recipient_name":"functions.x","parameters":{…}}]}`
fn unwrap_parallel(arguments: &str, names: &ToolNames, tools: &[ToolSpec]) -> Option<Vec<AskedCall>> {
    let value: Value = serde_json::from_str(arguments).ok()?;
    let uses = value
        .get("tool_uses")
        .or_else(|| value.get("calls"))?
        .as_array()?;
    if uses.is_empty() || uses.len() > CALL_LIMIT {
        return None;
    }
    uses.iter()
        .map(|entry| {
            let name = ["recipient_name", "name", "tool"]
                .iter()
                .find_map(|field| entry.get(field)?.as_str())?;
            let parameters = ["parameters", "arguments", "input"]
                .iter()
                .find_map(|field| entry.get(field))
                .cloned()
                .unwrap_or(Value::Null);
            Some(asked_call(
                String::new(),
                name,
                &parameters.to_string(),
                names,
                tools,
            ))
        })
        .collect()
}
