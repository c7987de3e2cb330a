//! Commands that go on in the background: handed over, read, ended, and gone.

use crate::support::Project;
use paddock_protocol::*;
use paddock_tools::*;
use serde_json::json;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub async fn all(confined: bool) {
    a_server_and_its_child_are_gone_after_its_end(confined).await;
    println!("a_server_and_its_child_are_gone_after_its_end ... ok");
    an_early_end_is_an_ordinary_result().await;
    println!("an_early_end_is_an_ordinary_result ... ok");
    a_running_command_goes_on_without_a_gap().await;
    println!("a_running_command_goes_on_without_a_gap ... ok");
    an_end_by_itself_is_told().await;
    println!("an_end_by_itself_is_told ... ok");
    only_so_many_and_all_end_with_their_owner().await;
    println!("only_so_many_and_all_end_with_their_owner ... ok");
    if confined {
        what_would_run_later_is_moved_away_at_the_end().await;
        println!("what_would_run_later_is_moved_away_at_the_end ... ok");
    }
}

/// A number of seconds that no other process of this machine sleeps for.
fn marker() -> String {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let next = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("4242.{}{next:03}", std::process::id())
}

/// How many processes of this machine sleep for it.
fn sleepers(marker: &str) -> usize {
    let output = std::process::Command::new("ps")
        .args(["-A", "-ww", "-o", "args="])
        .output()
        .unwrap();
    let wanted = format!("sleep {marker}");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().filter(|line| line.trim() == wanted).count()
}

async fn until(limit: Duration, mut test: impl FnMut() -> bool) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < limit {
        if test() {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    test()
}

fn process_of(output: &CallOutput) -> ProcessId {
    match &output.facts {
        Some(OutputFacts::Background { process }) => process.clone(),
        other => panic!("{other:?}: {}", output.text),
    }
}

fn ends(project: &Project) -> Vec<(ProcessId, ProcessEnd)> {
    let changes = project.process_changes.lock().unwrap();
    let end = |change: &ProcessChange| match change {
        ProcessChange::Ended { process, end } => Some((process.clone(), *end)),
        ProcessChange::Started(_) => None,
    };
    changes.iter().filter_map(end).collect()
}

async fn a_server_and_its_child_are_gone_after_its_end(confined: bool) {
    for by_tool in [false, true] {
        let project = super::project();
        let marker = marker();
        // Only a sandbox reaches a child that left its group.
        let own_session = if confined { "setsid" } else { "" };
        let command = format!(
            "trap '' TERM HUP; ({own_session} sleep {marker} &) ; sleep {marker} & echo listening; while :; do echo tick; sleep 0.1; done"
        );
        let begun = Instant::now();
        let output = project
            .run("run_command", json!({"command": command, "background": true}))
            .await
            .unwrap();
        assert!(begun.elapsed() < Duration::from_secs(4), "{:?}", begun.elapsed());
        assert!(
            output.ok
                && output.exit_code.is_none()
                && output.text.starts_with("listening\ntick\n")
                && output.text.ends_with(
                    "[goes on in the background as p1: read_output with call p1 shows its output, stop_process ends it]\n"
                ),
            "{}",
            output.text
        );
        let process = process_of(&output);
        let listed = project.cx.processes.list();
        assert_eq!(
            (listed.len(), &listed[0].id, &listed[0].command),
            (1, &process, &command)
        );
        assert_eq!(listed[0].call, project.cx.call);
        assert!(
            until(Duration::from_secs(2), || sleepers(&marker) == 2).await,
            "both run"
        );
        let live = project
            .says("read_output", json!({"call": "p1", "tail": 2}))
            .await;
        assert!(
            live.contains("\ttick\n") && live.contains("[p1 runs since "),
            "{live}"
        );
        let first = project
            .says("read_output", json!({"call": "p1", "from_line": 1, "to_line": 1}))
            .await;
        assert!(first.starts_with("1\tlistening\n"), "{first}");

        let begun = Instant::now();
        let by = if by_tool {
            let said = project.says("stop_process", json!({"process": "p1"})).await;
            assert!(
                said.starts_with("Ended p1. Its last output:\n") && said.contains("tick"),
                "{said}"
            );
            ProcessEnd::EndedByAgent
        } else {
            assert!(project.cx.processes.end(&process, ProcessEnd::EndedByPerson));
            ProcessEnd::EndedByPerson
        };
        let gone = until(Duration::from_secs(2), || sleepers(&marker) == 0).await;
        assert!(
            gone,
            "{} still run after {:?}",
            sleepers(&marker),
            begun.elapsed()
        );
        assert!(until(Duration::from_secs(2), || !ends(&project).is_empty()).await);
        assert_eq!(ends(&project), [(process.clone(), by)]);
        assert!(project.cx.processes.list().is_empty());
        assert!(
            !project.cx.processes.end(&process, ProcessEnd::EndedByPerson),
            "it is over"
        );
        let kept = project.cx.processes.output(&process).unwrap();
        assert!(
            kept.starts_with("listening\ntick\n") && kept.ends_with("[was stopped]\n"),
            "{kept}"
        );
        assert_eq!(
            project.outputs.lock().unwrap()[project.cx.call.as_str()],
            kept.as_bytes(),
            "kept on disk too"
        );
        let read = project
            .says("read_output", json!({"call": "p1", "tail": 1}))
            .await;
        assert!(read.contains("[was stopped]\n[p1 ended by "), "{read}");
        let again = project.fails("stop_process", json!({"process": "p1"})).await;
        assert_eq!(again, "No background process `p1` runs, nor any other.");
    }
}

async fn an_early_end_is_an_ordinary_result() {
    let project = super::project();
    let output = project
        .run(
            "run_command",
            json!({"command": "echo bad >&2; exit 3", "background": true}),
        )
        .await
        .unwrap();
    assert_eq!(
        (output.text.as_str(), output.exit_code),
        ("bad\n[exit code 3]\n", Some(3))
    );
    assert!(project.process_changes.lock().unwrap().is_empty());
}

async fn a_running_command_goes_on_without_a_gap() {
    let project = super::project();
    let command = "for i in $(seq 1 400); do echo \"line $i é\"; sleep 0.005; done; sleep 4242";
    let notify = Arc::clone(&project.cx.to_background);
    let call = project.run("run_command", json!({"command": command}));
    let person = async {
        let lines = || project.live.lock().unwrap().lines().count();
        assert!(until(Duration::from_secs(10), || lines() > 20).await);
        notify.notify_one();
    };
    let (output, ()) = tokio::join!(call, person);
    let output = output.unwrap();
    let process = process_of(&output);
    let shown = output
        .text
        .lines()
        .filter(|line| line.starts_with("line "))
        .count();
    assert!(shown > 10 && shown < 400, "{shown}");
    let expected: String = (1..=400).map(|n| format!("line {n} é\n")).collect();
    let whole = || project.cx.processes.output(&process).unwrap();
    assert!(until(Duration::from_secs(15), || whole().ends_with("line 400 é\n")).await);
    assert_eq!(whole(), expected, "every line once and in order");
    assert!(expected.starts_with(&*project.live.lock().unwrap()));
    project.cx.processes.end_all(ProcessEnd::Closed);
    assert!(until(Duration::from_secs(3), || !ends(&project).is_empty()).await);
    assert_eq!(ends(&project), [(process, ProcessEnd::Closed)]);
}

async fn an_end_by_itself_is_told() {
    let mut project = super::project();
    let changes = Arc::clone(&project.process_changes);
    project.cx.processes = Processes::new(Arc::new(move |change| changes.lock().unwrap().push(change)), 6);
    let output = project
        .run(
            "run_command",
            json!({"command": "sleep 1.4; echo end; exit 7", "background": true}),
        )
        .await
        .unwrap();
    assert_eq!(process_of(&output).as_str(), "p7", "ids are never used again");
    assert!(until(Duration::from_secs(5), || !ends(&project).is_empty()).await);
    assert_eq!(
        ends(&project),
        [(ProcessId::new("p7"), ProcessEnd::Exited { code: Some(7) })]
    );
    let read = project.says("read_output", json!({"call": "p7"})).await;
    assert_eq!(read, "1\tend\n2\t[exit code 7]\n[p7 ended with exit code 7]\n");
}

async fn only_so_many_and_all_end_with_their_owner() {
    let project = super::project();
    let marker = marker();
    let command = json!({"command": format!("sleep {marker}"), "background": true});
    let mut running = tokio::task::JoinSet::new();
    let tool = project.registry.get("run_command").unwrap();
    for _ in 0..MAX_PROCESSES {
        let (tool, cx, command) = (Arc::clone(tool), project.cx.clone(), command.to_string());
        running.spawn(async move { tool.run(&command, &cx).await.unwrap() });
    }
    let mut ids: Vec<String> = running
        .join_all()
        .await
        .iter()
        .map(|output| process_of(output).to_string())
        .collect();
    ids.sort_by_key(|id| id[1..].parse::<u32>().unwrap());
    let expected: Vec<String> = (1..=MAX_PROCESSES).map(|n| format!("p{n}")).collect();
    assert_eq!(ids, expected);
    assert!(project.cx.processes.is_full());
    let refused = project.fails("run_command", command).await;
    assert!(
        refused.starts_with("16 background processes run already (p1, p2, ")
            && refused.contains("not started"),
        "{refused}"
    );
    project.cx.to_background.notify_one();
    let stays = json!({"command": "sleep 0.3; echo end"});
    assert_eq!(
        project.says("run_command", stays).await,
        "end\n[exit code 0]\n",
        "no place for one more"
    );
    let unknown = project.fails("stop_process", json!({"process": "p99"})).await;
    assert!(
        unknown.contains("Running: p1 (sleep ") && unknown.contains("p16 ("),
        "{unknown}"
    );
    assert!(until(Duration::from_secs(2), || sleepers(&marker) == MAX_PROCESSES).await);
    let listed = project.cx.processes.list();
    drop(project);
    assert_eq!(listed.len(), MAX_PROCESSES);
    assert!(
        until(Duration::from_secs(4), || sleepers(&marker) == 0).await,
        "all ended"
    );
}

async fn what_would_run_later_is_moved_away_at_the_end() {
    let project = super::project();
    let command = "mkdir -p .vscode; echo '{}' > .vscode/tasks.json; echo made; sleep 4242";
    let output = project
        .run("run_command", json!({"command": command, "background": true}))
        .await
        .unwrap();
    assert!(project.path(".vscode/tasks.json").exists());
    project
        .says("remember", json!({"note": "noted while a process runs"}))
        .await;
    let process = process_of(&output);
    project.says("stop_process", json!({"process": process})).await;
    assert!(!project.path(".vscode").exists(), "it was moved away");
    let kept = project.cx.processes.output(&process).unwrap();
    assert!(kept.contains("[moved away: .vscode: "), "{kept}");
    assert!(
        project
            .text(".paddock/MEMORY.md")
            .contains("noted while a process runs"),
        "what Paddock itself wrote meanwhile stays: {kept}"
    );
}
