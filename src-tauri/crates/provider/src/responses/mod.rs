//! OpenAI Responses: input items in, output items out, nothing kept by the server.
//!
//! Spoken by OpenAI itself and by many look-alikes that translate it to Chat Completions. The conversation is sent whole each
//! time; reasoning comes back as blocks that only the server can read and is sent along with the calls that it led to.

mod decoder;
#[cfg(test)]
mod golden;
mod history;
mod item;
mod items;
mod parameters;
#[cfg(test)]
mod property;
mod quirks;
mod request;
mod sealed;

use crate::dialect::PromptCache;
use crate::reading::ToolNames;
use crate::server::{Exchanged, KeyHeader, Server};
use crate::{Answer, ModelEvent, ModelRequest, Provider, ServerConfig};
use async_trait::async_trait;
pub(crate) use decoder::ResponsesDecoder;
use paddock_protocol::{ModelEntry, ModelError, ModelErrorKind, ProviderId, ProviderKind};
use quirks::Quirks;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Requests for one answer: the first, and one for each thing learnt from a refusal.
const TRIES: usize = 6;

/// A server that speaks Responses.
pub struct ResponsesProvider {
    server: Server,
    /// By model.
    quirks: Mutex<HashMap<String, Quirks>>,
    prompts: PromptCache,
}

impl ResponsesProvider {
    pub fn new(config: ServerConfig) -> Self {
        Self {
            quirks: Mutex::default(),
            server: Server::new(config, ProviderKind::Responses, KeyHeader::Bearer, &[]),
            prompts: PromptCache::default(),
        }
    }

    /// What is known of a model, for as long as `look` needs it.
    fn with_quirks<T>(&self, model: &str, look: impl FnOnce(&mut Quirks) -> T) -> T {
        let mut quirks = self.quirks.lock().unwrap_or_else(PoisonError::into_inner);
        let quirks = quirks.entry(model.to_owned());
        look(quirks.or_insert_with(|| Quirks::of(&self.server.origin.base_url, model)))
    }
}

#[async_trait]
impl Provider for ResponsesProvider {
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
        let mut tries = 1;
        loop {
            let quirks = self.with_quirks(&request.model, |quirks| quirks.clone());
            let (body, sent) =
                request::body(&self.server.id, request, &system, &names, &quirks).map_err(|error| {
                    ModelError::new(
                        ModelErrorKind::BadRequest,
                        format!("The request could not be written: {error}."),
                    )
                })?;
            let request_bytes = body.len();
            match self.server.exchange("responses", body, request).await? {
                Exchanged::Answered {
                    incoming,
                    mut recording,
                } => {
                    let decoder = ResponsesDecoder::new(&request.tools, &names, request.format);
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
                Exchanged::Refused { incoming, words } => {
                    let learn = |quirks: &mut Quirks| quirks.learn(incoming.status, &words, &sent);
                    if tries == TRIES || !self.with_quirks(&request.model, learn) {
                        return Err(self.server.refusal(&incoming, &words));
                    }
                    tries += 1;
                }
            }
        }
    }

    async fn models(&self) -> Result<Vec<ModelEntry>, ModelError> {
        self.server.list().await
    }
}
