//! One client: requests and attachments in, answers and batches of events out. Ops of one client are carried out in the
//! order in which they came; what may take long does not hold them up.

use crate::origin;
use futures_util::{SinkExt, StreamExt};
use paddock_core::{Paddock, join};
use paddock_protocol::{ClientError, ErrorCode, Event, Reply, Request, SessionId, SessionSnapshot};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::mpsc::{self, UnboundedSender};
use tokio::task::AbortHandle;
use tokio_tungstenite::accept_hdr_async;
use tokio_tungstenite::tungstenite::Message;

/// For how long events gather into one message.
const FRAME: Duration = Duration::from_millis(16);

#[derive(Deserialize)]
struct Incoming {
    id: u64,
    #[serde(flatten)]
    ask: Ask,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Ask {
    Request(Box<Request>),
    Attach(SessionId),
    Detach(SessionId),
}

#[derive(Serialize)]
struct Answer {
    /// That of the message it answers; absent when that could not be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<u64>,
    #[serde(flatten)]
    body: Body,
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Body {
    Reply(Reply),
    Snapshot(Box<SessionSnapshot>),
    Error(ClientError),
}

#[derive(Serialize)]
struct Push {
    session: SessionId,
    events: Vec<Event>,
}

/// Serves one connection to its end. What its sessions do goes on without it.
pub async fn serve(stream: TcpStream, paddock: Paddock) {
    let Ok(socket) = accept_hdr_async(stream, origin::check).await else {
        return;
    };
    let (mut sink, mut source) = socket.split();
    let (out, mut outgoing) = mpsc::unbounded_channel::<String>();
    let writer = tokio::spawn(async move {
        while let Some(text) = outgoing.recv().await {
            if sink.send(Message::text(text)).await.is_err() {
                return;
            }
        }
    });
    let mut client = Client {
        paddock,
        out,
        pumps: HashMap::new(),
    };
    while let Some(Ok(message)) = source.next().await {
        match message {
            Message::Text(text) => client.take(&text).await,
            Message::Close(_) => break,
            _ => {}
        }
    }
    client.pumps.drain().for_each(|(_, pump)| pump.abort());
    writer.abort();
}

struct Client {
    paddock: Paddock,
    out: UnboundedSender<String>,
    /// The sessions it is attached to.
    pumps: HashMap<SessionId, AbortHandle>,
}

impl Client {
    async fn take(&mut self, text: &str) {
        let Incoming { id, ask } = match serde_json::from_str(text) {
            Ok(incoming) => incoming,
            Err(error) => {
                let error = ClientError::new(
                    ErrorCode::BadRequest,
                    format!("The message is not understood: {error}."),
                );
                return answer(&self.out, None, Body::Error(error));
            }
        };
        match ask {
            Ask::Request(request) if may_take_long(&request) => {
                let (paddock, out) = (self.paddock.clone(), self.out.clone());
                tokio::spawn(async move {
                    answer(&out, Some(id), reply(paddock.request(*request).await));
                });
            }
            Ask::Request(request) => {
                answer(&self.out, Some(id), reply(self.paddock.request(*request).await));
            }
            Ask::Attach(session) => self.attach(id, session).await,
            Ask::Detach(session) => {
                if let Some(pump) = self.pumps.remove(&session) {
                    pump.abort();
                }
                answer(&self.out, Some(id), Body::Reply(Reply::Accepted));
            }
        }
    }

    async fn attach(&mut self, id: u64, session: SessionId) {
        let (snapshot, events) = match self.paddock.attach(&session).await {
            Ok(attached) => attached,
            Err(error) => return answer(&self.out, Some(id), Body::Error(error)),
        };
        if let Some(before) = self.pumps.remove(&session) {
            before.abort();
        }
        answer(&self.out, Some(id), Body::Snapshot(Box::new(snapshot)));
        let (out, of) = (self.out.clone(), session.clone());
        let deliver = move |events| {
            let push = Push {
                session: of.clone(),
                events,
            };
            serde_json::to_string(&push).is_ok_and(|text| out.send(text).is_ok())
        };
        let pump = tokio::spawn(join::pump(events, || FRAME, deliver));
        self.pumps.insert(session, pump.abort_handle());
    }
}

/// Requests that wait for a keyring, a server or the first try of the sandbox.
fn may_take_long(request: &Request) -> bool {
    matches!(
        request,
        Request::About
            | Request::TestConnection { .. }
            | Request::TestModel { .. }
            | Request::FindServers
            | Request::Spending
            | Request::Models { .. }
            | Request::SetKey { .. }
            | Request::ForgetKey { .. }
            | Request::KeyState { .. }
            | Request::ProxyLogin
            | Request::SetProxyLogin { .. }
            | Request::ForgetProxyLogin
            | Request::SaveSettings { .. }
    )
}

fn reply(result: Result<Reply, ClientError>) -> Body {
    match result {
        Ok(reply) => Body::Reply(reply),
        Err(error) => Body::Error(error),
    }
}

fn answer(out: &UnboundedSender<String>, id: Option<u64>, body: Body) {
    if let Ok(text) = serde_json::to_string(&Answer { id, body }) {
        let _ = out.send(text);
    }
}
