//! A real core with real tools in a real sandbox, a model server that says what the test wrote down, and a person who answers.

use std::future::Future;
use std::path::PathBuf;
use std::time::Duration;

use paddock_core::{HelperProgram, Paddock, SessionWish};
use paddock_protocol::*;
use paddock_tests::model_server::ModelServer;
use paddock_tests::sessions;
use tokio::sync::mpsc::UnboundedReceiver;

const PATIENCE: Duration = Duration::from_secs(30);

pub struct Bed {
    place: tempfile::TempDir,
    pub paddock: Paddock,
    configs: Vec<ProviderConfig>,
}

/// A session with everything that was heard of it.
pub struct Work {
    pub paddock: Paddock,
    pub session: SessionId,
    events: UnboundedReceiver<Event>,
    pub heard: Vec<Event>,
}

pub fn model_of(name: &str) -> ModelChoice {
    ModelChoice {
        provider: ProviderId::new(name),
        model: "m".into(),
    }
}

impl Bed {
    /// A project and a core that knows these servers by their names.
    pub fn new(servers: &[(&str, &ModelServer)]) -> Self {
        Self::with(servers, None)
    }

    /// The same with a window that the person set for all their models.
    pub fn with(servers: &[(&str, &ModelServer)], window: Option<u32>) -> Self {
        let place = tempfile::Builder::new()
            .prefix("paddock-live-")
            .tempdir()
            .unwrap();
        std::fs::create_dir(place.path().join("project")).unwrap();
        let paddock = open(&place);
        let configs: Vec<ProviderConfig> = servers
            .iter()
            .map(|(name, server)| ProviderConfig {
                id: ProviderId::new(*name),
                kind: ProviderKind::Chat,
                label: (*name).to_owned(),
                base_url: server.url(),
                needs_key: false,
                window,
                headers: Vec::new(),
            })
            .collect();
        paddock.providers().configure(configs.clone());
        Self {
            place,
            paddock,
            configs,
        }
    }

    /// What the person knows better of a model.
    pub async fn correct(&self, own: ModelOverride) {
        let settings = Settings {
            providers: self.configs.clone(),
            overrides: vec![own],
            ..self.paddock.settings()
        };
        let settings = Box::new(settings);
        self.paddock
            .request(Request::SaveSettings { settings })
            .await
            .unwrap();
    }

    pub fn project(&self) -> PathBuf {
        self.place.path().join("project")
    }

    pub fn put(&self, name: &str, content: &str) {
        std::fs::write(self.project().join(name), content).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.project().join(name)).unwrap_or_default()
    }

    pub async fn session(&self, wish: SessionWish) -> Work {
        let wish = SessionWish {
            model: wish.model.or_else(|| Some(model_of("main"))),
            ..wish
        };
        let project = self.project().to_string_lossy().into_owned();
        let session = self.paddock.create_session(&project, wish).await.unwrap();
        self.attach(session).await
    }

    pub async fn attach(&self, session: SessionId) -> Work {
        let (_, events) = self.paddock.attach(&session).await.unwrap();
        Work {
            paddock: self.paddock.clone(),
            session,
            events,
            heard: Vec::new(),
        }
    }
}

fn open(place: &tempfile::TempDir) -> Paddock {
    let helper = HelperProgram::at(sessions::paddock().unwrap());
    Paddock::open(Some(place.path().join("home")), helper).unwrap()
}

impl Work {
    pub async fn submit(&self, op: Op) {
        self.paddock.submit(&self.session, op).await.unwrap();
    }

    pub async fn refused(&self, op: Op) -> ClientError {
        self.paddock.submit(&self.session, op).await.unwrap_err()
    }

    pub async fn say(&self, text: &str) {
        self.submit(send(text)).await;
    }

    /// The first thing heard from now on that `find` wants.
    pub async fn hear<T>(&mut self, what: &str, find: impl Fn(&EventMsg) -> Option<T>) -> T {
        loop {
            let event = within(what, self.events.recv()).await;
            let event = event.unwrap_or_else(|| panic!("the session ended before {what}"));
            let found = find(&event.msg);
            self.heard.push(event);
            if let Some(found) = found {
                return found;
            }
        }
    }

    pub async fn status(&mut self, wanted: TurnStatus) {
        let what = format!("{wanted:?}");
        self.hear(&what, |msg| match msg {
            EventMsg::TurnChanged { status, .. } if *status == wanted => Some(()),
            _ => None,
        })
        .await;
    }

    pub async fn call(&mut self, what: &str, wanted: impl Fn(&Item, &CallItem) -> bool) -> CallItem {
        self.hear(what, |msg| match msg {
            EventMsg::ItemStarted { item }
            | EventMsg::ItemUpdated { item }
            | EventMsg::ItemCompleted { item } => match &item.kind {
                ItemKind::Call(call) if wanted(item, call) => Some((**call).clone()),
                _ => None,
            },
            _ => None,
        })
        .await
    }

    pub async fn approval(&mut self) -> ApprovalRequest {
        self.hear("an approval", |msg| match msg {
            EventMsg::ApprovalRequested { approval } => Some((**approval).clone()),
            _ => None,
        })
        .await
    }

    pub async fn approve(&mut self) -> ApprovalRequest {
        let request = self.approval().await;
        self.decide(&request, true).await;
        request
    }

    pub async fn decide(&self, request: &ApprovalRequest, yes: bool) {
        let decision = if yes {
            Decision::approve(AnswerScope::Once)
        } else {
            Decision::Reject {
                reason: None,
                pause: false,
            }
        };
        let approval = request.id.clone();
        self.submit(Op::Decide { approval, decision }).await;
    }

    pub async fn snapshot(&self) -> SessionSnapshot {
        self.paddock.attach(&self.session).await.unwrap().0
    }
}

pub fn send(text: &str) -> Op {
    Op::send(text.to_owned(), SendMode::NextIteration)
}

pub async fn within<T>(what: &str, future: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, future)
        .await
        .unwrap_or_else(|_| panic!("{what} did not come within {} s", PATIENCE.as_secs()))
}

/// Whether `what` becomes true soon.
pub async fn soon(what: impl Fn() -> bool) -> bool {
    for _ in 0..500 {
        if what() {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    false
}
