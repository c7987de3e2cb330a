//! What all protocols have in common on a real socket: kept connections, refusals that concern one model, the form of answers.
#![allow(clippy::unwrap_used)]

mod asking;
#[allow(dead_code, reason = "other tests use more of it")]
mod server;

use paddock_protocol::{CallFormat, Millis, ModelError, ModelErrorKind, ModelFacts, ProviderId};
use paddock_provider::*;
use serde_json::{Value, json};
use server::{Reply, Server};
use std::time::Duration;

fn config(base_url: &str) -> ServerConfig {
    ServerConfig {
        id: ProviderId::new("test"),
        label: "Test server".into(),
        base_url: BaseUrl::parse(base_url).unwrap(),
        key: None,
        key_origin: String::new(),
        local: true,
        headers: Vec::new(),
        network: Network::default(),
    }
}

fn provider(base_url: &str) -> ChatProvider {
    ChatProvider::new(config(base_url))
}

fn request(model: &str, format: CallFormat) -> ModelRequest {
    let tool = |name: &str, description: &str, parameters| ToolSpec {
        name: name.into(),
        description: description.into(),
        parameters,
    };
    let path = json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]});
    ModelRequest {
        tools: vec![
            tool("list_files", "Lists", path),
            tool("read_file", "Reads", json!({})),
        ]
        .into(),
        format,
        silence: Millis(2_000),
        ..asking::request(model)
    }
}

async fn ask(provider: &dyn Provider, request: &ModelRequest) -> Result<Answer, ModelError> {
    provider.sample(request, &mut |_| ()).await
}

async fn sample(provider: &dyn Provider) -> Result<Answer, ModelError> {
    ask(provider, &request("m", CallFormat::Native)).await
}

fn text_of(answer: &Answer) -> &str {
    match &answer.parts[..] {
        [AnswerPart::Text(text)] => text,
        other => panic!("{other:?}"),
    }
}

fn refusal(message: &str) -> Reply {
    Reply::status(400, &[], &json!({"error": {"message": message}}).to_string())
}

fn bodies(server: &Server) -> Vec<Value> {
    let seen = server.requests();
    seen.iter()
        .map(|seen| serde_json::from_str(&seen.body).unwrap())
        .collect()
}

fn whole_and_kept(text: &str) -> Reply {
    let body = json!({"choices": [{"message": {"content": text}, "finish_reason": "stop"}]}).to_string();
    Reply::kept_open(&body)
}

#[tokio::test]
async fn a_request_that_a_kept_connection_may_have_carried_is_not_doubled_in_silence() {
    // The second request finds the connection open, is read, and gets nothing.
    let server = Server::start(vec![
        whole_and_kept("One").then_hang_up_on_next(),
        whole_and_kept("Two"),
    ])
    .await;
    let provider = provider(&server.url("/v1"));
    assert_eq!(text_of(&sample(&provider).await.unwrap()), "One");
    let error = sample(&provider).await.unwrap_err();
    assert_eq!((error.kind, error.retryable), (ModelErrorKind::Network, true));
    assert_eq!(error.retry_after, Some(Millis(0)), "{error:?}");
    assert_eq!(server.requests().len(), 2);
    assert_eq!(text_of(&sample(&provider).await.unwrap()), "Two");
    assert_eq!((server.requests().len(), server.connections()), (3, 2));
}

#[tokio::test]
async fn a_question_without_a_body_is_asked_again_when_a_kept_connection_closes() {
    let list = Reply::status(200, &[], &json!({"data": [{"id": "a"}]}).to_string());
    let server = Server::start(vec![whole_and_kept("One").then_hang_up_on_next(), list]).await;
    let provider = provider(&server.url("/v1"));
    sample(&provider).await.unwrap();
    assert_eq!(provider.models().await.unwrap().len(), 1);
    assert_eq!((server.requests().len(), server.connections()), (3, 2));
}

#[tokio::test]
async fn a_kept_connection_that_closed_before_is_replaced_unseen() {
    // The server answers and closes right away, without having said so: the client sees that before it writes.
    let server = Server::start(vec![
        whole_and_kept("One").then_close_unsaid(),
        whole_and_kept("Two"),
    ])
    .await;
    let provider = provider(&server.url("/v1"));
    assert_eq!(text_of(&sample(&provider).await.unwrap()), "One");
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(text_of(&sample(&provider).await.unwrap()), "Two");
    assert_eq!((server.requests().len(), server.connections()), (2, 2));
}

#[tokio::test]
async fn what_one_model_refuses_is_still_sent_to_another() {
    let server = Server::start(vec![
        refusal("Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."),
        refusal("Unrecognized request argument supplied: stream_options"),
        refusal("Unsupported value: 'temperature' does not support 0.2 with this model."),
        refusal("Unsupported parameter: 'stop' is not supported with this model."),
        whole_and_kept("One"),
        whole_and_kept("Two"),
        whole_and_kept("Three"),
    ])
    .await;
    let provider = provider(&server.url("/v1"));
    for model in ["picky", "plain", "picky"] {
        ask(&provider, &request(model, CallFormat::Xml)).await.unwrap();
    }
    let bodies = bodies(&server);
    assert_eq!(bodies.len(), 7, "{bodies:#?}");
    for (at, model, field, stop, temperature) in [
        (4, "picky", "max_completion_tokens", false, false),
        (5, "plain", "max_tokens", true, true),
        (6, "picky", "max_completion_tokens", false, false),
    ] {
        let body = &bodies[at];
        assert_eq!(
            (&body["model"], &body[field]),
            (&json!(model), &json!(50)),
            "{body}"
        );
        let has = |field: &str| body.get(field).is_some();
        assert_eq!((has("stop"), has("temperature")), (stop, temperature), "{body}");
        // This is the server's own affair.
        assert!(!has("stream_options"), "{body}");
    }
}

const CALL: &str = r#"{"tool":"list_files","parameters":{"path":"."},"terminate":false}"#;

#[tokio::test]
async fn calls_in_the_text_of_responses_have_to_fit_a_schema_and_a_refusal_widens_it() {
    let answer = json!({"object": "response", "status": "completed", "output": [
        {"type": "message", "id": "m", "content": [{"type": "output_text", "text": CALL}]}
    ]});
    let answer = || Reply::status(200, &[], &answer.to_string());
    let server = Server::start(vec![
        refusal(
            "Invalid schema for response_format 'call': schema must be of type \"object\", got \"None\".",
        ),
        answer(),
        refusal("Unsupported parameter: 'text.format' is not supported with this model."),
        answer(),
        answer(),
    ])
    .await;
    let provider = ResponsesProvider::new(config(&server.url("/v1")));
    for _ in 0..3 {
        let answer = ask(&provider, &request("m", CallFormat::Json)).await.unwrap();
        assert!(
            matches!(&answer.parts[..], [AnswerPart::Call(call)] if call.name == "list_files"),
            "{answer:?}"
        );
    }
    let bodies = bodies(&server);
    let format = &bodies[0]["text"]["format"];
    assert_eq!(
        (&format["type"], &format["name"], &format["strict"]),
        (&json!("json_schema"), &json!("call"), &json!(false))
    );
    assert_eq!(
        format["schema"]["anyOf"][0]["properties"]["tool"]["const"],
        "list_files"
    );
    assert_eq!(
        bodies[1]["text"]["format"]["schema"]["properties"]["tool"]["enum"][0],
        "list_files"
    );
    for body in &bodies[3..] {
        assert!(body.get("text").is_none(), "{body}");
    }
}

#[tokio::test]
async fn calls_in_the_text_of_gemini_have_to_fit_a_schema_and_a_refusal_leads_to_the_next_kind() {
    let answer = json!({"candidates": [{"content": {"parts": [{"text": CALL}], "role": "model"}, "finishReason": "STOP"}]});
    let answer = || Reply::status(200, &[], &answer.to_string());
    let server = Server::start(vec![
        refusal("Invalid JSON payload received. Unknown name \"responseJsonSchema\" at 'generation_config': Cannot find field."),
        answer(),
        refusal("JSON mode is not enabled for models/m"),
        answer(),
        answer(),
    ])
    .await;
    let provider = GeminiProvider::new(config(&server.url("/v1beta")));
    for _ in 0..3 {
        let answer = ask(&provider, &request("m", CallFormat::Json)).await.unwrap();
        assert!(
            matches!(&answer.parts[..], [AnswerPart::Call(call)] if call.name == "list_files"),
            "{answer:?}"
        );
    }
    let configs: Vec<Value> = bodies(&server)
        .into_iter()
        .map(|mut body| body["generationConfig"].take())
        .collect();
    assert_eq!(configs[0]["responseMimeType"], "application/json");
    assert_eq!(
        configs[0]["responseJsonSchema"]["anyOf"][0]["properties"]["tool"]["const"],
        "list_files"
    );
    assert_eq!(configs[1].get("responseJsonSchema"), None);
    let own = &configs[1]["responseSchema"];
    assert_eq!(
        own["anyOf"][0]["properties"]["tool"],
        json!({"type": "string", "enum": ["list_files"]}),
        "{own:#}"
    );
    assert!(!own.to_string().contains("additionalProperties"), "{own:#}");
    for config in &configs[3..] {
        assert!(
            config.get("responseMimeType").is_none() && config.get("responseSchema").is_none(),
            "{config}"
        );
    }
}

#[tokio::test]
async fn native_calls_and_reasoning_models_are_not_held_to_a_schema() {
    let reasons = ModelRequest {
        facts: ModelFacts {
            reasoning: Some(true),
            ..ModelFacts::default()
        }
        .into(),
        ..request("m", CallFormat::Json)
    };
    for request in [request("m", CallFormat::Native), reasons] {
        let server = Server::start(vec![Reply::status(500, &[], ""), Reply::status(500, &[], "")]).await;
        let _ = ask(&ResponsesProvider::new(config(&server.url("/v1"))), &request).await;
        let _ = ask(&GeminiProvider::new(config(&server.url("/v1"))), &request).await;
        let bodies = bodies(&server);
        assert!(bodies[0].get("text").is_none(), "{}", bodies[0]);
        assert!(
            bodies[1]["generationConfig"].get("responseMimeType").is_none(),
            "{}",
            bodies[1]
        );
    }
}
