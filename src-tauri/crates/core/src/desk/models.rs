//! Models and the way to them: what is known of each, its self-test, the connection test, servers on this machine.

use super::Paddock;
use super::error::{model_error, storage};
use crate::providers::DEMO;
use crate::self_test;
use paddock_protocol::*;
use paddock_provider::BaseUrl;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

/// For the windows of a server, before a session begins.
const WINDOWS_PATIENCE: Duration = Duration::from_secs(2);

impl Paddock {
    pub(super) async fn about_models(&self, request: Request) -> Result<Reply, ClientError> {
        match request {
            Request::Models { provider } => self.models(provider).await,
            Request::TestConnection { provider } => Ok(self.test_connection(&provider).await),
            Request::TestModel { model } => self.test_model(model).await,
            Request::FindServers => Ok(Reply::Servers {
                servers: paddock_provider::find_local_servers().await,
            }),
            Request::Spending => self.spending().await,
            _ => Ok(Reply::Presets {
                presets: paddock_provider::presets(),
            }),
        }
    }

    /// The models of a server; what the person corrected counts.
    async fn models(&self, provider: ProviderId) -> Result<Reply, ClientError> {
        let listed = self.inner.providers.list(&provider).await.map_err(model_error)?;
        let models = listed.into_iter().map(|entry| {
            let choice = ModelChoice {
                provider: provider.clone(),
                model: entry.model.clone(),
            };
            ModelEntry {
                facts: self.facts_of(&choice),
                ..entry
            }
        });
        Ok(Reply::Models {
            models: models.collect(),
        })
    }

    /// How a model is asked and what is known of it: the person's word counts most, then its server's, then the catalogue's.
    pub(super) fn known(&self, model: &ModelChoice) -> KnownModel {
        KnownModel {
            format: self.format_of(model),
            facts: self.facts_of(model),
        }
    }

    fn facts_of(&self, model: &ModelChoice) -> ModelFacts {
        let mut facts = self.inner.providers.facts(model);
        let settings = self.settings();
        if let Some(own) = settings.overrides.iter().find(|own| own.model == *model) {
            facts.window = own.window.or(facts.window);
            facts.output = own.output.or(facts.output);
            facts.images = own.images.or(facts.images);
            if let Some(cost) = own.cost.clone() {
                facts.cost = cost;
            }
            facts.from = "your settings".to_owned();
        }
        facts
    }

    /// A second model with what is known of it.
    pub(super) fn with_known(&self, fallback: Option<Fallback>) -> Option<Fallback> {
        fallback.map(|fallback| Fallback {
            known: self.known(&fallback.model),
            ..fallback
        })
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

    /// How this model is asked to call tools: as the person or its self-test set it, else natively.
    pub(super) fn format_of(&self, model: &ModelChoice) -> CallFormat {
        let settings = self.settings();
        let set = settings.formats.iter().find(|set| set.model == *model);
        set.map_or_else(CallFormat::default, |set| set.format)
    }

    /// Tries what a model can do, and keeps the call format that it handles best.
    async fn test_model(&self, model: ModelChoice) -> Result<Reply, ClientError> {
        self.known_model(&model)?;
        // What the server tells of the window is worth more than the catalogue's word.
        let _ = self.inner.providers.list(&model.provider).await;
        let test = match self.inner.providers.get(&model.provider).await {
            Ok((provider, local)) => {
                let facts = self.facts_of(&model);
                let test = self_test::run(&*provider, local, model, facts).await;
                self.with_window(test, local).await
            }
            Err(error) => self_test::unreachable(model, &error),
        };
        if let Some(format) = test.format {
            self.keep_format(&test.model, format)?;
        }
        Ok(Reply::ModelTest { test: Box::new(test) })
    }

    /// The last line of the test: the window. The test has loaded the model, so that its server tells the real one now.
    async fn with_window(&self, mut test: ModelTest, local: bool) -> ModelTest {
        if test.links.iter().any(|line| line.link == "window") {
            return test;
        }
        let _ = self.inner.providers.list(&test.model.provider).await;
        test.facts = self.facts_of(&test.model);
        let served = self.inner.providers.served_window(&test.model);
        test.links.push(self_test::window(&test.facts, served, local));
        test
    }

    /// Asks a server for its models that may give them other windows than they were made for, once, before the first of them is
    /// used. Takes at most two seconds.
    pub(super) async fn look_at_windows(&self, model: &ModelChoice) {
        let providers = &self.inner.providers;
        if providers.has_own_windows(&model.provider) {
            let _ = tokio::time::timeout(WINDOWS_PATIENCE, providers.list(&model.provider)).await;
        }
    }

    /// The way to a provider, link by link; at its end the key and what models there are.
    async fn test_connection(&self, provider: &ProviderId) -> Reply {
        let providers = &self.inner.providers;
        // Without the login the proxy refuses, and says so at its own link.
        let _ = providers.sign_in().await;
        let mut links = match providers
            .config(provider)
            .map(|config| (BaseUrl::parse(&config.base_url), config.kind))
        {
            Some((Ok(base_url), kind)) => {
                paddock_provider::test_connection(providers.network(), &base_url, kind).await
            }
            Some((Err(error), _)) => vec![self_test::line(
                "address",
                LinkState::Bad,
                error.message,
                error.hint,
                Millis(0),
            )],
            None => Vec::new(),
        };
        let broken = links.iter().any(|link| link.state == LinkState::Bad);
        let begun = Instant::now();
        let listed = match broken {
            false => Some(providers.list(provider).await),
            true => None,
        };
        links.extend(self_test::listed(listed, begun.elapsed().into()));
        Reply::Connection { links }
    }

    fn keep_format(&self, model: &ModelChoice, format: CallFormat) -> Result<(), ClientError> {
        let mut settings = self.settings();
        settings.formats.retain(|set| set.model != *model);
        if format != CallFormat::Native {
            settings.formats.push(ModelFormat {
                model: model.clone(),
                format,
            });
        }
        paddock_store::settings::save(&self.inner.home, &settings).map_err(storage)?;
        *self.inner.settings.lock().unwrap_or_else(PoisonError::into_inner) = settings;
        Ok(())
    }

    /// What all sessions have spent today.
    async fn spending(&self) -> Result<Reply, ClientError> {
        let ledger = self.inner.ledger.clone();
        let today = self.read_records(move |home| ledger.today(home)).await?;
        Ok(Reply::Spending { today })
    }
}
