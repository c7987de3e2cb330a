//! Whatever the history, the request is one that the server accepts.

use super::quirks::Quirks;
use super::request::body;
use super::signature::{Place, Signature};
use crate::reading::ToolNames;
use crate::{AgentPart, CallResult, Image, Message, ModelRequest, ToolSpec};
use paddock_protocol::{CallFormat, Effort, Millis, ModelFacts, Opaque, ProviderId};
use proptest::prelude::*;
use serde_json::{Value, json};

fn word() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "",
        " ",
        "\n",
        "Hi",
        "Read it. ",
        "für \u{1f98a}",
        "a.b/c d",
        "9x",
        "read_file",
        "{",
        "</tool>",
    ])
    .prop_map(str::to_owned)
}

fn id() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["", "a", "b", "c", "t1.i1.c1", "an id with blanks"]).prop_map(str::to_owned)
}

fn images() -> impl Strategy<Value = Vec<Image>> {
    let kinds = prop::sample::select(vec!["image/png", "image/gif", "application/pdf"]);
    let one = (kinds, word(), prop::sample::select(vec!["", "AAAA"])).prop_map(|(kind, name, data)| Image {
        media_type: kind.into(),
        data: data.into(),
        name,
    });
    prop::collection::vec(one, 0..2)
}

fn part() -> impl Strategy<Value = AgentPart> {
    let place = prop::sample::select(vec![
        Place::Thought,
        Place::Text,
        Place::Call(0),
        Place::Call(2),
        Place::Alone,
    ]);
    let model = prop::sample::select(vec!["gemini-3-pro", "other"]);
    let signed = (word(), place, model, any::<bool>()).prop_map(|(text, place, model, readable)| {
        let value = "sig".to_owned();
        let data = Signature { place, value }.data();
        AgentPart::Reasoning {
            text,
            opaque: Some(Opaque {
                provider: ProviderId::new("p"),
                model: model.into(),
                data: if readable { data } else { "[1]".into() },
            }),
        }
    });
    let arguments = prop::sample::select(vec!["", "{}", " {\"a\": 1e3}\n", "{\"half", "[1]", "null"]);
    prop_oneof![
        word().prop_map(|text| AgentPart::Text { text }),
        word().prop_map(|text| AgentPart::Reasoning { text, opaque: None }),
        signed,
        (id(), word(), arguments).prop_map(|(id, name, arguments)| AgentPart::Call {
            id,
            name,
            arguments: arguments.into()
        }),
    ]
}

fn message() -> impl Strategy<Value = Message> {
    let result =
        (id(), word(), word(), any::<bool>(), images()).prop_map(|(id, name, text, ok, images)| CallResult {
            id,
            name,
            text,
            ok,
            images,
        });
    prop_oneof![
        (word(), images()).prop_map(|(text, images)| Message::User { text, images }),
        prop::collection::vec(part(), 0..5).prop_map(|parts| Message::Agent { parts }),
        prop::collection::vec(result, 0..4).prop_map(|results| Message::Results { results }),
    ]
}

fn request() -> impl Strategy<Value = ModelRequest> {
    (
        prop::collection::vec(message(), 0..9),
        word(),
        prop::sample::select(vec!["gemini-3-pro", "gemini-2.5-flash", "gemma-3", "x"]),
        prop::sample::select(vec![
            CallFormat::Native,
            CallFormat::Native,
            CallFormat::Json,
            CallFormat::Xml,
        ]),
        prop::sample::select(vec![None, Some(Effort::Minimal), Some(Effort::High)]),
        prop::option::of(any::<bool>()),
    )
        .prop_map(|(messages, system, model, format, effort, sees)| ModelRequest {
            model: model.into(),
            system: system.into(),
            messages,
            tools: vec![ToolSpec {
                name: "read_file".into(),
                description: "Reads.".into(),
                parameters: json!({"type": "object", "properties": {"path": {"type": "string"}}}),
            }]
            .into(),
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
        })
}

fn quirks() -> impl Strategy<Value = Quirks> {
    (any::<bool>(), any::<bool>(), any::<bool>()).prop_map(|(no_system, no_ids, no_signatures)| Quirks {
        no_system,
        no_ids,
        no_signatures,
        stand_ins: no_signatures,
        ..Quirks::default()
    })
}

fn kind(part: &Value) -> &str {
    let kinds = ["text", "inlineData", "functionCall", "functionResponse"];
    let found: Vec<&str> = kinds
        .into_iter()
        .filter(|kind| part.get(*kind).is_some())
        .collect();
    assert_eq!(found.len(), 1, "{part}");
    found[0]
}

fn check_name(name: &Value) {
    let name = name.as_str().unwrap();
    assert!(
        (1..=64).contains(&name.len()) && name.starts_with(|c: char| c.is_ascii_alphabetic()),
        "{name}"
    );
    assert!(
        name.chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-'),
        "{name}"
    );
}

/// Names, ids and arguments of the calls of a content, in order.
fn calls_of(content: &Value, field: &str) -> Vec<(Value, Option<Value>)> {
    let parts = content["parts"].as_array().unwrap().iter();
    parts
        .filter_map(|part| part.get(field))
        .map(|call| {
            check_name(&call["name"]);
            (call["name"].clone(), call.get("id").cloned())
        })
        .collect()
}

fn check_parts(content: &Value) {
    let parts = content["parts"].as_array().unwrap();
    assert!(!parts.is_empty());
    let mut results_ended = false;
    for part in parts {
        let signed = part.get("thoughtSignature").is_some();
        match kind(part) {
            "text" => {
                let text = part["text"].as_str().unwrap();
                assert!(signed || !text.trim().is_empty(), "{content}");
                results_ended = true;
            }
            "functionCall" => {
                assert_eq!(content["role"], "model");
                assert!(part["functionCall"]["args"].is_object());
            }
            "functionResponse" => {
                assert_eq!(content["role"], "user");
                assert!(!results_ended, "results first: {content}");
                let response = part["functionResponse"]["response"].as_object().unwrap();
                assert!(
                    response
                        .values()
                        .all(|text| !text.as_str().unwrap().trim().is_empty())
                );
            }
            _ => {
                assert_eq!(content["role"], "user");
                assert_ne!(part["inlineData"]["data"], "");
                results_ended = true;
            }
        }
        assert!(!signed || content["role"] == "model");
    }
    if content["role"] == "model" {
        let last = parts.last().unwrap();
        let text = last["text"].as_str().unwrap_or_default();
        assert!(
            last.get("thoughtSignature").is_some() || text == text.trim_end(),
            "{content}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]
    #[test]
    fn any_history_gives_a_legal_request(request in request(), quirks in quirks()) {
        let names = ToolNames::new(&request.tools);
        let bytes = body(&ProviderId::new("p"), &request, &request.system, &names, &quirks).unwrap();
        let body: Value = serde_json::from_slice(&bytes).unwrap();
        let contents = body["contents"].as_array().unwrap();
        let mut ids = Vec::new();
        for (at, content) in contents.iter().enumerate() {
            let role = if at % 2 == 0 { "user" } else { "model" };
            prop_assert_eq!(&content["role"], role);
            check_parts(content);
            let calls = calls_of(content, "functionCall");
            let results = contents.get(at + 1).map(|next| calls_of(next, "functionResponse"));
            if role == "model" {
                prop_assert_eq!(&calls, &results.unwrap_or_default());
            }
            for (_, id) in &calls {
                prop_assert!(id.is_some() != (quirks.no_ids || request.model.starts_with("gemini-2")));
            }
            ids.extend(calls.iter().filter_map(|(_, id)| id.clone()));
            if role == "model" && !calls.is_empty() && (quirks.stand_ins || request.model.starts_with("gemini-3")) {
                let signed = |part: &Value| part.get("functionCall").is_some() && part.get("thoughtSignature").is_some();
                prop_assert!(content["parts"].as_array().unwrap().iter().any(signed));
            }
            if request.model != "gemini-3-pro" || quirks.no_signatures {
                prop_assert!(!content.to_string().contains("\"sig\""));
            }
        }
        prop_assert!(contents.len() % 2 == 1);
        prop_assert!(contents.first().is_none_or(|first| calls_of(first, "functionResponse").is_empty()));
        let count = ids.len();
        ids.sort_by_key(ToString::to_string);
        ids.dedup();
        prop_assert_eq!(ids.len(), count);
    }
}
