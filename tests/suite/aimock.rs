//! The same flows against aimock, a mock of model services that others wrote: what this program understands must not only
//! be what its own tests say.

use std::time::Instant;

use paddock_protocol::{CallItem, Event, EventMsg, ItemKind, ItemStatus, TurnStatus};
use paddock_tests::sessions::{Bed, Ran, assert_gapless, calls, items};

use crate::mocks::{self, Mock};

/// The server with the conversations of the fixtures.
fn aimock(options: &[&str]) -> Mock {
    Mock::aimock(&mocks::tests().join("fixtures/aimock.json"), 1, options)
}

fn run(server: &Mock, bed: &Bed, words: &[&str]) -> Ran {
    let url = format!("{}/v1", server.url);
    let mut command = bed.run_command(&url, words).unwrap();
    Ran::of(command.output().unwrap())
}

fn bed() -> Bed {
    let bed = Bed::new().unwrap();
    bed.put("add.sh", "echo $(($1 - $2))\n").unwrap();
    bed
}

fn said(events: &[Event]) -> Vec<String> {
    let done = items(events)
        .into_iter()
        .filter(|item| item.status == ItemStatus::Done);
    done.filter_map(|item| match item.kind {
        ItemKind::AgentText { text } => Some(text),
        _ => None,
    })
    .collect()
}

/// How long each wait for another attempt was to be, in milliseconds.
fn waits(events: &[Event]) -> Vec<u64> {
    let wait = |event: &Event| match &event.msg {
        EventMsg::TurnChanged {
            status: TurnStatus::WaitingToRetry { until, .. },
            ..
        } => Some(until.since(event.at).0),
        _ => None,
    };
    events.iter().filter_map(wait).collect()
}

fn output(calls: &[CallItem], tool: &str) -> String {
    let call = calls.iter().find(|call| call.tool == tool);
    call.and_then(|call| call.output.clone())
        .map(|output| output.text)
        .unwrap_or_default()
}

#[test]
fn a_bug_is_read_fixed_checked_and_reported() {
    let (server, bed) = (aimock(&[]), bed());
    let ran = run(&server, &bed, &["--approve", "all", "fix the bug"]).exits(0);
    let events = ran.events();
    assert_gapless(&events);
    let (ended, calls): (Vec<_>, Vec<_>) = calls(&events).into_iter().unzip();
    let tools: Vec<&str> = calls.iter().map(|call| call.tool.as_str()).collect();
    assert_eq!(
        tools,
        [
            "read_file",
            "list_files",
            "edit_file",
            "run_command",
            "task_completion"
        ]
    );
    assert!(
        ended.iter().all(|item| item.status == ItemStatus::Done),
        "{ended:#?}"
    );
    assert!(output(&calls, "read_file").contains("$1 - $2"));
    assert!(output(&calls, "run_command").contains('5'), "{calls:#?}");
    assert_eq!(bed.read("add.sh"), "echo $(($1 + $2))\n");
    assert_eq!(bed.read("runs"), "ran\n");
    assert_eq!(said(&events), ["I look at the program first."]);
}

#[test]
fn a_rate_limit_is_waited_for() {
    let (server, bed) = (aimock(&[]), bed());
    let begun = Instant::now();
    let events = run(&server, &bed, &["wait your turn"]).exits(0).events();
    assert!(begun.elapsed().as_secs() >= 2);
    assert_eq!(said(&events), ["After the wait."]);
    assert_eq!(waits(&events).len(), 1);
    assert!(
        (1_900..=2_100).contains(&waits(&events)[0]),
        "{:?}",
        waits(&events)
    );
}

#[test]
fn a_cut_answer_is_asked_for_again() {
    let (server, bed) = (aimock(&[]), bed());
    let events = run(&server, &bed, &["be cut"]).exits(0).events();
    assert_eq!(
        (waits(&events).len(), said(&events)),
        (1, vec!["This one is whole.".to_owned()])
    );
}

#[test]
fn a_slow_answer_comes_word_by_word() {
    let (server, bed) = (aimock(&["-c", "4"]), bed());
    let events = run(&server, &bed, &["be slow"]).exits(0).events();
    assert_eq!(said(&events), ["one two three four five"]);
    let deltas: Vec<&Event> = events
        .iter()
        .filter(|event| matches!(event.msg, EventMsg::ItemDelta { .. }))
        .collect();
    let time = deltas.last().unwrap().at.since(deltas[0].at).0;
    assert!(deltas.len() > 3 && time > 150, "{} in {time} ms", deltas.len());
}

/// A server that limits, drops, cuts and garbles: whatever happens, the work is done once and in the end it is done.
#[test]
fn chaos_delays_but_does_no_harm() {
    let server = aimock(&[
        "--chaos-ratelimit",
        "0.15",
        "--chaos-drop",
        "0.1",
        "--chaos-disconnect",
        "0.1",
        "--chaos-malformed",
        "0.1",
    ]);
    let mut troubles = 0;
    for _ in 0..3 {
        let bed = bed();
        let mut ran = run(&server, &bed, &["--approve", "all", "fix the bug"]);
        let mut tries = 0;
        while ran.code != Some(0) {
            // A model error ends a run after its retries; nothing else may.
            let ran_out = ran.exits(5);
            assert!(ran_out.err.contains("--resume"), "{}", ran_out.err);
            tries += 1;
            assert!(tries < 20, "{}", ran_out.err);
            let (session, _) = bed.log().unwrap();
            ran = run(&server, &bed, &["--approve", "all", "--resume", &session]);
        }
        let (_, events) = bed.log().unwrap();
        assert_gapless(&events);
        troubles += tries + waits(&events).len();
        assert_eq!(bed.read("add.sh"), "echo $(($1 + $2))\n");
        assert_eq!(bed.read("runs"), "ran\n", "the command ran more than once");
        let ran = calls(&events)
            .into_iter()
            .filter(|(item, _)| item.status == ItemStatus::Done);
        assert_eq!(ran.count(), 5);
    }
    println!("{troubles} troubles");
}
