//! Two sessions in one folder: they never write at the same time.

use crate::bed::{Bed, send};
use paddock_core::SessionWish;
use paddock_protocol::*;
use paddock_tests::model_server::{ModelServer, calls, text};
use serde_json::json;

fn server() -> ModelServer {
    ModelServer::start(
        |_, request| match (request.results(), request.body.contains("Hold the folder")) {
            (0, true) => calls(&[("c1", "run_command", json!({ "command": "sleep 60" }))]),
            _ => text("Done."),
        },
    )
    .unwrap()
}

#[tokio::test]
async fn a_second_session_waits_or_only_looks() {
    let server = server();
    let bed = Bed::new(&[("main", &server)]);
    let mut first = bed.session(SessionWish::default()).await;
    first.say("Hold the folder.").await;
    first.approve().await;
    let mut second = bed.session(SessionWish::default()).await;
    assert_eq!(second.refused(send("Me too.")).await.code, ErrorCode::FolderBusy);

    let mut looking = bed
        .session(SessionWish {
            role: Some(Role::Plan),
            ..SessionWish::default()
        })
        .await;
    looking.say("Just look.").await;
    looking.status(TurnStatus::Completed).await;

    let (text, mode) = ("Me too.".to_owned(), SendMode::WhenFree);
    second.submit(Op::send(text, mode)).await;
    assert!(second.snapshot().await.waits_for_folder);
    first.submit(Op::Stop).await;
    first.status(TurnStatus::Stopped).await;
    second.status(TurnStatus::Completed).await;
    assert!(!second.snapshot().await.waits_for_folder);
    assert!(second.snapshot().await.queue.messages.is_empty());
}

#[tokio::test]
async fn a_wait_can_be_given_up_and_the_message_stays() {
    let server = server();
    let bed = Bed::new(&[("main", &server)]);
    let mut first = bed.session(SessionWish::default()).await;
    first.say("Hold the folder.").await;
    first.approve().await;
    let second = bed.session(SessionWish::default()).await;
    let (text, mode) = ("Me too.".to_owned(), SendMode::WhenFree);
    second.submit(Op::send(text, mode)).await;
    second.submit(Op::StopWaiting).await;
    first.submit(Op::Stop).await;
    first.status(TurnStatus::Stopped).await;
    tokio::time::sleep(std::time::Duration::from_millis(900)).await;
    let now = second.snapshot().await;
    assert_eq!((now.turn, now.queue.messages.len()), (None, 1));
}
