//! A bed for tests of the built program: folders of its own, a scripted model server, runs with their result.

use paddock_protocol::Event;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tempfile::TempDir;

pub const PADDOCK: &str = env!("CARGO_BIN_EXE_paddock");

pub struct Bed {
    place: TempDir,
}

impl Bed {
    pub fn new() -> Self {
        let place = tempfile::tempdir().unwrap();
        std::fs::create_dir(place.path().join("project")).unwrap();
        std::fs::create_dir(place.path().join("tmp")).unwrap();
        std::fs::write(place.path().join("project/notes.txt"), "one\ntwo\n").unwrap();
        Self { place }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    pub fn project(&self) -> PathBuf {
        self.path("project")
    }

    pub fn read(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.project().join(name)).ok()
    }

    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(PADDOCK);
        command
            .args(words)
            .env("PADDOCK_HOME", self.path("home"))
            .env("HOME", self.path("person"))
            .env("TMPDIR", self.path("tmp"))
            .env_remove("PADDOCK_LOG")
            .current_dir(self.project())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub fn run(&self, words: &[&str]) -> Ran {
        Ran::of(self.command(words).output().unwrap())
    }

    pub fn run_with_input(&self, words: &[&str], input: &str) -> Ran {
        let mut child = self.command(words).stdin(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        Ran::of(child.wait_with_output().unwrap())
    }

    /// `paddock run` against a server, in the project of the bed.
    pub fn run_at(&self, server: &Server, words: &[&str]) -> Ran {
        Ran::of(self.command_at(server, words).output().unwrap())
    }

    pub fn command_at(&self, server: &Server, words: &[&str]) -> Command {
        let mut command = self.command(&["run", "--base-url", &server.url(), "--model", "m"]);
        command.args(words);
        command
    }

    /// The newest session.
    pub fn session(&self) -> String {
        let listed = self.run(&["sessions", "--json"]);
        let line = listed.out.lines().next().unwrap();
        let session: serde_json::Value = serde_json::from_str(line).unwrap();
        session["session"].as_str().unwrap().to_owned()
    }
}

/// What a run came to.
#[derive(Debug)]
pub struct Ran {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
    pub bytes: Vec<u8>,
}

impl Ran {
    pub fn of(output: Output) -> Self {
        Self {
            code: output.status.code(),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
            bytes: output.stdout,
        }
    }

    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:#?}");
        self
    }

    /// The events of a run with `--format jsonl`.
    #[track_caller]
    pub fn events(&self) -> Vec<Event> {
        self.out
            .lines()
            .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
            .collect()
    }
}

/// The numbers go up by one with each durable event, and transient ones repeat the last.
#[track_caller]
pub fn assert_gapless(events: &[Event], mut last: u64) -> u64 {
    for event in events {
        let durable = event.msg.is_durable();
        assert_eq!(event.seq, last + u64::from(durable), "{event:?}");
        last = event.seq;
    }
    last
}

/// One answer of the server.
#[derive(Clone)]
pub enum Reply {
    Text(&'static str),
    Call(&'static str, String),
    Status(u16, &'static str),
    /// The first words, then nothing more.
    Hang,
}

pub fn call(tool: &'static str, arguments: serde_json::Value) -> Reply {
    Reply::Call(tool, arguments.to_string())
}

/// Answers Chat Completions requests with a script; the last answer repeats.
pub struct Server {
    port: u16,
    bodies: Arc<Mutex<Vec<String>>>,
}

impl Server {
    pub fn start(script: Vec<Reply>) -> Self {
        Self::start_watched(script, |_| {})
    }

    /// `watch` hears the number of each request, counted from 1, before it is answered.
    pub fn start_watched(script: Vec<Reply>, watch: impl Fn(usize) + Send + Sync + 'static) -> Self {
        let watch: Arc<dyn Fn(usize) + Send + Sync> = Arc::new(watch);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let bodies = Arc::new(Mutex::new(Vec::new()));
        let seen = bodies.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (Ok(mut stream), seen, script) = (stream, seen.clone(), script.clone()) else {
                    return;
                };
                let watch = watch.clone();

                std::thread::spawn(move || serve(&mut stream, &seen, &script, &*watch));
            }
        });
        Self { port, bodies }
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    pub fn bodies(&self) -> Vec<String> {
        self.bodies.lock().unwrap().clone()
    }

    /// Waits for the request of this number, counted from 1.
    pub fn wait_for(&self, number: usize) {
        let begun = Instant::now();
        while self.bodies.lock().unwrap().len() < number {
            assert!(begun.elapsed() < Duration::from_secs(20), "no request came");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

fn serve(stream: &mut TcpStream, seen: &Mutex<Vec<String>>, script: &[Reply], watch: &dyn Fn(usize)) {
    let mut request = Vec::new();
    let mut buffer = [0; 16 * 1024];
    let body = loop {
        let count = match stream.read(&mut buffer) {
            Ok(0) | Err(_) => return,
            Ok(count) => count,
        };
        request.extend_from_slice(&buffer[..count]);
        let text = String::from_utf8_lossy(&request).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        let length = head
            .lines()
            .filter_map(|line| line.split_once(':'))
            .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
            .map_or(0, |(_, value)| value.trim().parse().unwrap());
        if body.len() >= length {
            break body.to_owned();
        }
    };
    let number = {
        let mut seen = seen.lock().unwrap();
        seen.push(body);
        seen.len()
    };
    watch(number);
    match &script[(number - 1).min(script.len() - 1)] {
        Reply::Text(text) => stream_answer(stream, &[serde_json::json!({ "content": text })], "stop"),
        Reply::Call(tool, arguments) => {
            let call = serde_json::json!({ "tool_calls": [{
                "index": 0, "id": format!("call-{number}"), "type": "function",
                "function": { "name": tool, "arguments": arguments },
            }]});
            stream_answer(stream, &[call], "tool_calls");
        }
        Reply::Status(status, body) => {
            let head = format!(
                "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                body.len()
            );
            let _ = stream.write_all(format!("{head}{body}").as_bytes());
        }
        Reply::Hang => {
            let _ = stream.write_all(HEAD.as_bytes());
            let _ = stream.write_all(chunk(&serde_json::json!({ "content": "I begin" }), None).as_bytes());
            std::thread::sleep(Duration::from_secs(60));
        }
    }
}

const HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";

fn stream_answer(stream: &mut TcpStream, deltas: &[serde_json::Value], finish: &str) {
    let mut text = HEAD.to_owned();
    for delta in deltas {
        text.push_str(&chunk(delta, None));
    }
    text.push_str(&chunk(&serde_json::json!({}), Some(finish)));
    text.push_str("data: [DONE]\n\n");
    let _ = stream.write_all(text.as_bytes());
}

fn chunk(delta: &serde_json::Value, finish: Option<&str>) -> String {
    let chunk = serde_json::json!({
        "id": "c", "object": "chat.completion.chunk", "model": "m",
        "choices": [{ "index": 0, "delta": delta, "finish_reason": finish }],
    });
    format!("data: {chunk}\n\n")
}

/// Waits for the end of a program, and ends it when it takes too long.
pub fn finished(mut child: Child) -> Ran {
    let begun = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if begun.elapsed() > Duration::from_secs(20) {
            child.kill().unwrap();
            panic!("it did not end: {:?}", Ran::of(child.wait_with_output().unwrap()));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ran::of(child.wait_with_output().unwrap())
}

pub fn text_of(path: &Path) -> &str {
    path.to_str().unwrap()
}
