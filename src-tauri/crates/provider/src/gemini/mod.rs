//! Google Gemini: `generateContent` with a stream of chunks, at Google itself, at Vertex and at gateways that speak it.

mod chunk;
mod decoder;
#[cfg(test)]
mod golden;
mod history;
#[cfg(test)]
mod legal;
mod parameters;
mod quirks;
mod request;
mod schema;
mod signature;

use crate::dialect::PromptCache;
use crate::reading::ToolNames;
use crate::server::{Exchanged, KeyHeader, Server};
use crate::{Answer, ModelEvent, ModelRequest, Provider, Secret, ServerConfig};
use async_trait::async_trait;
pub(crate) use decoder::GeminiDecoder;
use paddock_protocol::{ModelEntry, ModelError, ModelErrorKind, ProviderId, ProviderKind};
use quirks::Quirks;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Requests for one answer: the first, and one for each thing learnt from a refusal.
const TRIES: usize = 6;
/// Beginning of the keys that are tokens of a Google account, as Vertex takes them.
const TOKEN_START: &str = "ya29.";

/// A server that speaks the Gemini protocol.
pub struct GeminiProvider {
    server: Server,
    /// By model: each has its own rules.
    quirks: Mutex<HashMap<String, Quirks>>,
    prompts: PromptCache,
}

impl GeminiProvider {
    pub fn new(config: ServerConfig) -> Self {
        let is_token = |key: &Secret| key.expose().trim_start().starts_with(TOKEN_START);
        let key_header = match config.key.as_ref().is_some_and(is_token) {
            true => KeyHeader::Bearer,
            false => KeyHeader::Named("x-goog-api-key"),
        };
        Self {
            server: Server::new(config, ProviderKind::Gemini, key_header, &[]),
            quirks: Mutex::default(),
            prompts: PromptCache::default(),
        }
    }

    fn quirks(&self, model: &str) -> Quirks {
        let quirks = self.quirks.lock().unwrap_or_else(PoisonError::into_inner);
        quirks.get(model).cloned().unwrap_or_default()
    }

    fn remember(&self, model: &str, known: &Quirks, learnt: &Quirks) {
        let lasting = learnt.lasting();
        if lasting == *known {
            return;
        }
        let mut all = self.quirks.lock().unwrap_or_else(PoisonError::into_inner);
        all.insert(model.to_owned(), lasting);
    }

    async fn attempt(
        &self,
        request: &ModelRequest,
        on_event: &mut (dyn FnMut(ModelEvent) + Send),
    ) -> Result<Answer, ModelError> {
        let names = ToolNames::new(&request.tools);
        let system = self.prompts.prompt(request);
        let path = format!(
            "{}{}:streamGenerateContent?alt=sse",
            self.server.version(),
            model_path(&request.model)
        );
        let known = self.quirks(&request.model);
        let mut quirks = known.clone();
        let mut tries = 1;
        loop {
            let body =
                request::body(&self.server.id, request, &system, &names, &quirks).map_err(|error| {
                    ModelError::new(
                        ModelErrorKind::BadRequest,
                        format!("The request could not be written: {error}."),
                    )
                })?;
            let request_bytes = body.len();
            match self.server.exchange(&path, body, request).await? {
                Exchanged::Answered {
                    incoming,
                    mut recording,
                } => {
                    self.remember(&request.model, &known, &quirks);
                    let decoder = GeminiDecoder::new(&request.tools, &names, request.format);
                    let (server, record) = (&self.server, &mut recording);
                    return server
                        .read(incoming, decoder, request, request_bytes, record, on_event)
                        .await;
                }
                Exchanged::Refused { incoming, words } => {
                    if tries < TRIES && quirks.learn(incoming.status, &words) {
                        tries += 1;
                        continue;
                    }
                    // What was learnt did not help, unless it is something else that fails now.
                    if !matches!(incoming.status, 400 | 422) {
                        self.remember(&request.model, &known, &quirks);
                    }
                    return Err(self.server.refusal(&incoming, &words));
                }
            }
        }
    }
}

/// The path of a model below the address. Names that are paths themselves stay as they are.
fn model_path(model: &str) -> String {
    let escaped = model.replace('%', "%25").replace('?', "%3F").replace('#', "%23");
    match escaped.starts_with("models/") || escaped.starts_with("tunedModels/") {
        true => escaped,
        false => format!("models/{escaped}"),
    }
}

#[async_trait]
impl Provider for GeminiProvider {
    fn id(&self) -> &ProviderId {
        &self.server.id
    }

    async fn sample(
        &self,
        request: &ModelRequest,
        on_event: &mut (dyn FnMut(ModelEvent) + Send),
    ) -> Result<Answer, ModelError> {
        let answer = self.attempt(request, on_event).await;
        if let Err(error) = &answer
            && error.message.contains(chunk::MISSING_SIGNATURE)
        {
            let known = self.quirks(&request.model);
            let stand_ins = true;
            let learnt = Quirks {
                stand_ins,
                ..known.clone()
            };
            self.remember(&request.model, &known, &learnt);
        }
        answer
    }

    async fn models(&self) -> Result<Vec<ModelEntry>, ModelError> {
        self.server.list().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_has_one_path() {
        for (model, path) in [
            ("gemini-2.5-pro", "models/gemini-2.5-pro"),
            ("models/gemini-2.5-pro", "models/gemini-2.5-pro"),
            ("tunedModels/mine-1", "tunedModels/mine-1"),
            ("a?key=b#c%2F", "models/a%3Fkey=b%23c%252F"),
        ] {
            assert_eq!(model_path(model), path);
        }
    }
}
