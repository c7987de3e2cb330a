//! Models in the terminal: the list of a server, and the self-test that keeps what it finds.

use paddock_protocol::{CallFormat, LinkState, ModelTest, Settings};
use paddock_tests::model_server::{ModelServer, Piece, Received, calls, status, text};
use paddock_tests::sessions::{Bed, Ran};
use serde_json::{Value, json};

fn listed() -> Vec<Piece> {
    let list = json!({ "data": [{ "id": "small", "max_model_len": 32768 }, { "id": "weak" }] });
    status("200 OK", "content-type: application/json\r\n", &list.to_string())
}

/// `small` calls the tool as often as it is asked to; `weak` only talks.
fn answer(request: &Received) -> Vec<Piece> {
    if request.head.starts_with("GET ") {
        return listed();
    }
    let sum = |id, a, b| (id, "add_numbers", json!({ "a": a, "b": b }));
    let said = request.body.contains("8 + 4");
    match request.json()["model"] == "small" && request.json()["tools"].is_array() {
        true if said => calls(&[sum("one", 17, 25), sum("two", 8, 4)]),
        true => calls(&[sum("one", 17, 25)]),
        false => text("I would add the two numbers."),
    }
}

fn ran(bed: &Bed, words: &[&str]) -> Ran {
    Ran::of(bed.command(words).unwrap().output().unwrap())
}

#[test]
fn the_models_of_a_server_are_listed_with_what_is_known() {
    let server = ModelServer::start(|_, request| answer(request)).unwrap();
    let bed = Bed::new().unwrap();
    let url = server.url();
    let table = ran(&bed, &["models", "--base-url", &url, "--provider", "own"]).exits(0);
    let rows: Vec<Vec<&str>> = table
        .out
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    assert_eq!(rows[0], ["MODEL", "WINDOW", "PRICE", "IMAGES", "CALLS"]);
    assert_eq!(
        rows[1],
        ["own/small", "32", "768", "free", "?", "?"],
        "{}",
        table.out
    );
    assert_eq!(rows[2], ["own/weak", "?", "free", "?", "?"], "{}", table.out);
    let lines = ran(
        &bed,
        &["models", "--base-url", &url, "--provider", "own", "--json"],
    )
    .exits(0);
    let first: Value = serde_json::from_str(lines.out.lines().next().unwrap()).unwrap();
    assert_eq!(
        (&first["provider"], &first["model"], &first["facts"]["window"]),
        (&json!("own"), &json!("small"), &json!(32768))
    );
}

#[test]
fn a_server_that_does_not_answer_is_named_and_the_others_are_listed() {
    let server = ModelServer::start(|_, request| answer(request)).unwrap();
    let bed = Bed::new().unwrap();
    let provider = |id: &str, url: &str| json!({ "id": id, "kind": "chat", "label": id, "base_url": url, "needs_key": false });
    let settings =
        json!({ "providers": [provider("gone", "http://127.0.0.1:9/v1"), provider("own", &server.url())] });
    std::fs::create_dir_all(bed.path("home")).unwrap();
    std::fs::write(bed.path("home/settings.json"), settings.to_string()).unwrap();
    let listed = ran(&bed, &["models"]).exits(1);
    assert!(
        listed.out.contains("own/small") && listed.out.contains("gone: Nothing answers at"),
        "{}",
        listed.out
    );
    let none = Bed::new().unwrap();
    let none = ran(&none, &["models"]).exits(2);
    assert!(none.err.contains("No server is configured yet"), "{}", none.err);
}

#[test]
fn a_model_is_tried_and_the_format_that_it_handles_is_kept() {
    let server = ModelServer::start(|_, request| answer(request)).unwrap();
    let bed = Bed::new().unwrap();
    let at = ["models", "test", "--base-url", &server.url(), "--provider", "own"];
    let tried = ran(&bed, &[&at[..], &["small"]].concat()).exits(0);
    assert!(
        tried.out.contains("native call  Calls tools by itself."),
        "{}",
        tried.out
    );
    assert!(
        tried.out.contains("Calls will be asked for as: native."),
        "{}",
        tried.out
    );

    let weak = ran(&bed, &[&at[..], &["weak", "--json"]].concat()).exits(1);
    let test: ModelTest = serde_json::from_str(&weak.out).unwrap();
    assert_eq!((test.model.model.as_str(), test.format), ("weak", None));
    assert!(
        test.links.iter().any(|link| link.state == LinkState::Bad),
        "{test:?}"
    );

    // A model that only writes its calls is asked in that way from now on.
    let writes = ModelServer::start(|_, request| {
        if request.head.starts_with("GET ") {
            return listed();
        }
        match request.json()["tools"].is_array() {
            true => text("I would add the two numbers."),
            false => text(r#"{"tool":"add_numbers","parameters":{"a":17,"b":25},"terminate":false}"#),
        }
    })
    .unwrap();
    let at = [
        "models",
        "test",
        "--base-url",
        &writes.url(),
        "--provider",
        "own",
        "small",
    ];
    let tried = ran(&bed, &at).exits(0);
    assert!(
        tried.out.contains("Calls will be asked for as: json."),
        "{}",
        tried.out
    );
    let settings: Settings =
        serde_json::from_str(&std::fs::read_to_string(bed.path("home/settings.json")).unwrap()).unwrap();
    assert_eq!(settings.formats[0].format, CallFormat::Json);
}

#[test]
fn a_model_that_is_not_named_well_is_a_usage_error() {
    let bed = Bed::new().unwrap();
    for (words, says) in [
        (&["models", "test"][..], "No model is chosen yet"),
        (&["models", "test", "small"], "PROVIDER/MODEL"),
        (&["models", "test", "a/b", "c"], "'c' was not expected"),
        (
            &["models", "test", "--base-url", "http://127.0.0.1:9/v1"],
            "Which model of",
        ),
    ] {
        let failed = ran(&bed, words).exits(2);
        assert!(failed.err.contains(says), "{words:?}: {}", failed.err);
    }
}
