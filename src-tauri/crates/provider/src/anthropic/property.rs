//! Any history of the neutral model gives a request that the API accepts.

use super::golden::{call, redacted, request, said, thought, user, written};
use crate::{AgentPart, CallResult, Image, Message};
use paddock_protocol::{CallFormat, Effort};
use proptest::prelude::*;
use serde_json::Value;
use std::collections::HashSet;

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        Just(" \n\t".to_owned()),
        Just("Words. \n".to_owned()),
        Just("🦊 für \u{fffd}\u{0}".to_owned()),
        "[a-z ]{0,12}",
    ]
}

fn id() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        Just("a".to_owned()),
        Just("t1.i1.c1".to_owned()),
        Just("functions.read:0".to_owned()),
        Just("x".repeat(90)),
        "[a-c]{1,2}",
    ]
}

fn part() -> impl Strategy<Value = AgentPart> {
    let model = prop_oneof![Just("claude-sonnet-4-5"), Just("another")];
    let arguments = prop_oneof![
        Just(""),
        Just("{}"),
        Just("{\"a\": [1, {\"b\": null}]}"),
        Just("{\"half"),
        Just("[1]"),
        Just("null"),
        Just("{\"fox\":\"\\ud83e\"}"),
        Just(" {\"a\":1}\n"),
    ];
    let name = prop_oneof![
        Just("read_file"),
        Just("mcp.server/list files"),
        Just(""),
        Just("gone tool 🦊")
    ];
    prop_oneof![
        3 => text().prop_map(|text| said(&text)),
        4 => (id(), name, arguments).prop_map(|(id, name, arguments)| call(&id, name, arguments)),
        3 => (text(), model.clone(), "[A-Z]{0,2}").prop_map(|(text, model, sign)| thought(&text, model, &sign)),
        1 => model.prop_map(|model| redacted(model, "D")),
        1 => text().prop_map(|text| AgentPart::Reasoning { text, opaque: None }),
    ]
}

fn image() -> impl Strategy<Value = Image> {
    prop_oneof![Just(""), Just("iVBORw0KGgo=")].prop_map(|data| Image {
        media_type: "image/png".into(),
        data: data.into(),
        name: "a.png".into(),
    })
}

fn images() -> impl Strategy<Value = Vec<Image>> {
    proptest::collection::vec(image(), 0..2)
}

fn message() -> impl Strategy<Value = Message> {
    let result = (id(), text(), any::<bool>(), images()).prop_map(|(id, text, ok, images)| CallResult {
        id,
        name: String::new(),
        text,
        ok,
        images,
    });
    prop_oneof![
        2 => (text(), images()).prop_map(|(text, images)| Message::User { text, images }),
        3 => proptest::collection::vec(part(), 0..5).prop_map(|parts| Message::Agent { parts }),
        3 => proptest::collection::vec(result, 0..5).prop_map(|results| Message::Results { results }),
    ]
}

fn is_legal(text: &str) -> bool {
    (1..=64).contains(&text.len())
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

fn strings<'v>(content: &'v [Value], kind: &str, field: &str) -> Vec<&'v str> {
    let of_kind = content.iter().filter(|block| block["type"] == kind);
    of_kind.map(|block| block[field].as_str().unwrap()).collect()
}

fn check(body: &Value) {
    let messages = body["messages"].as_array().unwrap();
    assert!(!messages.is_empty());
    let mut asked: Vec<&str> = Vec::new();
    let mut ids = HashSet::new();
    for (at, message) in messages.iter().enumerate() {
        let role = if at % 2 == 0 { "user" } else { "assistant" };
        assert_eq!(message["role"], role, "{messages:#?}");
        let content = message["content"].as_array().unwrap();
        assert!(!content.is_empty());
        for text in strings(content, "text", "text") {
            assert!(!text.trim().is_empty());
            assert!(role == "user" || text == text.trim_end());
        }
        let answered = strings(content, "tool_result", "tool_use_id");
        assert_eq!(
            answered, asked,
            "one result for each call, right after it: {messages:#?}"
        );
        let first = content.iter().take(answered.len());
        assert!(
            first.into_iter().all(|block| block["type"] == "tool_result"),
            "results first"
        );
        asked = strings(content, "tool_use", "id");
        for (id, name) in asked.iter().zip(strings(content, "tool_use", "name")) {
            assert!(is_legal(id) && is_legal(name) && ids.insert(*id), "{id} {name}");
        }
        for block in content.iter().filter(|block| block["type"] == "tool_use") {
            assert!(block["input"].is_object(), "{block}");
            assert!(!block.to_string().contains("\\ud83e\""));
        }
        for signature in strings(content, "thinking", "signature") {
            assert!(!signature.is_empty());
        }
        let last = content.last().unwrap()["type"].as_str().unwrap();
        assert!(!last.contains("thinking"), "{content:#?}");
    }
    assert!(asked.is_empty());
    assert!(body.to_string().matches("\"cache_control\"").count() <= 4);
    if let Some(budget) = body["thinking"]["budget_tokens"].as_u64() {
        assert!((1_024..body["max_tokens"].as_u64().unwrap()).contains(&budget));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1_500) })]

    #[test]
    fn any_history_gives_a_legal_request(
        messages in proptest::collection::vec(message(), 0..9),
        format in prop_oneof![4 => Just(CallFormat::Native), 1 => Just(CallFormat::Json), 1 => Just(CallFormat::Xml)],
        effort in prop_oneof![Just(None), Just(Some(Effort::Minimal)), Just(Some(Effort::High))],
        max_output in proptest::option::of(1_u32..5_000),
        offered in any::<bool>(),
    ) {
        let mut request = request(messages);
        request.format = format;
        request.effort = effort;
        request.max_output = max_output;
        if !offered {
            request.tools = Vec::new().into();
        }
        check(&written(&request));
    }
}

#[test]
fn the_check_finds_what_is_illegal() {
    let good = written(&request(vec![
        user("Go"),
        Message::Agent {
            parts: vec![call("a", "read_file", "{}")],
        },
    ]));
    check(&good);
    let broken = |change: &dyn Fn(&mut Value)| {
        let mut body = good.clone();
        change(&mut body);
        std::panic::catch_unwind(|| check(&body)).is_err()
    };
    assert!(broken(&|body| drop(
        body["messages"].as_array_mut().unwrap().pop()
    )));
    assert!(broken(
        &|body| body["messages"][1]["content"][0]["name"] = "a b".into()
    ));
    assert!(broken(
        &|body| body["messages"][0]["content"][0]["text"] = " ".into()
    ));
    assert!(broken(
        &|body| body["messages"][2]["content"][0]["tool_use_id"] = "b".into()
    ));
}
