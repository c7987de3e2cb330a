//! llm-mock-api, a mock that other people wrote than those of aimock: a short conversation with tools in the three protocols it speaks.

use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use paddock_protocol::{ItemKind, ItemStatus};
use paddock_tests::sessions::{Bed, Ran, assert_gapless, calls, items, soon};

use crate::mocks::{Mock, tests};

/// Where `cargo xtask test` and `cargo xtask setup --tests` install it.
fn program() -> Option<PathBuf> {
    let venv = tests().join("llm-mock-api/venv");
    let place = if cfg!(windows) {
        "Scripts/llm-mock-api.exe"
    } else {
        "bin/llm-mock-api"
    };
    Some(venv.join(place)).filter(|program| program.is_file())
}

fn start(program: PathBuf, bed: &Bed) -> Mock {
    let port = {
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        free.local_addr().unwrap().port().to_string()
    };
    let mut command = Command::new(program);
    command
        .args(["start", "-p", &port, "-c", "7", "-r"])
        .arg(tests().join("llm-mock-api/rules.json5"))
        .current_dir(bed.path("tmp"))
        .stdout(Stdio::null());
    let mock = Mock::of(command.spawn().unwrap(), format!("http://127.0.0.1:{port}"));
    assert!(
        soon(|| TcpStream::connect(format!("127.0.0.1:{port}")).is_ok()),
        "llm-mock-api does not listen"
    );
    mock
}

fn agrees(protocol: &str, path: &str) {
    let Some(program) = program() else {
        println!(
            "Skipped: llm-mock-api is not installed. `cargo xtask setup --tests` installs it where there is Python."
        );
        return;
    };
    let bed = Bed::new().unwrap();
    bed.put("notes.txt", "forty-two\n").unwrap();
    let server = start(program, &bed);
    let url = format!("{}{path}", server.url);
    let words = ["--protocol", protocol, "--approve", "all", "look and note"];
    let output = bed.run_command(&url, &words).unwrap().output().unwrap();
    let events = Ran::of(output).exits(0).events();
    assert_gapless(&events);
    let calls = calls(&events);
    let tools: Vec<&str> = calls.iter().map(|(_, call)| call.tool.as_str()).collect();
    assert_eq!(tools, ["read_file", "list_files", "write_file"]);
    for (item, call) in &calls {
        assert_eq!(item.status, ItemStatus::Done, "{call:#?}");
    }
    let read = calls[0].1.output.as_ref().unwrap();
    assert!(read.text.contains("forty-two"), "{read:#?}");
    assert_eq!(bed.read("noted.txt"), "größer — \"noted\"\n");
    let said: Vec<String> = items(&events)
        .into_iter()
        .filter_map(|item| match item.kind {
            ItemKind::AgentText { text } if item.status == ItemStatus::Done => Some(text),
            _ => None,
        })
        .collect();
    assert_eq!(
        said,
        [
            "I look at the notes and the folder.",
            "I write it down.",
            "All is noted."
        ]
    );
}

#[test]
fn on_chat_completions() {
    agrees("chat", "/v1");
}

#[test]
fn on_responses() {
    agrees("responses", "/v1");
}

#[test]
fn on_anthropic_messages() {
    agrees("anthropic", "");
}
