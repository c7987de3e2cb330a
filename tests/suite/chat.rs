//! Chat Completions against a server that answers byte for byte.

use std::time::Duration;

use paddock_protocol::{Event, EventMsg, ItemKind, ItemStatus, TurnStatus};
use paddock_tests::model_server::{
    ModelServer, Piece, answer, bytes, call_delta, calls, delta, status, stream_head, text, wait,
};
use paddock_tests::sessions::{self, Bed, Ran, assert_gapless, items};
use serde_json::{Value, json};

const KEY: &str = "sk-test-0123456789abcdefghijklmnopqrstuv";

fn bed() -> Bed {
    let bed = Bed::new().unwrap();
    bed.put("one.txt", "content of one\n").unwrap();
    bed.put("two.txt", "content of two\n").unwrap();
    bed
}

/// What the agent said, without what was taken back.
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

fn retries(events: &[Event]) -> usize {
    let waits = |event: &&Event| matches!(&event.msg, EventMsg::TurnChanged { status, .. } if matches!(status, TurnStatus::WaitingToRetry { .. }));
    events.iter().filter(waits).count()
}

fn done(ran: Ran) -> Vec<Event> {
    let events = ran.exits(0).events();
    assert_gapless(&events);
    events
}

/// The results in a request, in its order: the call's id and the text.
fn results(messages: &[Value]) -> Vec<(String, String)> {
    let results = messages.iter().filter(|message| message["role"] == "tool");
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    results
        .map(|message| (word(&message["tool_call_id"]), word(&message["content"])))
        .collect()
}

#[test]
fn a_text_comes_through_whatever_its_bytes() {
    let crlf = |text: &str| text.replace('\n', "\r\n").into_bytes();
    let first = crlf(&delta(
        &json!({ "role": "assistant", "content": "Grüße, " }),
        None,
    ));
    let umlaut = first.iter().position(|byte| *byte == 0xc3).unwrap() + 1;
    let body = [
        stream_head(),
        bytes(": a comment\r\n\r\n"),
        // Split within a letter and within the word `data`.
        bytes(&first[..umlaut]),
        wait(30),
        bytes(&first[umlaut..]),
        bytes("da"),
        wait(30),
        bytes(&crlf(&delta(&json!({ "content": "Welt" }), None))[2..]),
        bytes(crlf(&delta(&json!({}), Some("stop")))),
        bytes("data: [DONE]\r\n\r\n"),
        Piece::Cut,
    ];
    let server = ModelServer::scripted(vec![body.to_vec()]).unwrap();
    let events = done(bed().run_at(&server, &["say hello"]).unwrap());
    assert_eq!(said(&events), ["Grüße, Welt"]);
    let requests = server.received();
    assert_eq!(requests.len(), 1);
    assert!(
        requests[0].head.starts_with("POST /v1/chat/completions HTTP/1.1"),
        "{}",
        requests[0].head
    );
    let request = requests[0].json();
    assert_eq!(
        (&request["model"], &request["stream"]),
        (&json!("m"), &json!(true))
    );
    let last = requests[0].messages().last().cloned().unwrap();
    assert_eq!(last, json!({ "role": "user", "content": "say hello" }));
}

#[test]
fn several_calls_of_one_answer_are_answered_in_their_order() {
    // The first takes longest; arguments of two calls come interleaved.
    let parts = [
        call_delta(0, "slow", "run_command", r#"{"command":"sleep 0.3; echo "#),
        call_delta(1, "read", "read_file", r#"{"path":"#),
        json!({ "tool_calls": [{ "index": 0, "function": { "arguments": "slow-done\"}" } }] }),
        json!({ "tool_calls": [{ "index": 1, "function": { "arguments": "\"two.txt\"}" } }] }),
        call_delta(2, "gone", "read_file", r#"{"path":"no-such-file"}"#),
    ];
    let server = ModelServer::scripted(vec![answer(&parts, "tool_calls"), text("All read.")]).unwrap();
    let events = done(bed().run_at(&server, &["--approve", "all", "read all"]).unwrap());
    assert_eq!(said(&events), ["All read."]);
    let messages = server.received()[1].messages();
    let asked = messages
        .iter()
        .find(|message| message["tool_calls"].is_array())
        .unwrap();
    let ids: Vec<&Value> = asked["tool_calls"]
        .as_array()
        .unwrap()
        .iter()
        .map(|call| &call["id"])
        .collect();
    assert_eq!(ids, ["slow", "read", "gone"]);
    let results = results(&messages);
    let ids: Vec<&str> = results.iter().map(|(id, _)| id.as_str()).collect();
    assert_eq!(ids, ["slow", "read", "gone"]);
    assert!(results[0].1.contains("slow-done"), "{results:?}");
    assert!(results[1].1.contains("content of two"), "{results:?}");
    assert!(
        results[2].1.contains("Tool 'read_file' failed: ") && results[2].1.contains("tries left"),
        "{results:?}"
    );
}

#[test]
fn a_rate_limit_is_waited_for_as_long_as_it_says() {
    let busy = r#"{"error":{"message":"Rate limit reached","type":"rate_limit_error"}}"#;
    let server = ModelServer::scripted(vec![
        status("429 Too Many Requests", "retry-after: 2\r\n", busy),
        text("Now."),
    ])
    .unwrap();
    let events = done(bed().run_at(&server, &["hurry"]).unwrap());
    assert_eq!((retries(&events), said(&events)), (1, vec!["Now.".to_owned()]));
    let requests = server.received();
    assert_eq!(requests.len(), 2);
    let waited = requests[1].at - requests[0].at;
    assert!(
        waited >= Duration::from_secs(2) && waited < Duration::from_secs(10),
        "{waited:?}"
    );
    assert_eq!(requests[0].body, requests[1].body);
}

#[test]
fn a_cut_stream_is_asked_for_again_and_nothing_is_doubled() {
    let half_text = vec![
        stream_head(),
        bytes(delta(&json!({ "content": "I will wri" }), None)),
        wait(50),
        Piece::Cut,
    ];
    let write = json!({ "path": "made.txt", "content": "made once\n" });
    let half_call = vec![
        stream_head(),
        bytes(delta(
            &call_delta(0, "w1", "write_file", &write.to_string()),
            None,
        )),
        bytes("data: {\"choices\":[{\"del"),
        wait(50),
        Piece::Cut,
    ];
    let server = ModelServer::scripted(vec![
        half_text,
        calls(&[("r1", "read_file", json!({ "path": "one.txt" }))]),
        half_call,
        calls(&[("w2", "write_file", write)]),
        text("Written."),
    ])
    .unwrap();
    let bed = bed();
    let events = done(bed.run_at(&server, &["--approve", "all", "write it"]).unwrap());
    assert_eq!(
        (retries(&events), said(&events)),
        (2, vec!["Written.".to_owned()])
    );
    assert_eq!(bed.read("made.txt"), "made once\n");
    let ran: Vec<_> = sessions::calls(&events)
        .into_iter()
        .filter(|(item, _)| item.status == ItemStatus::Done)
        .collect();
    assert_eq!(ran.len(), 2, "{ran:#?}");
    let requests = server.received();
    assert_eq!(requests.len(), 5);
    for request in &requests {
        assert!(!request.body.contains("I will wri"), "{}", request.body);
        assert!(!request.body.contains("\"w1\""), "{}", request.body);
    }
    assert_eq!(results(&requests[4].messages()).len(), 2);
}

#[test]
fn malformed_arguments_are_told_in_fixed_words_with_the_tries_left() {
    let broken = |id: &str| {
        answer(
            &[call_delta(
                0,
                id,
                "write_file",
                r#"{"path": "made.txt", "content": }"#,
            )],
            "tool_calls",
        )
    };
    let wrong = calls(&[("c3", "fly", json!({ "to": "the moon" }))]);
    let server = ModelServer::scripted(vec![broken("c1"), broken("c2"), text("I give up.")]).unwrap();
    let bed = bed();
    done(bed.run_at(&server, &["--approve", "all", "write"]).unwrap());
    let told = results(&server.received()[2].messages());
    for ((id, words), (expected, left)) in told.iter().zip([("c1", 2), ("c2", 1)]) {
        assert_eq!(id, expected);
        assert!(words.starts_with("Could not read the tool call: "), "{words}");
        let end = format!(
            "Nothing was run. Send it as a function call with its arguments as one JSON object. {left} tries left."
        );
        assert!(words.ends_with(&end), "{words}");
    }
    assert_eq!((told.len(), bed.read("made.txt")), (2, String::new()));

    let server = ModelServer::scripted(vec![wrong.clone(), text("No wings.")]).unwrap();
    done(bed.run_at(&server, &["fly"]).unwrap());
    let told = &results(&server.received()[1].messages())[0].1;
    assert!(
        told.starts_with(
            "Could not read the tool call: there is no tool named 'fly'. Nothing was run. Tools: "
        ),
        "{told}"
    );

    // Not without end: a model that only sends such answers has failed.
    let server = ModelServer::scripted(vec![wrong]).unwrap();
    bed.run_at(&server, &["fly"]).unwrap().exits(5);
    assert_eq!(server.received().len(), 3);
}

/// A run against a server that refuses: exit code 5, one sentence with these words, and a way to go on.
fn refused(answer: Vec<Piece>, words: &[&str]) {
    let server = ModelServer::scripted(vec![answer]).unwrap();
    let bed = bed();
    let mut command = bed
        .run_command(
            &server.url(),
            &["--key-env", "TEST_KEY", "--provider", "Acme", "task"],
        )
        .unwrap();
    let ran = Ran::of(command.env("TEST_KEY", KEY).output().unwrap()).exits(5);
    assert_eq!(server.received().len(), 1, "a refusal is not asked for again");
    let sentence = ran.err.lines().next().unwrap();
    for word in words {
        assert!(sentence.contains(word), "{word:?} is missing: {}", ran.err);
    }
    assert!(ran.err.contains("--resume"), "{}", ran.err);
    assert_key_is_nowhere(&bed, &ran);
}

#[track_caller]
fn assert_key_is_nowhere(bed: &Bed, ran: &Ran) {
    // Also not a recognisable part of it.
    let part = &KEY[8..24];
    assert!(!ran.out.contains(part) && !ran.err.contains(part), "{ran:#?}");
    assert_eq!(bed.files_with(part).unwrap(), Vec::<std::path::PathBuf>::new());
}

#[test]
fn a_wrong_key_is_named_with_its_provider_and_a_remedy() {
    let body =
        format!(r#"{{"error":{{"message":"Incorrect API key provided: {KEY}","code":"invalid_api_key"}}}}"#);
    refused(
        status("401 Unauthorized", "content-type: application/json\r\n", &body),
        &["Acme", "key", "TEST_KEY"],
    );
}

#[test]
fn a_model_that_is_not_there_is_named() {
    let body = r#"{"error":{"message":"The model `m` does not exist","code":"model_not_found"}}"#;
    refused(
        status("404 Not Found", "content-type: application/json\r\n", body),
        &["Acme", "model", "Choose"],
    );
}

#[test]
fn a_page_for_people_is_no_model() {
    let page = "<!doctype html><html><body><h1>It works!</h1></body></html>";
    refused(
        status("200 OK", "content-type: text/html\r\n", page),
        &["http://127.0.0.1:", "/v1", "web page", "Check the address"],
    );
}

#[test]
fn no_server_is_said_with_its_address() {
    let port = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap().port()
    };
    let bed = bed();
    let url = format!("http://127.0.0.1:{port}/v1");
    let ran = Ran::of(bed.run_command(&url, &["task"]).unwrap().output().unwrap()).exits(5);
    assert!(ran.err.contains(&format!("127.0.0.1:{port}")), "{}", ran.err);
    assert_gapless(&ran.events());
}

#[test]
fn a_key_is_sent_and_kept_nowhere() {
    let server = ModelServer::scripted(vec![
        calls(&[(
            "c1",
            "run_command",
            json!({ "command": "env; cat /proc/self/environ" }),
        )]),
        calls(&[(
            "c2",
            "write_file",
            json!({ "path": "made.txt", "content": "made\n" }),
        )]),
        text("Done."),
    ])
    .unwrap();
    let bed = bed();
    let mut command = bed
        .run_command(
            &server.url(),
            &["--key-env", "TEST_KEY", "--approve", "all", "look"],
        )
        .unwrap();
    command.env("TEST_KEY", KEY).env("PADDOCK_LOG", "trace");
    let ran = Ran::of(command.output().unwrap()).exits(0);
    let authorization = format!("authorization: bearer {KEY}");
    for request in server.received() {
        assert!(
            request.head.to_lowercase().contains(&authorization),
            "{}",
            request.head
        );
        assert!(!request.body.contains(&KEY[8..24]), "{}", request.body);
    }
    assert_key_is_nowhere(&bed, &ran);
    assert_eq!(bed.read("made.txt"), "made\n");
    // The search itself finds what is there.
    bed.put("planted", &format!("x{KEY}x")).unwrap();
    assert_eq!(bed.files_with(KEY).unwrap(), [bed.project().join("planted")]);
}
