//! What a session's log says of one small task, for each way to call tools: the same events but for the form of the calls.

use crate::bed::Bed;
use paddock_core::SessionWish;
use paddock_protocol::*;
use paddock_tests::model_server::{ModelServer, Piece, calls, text};
use serde_json::json;

/// One line for an event, without times, ids of sessions and texts that other tests hold.
fn line(msg: &EventMsg) -> Option<String> {
    Some(match msg {
        EventMsg::TurnChanged { status, .. } => format!("turn is {status:?}"),
        EventMsg::IterationStarted { iteration, limit, .. } => format!("iteration {iteration} of {limit}"),
        EventMsg::IterationAnswered { finish, .. } => format!("answered, {finish:?}"),
        EventMsg::ItemStarted { item } => format!("  {} begins, {:?}", kind(item), item.status),
        EventMsg::ItemUpdated { item } => format!("  {} is {:?}", kind(item), item.status),
        EventMsg::ItemCompleted { item } => {
            format!("  {} ends, {:?}{}", kind(item), item.status, result(item))
        }
        EventMsg::ApprovalRequested { approval } => {
            format!(
                "  asks for {:?} {} as {}",
                approval.classes, approval.target, approval.id
            )
        }
        EventMsg::ApprovalResolved { approval, outcome } => format!("  {approval}: {outcome:?}"),
        EventMsg::TurnEnded { end, .. } => format!("ended, {end:?}"),
        _ => return None,
    })
}

fn kind(item: &Item) -> String {
    match &item.kind {
        ItemKind::Call(call) => format!("{} {} {}", call.call, call.tool, call.arguments),
        ItemKind::AgentText { text } => format!("text {text:?}"),
        ItemKind::UserMessage { text, .. } => format!("message {text:?}"),
        ItemKind::Malformed {
            reason, attempt, of, ..
        } => format!("malformed {attempt} of {of}: {reason}"),
        ItemKind::TurnSummary { report } => format!(
            "summary of {} iterations, {} calls",
            report.iterations, report.calls
        ),
        _ => "item".to_owned(),
    }
}

fn result(item: &Item) -> String {
    match &item.kind {
        ItemKind::Call(call) => call
            .output
            .as_ref()
            .map_or_else(String::new, |output| format!(", {:?}", output.text)),
        _ => String::new(),
    }
}

/// The events of a task whose first call cannot be read, whose second reads, and whose third writes and is the last.
async fn told(format: CallFormat, answers: [Vec<Piece>; 3], last: Vec<Piece>) -> String {
    let server = ModelServer::scripted(answers.into_iter().chain([last]).collect()).unwrap();
    let bed = Bed::new(&[("main", &server)]);
    bed.put("a.txt", "forty-two");
    let mut work = bed
        .session(SessionWish {
            format: Some(format),
            ..SessionWish::default()
        })
        .await;
    work.say("Copy a.txt to b.txt.").await;
    work.approve().await;
    work.status(TurnStatus::Completed).await;
    assert_eq!(bed.read("b.txt"), "forty-two");
    let lines: Vec<String> = work.heard.iter().filter_map(|event| line(&event.msg)).collect();
    lines.join("\n")
}

#[tokio::test]
async fn native() {
    let write = json!({ "path": "b.txt", "content": "forty-two" });
    let answers = [
        calls(&[("c1", "read_file", json!({ "file": "a.txt" }))]),
        calls(&[("c2", "read_file", json!({ "path": "a.txt" }))]),
        calls(&[("c3", "write_file", write)]),
    ];
    insta::assert_snapshot!(told(CallFormat::Native, answers, text("Done.")).await);
}

#[tokio::test]
async fn json_in_the_text() {
    let answers = [
        text("{\"tool\": \"read_file\", \"parameters\": {\"file\": \"a.txt\"}}"),
        text(
            "I look.\n{\"tool\": \"read_file\", \"parameters\": {\"path\": \"a.txt\"}, \"terminate\": false}",
        ),
        text(
            "{\"tool\": \"write_file\", \"parameters\": {\"path\": \"b.txt\", \"content\": \"forty-two\"}, \"terminate\": true}",
        ),
    ];
    insta::assert_snapshot!(told(CallFormat::Json, answers, text("Never asked for.")).await);
}

#[tokio::test]
async fn xml_in_the_text() {
    let answers = [
        text("<tool>{\"tool_name\": \"read_file\", \"arguments\": {\"path\": \"a.txt\"</tool>"),
        text(
            "I look.\n<tool>{\"server_name\": \"local\", \"tool_name\": \"read_file\", \"arguments\": {\"path\": \"a.txt\"}}</tool>",
        ),
        text(
            "<tool>{\"tool_name\": \"write_file\", \"arguments\": {\"path\": \"b.txt\", \"content\": \"forty-two\"}, \"terminate\": true}</tool>",
        ),
    ];
    insta::assert_snapshot!(told(CallFormat::Xml, answers, text("Never asked for.")).await);
}
