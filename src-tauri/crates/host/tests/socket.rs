//! The built host, spoken to as a browser speaks to it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

use futures_util::{SinkExt, StreamExt};
use paddock_protocol::*;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{WebSocketStream, client_async};

struct Host {
    child: Child,
    address: String,
    home: tempfile::TempDir,
}

impl Host {
    fn start() -> Self {
        let home = tempfile::tempdir().unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_paddock-host"))
            .arg("--instant")
            .arg("--home")
            .arg(home.path().join("data"))
            .env("TMPDIR", home.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let address = line.trim().strip_prefix("ready ws://").unwrap().to_owned();
        assert!(address.starts_with("127.0.0.1:"));
        Self { child, address, home }
    }

    async fn connect(&self, origin: Option<&str>) -> Result<Client, Error> {
        let stream = TcpStream::connect(&self.address).await.unwrap();
        let mut request = format!("ws://{}/", self.address).into_client_request()?;
        if let Some(origin) = origin {
            request.headers_mut().insert("origin", origin.parse().unwrap());
        }
        let (socket, _) = client_async(request, stream).await?;
        Ok(Client {
            socket,
            next: 1,
            pushed: Vec::new(),
        })
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

struct Client {
    socket: WebSocketStream<TcpStream>,
    next: u64,
    /// Events that came between answers.
    pushed: Vec<Event>,
}

impl Client {
    async fn message(&mut self) -> Value {
        let message = tokio::time::timeout(Duration::from_secs(30), self.socket.next())
            .await
            .expect("nothing came within 30 s");
        serde_json::from_str(message.unwrap().unwrap().to_text().unwrap()).unwrap()
    }

    /// The next message; events go aside.
    async fn take(&mut self) -> Option<Value> {
        let message = self.message().await;
        if message.get("events").is_none() {
            return Some(message);
        }
        let events: Vec<Event> = serde_json::from_value(message["events"].clone()).unwrap();
        assert!(!events.is_empty());
        assert!(
            events
                .iter()
                .all(|event| message["session"] == event.session.as_str())
        );
        self.pushed.extend(events);
        None
    }

    async fn ask(&mut self, kind: &str, body: Value) -> Value {
        let id = self.next;
        self.next += 1;
        let text = json!({ "id": id, kind: body }).to_string();
        self.socket.send(Message::text(text)).await.unwrap();
        loop {
            if let Some(answer) = self.take().await {
                assert_eq!(answer["id"], id);
                return answer;
            }
        }
    }

    async fn request(&mut self, request: &Request) -> Reply {
        let answer = self.ask("request", serde_json::to_value(request).unwrap()).await;
        serde_json::from_value(answer["reply"].clone()).unwrap_or_else(|error| panic!("{error}: {answer}"))
    }

    async fn submit(&mut self, session: &SessionId, op: Op) {
        let session = session.clone();
        assert_eq!(
            self.request(&Request::Submit { session, op }).await,
            Reply::Accepted
        );
    }

    /// The next event.
    async fn event(&mut self) -> Event {
        while self.pushed.is_empty() {
            self.take().await;
        }
        self.pushed.remove(0)
    }
}

#[tokio::test]
async fn the_demo_runs_over_the_socket_with_decisions_and_an_extension() {
    let host = Host::start();
    let mut client = host.connect(Some("http://localhost:5173")).await.unwrap();
    let Reply::About { about } = client.request(&Request::About).await else {
        panic!("not about");
    };
    assert_eq!(about.system, std::env::consts::OS);
    let Reply::Project { project } = client.request(&Request::OpenDemo).await else {
        panic!("no project");
    };
    assert!(project.demo);
    let create = Request::CreateSession {
        project: project.path,
    };
    let Reply::Session { snapshot } = client.request(&create).await else {
        panic!("no session");
    };
    let session = snapshot.session;
    let attached = client.ask("attach", json!(session)).await;
    let attached: SessionSnapshot = serde_json::from_value(attached["snapshot"].clone()).unwrap();
    let mut seq = attached.seq;
    let text = "Find the bug.".to_owned();
    let mode = SendMode::NextIteration;
    client.submit(&session, Op::send(text, mode)).await;

    let (mut decided, mut extended) = (0, false);
    loop {
        let event = client.event().await;
        assert_eq!(event.seq, seq + u64::from(event.msg.is_durable()), "{event:?}");
        seq = event.seq;
        match event.msg {
            EventMsg::ApprovalRequested { approval } => {
                decided += 1;
                let decision = Decision::approve(AnswerScope::Once);
                let approval = approval.id;
                client.submit(&session, Op::Decide { approval, decision }).await;
            }
            EventMsg::TurnChanged {
                status: TurnStatus::Paused { cause },
                ..
            } => {
                assert!(matches!(cause, PauseCause::Limits { .. }), "{cause:?}");
                extended = true;
                let limit = LimitKind::Iterations;
                client.submit(&session, Op::Extend { limit, by: 10 }).await;
            }
            EventMsg::TurnChanged { status, .. } if status.is_final() => {
                assert_eq!(status, TurnStatus::Completed);
                break;
            }
            _ => {}
        }
    }
    assert!(
        decided >= 2 && extended,
        "{decided} decisions, extended: {extended}"
    );

    let detached = client.ask("detach", json!(session)).await;
    assert_eq!(detached["reply"]["reply"], "accepted");
    let title = "Another".to_owned();
    client.submit(&session, Op::Rename { title }).await;
    client.request(&Request::Settings).await;
    assert!(client.pushed.is_empty(), "{:?}", client.pushed);
    assert!(host.home.path().join("data/sessions").is_dir());
}

/// Submits an undo or a redo and gives what became of its one file.
async fn taken_back(client: &mut Client, session: &SessionId, op: Op) -> UndoResult {
    client.submit(session, op).await;
    loop {
        if let EventMsg::ItemCompleted { item } = client.event().await.msg
            && let ItemKind::Undo { files, .. } = item.kind
        {
            assert_eq!(files.len(), 1, "{files:?}");
            return files[0].result;
        }
    }
}

#[tokio::test]
async fn a_change_is_taken_back_made_again_and_kept_when_the_person_changed_the_file() {
    let host = Host::start();
    let mut client = host.connect(None).await.unwrap();
    let Reply::Project { project } = client.request(&Request::OpenDemo).await else {
        panic!("no project");
    };
    let file = std::path::Path::new(&project.path).join("basket.sh");
    let read = || std::fs::read_to_string(&file).unwrap();
    let before = read();
    let project = project.path.clone();
    let Reply::Session { snapshot } = client.request(&Request::CreateSession { project }).await else {
        panic!("no session");
    };
    let session = snapshot.session;
    client.ask("attach", json!(session)).await;
    let text = "Find the bug.".to_owned();
    let mode = SendMode::NextIteration;
    client.submit(&session, Op::send(text, mode)).await;
    let call = loop {
        match client.event().await.msg {
            EventMsg::ApprovalRequested { approval } => {
                let decision = Decision::approve(AnswerScope::Once);
                client
                    .submit(
                        &session,
                        Op::Decide {
                            approval: approval.id,
                            decision,
                        },
                    )
                    .await;
            }
            EventMsg::ItemCompleted { item } => match item.kind {
                ItemKind::Call(call) if call.verb == Verb::Edit => break call.call,
                _ => {}
            },
            _ => {}
        }
    };
    client.submit(&session, Op::Stop).await;
    let changed = read();
    assert_ne!(before, changed);
    let (undo, redo) = (Op::Undo { call: call.clone() }, Op::Redo { call });
    assert_eq!(
        taken_back(&mut client, &session, undo.clone()).await,
        UndoResult::Restored
    );
    assert_eq!(read(), before);
    assert_eq!(
        taken_back(&mut client, &session, redo).await,
        UndoResult::Restored
    );
    assert_eq!(read(), changed);
    let own = changed + "# mine\n";
    std::fs::write(&file, &own).unwrap();
    assert_eq!(
        taken_back(&mut client, &session, undo).await,
        UndoResult::KeptNewer
    );
    assert_eq!(read(), own);
}

#[tokio::test]
async fn pages_of_other_places_are_refused() {
    let host = Host::start();
    for origin in ["https://evil.example", "http://localhost.evil.example", "null"] {
        match host.connect(Some(origin)).await {
            Err(Error::Http(response)) => assert_eq!(response.status(), 403, "{origin}"),
            Err(error) => panic!("{origin}: {error}"),
            Ok(_) => panic!("{origin} was let in"),
        }
    }
    for origin in [None, Some("http://127.0.0.1:4173")] {
        assert!(host.connect(origin).await.is_ok(), "{origin:?}");
    }
}

#[tokio::test]
async fn what_is_not_understood_or_refused_is_answered_as_an_error() {
    let host = Host::start();
    let mut client = host.connect(None).await.unwrap();
    client.socket.send(Message::text("{\"id\":1}")).await.unwrap();
    let answer = client.message().await;
    assert_eq!(answer["error"]["code"], "bad_request");
    let gone = client.ask("attach", json!("no-such-session")).await;
    assert_eq!(gone["error"]["code"], "not_found");
    let path = host.home.path().join("gone").to_string_lossy().into_owned();
    let request = serde_json::to_value(Request::OpenProject { path }).unwrap();
    let refused = client.ask("request", request).await;
    assert_eq!(refused["error"]["code"], "folder_refused");
}
