//! Reading an answer: what all protocols have in common, from bytes to the neutral answer.
//!
//! A protocol brings a [`Decoder`]: it knows what an event means and puts text, reasoning and calls into an [`Assembly`]. All
//! here is pure, so that every way in which a network can cut bytes can be tried without one.

mod assembly;
mod calls;
#[cfg(test)]
pub(crate) mod corpus;
mod halves;
mod json;
mod names;
mod reader;
mod text_answer;
mod think;
mod usage;

pub(crate) use assembly::{Assembly, tokens};
pub(crate) use calls::CallPiece;
pub(crate) use halves::push_piece;
pub(crate) use names::ToolNames;
pub(crate) use reader::{AnswerReader, ReadFailure};
pub(crate) use text_answer::calls_in_text;
pub(crate) use think::split_lone_close;
pub(crate) use usage::usage_of;

use crate::sse::SseEvent;
use crate::{Answer, ModelEvent};
use paddock_protocol::{ProviderId, Usage};
use serde_json::Value;

/// Why an attempt must be given up.
#[derive(Debug)]
pub(crate) enum DecodeFailure {
    /// The server reported an error inside of the stream.
    Server(Value),
    /// An event was not readable.
    Unreadable { why: String, raw: String },
    /// The answer ended, and is of no use: why in a sentence, and the server's own words.
    Unusable { why: String, raw: String },
    /// A guard stopped the answer.
    Runaway(&'static str),
}

impl DecodeFailure {
    pub fn unreadable(why: impl ToString, data: &str) -> Self {
        DecodeFailure::Unreadable {
            why: why.to_string(),
            raw: data.chars().take(2_000).collect(),
        }
    }
}

/// What a protocol's events mean.
pub(crate) trait Decoder {
    /// Takes one event of the stream.
    fn event(&mut self, event: &SseEvent, events: &mut dyn FnMut(ModelEvent)) -> Result<(), DecodeFailure>;

    /// Takes a whole answer that came instead of a stream.
    fn whole(&mut self, body: &str, events: &mut dyn FnMut(ModelEvent)) -> Result<(), DecodeFailure>;

    /// The server said that nothing follows.
    fn is_done(&self) -> bool;

    /// The answer is complete; only counts or the end of the stream are still to come.
    fn is_finished(&self) -> bool;

    /// The answer, when it came to a proper end; `None` when it was cut. `request_bytes` is for the estimate where the server
    /// counted nothing.
    fn finish(
        self,
        provider: &ProviderId,
        model: &str,
        request_bytes: usize,
        events: &mut dyn FnMut(ModelEvent),
    ) -> Option<Answer>;

    /// What an attempt has used that is given up now.
    fn spent(&self, request_bytes: usize) -> Usage;
}
