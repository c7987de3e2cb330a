//! The body of a request to `/chat/completions`.

use super::history::{HistoryWriter, WireMessage};
use super::quirks::{Quirks, TokenField};
use crate::catalogue::minimal_effort_word;
use crate::dialect::{response_format, stop_sequences};
use crate::reading::ToolNames;
use crate::writing::{drop_patterns, object_schema};
use crate::{ModelRequest, ToolSpec};
use bytes::Bytes;
use paddock_protocol::{CallFormat, Effort, ProviderId};
use serde::Serialize;
use serde_json::Value;

/// For calls in a text.
const TEMPERATURE: f32 = 0.0;

#[derive(Serialize)]
struct WireRequest<'a> {
    model: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<WireTool<'a>>,
    messages: Vec<WireMessage<'a>>,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<StreamOptions>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_effort: Option<&'static str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    stop: &'static [&'static str],
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<Value>,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Serialize)]
struct WireTool<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    function: WireFunction<'a>,
}

#[derive(Serialize)]
struct WireFunction<'a> {
    name: String,
    description: &'a str,
    parameters: Value,
}

/// Writes the body; `system` is the system prompt as this request's format wants it. The same request always gives the same bytes.
pub(crate) fn body(
    provider: &ProviderId,
    request: &ModelRequest,
    system: &str,
    names: &ToolNames,
    quirks: &Quirks,
    host: &str,
) -> Result<Bytes, serde_json::Error> {
    let writer = HistoryWriter {
        provider,
        names,
        quirks,
    };
    let wire = WireRequest {
        model: &request.model,
        tools: native_tools(request)
            .iter()
            .map(|tool| WireTool {
                kind: "function",
                function: WireFunction {
                    name: names.to_wire(&tool.name),
                    description: &tool.description,
                    parameters: schema(tool, quirks),
                },
            })
            .collect(),
        messages: writer.messages(request, system),
        stream: true,
        stream_options: (!quirks.no_stream_options).then_some(StreamOptions { include_usage: true }),
        max_tokens: request
            .max_output
            .filter(|_| quirks.token_field == TokenField::MaxTokens),
        max_completion_tokens: request
            .max_output
            .filter(|_| quirks.token_field == TokenField::MaxCompletionTokens),
        reasoning_effort: request
            .effort
            .filter(|effort| !quirks.no_effort && request.facts.efforts.contains(effort))
            .map(|effort| match effort {
                Effort::Minimal => minimal_effort_word(host, &request.model).unwrap_or("minimal"),
                Effort::Low => "low",
                Effort::Medium => "medium",
                Effort::High => "high",
            }),
        stop: match quirks.no_stop {
            true => &[],
            false => stop_sequences(request.format),
        },
        temperature: temperature(request, quirks),
        response_format: response_format(request, quirks.constraint),
    };
    Ok(serde_json::to_vec(&wire)?.into())
}

/// Models that need a dialect write better calls when they are held to what is likely; others are left as their server sets them.
fn temperature(request: &ModelRequest, quirks: &Quirks) -> Option<f32> {
    let may = !quirks.no_temperature && request.facts.temperature != Some(false);
    (may && request.format != CallFormat::Native && !request.tools.is_empty()).then_some(TEMPERATURE)
}

/// The tools of the field `tools`; in a dialect they are told in the system prompt.
fn native_tools(request: &ModelRequest) -> &[ToolSpec] {
    match request.format {
        CallFormat::Native => &request.tools,
        CallFormat::Json | CallFormat::Xml => &[],
    }
}

fn schema(tool: &ToolSpec, quirks: &Quirks) -> Value {
    let mut schema = object_schema(&tool.parameters);
    if quirks.plain_schemas {
        drop_patterns(&mut schema);
    }
    schema
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AgentPart, CallResult, Message};
    use paddock_protocol::{Millis, Opaque};
    use serde_json::json;

    fn call(id: &str, name: &str, arguments: &str) -> AgentPart {
        AgentPart::Call {
            id: id.into(),
            name: name.into(),
            arguments: arguments.into(),
        }
    }

    fn result(id: &str, text: &str) -> CallResult {
        CallResult {
            id: id.into(),
            name: "read_file".into(),
            text: text.into(),
            ok: true,
            images: Vec::new(),
        }
    }

    fn user(text: &str) -> Message {
        Message::User {
            text: text.into(),
            images: Vec::new(),
        }
    }

    fn agent(parts: Vec<AgentPart>) -> Message {
        Message::Agent { parts }
    }

    fn said(text: &str) -> AgentPart {
        AgentPart::Text { text: text.into() }
    }

    fn written_with(messages: Vec<Message>, quirks: &Quirks) -> Value {
        let request = ModelRequest {
            model: "m".into(),
            system: "Be brief.\n".into(),
            messages,
            tools: vec![ToolSpec {
                name: "mcp.read file".into(),
                description: "Reads".into(),
                parameters: json!({"type": "object", "$schema": "x", "properties": {"pattern": {"type": "string", "pattern": "a+", "format": "glob"}}}),
            }]
            .into(),
            format: paddock_protocol::CallFormat::Native,
            max_output: Some(100),
            silence: Millis::seconds(1),
            record: None, effort: None, facts: Default::default(),
asked: None,
};
        let names = ToolNames::new(&request.tools);
        let provider = ProviderId::new("p");
        let first = body(&provider, &request, &request.system, &names, quirks, "127.0.0.1").unwrap();
        assert_eq!(
            first,
            body(&provider, &request, &request.system, &names, quirks, "127.0.0.1").unwrap()
        );
        serde_json::from_slice(&first).unwrap()
    }

    fn written(messages: Vec<Message>) -> Value {
        written_with(messages, &Quirks::default())["messages"].take()
    }

    /// Roles and texts, calls as `+id`, results as `=id`.
    fn outline(messages: &Value) -> Vec<String> {
        let line = |message: &Value| {
            let mut line = format!(
                "{} {}",
                message["role"].as_str().unwrap(),
                message["content"].as_str().unwrap_or("-")
            );
            for call in message["tool_calls"].as_array().into_iter().flatten() {
                line += &format!(" +{}", call["id"].as_str().unwrap());
            }
            if let Some(id) = message["tool_call_id"].as_str() {
                line += &format!(" ={id}");
            }
            line
        };
        messages.as_array().unwrap().iter().map(line).collect()
    }

    #[test]
    fn a_whole_request() {
        let written = written_with(vec![user("Hi")], &Quirks::default());
        assert_eq!(
            written,
            json!({
                "model": "m",
                "tools": [{"type": "function", "function": {"name": "mcp_read_file", "description": "Reads",
                    "parameters": {"type": "object", "properties": {"pattern": {"type": "string", "pattern": "a+", "format": "glob"}}}}}],
                "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}],
                "stream": true,
                "stream_options": {"include_usage": true},
                "max_tokens": 100,
            })
        );
    }

    #[test]
    fn every_call_gets_one_result_in_order_and_orphans_vanish() {
        let messages = written(vec![
            user("Go"),
            agent(vec![
                said("I read.\n"),
                call("a", "read_file", "{}"),
                call("b", "read_file", "{}"),
            ]),
            Message::Results {
                results: vec![result("b", "B"), result("x", "orphan"), result("a", "A")],
            },
            agent(vec![call("c", "read_file", "{}")]),
            user("stop"),
            Message::Results {
                results: vec![result("c", "late")],
            },
        ]);
        assert_eq!(
            outline(&messages),
            [
                "system Be brief.",
                "user Go",
                "assistant I read. +a +b",
                "tool A =a",
                "tool B =b",
                "assistant - +c",
                "tool Interrupted before it gave a result; its outcome is unknown. =c",
                "user stop",
            ]
        );
        assert!(messages[5]["content"].is_null());
    }

    #[test]
    fn neighbours_are_merged_and_empty_messages_left_out() {
        let messages = written(vec![
            user("One"),
            user("Two"),
            agent(vec![said("  \n")]),
            agent(vec![said("Half ")]),
            agent(vec![said("whole"), call("a", "read_file", "{}")]),
            Message::Results {
                results: vec![result("a", "")],
            },
            user(" "),
            agent(vec![]),
        ]);
        assert_eq!(
            outline(&messages),
            [
                "system Be brief.",
                "user One\n\nTwo",
                "assistant Half\n\nwhole +a",
                "tool (no output) =a"
            ]
        );
    }

    #[test]
    fn ids_are_made_where_there_are_none_and_stay_the_same() {
        let messages = || {
            vec![
                user("Go"),
                agent(vec![
                    call("", "read_file", ""),
                    call("", "read_file", "{}"),
                    call("t1.i1.c3", "read_file", "{}"),
                ]),
                Message::Results {
                    results: vec![result("", "A"), result("", "B"), result("t1.i1.c3", "C")],
                },
                agent(vec![call("t1.i1.c3", "read_file", "{}")]),
                Message::Results {
                    results: vec![result("t1.i1.c3", "D")],
                },
            ]
        };
        let first = written(messages());
        assert_eq!(first, written(messages()));
        let calls: Vec<&str> = (0..3)
            .map(|n| first[2]["tool_calls"][n]["id"].as_str().unwrap())
            .collect();
        assert!(calls[0].len() == 9 && calls[0] != calls[1]);
        assert_eq!(calls[2], "t1.i1.c3");
        assert_eq!(first[3]["tool_call_id"], calls[0]);
        assert_eq!(first[4]["content"], "B");
        assert_ne!(
            first[6]["tool_calls"][0]["id"], "t1.i1.c3",
            "a reused id is made anew"
        );
        assert_eq!(first[6]["tool_calls"][0]["id"], first[7]["tool_call_id"]);
        assert_eq!(first[2]["tool_calls"][0]["function"]["arguments"], "{}");

        let short = written_with(
            messages(),
            &Quirks {
                short_ids: true,
                ..Quirks::default()
            },
        );
        let id = short["messages"][2]["tool_calls"][2]["id"].as_str().unwrap();
        assert!(
            id.len() == 9 && id.chars().all(|c| c.is_ascii_alphanumeric()),
            "{id}"
        );
    }

    #[test]
    fn names_and_arguments_in_the_history_are_legal() {
        let messages = written(vec![
            user("Go"),
            agent(vec![
                call("a", "make.coffee", "{\"size\": 1e3}"),
                call("b", "mcp.read file", "{\"half"),
            ]),
        ]);
        let function = |n: usize| messages[2]["tool_calls"][n]["function"].clone();
        assert_eq!(
            function(0),
            json!({"name": "make_coffee", "arguments": "{\"size\": 1e3}"})
        );
        assert_eq!(
            function(1),
            json!({"name": "mcp_read_file", "arguments": "{\"not_valid_json\":\"{\\\"half\"}"})
        );
    }

    #[test]
    fn reasoning_goes_back_only_to_where_it_came_from() {
        let opaque = |provider: &str, model: &str, data: &str| {
            Some(Opaque {
                provider: ProviderId::new(provider),
                model: model.into(),
                data: data.into(),
            })
        };
        let messages = |opaque| {
            vec![
                user("Go"),
                agent(vec![
                    AgentPart::Reasoning {
                        text: "Hm".into(),
                        opaque,
                    },
                    said("Yes"),
                ]),
            ]
        };
        let details = "[{\"type\":\"reasoning.text\",\"text\":\"Hm\"}]";
        assert_eq!(
            written(messages(opaque("p", "m", details)))[2]["reasoning_details"][0]["text"],
            "Hm"
        );
        for foreign in [opaque("q", "m", details), opaque("p", "n", details), None] {
            let message = written(messages(foreign))[2].clone();
            assert_eq!(message, json!({"role": "assistant", "content": "Yes"}));
        }
        let tag = "\"reasoning_content\"";
        assert_eq!(
            written(messages(opaque("p", "m", tag)))[2],
            json!({"role": "assistant", "content": "Yes"})
        );
        let echo = Quirks {
            echo_reasoning: true,
            ..Quirks::default()
        };
        let written = written_with(messages(opaque("p", "m", tag)), &echo);
        assert_eq!(written["messages"][2]["reasoning_content"], "Hm");
    }

    #[test]
    fn what_was_learnt_changes_the_request() {
        let quirks = Quirks {
            token_field: TokenField::MaxCompletionTokens,
            no_stream_options: true,
            strict_alternation: true,
            no_system_role: true,
            plain_schemas: true,
            ..Quirks::default()
        };
        let written = written_with(
            vec![
                user("Go"),
                agent(vec![call("a", "read_file", "{}")]),
                Message::Results {
                    results: vec![result("a", "A")],
                },
                user("More"),
            ],
            &quirks,
        );
        assert_eq!(written["max_completion_tokens"], 100);
        assert!(written.get("max_tokens").is_none() && written.get("stream_options").is_none());
        assert_eq!(
            outline(&written["messages"]),
            [
                "user Be brief.\n\nGo",
                "assistant - +a",
                "tool A =a",
                "assistant Understood.",
                "user More"
            ]
        );
        let parameters = &written["tools"][0]["function"]["parameters"];
        assert_eq!(parameters["properties"]["pattern"], json!({"type": "string"}));
    }

    #[test]
    fn an_empty_tool_list_and_no_limit_are_left_out() {
        let request = ModelRequest {
            model: "m".into(),
            system: "".into(),
            messages: vec![user("Hi")],
            tools: Vec::new().into(),
            format: paddock_protocol::CallFormat::Native,
            max_output: None,
            silence: Millis::seconds(1),
            record: None,
            effort: None,
            facts: Default::default(),
            asked: None,
        };
        let bytes = body(
            &ProviderId::new("p"),
            &request,
            &request.system,
            &ToolNames::default(),
            &Quirks::default(),
            "127.0.0.1",
        )
        .unwrap();
        let value: Value = serde_json::from_slice(&bytes).unwrap();
        let mut fields: Vec<&String> = value.as_object().unwrap().keys().collect();
        fields.sort();
        assert_eq!(fields, ["messages", "model", "stream", "stream_options"]);
        assert_eq!(value["messages"], json!([{"role": "user", "content": "Hi"}]));
    }

    fn image(name: &str) -> crate::Image {
        crate::Image {
            media_type: "image/png".into(),
            data: "QUJD".into(),
            name: name.into(),
        }
    }

    #[test]
    fn images_go_with_the_person_and_those_of_results_after_them() {
        let shown = Message::User {
            text: "Look.".into(),
            images: vec![image("shot.png")],
        };
        let mut seen = result("a", "1 image");
        seen.images = vec![image("plan.png")];
        let messages = vec![
            shown,
            agent(vec![call("a", "read_file", "{}")]),
            Message::Results { results: vec![seen] },
            user("And now?"),
        ];
        let wire = written(messages.clone());
        let url = "data:image/png;base64,QUJD";
        let part = json!({"type": "image_url", "image_url": {"url": url}});
        assert_eq!(
            wire[1]["content"],
            json!([{"type": "text", "text": "Look."}, part])
        );
        assert_eq!(wire[3]["content"], "1 image");
        assert_eq!(
            wire[4]["content"],
            json!([{"type": "text", "text": "plan.png\n\nAnd now?"}, part])
        );
        let blind = Quirks {
            no_images: true,
            ..Quirks::default()
        };
        let words = written_with(messages, &blind).to_string();
        assert!(
            words.contains("does not see images") && !words.contains("image_url"),
            "{words}"
        );
    }
}
