//! The desk at which clients ask: one `Request` in, one `Reply` out, and the events of the sessions that are open.

mod attachments;
mod definitions;
mod error;
mod health;
mod models;
mod projects;
mod records;
mod rules;
mod sessions;
mod set_aside;
mod settings;

pub use sessions::SessionWish;
pub use settings::demo_model;

use crate::ledger::Ledger;
use crate::providers::Providers;
use crate::session::actor::Ask;
use error::storage;
use paddock_protocol::*;
use paddock_sandbox::{Confinement, HelperProgram, ProjectRoot, StateDir};
use paddock_store::Home;
use paddock_tools::Registry;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use tokio::sync::{broadcast, mpsc};

/// Events that a slow listener of all sessions may be behind before it loses some.
const EVERYONE_CAPACITY: usize = 1_024;

/// The whole of Paddock without a screen. Cheap to clone.
#[derive(Clone)]
pub struct Paddock {
    inner: Arc<Inner>,
}

struct Inner {
    home: Home,
    registry: Arc<Registry>,
    confinement: Arc<dyn Confinement>,
    providers: Arc<Providers>,
    settings: Mutex<Settings>,
    sessions: tokio::sync::Mutex<HashMap<SessionId, mpsc::UnboundedSender<Ask>>>,
    everyone: broadcast::Sender<Event>,
    summary: OnceLock<SandboxSummary>,
    ledger: Arc<Ledger>,
}

/// A Paddock that may be gone; what its sessions hold must not keep it alive.
#[derive(Clone)]
pub struct WeakPaddock(Weak<Inner>);

impl WeakPaddock {
    pub fn upgrade(&self) -> Option<Paddock> {
        self.0.upgrade().map(|inner| Paddock { inner })
    }
}

impl Paddock {
    /// Opens the data folder (`None`: the system's place) and reads the settings. Starts nothing.
    pub fn open(home: Option<PathBuf>, helper: HelperProgram) -> Result<Self, ClientError> {
        let home = Home::open(home).map_err(storage)?;
        let mut settings = paddock_store::settings::load(&home).map_err(storage)?.value;
        let providers = Arc::new(Providers::default());
        providers.configure(settings.providers.clone());
        if providers.load_network(&mut settings.network) {
            paddock_store::settings::save(&home, &settings).map_err(storage)?;
        }
        let inner = Inner {
            home,
            registry: Arc::new(Registry::new()),
            confinement: paddock_sandbox::for_this_machine(helper),
            providers,
            settings: Mutex::new(settings),
            sessions: tokio::sync::Mutex::default(),
            everyone: broadcast::channel(EVERYONE_CAPACITY).0,
            summary: OnceLock::new(),
            ledger: Arc::default(),
        };
        Ok(Self {
            inner: Arc::new(inner),
        })
    }

    fn downgrade(&self) -> WeakPaddock {
        WeakPaddock(Arc::downgrade(&self.inner))
    }

    pub fn providers(&self) -> &Providers {
        &self.inner.providers
    }

    /// How pages of the web are reached, for calls outside of a session.
    pub fn page_routes(&self) -> paddock_tools::FindRoute {
        crate::providers::page_routes(&self.inner.providers)
    }

    pub fn registry(&self) -> &Registry {
        &self.inner.registry
    }

    pub fn confinement(&self) -> Arc<dyn Confinement> {
        self.inner.confinement.clone()
    }

    pub fn settings(&self) -> Settings {
        self.inner
            .settings
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Durable events of all open sessions.
    pub fn all_events(&self) -> broadcast::Receiver<Event> {
        self.inner.everyone.subscribe()
    }

    /// Where commands of a project keep their private caches.
    pub fn sandbox_state(&self, root: &ProjectRoot) -> StateDir {
        StateDir::new(self.inner.home.sandbox_of(&root.path().to_string_lossy()))
    }

    pub async fn request(&self, request: Request) -> Result<Reply, ClientError> {
        match request {
            Request::About => Ok(Reply::About {
                about: self.about().await,
            }),
            Request::OpenProject { path } => self.open_project(&path),
            Request::OpenDemo => self.open_demo(),
            Request::CreateSession { project } => {
                let session = self.create_session(&project, SessionWish::default()).await?;
                Ok(Reply::Session {
                    snapshot: Box::new(self.snapshot(&session).await?),
                })
            }
            Request::Sessions { project } => {
                let mut sessions = paddock_store::sessions::list_sessions(&self.inner.home, Some(&project))
                    .map_err(storage)?;
                sessions.retain(|summary| summary.parent.is_none());
                Ok(Reply::Sessions { sessions })
            }
            Request::OpenSession { session } => Ok(Reply::Session {
                snapshot: Box::new(self.snapshot(&session).await?),
            }),
            Request::DeleteSession { session } => self.delete_session(&session).await,
            Request::Items { session, from, to } => {
                let items = self.ask(&session, |done| Ask::Items { from, to, done }).await?;
                Ok(Reply::Items { items })
            }
            Request::Output { session, call } => {
                let text = paddock_store::outputs::read_output(&self.inner.home, &session, &call)
                    .map_err(storage)?;
                Ok(Reply::Text { text })
            }
            Request::Submit { session, op } => {
                not_by_hand(&op)?;
                self.submit(&session, op).await?;
                Ok(Reply::Accepted)
            }
            Request::Settings => Ok(Reply::Settings {
                settings: Box::new(self.settings()),
            }),
            Request::SaveSettings { settings } => self.save_settings(*settings).await,
            Request::SetKey { provider, key } => self.set_key(provider, key).await,
            Request::ForgetKey { provider } => self.forget_key(&provider).await,
            Request::KeyState { provider } => Ok(Reply::Key {
                key: self.inner.providers.key_state(&provider).await,
            }),
            Request::ProxyLogin => Ok(Reply::Key {
                key: self.inner.providers.proxy_login().await,
            }),
            Request::SetProxyLogin { user, password } => self.set_proxy_login(&user, &password).await,
            Request::ForgetProxyLogin => self.forget_proxy_login().await,
            request @ (Request::Models { .. }
            | Request::TestConnection { .. }
            | Request::TestModel { .. }
            | Request::Presets
            | Request::FindServers
            | Request::Spending) => self.about_models(request).await,
            Request::AddAttachment { session, name, data } => self.add_attachment(&session, &name, &data),
            Request::AttachmentData { session, attachment } => self.attachment_data(&session, &attachment),
            Request::Metrics { query } => self.metrics(query).await,
            Request::Health => Ok(self.health().await),
            Request::Raw {
                session,
                turn,
                iteration,
            } => {
                let kept = paddock_store::raw::read(&self.inner.home, &session, turn, iteration);
                Ok(Reply::Raw {
                    exchanges: kept.map_err(storage)?,
                })
            }
            request @ (Request::Rules { .. }
            | Request::SaveRule { .. }
            | Request::RemoveRule { .. }
            | Request::PreviewRule { .. }
            | Request::JudgeCommand { .. }) => self.rules(request).await,
            request @ (Request::SetAside { .. }
            | Request::LookAtSetAside { .. }
            | Request::DecideSetAside { .. }) => self.set_aside(request).await,
            Request::Decisions { query, limit } => self.decisions(query, limit).await,
            Request::ProcessOutput { session, process } => {
                let text = self
                    .ask(&session, |done| Ask::ProcessOutput { process, done })
                    .await?;
                Ok(Reply::Text {
                    text: text.ok_or_else(|| {
                        ClientError::new(ErrorCode::NotFound, "There is no output of this process.")
                    })?,
                })
            }
            request @ (Request::Workflows { .. }
            | Request::PreviewWorkflow { .. }
            | Request::RunWorkflow { .. }
            | Request::Roles { .. }
            | Request::UseRole { .. }
            | Request::ReviewDefinition { .. }
            | Request::Definition { .. }) => self.definitions(request).await,
        }
    }

    async fn about(&self) -> About {
        let inner = self.inner.clone();
        let tried = tokio::task::spawn_blocking(move || {
            inner
                .summary
                .get_or_init(|| crate::sandbox_summary(&*inner.confinement))
                .clone()
        });
        // A login that came out of an old file goes to the keyring.
        self.inner.providers.proxy_login().await;
        let keyring_problem = match self.inner.providers.keys().state(&ProviderId::new("probe")).await {
            KeyState::Unavailable { why } => Some(why),
            _ => None,
        };
        About {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            system: std::env::consts::OS.to_owned(),
            sandbox: tried.await.unwrap_or_default(),
            profiles: LimitProfile::ALL
                .map(|profile| ProfileLimits {
                    profile,
                    limits: Limits::of(profile),
                })
                .into(),
            keyring_problem,
        }
    }
}

/// A plan comes from a preview and a role from a file that was read; a client names them and cannot make them up.
fn not_by_hand(op: &Op) -> Result<(), ClientError> {
    let hint = match op {
        Op::RunWorkflow { .. } => "Ask for the run of a workflow by its name and the token of its preview.",
        Op::SetOwnRole { .. } => "Ask for a role by its name.",
        Op::LoadRules { .. } => "Save or remove a rule; every session hears of it.",
        Op::NoteSetAside { .. } => "Decide about what was set aside; it is noted then.",
        _ => return Ok(()),
    };
    let refused = ClientError::new(
        ErrorCode::BadRequest,
        "This cannot be asked of a session directly.",
    );
    Err(refused.hint(hint))
}
