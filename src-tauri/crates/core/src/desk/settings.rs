//! Settings, keys, and the models they name.

use super::Paddock;
use super::error::{model_error, storage};
use crate::providers::DEMO;
use paddock_protocol::*;
use paddock_provider::{Message, ModelRequest};
use std::sync::{Arc, PoisonError};
use std::time::Instant;

impl Paddock {
    pub(super) fn save_settings(&self, settings: Settings) -> Result<Reply, ClientError> {
        for provider in settings
            .providers
            .iter()
            .filter(|provider| provider.kind == ProviderKind::Chat)
        {
            paddock_provider::BaseUrl::parse(&provider.base_url)?;
        }
        if settings.limits.iterations == 0 || settings.limits.iterations > Limits::ceiling(Role::Act) {
            return Err(ClientError::new(
                ErrorCode::BadRequest,
                "The number of iterations must be between 1 and 200.",
            )
            .hint("Give another number."));
        }
        paddock_store::settings::save(&self.inner.home, &settings).map_err(storage)?;
        self.inner.providers.configure(settings.providers.clone());
        *self.inner.settings.lock().unwrap_or_else(PoisonError::into_inner) = settings.clone();
        Ok(Reply::Settings { settings })
    }

    pub(super) async fn set_key(&self, provider: ProviderId, key: String) -> Result<Reply, ClientError> {
        let key = key.trim().to_owned();
        if key.is_empty() {
            return Err(ClientError::new(ErrorCode::BadRequest, "The key is empty.")
                .hint("Paste the key of the provider."));
        }
        let state = self
            .inner
            .providers
            .keys()
            .set(&provider, paddock_store::Secret::new(key))
            .await;
        self.inner.providers.key_changed(&provider);
        Ok(Reply::Key { key: state })
    }

    pub(super) async fn check_model(&self, model: ModelChoice) -> Result<Reply, ClientError> {
        let (provider, local) = self
            .inner
            .providers
            .get(&model.provider)
            .await
            .map_err(model_error)?;
        let request = ModelRequest {
            model: model.model,
            system: "Answer with one word.".into(),
            messages: vec![Message::User {
                text: "Say ok.".into(),
            }],
            tools: Arc::default(),
            format: CallFormat::Native,
            max_output: Some(16),
            silence: Millis::seconds(if local { 120 } else { 30 }),
            record: None,
        };
        let begun = Instant::now();
        let mut first = None;
        let answered = provider
            .sample(&request, &mut |_| {
                first.get_or_insert_with(|| begun.elapsed());
            })
            .await;
        match answered {
            Ok(_) => Ok(Reply::ModelChecked {
                first_byte: first.unwrap_or_else(|| begun.elapsed()).into(),
            }),
            Err(error) => Err(model_error(error)),
        }
    }

    pub(super) fn known_model(&self, model: &ModelChoice) -> Result<(), ClientError> {
        let known = model.provider.as_str() == DEMO || self.inner.providers.config(&model.provider).is_some();
        if known && !model.model.trim().is_empty() {
            return Ok(());
        }
        Err(ClientError::new(
            ErrorCode::NoModel,
            format!("There is no model '{}' of '{}'.", model.model, model.provider),
        )
        .hint("Choose one of the configured models, or add its provider in the settings."))
    }

    /// How this model is asked to call tools: as the person set it, else natively.
    pub(super) fn format_of(&self, model: &ModelChoice) -> CallFormat {
        let settings = self.settings();
        let set = settings.formats.iter().find(|set| set.model == *model);
        set.map_or_else(CallFormat::default, |set| set.format)
    }
}

pub fn demo_model() -> ModelChoice {
    ModelChoice {
        provider: ProviderId::new(DEMO),
        model: "scripted".to_owned(),
    }
}
