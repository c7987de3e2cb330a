//! A model server that answers byte for byte what a test wrote down: status, headers, pieces of the body with waits between
//! them, and cuts. It knows no protocol, so that a client's mistakes are not made twice; the pieces at the end only spell
//! the usual shapes of Chat Completions.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use serde_json::{Value, json};

/// One step of an answer.
#[derive(Clone, Debug)]
pub enum Piece {
    Bytes(Vec<u8>),
    Wait(Duration),
    /// Tells that everything before this has been sent.
    Tell(Sender<SystemTime>),
    /// The connection ends here, in the middle of whatever was being said.
    Cut,
    /// Nothing more is said, for as long as the client stays.
    Hang,
}

/// A request as it arrived.
#[derive(Clone, Debug)]
pub struct Received {
    pub head: String,
    pub body: String,
    /// When its last byte was read.
    pub at: Instant,
}

impl Received {
    /// The body as JSON, null when it is none.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_default()
    }

    /// The messages of a Chat Completions request.
    pub fn messages(&self) -> Vec<Value> {
        self.json()["messages"].as_array().cloned().unwrap_or_default()
    }

    /// How many results of calls the request brings.
    pub fn results(&self) -> usize {
        self.messages()
            .iter()
            .filter(|message| message["role"] == "tool")
            .count()
    }
}

/// Makes the answer to a request; the number counts requests from 0.
type Answering = dyn Fn(usize, &Received) -> Vec<Piece> + Send + Sync;

#[derive(Default)]
struct Journal {
    received: Mutex<Vec<Received>>,
    more: Condvar,
}

/// The server; it ends with the test's process.
pub struct ModelServer {
    address: SocketAddr,
    journal: Arc<Journal>,
}

impl ModelServer {
    /// Answers request by request from a list; the last answer repeats.
    pub fn scripted(answers: Vec<Vec<Piece>>) -> std::io::Result<Self> {
        Self::start(move |number, _| {
            let last = answers.len().saturating_sub(1);
            answers.get(number.min(last)).cloned().unwrap_or_default()
        })
    }

    /// Answers whatever `answering` makes of a request.
    pub fn start(
        answering: impl Fn(usize, &Received) -> Vec<Piece> + Send + Sync + 'static,
    ) -> std::io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let journal = Arc::new(Journal::default());
        let (answering, seen): (Arc<Answering>, _) = (Arc::new(answering), journal.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (answering, seen) = (answering.clone(), seen.clone());
                std::thread::spawn(move || serve(stream, &*answering, &seen));
            }
        });
        Ok(Self { address, journal })
    }

    /// The base URL for `--base-url`.
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    pub fn received(&self) -> Vec<Received> {
        self.journal
            .received
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Waits for the request of this number, counted from 1, for at most 30 s; whether it came.
    pub fn wait_for(&self, number: usize) -> bool {
        let received = self
            .journal
            .received
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let limit = Duration::from_secs(30);
        let waited = self
            .journal
            .more
            .wait_timeout_while(received, limit, |received| received.len() < number);
        !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }
}

fn serve(mut stream: TcpStream, answering: &Answering, journal: &Journal) {
    let _ = stream.set_nodelay(true);
    let mut unread = Vec::new();
    while let Some((head, body)) = read_request(&mut stream, &mut unread) {
        let request = Received {
            head,
            body,
            at: Instant::now(),
        };
        let number = {
            let mut received = journal.received.lock().unwrap_or_else(PoisonError::into_inner);
            received.push(request.clone());
            received.len() - 1
        };
        journal.more.notify_all();
        for piece in answering(number, &request) {
            match piece {
                Piece::Bytes(bytes) if stream.write_all(&bytes).is_ok() => {}
                Piece::Wait(time) => std::thread::sleep(time),
                Piece::Tell(listener) => {
                    let _ = listener.send(SystemTime::now());
                }
                Piece::Hang => {
                    let _ = stream.read(&mut [0; 64]);
                    return;
                }
                Piece::Bytes(_) | Piece::Cut => {
                    let _ = stream.shutdown(Shutdown::Both);
                    return;
                }
            }
        }
    }
}

/// Head and body of the next request on the connection; what follows it stays in `unread`.
fn read_request(stream: &mut TcpStream, unread: &mut Vec<u8>) -> Option<(String, String)> {
    let mut buffer = [0; 64 * 1024];
    loop {
        if let Some(end) = unread.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&unread[..end]).into_owned();
            let length = head
                .lines()
                .filter_map(|line| line.split_once(':'))
                .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
                .map_or(0, |(_, value)| value.trim().parse().unwrap_or(0));
            if unread.len() >= end + 4 + length {
                let rest = unread.split_off(end + 4 + length);
                let body = String::from_utf8_lossy(&unread[end + 4..]).into_owned();
                *unread = rest;
                return Some((head, body));
            }
        }
        match stream.read(&mut buffer) {
            Ok(0) | Err(_) => return None,
            Ok(count) => unread.extend_from_slice(&buffer[..count]),
        }
    }
}

pub fn bytes(text: impl Into<Vec<u8>>) -> Piece {
    Piece::Bytes(text.into())
}

pub fn wait(milliseconds: u64) -> Piece {
    Piece::Wait(Duration::from_millis(milliseconds))
}

/// Head of a stream of which the end of the connection is the end.
pub fn stream_head() -> Piece {
    bytes("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")
}

/// One line of a stream with this delta.
pub fn delta(delta: &Value, finish: Option<&str>) -> String {
    let chunk = json!({
        "id": "c", "object": "chat.completion.chunk", "model": "m",
        "choices": [{ "index": 0, "delta": delta, "finish_reason": finish }],
    });
    format!("data: {chunk}\n\n")
}

/// A whole streamed answer in one piece on a connection that stays open.
pub fn answer(deltas: &[Value], finish: &str) -> Vec<Piece> {
    let mut body: String = deltas.iter().map(|part| delta(part, None)).collect();
    body.push_str(&delta(&json!({}), Some(finish)));
    let usage = json!({ "prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110 });
    let usage =
        json!({ "id": "c", "object": "chat.completion.chunk", "model": "m", "choices": [], "usage": usage });
    body.push_str(&format!("data: {usage}\n\ndata: [DONE]\n\n"));
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    vec![bytes(head + &body)]
}

/// A plain text as the model's answer.
pub fn text(text: &str) -> Vec<Piece> {
    answer(&[json!({ "role": "assistant", "content": text })], "stop")
}

/// Calls of tools as the model's answer: id, tool and arguments of each.
pub fn calls(calls: &[(&str, &str, Value)]) -> Vec<Piece> {
    let deltas: Vec<Value> = calls
        .iter()
        .enumerate()
        .map(|(index, (id, tool, arguments))| call_delta(index, id, tool, &arguments.to_string()))
        .collect();
    answer(&deltas, "tool_calls")
}

/// One call of a tool in a delta.
pub fn call_delta(index: usize, id: &str, tool: &str, arguments: &str) -> Value {
    json!({ "tool_calls": [{
        "index": index, "id": id, "type": "function",
        "function": { "name": tool, "arguments": arguments },
    }]})
}

/// An answer that is no stream.
pub fn status(status: &str, headers: &str, body: &str) -> Vec<Piece> {
    vec![bytes(format!(
        "HTTP/1.1 {status}\r\n{headers}content-length: {}\r\n\r\n{body}",
        body.len()
    ))]
}
