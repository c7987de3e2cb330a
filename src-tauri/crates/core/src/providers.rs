//! The configured model providers, made when they are first needed: their key comes from the keyring then.

mod pages;
mod proxy_login;

pub use pages::page_routes;

use crate::secrets::Secrets;
use paddock_protocol::*;
use paddock_provider::{
    AnthropicProvider, BaseUrl, ChatProvider, GeminiProvider, Network, Provider, ResponsesProvider,
    ScriptPace, ScriptedProvider, Secret, ServerConfig,
};
use paddock_store::Keys;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Id of the scripted demo model's provider; it exists without being configured.
pub const DEMO: &str = "demo";

/// A provider, and whether its server is on this machine.
type Made = (Arc<dyn Provider>, bool);

#[derive(Default)]
pub struct Providers {
    keys: Keys,
    configured: Mutex<Vec<ProviderConfig>>,
    /// Keys given by an environment variable: (variable, key).
    given: Mutex<HashMap<ProviderId, (String, Secret)>>,
    made: Mutex<HashMap<ProviderId, Made>>,
    pace: Mutex<Option<ScriptPace>>,
    /// What servers told of their models, as long as the program runs.
    listed: Mutex<HashMap<ProviderId, Vec<ModelEntry>>>,
    network: Network,
    sign_in: Mutex<proxy_login::SignIn>,
    secrets: Arc<Secrets>,
}

fn open<T>(lock: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Providers {
    /// With other keys than those of the system's keyring.
    #[cfg(test)]
    fn with_keys(keys: Keys) -> Self {
        Self {
            keys,
            ..Self::default()
        }
    }

    pub fn keys(&self) -> &Keys {
        &self.keys
    }

    /// The way to servers on other machines.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// What must not be shown; every key that is used is learnt.
    pub fn secrets(&self) -> &Arc<Secrets> {
        &self.secrets
    }

    /// Replaces the configuration; providers whose entry changed are made anew at their next use.
    pub fn configure(&self, providers: Vec<ProviderConfig>) {
        *open(&self.configured) = providers;
        open(&self.made).clear();
        open(&self.listed).clear();
    }

    /// A key from the environment, for this process only; it wins over the keyring.
    pub fn give_key(&self, provider: ProviderId, variable: String, key: Secret) {
        open(&self.made).remove(&provider);
        open(&self.given).insert(provider, (variable, key));
    }

    /// A key was set or forgotten.
    pub fn key_changed(&self, provider: &ProviderId) {
        open(&self.made).remove(provider);
    }

    /// How fast the demo model speaks.
    pub fn set_demo_pace(&self, pace: ScriptPace) {
        *open(&self.pace) = Some(pace);
    }

    pub fn config(&self, provider: &ProviderId) -> Option<ProviderConfig> {
        open(&self.configured)
            .iter()
            .find(|config| config.id == *provider)
            .cloned()
    }

    /// The provider, and whether its server is on this machine.
    pub async fn get(&self, id: &ProviderId) -> Result<Made, ModelError> {
        let known = open(&self.made).get(id).cloned();
        let made = match known {
            Some(made) => made,
            None => {
                let made = self.make(id).await?;
                open(&self.made).insert(id.clone(), made.clone());
                made
            }
        };
        // Servers on this machine are not reached through a proxy.
        if !made.1 {
            self.sign_in().await.map_err(|error| {
                ModelError::new(ModelErrorKind::Auth, error.message).with_hint(error.hint.unwrap_or_default())
            })?;
        }
        Ok(made)
    }

    async fn make(&self, id: &ProviderId) -> Result<Made, ModelError> {
        let config = self.config(id);
        if id.as_str() == DEMO
            || config
                .as_ref()
                .is_some_and(|config| config.kind == ProviderKind::Demo)
        {
            let pace = open(&self.pace).unwrap_or(ScriptPace::LIVE);
            let demo = ScriptedProvider::demo(id.clone()).pace(pace);
            return Ok((Arc::new(demo), true));
        }
        let config = config.ok_or_else(|| {
            ModelError::new(
                ModelErrorKind::NotFound,
                format!("There is no model provider named '{id}'."),
            )
            .with_hint("Choose a model in the settings.")
        })?;
        let base_url = BaseUrl::parse(&config.base_url).map_err(|error| {
            let hint = error.hint.unwrap_or_default();
            ModelError::new(ModelErrorKind::BadRequest, error.message).with_hint(hint)
        })?;
        let (key, key_origin) = self.key(&config).await?;
        if let Some(key) = &key {
            self.secrets
                .learn(&format!("key of {}", config.label), key.expose());
        }
        let local = base_url.is_loopback();
        let headers = config.headers.into_iter().map(|line| (line.name, line.value));
        let server = ServerConfig {
            id: config.id,
            label: config.label,
            base_url,
            key,
            key_origin,
            local,
            headers: headers.collect(),
            network: self.network.clone(),
        };
        let provider: Arc<dyn Provider> = match config.kind {
            ProviderKind::Chat | ProviderKind::Demo => Arc::new(ChatProvider::new(server)),
            ProviderKind::Responses => Arc::new(ResponsesProvider::new(server)),
            ProviderKind::Anthropic => Arc::new(AnthropicProvider::new(server)),
            ProviderKind::Gemini => Arc::new(GeminiProvider::new(server)),
        };
        Ok((provider, local))
    }

    /// The models of a server; remembered for what they tell of themselves.
    pub async fn list(&self, id: &ProviderId) -> Result<Vec<ModelEntry>, ModelError> {
        let (provider, _) = self.get(id).await?;
        let models = provider.models().await?;
        open(&self.listed).insert(id.clone(), models.clone());
        Ok(models)
    }

    /// Whether the server's windows are its own matter and were not asked for yet.
    pub fn has_own_windows(&self, id: &ProviderId) -> bool {
        let is_ollama = |config: ProviderConfig| {
            let base_url = BaseUrl::parse(&config.base_url);
            base_url.is_ok_and(|base_url| paddock_provider::is_ollama(id.as_str(), &base_url))
        };
        !open(&self.listed).contains_key(id) && self.config(id).is_some_and(is_ollama)
    }

    /// The window that a model has, as its server told.
    pub fn served_window(&self, model: &ModelChoice) -> Option<u32> {
        let listed = open(&self.listed);
        let mut models = listed.get(&model.provider)?.iter();
        models.find(|entry| entry.model == model.model)?.facts.window
    }

    /// What is known of a model: as its server told, then as the catalogue has it.
    pub fn facts(&self, model: &ModelChoice) -> ModelFacts {
        let told = open(&self.listed)
            .get(&model.provider)
            .and_then(|models| models.iter().find(|entry| entry.model == model.model))
            .map(|entry| entry.facts.clone())
            .unwrap_or_default();
        let Some(config) = self.config(&model.provider) else {
            return ModelFacts {
                cost: ModelCost::Free,
                ..told
            };
        };
        let mut facts = paddock_provider::merged(
            told,
            paddock_provider::known_facts(&config.base_url, config.kind, &model.model),
        );
        facts.window = config.window.or(facts.window);
        let local = BaseUrl::parse(&config.base_url).is_ok_and(|url| url.is_loopback());
        if local && facts.cost == ModelCost::Unknown {
            facts.cost = ModelCost::Free;
        }
        facts
    }

    async fn key(&self, config: &ProviderConfig) -> Result<(Option<Secret>, String), ModelError> {
        let given = open(&self.given).get(&config.id).cloned();
        if let Some((variable, key)) = given {
            return Ok((Some(key), format!("from {variable}")));
        }
        if !config.needs_key {
            return Ok((None, String::new()));
        }
        let auth =
            |message: String, hint: &str| ModelError::new(ModelErrorKind::Auth, message).with_hint(hint);
        match self.keys.get(&config.id).await {
            Ok(Some(key)) => Ok((Some(Secret::new(key.expose())), "from the keyring".to_owned())),
            Ok(None) => Err(auth(
                format!("There is no key for {}.", config.label),
                "Enter the key in the settings, or name an environment variable that holds it.",
            )),
            Err(error) => Err(auth(
                format!("The key for {} could not be read: {error}.", config.label),
                "Unlock the keyring and try again, or enter the key for this session only.",
            )),
        }
    }

    pub async fn key_state(&self, id: &ProviderId) -> KeyState {
        if let Some((variable, key)) = open(&self.given).get(id) {
            let ends_with = key.ends_with().unwrap_or_default();
            return KeyState::FromEnvironment {
                variable: variable.clone(),
                ends_with,
            };
        }
        match self.config(id) {
            Some(config) if !config.needs_key => KeyState::NotNeeded,
            None if id.as_str() == DEMO => KeyState::NotNeeded,
            _ => self.keys.state(id).await,
        }
    }
}
