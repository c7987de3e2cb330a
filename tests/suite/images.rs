//! An image that the model reads goes back to it in the next request, as each protocol writes images.

use paddock_tests::model_server::{ModelServer, Piece, status};
use paddock_tests::sessions::{Bed, calls};
use serde_json::{Value, json};

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n no more than its beginning";
const IN_BASE64: &str = "iVBORw0KGgogbm8gbW9yZSB0aGFuIGl0cyBiZWdpbm5pbmc=";

/// A whole answer: the call that reads the image, or a text.
fn answer(protocol: &str, call: bool) -> Vec<Piece> {
    let path = json!({ "path": "shot.png" });
    let body = match (protocol, call) {
        ("chat", true) => json!({ "choices": [{ "finish_reason": "tool_calls", "message": { "tool_calls": [
            { "id": "c1", "type": "function", "function": { "name": "read_file", "arguments": path.to_string() } }
        ] } }] }),
        ("chat", false) => {
            json!({ "choices": [{ "finish_reason": "stop", "message": { "content": "A picture." } }] })
        }
        ("responses", true) => json!({ "object": "response", "status": "completed", "output": [
            { "type": "function_call", "id": "fc1", "call_id": "c1", "name": "read_file", "arguments": path.to_string() }
        ] }),
        ("responses", false) => json!({ "object": "response", "status": "completed", "output": [
            { "type": "message", "id": "m1", "content": [{ "type": "output_text", "text": "A picture." }] }
        ] }),
        ("anthropic", true) => json!({ "type": "message", "stop_reason": "tool_use", "content": [
            { "type": "tool_use", "id": "toolu_1", "name": "read_file", "input": path }
        ] }),
        ("anthropic", false) => json!({ "type": "message", "stop_reason": "end_turn", "content": [
            { "type": "text", "text": "A picture." }
        ] }),
        (_, true) => {
            json!({ "candidates": [{ "finishReason": "STOP", "content": { "role": "model", "parts": [
            { "functionCall": { "name": "read_file", "args": path } }
        ] } }] })
        }
        (_, false) => {
            json!({ "candidates": [{ "finishReason": "STOP", "content": { "role": "model", "parts": [
            { "text": "A picture." }
        ] } }] })
        }
    };
    status("200 OK", "content-type: application/json\r\n", &body.to_string())
}

/// The second request of a turn in which the model reads an image.
fn second_request(protocol: &'static str, settings: Option<&Value>) -> (String, Bed) {
    let server = ModelServer::start(move |number, _| answer(protocol, number == 0)).unwrap();
    let bed = Bed::new().unwrap();
    std::fs::write(bed.project().join("shot.png"), PNG).unwrap();
    if let Some(settings) = settings {
        std::fs::create_dir_all(bed.path("home")).unwrap();
        std::fs::write(bed.path("home/settings.json"), settings.to_string()).unwrap();
    }
    let words = [
        "--provider",
        "server",
        "--protocol",
        protocol,
        "--approve",
        "reads",
        "Look at shot.png.",
    ];
    bed.run_at(&server, &words).unwrap().exits(0);
    let received = server.received();
    assert_eq!(received.len(), 2, "{protocol}");
    (received[1].body.clone(), bed)
}

#[test]
fn a_model_that_may_see_gets_the_image_in_every_protocol() {
    for (protocol, marks) in [
        ("chat", ["\"type\":\"image_url\"", "data:image/png;base64,"]),
        (
            "responses",
            ["\"type\":\"input_image\"", "data:image/png;base64,"],
        ),
        (
            "anthropic",
            ["\"type\":\"image\"", "\"media_type\":\"image/png\""],
        ),
        ("gemini", ["\"inlineData\"", "\"mimeType\":\"image/png\""]),
    ] {
        let (body, bed) = second_request(protocol, None);
        assert_eq!(body.matches(IN_BASE64).count(), 1, "{protocol}: {body}");
        for mark in marks {
            assert!(body.contains(mark), "{protocol}: no {mark} in {body}");
        }
        let (_, log) = bed.log().unwrap();
        let read = calls(&log).pop().unwrap().1;
        let output = read.output.as_ref().unwrap();
        assert_eq!(
            (output.images.len(), output.images[0].name.as_str()),
            (1, "shot.png")
        );
    }
}

#[test]
fn a_model_that_does_not_see_is_told_so() {
    let blind =
        json!({ "overrides": [{ "model": { "provider": "server", "model": "m" }, "images": false }] });
    let (body, _bed) = second_request("chat", Some(&blind));
    assert!(!body.contains(IN_BASE64), "{body}");
    assert!(body.contains("You do not see images"), "{body}");
}
