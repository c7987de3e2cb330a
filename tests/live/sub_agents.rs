//! Sub-agents with sessions of their own: side by side, their approvals in the queue of the turn that started them, and all
//! ended with it.

use crate::bed::{Bed, soon};
use paddock_core::SessionWish;
use paddock_protocol::*;
use paddock_tests::model_server::{ModelServer, Received, calls, text};
use serde_json::json;

/// The task a request is about: the first message of the person in it.
fn task(request: &Received) -> String {
    let messages = request.messages();
    let first = messages.iter().find(|message| message["role"] == "user");
    first
        .and_then(|m| m["content"].as_str())
        .unwrap_or_default()
        .to_owned()
}

fn delegate(names: &[&str], writes: bool) -> Vec<paddock_tests::model_server::Piece> {
    let asked: Vec<_> = names
        .iter()
        .map(|name| {
            (
                *name,
                "delegate",
                json!({ "name": name, "task": format!("Task {name}"), "writes": writes }),
            )
        })
        .collect();
    calls(&asked)
}

fn admin() -> SessionWish {
    SessionWish {
        role: Some(Role::Admin),
        ..SessionWish::default()
    }
}

#[tokio::test]
async fn they_work_side_by_side_and_report() {
    let server = ModelServer::start(|_, request| {
        let task = task(request);
        match (task.as_str(), request.results()) {
            ("Split it.", 0) => delegate(&["one", "two"], false),
            ("Split it.", _) => text("Both are done."),
            (_, 0) => calls(&[("r", "read_file", json!({ "path": "notes" }))]),
            (task, _) => text(&format!("Result of {task}")),
        }
    })
    .unwrap();
    let bed = Bed::new(&[("main", &server)]);
    bed.put("notes", "hello");
    let mut work = bed.session(SessionWish::default()).await;
    work.say("Split it.").await;
    work.status(TurnStatus::Completed).await;

    let snapshot = work.snapshot().await;
    let calls: Vec<&CallItem> = snapshot
        .items
        .iter()
        .filter_map(|item| match &item.kind {
            ItemKind::Call(call) => Some(&**call),
            _ => None,
        })
        .collect();
    assert_eq!(calls.len(), 2);
    for (call, name) in calls.iter().zip(["one", "two"]) {
        let output = call.output.as_ref().unwrap();
        assert_eq!(
            (output.ok, output.text.as_str()),
            (true, format!("Result of Task {name}").as_str())
        );
        let agent = call.sub_agent.as_ref().unwrap();
        assert_eq!(
            (agent.status.clone(), agent.iteration),
            (TurnStatus::Completed, 2)
        );
        assert!(agent.usage.total() > 0 && snapshot.usage.total() > agent.usage.total());
        let theirs = bed.paddock.attach(&agent.session).await.unwrap().0;
        assert_eq!(theirs.config.role, Role::Plan);
        assert_eq!(
            theirs.config.parent.as_ref().map(|parent| &parent.call),
            Some(&call.call)
        );
    }
    let began: Vec<_> = calls.iter().map(|call| call.began).collect();
    let ended = snapshot
        .items
        .iter()
        .filter_map(|item| item.ended.filter(|_| matches!(item.kind, ItemKind::Call(_))))
        .min();
    assert!(
        began.iter().all(|began| *began < ended),
        "they ran one after another: {began:?} {ended:?}"
    );
    let project = snapshot.config.project.clone();
    let Reply::Sessions { sessions } = bed.paddock.request(Request::Sessions { project }).await.unwrap()
    else {
        panic!("no sessions");
    };
    assert_eq!(sessions.len(), 1, "the list shows the person's sessions only");
    let told = server.received();
    let tools = |request: &Received| request.json()["tools"].to_string();
    let theirs = told.iter().find(|request| task(request) == "Task one").unwrap();
    for absent in ["delegate", "ask_question", "write_file", "remember"] {
        assert!(
            !tools(theirs).contains(&format!("\"{absent}\"")),
            "{absent} is offered to a sub-agent"
        );
    }
}

#[tokio::test]
async fn their_approvals_are_decided_in_the_queue_of_the_turn() {
    let server = ModelServer::start(|_, request| {
        let task = task(request);
        match (task.as_str(), request.results()) {
            ("Split it.", 0) => delegate(&["one", "two"], true),
            ("Split it.", _) => text("Both are done."),
            (task, 0) => calls(&[(
                "r",
                "run_command",
                json!({ "command": format!("wc -l {}", task.rsplit(' ').next().unwrap_or_default()) }),
            )]),
            (_, _) => text("I am done."),
        }
    })
    .unwrap();
    let bed = Bed::new(&[("main", &server)]);
    bed.put("one", "1");
    bed.put("two", "2");
    let mut work = bed.session(admin()).await;
    work.say("Split it.").await;
    let first = work.approval().await;
    let second = work.approval().await;
    let names: Vec<String> = [&first, &second]
        .iter()
        .map(|a| a.origin.as_ref().unwrap().name.clone())
        .collect();
    assert!(
        names.contains(&"one".to_owned()) && names.contains(&"two".to_owned()),
        "{names:?}"
    );
    work.status(TurnStatus::WaitingForApproval).await;
    work.decide(&second, true).await;
    assert_eq!(
        work.snapshot().await.approvals.len(),
        1,
        "the other one still waits"
    );
    let again = Op::Decide {
        approval: second.id.clone(),
        decision: Decision::Reject {
            reason: None,
            pause: false,
        },
    };
    assert_eq!(work.refused(again).await.code, ErrorCode::NotFound);
    work.decide(&first, false).await;
    work.status(TurnStatus::Completed).await;
    let outputs = |name: &str| {
        let of = names
            .iter()
            .position(|n| n == name)
            .map(|at| [&first, &second][at])
            .unwrap();
        let session = of.origin.as_ref().unwrap().session.clone();
        let paddock = bed.paddock.clone();
        async move {
            let items = paddock.attach(&session).await.unwrap().0.items;
            items.into_iter().find_map(|item| match item.kind {
                ItemKind::Call(call) if call.tool == "run_command" => Some(item.status),
                _ => None,
            })
        }
    };
    assert_eq!(outputs(&names[1]).await, Some(ItemStatus::Done));
    assert_eq!(outputs(&names[0]).await, Some(ItemStatus::Rejected));
}

#[tokio::test]
async fn a_stop_of_the_turn_ends_them_with_what_they_run() {
    let tick = "while true; do echo tick; sleep 0.05; done";
    let server = ModelServer::start(
        move |_, request| match (task(request).as_str(), request.results()) {
            ("Split it.", _) => calls(&[(
                "d",
                "delegate",
                json!({ "name": "one", "task": "Task one", "writes": true }),
            )]),
            (_, _) => calls(&[(
                "r",
                "run_command",
                json!({ "command": format!("{tick} | tee -a ticks") }),
            )]),
        },
    )
    .unwrap();
    let bed = Bed::new(&[("main", &server)]);
    let mut work = bed.session(admin()).await;
    work.say("Split it.").await;
    let request = work.approve().await;
    assert!(soon(|| bed.read("ticks").len() > 10).await);
    work.submit(Op::Stop).await;
    work.status(TurnStatus::Stopped).await;
    assert!(
        soon(|| {
            let before = bed.read("ticks").len();
            std::thread::sleep(std::time::Duration::from_millis(200));
            bed.read("ticks").len() == before
        })
        .await
    );
    let theirs = request.origin.unwrap().session;
    assert!(
        soon_stopped(&bed, &theirs).await,
        "the sub-agent's turn has ended too"
    );
    let (_, pending) = (0, work.snapshot().await.approvals);
    assert!(pending.is_empty());
}

async fn soon_stopped(bed: &Bed, session: &SessionId) -> bool {
    for _ in 0..100 {
        let turn = bed.paddock.attach(session).await.unwrap().0.turn;
        if turn.is_some_and(|turn| turn.status == TurnStatus::Stopped) {
            return true;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    false
}
