//! The body of an answer, byte by byte: a stream of events, a whole answer in one document, or a web page.

use super::{DecodeFailure, Decoder};
use crate::sse::{EVENT_LIMIT, SseEvent, SseFramer};
use crate::{Answer, ModelEvent};
use paddock_protocol::{ProviderId, Usage};

/// Why there is no answer.
#[derive(Debug)]
pub(crate) enum ReadFailure {
    Decode(DecodeFailure),
    /// A page for a browser; its text.
    WebPage(String),
    TooLarge,
    /// The bytes ended before the answer did.
    Cut,
    /// The connection failed within the answer.
    Broken(String),
    /// The bytes ended well, and held nothing.
    Empty(String),
}

impl From<DecodeFailure> for ReadFailure {
    fn from(failure: DecodeFailure) -> Self {
        ReadFailure::Decode(failure)
    }
}

enum Mode {
    /// Nothing but blanks or a byte order mark came.
    Open(Vec<u8>),
    Stream(SseFramer),
    /// All bytes of a document.
    Whole(Vec<u8>),
}

pub(crate) struct AnswerReader<D> {
    decoder: D,
    mode: Mode,
    began: bool,
    events: Vec<SseEvent>,
}

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

impl<D: Decoder> AnswerReader<D> {
    pub fn new(decoder: D) -> Self {
        Self {
            decoder,
            mode: Mode::Open(Vec::new()),
            began: false,
            events: Vec::new(),
        }
    }

    /// The server said that nothing follows.
    pub fn is_done(&self) -> bool {
        self.decoder.is_done()
    }

    /// A finish reason came; only counts or the end of the stream are still to come.
    pub fn is_finished(&self) -> bool {
        self.decoder.is_finished()
    }

    pub fn push(&mut self, bytes: &[u8], on_event: &mut dyn FnMut(ModelEvent)) -> Result<(), ReadFailure> {
        if bytes.is_empty() {
            return Ok(());
        }
        if !std::mem::replace(&mut self.began, true) {
            on_event(ModelEvent::FirstByte);
        }
        match &mut self.mode {
            Mode::Open(start) => {
                start.extend_from_slice(bytes);
                let text = start.strip_prefix(BYTE_ORDER_MARK).unwrap_or(start);
                let Some(first) = text.iter().find(|byte| !byte.is_ascii_whitespace()) else {
                    return Ok(());
                };
                if BYTE_ORDER_MARK.starts_with(text) {
                    return Ok(());
                }
                let is_document = matches!(first, b'{' | b'[' | b'<');
                let start = std::mem::take(start);
                if is_document {
                    self.mode = Mode::Whole(start);
                    return Ok(());
                }
                self.mode = Mode::Stream(SseFramer::default());
                self.frame(&start, on_event)
            }
            Mode::Stream(_) => self.frame(bytes, on_event),
            Mode::Whole(all) => {
                if all.len() + bytes.len() > EVENT_LIMIT {
                    return Err(ReadFailure::TooLarge);
                }
                all.extend_from_slice(bytes);
                Ok(())
            }
        }
    }

    fn frame(&mut self, bytes: &[u8], on_event: &mut dyn FnMut(ModelEvent)) -> Result<(), ReadFailure> {
        if let Mode::Stream(framer) = &mut self.mode {
            let framed = framer.push(bytes, &mut self.events);
            self.decode(on_event)?;
            framed.map_err(|_| ReadFailure::TooLarge)?;
        }
        Ok(())
    }

    fn decode(&mut self, on_event: &mut dyn FnMut(ModelEvent)) -> Result<(), ReadFailure> {
        for event in self.events.drain(..) {
            if self.decoder.is_done() {
                break;
            }
            self.decoder.event(&event, on_event)?;
        }
        Ok(())
    }

    /// What the attempt has used so far; nothing when no byte came.
    pub fn spent(&self, request_bytes: usize) -> Option<Usage> {
        self.began.then(|| self.decoder.spent(request_bytes))
    }

    /// The bytes ended. `request_bytes` is for the estimate where the server counted nothing.
    pub fn finish(
        mut self,
        provider: &ProviderId,
        model: &str,
        request_bytes: usize,
        on_event: &mut dyn FnMut(ModelEvent),
    ) -> Result<Answer, ReadFailure> {
        let mut document = String::new();
        match &mut self.mode {
            Mode::Open(_) => return Err(ReadFailure::Cut),
            Mode::Stream(framer) => {
                framer.finish(&mut self.events);
                match self.decode(on_event) {
                    // The last event is half an event, and nobody waited for it.
                    Err(ReadFailure::Decode(DecodeFailure::Unreadable { .. })) if self.is_finished() => {}
                    Err(ReadFailure::Decode(DecodeFailure::Unreadable { .. })) => {
                        return Err(ReadFailure::Cut);
                    }
                    result => result?,
                }
            }
            Mode::Whole(all) => {
                let text = String::from_utf8_lossy(all);
                document = text.trim_start_matches('\u{feff}').trim().to_string();
                if document.starts_with('<') {
                    return Err(ReadFailure::WebPage(document));
                }
                self.decoder.whole(&document, on_event)?;
            }
        }
        let answer = self.decoder.finish(provider, model, request_bytes, on_event);
        answer.ok_or(match document.is_empty() {
            true => ReadFailure::Cut,
            false => ReadFailure::Empty(document),
        })
    }
}
