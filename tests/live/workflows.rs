//! A workflow carried out by a session: calls without the model, a question, a message, and what the model is told later.

use crate::bed::Bed;
use paddock_core::SessionWish;
use paddock_protocol::*;
use paddock_tests::model_server::{ModelServer, text};
use serde_json::json;

fn plan(steps: Vec<WorkflowStep>) -> Op {
    Op::RunWorkflow {
        plan: WorkflowPlan {
            name: "release".into(),
            title: "Release".into(),
            steps,
        },
    }
}

fn command(line: &str) -> WorkflowStep {
    WorkflowStep::Call {
        tool: "run_command".into(),
        arguments: json!({ "command": line }).to_string(),
    }
}

#[tokio::test]
async fn its_steps_run_in_order_and_answers_fill_the_later_ones() {
    let server = ModelServer::start(|_, _| text("Noted.")).unwrap();
    let bed = Bed::new(&[("main", &server)]);
    let mut work = bed.session(SessionWish::default()).await;
    let steps = vec![
        command("echo one > log"),
        WorkflowStep::Ask {
            name: "version".into(),
            question: "Which version?".into(),
            options: vec!["1.0".into()],
        },
        command("echo version {answer.version} >> log"),
        WorkflowStep::Message {
            text: "Write notes for {answer.version}.".into(),
        },
    ];
    work.submit(plan(steps)).await;
    let question = work
        .call("the question", |item, call| {
            call.verb == Verb::Ask && item.status == ItemStatus::Running
        })
        .await;
    let answer = "it's $(touch stolen) 2".to_owned();
    work.submit(Op::Answer {
        call: question.call,
        text: Some(answer.clone()),
    })
    .await;
    let end = work
        .hear("the end of the workflow", |msg| match msg {
            EventMsg::WorkflowEnded { end } => Some(*end),
            _ => None,
        })
        .await;
    assert_eq!(end, WorkflowEnd::Completed);
    assert_eq!(bed.read("log"), format!("one\nversion {answer}\n"));
    assert!(
        !bed.project().join("stolen").exists(),
        "an answer became a command"
    );
    assert!(
        !work
            .heard
            .iter()
            .any(|event| matches!(event.msg, EventMsg::ApprovalRequested { .. }))
    );
    let told = server.received()[0].body.clone();
    assert!(
        told.contains("The user runs the workflow") && told.contains("Write notes for"),
        "{told}"
    );
}

#[tokio::test]
async fn a_no_stops_it_and_a_failed_step_ends_it() {
    let server = ModelServer::start(|_, _| text("Noted.")).unwrap();
    let bed = Bed::new(&[("main", &server)]);
    let mut work = bed.session(SessionWish::default()).await;
    let end = |msg: &EventMsg| match msg {
        EventMsg::WorkflowEnded { end } => Some(*end),
        _ => None,
    };
    let confirm = WorkflowStep::Confirm {
        question: "Go on?".into(),
    };
    work.submit(plan(vec![confirm, command("touch after")])).await;
    let question = work
        .call("the question", |item, call| {
            call.verb == Verb::Ask && item.status == ItemStatus::Running
        })
        .await;
    work.submit(Op::Answer {
        call: question.call,
        text: Some("No".into()),
    })
    .await;
    assert_eq!(work.hear("its end", end).await, WorkflowEnd::Stopped);
    work.submit(plan(vec![command("exit 3"), command("touch after")]))
        .await;
    assert_eq!(work.hear("its end", end).await, WorkflowEnd::Failed);
    assert!(!bed.project().join("after").exists());
}

#[tokio::test]
async fn a_hard_denial_holds_in_a_workflow_too() {
    let server = ModelServer::start(|_, _| text("Noted.")).unwrap();
    let bed = Bed::new(&[("main", &server)]);
    let mut work = bed.session(SessionWish::default()).await;
    work.submit(plan(vec![command("sudo touch after")])).await;
    let refused = work
        .call("a refusal", |item, _| item.status == ItemStatus::Rejected)
        .await;
    assert_eq!(refused.verdict.unwrap().by, DecidedBy::Policy);
}
