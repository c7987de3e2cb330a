//! One model server on the wire: sending a request, reading its answer with a protocol's decoder, its refusals in words.
//!
//! The wall stands here so that the protocols hold only what differs between them. Deliberately absent: what a body means, retries
//! of the loop.

use crate::failure::Origin;
use crate::http::{Body, Http, Incoming, Outgoing, TransportError};
use crate::model_list::{next_page, page_size, read_model_list};
use crate::reading::{AnswerReader, DecodeFailure, Decoder, ReadFailure};
use crate::recording::Recording;
use crate::{Answer, BaseUrl, ModelEvent, ModelRequest, Network, Secret};
use http::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION};
use paddock_protocol::{Millis, ModelEntry, ModelError, ModelErrorKind, ProviderId, ProviderKind};
use url::form_urlencoded;

/// Bytes of an error body that are read.
const ERROR_BODY_LIMIT: usize = 64 * 1024;
/// Bytes of a list of models.
const LIST_LIMIT: usize = 16 * 1024 * 1024;
/// Pages of a list of models; one holds up to a thousand.
const LIST_PAGES: usize = 20;
/// Time for the token counts after the finish reason, when the server leaves the connection open.
const AFTER_FINISH: Millis = Millis(1_500);
/// Time for the list of models.
const LIST_SILENCE: Millis = Millis::seconds(15);

/// Time for what is good to know, but not needed.
const BESIDE_SILENCE: Millis = Millis::seconds(3);

/// What a provider is made of.
#[derive(Clone, Debug)]
pub struct ServerConfig {
    pub id: ProviderId,
    /// Name for texts, for example "OpenAI" or "Ollama".
    pub label: String,
    pub base_url: BaseUrl,
    pub key: Option<Secret>,
    /// Where the key came from, for texts: "from the keyring", "from OPENAI_API_KEY". Empty when there is none.
    pub key_origin: String,
    /// Whether the model runs on this machine or in this network: slow to begin, never without need through a proxy.
    pub local: bool,
    /// Further headers of every request: name and value.
    pub headers: Vec<(String, String)>,
    /// The way to it.
    pub network: Network,
}

/// How a protocol sends the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyHeader {
    /// `Authorization: Bearer …`
    Bearer,
    /// The key alone in a header of this name.
    Named(&'static str),
}

/// Building one costs nothing; connections are made by the first request.
pub(crate) struct Server {
    pub id: ProviderId,
    pub origin: Origin,
    http: Http,
    key_header: KeyHeader,
    /// Of every request; the person's own come last.
    headers: Vec<(String, String)>,
}

/// What a request came to.
pub(crate) enum Exchanged {
    Answered {
        incoming: Incoming,
        recording: Recording,
    },
    /// An error status, with the words of the body.
    Refused { incoming: Incoming, words: String },
}

impl Server {
    /// `headers`: those that the protocol wants in every request.
    pub fn new(
        config: ServerConfig,
        kind: ProviderKind,
        key_header: KeyHeader,
        headers: &[(&str, &str)],
    ) -> Self {
        let fixed = headers
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Self {
            id: config.id,
            origin: Origin {
                label: config.label,
                kind,
                base_url: config.base_url,
                key: config.key.filter(|key| !key.is_empty()),
                key_origin: config.key_origin,
                local: config.local,
            },
            http: Http::new(config.network),
            key_header,
            headers: fixed.chain(config.headers).collect(),
        }
    }

    fn headers(&self) -> Result<HeaderMap, ModelError> {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(
            ACCEPT,
            HeaderValue::from_static("text/event-stream, application/json"),
        );
        for (name, value) in &self.headers {
            let (Ok(name), Ok(value)) = (HeaderName::try_from(name.as_str()), HeaderValue::from_str(value))
            else {
                return Err(ModelError::new(
                    ModelErrorKind::BadRequest,
                    format!("The header '{name}' of {} cannot be sent: it has characters that headers do not have.", self.origin.label),
                )
                .with_hint("Correct it in the settings of the provider."));
            };
            headers.insert(name, value);
        }
        if let Some(key) = &self.origin.key {
            let (name, text) = match self.key_header {
                KeyHeader::Bearer => ("authorization", format!("Bearer {}", key.expose())),
                KeyHeader::Named(name) => (name, key.expose().to_owned()),
            };
            let mut value = HeaderValue::from_str(&text).map_err(|_| {
                ModelError::new(
                    ModelErrorKind::Auth,
                    format!(
                        "The key of {} contains characters that no key has.",
                        self.origin.label
                    ),
                )
                .with_hint("Copy the key again and save it anew.")
            })?;
            value.set_sensitive(true);
            headers.insert(HeaderName::from_static(name), value);
        }
        Ok(headers)
    }

    async fn send(&self, outgoing: Outgoing, silence: Millis) -> Result<Incoming, ModelError> {
        let answer = self.http.send(&outgoing, silence).await;
        answer.map_err(|failure| self.origin.transport_error(&failure))
    }

    /// Sends a request for an answer. `path` is added to the address; it may hold a query.
    pub async fn exchange(
        &self,
        path: &str,
        body: bytes::Bytes,
        request: &ModelRequest,
    ) -> Result<Exchanged, ModelError> {
        let url = self.origin.base_url.join(path);
        let address = || format!("POST {url}");
        let mut recording = Recording::new(request.record.as_ref(), address, &body);
        let outgoing = Outgoing {
            method: http::Method::POST,
            headers: self.headers()?,
            url,
            body,
        };
        let mut incoming = self.send(outgoing, request.silence).await?;
        recording.status(incoming.status);
        if (200..300).contains(&incoming.status) {
            return Ok(Exchanged::Answered { incoming, recording });
        }
        let words = self.error_body(&mut incoming).await;
        recording.push(words.as_bytes());
        Ok(Exchanged::Refused { incoming, words })
    }

    /// A document of the server, for example its list of models; at most 16 MiB.
    pub async fn document(&self, path: &str) -> Result<String, ModelError> {
        let outgoing = Outgoing {
            method: http::Method::GET,
            url: self.origin.base_url.join(path),
            headers: self.headers()?,
            body: bytes::Bytes::new(),
        };
        let mut incoming = self.send(outgoing, LIST_SILENCE).await?;
        if !(200..300).contains(&incoming.status) {
            let words = self.error_body(&mut incoming).await;
            return Err(self.refusal(&incoming, &words));
        }
        let body = incoming.body.rest(LIST_LIMIT).await;
        let text = String::from_utf8_lossy(&body).into_owned();
        if text.trim_start().starts_with('<') {
            return Err(self.origin.web_page(incoming.status, &text));
        }
        Ok(text)
    }

    /// A document of the server's own, beside the protocol: `/v1` at the end of the address is left out. With a body it is asked
    /// for by POST. None when the server has no such thing.
    pub async fn beside(&self, path: &str, body: Option<String>) -> Option<String> {
        let outgoing = Outgoing {
            method: match body {
                Some(_) => http::Method::POST,
                None => http::Method::GET,
            },
            url: self.origin.base_url.beside(path),
            headers: self.headers().ok()?,
            body: body.unwrap_or_default().into(),
        };
        let mut incoming = self.http.send(&outgoing, BESIDE_SILENCE).await.ok()?;
        if incoming.status != 200 {
            return None;
        }
        let body = incoming.body.rest(LIST_LIMIT).await;
        Some(String::from_utf8_lossy(&body).into_owned())
    }

    /// The version that the protocol adds to the address; see [`BaseUrl::version`].
    pub fn version(&self) -> &'static str {
        self.origin.base_url.version(self.origin.kind)
    }

    /// The models that the server offers, sorted by name, page by page where the protocol has pages.
    pub async fn list(&self) -> Result<Vec<ModelEntry>, ModelError> {
        let kind = self.origin.kind;
        let mut entries: Vec<ModelEntry> = Vec::new();
        let mut mark = None;
        for _ in 0..LIST_PAGES {
            let text = self.document(&self.list_path(mark.as_ref())).await?;
            let page = read_model_list(kind, &text).map_err(|error| {
                let label = &self.origin.label;
                let message = format!("The list of models of {label} was not readable: {error}.");
                self.origin.protocol_error(message, &text)
            })?;
            entries.extend(page);
            mark = next_page(kind, &text);
            if mark.is_none() {
                break;
            }
        }
        entries.sort_by(|a, b| a.model.cmp(&b.model));
        entries.dedup_by(|a, b| a.model == b.model);
        Ok(entries)
    }

    fn list_path(&self, mark: Option<&(&'static str, String)>) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.extend_pairs(page_size(self.origin.kind)).extend_pairs(mark);
        match query.finish().as_str() {
            "" => format!("{}models", self.version()),
            query => format!("{}models?{query}", self.version()),
        }
    }

    /// The words of an answer with an error status.
    async fn error_body(&self, incoming: &mut Incoming) -> String {
        String::from_utf8_lossy(&incoming.body.rest(ERROR_BODY_LIMIT).await).into_owned()
    }

    pub fn refusal(&self, incoming: &Incoming, body: &str) -> ModelError {
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

    /// Reads the answer as it streams. An error says what the attempt has used, as far as that is known.
    pub async fn read<D: Decoder>(
        &self,
        incoming: Incoming,
        decoder: D,
        request: &ModelRequest,
        request_bytes: usize,
        recording: &mut Recording,
        on_event: &mut (dyn FnMut(ModelEvent) + Send),
    ) -> Result<Answer, ModelError> {
        let mut reader = AnswerReader::new(decoder);
        let status = incoming.status;
        match self.feed(&mut reader, incoming, recording, on_event).await {
            Ok(()) => {
                let spent = reader.spent(request_bytes);
                let answer = reader.finish(&self.id, &request.model, request_bytes, on_event);
                answer.map_err(|failure| {
                    let is_page = matches!(failure, ReadFailure::WebPage(_));
                    let mut error = self.read_error(status, failure);
                    error.spent = spent.filter(|_| !is_page).map(Box::new);
                    error
                })
            }
            Err(mut error) => {
                error.spent = reader.spent(request_bytes).map(Box::new);
                Err(error)
            }
        }
    }

    async fn feed<D: Decoder>(
        &self,
        reader: &mut AnswerReader<D>,
        mut incoming: Incoming,
        recording: &mut Recording,
        on_event: &mut (dyn FnMut(ModelEvent) + Send),
    ) -> Result<(), ModelError> {
        loop {
            match next_bytes(&mut incoming.body, reader.is_finished()).await {
                Ok(Some(bytes)) => {
                    recording.push(&bytes);
                    reader
                        .push(&bytes, on_event)
                        .map_err(|failure| self.read_error(incoming.status, failure))?;
                }
                Ok(None) => return Ok(()),
                // The answer was complete; only the end of the connection went wrong.
                Err(_) if reader.is_finished() => return Ok(()),
                Err(TransportError::Broken(why)) => {
                    return Err(self.read_error(incoming.status, ReadFailure::Broken(why)));
                }
                Err(failure) => return Err(self.origin.transport_error(&failure)),
            }
            if reader.is_done() {
                incoming.body.drain();
                return Ok(());
            }
        }
    }

    pub fn read_error(&self, status: u16, failure: ReadFailure) -> ModelError {
        let label = &self.origin.label;
        let protocol = |message: String, raw: &str| self.origin.protocol_error(message, raw);
        match failure {
            ReadFailure::Decode(DecodeFailure::Server(value)) => self.origin.stream_error(&value),
            ReadFailure::Decode(DecodeFailure::Unreadable { why, raw }) => protocol(
                format!("A part of the answer of {label} was not readable: {why}."),
                &raw,
            ),
            ReadFailure::Decode(DecodeFailure::Unusable { why, raw }) => protocol(why, &raw),
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
