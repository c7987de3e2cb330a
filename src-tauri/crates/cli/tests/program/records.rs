//! What was recorded, as figures and as an audit trail.

use crate::bed::{Bed, Reply, Server, call, text_of};
use paddock_protocol::Metrics;
use serde_json::{Value, json};

/// A session with a written file, a rejected command and an end.
fn worked() -> Bed {
    let bed = Bed::new();
    let server = Server::start(vec![
        call(
            "write_file",
            json!({ "path": "made.txt", "content": "the content of the file\n" }),
        ),
        call(
            "run_command",
            json!({ "command": "API_KEY=hunter2hunter2 make, \"deploy\"" }),
        ),
        Reply::Text("All done, said at length."),
    ]);
    bed.run_at(&server, &["--approve", "edits", "=make it"]).exits(0);
    bed
}

#[test]
fn the_figures_are_those_of_the_turn() {
    let bed = Bed::new();
    let none = bed.run(&["metrics"]).exits(0);
    assert!(none.out.starts_with("No turns yet."), "{none:?}");

    let bed = worked();
    let json = bed.run(&["metrics", "--json"]).exits(0);
    let metrics: Metrics = serde_json::from_str(&json.out).unwrap();
    assert_eq!((metrics.turns, metrics.completed), (1, 1));
    assert_eq!(metrics.iterations.len(), 1);
    assert_eq!(metrics.iterations[0].iterations, 3);
    let approvals = &metrics.approvals;
    assert_eq!(
        (approvals.asked, approvals.approved, approvals.rejected),
        (2, 1, 1)
    );
    let tools: Vec<(&str, u32, u32)> = metrics
        .tools
        .iter()
        .map(|t| (t.tool.as_str(), t.calls, t.failed))
        .collect();
    assert_eq!(tools, [("write_file", 1, 0)], "what was rejected did not run");
    assert_eq!(metrics.usage[0].requests, 3);

    let text = bed
        .run(&["metrics", "--project", text_of(&bed.project()), "--days", "1"])
        .exits(0);
    assert!(text.out.starts_with("Turns       1 · completed 1"), "{text:?}");
    assert!(
        text.out.contains("write_file") && text.out.contains("Approvals   asked 2"),
        "{text:?}"
    );
    let elsewhere = bed.run(&["metrics", "--project", "/not/there"]).exits(0);
    assert!(elsewhere.out.starts_with("No turns yet."), "{elsewhere:?}");
}

#[test]
fn the_trail_has_every_action_and_no_content_or_key() {
    let bed = worked();
    let ran = bed
        .run(&["audit", "export", "--session", &bed.session()])
        .exits(0);
    let lines: Vec<Value> = ran
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let actions: Vec<&str> = lines
        .iter()
        .map(|line| line["action"].as_str().unwrap())
        .collect();
    let of_requests = ["request_sent", "request_answered"];
    let others: Vec<&str> = actions
        .iter()
        .copied()
        .filter(|action| !of_requests.contains(action))
        .collect();
    assert_eq!(
        others,
        [
            "session_created",
            "turn_started",
            "approval_requested",
            "decision",
            "call",
            "approval_requested",
            "decision",
            "call",
            "turn_ended"
        ]
    );
    assert_eq!(actions.len(), others.len() + 6);
    let written = lines.iter().find(|line| line["action"] == "call").unwrap();
    assert_eq!(written["target"], "made.txt");
    assert_eq!(written["detail"], "created=made.txt");
    assert_eq!(written["by"], "person");
    let refused = lines.iter().rfind(|line| line["action"] == "decision").unwrap();
    assert_eq!(refused["allowed"], false);
    assert_eq!(refused["target"], "API_KEY=[masked] make, \"deploy\"");
    for secret in ["hunter2", "the content of the file", "make it", "said at length"] {
        assert!(!ran.out.contains(secret), "{secret}: {}", ran.out);
    }
}

#[test]
fn the_trail_goes_into_a_new_file_as_a_table() {
    let bed = worked();
    let file = bed.path("trail.csv");
    let words = ["audit", "export", "--format", "csv", "--out", text_of(&file)];
    let ran = bed.run(&words).exits(0);
    assert!(ran.out.is_empty(), "{ran:?}");
    let table = std::fs::read_to_string(&file).unwrap();
    assert!(
        table.starts_with("time,session,seq,project,turn,iteration,action,"),
        "{table}"
    );
    assert!(
        table.contains("\"API_KEY=[masked] make, \"\"deploy\"\"\""),
        "{table}"
    );
    let again = bed.run(&words).exits(2);
    assert!(again.err.contains("is there already"), "{again:?}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), table);
    let unknown = bed.run(&["audit", "export", "--session", "none"]).exits(2);
    assert!(unknown.err.contains("There is no session"), "{unknown:?}");
}

#[test]
fn what_happens_inside_goes_where_it_was_asked_to_go() {
    let bed = Bed::new();
    let server = Server::start(vec![
        call("read_file", json!({ "path": "notes.txt" })),
        Reply::Text("Read."),
    ]);
    let mut command = bed.command_at(&server, &["look at it"]);
    command.env("PADDOCK_LOG", "warn,paddock_core=debug,home");
    let ran = crate::bed::Ran::of(command.output().unwrap()).exits(0);
    assert!(!ran.err.contains("DEBUG"), "{ran:?}");
    let log = std::fs::read_to_string(bed.path("home").join("logs/paddock.log")).unwrap();
    let line = log.lines().find(|line| line.contains("call ended")).unwrap();
    for field in [
        "session=",
        "turn=1",
        "iteration=1",
        "call=t1.i1.c1",
        "tool=\"read_file\"",
    ] {
        assert!(line.contains(field), "{field}: {line}");
    }
    assert!(!log.contains("look at it") && !log.contains("notes.txt"), "{log}");
    let mut wrong = bed.command(&["sessions"]);
    let wrong = crate::bed::Ran::of(wrong.env("PADDOCK_LOG", "loud").output().unwrap()).exits(2);
    assert!(wrong.err.contains("PADDOCK_LOG takes levels"), "{wrong:?}");
}
