//! The person lets only some of the changes of a proposal through: just those are made, the model hears which were not, and a
//! choice holds for the diff from which it was made.

use crate::bed::{Bed, Work};
use paddock_core::SessionWish;
use paddock_protocol::*;
use paddock_tests::model_server::{ModelServer, Piece, calls, text};
use serde_json::{Value, json};

/// Forty numbered lines, some of them others.
fn lines(others: &[(usize, &str)]) -> String {
    let line = |n: usize| {
        let other = others.iter().find(|(at, _)| *at == n);
        other.map_or_else(|| format!("line {n}\n"), |(_, text)| format!("{text}\n"))
    };
    (1..=40).map(line).collect()
}

fn parts(left_out: &[u32]) -> Decision {
    Decision::Approve {
        scope: AnswerScope::Once,
        edited_arguments: None,
        left_out: left_out.to_vec(),
        rule: None,
    }
}

async fn decide(work: &Work, request: &ApprovalRequest, decision: Decision) {
    let approval = request.id.clone();
    work.submit(Op::Decide { approval, decision }).await;
}

async fn refusal(work: &Work, request: &ApprovalRequest, decision: Decision) -> ErrorCode {
    let approval = request.id.clone();
    work.refused(Op::Decide { approval, decision }).await.code
}

/// A session in which the model read the file and now proposes this call.
async fn proposed(bed: &Bed) -> (Work, ApprovalRequest) {
    let wish = SessionWish {
        autonomy: Some(Autonomy::Careful),
        ..SessionWish::default()
    };
    let mut work = bed.session(wish).await;
    work.say("Change it.").await;
    let mut request = work.approval().await;
    while request.tool == "read_file" {
        work.decide(&request, true).await;
        request = work.approval().await;
    }
    (work, request)
}

fn script(tool: &str, arguments: Value) -> Vec<Vec<Piece>> {
    vec![
        calls(&[("c1", "read_file", json!({ "path": "a.txt" }))]),
        calls(&[("c2", tool, arguments)]),
        text("Done."),
    ]
}

/// The result of the last call, as the model got it.
fn told(server: &ModelServer) -> String {
    let messages = server.received().last().unwrap().messages();
    let result = messages.iter().rev().find(|message| message["role"] == "tool");
    result.unwrap()["content"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn only_what_was_left_on_is_written_and_the_model_hears_the_rest() {
    let new = lines(&[(3, "three"), (20, "twenty"), (38, "thirty-eight")]);
    let server =
        ModelServer::scripted(script("write_file", json!({ "path": "a.txt", "content": new }))).unwrap();
    let bed = Bed::new(&[("main", &server)]);
    bed.put("a.txt", &lines(&[]));
    let (mut work, request) = proposed(&bed).await;
    assert_eq!(request.body.hunks().len(), 3, "{request:?}");
    for unfit in [&[0, 1, 2][..], &[3], &[1, 0], &[1, 1]] {
        assert_eq!(
            refusal(&work, &request, parts(unfit)).await,
            ErrorCode::BadRequest,
            "{unfit:?}"
        );
    }
    let wider = Decision::Approve {
        scope: AnswerScope::Once,
        edited_arguments: Some(json!({ "path": "b.txt", "content": "x" }).to_string()),
        left_out: vec![1],
        rule: None,
    };
    assert_eq!(refusal(&work, &request, wider).await, ErrorCode::BadRequest);
    decide(&work, &request, parts(&[1])).await;
    let call = work
        .call("the call's end", |item, call| {
            item.status == ItemStatus::Done && call.tool == "write_file"
        })
        .await;
    assert_eq!(call.verdict.unwrap().left_out, [1]);
    let changes = call.output.unwrap().changes;
    assert_eq!(
        changes[0].diff.as_ref().unwrap().hunks.len(),
        2,
        "the record shows what was done"
    );
    work.status(TurnStatus::Completed).await;
    assert_eq!(bed.read("a.txt"), lines(&[(3, "three"), (38, "thirty-eight")]));
    let told = told(&server);
    assert!(told.contains("left out 1 of the 3 changes"), "{told}");
    assert!(
        told.contains("change 2, near line 20:\n-line 20\n+twenty"),
        "{told}"
    );
    assert!(!told.contains("thirty-eight"), "{told}");
    // An undo takes back what was done, not what was asked for.
    work.submit(Op::Undo { call: call.call }).await;
    assert!(crate::bed::soon(|| bed.read("a.txt") == lines(&[])).await);
}

#[tokio::test]
async fn an_edit_in_every_place_may_be_made_in_some() {
    let arguments = json!({ "path": "a.txt", "old_text": "old", "new_text": "new", "all": true });
    let server = ModelServer::scripted(script("edit_file", arguments)).unwrap();
    let bed = Bed::new(&[("main", &server)]);
    bed.put("a.txt", &lines(&[(5, "old"), (30, "old")]));
    let (mut work, request) = proposed(&bed).await;
    decide(&work, &request, parts(&[0])).await;
    work.status(TurnStatus::Completed).await;
    assert_eq!(bed.read("a.txt"), lines(&[(5, "old"), (30, "new")]));
    let told = told(&server);
    assert!(told.contains("change 1, near line 5:\n-old\n+new"), "{told}");
    assert!(!told.contains("2 places replaced"), "{told}");
}

#[tokio::test]
async fn a_file_that_changed_resets_the_choice_and_asks_again() {
    let new = lines(&[(3, "three"), (38, "thirty-eight")]);
    let server =
        ModelServer::scripted(script("write_file", json!({ "path": "a.txt", "content": new }))).unwrap();
    let bed = Bed::new(&[("main", &server)]);
    bed.put("a.txt", &lines(&[]));
    let (mut work, request) = proposed(&bed).await;
    bed.put("a.txt", &lines(&[(20, "mine")]));
    decide(&work, &request, parts(&[1])).await;
    let renewed = work.approval().await;
    assert!(renewed.renewed && renewed.id != request.id, "{renewed:?}");
    assert_eq!(
        renewed.body.hunks().len(),
        3,
        "what the person wrote would be lost, and shows"
    );
    assert_eq!(bed.read("a.txt"), lines(&[(20, "mine")]), "nothing was written");
    assert_eq!(refusal(&work, &request, parts(&[1])).await, ErrorCode::NotFound);
    // The whole is asked for even where changes need no question any more.
    work.submit(Op::SetAutonomy {
        autonomy: Autonomy::HandsOff,
    })
    .await;
    let waits =
        |snapshot: &SessionSnapshot| snapshot.approvals.iter().any(|waiting| waiting.id == renewed.id);
    assert!(waits(&work.snapshot().await));
    decide(&work, &renewed, parts(&[1, 2])).await;
    work.status(TurnStatus::Completed).await;
    assert_eq!(bed.read("a.txt"), lines(&[(3, "three"), (20, "mine")]));
}

#[tokio::test]
async fn what_is_left_out_shows_no_secret_and_new_keys_are_marked() {
    let key = ["sk", "-proj-", "Zx81Qm7RtK2vLw9BnP4sYd6HgF3jCa5E"].concat();
    let (old, new) = (format!("token = \"{key}\""), "token = None");
    let proposal = lines(&[
        (3, new),
        (20, &format!("api_key = \"{}\"", key.replace("Zx", "Ab"))),
    ]);
    let server = ModelServer::scripted(script(
        "write_file",
        json!({ "path": "a.txt", "content": proposal }),
    ))
    .unwrap();
    let bed = Bed::new(&[("main", &server)]);
    bed.put("a.txt", &lines(&[(3, &old)]));
    let (mut work, request) = proposed(&bed).await;
    let ApprovalBody::Change { change, .. } = &request.body else {
        panic!("{request:?}");
    };
    assert_eq!(change.notes, [ChangeNote::PossibleKey { lines: vec![20] }]);
    decide(&work, &request, parts(&[0])).await;
    work.status(TurnStatus::Completed).await;
    let told = told(&server);
    assert!(
        told.contains("change 1, near line 3:") && !told.contains(&key),
        "{told}"
    );
}
