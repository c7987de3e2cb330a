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
    let decision = Decision::approve(AnswerScope::Session);
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

/// A command in a repository that leaves a hook behind; resolves when the turn is over.
async fn left_a_hook(bed: &Bed) -> (crate::bed::Work, CallOutput) {
    let made = std::process::Command::new("git")
        .args(["init", "-q"])
        .current_dir(bed.project())
        .status()
        .unwrap();
    assert!(made.success());
    std::fs::remove_dir_all(bed.project().join(".git/hooks")).unwrap();
    let mut work = bed.session(SessionWish::default()).await;
    work.say("Set it up.").await;
    work.approve().await;
    let output = result_of(&mut work).await;
    work.status(TurnStatus::Completed).await;
    (work, output)
}

const HOOK: &str = "mkdir -p .git/hooks && printf '#!/bin/sh\\ntrue\\n' > .git/hooks/pre-commit && chmod +x .git/hooks/pre-commit";

#[tokio::test]
async fn what_a_command_left_is_put_back_by_the_person_alone_and_noted() {
    let server = commands(&[HOOK.to_owned()]);
    let bed = Bed::new(&[("main", &server)]);
    let (mut work, output) = left_a_hook(&bed).await;
    let Some(OutputFacts::Command { quarantined, .. }) = &output.facts else {
        panic!("{output:?}");
    };
    assert_eq!(quarantined, &[".git/hooks/pre-commit"]);
    let hook = bed.project().join(".git/hooks/pre-commit");
    assert!(!hook.exists());

    let project = bed.project().to_string_lossy().into_owned();
    let asked = Request::SetAside {
        project: project.clone(),
    };
    let Ok(Reply::SetAside { entries }) = bed.paddock.request(asked).await else {
        panic!("no list");
    };
    let [entry] = entries.as_slice() else {
        panic!("{entries:?}");
    };
    let id = entry.id.clone();
    let look = Request::LookAtSetAside {
        project: project.clone(),
        id: id.clone(),
    };
    let Ok(Reply::SetAsideContent { content }) = bed.paddock.request(look).await else {
        panic!("nothing to look at");
    };
    let [file] = content.files.as_slice() else {
        panic!("{content:?}");
    };
    assert_eq!(
        (file.executable, file.place),
        (true, Some(ProtectedPlace::GitInternals))
    );
    assert_eq!(file.change.kind, ChangeKind::Created);

    let decide = |hash: String| Request::DecideSetAside {
        project: project.clone(),
        id: id.clone(),
        hash,
        back: true,
        session: None,
    };
    let unseen = bed.paddock.request(decide("unseen".into())).await;
    assert_eq!(unseen.unwrap_err().code, ErrorCode::NotNow);
    assert!(!hook.exists());
    let done = bed.paddock.request(decide(content.hash.clone())).await;
    let Ok(Reply::SetAside { entries }) = done else {
        panic!("{done:?}");
    };
    assert!(entries.is_empty() && hook.exists());
    let noted = |msg: &EventMsg| match msg {
        EventMsg::ItemStarted { item } | EventMsg::ItemCompleted { item } => match &item.kind {
            ItemKind::SetAside { path, back } => Some((path.clone(), *back)),
            _ => None,
        },
        _ => None,
    };
    let told = work.hear("the note of it", noted).await;
    assert_eq!(told, (".git/hooks/pre-commit".to_owned(), true));
    let by_hand = Op::NoteSetAside {
        path: "x".into(),
        back: true,
    };
    let by_hand = Request::Submit {
        session: work.session.clone(),
        op: by_hand,
    };
    assert_eq!(
        bed.paddock.request(by_hand).await.unwrap_err().code,
        ErrorCode::BadRequest
    );
}

#[tokio::test]
async fn a_command_gets_more_for_one_run_only_when_the_person_says_so() {
    let server = ModelServer::start(move |_, request| {
        let path = place_in(request);
        match request.results() {
            0 | 1 => calls(&[(
                "c",
                "run_command",
                json!({ "command": format!("echo run >> {path}") }),
            )]),
            _ => text("Done."),
        }
    })
    .unwrap();
    let bed = Bed::new(&[("main", &server)]);
    let path = beside(&bed, "log", "");
    let mut work = bed.session(SessionWish::default()).await;
    work.say(&format!("Look at {}", path.display())).await;
    let asked = work.approval().await;
    assert!(
        asked
            .scopes
            .ends_with(&[AnswerScope::OnceWithNetwork, AnswerScope::OnceUnconfined])
    );
    let approval = asked.id.clone();
    let decision = Decision::approve(AnswerScope::OnceUnconfined);
    work.submit(Op::Decide { approval, decision }).await;
    let output = result_of(&mut work).await;
    assert!(output.ok, "{output:?}");
    assert!(matches!(&output.facts, Some(OutputFacts::Command { sandbox, .. }) if sandbox == "none"));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "run\n");
    assert!(work.snapshot().await.rules.is_empty(), "it makes no rule");

    // The next one is held as ever, and with a free hand nothing of the kind is offered.
    let held = work.approval().await;
    work.submit(Op::SetAutonomy {
        autonomy: Autonomy::HandsOff,
    })
    .await;
    let approval = held.id.clone();
    let decision = Decision::approve(AnswerScope::OnceUnconfined);
    if work
        .snapshot()
        .await
        .approvals
        .iter()
        .any(|one| one.id == held.id)
    {
        work.refused(Op::Decide { approval, decision }).await;
    }
    work.submit(Op::Stop).await;
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "run\n");
}

#[tokio::test]
async fn a_connection_by_a_rule_leaves_a_line() {
    let server = commands(&["curl -sS --max-time 5 http://paddock.invalid/ || true".to_owned()]);
    let bed = Bed::new(&[("main", &server)]);
    let project = bed.project().to_string_lossy().into_owned();
    let rule = RuleDraft {
        shape: RuleShape::Host {
            host: "paddock.invalid".into(),
        },
        answer: RuleAnswer::Allow,
        scope: RuleScope::Project,
        end: RuleEnd::Never,
    };
    bed.paddock
        .request(Request::SaveRule { project, rule })
        .await
        .unwrap();
    let mut work = bed.session(SessionWish::default()).await;
    work.say("Fetch it.").await;
    work.approve().await;
    let admitted = |msg: &EventMsg| match msg {
        EventMsg::ItemStarted { item } | EventMsg::ItemCompleted { item } => match &item.kind {
            ItemKind::HostAdmitted { host, rule, .. } => Some((host.clone(), rule.clone())),
            _ => None,
        },
        _ => None,
    };
    let (host, rule) = work.hear("the line of the connection", admitted).await;
    assert_eq!(host, "paddock.invalid");
    assert!(rule.contains("paddock.invalid"), "{rule}");
    work.status(TurnStatus::Completed).await;
    let log = Request::Decisions {
        query: MetricsQuery {
            project: None,
            days: None,
            session: Some(work.session.clone()),
        },
        limit: 20,
    };
    let Ok(Reply::Decisions { decisions }) = bed.paddock.request(log).await else {
        panic!("no log");
    };
    let line = decisions.iter().find(|line| line.target == "paddock.invalid");
    let line = line.unwrap_or_else(|| panic!("{decisions:#?}"));
    assert!(
        line.allowed && matches!(line.by, DecidedBy::Rule { .. }),
        "{line:?}"
    );
}
