//! OpenAI-compatible Chat Completions: the protocol that most servers speak, each a little differently.

mod chunk;
mod content;
mod decoder;
#[cfg(test)]
mod golden;
mod history;
mod quirks;
mod request;

use crate::dialect::PromptCache;
use crate::failure::ServerWords;
use crate::ollama;
use crate::reading::{ToolNames, calls_in_text};
use crate::server::{Exchanged, KeyHeader, Server};
use crate::{Answer, AnswerPart, Finish, ModelEvent, ModelRequest, Provider, ServerConfig};
use async_trait::async_trait;
pub(crate) use decoder::ChatDecoder;
use paddock_protocol::{
    FinishReason, ModelEntry, ModelError, ModelErrorKind, ProviderId, ProviderKind, Usage,
};
use quirks::Quirks;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Requests for one answer: the first, and one for each thing learnt from a refusal.
const TRIES: usize = 6;

/// A server that speaks Chat Completions.
pub struct ChatProvider {
    server: Server,
    /// By model: a refusal of one says nothing about another.
    quirks: Mutex<HashMap<String, Quirks>>,
    prompts: PromptCache,
}

impl ChatProvider {
    pub fn new(config: ServerConfig) -> Self {
        Self {
            quirks: Mutex::default(),
            server: Server::new(config, ProviderKind::Chat, KeyHeader::Bearer, &[]),
            prompts: PromptCache::default(),
        }
    }

    /// What is known of a model, for as long as `look` needs it.
    fn with_quirks<T>(&self, model: &str, look: impl FnOnce(&mut Quirks) -> T) -> T {
        let mut all = self.quirks.lock().unwrap_or_else(PoisonError::into_inner);
        if !all.contains_key(model) {
            let quirks = Quirks::of(&self.server.origin.base_url).beside(all.values());
            all.insert(model.to_owned(), quirks);
        }
        look(all.entry(model.to_owned()).or_default())
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

#[async_trait]
impl Provider for ChatProvider {
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
            let host = self.server.origin.base_url.host();
            let quirks = self.with_quirks(&request.model, |quirks| quirks.clone());
            let body = request::body(&self.server.id, request, &system, &names, &quirks, &host).map_err(
                |error| {
                    ModelError::new(
                        ModelErrorKind::BadRequest,
                        format!("The request could not be written: {error}."),
                    )
                },
            )?;
            let request_bytes = body.len();
            let (incoming, words) = match self.server.exchange("chat/completions", body, request).await? {
                Exchanged::Answered {
                    incoming,
                    mut recording,
                } => {
                    let decoder = ChatDecoder::new(&request.tools, &names, request.format);
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
            let learn = |quirks: &mut Quirks| quirks.learn(incoming.status, &words);
            if tries < TRIES && self.with_quirks(&request.model, learn) {
                tries += 1;
                continue;
            }
            let tool_failed = ServerWords::read(&words).codes.contains("tool_use_failed");
            if tool_failed && let Some(answer) = self.salvage(&words, request, &names) {
                return Ok(answer);
            }
            let mut error = self.server.refusal(&incoming, &words);
            if tool_failed {
                error.kind = ModelErrorKind::Protocol;
                error.message = format!(
                    "{} could not read the call that the model wrote.",
                    self.server.origin.label
                );
                error.retryable = true;
            }
            return Err(error);
        }
    }

    async fn models(&self) -> Result<Vec<ModelEntry>, ModelError> {
        let models = self.server.list().await?;
        if !ollama::is_ollama(self.server.id.as_str(), &self.server.origin.base_url) {
            return Ok(models);
        }
        Ok(ollama::look_closer(&self.server, models).await)
    }
}
