use crate::bed::{Bed, Reply, Server, assert_gapless, call};
use paddock_protocol::*;
use serde_json::json;

fn write() -> Reply {
    call("write_file", json!({ "path": "made.txt", "content": "made\n" }))
}

#[test]
fn a_task_is_answered_as_text() {
    let bed = Bed::new();
    let server = Server::start(vec![
        call("read_file", json!({ "path": "notes.txt" })),
        Reply::Text("It has \u{1b}[31mtwo\u{1b}[0m lines."),
    ]);
    let ran = bed.run_at(&server, &["How many lines?"]).exits(0);
    for words in [
        "You: How many lines?",
        "── Iteration 1 of 25",
        "✓ Read notes.txt  2 lines",
        "── Iteration 2 of 25",
        "It has ␛[31mtwo␛[0m lines.",
        "Completed: 2 iterations, 1 call, 0 files changed",
    ] {
        assert!(ran.out.contains(words), "{words}: {}", ran.out);
    }
    assert!(!ran.out.contains('\u{1b}'), "{:?}", ran.out);
    assert!(
        ran.err.contains(&format!("--resume {}", bed.session())),
        "{}",
        ran.err
    );
    let first: serde_json::Value = serde_json::from_str(&server.bodies()[0]).unwrap();
    assert_eq!(first["model"], "m");
}

#[test]
fn json_lines_are_the_events_from_the_first_without_a_gap() {
    let bed = Bed::new();
    let server = Server::start(vec![write(), Reply::Text("Done.")]);
    let ran = bed
        .run_at(&server, &["--format", "jsonl", "--approve", "edits", "make it"])
        .exits(0);
    let events = ran.events();
    assert!(matches!(
        &events[0].msg,
        EventMsg::SessionCreated {
            version: PROTOCOL_VERSION,
            ..
        }
    ));
    assert_gapless(&events, 0);
    let last = events.last().unwrap();
    assert!(
        matches!(
            &last.msg,
            EventMsg::TurnChanged {
                status: TurnStatus::Completed,
                ..
            }
        ),
        "{last:?}"
    );
    assert!(
        events
            .iter()
            .any(|event| matches!(event.msg, EventMsg::ItemDelta { .. }))
    );
    assert_eq!(bed.read("made.txt").as_deref(), Some("made\n"));
    assert_eq!(ran.err, "");
}

#[test]
fn an_approval_that_nobody_can_give_waits_for_the_resume() {
    let bed = Bed::new();
    let server = Server::start(vec![write(), Reply::Text("Done.")]);
    let ran = bed.run_at(&server, &["--format", "jsonl", "make it"]).exits(4);
    assert!(
        ran.err.contains("made.txt") && ran.err.contains("--resume"),
        "{}",
        ran.err
    );
    assert_eq!(bed.read("made.txt"), None);
    let last = assert_gapless(&ran.events(), 0);

    let session = bed.session();
    let again = bed
        .run_at(&server, &["--resume", &session, "--format", "jsonl"])
        .exits(4);
    let last = assert_gapless(&again.events(), last);
    let end = bed
        .run_at(
            &server,
            &["--resume", &session, "--format", "jsonl", "--approve", "all"],
        )
        .exits(0);
    assert_gapless(&end.events(), last);
    assert_eq!(bed.read("made.txt").as_deref(), Some("made\n"));
    assert_eq!(server.bodies().len(), 2, "nothing was asked twice");
}

#[test]
fn the_model_hears_why_a_mode_rejects() {
    for (mode, write_allowed) in [("reads", false), ("edits", true), ("never", false), ("all", true)] {
        let bed = Bed::new();
        let server = Server::start(vec![
            write(),
            call("run_command", json!({ "command": "touch ran.txt" })),
            Reply::Text("Done."),
        ]);
        bed.run_at(&server, &["--approve", mode, "make it"]).exits(0);
        let reason = format!("not allowed in this run (--approve {mode})");
        let heard: Vec<bool> = server
            .bodies()
            .iter()
            .map(|body| body.contains(&reason))
            .collect();
        assert_eq!(heard, [false, !write_allowed, mode != "all"], "{mode}");
        assert_eq!(bed.read("made.txt").is_some(), write_allowed, "{mode}");
        assert_eq!(bed.read("ran.txt").is_some(), mode == "all", "{mode}");
    }
}

#[test]
fn a_question_is_skipped_or_ends_the_run() {
    let question = || {
        call(
            "ask_question",
            json!({ "question": "Red or blue?", "options": ["Red", "Blue"] }),
        )
    };
    let bed = Bed::new();
    let server = Server::start(vec![question(), Reply::Text("Red then.")]);
    let ran = bed.run_at(&server, &["paint it"]).exits(4);
    assert!(ran.err.contains("Red or blue?"), "{}", ran.err);
    let session = bed.session();
    bed.run_at(&server, &["--resume", &session, "--approve", "never"])
        .exits(0);
    assert!(
        server.bodies()[1].contains("decide yourself"),
        "{}",
        server.bodies()[1]
    );
}

#[test]
fn a_limit_pauses_and_a_resume_raises_it() {
    let bed = Bed::new();
    let read = |n: u32| call("read_file", json!({ "path": "notes.txt", "first_line": n }));
    let server = Server::start(vec![read(1), read(2), Reply::Text("Done.")]);
    let ran = bed.run_at(&server, &["--max-iterations", "1", "look"]).exits(3);
    assert!(ran.err.contains("1 of 1 iterations are used."), "{}", ran.err);
    let session = bed.session();
    let ran = bed.run_at(&server, &["--resume", &session]).exits(3);
    assert!(ran.out.contains("Iteration 2 of 2"), "{}", ran.out);
    let ran = bed
        .run_at(&server, &["--resume", &session, "--max-iterations", "5"])
        .exits(0);
    assert!(ran.out.contains("Iteration 3 of 7"), "{}", ran.out);
    let ran = bed.run_at(&server, &["--resume", &session]).exits(2);
    assert!(ran.err.contains("Say what should be done next"), "{}", ran.err);
    bed.run_at(&server, &["--resume", &session, "and now?"]).exits(0);
}

#[test]
fn an_endless_repetition_pauses() {
    let bed = Bed::new();
    let server = Server::start(vec![call("read_file", json!({ "path": "notes.txt" }))]);
    let ran = bed.run_at(&server, &["look"]).exits(3);
    assert!(ran.err.contains("repeats"), "{}", ran.err);
}

#[test]
fn a_session_of_an_unconfigured_server_needs_its_address_again() {
    let bed = Bed::new();
    let server = Server::start(vec![Reply::Text("Done.")]);
    bed.run_at(&server, &["look"]).exits(0);
    let session = bed.session();
    let ran = bed.run(&["run", "--resume", &session, "more"]).exits(2);
    assert!(ran.err.contains("--base-url"), "{}", ran.err);
}

#[test]
fn role_plan_changes_nothing() {
    let bed = Bed::new();
    let server = Server::start(vec![write(), Reply::Text("Planned.")]);
    bed.run_at(&server, &["--role", "plan", "--approve", "all", "make it"])
        .exits(0);
    assert_eq!(bed.read("made.txt"), None);
}

#[test]
fn the_demo_runs_to_its_limit_and_on_to_its_end() {
    let bed = Bed::new();
    let ran = bed
        .run(&[
            "run",
            "--provider",
            "demo",
            "--approve",
            "all",
            "--format",
            "jsonl",
        ])
        .exits(3);
    let events = ran.events();
    let last = assert_gapless(&events, 0);
    let laid_out = ran
        .err
        .lines()
        .next()
        .unwrap()
        .strip_prefix("The sample project is in ")
        .unwrap();
    let program = std::path::Path::new(laid_out).join(if cfg!(windows) { "basket.ps1" } else { "basket.sh" });
    let text = std::fs::read_to_string(program).unwrap();
    assert!(text.contains("discount / 100"), "{text}");
    let session = bed.session();
    let end = bed
        .run(&[
            "run",
            "--resume",
            &session,
            "--approve",
            "all",
            "--format",
            "jsonl",
        ])
        .exits(0);
    assert_gapless(&end.events(), last);
}

#[test]
fn a_reader_that_goes_away_is_no_panic() {
    let bed = Bed::new();
    let server = Server::start(vec![write(), Reply::Text("Done.")]);
    let mut child = bed
        .command_at(&server, &["--approve", "all", "make it"])
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let ran = crate::bed::finished(child).exits(130);
    assert!(!ran.err.contains("panicked"), "{}", ran.err);
    let mut help = bed.command(&["run", "--help"]).spawn().unwrap();
    drop(help.stdout.take());
    crate::bed::finished(help).exits(0);
}

#[test]
fn sessions_are_listed_by_folder() {
    let bed = Bed::new();
    let server = Server::start(vec![Reply::Text("Done.")]);
    bed.run_at(&server, &["look \u{1b}[2J around"]).exits(0);
    std::fs::create_dir(bed.path("other")).unwrap();
    let all = bed.run(&["sessions"]).exits(0);
    assert!(
        all.out.contains("look ␛[2J around") && all.out.contains("completed"),
        "{}",
        all.out
    );
    let here = bed.run(&["sessions", "--project", "."]).exits(0);
    assert_eq!(here.out, all.out);
    let other = bed.path("other");
    let other = bed
        .run(&["sessions", "--project", other.to_str().unwrap()])
        .exits(0);
    assert!(other.out.starts_with("No sessions"), "{}", other.out);
}
