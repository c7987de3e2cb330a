//! Commands that take long, go to the background, are stopped, and what is left of them.

use crate::bed::{Bed, Work, soon};
use paddock_core::SessionWish;
use paddock_protocol::*;
use paddock_tests::model_server::{ModelServer, calls, text};
use serde_json::json;

/// One command, then a last word for every further request.
fn one_command(command: &str) -> ModelServer {
    let arguments = json!({ "command": command });
    ModelServer::start(move |_, request| match request.results() {
        0 => calls(&[("c1", "run_command", arguments.clone())]),
        _ => text("Done."),
    })
    .unwrap()
}

fn impatient() -> SessionWish {
    SessionWish {
        limits: Some(Limits {
            command_time: Millis(400),
            ..Limits::default()
        }),
        ..SessionWish::default()
    }
}

/// Writes a line every 50 ms for as long as it lives.
const TICKING: &str = "while true; do echo tick | tee -a ticks; sleep 0.05; done";

async fn overdue(work: &mut Work) -> CallId {
    let call = work
        .call("a command past its limit", |_, call| call.overdue)
        .await;
    work.status(TurnStatus::WaitingForAnswer).await;
    call.call
}

/// Whether the ticking goes on.
async fn ticks(bed: &Bed) -> bool {
    let before = bed.read("ticks").len();
    soon(|| bed.read("ticks").len() > before).await
}

/// Whether the ticking has ended: long enough for many ticks, none comes.
async fn is_quiet(bed: &Bed) -> bool {
    let before = bed.read("ticks").len();
    tokio::time::sleep(std::time::Duration::from_millis(600)).await;
    bed.read("ticks").len() == before
}

#[tokio::test]
async fn a_command_past_its_limit_asks_and_goes_to_the_background() {
    let server = one_command(TICKING);
    let bed = Bed::new(&[("main", &server)]);
    let mut work = bed.session(impatient()).await;
    work.say("Watch it.").await;
    work.approve().await;
    let call = overdue(&mut work).await;
    assert!(ticks(&bed).await, "it goes on while the person is asked");
    work.submit(Op::KeepWaiting { call: call.clone() }).await;
    assert_eq!(overdue(&mut work).await, call);
    work.submit(Op::ToBackground { call: call.clone() }).await;
    let process = work
        .hear("a background process", |msg| match msg {
            EventMsg::ProcessStarted { process } => Some(process.clone()),
            _ => None,
        })
        .await;
    assert_eq!((process.call, process.id.as_str()), (call.clone(), "p1"));
    work.status(TurnStatus::Completed).await;
    assert!(ticks(&bed).await, "the process outlives the turn");
    assert_eq!(work.snapshot().await.processes.len(), 1);
    let asked = Request::ProcessOutput {
        session: work.session.clone(),
        process: process.id.clone(),
    };
    let Reply::Text { text } = bed.paddock.request(asked).await.unwrap() else {
        panic!("no text");
    };
    assert!(text.contains("tick\ntick"), "{text}");
    work.submit(Op::EndProcess {
        process: process.id.clone(),
    })
    .await;
    let end = work
        .hear("its end", |msg| match msg {
            EventMsg::ProcessEnded { end, .. } => Some(*end),
            _ => None,
        })
        .await;
    assert_eq!(end, ProcessEnd::EndedByPerson);
    assert!(is_quiet(&bed).await);
    assert_eq!(
        work.refused(Op::EndProcess { process: process.id }).await.code,
        ErrorCode::NotFound
    );
}

#[tokio::test]
async fn a_command_that_is_ended_at_its_limit_tells_the_model() {
    let server = one_command(TICKING);
    let bed = Bed::new(&[("main", &server)]);
    let mut work = bed.session(impatient()).await;
    work.say("Watch it.").await;
    work.approve().await;
    let call = overdue(&mut work).await;
    work.submit(Op::EndCall { call }).await;
    work.status(TurnStatus::Completed).await;
    assert!(is_quiet(&bed).await);
    let told = server.received().last().unwrap().messages();
    let result = told.iter().rfind(|message| message["role"] == "tool").unwrap();
    let words = result["content"].as_str().unwrap();
    assert!(words.contains("did not end within 1 s and was ended"), "{words}");
    assert!(words.contains("tick"), "what it said so far is kept: {words}");
}

#[tokio::test]
async fn stop_leaves_the_background_and_stop_everything_does_not() {
    let command = format!("({TICKING}) & (setsid sh -c '{TICKING}') & wait");
    let server = ModelServer::start(move |_, request| match request.results() {
        0 => calls(&[(
            "c1",
            "run_command",
            json!({ "command": command, "background": true }),
        )]),
        _ => calls(&[("c2", "run_command", json!({ "command": "sleep 60" }))]),
    })
    .unwrap();
    let bed = Bed::new(&[("main", &server)]);
    let mut work = bed.session(SessionWish::default()).await;
    work.say("Serve it.").await;
    work.approve().await;
    work.approve().await;
    work.call("the second command", |item, call| {
        item.status == ItemStatus::Running && call.target.contains("sleep 60")
    })
    .await;
    work.submit(Op::Stop).await;
    work.status(TurnStatus::Stopped).await;
    assert!(ticks(&bed).await, "a stop of the turn leaves it");
    work.submit(Op::StopEverything).await;
    work.hear("its end", |msg| {
        matches!(msg, EventMsg::ProcessEnded { .. }).then_some(())
    })
    .await;
    assert!(is_quiet(&bed).await, "every descendant is gone");
}

#[tokio::test]
async fn a_closed_session_takes_its_processes_along_and_says_so() {
    let server = ModelServer::start(|_, request| match request.results() {
        0 => calls(&[(
            "c1",
            "run_command",
            json!({ "command": TICKING, "background": true }),
        )]),
        _ => text("It runs."),
    })
    .unwrap();
    let bed = Bed::new(&[("main", &server)]);
    let mut work = bed.session(SessionWish::default()).await;
    work.say("Serve it.").await;
    work.approve().await;
    work.status(TurnStatus::Completed).await;
    assert!(ticks(&bed).await);
    bed.paddock.close(&work.session).await;
    assert!(is_quiet(&bed).await);
    let work = bed.attach(work.session.clone()).await;
    let snapshot = work.snapshot().await;
    assert!(snapshot.processes.is_empty());
    let told = |item: &Item| {
        matches!(
            &item.kind,
            ItemKind::ProcessEnded {
                end: ProcessEnd::Closed,
                ..
            }
        )
    };
    assert!(snapshot.items.iter().any(told), "{:?}", snapshot.items);
}

#[tokio::test]
async fn an_interruption_ends_the_command_and_reaches_the_model_at_once() {
    let server = one_command(TICKING);
    let bed = Bed::new(&[("main", &server)]);
    let mut work = bed.session(SessionWish::default()).await;
    work.say("Watch it.").await;
    work.approve().await;
    assert!(soon(|| bed.read("ticks").len() > 10).await);
    work.submit(Op::Send {
        text: "No, leave that.".into(),
        mode: SendMode::Interrupt,
        effort: None,
        images: Vec::new(),
    })
    .await;
    work.status(TurnStatus::Completed).await;
    assert!(is_quiet(&bed).await);
    let last = server.received().last().unwrap().messages();
    assert_eq!(last.last().unwrap()["content"], "No, leave that.");
}

#[tokio::test]
async fn the_queue_is_edited_held_by_a_stop_and_released() {
    let server = ModelServer::start(|number, request| match (number, request.results()) {
        (0, _) => calls(&[("c1", "run_command", json!({ "command": "sleep 60" }))]),
        _ => text("Done."),
    })
    .unwrap();
    let bed = Bed::new(&[("main", &server)]);
    let mut work = bed.session(SessionWish::default()).await;
    work.say("Wait.").await;
    work.approve().await;
    for text in ["first", "second", "third"] {
        let mode = SendMode::AfterTurn;
        work.submit(Op::send(text, mode)).await;
    }
    let queued = work.snapshot().await.queue.messages;
    let mut turned: Vec<QueuedMessage> = queued.iter().rev().cloned().collect();
    turned[0].text = "third, edited".into();
    turned.truncate(2);
    work.submit(Op::SetQueue { messages: turned }).await;
    let stale = Op::SetQueue { messages: queued };
    assert_eq!(work.refused(stale).await.code, ErrorCode::NotFound);
    work.submit(Op::Stop).await;
    work.status(TurnStatus::Stopped).await;
    assert!(work.snapshot().await.queue.held);
    bed.paddock.close(&work.session).await;
    let mut work = bed.attach(work.session.clone()).await;
    assert_eq!(
        work.snapshot().await.queue.messages.len(),
        2,
        "a restart keeps the queue"
    );
    work.submit(Op::ReleaseQueue).await;
    work.status(TurnStatus::Completed).await;
    work.status(TurnStatus::Completed).await;
    let said = |request: &paddock_tests::model_server::Received| {
        let messages = request.messages();
        messages
            .last()
            .and_then(|m| m["content"].as_str())
            .unwrap_or_default()
            .to_owned()
    };
    let received: Vec<String> = server.received().iter().skip(1).map(said).collect();
    assert!(
        received[0].ends_with("third, edited") && received[1] == "second",
        "{received:?}"
    );
}
