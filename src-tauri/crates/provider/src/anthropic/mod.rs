//! Anthropic Messages: the protocol of Claude, and of servers that imitate it.

mod decoder;
#[cfg(test)]
mod golden;
mod history;
mod parameters;
#[cfg(test)]
mod property;
mod quirks;
mod request;
mod schema;
mod sealed;
mod usage;
mod wire;

use crate::dialect::PromptCache;
use crate::model_list::{next_page, read_model_list};
use crate::reading::ToolNames;
use crate::server::{Exchanged, KeyHeader, Server};
use crate::{Answer, BaseUrl, ModelEvent, ModelRequest, Provider, ServerConfig};
use async_trait::async_trait;
pub(crate) use decoder::MessagesDecoder;
use paddock_protocol::{ModelEntry, ModelError, ModelErrorKind, ProviderId, ProviderKind};
use quirks::{Once, Quirks};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// The form of the protocol that is spoken here.
const VERSION: (&str, &str) = ("anthropic-version", "2023-06-01");
/// Requests for one answer: the first, and one for each thing learnt from a refusal.
const TRIES: usize = 6;
/// Pages of a list of models.
const PAGES: usize = 20;

/// A server that speaks Anthropic Messages.
pub struct AnthropicProvider {
    server: Server,
    /// Begins every path: empty where the address of the server ends with a version.
    version: &'static str,
    /// By model.
    quirks: Mutex<HashMap<String, Quirks>>,
    prompts: PromptCache,
}

impl AnthropicProvider {
    pub fn new(config: ServerConfig) -> Self {
        Self {
            version: version_path(&config.base_url),
            server: Server::new(config, KeyHeader::Named("x-api-key"), &[VERSION]),
            quirks: Mutex::default(),
            prompts: PromptCache::default(),
        }
    }

    fn quirks(&self, model: &str) -> Quirks {
        let all = self.quirks.lock().unwrap_or_else(PoisonError::into_inner);
        all.get(model).cloned().unwrap_or_default()
    }

    /// Keeps what was learnt, but for what holds for one request.
    fn remember(&self, model: &str, known: &Quirks, quirks: &Quirks) {
        if known == quirks {
            return;
        }
        let lasting = Quirks {
            once: Once::default(),
            ..quirks.clone()
        };
        let mut all = self.quirks.lock().unwrap_or_else(PoisonError::into_inner);
        all.insert(model.to_owned(), lasting);
    }

    /// The version is no remedy where it is added anyway.
    fn hinted(&self, mut error: ModelError) -> ModelError {
        let names_version = error.hint.as_ref().is_some_and(|hint| hint.contains("/v1"));
        if error.kind == ModelErrorKind::NotFound && names_version && !self.version.is_empty() {
            error.hint = Some(format!(
                "It was looked for at {}/v1; write the whole address when it is elsewhere.",
                self.server.origin.base_url
            ));
        }
        error
    }
}

/// As a value in the query of an address.
fn escaped(mark: &str) -> String {
    url::form_urlencoded::byte_serialize(mark.as_bytes()).collect()
}

/// The API stands below `/v1`; addresses are given with and without it.
fn version_path(base_url: &BaseUrl) -> &'static str {
    let last = base_url.as_str().rsplit('/').next().unwrap_or_default();
    let is_version = last
        .strip_prefix('v')
        .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    if base_url.has_path() && is_version {
        ""
    } else {
        "v1/"
    }
}

#[async_trait]
impl Provider for AnthropicProvider {
    fn id(&self) -> &ProviderId {
        &self.server.id
    }

    async fn sample(
        &self,
        request: &ModelRequest,
        on_event: &mut (dyn FnMut(ModelEvent) + Send),
    ) -> Result<Answer, ModelError> {
        let names = ToolNames::new(&request.tools);
        let system = self.prompts.prompt(request);
        let path = format!("{}messages", self.version);
        let known = self.quirks(&request.model);
        let mut quirks = known.clone();
        let mut tries = 1;
        loop {
            let (body, parameters) = request::body(&self.server.id, request, &system, &names, &quirks)
                .map_err(|error| {
                    ModelError::new(
                        ModelErrorKind::BadRequest,
                        format!("The request could not be written: {error}."),
                    )
                })?;
            let request_bytes = body.len();
            let (incoming, words) = match self.server.exchange(&path, body, request).await? {
                Exchanged::Answered {
                    incoming,
                    mut recording,
                } => {
                    self.remember(&request.model, &known, &quirks);
                    let decoder = MessagesDecoder::new(&request.tools, &names, request.format);
                    let answer = self
                        .server
                        .read(
                            incoming,
                            decoder,
                            request,
                            request_bytes,
                            &mut recording,
                            on_event,
                        )
                        .await;
                    return answer.map_err(|error| self.hinted(error));
                }
                Exchanged::Refused { incoming, words } => (incoming, words),
            };
            if tries < TRIES && quirks.learn(incoming.status, &words, request, &parameters) {
                tries += 1;
                continue;
            }
            // What was learnt did not help, unless it is something else that fails now.
            if !matches!(incoming.status, 400 | 422 | 500) {
                self.remember(&request.model, &known, &quirks);
            }
            return Err(self.hinted(self.server.refusal(&incoming, &words)));
        }
    }

    async fn models(&self) -> Result<Vec<ModelEntry>, ModelError> {
        let mut entries = Vec::new();
        let mut after = String::new();
        for _ in 0..PAGES {
            let path = format!("{}models?limit=1000{after}", self.version);
            let text = self
                .server
                .document(&path)
                .await
                .map_err(|error| self.hinted(error))?;
            let page = read_model_list(ProviderKind::Anthropic, &text).map_err(|error| {
                self.server.origin.protocol_error(
                    format!(
                        "The list of models of {} was not readable: {error}.",
                        self.server.origin.label
                    ),
                    &text,
                )
            })?;
            entries.extend(page);
            match next_page(ProviderKind::Anthropic, &text) {
                Some((name, mark)) => after = format!("&{name}={}", escaped(&mark)),
                None => break,
            }
        }
        entries.sort_by(|a: &ModelEntry, b| a.model.cmp(&b.model));
        entries.dedup_by(|a, b| a.model == b.model);
        Ok(entries)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_taken_with_and_without_the_version() {
        for (base, version) in [
            ("https://api.anthropic.com", "v1/"),
            ("https://api.anthropic.com/v1", ""),
            ("https://api.example.com/anthropic", "v1/"),
            ("https://proxy.example.com/api/v2/", ""),
            ("http://v1", "v1/"),
        ] {
            assert_eq!(version_path(&BaseUrl::parse(base).unwrap()), version, "{base}");
        }
    }
}
