use crate::bed::{Bed, Ran};
use serde_json::{Value, json};

fn called(bed: &Bed, tool: &str, arguments: &Value) -> (Ran, Value) {
    let ran = bed.run_with_input(&["tool", "call", "--project", ".", tool], &arguments.to_string());
    assert_eq!(ran.out.lines().count(), 1, "{ran:?}");
    let result = serde_json::from_str(&ran.out).unwrap();
    (ran, result)
}

#[test]
fn the_tools_are_listed_with_their_schemas() {
    let bed = Bed::new();
    let listed = bed.run(&["tool", "list"]).exits(0);
    let json = bed.run(&["tool", "list", "--json"]).exits(0);
    let tools: Vec<Value> = serde_json::from_str(&json.out).unwrap();
    assert_eq!(listed.out.lines().count(), tools.len());
    for tool in [
        "list_files",
        "read_file",
        "write_file",
        "edit_file",
        "run_command",
        "task_completion",
    ] {
        assert!(listed.out.lines().any(|line| line.starts_with(tool)), "{tool}");
        let found = tools.iter().find(|listed| listed["name"] == tool).unwrap();
        assert_eq!(found["parameters"]["type"], "object", "{tool}");
    }
}

#[test]
fn a_call_prints_one_result() {
    let bed = Bed::new();
    let (ran, result) = called(&bed, "read_file", &json!({ "path": "notes.txt" }));
    ran.exits(0);
    assert_eq!(result["ok"], true);
    assert!(result["output"].as_str().unwrap().contains("two"), "{result}");

    let change = json!({ "path": "notes.txt", "old_text": "two", "new_text": "zwei" });
    let (ran, result) = called(&bed, "edit_file", &change);
    ran.exits(0);
    assert_eq!(result["changes"][0]["path"], "notes.txt");
    assert_eq!(bed.read("notes.txt").as_deref(), Some("one\nzwei\n"));
}

#[test]
fn a_call_that_fails_or_is_refused_says_why() {
    let bed = Bed::new();
    std::fs::create_dir_all(bed.project().join(".git/hooks")).unwrap();
    std::fs::write(bed.path("secret.txt"), "secret").unwrap();
    for (tool, arguments) in [
        ("read_file", json!({ "path": "gone.txt" })),
        ("read_file", json!({ "path": "../secret.txt" })),
        ("read_file", json!({ "file": "notes.txt" })),
        ("read_file", json!("notes.txt")),
        (
            "write_file",
            json!({ "path": ".git/hooks/post-commit", "content": "x" }),
        ),
        ("write_file", json!({ "path": "../made.txt", "content": "x" })),
        ("run_command", json!({ "command": "rm -rf /" })),
        ("ask_question", json!({ "question": "Why?" })),
    ] {
        let (ran, result) = called(&bed, tool, &arguments);
        let ran = ran.exits(1);
        assert_eq!(result["ok"], false, "{tool} {arguments}");
        assert!(
            result["error"].as_str().unwrap().len() > 10,
            "{tool} {arguments}: {result}"
        );
        assert!(result.get("output").is_none());
        assert!(!ran.out.contains("\"secret\""), "{}", ran.out);
    }
    assert!(!bed.path("made.txt").exists());
    assert!(!bed.project().join(".git/hooks/post-commit").exists());
}

#[cfg(target_os = "linux")]
#[test]
fn a_command_runs_confined_and_tells_its_exit_code() {
    let bed = Bed::new();
    let (ran, result) = called(&bed, "run_command", &json!({ "command": "echo hi; exit 3" }));
    ran.exits(1);
    assert_eq!(result["exit_code"], 3);
    assert!(result["error"].as_str().unwrap().contains("hi"), "{result}");
    let refused = json!({ "command": "echo x > /etc/paddock-outside" });
    let (ran, _) = called(&bed, "run_command", &refused);
    ran.exits(1);
    assert!(!std::path::Path::new("/etc/paddock-outside").exists());
}
