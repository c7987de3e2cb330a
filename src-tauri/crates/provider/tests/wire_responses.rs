//! The Responses provider on a real socket: a server that sends exactly the bytes of a test, when the test says so.
#![allow(clippy::unwrap_used)]

mod asking;
#[allow(dead_code, reason = "each suite uses a part of it")]
mod server;

use paddock_protocol::{Effort, FinishReason, Millis, ModelError, ModelErrorKind, Opaque, ProviderId};
use paddock_provider::*;
use serde_json::{Value, json};
use server::{Reply, Server};
use std::time::{Duration, Instant};

const KEY: &str = "sk-secret-secret-wxyz";

fn provider(base_url: &str) -> ResponsesProvider {
    ResponsesProvider::new(ServerConfig {
        id: ProviderId::new("test"),
        label: "Test server".into(),
        base_url: BaseUrl::parse(base_url).unwrap(),
        key: Some(Secret::new(KEY)),
        key_origin: "from TEST_KEY".into(),
        local: true,
        headers: vec![("OpenAI-Organization".into(), "org-1".into())],
        network: Network::default(),
    })
}

fn request() -> ModelRequest {
    ModelRequest {
        effort: Some(Effort::Low),
        ..asking::request("m")
    }
}

async fn sample_of(
    provider: &ResponsesProvider,
    request: &ModelRequest,
) -> (Result<Answer, ModelError>, Vec<ModelEvent>) {
    let mut events = Vec::new();
    let answer = provider.sample(request, &mut |event| events.push(event)).await;
    (answer, events)
}

async fn sample(provider: &ResponsesProvider) -> (Result<Answer, ModelError>, Vec<ModelEvent>) {
    sample_of(provider, &request()).await
}

async fn error_of(reply: Reply) -> ModelError {
    let server = Server::start(vec![reply]).await;
    let error = sample(&provider(&server.url("/v1"))).await.0.unwrap_err();
    let shown = format!("{error} {error:?}");
    assert!(!shown.contains(KEY), "{shown}");
    error
}

fn event(kind: &str, mut fields: Value) -> String {
    fields["type"] = kind.into();
    format!("event: {kind}\ndata: {fields}\n\n")
}

fn delta(text: &str) -> String {
    event(
        "response.output_text.delta",
        json!({"item_id": "msg_1", "output_index": 0, "delta": text}),
    )
}

fn completed() -> String {
    let usage = json!({"input_tokens": 9, "output_tokens": 3});
    event(
        "response.completed",
        json!({"response": {"status": "completed", "usage": usage}}),
    )
}

fn hello() -> Reply {
    Reply::stream().bytes(delta("Hello")).bytes(completed())
}

fn refusal(message: &str, param: &str) -> Reply {
    let body = json!({"error": {"message": message, "type": "invalid_request_error", "param": param}});
    Reply::status(400, &[], &body.to_string())
}

fn text_of(answer: &Answer) -> String {
    match answer.parts.as_slice() {
        [AnswerPart::Text(text)] => text.clone(),
        other => panic!("{other:?}"),
    }
}

fn bodies(server: &Server) -> Vec<Value> {
    let requests = server.requests();
    let bodies = requests
        .iter()
        .map(|request| serde_json::from_str(&request.body).unwrap());
    bodies.collect()
}

#[tokio::test]
async fn an_answer_streams_and_the_request_is_what_the_protocol_says() {
    let reply = Reply::stream()
        .bytes(delta("Hel"))
        .wait(30)
        .bytes(delta("lo"))
        .bytes(completed());
    let server = Server::start(vec![reply]).await;
    let (answer, events) = sample(&provider(&server.url("/v1"))).await;
    let answer = answer.unwrap();
    assert_eq!((text_of(&answer).as_str(), answer.usage.input), ("Hello", 9));
    let text = |text: &str| ModelEvent::Text(text.into());
    assert_eq!(events, [ModelEvent::FirstByte, text("Hel"), text("lo")]);
    let seen = server.requests().remove(0);
    assert_eq!(seen.line, "POST /v1/responses HTTP/1.1");
    assert_eq!(seen.header("authorization").unwrap(), format!("Bearer {KEY}"));
    assert_eq!(seen.header("openai-organization").unwrap(), "org-1");
    assert!(!seen.line.contains(KEY) && !seen.body.contains(KEY));
    let body: Value = serde_json::from_str(&seen.body).unwrap();
    assert_eq!(body["store"], false);
    assert_eq!(body["reasoning"]["effort"], "low");
    assert_eq!(body["max_output_tokens"], 50);
    assert!(body.get("prompt_cache_key").is_none());
}

#[tokio::test]
async fn chunked_bodies_cut_anywhere_are_read() {
    let body = format!("{}{}{}", delta("für "), delta("🦊"), completed()).replace('\n', "\r\n");
    for cut in [1, 7, 40, 90, 140, body.len() - 3] {
        let (first, second) = body.as_bytes().split_at(cut);
        let server = Server::start(vec![Reply::chunked().bytes(first).wait(5).bytes(second)]).await;
        let answer = sample(&provider(&server.url("/v1"))).await.0.unwrap();
        assert_eq!(text_of(&answer), "für 🦊");
    }
}

#[tokio::test]
async fn the_answer_ends_with_its_last_event_although_the_connection_stays_open() {
    let server = Server::start(vec![hello().wait(5_000), Reply::empty()]).await;
    let started = Instant::now();
    let provider = provider(&server.url("/v1"));
    assert_eq!(text_of(&sample(&provider).await.0.unwrap()), "Hello");
    assert!(started.elapsed() < Duration::from_millis(300));

    // A failure is told at once too, with its own reason.
    let failed =
        json!({"response": {"status": "failed", "error": {"code": "server_error", "message": "No luck."}}});
    let started = Instant::now();
    let error = error_of(
        Reply::stream()
            .bytes(event("response.failed", failed))
            .wait(5_000),
    )
    .await;
    assert!(started.elapsed() < Duration::from_millis(300));
    assert_eq!((error.kind, error.retryable), (ModelErrorKind::Overloaded, true));
    assert_eq!(error.details.as_deref(), Some("No luck."));
}

#[tokio::test]
async fn silence_is_a_timeout_and_heartbeats_are_none() {
    for reply in [
        Reply::stream().wait(5_000),
        Reply::stream().bytes(delta("Half")).wait(5_000),
    ] {
        let error = error_of(reply).await;
        assert_eq!((error.kind, error.retryable), (ModelErrorKind::Timeout, true));
    }
    let mut reply = Reply::stream();
    for _ in 0..4 {
        reply = reply.bytes(event("keepalive", json!({}))).wait(250);
    }
    let server = Server::start(vec![reply.bytes(delta("Late")).bytes(completed())]).await;
    assert_eq!(
        text_of(&sample(&provider(&server.url("/v1"))).await.0.unwrap()),
        "Late"
    );
}

#[tokio::test]
async fn a_cut_stream_is_a_failure_that_may_be_retried_and_has_cost_something() {
    for reply in [
        Reply::stream().bytes(delta("Half")),
        Reply::chunked().bytes(delta("Half")).reset(),
        Reply::stream()
            .bytes(delta("Half"))
            .bytes("data: {\"type\":\"response.comp"),
    ] {
        let error = error_of(reply).await;
        assert_eq!(error.kind, ModelErrorKind::Protocol, "{error:?}");
        assert!(
            error.retryable && error.message.contains("broke off"),
            "{error:?}"
        );
        let spent = error.spent.unwrap();
        assert!(
            spent.estimated && spent.input > 0 && spent.output > 0,
            "{spent:?}"
        );
    }
}

#[tokio::test]
async fn dropping_the_request_closes_the_connection() {
    let reply = (0..100).fold(Reply::stream(), |reply, _| reply.bytes(delta("more ")).wait(50));
    let server = Server::start(vec![reply]).await;
    let provider = provider(&server.url("/v1"));
    let dropped = tokio::time::timeout(Duration::from_millis(200), sample(&provider)).await;
    assert!(dropped.is_err());
    let started = Instant::now();
    while !server.was_hung_up() {
        assert!(
            started.elapsed() < Duration::from_secs(2),
            "the server still sends"
        );
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn statuses_become_kinds() {
    use ModelErrorKind::*;
    let error = |message: &str, code: &str| json!({"error": {"message": message, "code": code}}).to_string();
    for (status, body, kind, retryable) in [
        (
            401,
            error(
                "Incorrect API key provided: sk-secret-secret-wxyz",
                "invalid_api_key",
            ),
            Auth,
            false,
        ),
        (
            404,
            error("The model `m` does not exist", "model_not_found"),
            NotFound,
            false,
        ),
        (404, "<html>nope</html>".into(), NotFound, false),
        (
            400,
            error("Your input exceeds the context window", "context_length_exceeded"),
            Overflow,
            false,
        ),
        (
            429,
            error("You exceeded your current quota", "insufficient_quota"),
            Quota,
            false,
        ),
        (
            429,
            error("Rate limit reached", "rate_limit_exceeded"),
            RateLimit,
            true,
        ),
        (
            500,
            error("The server had an error", "server_error"),
            Overloaded,
            true,
        ),
        (503, String::new(), Overloaded, true),
    ] {
        let found = error_of(Reply::status(status, &[], &body)).await;
        assert_eq!(
            (found.kind, found.retryable),
            (kind, retryable),
            "{status} {body}: {found:?}"
        );
        assert!(found.hint.is_some() && found.status == Some(status), "{found:?}");
    }
    let slow = error_of(Reply::status(429, &[("retry-after-ms", "1500")], "slow down")).await;
    assert_eq!(slow.retry_after, Some(Millis(1_500)));
    let within = event(
        "error",
        json!({"code": "rate_limit_exceeded", "message": "Please try again in 2s."}),
    );
    let slow = error_of(Reply::stream().bytes(within)).await;
    assert_eq!(slow.retry_after, Some(Millis::seconds(2)));
}

#[tokio::test]
async fn what_a_model_refuses_is_left_out_and_remembered_for_this_model() {
    let server = Server::start(vec![
        refusal("Encrypted content is not supported with this model.", "include"),
        refusal(
            "Unsupported parameter: 'reasoning.effort' is not supported with this model.",
            "reasoning.effort",
        ),
        hello(),
        hello(),
        hello(),
    ])
    .await;
    let provider = provider(&server.url("/v1"));
    for _ in 0..2 {
        assert_eq!(text_of(&sample(&provider).await.0.unwrap()), "Hello");
    }
    let mut other = request();
    other.model = "reasons".into();
    sample_of(&provider, &other).await.0.unwrap();
    let fields: Vec<[bool; 2]> = bodies(&server)
        .iter()
        .map(|body| ["include", "reasoning"].map(|field| body.get(field).is_some()))
        .collect();
    assert_eq!(
        fields,
        [
            [true, true],
            [false, true],
            [false, false],
            [false, false],
            [true, true]
        ]
    );
}

#[tokio::test]
async fn an_effort_that_is_refused_becomes_the_nearest_that_is_not() {
    let server = Server::start(vec![
        refusal("Unsupported value: 'none' is not supported with this model. Supported values are: 'low', 'medium', and 'high'.", "reasoning.effort"),
        hello(),
    ])
    .await;
    let mut asked = request();
    asked.effort = Some(Effort::Minimal);
    sample_of(&provider(&server.url("/v1")), &asked).await.0.unwrap();
    let efforts: Vec<Value> = bodies(&server)
        .iter()
        .map(|body| body["reasoning"]["effort"].clone())
        .collect();
    assert_eq!(efforts, ["none", "low"]);
}

#[tokio::test]
async fn a_refusal_that_teaches_nothing_new_is_told() {
    let again = || refusal("Unknown parameter: 'store'.", "store");
    let server = Server::start(vec![again(), again(), hello()]).await;
    let error = sample(&provider(&server.url("/v1"))).await.0.unwrap_err();
    assert_eq!(
        (error.kind, server.requests().len()),
        (ModelErrorKind::BadRequest, 2)
    );
}

/// Reasoning that another key sealed is refused: it stays out from then on, what is sealed later goes along.
#[tokio::test]
async fn reasoning_that_a_server_cannot_read_is_left_out() {
    let thought = |data: &str| AgentPart::Reasoning {
        text: String::new(),
        opaque: Some(Opaque {
            provider: ProviderId::new("test"),
            model: "m".into(),
            data: json!({"type": "reasoning", "summary": [], "encrypted_content": data}).to_string(),
        }),
    };
    let said = |data: &str| Message::Agent {
        parts: vec![thought(data), AgentPart::Text { text: data.into() }],
    };
    let server = Server::start(vec![
        refusal("The encrypted content old could not be verified.", ""),
        hello(),
        hello(),
    ])
    .await;
    let provider = provider(&server.url("/v1"));
    let mut asked = request();
    asked.messages.push(said("old"));
    sample_of(&provider, &asked).await.0.unwrap();
    asked.messages.push(said("new"));
    sample_of(&provider, &asked).await.0.unwrap();
    let sealed = |body: &Value| {
        let items = body["input"].as_array().unwrap().iter();
        items
            .filter_map(|item| item["encrypted_content"].as_str().map(str::to_owned))
            .collect::<Vec<_>>()
    };
    let sent: Vec<Vec<String>> = bodies(&server).iter().map(sealed).collect();
    assert_eq!(sent, [vec!["old"], vec![], vec!["new"]]);
}

#[tokio::test]
async fn a_conversation_with_a_call_goes_round() {
    let sealed = json!({"id": "rs_1", "type": "reasoning", "summary": [], "encrypted_content": "gAAA=="});
    let call = json!({"id": "fc_1", "type": "function_call", "call_id": "call_1", "name": "list_files", "arguments": "{}"});
    let done = |number: u32, item: &Value| {
        event(
            "response.output_item.done",
            json!({"output_index": number, "item": item}),
        )
    };
    let server = Server::start(vec![
        Reply::stream()
            .bytes(done(0, &sealed))
            .bytes(done(1, &call))
            .bytes(completed()),
        hello(),
    ])
    .await;
    let provider = provider(&server.url("/v1"));
    let mut asked = request();
    let answer = sample_of(&provider, &asked).await.0.unwrap();
    assert_eq!(answer.finish.0, FinishReason::Calls);
    let parts = answer.parts.into_iter().map(|part| match part {
        AnswerPart::Reasoning { text, opaque } => AgentPart::Reasoning { text, opaque },
        AnswerPart::Call(call) => AgentPart::Call {
            id: call.server_id,
            name: call.name,
            arguments: "{}".into(),
        },
        AnswerPart::Text(text) => AgentPart::Text { text },
    });
    asked.messages.push(Message::Agent {
        parts: parts.collect(),
    });
    asked.messages.push(Message::Results {
        results: vec![CallResult {
            id: "call_1".into(),
            name: "list_files".into(),
            text: "a.md".into(),
            ok: true,
            images: Vec::new(),
        }],
    });
    sample_of(&provider, &asked).await.0.unwrap();
    let input = bodies(&server)[1]["input"].clone();
    assert_eq!(input[1], sealed);
    assert_eq!(input[2]["call_id"], "call_1");
    assert_eq!(
        input[3],
        json!({"type": "function_call_output", "call_id": "call_1", "output": "a.md"})
    );
}

#[tokio::test]
async fn models_are_listed() {
    let list = json!({"object": "list", "data": [{"id": "gpt-5.1"}, {"id": "gpt-4.1"}]});
    let server = Server::start(vec![
        Reply::status(200, &[], &list.to_string()),
        Reply::status(200, &[], "not a list"),
    ])
    .await;
    let provider = provider(&server.url("/v1"));
    let models = provider.models().await.unwrap();
    let names: Vec<&str> = models.iter().map(|entry| entry.model.as_str()).collect();
    assert_eq!(names, ["gpt-4.1", "gpt-5.1"]);
    assert_eq!(server.requests()[0].line, "GET /v1/models HTTP/1.1");
    assert_eq!(
        provider.models().await.unwrap_err().kind,
        ModelErrorKind::Protocol
    );
}
