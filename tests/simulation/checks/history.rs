//! What the model is sent.

use paddock_core::provider::{AgentPart, Message};
use paddock_core::session::history::history;
use paddock_core::session::state::SessionState;
use paddock_protocol::*;

/// Every call that the model is shown is followed at once by its result, in the order in which it asked.
fn is_legal(messages: Vec<Message>) {
    assert!(
        matches!(messages.first(), Some(Message::User { .. })),
        "the history begins with {:?}",
        messages.first()
    );
    assert!(
        !matches!(messages.last(), Some(Message::Agent { .. })),
        "the history ends with the agent"
    );
    let mut awaited: Vec<String> = Vec::new();
    for message in messages {
        match message {
            Message::Results { results } => {
                let given: Vec<String> = results.into_iter().map(|result| result.id).collect();
                assert_eq!(given, awaited, "results do not fit the calls");
                awaited.clear();
            }
            Message::User { text, .. } => {
                assert!(awaited.is_empty(), "calls without results: {awaited:?}");
                assert!(!text.trim().is_empty());
            }
            Message::Agent { parts } => {
                assert!(awaited.is_empty(), "calls without results: {awaited:?}");
                awaited.extend(parts.into_iter().filter_map(|part| match part {
                    AgentPart::Call { id, .. } => Some(id),
                    _ => None,
                }));
            }
        }
    }
}

/// What this request holds is legal; a message of the person is told once, and none waits while a request is sent.
pub fn is_right(state: &SessionState) {
    let messages = history(state, &|_| None);
    let mut told = String::new();
    for message in &messages {
        if let Message::User { text, .. } = message {
            told.push_str(text);
            told.push('\n');
        }
    }
    is_legal(messages);
    checks_are_told(state, &told);
    for item in &state.items {
        if let ItemKind::UserMessage { text, .. } = &item.kind {
            assert_eq!(
                item.status,
                ItemStatus::Done,
                "{text:?} waits while a request is sent"
            );
            let said = text.split_inclusive(';').next().unwrap_or(text);
            if said.ends_with(';') {
                let times = told.matches(said).count();
                assert_eq!(times, 1, "{said:?} is told {times} times");
            }
        }
    }
}

/// Every check that has a result is told, with its output when it did not pass.
fn checks_are_told(state: &SessionState, told: &str) {
    let mut times = 0;
    for item in &state.items {
        let ItemKind::Call(call) = &item.kind else {
            continue;
        };
        let Some(output) = call.output.as_ref().filter(|_| call.check.is_some()) else {
            continue;
        };
        times += 1;
        let name = format!("The check `{}`", call.target);
        assert!(told.contains(&name), "nobody tells the model of {name}");
        assert!(
            output.ok || told.contains(output.text.trim_end()),
            "what the check said is lost"
        );
        let passed = told.contains(&format!("{name} passed"));
        assert!(
            !output.ok || passed,
            "a check passed and the model is told otherwise"
        );
    }
    assert_eq!(
        told.matches("The check `").count(),
        times,
        "checks are told more or less than once"
    );
}
