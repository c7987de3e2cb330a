//! Whatever a history holds, the request that is made of it is one that the server accepts.

use super::quirks::Quirks;
use super::request::body;
use crate::reading::ToolNames;
use crate::{AgentPart, CallResult, Image, Message, ModelRequest, ToolSpec};
use paddock_protocol::{CallFormat, Effort, Millis, ModelFacts, Opaque, ProviderId};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::HashSet;

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => proptest::sample::select(vec!["", " \n", "Hi.", "Two\nlines \n", "🦊 für \"dich\"", "{}"]).prop_map(str::to_owned),
        1 => any::<String>(),
    ]
}

fn id() -> impl Strategy<Value = String> {
    let long = "x".repeat(90);
    let ids = ["", "a", "call_1", "call_1", "t1.i2.c3", "ä id/with all", &long];
    proptest::sample::select(ids.map(str::to_owned).to_vec())
}

fn name() -> impl Strategy<Value = String> {
    proptest::sample::select(vec!["read_file", "mcp.server/read file", "", "9", "größe"])
        .prop_map(str::to_owned)
}

fn images() -> impl Strategy<Value = Vec<Image>> {
    let image = text().prop_map(|name| Image {
        media_type: "image/png".into(),
        data: "iVBOR".into(),
        name,
    });
    proptest::collection::vec(image, 0..2)
}

fn part() -> impl Strategy<Value = AgentPart> {
    let data = proptest::sample::select(vec![
        r#"{"type":"reasoning","id":"rs_1","encrypted_content":"gA==","summary":[]}"#,
        r#"{"type":"reasoning","id":"rs_1","summary":[]}"#,
        "\"reasoning_content\"",
        "{",
    ]);
    let opaque = (data, proptest::sample::select(vec!["m", "n"])).prop_map(|(data, model)| Opaque {
        provider: ProviderId::new("p"),
        model: model.into(),
        data: data.into(),
    });
    let arguments = proptest::sample::select(vec!["", "{}", "{\"path\":\"a\"}", "[1]", "{\"half", "null"]);
    prop_oneof![
        text().prop_map(|text| AgentPart::Text { text }),
        (text(), proptest::option::of(opaque))
            .prop_map(|(text, opaque)| AgentPart::Reasoning { text, opaque }),
        (id(), name(), arguments).prop_map(|(id, name, arguments)| AgentPart::Call {
            id,
            name,
            arguments: arguments.into()
        }),
    ]
}

fn message() -> impl Strategy<Value = Message> {
    let result =
        (id(), name(), text(), any::<bool>(), images()).prop_map(|(id, name, text, ok, images)| CallResult {
            id,
            name,
            text,
            ok,
            images,
        });
    prop_oneof![
        (text(), images()).prop_map(|(text, images)| Message::User { text, images }),
        proptest::collection::vec(part(), 0..5).prop_map(|parts| Message::Agent { parts }),
        proptest::collection::vec(result, 0..4).prop_map(|results| Message::Results { results }),
    ]
}

fn request(
    messages: Vec<Message>,
    format: CallFormat,
    effort: Option<Effort>,
    sees: Option<bool>,
) -> ModelRequest {
    let tool = |name: &str| ToolSpec {
        name: name.into(),
        description: String::new(),
        parameters: json!({}),
    };
    ModelRequest {
        model: "m".into(),
        system: "Be brief.".into(),
        messages,
        tools: vec![tool("read_file"), tool("mcp.server/read file")].into(),
        format,
        facts: ModelFacts {
            images: sees,
            ..ModelFacts::default()
        }
        .into(),
        effort,
        max_output: None,
        silence: Millis::seconds(1),
        record: None,
        asked: None,
    }
}

fn is_legal_name(name: &str, limit: usize) -> bool {
    (1..=limit).contains(&name.len())
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ':'))
}

/// Every rule that servers are known to check.
fn check(body: &Value, sees: bool) -> Result<(), TestCaseError> {
    let input = body["input"].as_array().unwrap();
    prop_assert!(!input.is_empty());
    let mut open: Vec<&str> = Vec::new();
    let mut ids = HashSet::new();
    let mut before = "";
    for (at, item) in input.iter().enumerate() {
        let kind = item["type"].as_str().unwrap();
        let role = item["role"].as_str().unwrap_or(kind);
        if kind != "function_call_output" {
            let answers = input[at..]
                .iter()
                .position(|item| item["type"] == "function_call_output");
            let waits = input[at..].iter().take(answers.unwrap_or(0));
            let of_the_user = waits.filter(|item| item["role"] == "user").count();
            prop_assert!(
                open.is_empty() || of_the_user == 0,
                "a message before the results"
            );
        }
        match kind {
            "message" => {
                prop_assert!(role == "user" || role == "assistant");
                prop_assert!(before != role, "two neighbours of one role: {}", body);
                let content = &item["content"];
                match content.as_str() {
                    Some(text) => prop_assert!(!text.trim().is_empty()),
                    None => prop_assert!(!content.as_array().unwrap().is_empty()),
                }
                for part in content.as_array().into_iter().flatten() {
                    match part["type"].as_str().unwrap() {
                        "input_image" => prop_assert!(sees && role == "user"),
                        "input_text" => prop_assert!(role == "user"),
                        "output_text" => prop_assert!(role == "assistant"),
                        other => prop_assert!(false, "{}", other),
                    }
                    let text = part["text"].as_str();
                    prop_assert!(text.is_none_or(|text| !text.trim().is_empty()));
                }
            }
            "function_call" => {
                let id = item["call_id"].as_str().unwrap();
                prop_assert!(is_legal_name(id, 64) && ids.insert(id), "{}", id);
                prop_assert!(is_legal_name(item["name"].as_str().unwrap(), 64));
                let arguments: Value = serde_json::from_str(item["arguments"].as_str().unwrap()).unwrap();
                prop_assert!(arguments.is_object());
                open.push(id);
            }
            "function_call_output" => {
                let id = item["call_id"].as_str().unwrap();
                prop_assert!(
                    !open.is_empty() && open.remove(0) == id,
                    "results in another order"
                );
                prop_assert!(!item["output"].as_str().unwrap().trim().is_empty());
            }
            "reasoning" => {
                prop_assert!(item["encrypted_content"].is_string());
                let next = input.get(at + 1).map(|item| item["type"].as_str().unwrap());
                prop_assert!(matches!(next, Some("message" | "function_call" | "reasoning")));
            }
            other => prop_assert!(false, "{}", other),
        }
        before = role;
    }
    prop_assert!(open.is_empty(), "calls without results: {:?}", open);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn any_history_gives_a_legal_request(
        messages in proptest::collection::vec(message(), 0..8),
        format in proptest::sample::select(vec![CallFormat::Native, CallFormat::Native, CallFormat::Json, CallFormat::Xml]),
        effort in proptest::sample::select(vec![None, Some(Effort::Minimal), Some(Effort::High)]),
        sees in proptest::sample::select(vec![None, Some(false)]),
        strict_alternation in any::<bool>(),
        plain_answers in any::<bool>(),
    ) {
        let request = request(messages, format, effort, sees);
        let names = ToolNames::new(&request.tools);
        let quirks = Quirks { strict_alternation, plain_answers, ..Quirks::default() };
        let provider = ProviderId::new("p");
        let written = || body(&provider, &request, &request.system, &names, &quirks).unwrap().0;
        prop_assert_eq!(written(), written());
        let body: Value = serde_json::from_slice(&written()).unwrap();
        check(&body, sees.is_none())?;
        prop_assert_eq!(body.get("tools").is_some(), format == CallFormat::Native);
    }
}
