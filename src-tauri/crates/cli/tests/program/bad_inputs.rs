use crate::bed::{Bed, Reply, Server, text_of};
use std::time::{Duration, Instant};

/// Every input that cannot work: exit code 2, nothing on standard output, one line with these words on standard error.
#[test]
fn each_bad_input_gets_a_sentence_with_a_remedy() {
    let bed = Bed::new();
    let file = bed.project().join("notes.txt");
    let gone = bed.path("gone");
    let person = bed.path("person");
    std::fs::create_dir(&person).unwrap();
    let url = ["--base-url", "http://127.0.0.1:9/v1", "--model", "m"];
    let with_url = |words: &[&'static str]| [&["run"], &url[..], words].concat();
    let table: Vec<(Vec<&str>, &str)> = vec![
        (
            [&with_url(&["task"])[..], &["--project", text_of(&gone)]].concat(),
            "choose another",
        ),
        (
            [&with_url(&["task"])[..], &["--project", text_of(&file)]].concat(),
            "choose the folder it is in",
        ),
        (
            [&with_url(&["task"])[..], &["--project", text_of(&person)]].concat(),
            "Choose a smaller folder",
        ),
        (with_url(&["task", "--project", "/"]), "Choose a smaller folder"),
        (with_url(&[" \t"]), "Say in one sentence"),
        (with_url(&[]), "Say what should be done"),
        (with_url(&["two", "words"]), "Put it in quotes"),
        (
            vec!["run", "--base-url", "localhost:1234", "--model", "m", "task"],
            "Write http://localhost:1234",
        ),
        (
            vec!["run", "--base-url", "ftp://x", "--model", "m", "task"],
            "http:// or https://",
        ),
        (
            vec!["run", "--base-url", "http://127.0.0.1:9/v1", "task"],
            "--model",
        ),
        (
            with_url(&["--key-env", "NO_SUCH_KEY_VARIABLE", "task"]),
            "NO_SUCH_KEY_VARIABLE holds no key",
        ),
        (vec!["run", "--provider", "nobody", "task"], "--base-url"),
        (vec!["run", "--model", "m", "task"], "--base-url or --provider"),
        (vec!["run", "task"], "--provider demo"),
        (
            with_url(&["--approve", "maybe", "task"]),
            "ask, reads, edits, all, never",
        ),
        (with_url(&["--role", "boss", "task"]), "plan, act, admin"),
        (with_url(&["--max-iterations", "0", "task"]), "above zero"),
        (with_url(&["--max-iterations", "201", "task"]), "at most 200"),
        (with_url(&["--format", "xml", "task"]), "text, jsonl"),
        (with_url(&["--resume", "no-such-session"]), "paddock sessions"),
        (with_url(&["--resume", "../../etc"]), "paddock sessions"),
        (
            with_url(&["--resume", "x", "--project", "."]),
            "Leave out --project",
        ),
        (with_url(&["--fast", "task"]), "paddock run --help"),
        (vec!["dance"], "paddock --help"),
        (vec!["sandbox"], "paddock sandbox exec"),
        (vec!["sandbox", "exec"], "two dashes"),
        (vec!["sandbox", "exec", "ls"], "-- ls"),
        (
            vec!["sandbox", "exec", "--timeout", "-1", "--", "ls"],
            "seconds above zero",
        ),
        (
            vec!["sandbox", "exec", "--project", "/no/such", "--", "ls"],
            "choose another",
        ),
        (vec!["tool", "call"], "paddock tool list"),
        (vec!["tool", "call", "fly"], "paddock tool list"),
        (vec!["tool", "call", "read_file", "notes.txt"], "standard input"),
        (vec!["sessions", "all"], "'all'"),
    ];
    for (words, remedy) in table {
        let ran = bed.run(&words).exits(2);
        assert!(ran.err.contains(remedy), "{words:?}: {}", ran.err);
        assert_eq!(ran.err.lines().count(), 1, "{words:?}: {}", ran.err);
        assert_eq!(ran.out, "", "{words:?}");
    }
    let sessions = bed.run(&["sessions"]).exits(0);
    assert!(sessions.out.starts_with("No sessions yet"), "{}", sessions.out);
}

#[test]
fn a_data_folder_that_cannot_be_used_is_named() {
    let bed = Bed::new();
    std::fs::write(bed.path("home"), "a file").unwrap();
    let ran = bed.run(&["run", "--provider", "demo"]).exits(1);
    assert!(ran.err.contains("PADDOCK_HOME"), "{}", ran.err);
}

/// What the server refuses: exit code 5 and a sentence, and the session can go on.
#[test]
fn each_refusal_of_a_server_gets_a_sentence() {
    let wrong_key = r#"{"error":{"message":"Incorrect API key provided","type":"invalid_request_error","code":"invalid_api_key"}}"#;
    let no_model = r#"{"error":{"message":"The model `m` does not exist","code":"model_not_found"}}"#;
    for (status, body, word) in [(401, wrong_key, "key"), (404, no_model, "model")] {
        let bed = Bed::new();
        let server = Server::start(vec![Reply::Status(status, body)]);
        let ran = bed
            .command_at(&server, &["--key-env", "TEST_KEY", "task"])
            .env("TEST_KEY", "sk-not-a-real-key-4711")
            .output()
            .map(crate::bed::Ran::of)
            .unwrap()
            .exits(5);
        assert!(ran.err.contains(word), "{}", ran.err);
        assert!(ran.err.contains("--resume"), "{}", ran.err);
        assert!(!format!("{ran:?}").contains("sk-not-a-real"), "{ran:?}");
    }
}

#[test]
fn no_network_is_said_after_the_retries() {
    let bed = Bed::new();
    let port = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let url = format!("http://127.0.0.1:{port}/v1");
    let ran = bed
        .run(&["run", "--base-url", &url, "--model", "m", "task"])
        .exits(5);
    assert!(ran.out.contains("Trying again"), "{}", ran.out);
    assert!(ran.err.lines().next().unwrap().len() > 40, "{}", ran.err);
}

#[test]
fn help_and_version_come_at_once() {
    let bed = Bed::new();
    let version = bed.run(&["--version"]).exits(0);
    assert_eq!(version.out, concat!("paddock ", env!("CARGO_PKG_VERSION"), "\n"));
    for words in [
        &["--help"][..],
        &["run", "--help"],
        &["sandbox", "exec", "--help"],
        &["tool", "--help"],
    ] {
        assert!(bed.run(words).exits(0).out.contains("paddock"), "{words:?}");
    }
    let begun = Instant::now();
    for _ in 0..5 {
        bed.run(&["--version"]);
    }
    assert!(begun.elapsed() < Duration::from_secs(1), "{:?}", begun.elapsed());
    assert!(!bed.path("home").exists(), "asking for help wrote something");
}
