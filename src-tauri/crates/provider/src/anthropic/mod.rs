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
use crate::reading::ToolNames;
use crate::server::{Exchanged, KeyHeader, Server};
use crate::{Answer, ModelEvent, ModelRequest, Provider, ServerConfig};
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

/// A server that speaks Anthropic Messages.
pub struct AnthropicProvider {
    server: Server,
    /// By model.
    quirks: Mutex<HashMap<String, Quirks>>,
    prompts: PromptCache,
}

impl AnthropicProvider {
    pub fn new(config: ServerConfig) -> Self {
        Self {
            server: Server::new(
                config,
                ProviderKind::Anthropic,
                KeyHeader::Named("x-api-key"),
                &[VERSION],
            ),
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
        let path = format!("{}messages", self.server.version());
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
                    return self
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
            return Err(self.server.refusal(&incoming, &words));
        }
    }

    async fn models(&self) -> Result<Vec<ModelEntry>, ModelError> {
        self.server.list().await
    }
}
