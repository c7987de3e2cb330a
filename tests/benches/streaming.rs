//! What a streamed answer costs in processor time, in each protocol, per 1,000 tokens: read as bare bytes, through framer and decoder, and
//! through the whole core to the events that a window gets. A long answer with one token an event comes from a program of its own on this
//! machine as fast as it can be taken; waiting is not counted.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark that cannot go on may panic, and prints"
)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use paddock_core::provider::{Message, ModelEvent, ModelRequest};
use paddock_core::{HelperProgram, Paddock, SessionWish};
use paddock_protocol::*;
use paddock_tests::model_server::{ModelServer, Piece, bytes, delta, stream_head};
use serde_json::{Value, json};

const TOKENS: usize = 20_000;
const RUNS: usize = 7;
/// The word of the command line that makes this program the server.
const SERVE: &str = "serve";
const PROTOCOLS: [(ProviderKind, &str, &str); 4] = [
    (ProviderKind::Chat, "chat", "/v1"),
    (ProviderKind::Responses, "responses", "/v1"),
    (ProviderKind::Anthropic, "anthropic", ""),
    (ProviderKind::Gemini, "gemini", "/v1beta"),
];

fn main() {
    let words: Vec<String> = std::env::args().collect();
    if let Some(at) = words.iter().position(|word| word == SERVE) {
        serve(&words[at + 1]);
        return;
    }
    println!(
        "ms of processor time per 1,000 tokens, least and median of {RUNS} answers of {TOKENS} tokens; × is the median against bare reading"
    );
    println!(
        "{:12} {:>15} {:>23} {:>23}",
        "", "bare bytes", "framer and decoder", "core to events"
    );
    for (kind, name, path) in PROTOCOLS {
        let server = Server::start(name);
        let bare = measured(|| bare(&server.url));
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let desk = runtime.block_on(async { Desk::open(kind, &format!("{}{path}", server.url)) });
        let decoded = measured(|| runtime.block_on(desk.decode()));
        let cored = measured(|| runtime.block_on(desk.hold()));
        println!(
            "{name:12} {:7.2} {:7.2} {} {}",
            bare.0,
            bare.1,
            beside(decoded, bare),
            beside(cored, bare)
        );
    }
}

fn beside((least, median): (f64, f64), bare: (f64, f64)) -> String {
    format!("{least:7.2} {median:7.2} {:6.1}×", median / bare.1)
}

/// Least and median, in milliseconds per 1,000 tokens.
fn measured(mut work: impl FnMut()) -> (f64, f64) {
    work();
    let mut times: Vec<f64> = (0..RUNS)
        .map(|_| {
            let before = processor_time();
            work();
            (processor_time() - before).as_secs_f64() * 1e3 / (TOKENS as f64 / 1e3)
        })
        .collect();
    times.sort_by(f64::total_cmp);
    (times[0], times[RUNS / 2])
}

/// Of this process, also of threads that have ended.
#[cfg(unix)]
fn processor_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(
        u64::try_from(time.tv_sec).unwrap(),
        u32::try_from(time.tv_nsec).unwrap(),
    )
}

#[cfg(not(unix))]
fn processor_time() -> Duration {
    Duration::ZERO
}

/// This program again, as a server of one protocol's answer.
struct Server {
    child: Child,
    url: String,
}

impl Server {
    fn start(protocol: &str) -> Self {
        let own = std::env::current_exe().unwrap();
        let mut child = Command::new(own)
            .args([SERVE, protocol])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut url)
            .unwrap();
        let url = url.trim().trim_end_matches("/v1").to_owned();
        Self { child, url }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn serve(protocol: &str) {
    let body = bytes(body(protocol));
    let server = ModelServer::start(move |_, _| vec![stream_head(), body.clone(), Piece::Cut]).unwrap();
    println!("{}", server.url());
    // Until the benchmark goes away.
    let _ = std::io::stdin().read(&mut [0]);
}

fn token(number: usize) -> String {
    const WORDS: [&str; 8] = [
        " the",
        " file",
        "\n",
        " größer",
        " than",
        " (x)",
        " \"y\"",
        " and",
    ];
    match number % 5 {
        0 => format!(" {number}"),
        _ => WORDS[(number * 7 + number / 11) % WORDS.len()].to_owned(),
    }
}

fn body(protocol: &str) -> String {
    let tokens = (0..TOKENS).map(token);
    let event = |value: Value| match value["type"].as_str() {
        Some(name) => format!("event: {name}\ndata: {value}\n\n"),
        None => format!("data: {value}\n\n"),
    };
    match protocol {
        "chat" => {
            let parts = tokens.map(|token| delta(&json!({ "content": token }), None));
            parts.collect::<String>() + &delta(&json!({}), Some("stop")) + "data: [DONE]\n\n"
        }
        "responses" => {
            let text: String = tokens.clone().collect();
            let item = |text: &str| json!({ "type": "message", "id": "m", "role": "assistant", "status": "completed", "content": [{ "type": "output_text", "text": text, "annotations": [] }] });
            let parts = tokens.map(|token| event(json!({ "type": "response.output_text.delta", "item_id": "m", "output_index": 0, "content_index": 0, "delta": token })));
            [
                event(json!({ "type": "response.created", "response": { "id": "r", "status": "in_progress" } })),
                event(json!({ "type": "response.output_item.added", "output_index": 0, "item": { "type": "message", "id": "m", "role": "assistant", "content": [] } })),
                parts.collect(),
                event(json!({ "type": "response.output_item.done", "output_index": 0, "item": item(&text) })),
                event(json!({ "type": "response.completed", "response": { "id": "r", "status": "completed", "output": [item(&text)], "usage": { "input_tokens": 10, "output_tokens": TOKENS } } })),
            ]
            .concat()
        }
        "anthropic" => {
            let parts = tokens.map(|token| event(json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "text_delta", "text": token } })));
            [
                event(json!({ "type": "message_start", "message": { "id": "m", "type": "message", "role": "assistant", "content": [], "model": "m", "usage": { "input_tokens": 10, "output_tokens": 1 } } })),
                event(json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "text", "text": "" } })),
                parts.collect(),
                event(json!({ "type": "content_block_stop", "index": 0 })),
                event(json!({ "type": "message_delta", "delta": { "stop_reason": "end_turn" }, "usage": { "output_tokens": TOKENS } })),
                event(json!({ "type": "message_stop" })),
            ]
            .concat()
        }
        _ => {
            let part = |token: String, last: bool| {
                let mut candidate =
                    json!({ "content": { "role": "model", "parts": [{ "text": token }] }, "index": 0 });
                if last {
                    candidate["finishReason"] = "STOP".into();
                }
                event(json!({ "candidates": [candidate], "modelVersion": "m" }))
            };
            let parts = tokens
                .enumerate()
                .map(|(at, token)| part(token, at + 1 == TOKENS));
            parts.collect()
        }
    }
}

/// The bytes as the system gives them, and no more.
fn bare(url: &str) {
    let mut stream = TcpStream::connect(url.trim_start_matches("http://")).unwrap();
    stream
        .write_all(b"POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\n\r\n")
        .unwrap();
    let (mut buffer, mut all) = (vec![0; 16 * 1024], 0);
    while let Ok(count @ 1..) = stream.read(&mut buffer) {
        all += count;
    }
    assert!(all > TOKENS * 20);
}

struct Desk {
    paddock: Paddock,
    project: String,
    model: ModelChoice,
    _place: tempfile::TempDir,
}

impl Desk {
    fn open(kind: ProviderKind, url: &str) -> Self {
        let place = tempfile::tempdir().unwrap();
        let project = place.path().join("project");
        std::fs::create_dir(&project).unwrap();
        let paddock = Paddock::open(Some(place.path().join("home")), HelperProgram::current()).unwrap();
        let id = ProviderId::new("bench");
        paddock.providers().configure(vec![ProviderConfig {
            id: id.clone(),
            kind,
            label: "The server".to_owned(),
            base_url: url.to_owned(),
            needs_key: false,
            window: None,
            headers: Vec::new(),
        }]);
        Self {
            paddock,
            project: project.to_string_lossy().into_owned(),
            model: ModelChoice {
                provider: id,
                model: "m".to_owned(),
            },
            _place: place,
        }
    }

    /// The provider alone.
    async fn decode(&self) {
        let (provider, _) = self.paddock.providers().get(&self.model.provider).await.unwrap();
        let request = ModelRequest {
            model: self.model.model.clone(),
            system: "Answer.".into(),
            messages: vec![Message::User {
                text: "Tell me.".into(),
                images: Vec::new(),
            }],
            tools: Arc::default(),
            format: CallFormat::Native,
            facts: Arc::default(),
            effort: None,
            max_output: None,
            silence: Millis::seconds(60),
            record: None,
            asked: None,
        };
        let mut texts = 0;
        provider
            .sample(&request, &mut |event| {
                texts += usize::from(matches!(event, ModelEvent::Text(_)));
            })
            .await
            .unwrap();
        assert!(texts > 0);
    }

    /// A session from the message to the end of its turn.
    async fn hold(&self) {
        let wish = SessionWish {
            model: Some(self.model.clone()),
            ..SessionWish::default()
        };
        let session = self.paddock.create_session(&self.project, wish).await.unwrap();
        let (_, mut events) = self.paddock.attach(&session).await.unwrap();
        let op = Op::send("Tell me.", SendMode::NextIteration);
        self.paddock.submit(&session, op).await.unwrap();
        let mut heard = 0;
        while let Some(event) = events.recv().await {
            match event.msg {
                EventMsg::ItemDelta { text, .. } => heard += text.len(),
                EventMsg::TurnChanged { status, .. } if status.is_final() => {
                    assert_eq!(status, TurnStatus::Completed);
                    break;
                }
                EventMsg::TurnChanged { status, .. } => {
                    assert!(!status.waits_for_person(), "{status:?}");
                }
                _ => {}
            }
        }
        assert!(heard > TOKENS);
        self.paddock.close(&session).await;
    }
}
