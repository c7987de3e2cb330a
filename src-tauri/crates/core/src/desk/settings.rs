//! Settings, keys, and the models they name.

use super::Paddock;
use super::error::storage;
use crate::providers::DEMO;
use paddock_protocol::*;
use std::sync::PoisonError;

impl Paddock {
    pub(super) async fn save_settings(&self, mut settings: Settings) -> Result<Reply, ClientError> {
        for provider in settings
            .providers
            .iter()
            .filter(|provider| provider.kind != ProviderKind::Demo)
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
        paddock_provider::NetworkConfig::of(&settings.network)?
            .certificates()
            .await?;
        let changed = self.inner.providers.change_network(&mut settings.network).await;
        let reply = self.keep_settings(settings)?;
        changed.map(|()| reply)
    }

    pub(super) async fn set_proxy_login(&self, user: &str, password: &str) -> Result<Reply, ClientError> {
        let key = self.inner.providers.set_proxy_login(user, password).await?;
        self.keep_network()?;
        Ok(Reply::Key { key })
    }

    pub(super) async fn forget_proxy_login(&self) -> Result<Reply, ClientError> {
        let forgotten = self.inner.providers.forget_proxy_login().await;
        self.keep_network()?;
        forgotten.map(|()| Reply::Key {
            key: KeyState::Missing,
        })
    }

    fn keep_network(&self) -> Result<Reply, ClientError> {
        self.keep_settings(Settings {
            network: self.inner.providers.network_settings(),
            ..self.settings()
        })
    }

    /// Settings that were checked; their network is in use already.
    pub(super) fn keep_settings(&self, settings: Settings) -> Result<Reply, ClientError> {
        paddock_store::settings::save(&self.inner.home, &settings).map_err(storage)?;
        self.inner.providers.configure(settings.providers.clone());
        *self.inner.settings.lock().unwrap_or_else(PoisonError::into_inner) = settings.clone();
        Ok(Reply::Settings {
            settings: Box::new(settings),
        })
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

    pub(super) async fn forget_key(&self, provider: &ProviderId) -> Result<Reply, ClientError> {
        let forgotten = self.inner.providers.keys().forget(provider).await;
        self.inner.providers.key_changed(provider);
        forgotten.map_err(|error| ClientError::new(ErrorCode::Keyring, error.to_string()))?;
        Ok(Reply::Key {
            key: self.inner.providers.key_state(provider).await,
        })
    }
}

pub fn demo_model() -> ModelChoice {
    ModelChoice {
        provider: ProviderId::new(DEMO),
        model: "scripted".to_owned(),
    }
}
