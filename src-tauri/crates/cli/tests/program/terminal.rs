//! With a terminal: cards are shown and answered.

use crate::bed::{Bed, Reply, Server, call};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::json;
use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The program on a terminal of its own.
struct Session {
    child: Child,
    keys: File,
    seen: Arc<Mutex<Vec<u8>>>,
}

impl Session {
    fn begin(bed: &Bed, server: &Server, words: &[&str]) -> Self {
        let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&terminal).unwrap();
        unlockpt(&terminal).unwrap();
        let name = ptsname(&terminal, Vec::new()).unwrap();
        let path = std::ffi::OsStr::from_bytes(name.as_bytes());
        let open = || File::options().read(true).write(true).open(path).unwrap();
        let child = bed
            .command_at(server, words)
            .env("TERM", "xterm")
            .env_remove("NO_COLOR")
            .stdin(Stdio::from(open()))
            .stdout(Stdio::from(open()))
            .spawn()
            .unwrap();
        let keys = File::from(terminal);
        let mut screen = keys.try_clone().unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let all = seen.clone();
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(count) = screen.read(&mut buffer) {
                all.lock().unwrap().extend_from_slice(&buffer[..count]);
            }
        });
        Self { child, keys, seen }
    }

    fn seen(&self) -> String {
        String::from_utf8_lossy(&self.seen.lock().unwrap()).into_owned()
    }

    fn wait_for(&self, words: &str, times: usize) {
        let begun = Instant::now();
        while self.seen().matches(words).count() < times {
            assert!(begun.elapsed() < Duration::from_secs(20), "{}", self.seen());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
    }

    fn exits(mut self, code: i32) -> String {
        let begun = Instant::now();
        let status = loop {
            match self.child.try_wait().unwrap() {
                Some(status) => break status,
                None if begun.elapsed() > Duration::from_secs(20) => {
                    self.child.kill().unwrap();
                    panic!("it did not end: {}", self.seen());
                }
                None => std::thread::sleep(Duration::from_millis(5)),
            }
        };
        std::thread::sleep(Duration::from_millis(50));
        assert_eq!(status.code(), Some(code), "{}", self.seen());
        self.seen()
    }
}

fn write(name: &str) -> Reply {
    call("write_file", json!({ "path": name, "content": "made\n" }))
}

#[test]
fn a_card_is_approved_another_rejected_with_a_reason() {
    let bed = Bed::new();
    let server = Server::start(vec![write("one.txt"), write("two.txt"), Reply::Text("Done.")]);
    let mut session = Session::begin(&bed, &server, &["make them"]);
    session.wait_for("approve once", 1);
    let card = session.seen();
    for words in ["Approval needed: Create one.txt", "+ made", "It can be undone."] {
        assert!(card.contains(words), "{words}: {card}");
    }
    session.press("what?\n");
    session.wait_for("approve once", 2);
    session.press("y\n");
    session.wait_for("approve once", 3);
    session.press("r\n");
    session.wait_for("Reason", 1);
    session.press("too many files\n");
    let seen = session.exits(0);
    assert!(seen.contains("\u{1b}[32m✓"), "no colour: {seen:?}");
    assert!(bed.read("one.txt").is_some() && bed.read("two.txt").is_none());
    assert!(
        server.bodies()[2].contains("too many files"),
        "{}",
        server.bodies()[2]
    );
}

#[cfg(target_os = "linux")]
#[test]
fn an_approval_for_the_session_is_asked_once() {
    let bed = Bed::new();
    let run = || call("run_command", json!({ "command": "touch ran" }));
    let server = Server::start(vec![run(), run(), Reply::Text("Done.")]);
    let mut session = Session::begin(&bed, &server, &["run them"]);
    session.wait_for("this session", 1);
    assert!(
        session.seen().contains("each host is asked for"),
        "{}",
        session.seen()
    );
    session.press("s\n");
    let seen = session.exits(0);
    assert_eq!(seen.matches("approve once").count(), 1, "{seen}");
    assert_eq!(seen.matches("✓").count(), 2, "{seen}");
    assert!(bed.read("ran").is_some());
}

#[test]
fn a_question_is_answered_by_its_number() {
    let bed = Bed::new();
    let server = Server::start(vec![
        call(
            "ask_question",
            json!({ "question": "Which?", "options": ["Red", "Blue"] }),
        ),
        Reply::Text("Done."),
    ]);
    let mut session = Session::begin(&bed, &server, &["paint it"]);
    session.wait_for("your answer", 1);
    session.press("2\n");
    session.exits(0);
    assert!(server.bodies()[1].contains("Blue"), "{}", server.bodies()[1]);
}

#[test]
fn q_at_a_card_stops_the_turn() {
    let bed = Bed::new();
    let server = Server::start(vec![write("one.txt"), Reply::Text("Done.")]);
    let mut session = Session::begin(&bed, &server, &["make it"]);
    session.wait_for("approve once", 1);
    session.press("q\n");
    let seen = session.exits(130);
    assert!(seen.contains("Stopped: 1 iteration"), "{seen}");
    assert_eq!(bed.read("one.txt"), None);
}
