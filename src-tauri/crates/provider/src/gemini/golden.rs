//! Whole requests, byte for byte: the first of a session, a history with everything that is odd, images, dialects, efforts.

use super::quirks::{AnswerForm, Quirks, ThinkingForm};
use super::request::body;
use super::signature::{Place, Signature};
use crate::dialect::PromptCache;
use crate::reading::ToolNames;
use crate::{AgentPart, CallResult, Image, Message, ModelRequest, ToolSpec};
use paddock_protocol::{CallFormat, Effort, Millis, ModelFacts, Opaque, ProviderId};
use serde_json::{Value, json};

fn tools() -> Vec<ToolSpec> {
    let tool = |name: &str, properties: Value, required: Value| ToolSpec {
        name: name.into(),
        description: format!("What {name} does."),
        parameters: json!({"$schema": "x", "type": "object", "properties": properties, "required": required, "additionalProperties": false}),
    };
    let text = json!({"type": "string", "description": "A path."});
    vec![
        tool(
            "read_file",
            json!({"path": text, "limit": {"type": ["integer", "null"]}}),
            json!(["path"]),
        ),
        tool(
            "mcp.write file",
            json!({"path": text, "mode": {"const": "all"}}),
            json!(["path"]),
        ),
        tool("list_files", json!({}), json!([])),
    ]
}

fn user(text: &str) -> Message {
    Message::User {
        text: text.into(),
        images: Vec::new(),
    }
}

fn said(text: &str) -> AgentPart {
    AgentPart::Text { text: text.into() }
}

fn call(id: &str, name: &str, arguments: &str) -> AgentPart {
    AgentPart::Call {
        id: id.into(),
        name: name.into(),
        arguments: arguments.into(),
    }
}

fn result(id: &str, text: &str, ok: bool) -> CallResult {
    CallResult {
        id: id.into(),
        name: String::new(),
        text: text.into(),
        ok,
        images: Vec::new(),
    }
}

fn image(name: &str, media_type: &str) -> Image {
    Image {
        media_type: media_type.into(),
        data: "iVBORw0KGgo=".into(),
        name: name.into(),
    }
}

fn signed_by(model: &str, text: &str, place: Place, value: &str) -> AgentPart {
    let value = value.to_owned();
    AgentPart::Reasoning {
        text: text.into(),
        opaque: Some(Opaque {
            provider: ProviderId::new("p"),
            model: model.into(),
            data: Signature { place, value }.data(),
        }),
    }
}

const MODEL: &str = "gemini-3-flash-preview";

/// A result that is missing, an orphan, parallel calls, a call that could not be read, signatures of every kind, another model's.
fn messages() -> Vec<Message> {
    let signed = |text: &str, place, value: &str| signed_by(MODEL, text, place, value);
    vec![
        user("Fix it. "),
        user("Be quick."),
        Message::Agent {
            parts: vec![
                signed("I look at a.", Place::Thought, "s0"),
                said("I look "),
                signed("", Place::Text, "s1"),
                said("first.\n"),
                signed("", Place::Call(0), "s2"),
                call(
                    "function-call-1",
                    "read_file",
                    r#"{"path": "a.md", "limit": 12345678901234567890123}"#,
                ),
                call("", "mcp.write file", r#"{"path":"b"}"#),
                call("", "list_files", ""),
            ],
        },
        Message::Results {
            results: vec![
                result("", "", true),
                result("orphan", "x", true),
                result("function-call-1", "# A\n", true),
            ],
        },
        user("And the tests?"),
        Message::Agent {
            parts: vec![
                signed_by("gemini-2.5-pro", "", Place::Call(1), "foreign"),
                call("t1.i2.c1", "gone.tool", r#"{"path": "C:\U"#),
                call("t1.i2.c1", "list_files", "{}"),
            ],
        },
        Message::Results {
            results: vec![result("t1.i2.c1", "Nothing was run.", false)],
        },
        Message::Agent {
            parts: vec![
                AgentPart::Reasoning {
                    text: "Only a summary".into(),
                    opaque: None,
                },
                said("Done. \n"),
                signed("", Place::Alone, "s3"),
            ],
        },
        Message::Agent {
            parts: vec![
                said(" "),
                signed("", Place::Call(0), "lost"),
                said("Really done."),
            ],
        },
        user("Thanks."),
    ]
}

fn request(messages: Vec<Message>) -> ModelRequest {
    ModelRequest {
        model: MODEL.into(),
        system: "Be brief.\n".into(),
        messages,
        tools: tools().into(),
        format: CallFormat::Native,
        facts: ModelFacts::default().into(),
        effort: None,
        max_output: Some(8_000),
        silence: Millis::seconds(1),
        record: None,
        asked: None,
    }
}

fn bytes(request: &ModelRequest, quirks: &Quirks) -> String {
    let system = PromptCache::default().prompt(request);
    let names = ToolNames::new(&request.tools);
    let body = body(&ProviderId::new("p"), request, &system, &names, quirks).unwrap();
    String::from_utf8(body.to_vec()).unwrap()
}

fn written(request: &ModelRequest, quirks: &Quirks) -> Value {
    serde_json::from_str(&bytes(request, quirks)).unwrap()
}

#[test]
fn whole_requests() {
    let first = request(vec![user("Fix it.")]);
    insta::assert_snapshot!("first", pretty(&written(&first, &Quirks::default())));
    let later = request(messages());
    insta::assert_snapshot!("later", pretty(&written(&later, &Quirks::default())));
    // Arguments stay as they were written, also where a number is too large for anyone.
    assert!(
        bytes(&later, &Quirks::default())
            .contains(r#""args":{"path": "a.md", "limit": 12345678901234567890123}"#)
    );
    let older = ModelRequest {
        model: "gemini-2.5-pro".into(),
        ..request(messages())
    };
    insta::assert_snapshot!(
        "older_model",
        pretty(&written(&older, &Quirks::default())["contents"])
    );
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap()
}

fn with_images() -> Vec<Message> {
    let mut shot = result("a", "A picture.", true);
    shot.images = vec![image("shot.png", "image/png")];
    vec![
        Message::User {
            text: "What is this?".into(),
            images: vec![image("a.jpg", "image/jpeg"), image("b.gif", "image/gif")],
        },
        Message::Agent {
            parts: vec![call("a", "read_file", "{}"), call("b", "list_files", "{}")],
        },
        Message::Results {
            results: vec![shot, result("b", "none", true)],
        },
        Message::User {
            text: " ".into(),
            images: vec![image("c.webp", "image/webp")],
        },
    ]
}

#[test]
fn images_go_along_or_are_named() {
    let seeing = request(with_images());
    insta::assert_snapshot!(
        "images",
        pretty(&written(&seeing, &Quirks::default())["contents"])
    );
    let blind = ModelRequest {
        facts: ModelFacts {
            images: Some(false),
            ..ModelFacts::default()
        }
        .into(),
        ..request(with_images())
    };
    let refused = Quirks {
        no_images: true,
        ..Quirks::default()
    };
    let placeholders = written(&blind, &Quirks::default());
    assert_eq!(placeholders, written(&seeing, &refused));
    insta::assert_snapshot!("images_named", pretty(&placeholders["contents"]));
}

#[test]
fn dialects() {
    for (name, format) in [("json", CallFormat::Json), ("xml", CallFormat::Xml)] {
        let mut all = messages();
        all.extend(with_images());
        let request = ModelRequest {
            format,
            ..request(all)
        };
        let body = written(&request, &Quirks::default());
        assert!(body.get("tools").is_none());
        assert!(!body.to_string().contains("thoughtSignature"));
        insta::assert_snapshot!(format!("dialect_{name}"), readable(&body));
    }
}

/// Every text as it stands there.
fn readable(body: &Value) -> String {
    let mut out = format!("{}\n", body["generationConfig"]);
    let system = &body["systemInstruction"]["parts"];
    for content in body["contents"].as_array().unwrap() {
        out += &format!("=== {}\n", content["role"].as_str().unwrap());
        for part in content["parts"].as_array().unwrap() {
            out += &match part["text"].as_str() {
                Some(text) => format!("{text}\n"),
                None => format!("--- {part}\n"),
            };
        }
    }
    assert!(
        system[0]["text"]
            .as_str()
            .unwrap()
            .starts_with("Be brief.\n\n# Tools")
    );
    out
}

#[test]
fn efforts() {
    let mut out = String::new();
    for model in [
        "gemini-2.0-flash",
        "gemini-2.5-flash",
        "gemini-2.5-pro",
        "gemini-3-flash",
        "gemini-3-pro",
    ] {
        for effort in [
            None,
            Some(Effort::Minimal),
            Some(Effort::Low),
            Some(Effort::Medium),
            Some(Effort::High),
        ] {
            let request = ModelRequest {
                model: model.into(),
                effort,
                ..request(vec![user("Hi")])
            };
            let config = written(&request, &Quirks::default())["generationConfig"].take();
            out += &format!("{model} {effort:?}: {config}\n");
        }
    }
    insta::assert_snapshot!("efforts", out);
}

#[test]
fn what_was_learnt_changes_the_request() {
    let quirks = Quirks {
        thinking: ThinkingForm::None,
        no_ids: true,
        no_signatures: true,
        stand_ins: true,
        no_system: true,
        no_max_output: true,
        plain_schemas: true,
        ..Quirks::default()
    };
    let learnt = ModelRequest {
        model: "house-model".into(),
        ..request(messages())
    };
    let body = written(&learnt, &quirks);
    let mut fields: Vec<&String> = body.as_object().unwrap().keys().collect();
    fields.sort();
    assert_eq!(fields, ["contents", "tools"]);
    let text = body.to_string();
    assert!(
        !text.contains("\"id\"") && !text.contains("nullable") && !text.contains("s2"),
        "{text}"
    );
    assert_eq!(text.matches("skip_thought_signature_validator").count(), 2);
    assert!(
        body["contents"][0]["parts"][0]["text"]
            .as_str()
            .unwrap()
            .starts_with("Be brief.\n\nFix it.")
    );
    let json = ModelRequest {
        format: CallFormat::Json,
        ..learnt
    };
    assert!(written(&json, &Quirks::default())["generationConfig"]["stopSequences"].is_array());
    let no_stop = Quirks {
        no_stop: true,
        answer_form: AnswerForm::Free,
        ..quirks
    };
    assert!(written(&json, &no_stop).get("generationConfig").is_none());
}

/// The beginning of a request stays the same, byte for byte, from one iteration to the next.
#[test]
fn a_longer_history_begins_like_the_shorter() {
    let mut all = messages();
    all.extend(with_images());
    for format in [CallFormat::Native, CallFormat::Json, CallFormat::Xml] {
        let said = |length: usize| {
            let request = ModelRequest {
                format,
                ..request(all[..length].to_vec())
            };
            let bytes = bytes(&request, &Quirks::default());
            assert_eq!(bytes, self::bytes(&request, &Quirks::default()));
            let (conversation, _) = bytes.split_once(",\"generationConfig\":").unwrap();
            conversation.to_owned()
        };
        let whole = said(all.len());
        // Where a request is sent: after results or words of the user.
        for length in [1, 2, 4, 5, 7, 10, 11] {
            let part = said(length);
            let common = part
                .bytes()
                .zip(whole.bytes())
                .take_while(|(a, b)| a == b)
                .count();
            let rest = &part[common..];
            assert!(
                rest.len() <= 6 && rest.starts_with(['"', '}', ']']),
                "{length}: {rest}"
            );
        }
    }
}
