//! Sessions: made, opened from their logs, asked, closed, deleted.

use super::Paddock;
use super::error::storage;
use super::projects::is_demo;
use super::settings::demo_model;
use crate::providers::DEMO;
use crate::session::actor::{Actor, Ask, now};
use crate::session::executor::Workplace;
use crate::session::input::Input;
use crate::session::state::SessionState;
use paddock_protocol::*;
use paddock_sandbox::ProjectRoot;
use paddock_store::{LogReader, LogWriter};
use std::sync::{Arc, OnceLock};
use tokio::sync::{mpsc, oneshot};

/// Small, so that the demo reaches it.
const DEMO_ITERATIONS: u32 = 8;

/// What a new session is set to when it differs from the settings.
#[derive(Clone, Debug, Default)]
pub struct SessionWish {
    pub model: Option<ModelChoice>,
    pub role: Option<Role>,
    pub limits: Option<Limits>,
    pub format: Option<CallFormat>,
    pub autonomy: Option<Autonomy>,
    /// The command that has to succeed before a turn is done.
    pub done_when: Option<String>,
    /// As set for new sessions when absent.
    pub budget: Option<Budget>,
}

impl Paddock {
    /// The state now, and every event after it.
    pub async fn attach(
        &self,
        session: &SessionId,
    ) -> Result<(SessionSnapshot, mpsc::UnboundedReceiver<Event>), ClientError> {
        self.ask(session, |done| Ask::Attach { done }).await
    }

    pub async fn submit(&self, session: &SessionId, op: Op) -> Result<(), ClientError> {
        if let Op::SetModel { model, .. } = &op {
            self.known_model(model)?;
            self.look_at_windows(model).await;
        }
        let op = match op {
            Op::SetModel { model, .. } => Op::SetModel {
                known: self.known(&model),
                model,
            },
            Op::SetFallback { fallback } => Op::SetFallback {
                fallback: self.with_known(fallback),
            },
            op => op,
        };
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
        self.look_at_windows(&model).await;
        let usual = Limits {
            iterations: if demo {
                DEMO_ITERATIONS
            } else {
                settings.limits.iterations
            },
            ..settings.limits
        };
        let limits = wish.limits.unwrap_or(usual);
        let format = wish.format.unwrap_or_else(|| self.format_of(&model));
        let facts = self.known(&model).facts;
        let autonomy = wish.autonomy.unwrap_or(settings.autonomy);
        let config = SessionConfig {
            project: root.path().to_string_lossy().into_owned(),
            title: String::new(),
            role: wish.role.unwrap_or_default(),
            // Hands-off has to be proven on this machine first.
            autonomy: match autonomy {
                Autonomy::HandsOff => Autonomy::Balanced,
                other => other,
            },
            demo: model.provider.as_str() == DEMO,
            model,
            limits,
            format,
            own_role: None,
            small: settings.small.map(|model| SmallModel {
                known: self.known(&model),
                model,
            }),
            fallback: self.with_known(settings.fallback),
            done_when: wish.done_when,
            parent: None,
            budget: wish.budget.unwrap_or(settings.budget),
            facts,
        };
        let id = SessionId::new(uuid::Uuid::now_v7().to_string());
        self.begin_session(id.clone(), config).await?;
        if wish.autonomy == Some(Autonomy::HandsOff) {
            self.submit(&id, Op::SetAutonomy { autonomy }).await?;
        }
        Ok(id)
    }

    /// Makes the session of this id with its log and starts its actor.
    pub(crate) async fn begin_session(
        &self,
        id: SessionId,
        config: SessionConfig,
    ) -> Result<(), ClientError> {
        let root = self.open_root(&config.project)?;
        let mut log = LogWriter::create(&self.inner.home, &id).map_err(storage)?;
        let mut state = SessionState::new(id.clone(), config.clone());
        let mut first = vec![EventMsg::SessionCreated {
            version: PROTOCOL_VERSION,
            config: config.clone(),
        }];
        let kept = paddock_store::rules::load(&self.inner.home, &config.project).map_err(storage)?;
        if !kept.value.is_empty() {
            first.push(EventMsg::RulesLoaded { rules: kept.value });
        }
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
        Ok(())
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
            ledger: self.inner.ledger.clone(),
            sandbox: OnceLock::new(),
            desk: self.downgrade(),
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
        let mut first = vec![Input::Reopened];
        match paddock_store::rules::load(&self.inner.home, &state.live.config.project) {
            Ok(kept) => first.push(Input::Op(Op::LoadRules { rules: kept.value })),
            Err(error) => tracing::warn!(%error, "the rules could not be read; those of the record hold"),
        }
        Ok(self.start(state, log, root, first).await)
    }

    pub(super) async fn ask<T>(
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

    pub(super) async fn snapshot(&self, session: &SessionId) -> Result<SessionSnapshot, ClientError> {
        self.ask(session, |done| Ask::Snapshot { done }).await
    }

    pub(super) async fn delete_session(&self, session: &SessionId) -> Result<Reply, ClientError> {
        let of_sub_agents = format!("{session}.");
        let all = paddock_store::sessions::list_sessions(&self.inner.home, None).map_err(storage)?;
        let children = all.into_iter().map(|summary| summary.session);
        let children = children.filter(|id| id.as_str().starts_with(&of_sub_agents));
        for id in std::iter::once(session.clone()).chain(children) {
            self.close(&id).await;
            paddock_store::sessions::delete_session(&self.inner.home, &id).map_err(storage)?;
        }
        Ok(Reply::Accepted)
    }
}
