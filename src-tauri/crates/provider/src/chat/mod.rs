//! OpenAI-compatible Chat Completions: the protocol that most servers speak, each a little differently.

mod calls;
mod chunk;
#[cfg(test)]
mod corpus;
mod decoder;
#[cfg(test)]
mod golden;
mod history;
mod names;
mod quirks;
mod reader;
mod request;
mod text_answer;
mod think;

pub(crate) use decoder::tokens;
pub(crate) use think::split_lone_close;

use crate::dialect::PromptCache;
use crate::failure::{Origin, ServerWords};
use crate::http::{Body, Http, Incoming, Outgoing, TransportError};
use crate::recording::Recording;
use crate::{Answer, AnswerPart, BaseUrl, Finish, ModelEvent, ModelRequest, Provider, Secret};
use async_trait::async_trait;
use decoder::DecodeFailure;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue, LOCATION};
use names::ToolNames;
use paddock_protocol::{FinishReason, Millis, ModelError, ModelErrorKind, ProviderId, Usage};
use quirks::Quirks;
use reader::{AnswerReader, ReadFailure};
use std::sync::{Mutex, PoisonError};
use text_answer::calls_in_text;

/// Requests for one answer: the first, and one for each thing learnt from a refusal.
const TRIES: usize = 6;
/// Bytes of an error body that are read.
const ERROR_BODY_LIMIT: usize = 64 * 1024;
/// Bytes of a list of models.
const LIST_LIMIT: usize = 16 * 1024 * 1024;
/// Time for the token counts after the finish reason, when the server leaves the connection open.
const AFTER_FINISH: Millis = Millis(1_500);
/// Time for the list of models.
const LIST_SILENCE: Millis = Millis::seconds(15);

/// What a [`ChatProvider`] is made of.
#[derive(Clone, Debug)]
pub struct ChatConfig {
    pub id: ProviderId,
    /// Name for texts, for example "OpenAI" or "Ollama".
    pub label: String,
    pub base_url: BaseUrl,
    pub key: Option<Secret>,
    /// Where the key came from, for texts: "from the keyring", "from OPENAI_API_KEY". Empty when there is none.
    pub key_origin: String,
    /// Whether the model runs on this machine or in this network: slow to begin, never without need through a proxy.
    pub local: bool,
}

/// A server that speaks Chat Completions. Building one costs nothing; connections are made by the first request.
pub struct ChatProvider {
    id: ProviderId,
    origin: Origin,
    http: Http,
    quirks: Mutex<Quirks>,
    prompts: PromptCache,
}

impl ChatProvider {
    pub fn new(config: ChatConfig) -> Self {
        Self {
            quirks: Mutex::new(Quirks::of(&config.base_url)),
            id: config.id,
            origin: Origin {
                label: config.label,
                base_url: config.base_url,
                key: config.key.filter(|key| !key.is_empty()),
                key_origin: config.key_origin,
                local: config.local,
            },
            http: Http::new(),
            prompts: PromptCache::default(),
        }
    }

    fn quirks(&self) -> Quirks {
        self.quirks.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn learn(&self, status: u16, body: &str) -> bool {
        self.quirks
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .learn(status, body)
    }

    fn headers(&self) -> Result<HeaderMap, ModelError> {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(
            ACCEPT,
            HeaderValue::from_static("text/event-stream, application/json"),
        );
        if let Some(key) = &self.origin.key {
            let mut value = HeaderValue::from_str(&format!("Bearer {}", key.expose())).map_err(|_| {
                let mut error = ModelError::new(
                    ModelErrorKind::Auth,
                    format!(
                        "The key of {} contains characters that no key has.",
                        self.origin.label
                    ),
                );
                error.hint = Some("Copy the key again and save it anew.".into());
                error
            })?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        Ok(headers)
    }

    async fn send(
        &self,
        method: http::Method,
        path: &str,
        body: bytes::Bytes,
        silence: Millis,
    ) -> Result<Incoming, ModelError> {
        let request = Outgoing {
            method,
            url: self.origin.base_url.join(path),
            loopback: self.origin.base_url.is_loopback(),
            headers: self.headers()?,
            body,
        };
        let answer = self.http.send(&request, silence).await;
        answer.map_err(|failure| self.origin.transport_error(&failure))
    }

    /// The words of an answer with an error status.
    async fn error_body(&self, incoming: &mut Incoming) -> String {
        String::from_utf8_lossy(&incoming.body.rest(ERROR_BODY_LIMIT).await).into_owned()
    }

    fn refusal(&self, incoming: &Incoming, body: &str) -> ModelError {
        let location = incoming
            .headers
            .get(LOCATION)
            .and_then(|value| value.to_str().ok());
        if let Some(location) = location.filter(|_| (300..400).contains(&incoming.status)) {
            return self.origin.redirect(incoming.status, location);
        }
        if body.trim_start().starts_with('<') && matches!(incoming.status, 200..=299 | 403..=405) {
            return self.origin.web_page(incoming.status, body);
        }
        self.origin.status_error(incoming.status, &incoming.headers, body)
    }

    /// Reads the answer as it streams.
    async fn read(
        &self,
        mut incoming: Incoming,
        request: &ModelRequest,
        names: &ToolNames,
        request_bytes: usize,
        recording: &mut Recording,
        on_event: &mut (dyn FnMut(ModelEvent) + Send),
    ) -> Result<Answer, ModelError> {
        let mut reader = AnswerReader::new(&request.tools, names, request.format);
        let failed = |failure| self.read_error(incoming.status, failure);
        loop {
            match next_bytes(&mut incoming.body, reader.is_finished()).await {
                Ok(Some(bytes)) => {
                    recording.push(&bytes);
                    reader.push(&bytes, on_event).map_err(failed)?;
                }
                Ok(None) => break,
                // The answer was complete; only the end of the connection went wrong.
                Err(_) if reader.is_finished() => break,
                Err(TransportError::Broken(why)) => {
                    return Err(self.read_error(incoming.status, ReadFailure::Broken(why)));
                }
                Err(failure) => return Err(self.origin.transport_error(&failure)),
            }
            if reader.is_done() {
                incoming.body.drain();
                break;
            }
        }
        reader
            .finish(&self.id, &request.model, request_bytes, on_event)
            .map_err(failed)
    }

    fn read_error(&self, status: u16, failure: ReadFailure) -> ModelError {
        let label = &self.origin.label;
        let protocol = |message: String, raw: &str| self.origin.protocol_error(message, raw);
        match failure {
            ReadFailure::Decode(DecodeFailure::Server(value)) => self.origin.stream_error(&value),
            ReadFailure::Decode(DecodeFailure::Unreadable { why, raw }) => protocol(
                format!("A part of the answer of {label} was not readable: {why}."),
                &raw,
            ),
            ReadFailure::Decode(DecodeFailure::Runaway(why)) => protocol(why.to_string(), ""),
            ReadFailure::WebPage(text) => self.origin.web_page(status, &text),
            ReadFailure::TooLarge => protocol(
                format!("A part of the answer of {label} is larger than 16 MiB."),
                "",
            ),
            ReadFailure::Cut => protocol(format!("The answer of {label} broke off before its end."), ""),
            ReadFailure::Broken(why) => {
                protocol(format!("The answer of {label} broke off before its end."), &why)
            }
            ReadFailure::Empty(raw) => protocol(format!("{label} sent an empty answer."), &raw),
        }
    }

    /// Some servers refuse with 400 what the model wrote, and send it along: perhaps it is a call all the same.
    fn salvage(&self, body: &str, request: &ModelRequest, names: &ToolNames) -> Option<Answer> {
        let value: serde_json::Value = serde_json::from_str(body).ok()?;
        let text = value.pointer("/error/failed_generation")?.as_str()?;
        let calls = calls_in_text(text, names, &request.tools);
        (!calls.is_empty()).then(|| Answer {
            parts: calls.into_iter().map(AnswerPart::Call).collect(),
            usage: Usage {
                estimated: true,
                ..Usage::default()
            },
            finish: Finish(FinishReason::Calls),
        })
    }
}

/// The next bytes; after the finish reason with less patience.
async fn next_bytes(body: &mut Body, finished: bool) -> Result<Option<bytes::Bytes>, TransportError> {
    if !finished {
        return body.next().await;
    }
    match tokio::time::timeout(AFTER_FINISH.as_duration(), body.next()).await {
        Ok(bytes) => bytes,
        Err(_) => Ok(None),
    }
}

#[async_trait]
impl Provider for ChatProvider {
    fn id(&self) -> &ProviderId {
        &self.id
    }

    async fn sample(
        &self,
        request: &ModelRequest,
        on_event: &mut (dyn FnMut(ModelEvent) + Send),
    ) -> Result<Answer, ModelError> {
        let names = ToolNames::new(&request.tools);
        let system = self.prompts.prompt(request);
        let mut tries = 1;
        loop {
            let body =
                request::body(&self.id, request, &system, &names, &self.quirks()).map_err(|error| {
                    ModelError::new(
                        ModelErrorKind::BadRequest,
                        format!("The request could not be written: {error}."),
                    )
                })?;
            let request_bytes = body.len();
            let address = || format!("POST {}", self.origin.base_url.join("chat/completions"));
            let mut recording = Recording::new(request.record.as_ref(), address, &body);
            let mut incoming = self
                .send(http::Method::POST, "chat/completions", body, request.silence)
                .await?;
            recording.status(incoming.status);
            if (200..300).contains(&incoming.status) {
                return self
                    .read(incoming, request, &names, request_bytes, &mut recording, on_event)
                    .await;
            }
            let words = self.error_body(&mut incoming).await;
            recording.push(words.as_bytes());
            if tries < TRIES && self.learn(incoming.status, &words) {
                tries += 1;
                continue;
            }
            let tool_failed = ServerWords::read(&words).codes.contains("tool_use_failed");
            if tool_failed && let Some(answer) = self.salvage(&words, request, &names) {
                return Ok(answer);
            }
            let mut error = self.refusal(&incoming, &words);
            if tool_failed {
                error.kind = ModelErrorKind::Protocol;
                error.message = format!(
                    "{} could not read the call that the model wrote.",
                    self.origin.label
                );
                error.retryable = true;
            }
            return Err(error);
        }
    }

    async fn models(&self) -> Result<Vec<String>, ModelError> {
        let mut incoming = self
            .send(http::Method::GET, "models", bytes::Bytes::new(), LIST_SILENCE)
            .await?;
        if !(200..300).contains(&incoming.status) {
            let words = self.error_body(&mut incoming).await;
            return Err(self.refusal(&incoming, &words));
        }
        let body = incoming.body.rest(LIST_LIMIT).await;
        let text = String::from_utf8_lossy(&body);
        if text.trim_start().starts_with('<') {
            return Err(self.origin.web_page(incoming.status, &text));
        }
        let value: serde_json::Value = serde_json::from_str(&text).map_err(|error| {
            self.origin.protocol_error(
                format!(
                    "The list of models of {} was not readable: {error}.",
                    self.origin.label
                ),
                &text,
            )
        })?;
        let list = [value.get("data"), value.get("models"), Some(&value)]
            .into_iter()
            .flatten()
            .find_map(serde_json::Value::as_array);
        let mut names: Vec<String> = list
            .into_iter()
            .flatten()
            .filter_map(|model| {
                let name = ["id", "name", "model"]
                    .iter()
                    .find_map(|field| model.get(field)?.as_str());
                name.or_else(|| model.as_str()).map(str::to_string)
            })
            .collect();
        names.sort();
        names.dedup();
        Ok(names)
    }
}
