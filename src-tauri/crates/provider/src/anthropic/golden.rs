//! Whole requests, byte for byte: the first with tools, one after calls, with reasoning, images, dialects and efforts.

use super::quirks::Quirks;
use super::request::body;
use super::sealed::Sealed;
use crate::dialect::PromptCache;
use crate::reading::ToolNames;
use crate::{AgentPart, CallResult, Image, Message, ModelRequest, ToolSpec};
use paddock_protocol::{CallFormat, Effort, Millis, ModelFacts, Opaque, ProviderId};
use serde_json::{Value, json};

fn tools() -> Vec<ToolSpec> {
    let tool = |name: &str, properties: Value, required: Value| ToolSpec {
        name: name.into(),
        description: format!("What {name} does."),
        parameters: json!({"type": "object", "properties": properties, "required": required}),
    };
    let text = json!({"type": "string"});
    vec![
        tool("read_file", json!({"path": text}), json!(["path"])),
        tool("mcp.server/list files", json!({}), json!([])),
    ]
}

pub(super) fn user(text: &str) -> Message {
    Message::User {
        text: text.into(),
        images: Vec::new(),
    }
}

pub(super) fn said(text: &str) -> AgentPart {
    AgentPart::Text { text: text.into() }
}

pub(super) fn call(id: &str, name: &str, arguments: &str) -> AgentPart {
    AgentPart::Call {
        id: id.into(),
        name: name.into(),
        arguments: arguments.into(),
    }
}

pub(super) fn result(id: &str, text: &str, ok: bool) -> CallResult {
    CallResult {
        id: id.into(),
        name: String::new(),
        text: text.into(),
        ok,
        images: Vec::new(),
    }
}

pub(super) fn opaque(model: &str, sealed: &Sealed) -> Opaque {
    Opaque {
        provider: ProviderId::new("p"),
        model: model.into(),
        data: sealed.written(),
    }
}

pub(super) fn thought(text: &str, model: &str, signature: &str) -> AgentPart {
    let signature = signature.to_owned();
    AgentPart::Reasoning {
        text: text.into(),
        opaque: Some(opaque(model, &Sealed::Thinking { signature })),
    }
}

pub(super) fn redacted(model: &str, data: &str) -> AgentPart {
    let data = data.to_owned();
    AgentPart::Reasoning {
        text: String::new(),
        opaque: Some(opaque(model, &Sealed::RedactedThinking { data })),
    }
}

fn image(name: &str) -> Image {
    Image {
        media_type: "image/png".into(),
        data: "iVBORw0KGgo=".into(),
        name: name.into(),
    }
}

const MODEL: &str = "claude-sonnet-4-5";

pub(super) fn request(messages: Vec<Message>) -> ModelRequest {
    ModelRequest {
        model: MODEL.into(),
        system: "Be brief.\n".into(),
        messages,
        tools: tools().into(),
        format: CallFormat::Native,
        facts: ModelFacts {
            output: Some(64_000),
            ..ModelFacts::default()
        }
        .into(),
        effort: None,
        max_output: None,
        silence: Millis::seconds(1),
        record: None,
        asked: None,
    }
}

pub(super) fn written_with(request: &ModelRequest, quirks: &Quirks) -> Value {
    let system = PromptCache::default().prompt(request);
    let names = ToolNames::new(&request.tools);
    let write = || {
        body(&ProviderId::new("p"), request, &system, &names, quirks)
            .unwrap()
            .0
    };
    let bytes = write();
    assert_eq!(bytes, write());
    serde_json::from_slice(&bytes).unwrap()
}

pub(super) fn written(request: &ModelRequest) -> Value {
    written_with(request, &Quirks::default())
}

/// Calls, results and reasoning, with everything that is odd in them.
fn worked() -> Vec<Message> {
    vec![
        user("Fix it."),
        Message::Agent {
            parts: vec![
                thought("I look\nfirst. ", MODEL, "EqQB=="),
                redacted(MODEL, "EmwKAhgB"),
                said("I look first.\n"),
                call(
                    "toolu_01A",
                    "read_file",
                    r#"{"path": "a.md", "id":12345678901234567890123}"#,
                ),
                call("t1.i1.c2", "mcp.server/list files", ""),
                call("toolu_01A", "gone.tool", r#"{"half"#),
            ],
        },
        Message::Results {
            results: vec![
                result("t1.i1.c2", "", true),
                result("toolu_01A", "# A", true),
                result("other", "orphan", true),
            ],
        },
        user("And the tests?"),
        Message::Agent {
            parts: vec![call("d", "read_file", "{}")],
        },
        Message::Results {
            results: vec![result("d", "No such file.", false)],
        },
    ]
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap()
}

#[test]
fn a_first_request_with_tools() {
    insta::assert_snapshot!(
        "first",
        pretty(&written(&request(vec![user("Hi"), user("there")])))
    );
}

#[test]
fn a_request_after_calls() {
    let mut request = request(worked());
    request.effort = Some(Effort::Medium);
    insta::assert_snapshot!("after_calls", pretty(&written(&request)));
    let names = ToolNames::new(&request.tools);
    let (bytes, _) = body(&ProviderId::new("p"), &request, "", &names, &Quirks::default()).unwrap();
    let arguments = r#""input":{"path": "a.md", "id":12345678901234567890123}"#;
    assert!(
        String::from_utf8_lossy(&bytes).contains(arguments),
        "as they were written"
    );
}

#[test]
fn images_and_their_placeholders() {
    let messages = || {
        vec![
            Message::User {
                text: "What is this?".into(),
                images: vec![image("photo.png")],
            },
            Message::Agent {
                parts: vec![call("a", "read_file", "{}")],
            },
            Message::Results {
                results: vec![CallResult {
                    images: vec![image("shot.png")],
                    ..result("a", "A picture:", true)
                }],
            },
        ]
    };
    let seeing = written(&request(messages()))["messages"].take();
    let mut in_text = request(messages());
    in_text.format = CallFormat::Json;
    let in_text = written(&in_text)["messages"].take();
    let mut request = request(messages());
    request.facts = ModelFacts {
        images: Some(false),
        ..ModelFacts::default()
    }
    .into();
    let blind = written(&request)["messages"].take();
    insta::assert_snapshot!(
        "images",
        pretty(&json!({"seeing": seeing, "in_text": in_text, "blind": blind}))
    );
}

#[test]
fn dialects() {
    for (name, format) in [("json", CallFormat::Json), ("xml", CallFormat::Xml)] {
        let mut request = request(worked());
        request.format = format;
        let mut body = written(&request);
        // The prompt has golden files of its own.
        let system = body["system"][0]["text"].take();
        let system = system.as_str().unwrap();
        assert!(system.starts_with("Be brief.\n\n# Tools\n"), "{system}");
        insta::assert_snapshot!(format!("dialect_{name}"), pretty(&body));
    }
}

#[test]
fn every_effort_in_both_manners() {
    let efforts = [
        None,
        Some(Effort::Minimal),
        Some(Effort::Low),
        Some(Effort::Medium),
        Some(Effort::High),
    ];
    let mut all = Vec::new();
    for model in [MODEL, "claude-opus-4-8", "claude-fable-5"] {
        for effort in efforts {
            let mut request = request(vec![user("Hi")]);
            request.model = model.into();
            request.effort = effort;
            let mut body = written(&request);
            let fields = body.as_object_mut().unwrap();
            fields.retain(|field, _| !matches!(field.as_str(), "messages" | "tools" | "system"));
            assert!(!fields.contains_key("temperature"));
            all.push(json!([format!("{effort:?}"), body]));
        }
    }
    insta::assert_snapshot!("efforts", pretty(&Value::Array(all)));
}

/// Texts of the content, calls as `+id`, results as `=id`, reasoning in brackets.
pub(super) fn outline(body: &Value) -> Vec<String> {
    let block = |block: &Value| {
        let text = |field: &str| block[field].as_str().unwrap_or_default().to_owned();
        match text("type").as_str() {
            "text" => text("text"),
            "tool_use" => format!("+{}", text("id")),
            "tool_result" => format!("={}", text("tool_use_id")),
            "thinking" => format!("[{}]", text("thinking")),
            other => format!("[{other}]"),
        }
    };
    let line = |message: &Value| {
        let blocks: Vec<String> = message["content"].as_array().unwrap().iter().map(block).collect();
        format!("{}: {}", message["role"].as_str().unwrap(), blocks.join(" | "))
    };
    body["messages"].as_array().unwrap().iter().map(line).collect()
}

#[test]
fn reasoning_of_an_answer_goes_back_whole_or_not_at_all() {
    let agent = |parts: Vec<AgentPart>| Message::Agent { parts };
    let read = |id: &str| call(id, "read_file", "{}");
    let results = |id: &str| Message::Results {
        results: vec![result(id, "x", true)],
    };
    let unsigned = || thought("no", MODEL, "");
    let told = AgentPart::Reasoning {
        text: "from tags".into(),
        opaque: None,
    };
    for (name, bad, kept) in [
        ("another model", thought("no", "claude-opus-4-8", "S"), false),
        ("unsigned", unsigned(), false),
        ("not the provider's", told, false),
        ("all well", thought("yes", MODEL, "S"), true),
    ] {
        let messages = vec![
            user("One"),
            agent(vec![thought("before", MODEL, "S"), said("Done.")]),
            user("Two"),
            agent(vec![thought("first", MODEL, "S"), read("a")]),
            results("a"),
            agent(vec![bad, read("b")]),
            results("b"),
            agent(vec![thought("third", MODEL, "S"), read("c")]),
            results("c"),
        ];
        let lines = outline(&written(&request(messages))).join("\n");
        assert!(lines.contains("[before] | Done."), "{name}: {lines}");
        assert_eq!(
            (lines.contains("[first]"), lines.contains("[third]")),
            (kept, kept),
            "{name}: {lines}"
        );
    }
    // Nothing follows the reasoning: it cannot be sent, and without it the answer is empty.
    let alone = vec![user("One"), agent(vec![thought("only", MODEL, "S")]), user("Two")];
    assert_eq!(outline(&written(&request(alone))), ["user: One | Two"]);

    let quirks = Quirks {
        unsigned: true,
        ..Quirks::default()
    };
    let echoed = request(vec![
        user("One"),
        agent(vec![unsigned(), read("a")]),
        results("a"),
    ]);
    assert!(outline(&written_with(&echoed, &quirks))[1].starts_with("assistant: [no]"));
}

#[test]
fn a_budget_is_given_only_where_the_answer_began_with_reasoning() {
    let results = || Message::Results {
        results: vec![result("a", "x", true)],
    };
    let read = || call("a", "read_file", "{}");
    for (parts, thinks) in [
        (vec![read()], false),
        (vec![said("I look."), read()], false),
        (vec![thought("Hm", MODEL, "S"), read()], true),
        (vec![redacted(MODEL, "D"), read()], true),
        (vec![thought("Hm", "claude-opus-4-1", "S"), read()], false),
    ] {
        let messages = vec![
            user("Go"),
            Message::Agent { parts },
            results(),
            user("Three are left."),
        ];
        let mut request = request(messages);
        request.effort = Some(Effort::Low);
        let body = written(&request);
        assert_eq!(body.get("thinking").is_some(), thinks, "{:#}", body["messages"]);
    }
}

#[test]
fn the_conversation_ends_with_the_user_where_it_must() {
    let messages = || {
        vec![
            user("Go"),
            Message::Agent {
                parts: vec![said("Half an ans")],
            },
        ]
    };
    let mut request = request(messages());
    assert_eq!(
        outline(&written(&request)),
        ["user: Go", "assistant: Half an ans"]
    );
    request.model = "claude-opus-4-8".into();
    assert_eq!(outline(&written(&request))[2], "user: Go on.");
}

#[test]
fn calls_of_the_history_keep_their_tools_when_none_are_offered() {
    let mut request = request(worked());
    request.tools = Vec::new().into();
    let body = written(&request);
    let names: Vec<&str> = body["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["read_file", "mcp_server_list_files", "gone_tool"]);
    assert_eq!(body["tool_choice"], json!({"type": "none"}));
    request.messages = vec![user("Hi")];
    let body = written(&request);
    assert!(body.get("tools").is_none() && body.get("tool_choice").is_none());
}

#[test]
fn what_was_learnt_changes_the_request() {
    let quirks = Quirks {
        no_cache: true,
        no_stop: true,
        plain_schemas: true,
        no_images: true,
        ..Quirks::default()
    };
    let mut request = request(vec![Message::User {
        text: String::new(),
        images: vec![image("a.png")],
    }]);
    request.format = CallFormat::Xml;
    let body = written_with(&request, &quirks);
    assert!(!body.to_string().contains("cache_control") && body.get("stop_sequences").is_none());
    assert!(body["system"].as_str().unwrap().starts_with("Be brief."));
    request.format = CallFormat::Native;
    let body = written_with(&request, &quirks);
    assert_eq!(
        outline(&body),
        ["user: [Image a.png: this model does not see images]"]
    );
}

/// The beginning of a request stays the same from one iteration to the next, but for the marks, which move.
#[test]
fn a_longer_history_begins_like_the_shorter() {
    let all = worked();
    let prefix = |length: usize| {
        let mut body = written(&request(all[..length].to_vec()))["messages"].take();
        for message in body.as_array_mut().unwrap() {
            for block in message["content"].as_array_mut().unwrap() {
                block.as_object_mut().unwrap().shift_remove("cache_control");
            }
        }
        body.as_array().unwrap().clone()
    };
    let whole = prefix(all.len());
    for length in [1, 3, 4] {
        let part = prefix(length);
        let (last, before) = part.split_last().unwrap();
        assert_eq!(before, &whole[..before.len()]);
        let last = last["content"].as_array().unwrap();
        let longer = whole[before.len()]["content"].as_array().unwrap();
        assert_eq!(last.as_slice(), &longer[..last.len()], "{length}");
    }
}
