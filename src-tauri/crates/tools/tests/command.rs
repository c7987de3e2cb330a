//! `run_command` under the real confinement of this machine. The program builds its own sandboxes, so it has its own
//! `main` and its own small list of tests.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

#[path = "command/background.rs"]
mod background;
#[path = "command/checks.rs"]
mod checks;
#[path = "command/reach.rs"]
mod reach;
mod support;

use paddock_protocol::*;
use paddock_sandbox::HelperProgram;
use paddock_tools::ToolError;
use serde_json::json;
use std::time::{Duration, Instant};
use support::Project;

fn main() {
    paddock_sandbox::run_helper_if_asked();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let confined = project().cx.confinement.facts().is_confined();
        println!(
            "commands are {}",
            if confined {
                "confined"
            } else {
                "not confined on this machine"
            }
        );
        order_and_end().await;
        println!("order_and_end ... ok");
        long_output().await;
        println!("long_output ... ok");
        time_limit().await;
        println!("time_limit ... ok");
        dropping_ends_it().await;
        println!("dropping_ends_it ... ok");
        odd_arguments().await;
        println!("odd_arguments ... ok");
        background::all(confined).await;
        if confined {
            walls().await;
            println!("walls ... ok");
            reach::all().await;
            checks::all().await;
        }
    });
}

fn project() -> Project {
    Project::confined(
        &[("a.txt", "content\n"), ("sub/b.txt", "")],
        paddock_sandbox::for_this_machine(HelperProgram::current()),
    )
}

async fn order_and_end() {
    let project = project();
    let command = "echo one; echo two >&2; printf '\\033[31mred\\033[0m 10%%\\r100%%\\n'; exit 3";
    let output = project
        .run("run_command", json!({"command": command}))
        .await
        .unwrap();
    assert_eq!(output.text, "one\ntwo\n100%\n[exit code 3]\n");
    assert_eq!(
        (output.ok, output.exit_code, output.total_bytes),
        (false, Some(3), None)
    );
    assert_eq!(
        *project.live.lock().unwrap(),
        "one\ntwo\n\u{1b}[31mred\u{1b}[0m 10%\r100%\n"
    );
    let output = project
        .run(
            "run_command",
            json!({"command": "pwd; cat b.txt; ls", "folder": "sub"}),
        )
        .await
        .unwrap();
    assert!(
        output.ok && output.text.ends_with("/project/sub\nb.txt\n[exit code 0]\n"),
        "{}",
        output.text
    );
    assert!(matches!(
        output.facts,
        Some(OutputFacts::Command { ref sandbox, timed_out: false, .. }) if sandbox == "full"
    ));
    assert_eq!(
        project.says("run_command", json!({"command": "true"})).await,
        "[exit code 0]\n"
    );
    let written = project
        .run("run_command", json!({"command": "echo new > made.txt"}))
        .await
        .unwrap();
    assert!(written.ok, "{}", written.text);
    assert_eq!(project.text("made.txt"), "new\n");
}

async fn long_output() {
    let project = project();
    let output = project
        .run("run_command", json!({"command": "seq 1 40000"}))
        .await
        .unwrap();
    let total = output.total_bytes.unwrap();
    assert!(output.text.len() <= 64 * 1024 && output.text.len() > 55_000);
    assert!(output.text.starts_with("1\n2\n3\n") && output.text.ends_with("39999\n40000\n[exit code 0]\n"));
    let cut = output.text.lines().find(|line| line.starts_with('…')).unwrap();
    assert!(
        cut.ends_with("not shown; read_output with call t1.i2.c3 shows them …"),
        "{cut}"
    );
    let shown = output
        .text
        .lines()
        .filter(|line| line.parse::<u32>().is_ok())
        .count();
    assert_eq!(
        cut,
        format!(
            "… {} lines not shown; read_output with call t1.i2.c3 shows them …",
            40_000 - shown
        )
    );
    let whole: String = (1..=40_000).map(|n| format!("{n}\n")).collect();
    assert_eq!(project.outputs.lock().unwrap()["t1.i2.c3"], whole.as_bytes());
    assert_eq!(total, whole.len() as u64);
    let rest = json!({"call": "t1.i2.c3", "from_line": 20_000, "to_line": 20_001});
    assert_eq!(
        project.says("read_output", rest).await,
        "20000\t20000\n20001\t20001\n… of 40000 lines.\n"
    );
    let one_line = json!({"command": "head -c 200000 /dev/zero | tr '\\0' x; printf 'é'"});
    let output = project.run("run_command", one_line).await.unwrap();
    assert!(
        output.text.contains("xxx\n… 1 line not shown; read_output")
            && output.text.ends_with("xé\n[exit code 0]\n")
    );
}

async fn time_limit() {
    let project = project();
    let begun = Instant::now();
    let command = json!({"command": "echo begun; sleep 30", "time_limit_s": 1});
    let output = project.run("run_command", command).await.unwrap();
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    assert_eq!(
        output.text,
        "begun\n[did not end within 1 s and was ended; up to 20 s are possible]\n"
    );
    assert_eq!((output.ok, output.exit_code), (false, None));
    assert!(matches!(
        output.facts,
        Some(OutputFacts::Command { timed_out: true, .. })
    ));
    let mut project = project;
    project.cx.command_time = Millis::seconds(1);
    let late = project
        .run("run_command", json!({"command": "sleep 1.5; echo late"}))
        .await
        .unwrap();
    assert_eq!(
        late.text, "late\n[exit code 0]\n",
        "the person's limit is the loop's to ask about"
    );
    project.cx.command_time = Millis::seconds(20);
    let prepared = project
        .prepare("run_command", json!({"command": "true", "time_limit_s": 9999}))
        .await
        .unwrap();
    assert!(
        matches!(prepared.body, ApprovalBody::Command { time_limit, .. } if time_limit == Millis::seconds(20))
    );
}

async fn dropping_ends_it() {
    let project = project();
    let command = json!({"command": "echo begun > begun.txt; sleep 2; echo late > late.txt"});
    let ended = tokio::time::timeout(Duration::from_millis(800), project.run("run_command", command)).await;
    assert!(ended.is_err());
    assert_eq!(project.text("begun.txt"), "begun\n");
    tokio::time::sleep(Duration::from_millis(2_500)).await;
    assert!(!project.path("late.txt").exists(), "the command went on");
}

async fn odd_arguments() {
    let mut project = project();
    for (arguments, expected) in [
        (json!({"command": "  "}), "`command` is empty"),
        (
            json!({"command": "a\u{0}b"}),
            "`command` contains a NUL character",
        ),
        (
            json!({"command": "true", "folder": "a.txt"}),
            "`a.txt` is not a folder. Leave `folder` out to run it in the project folder.",
        ),
        (
            json!({"command": "true", "folder": "nothing"}),
            "`nothing` does not exist.",
        ),
        (
            json!({"cmd": "true"}),
            "`cmd` is not known here; known: `command`, `folder`, `time_limit_s`, `background`\n`command` is missing",
        ),
    ] {
        assert_eq!(project.fails("run_command", arguments.clone()).await, expected);
        let prepared = project.prepare("run_command", arguments).await;
        assert!(matches!(
            prepared,
            Err(ToolError::Arguments(_) | ToolError::Model(_))
        ));
    }
    let missing = project
        .run("run_command", json!({"command": "no-such-program-here"}))
        .await
        .unwrap();
    assert_eq!(missing.exit_code, Some(127));
    project.cx.read_only = true;
    project.cx.sandbox.confined = false;
    let refused = project.fails("run_command", json!({"command": "true"})).await;
    assert!(
        refused.starts_with("Commands must not change anything in this role"),
        "{refused}"
    );
}

/// What holds only where commands are confined.
async fn walls() {
    let mut project = project();
    let outside = project.outside().join("outside.txt");
    std::fs::write(&outside, "of the person").unwrap();
    let path = outside.display();
    let command = format!("cat '{path}'; echo evil > '{path}'; rm -f '{path}'; echo end");
    let text = project.says("run_command", json!({ "command": command })).await;
    assert!(text.contains("end") && !text.contains("of the person"), "{text}");
    assert_eq!(std::fs::read_to_string(&outside).unwrap(), "of the person");
    let command = json!({"command": "(sleep 60 & ); echo done"});
    let begun = Instant::now();
    let left = project.run("run_command", command).await.unwrap();
    assert!(begun.elapsed() < Duration::from_secs(10));
    assert!(
        left.ok && left.text.contains("left running: ended"),
        "{}",
        left.text
    );
    project.cx.read_only = true;
    let refused = project
        .run("run_command", json!({"command": "echo x > a.txt"}))
        .await
        .unwrap();
    assert!(!refused.ok, "{}", refused.text);
    assert_eq!(project.text("a.txt"), "content\n");
}
