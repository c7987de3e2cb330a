//! What a person is asked when the fence stands in the way: hosts while a command runs, places outside after it failed.

use crate::bed::Bed;
use paddock_core::SessionWish;
use paddock_protocol::*;
use paddock_tests::model_server::{ModelServer, Received, calls, text};
use serde_json::json;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::PathBuf;

/// These commands one after another, then a last word.
fn commands(lines: &[String]) -> ModelServer {
    let lines = lines.to_vec();
    ModelServer::start(move |_, request| match lines.get(request.results()) {
        Some(line) => calls(&[("c", "run_command", json!({ "command": line }))]),
        None => text("Done."),
    })
    .unwrap()
}

/// A web server on this machine; its address is none that commands take for their own.
fn web() -> String {
    let listener = TcpListener::bind("127.0.0.2:0").unwrap();
    let address = format!("http://{}/", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 1024]);
            let _ = stream
                .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\nconnection: close\r\n\r\nharvested");
        }
    });
    address
}

async fn result_of(work: &mut crate::bed::Work) -> CallOutput {
    let call = work
        .call("a result", |item, call| {
            item.status.is_final() && call.output.is_some()
        })
        .await;
    call.output.unwrap()
}

#[tokio::test]
async fn a_running_command_asks_for_a_host_and_waits() {
    let address = web();
    let line = format!("curl -sS --max-time 20 {address} && curl -sS {address}");
    let server = commands(&[line]);
    let bed = Bed::new(&[("main", &server)]);
    let mut work = bed.session(SessionWish::default()).await;
    work.say("Fetch it.").await;
    let command = work.approve().await;
    assert!(command.ask.is_none());
    let host = work.approval().await;
    assert_eq!((host.ask, &host.call), (Some(1), &command.call));
    let ApprovalBody::Connect { reach, command, .. } = &host.body else {
        panic!("{host:?}");
    };
    assert_eq!(*reach, HostReach::Loopback);
    assert!(command.as_ref().unwrap().starts_with("curl"), "{command:?}");
    work.status(TurnStatus::WaitingForApproval).await;
    work.decide(&host, true).await;
    let output = result_of(&mut work).await;
    assert_eq!(output.text.matches("harvested").count(), 2, "{output:?}");
    work.status(TurnStatus::Completed).await;
}

#[tokio::test]
async fn a_host_that_was_refused_is_not_reached_and_not_asked_for_again_in_the_call() {
    let address = web();
    let line = format!("curl -sS {address}; curl -sS {address}; echo over");
    let server = commands(&[line]);
    let bed = Bed::new(&[("main", &server)]);
    let mut work = bed.session(SessionWish::default()).await;
    work.say("Fetch it.").await;
    work.approve().await;
    let host = work.approval().await;
    work.decide(&host, false).await;
    let output = result_of(&mut work).await;
    assert!(
        output.text.contains("over") && !output.text.contains("harvested"),
        "{output:?}"
    );
    work.status(TurnStatus::Completed).await;
}

/// The place that the person named in the task.
fn place_in(request: &Received) -> String {
    let said = request.messages();
    let task = said
        .iter()
        .find_map(|message| message["content"].as_str()?.strip_prefix("Look at "));
    task.unwrap().to_owned()
}

fn beside(bed: &Bed, name: &str, content: &str) -> PathBuf {
    let folder = bed.project().parent().unwrap().join("shared");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(name), content).unwrap();
    folder.canonicalize().unwrap().join(name)
}

#[tokio::test]
async fn a_command_that_was_refused_a_place_runs_again_with_just_that_place() {
    let server = ModelServer::start(move |_, request| {
        let path = place_in(request);
        let line = |more: &str| json!({ "command": format!("echo run >> runs; cat {}{more}", path) });
        match request.results() {
            0 => calls(&[("c1", "run_command", line(""))]),
            1 => calls(&[("c2", "run_command", line(" | wc -l"))]),
            _ => text("Done."),
        }
    })
    .unwrap();
    let bed = Bed::new(&[("main", &server)]);
    let path = beside(&bed, "ports.json", "{\"web\": 8080}\n");
    let mut work = bed.session(SessionWish::default()).await;
    work.say(&format!("Look at {}", path.display())).await;
    work.approve().await;
    let again = work.approval().await;
    let first = again.again.as_ref().expect("a refused run");
    let place = Access::Outside {
        path: path.to_string_lossy().into_owned(),
        write: false,
        through: None,
    };
    assert_eq!(first.refused, [place]);
    assert!(!first.output.ok);
    assert_eq!(bed.read("runs"), "run\n", "nothing runs twice by itself");
    let decision = Decision::Approve {
        scope: AnswerScope::Session,
        edited_arguments: None,
        rule: None,
    };
    let approval = again.id.clone();
    work.submit(Op::Decide { approval, decision }).await;
    let output = result_of(&mut work).await;
    assert!(output.ok && output.text.contains("8080"), "{output:?}");
    assert_eq!(bed.read("runs"), "run\nrun\n");
    let rules = work.snapshot().await.rules;
    assert_eq!(rules.len(), 1, "{rules:?}");
    // The place is open for the session now; the command itself is asked for as ever.
    let second = work.approve().await;
    assert!(second.again.is_none());
    let output = result_of(&mut work).await;
    assert!(output.ok && output.text.starts_with("1\n"), "{output:?}");
    work.status(TurnStatus::Completed).await;
    work.submit(Op::RemoveRule {
        rule: rules[0].id.clone(),
    })
    .await;
    assert!(work.snapshot().await.rules.is_empty());
}

#[tokio::test]
async fn a_second_run_that_is_refused_leaves_the_first_result() {
    let server = ModelServer::start(move |_, request| {
        let path = place_in(request);
        match request.results() {
            0 => calls(&[("c1", "run_command", json!({ "command": format!("cat {}", path) }))]),
            _ => text("Done."),
        }
    })
    .unwrap();
    let bed = Bed::new(&[("main", &server)]);
    let path = beside(&bed, "ports.json", "{\"web\": 8080}\n");
    let mut work = bed.session(SessionWish::default()).await;
    work.say(&format!("Look at {}", path.display())).await;
    work.approve().await;
    let again = work.approval().await;
    work.decide(&again, false).await;
    let output = result_of(&mut work).await;
    assert!(
        !output.ok && output.text.contains("did not allow it"),
        "{output:?}"
    );
    assert_eq!(output.exit_code, Some(1));
    work.status(TurnStatus::Completed).await;
}

#[tokio::test]
async fn a_file_outside_is_read_once_it_was_allowed() {
    let server = ModelServer::start(move |_, request| {
        let path = place_in(request);
        match request.results() {
            0 | 1 => calls(&[("c1", "read_file", json!({ "path": path }))]),
            _ => text("Done."),
        }
    })
    .unwrap();
    let bed = Bed::new(&[("main", &server)]);
    let path = beside(&bed, "ports.json", "{\"web\": 8080}\n");
    let mut work = bed.session(SessionWish::default()).await;
    work.say(&format!("Look at {}", path.display())).await;
    let asked = work.approval().await;
    assert!(asked.classes.contains(&RiskClass::Outside), "{asked:?}");
    work.decide(&asked, true).await;
    let output = result_of(&mut work).await;
    assert!(output.ok && output.text.contains("8080"), "{output:?}");
    let asked = work.approval().await;
    work.decide(&asked, false).await;
    work.status(TurnStatus::Completed).await;
}

/// Built here, so that it stands nowhere as a whole.
fn token() -> String {
    ["ghp", "_", "a8Dk2", "mQ9xLr4TzVb7", "NcYw1Ej6HsPu", "3Gf5Ki9"].concat()
}

#[tokio::test]
async fn secrets_in_an_output_reach_neither_the_model_nor_the_record() {
    let split = format!("printf %s {}; sleep 0.2; echo {}", &token()[..14], &token()[14..]);
    let server = commands(&["cat notes.txt".to_owned(), split]);
    let bed = Bed::new(&[("main", &server)]);
    bed.put("notes.txt", &format!("the token is {}\n", token()));
    let mut work = bed.session(SessionWish::default()).await;
    work.say("Look into the notes.").await;
    work.approve().await;
    let output = result_of(&mut work).await;
    assert_eq!(output.masked, 1, "{output:?}");
    assert!(output.text.contains("the token is [secret"), "{output:?}");
    // This one writes the token itself, so the person sees it; what comes out is masked all the same.
    work.approve().await;
    let output = result_of(&mut work).await;
    assert_eq!(output.masked, 1, "{output:?}");
    work.status(TurnStatus::Completed).await;
    for request in server.received() {
        let results = request
            .messages()
            .into_iter()
            .filter(|message| message["role"] == "tool");
        for message in results {
            assert!(!message.to_string().contains(&token()), "{message}");
        }
    }
    for event in &work.heard {
        let shown = serde_json::to_string(&event.msg).unwrap();
        assert!(!shown.contains(&token()), "{shown}");
    }
}

#[tokio::test]
async fn what_was_sent_can_be_looked_at() {
    let server = commands(&["echo one".to_owned()]);
    let bed = Bed::new(&[("main", &server)]);
    let mut work = bed.session(SessionWish::default()).await;
    work.say("Say one.").await;
    work.approve().await;
    work.status(TurnStatus::Completed).await;
    let asked = Request::Raw {
        session: work.session.clone(),
        turn: TurnId(1),
        iteration: 2,
    };
    let mut exchanges = Vec::new();
    for _ in 0..100 {
        let Reply::Raw { exchanges: kept } = bed.paddock.request(asked.clone()).await.unwrap() else {
            panic!("no exchanges");
        };
        exchanges = kept;
        if !exchanges.is_empty() {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    let [exchange] = exchanges.as_slice() else {
        panic!("{exchanges:?}")
    };
    assert_eq!((exchange.attempt, exchange.status), (1, Some(200)));
    assert!(exchange.request.contains("echo one") && exchange.response.contains("Done."));
}

#[tokio::test]
async fn the_work_is_done_when_the_check_says_so() {
    let server = ModelServer::start(move |_, request| {
        let write = |path: &str| calls(&[("c1", "write_file", json!({ "path": path, "content": "x\n" }))]);
        let failures = |message: &serde_json::Value| {
            message["content"]
                .as_str()
                .unwrap_or_default()
                .matches("The check `test -f done`")
                .count()
        };
        let checked: usize = request.messages().iter().map(failures).sum();
        match (request.results(), checked) {
            (0, 0) => write("wrong"),
            (1, 0) => text("All done."),
            (1, 1) => write("done"),
            _ => text("Now it is done."),
        }
    })
    .unwrap();
    let bed = Bed::new(&[("main", &server)]);
    let wish = SessionWish {
        autonomy: Some(Autonomy::Balanced),
        done_when: Some("test -f done".to_owned()),
        ..SessionWish::default()
    };
    let mut work = bed.session(wish).await;
    work.say("Make it.").await;
    let check = |attempt| {
        move |item: &Item, call: &CallItem| {
            call.check.is_some_and(|c| c.attempt == attempt) && item.status.is_final()
        }
    };
    let first = work.call("a failed check", check(1)).await;
    assert_eq!(first.output.unwrap().exit_code, Some(1));
    let second = work.call("a check that passes", check(2)).await;
    assert!(second.output.unwrap().ok);
    work.status(TurnStatus::Completed).await;
    assert_eq!(bed.read("done"), "x\n");
}
