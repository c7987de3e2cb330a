//! The text dialects and a second model, over a real connection.

use crate::bed::{Bed, model_of};
use paddock_core::SessionWish;
use paddock_protocol::*;
use paddock_tests::model_server::{ModelServer, status, text};

const ASKED: &str = "What is in a.txt? Then note it in b.txt.";

async fn in_dialect(format: CallFormat, first: &'static str, last: &'static str) {
    let server = ModelServer::start(move |number, _| match number {
        0 => text(first),
        1 => text(last),
        _ => text("Never asked for."),
    })
    .unwrap();
    let bed = Bed::new(&[("main", &server)]);
    bed.put("a.txt", "forty-two");
    let mut work = bed
        .session(SessionWish {
            format: Some(format),
            ..SessionWish::default()
        })
        .await;
    work.say(ASKED).await;
    work.approve().await;
    work.status(TurnStatus::Completed).await;
    assert_eq!(bed.read("b.txt"), "forty-two");
    let received = server.received();
    assert_eq!(received.len(), 2, "`terminate` ends the turn after its call");
    assert!(received[0].json().get("tools").is_none());
    assert!(
        received[0].body.contains("read_file"),
        "the tools are told in the prompt"
    );
    assert!(received[1].body.contains("forty-two"), "the result went back");
    let last_words = |at: usize| {
        let request = received[at].json();
        let last = request["messages"].as_array().unwrap().last().unwrap().clone();
        last["content"].as_str().unwrap().to_owned()
    };
    assert_eq!(last_words(0), ASKED);
    let again = format!(
        "The task is: {ASKED}\nNothing was changed yet. If the task asks for a change, make it now; else read what is missing."
    );
    assert!(
        last_words(1).ends_with(&again),
        "a small model is told again what was asked"
    );
    let shown = work.snapshot().await;
    let texts: Vec<&str> = shown
        .items
        .iter()
        .filter_map(|item| match &item.kind {
            ItemKind::AgentText { text } => Some(text.as_str()),
            _ => None,
        })
        .collect();
    assert!(
        texts.iter().all(|text| !text.contains("read_file")),
        "a call is shown as text: {texts:?}"
    );
}

#[tokio::test]
async fn a_model_that_calls_in_json() {
    in_dialect(
        CallFormat::Json,
        "I will look.\n{\"tool\": \"read_file\", \"parameters\": {\"path\": \"a.txt\"}, \"terminate\": false}",
        "{\"tool\": \"write_file\", \"parameters\": {\"path\": \"b.txt\", \"content\": \"forty-two\"}, \"terminate\": true}",
    )
    .await;
}

#[tokio::test]
async fn a_model_that_calls_in_xml() {
    in_dialect(
        CallFormat::Xml,
        "I will look.\n<tool>{\"server_name\": \"local\", \"tool_name\": \"read_file\", \"arguments\": {\"path\": \"a.txt\"}}</tool>",
        "<tool>{\"tool_name\": \"write_file\", \"arguments\": {\"path\": \"b.txt\", \"content\": \"forty-two\"}, \"terminate\": true}</tool>",
    )
    .await;
}

#[tokio::test]
async fn a_second_model_is_offered_or_used() {
    let broken =
        ModelServer::start(|_, _| status("401 Unauthorized", "", "{\"error\":{\"message\":\"no\"}}"))
            .unwrap();
    let second = ModelServer::start(|_, _| text("I am the second.")).unwrap();
    let bed = Bed::new(&[("main", &broken), ("second", &second)]);
    let mut work = bed.session(SessionWish::default()).await;
    let fallback = |automatic| Op::SetFallback {
        fallback: Some(Fallback {
            model: model_of("second"),
            automatic,
            known: Default::default(),
        }),
    };
    work.submit(fallback(false)).await;
    work.say("Hello.").await;
    work.hear("a pause", |msg| match msg {
        EventMsg::TurnChanged {
            status: TurnStatus::Paused {
                cause: PauseCause::Model { .. },
            },
            ..
        } => Some(()),
        _ => None,
    })
    .await;
    assert!(second.received().is_empty(), "it is never used unasked");
    work.submit(Op::SetModel {
        model: model_of("second"),
        known: Default::default(),
    })
    .await;
    work.submit(Op::RetryNow).await;
    work.status(TurnStatus::Completed).await;

    let mut work = bed.session(SessionWish::default()).await;
    work.submit(fallback(true)).await;
    work.say("Hello.").await;
    work.status(TurnStatus::Completed).await;
    let items = work.snapshot().await.items;
    assert!(
        items
            .iter()
            .any(|item| matches!(item.kind, ItemKind::ModelChange { .. }))
    );
    assert_eq!(second.received().len(), 2);
}
