//! Recorded oddities of servers: raw bytes in `tests/streams/<protocol>/*.sse`, the answer expected of them in `*.json` beside.
//! Each is read in one piece, byte by byte, and cut in two at every byte: the answer must always be the same.

use super::{Decoder, ToolNames};
use crate::replay;
use crate::server::{KeyHeader, Server};
use crate::{Answer, AnswerPart, BaseUrl, CallArguments, ModelEvent, Network, ServerConfig, ToolSpec};
use paddock_protocol::{ModelError, ProviderId, ProviderKind};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

fn tools() -> Vec<ToolSpec> {
    let tool = |name: &str, properties: Value| ToolSpec {
        name: name.into(),
        description: String::new(),
        parameters: json!({"type": "object", "properties": properties}),
    };
    vec![
        tool("read_file", json!({"path": {"type": "string"}})),
        tool(
            "edit_file",
            json!({"path": {"type": "string"}, "edits": {"type": "array"}}),
        ),
        tool("list_files", json!({})),
    ]
}

fn server() -> Server {
    let config = ServerConfig {
        id: ProviderId::new("local"),
        label: "Test server".into(),
        base_url: BaseUrl::parse("http://127.0.0.1:1/v1").unwrap(),
        key: None,
        key_origin: String::new(),
        local: true,
        headers: Vec::new(),
        network: Network::default(),
    };
    Server::new(config, ProviderKind::Chat, KeyHeader::Bearer, &[])
}

/// The answer, or the error, and the events joined.
fn read<D: Decoder>(decoder: D, pieces: &[&[u8]]) -> (Result<Answer, ModelError>, Vec<ModelEvent>) {
    let replayed = replay::read(&server(), decoder, pieces);
    (replayed.answer, replayed.events)
}

/// In the form of the expectation files.
fn described(answer: &Result<Answer, ModelError>) -> Value {
    let answer = match answer {
        Ok(answer) => answer,
        Err(error) => {
            return json!({"error": error.kind, "message": error.message, "details": error.details, "retryable": error.retryable});
        }
    };
    let parts: Vec<Value> = answer
        .parts
        .iter()
        .map(|part| match part {
            AnswerPart::Text(text) => json!({"text": text}),
            AnswerPart::Reasoning { text, opaque: None } => json!({"reasoning": text}),
            AnswerPart::Reasoning {
                text,
                opaque: Some(opaque),
            } => json!({"reasoning": text, "opaque": opaque.data}),
            AnswerPart::Call(call) => match &call.arguments {
                CallArguments::Complete(arguments) => {
                    json!({"call": call.name, "id": call.server_id, "arguments": arguments})
                }
                CallArguments::Malformed { reason, raw } => {
                    json!({"malformed": call.name, "id": call.server_id, "reason": reason, "raw": raw})
                }
            },
        })
        .collect();
    let usage = answer.usage;
    json!({
        "parts": parts,
        "finish": answer.finish.0,
        "usage": if usage.estimated { json!("estimated") } else { json!([usage.input, usage.cached, usage.output, usage.reasoning]) },
    })
}

/// Everything expected is there; texts of errors and reasons need only contain the expected words.
fn fits(expected: &Value, found: &Value) -> bool {
    match (expected, found) {
        (Value::Object(expected), Value::Object(found)) => {
            expected.iter().all(|(field, expected)| {
                let found = found.get(field).unwrap_or(&Value::Null);
                match (field.as_str(), expected, found) {
                    ("message" | "details" | "reason", Value::String(words), Value::String(text)) => {
                        text.contains(words)
                    }
                    _ => fits(expected, found),
                }
            }) && (expected.contains_key("error") == found.contains_key("error"))
        }
        (Value::Array(expected), Value::Array(found)) => {
            expected.len() == found.len() && expected.iter().zip(found).all(|(a, b)| fits(a, b))
        }
        (expected, found) => expected == found,
    }
}

/// Reads every stream of a protocol in all ways; at least `least` of them. `decoder` makes a decoder for the offered tools.
pub(crate) fn check_streams<D: Decoder>(
    protocol: &str,
    least: usize,
    decoder: impl Fn(&'static [ToolSpec], &'static ToolNames) -> D,
) {
    static TOOLS: LazyLock<Vec<ToolSpec>> = LazyLock::new(tools);
    static NAMES: LazyLock<ToolNames> = LazyLock::new(|| ToolNames::new(&TOOLS));
    let read = |pieces: &[&[u8]]| read(decoder(&TOOLS, &NAMES), pieces);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/streams")
        .join(protocol);
    let mut streams: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "sse"))
        .collect();
    streams.sort();
    assert!(streams.len() >= least, "only {} streams", streams.len());
    for path in streams {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let bytes = fs::read(&path).unwrap();
        let expected = fs::read_to_string(path.with_extension("json")).unwrap();
        let expected: Value = serde_json::from_str(&expected).unwrap();
        let (answer, events) = read(&[&bytes]);
        let found = described(&answer);
        assert!(
            fits(&expected, &found),
            "{name}: expected {expected:#}\nfound {found:#}"
        );
        check_events(&name, &answer, &events);

        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        assert_eq!(
            read(&single),
            (answer.clone(), events.clone()),
            "{name} byte by byte"
        );
        // Every state between two bytes was just seen; these are the reads in two.
        let step = bytes.len().div_ceil(400).max(1);
        for cut in (0..bytes.len()).step_by(step) {
            let (first, second) = bytes.split_at(cut);
            assert_eq!(
                read(&[first, second]),
                (answer.clone(), events.clone()),
                "{name} cut at {cut}"
            );
        }
    }
}

/// A call is announced once and before its arguments; the first event is the first byte.
fn check_events(name: &str, answer: &Result<Answer, ModelError>, events: &[ModelEvent]) {
    assert_eq!(events.first(), Some(&ModelEvent::FirstByte), "{name}");
    let mut announced = Vec::new();
    for event in events {
        match event {
            ModelEvent::CallStarted { slot, .. } => {
                assert!(!announced.contains(slot), "{name}: {events:?}");
                announced.push(*slot);
            }
            ModelEvent::CallArguments { slot, .. } => assert!(announced.contains(slot), "{name}: {events:?}"),
            _ => {}
        }
    }
    for event in events {
        let text = format!("{event:?}");
        assert!(
            !text.contains("\\u{10f8") && !text.contains("\\u{10fc"),
            "{name}: half a character in {text}"
        );
        assert!(
            !name.starts_with("22-pair") || !text.contains('\u{fffd}'),
            "{name}: {text}"
        );
    }
    let Ok(answer) = answer else { return };
    let native = answer
        .parts
        .iter()
        .any(|part| matches!(part, AnswerPart::Call(call) if !call.server_id.is_empty()));
    assert!(!native || !announced.is_empty(), "{name}: calls without events");
}
