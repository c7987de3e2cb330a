//! Bytes of an answer, read as a provider reads them from its server: without a server, a clock or a second attempt.
//!
//! For whoever has bytes and asks what they mean: recorded streams, hostile inputs.

use crate::anthropic::MessagesDecoder;
use crate::chat::ChatDecoder;
use crate::gemini::GeminiDecoder;
use crate::reading::{AnswerReader, Decoder, ToolNames};
use crate::responses::ResponsesDecoder;
use crate::server::{KeyHeader, Server};
use crate::{Answer, ModelEvent, ServerConfig, ToolSpec};
use paddock_protocol::{CallFormat, ModelError, ProviderKind};

/// What a request is taken to have had, for the estimate where the server counted nothing.
const REQUEST_BYTES: usize = 3_600;

/// What came of the bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct Replayed {
    pub answer: Result<Answer, ModelError>,
    /// Neighbours that go on with the same are joined.
    pub events: Vec<ModelEvent>,
}

/// Reads the body of an answer that came with status 200 from this server, in these pieces. None for the demo, which has no wire.
pub fn replay(
    kind: ProviderKind,
    server: ServerConfig,
    format: CallFormat,
    tools: &[ToolSpec],
    pieces: &[&[u8]],
) -> Option<Replayed> {
    let names = ToolNames::new(tools);
    let server = Server::new(server, kind, KeyHeader::Bearer, &[]);
    Some(match kind {
        ProviderKind::Chat => read(&server, ChatDecoder::new(tools, &names, format), pieces),
        ProviderKind::Responses => read(&server, ResponsesDecoder::new(tools, &names, format), pieces),
        ProviderKind::Anthropic => read(&server, MessagesDecoder::new(tools, &names, format), pieces),
        ProviderKind::Gemini => read(&server, GeminiDecoder::new(tools, &names, format), pieces),
        ProviderKind::Demo => return None,
    })
}

pub(crate) fn read<D: Decoder>(server: &Server, decoder: D, pieces: &[&[u8]]) -> Replayed {
    let mut reader = AnswerReader::new(decoder);
    let mut events = Vec::new();
    let mut on_event = |event| join(&mut events, event);
    let mut pushed = Ok(());
    for piece in pieces {
        pushed = pushed.and_then(|()| reader.push(piece, &mut on_event));
    }
    let answer = pushed.and_then(|()| reader.finish(&server.id, "m", REQUEST_BYTES, &mut on_event));
    Replayed {
        answer: answer.map_err(|failure| server.read_error(200, failure)),
        events,
    }
}

fn join(events: &mut Vec<ModelEvent>, event: ModelEvent) {
    match (events.last_mut(), event) {
        (Some(ModelEvent::Text(all)), ModelEvent::Text(text))
        | (Some(ModelEvent::Reasoning(all)), ModelEvent::Reasoning(text)) => all.push_str(&text),
        (
            Some(ModelEvent::CallArguments {
                slot: last,
                text: all,
            }),
            ModelEvent::CallArguments { slot, text },
        ) if *last == slot => all.push_str(&text),
        (_, event) => events.push(event),
    }
}
