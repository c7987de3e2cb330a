//! The desk at which clients ask: one `Request` in, one `Reply` out, and the events of the sessions that are open.

use crate::providers::{DEMO, Providers};
use crate::session::actor::{Actor, Ask, now};
use crate::session::executor::Workplace;
use crate::session::input::Input;
use crate::session::state::SessionState;
use paddock_protocol::*;
use paddock_provider::{Message, ModelRequest};
use paddock_sandbox::{Confinement, HelperProgram, OpenError, ProjectRoot, StateDir};
use paddock_store::{Home, LogReader, LogWriter, StoreError};
use paddock_tools::Registry;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Instant;
use tokio::sync::{broadcast, mpsc, oneshot};

/// Events that a slow listener of all sessions may be behind before it loses some.
const EVERYONE_CAPACITY: usize = 1_024;
const RECENT_PROJECTS: usize = 12;

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
}

/// What a new session is set to when it differs from the settings.
#[derive(Clone, Debug, Default)]
pub struct SessionWish {
    pub model: Option<ModelChoice>,
    pub role: Option<Role>,
    pub limits: Option<Limits>,
}

impl Paddock {
    /// Opens the data folder (`None`: the system's place) and reads the settings. Starts nothing.
    pub fn open(home: Option<PathBuf>, helper: HelperProgram) -> Result<Self, ClientError> {
        let home = Home::open(home).map_err(storage)?;
        let loaded = paddock_store::settings::load(&home).map_err(storage)?;
        let providers = Arc::new(Providers::default());
        providers.configure(loaded.value.providers.clone());
        let inner = Inner {
            home,
            registry: Arc::new(Registry::new()),
            confinement: paddock_sandbox::for_this_machine(helper),
            providers,
            settings: Mutex::new(loaded.value),
            sessions: tokio::sync::Mutex::default(),
            everyone: broadcast::channel(EVERYONE_CAPACITY).0,
            summary: OnceLock::new(),
        };
        Ok(Self {
            inner: Arc::new(inner),
        })
    }

    pub fn providers(&self) -> &Providers {
        &self.inner.providers
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

    /// Opens a folder, with every way in which it cannot be a project as a sentence with a remedy.
    pub fn open_root(&self, path: &str) -> Result<ProjectRoot, ClientError> {
        if path.trim().is_empty() {
            return Err(refused("No folder was given.").hint("Choose the folder the agent should work in."));
        }
        ProjectRoot::open_beside(Path::new(path), Some(self.inner.home.path()))
            .map_err(|error| folder_error(&error))
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
                let sessions = paddock_store::sessions::list_sessions(&self.inner.home, Some(&project))
                    .map_err(storage)?;
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
                self.submit(&session, op).await?;
                Ok(Reply::Accepted)
            }
            Request::Settings => Ok(Reply::Settings {
                settings: self.settings(),
            }),
            Request::SaveSettings { settings } => self.save_settings(settings),
            Request::SetKey { provider, key } => self.set_key(provider, key).await,
            Request::ForgetKey { provider } => {
                let forgotten = self.inner.providers.keys().forget(&provider).await;
                self.inner.providers.key_changed(&provider);
                forgotten.map_err(|error| ClientError::new(ErrorCode::Keyring, error.to_string()))?;
                Ok(Reply::Key {
                    key: self.inner.providers.key_state(&provider).await,
                })
            }
            Request::KeyState { provider } => Ok(Reply::Key {
                key: self.inner.providers.key_state(&provider).await,
            }),
            Request::Models { provider } => {
                let (provider, _) = self.inner.providers.get(&provider).await.map_err(model_error)?;
                Ok(Reply::Models {
                    models: provider.models().await.map_err(model_error)?,
                })
            }
            Request::CheckModel { model } => self.check_model(model).await,
        }
    }

    /// The state now, and every event after it.
    pub async fn attach(
        &self,
        session: &SessionId,
    ) -> Result<(SessionSnapshot, mpsc::UnboundedReceiver<Event>), ClientError> {
        self.ask(session, |done| Ask::Attach { done }).await
    }

    pub async fn submit(&self, session: &SessionId, op: Op) -> Result<(), ClientError> {
        if let Op::SetModel { model } = &op {
            self.known_model(model)?;
        }
        self.ask(session, |done| Ask::Submit { op, done }).await?
    }

    /// Ends the actor of a session; its log is complete and released when this returns.
    pub async fn close(&self, session: &SessionId) {
        let actor = self.inner.sessions.lock().await.remove(session);
        if let Some(actor) = actor {
            let (done, ended) = oneshot::channel();
            if actor.send(Ask::Close { done }).is_ok() {
                let _ = ended.await;
            }
        }
    }

    pub async fn close_all(&self) {
        let open: Vec<SessionId> = self.inner.sessions.lock().await.keys().cloned().collect();
        for session in open {
            self.close(&session).await;
        }
    }

    /// Makes a session and starts its actor.
    pub async fn create_session(&self, project: &str, wish: SessionWish) -> Result<SessionId, ClientError> {
        let root = self.open_root(project)?;
        let settings = self.settings();
        let demo = is_demo(&root);
        let model = wish
            .model
            .or_else(|| demo.then(demo_model))
            .or(settings.model)
            .ok_or_else(|| {
                ClientError::new(ErrorCode::NoModel, "No model is chosen yet.")
                    .hint("Choose a model in the settings.")
            })?;
        self.known_model(&model)?;
        let usual = Limits {
            iterations: if demo {
                DEMO_ITERATIONS
            } else {
                settings.limits.iterations
            },
            ..settings.limits
        };
        let limits = wish.limits.unwrap_or(usual);
        let config = SessionConfig {
            project: root.path().to_string_lossy().into_owned(),
            title: String::new(),
            role: wish.role.unwrap_or_default(),
            autonomy: if settings.autonomy == Autonomy::HandsOff {
                Autonomy::Balanced
            } else {
                settings.autonomy
            },
            demo: model.provider.as_str() == DEMO,
            model,
            limits,
        };
        let id = SessionId::new(uuid::Uuid::now_v7().to_string());
        let mut log = LogWriter::create(&self.inner.home, &id).map_err(storage)?;
        let mut state = SessionState::new(id.clone(), config.clone());
        let mut first = vec![EventMsg::SessionCreated {
            version: PROTOCOL_VERSION,
            config: config.clone(),
        }];
        let kept = paddock_store::rules::load(&self.inner.home, &config.project).map_err(storage)?;
        first.extend(kept.value.into_iter().map(|rule| EventMsg::RuleAdded { rule }));
        for msg in first {
            let event = Event {
                session: id.clone(),
                seq: state.seq + 1,
                at: now(),
                msg,
            };
            log.append(&event, paddock_store::Durability::Written)
                .map_err(storage)?;
            state.apply(&event);
        }
        paddock_store::sessions::write_summary(&self.inner.home, &state.summary()).map_err(storage)?;
        self.start(state, log, root, Vec::new()).await;
        Ok(id)
    }

    async fn start(
        &self,
        state: SessionState,
        log: LogWriter,
        root: ProjectRoot,
        first: Vec<Input>,
    ) -> mpsc::UnboundedSender<Ask> {
        let id = state.id.clone();
        let place = Workplace {
            session: id.clone(),
            home: self.inner.home.clone(),
            sandbox_state: self.sandbox_state(&root),
            root,
            registry: self.inner.registry.clone(),
            confinement: self.inner.confinement.clone(),
            providers: self.inner.providers.clone(),
            sandbox: OnceLock::new(),
        };
        let actor = Actor::spawn(state, log, Arc::new(place), self.inner.everyone.clone(), first);
        self.inner.sessions.lock().await.insert(id, actor.clone());
        actor
    }

    /// Sets aside what a command left behind when the program died during it.
    async fn audit(&self, root: &ProjectRoot) {
        let (audited, state) = (root.clone(), self.sandbox_state(root));
        let found =
            tokio::task::spawn_blocking(move || paddock_sandbox::audit_after_crash(&audited, &state)).await;
        for item in found.unwrap_or_default() {
            tracing::warn!(?item, "something that would have run later was set aside");
        }
    }

    /// The actor of a session; read from its log when it is not open.
    async fn actor(&self, id: &SessionId) -> Result<mpsc::UnboundedSender<Ask>, ClientError> {
        if let Some(actor) = self
            .inner
            .sessions
            .lock()
            .await
            .get(id)
            .filter(|actor| !actor.is_closed())
        {
            return Ok(actor.clone());
        }
        let (log, torn) = LogWriter::open(&self.inner.home, id).map_err(storage)?;
        if let Some(torn) = torn {
            tracing::warn!(session = %id, ?torn, "the last line of the log was not whole and was set aside");
        }
        let replay = LogReader::open(&self.inner.home, id)
            .and_then(LogReader::replay)
            .map_err(storage)?;
        if !replay.damaged.is_empty() {
            tracing::warn!(session = %id, lines = replay.damaged.len(), "damaged lines in the log were passed over");
        }
        let state = SessionState::replay(&replay.events).ok_or_else(|| {
            ClientError::new(
                ErrorCode::Storage,
                "This session could not be read: its record has no beginning.",
            )
            .hint("The file is kept as it is. Begin a new session.")
        })?;
        let root = self.open_root(&state.live.config.project)?;
        self.audit(&root).await;
        Ok(self.start(state, log, root, vec![Input::Reopened]).await)
    }

    async fn ask<T>(
        &self,
        id: &SessionId,
        ask: impl FnOnce(oneshot::Sender<T>) -> Ask,
    ) -> Result<T, ClientError> {
        let gone = || {
            ClientError::new(ErrorCode::Internal, "The session ended while it was asked.")
                .hint("Open it again.")
        };
        let actor = self.actor(id).await?;
        let (done, answer) = oneshot::channel();
        actor.send(ask(done)).map_err(|_| gone())?;
        answer.await.map_err(|_| gone())
    }

    async fn snapshot(&self, session: &SessionId) -> Result<SessionSnapshot, ClientError> {
        self.ask(session, |done| Ask::Snapshot { done }).await
    }

    async fn about(&self) -> About {
        let inner = self.inner.clone();
        let tried = tokio::task::spawn_blocking(move || {
            inner
                .summary
                .get_or_init(|| crate::sandbox_summary(&*inner.confinement))
                .clone()
        });
        let keyring_problem = match self.inner.providers.keys().state(&ProviderId::new("probe")).await {
            KeyState::Unavailable { why } => Some(why),
            _ => None,
        };
        About {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            system: std::env::consts::OS.to_owned(),
            sandbox: tried.await.unwrap_or_default(),
            keyring_problem,
        }
    }

    fn open_project(&self, path: &str) -> Result<Reply, ClientError> {
        let root = self.open_root(path)?;
        let project = facts(&root);
        if !project.demo {
            let mut settings = self.settings();
            settings.recent_projects.retain(|recent| *recent != project.path);
            settings.recent_projects.insert(0, project.path.clone());
            settings.recent_projects.truncate(RECENT_PROJECTS);
            self.save_settings(settings)?;
        }
        Ok(Reply::Project { project })
    }

    /// A fresh copy of the sample project in the system's folder for temporary files.
    pub fn lay_out_demo(&self) -> Result<ProjectRoot, ClientError> {
        let unwritable = |error: std::io::Error| {
            ClientError::new(
                ErrorCode::Storage,
                format!("The sample project could not be laid out: {error}."),
            )
            .hint("Make room in the folder for temporary files.")
        };
        let name = format!("{DEMO_PREFIX}{}", uuid::Uuid::now_v7().simple());
        let target = std::env::temp_dir().join(name).join("orchard");
        std::fs::create_dir_all(&target).map_err(unwritable)?;
        paddock_provider::lay_out_sample_project(&target).map_err(unwritable)?;
        self.open_root(&target.to_string_lossy())
    }

    fn open_demo(&self) -> Result<Reply, ClientError> {
        Ok(Reply::Project {
            project: facts(&self.lay_out_demo()?),
        })
    }

    async fn delete_session(&self, session: &SessionId) -> Result<Reply, ClientError> {
        self.close(session).await;
        paddock_store::sessions::delete_session(&self.inner.home, session).map_err(storage)?;
        Ok(Reply::Accepted)
    }

    fn save_settings(&self, settings: Settings) -> Result<Reply, ClientError> {
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

    async fn set_key(&self, provider: ProviderId, key: String) -> Result<Reply, ClientError> {
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

    async fn check_model(&self, model: ModelChoice) -> Result<Reply, ClientError> {
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

    fn known_model(&self, model: &ModelChoice) -> Result<(), ClientError> {
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
}

const DEMO_PREFIX: &str = "paddock-demo-";
/// Small, so that the demo reaches it.
const DEMO_ITERATIONS: u32 = 8;

pub fn demo_model() -> ModelChoice {
    ModelChoice {
        provider: ProviderId::new(DEMO),
        model: "scripted".to_owned(),
    }
}

/// Whether a folder is a copy of the sample project.
fn is_demo(root: &ProjectRoot) -> bool {
    let parent = root
        .path()
        .parent()
        .and_then(Path::file_name)
        .map(|name| name.to_string_lossy().into_owned());
    parent.is_some_and(|name| name.starts_with(DEMO_PREFIX))
}

fn facts(root: &ProjectRoot) -> ProjectFacts {
    let there = |name: &str| root.relative(name).is_ok_and(|path| root.exists(&path));
    ProjectFacts {
        path: root.path().to_string_lossy().into_owned(),
        name: root
            .path()
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default(),
        demo: is_demo(root),
        git: there(".git"),
        guides: crate::context::GUIDES
            .iter()
            .filter(|name| there(name))
            .map(|name| (*name).to_owned())
            .collect(),
    }
}

fn refused(message: impl Into<String>) -> ClientError {
    ClientError::new(ErrorCode::FolderRefused, message)
}

fn folder_error(error: &OpenError) -> ClientError {
    refused(error.to_string())
}

fn storage(error: StoreError) -> ClientError {
    let (code, hint) = match &error {
        StoreError::InUse { .. } => (ErrorCode::Busy, "Close the other one, or wait until it is done."),
        StoreError::NotFound { .. } | StoreError::InvalidId { .. } => (ErrorCode::NotFound, ""),
        StoreError::DiskFull { .. } => (ErrorCode::Storage, "Make room on the disk and try again."),
        StoreError::Io { .. } => (
            ErrorCode::Storage,
            "Paddock's data folder must be writable for your account; PADDOCK_HOME can name another one.",
        ),
        _ => (ErrorCode::Storage, ""),
    };
    let said = ClientError::new(code, error.to_string());
    if hint.is_empty() { said } else { said.hint(hint) }
}

fn model_error(error: ModelError) -> ClientError {
    let code = if error.kind == ModelErrorKind::Auth {
        ErrorCode::NoModel
    } else {
        ErrorCode::Model
    };
    ClientError {
        code,
        message: error.message,
        hint: error.hint,
        retry_after: error.retry_after,
    }
}
