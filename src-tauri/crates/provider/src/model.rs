//! The neutral message model: what every protocol is translated from and to.

use paddock_protocol::{CallFormat, Effort, FinishReason, Millis, ModelFacts, Opaque, Usage};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// One request. The order is the order on the wire; a stable prefix keeps the server's prompt cache warm.
#[derive(Clone, Debug)]
pub struct ModelRequest {
    pub model: String,
    pub system: Arc<str>,
    pub messages: Vec<Message>,
    /// Empty = the field is left out.
    pub tools: Arc<[ToolSpec]>,
    /// How the model is asked to call them; in a text dialect they are told in the system prompt.
    pub format: CallFormat,
    /// What is known of the model: the request has only parameters that it accepts.
    pub facts: Arc<ModelFacts>,
    /// How long it may reason; none = as it does by itself.
    pub effort: Option<Effort>,
    /// Upper bound of the answer in tokens, when one is wanted.
    pub max_output: Option<u32>,
    /// Silence (no bytes at all) after which the attempt fails.
    pub silence: Millis,
    /// Told what was sent and what came back, byte for byte.
    pub record: Option<Recorder>,
    /// What the person asked for in this turn, where a small model may have to be told again.
    pub asked: Option<Asked>,
}

/// What the person asked for, and how far the turn has come.
#[derive(Clone, Debug)]
pub struct Asked {
    /// On one line.
    pub words: Arc<str>,
    /// Whether anything was called yet.
    pub is_begun: bool,
    /// Whether a call changed a file.
    pub is_changed: bool,
}

/// Takes exchanges as they end, also of requests that were dropped.
#[derive(Clone)]
pub struct Recorder(pub Arc<dyn Fn(Exchange) + Send + Sync>);

impl std::fmt::Debug for Recorder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Recorder")
    }
}

/// One request and its response. Headers are left out: the key is among them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exchange {
    /// Method and address.
    pub address: String,
    pub request: bytes::Bytes,
    /// HTTP status; none when there was no answer.
    pub status: Option<u16>,
    pub response: Vec<u8>,
    /// Bytes of the response beyond what is kept.
    pub cut: u64,
}

/// A tool as the model is told of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ToolSpec {
    pub name: String,
    pub description: String,
    /// JSON schema of an object.
    pub parameters: serde_json::Value,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    User {
        text: String,
        images: Vec<Image>,
    },
    Agent {
        parts: Vec<AgentPart>,
    },
    /// Results of the calls of the agent message before, all of them, in the order in which they were asked for.
    Results {
        results: Vec<CallResult>,
    },
}

/// An image as it goes to the model.
#[derive(Clone, PartialEq, Eq)]
pub struct Image {
    /// `image/png`, `image/jpeg`, `image/gif` or `image/webp`.
    pub media_type: String,
    /// Base64 of the bytes.
    pub data: Arc<str>,
    /// For a model that does not see: what stands in its place.
    pub name: String,
}

impl std::fmt::Debug for Image {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "Image({}, {}, {} characters)",
            self.name,
            self.media_type,
            self.data.len()
        )
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum AgentPart {
    Text {
        text: String,
    },
    /// A block with an empty text belongs to the part after it, for providers that sign texts and calls.
    Reasoning {
        text: String,
        opaque: Option<Opaque>,
    },
    Call {
        id: String,
        name: String,
        arguments: String,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub struct CallResult {
    pub id: String,
    pub name: String,
    pub text: String,
    pub ok: bool,
    pub images: Vec<Image>,
}

/// What streams by while the model answers; for display only, never for execution.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelEvent {
    /// The first byte of the answer arrived.
    FirstByte,
    Text(String),
    Reasoning(String),
    /// A call has begun; `slot` counts the calls of this answer from 0.
    CallStarted {
        slot: u32,
        name: String,
    },
    CallArguments {
        slot: u32,
        text: String,
    },
}

/// A complete answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// In the order in which they came.
    pub parts: Vec<AnswerPart>,
    pub usage: Usage,
    pub finish: Finish,
}

/// [`FinishReason`] with a default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finish(pub FinishReason);

impl Default for Finish {
    fn default() -> Self {
        Finish(FinishReason::Stop)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum AnswerPart {
    Text(String),
    Reasoning { text: String, opaque: Option<Opaque> },
    Call(AskedCall),
}

/// A call that the model asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct AskedCall {
    /// The server's id, empty when it gave none.
    pub server_id: String,
    pub name: String,
    pub arguments: CallArguments,
    /// The text dialects' flag: this call is the last action of the turn.
    pub terminate: bool,
}

/// Arguments are either one complete JSON object or not to be run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum CallArguments {
    /// Raw JSON text of an object, as the model wrote it (`{}` where it wrote nothing).
    Complete(String),
    /// What was wrong and where, and the raw text.
    Malformed { reason: String, raw: String },
}
