//! The Messages provider on a real socket: a server that sends exactly the bytes of a test, when the test says so.
#![allow(clippy::unwrap_used)]

mod asking;
#[allow(dead_code, reason = "shared with tests that need more of it")]
mod server;

use paddock_protocol::{
    CallFormat, Effort, FinishReason, Millis, ModelError, ModelErrorKind, ModelFacts, Opaque, ProviderId,
};
use paddock_provider::*;
use serde_json::{Value, json};
use server::{Reply, Server};
use std::time::{Duration, Instant};

const KEY: &str = "sk-ant-secret-secret-wxyz";

fn provider(base_url: &str) -> AnthropicProvider {
    AnthropicProvider::new(ServerConfig {
        id: ProviderId::new("test"),
        label: "Test server".into(),
        base_url: BaseUrl::parse(base_url).unwrap(),
        key: Some(Secret::new(KEY)),
        key_origin: "from TEST_KEY".into(),
        local: true,
        headers: vec![("anthropic-beta".into(), "one-2026".into())],
        network: Network::default(),
    })
}

fn request(model: &str) -> ModelRequest {
    ModelRequest {
        max_output: None,
        silence: Millis::seconds(20),
        facts: ModelFacts {
            output: Some(64_000),
            ..ModelFacts::default()
        }
        .into(),
        ..asking::request(model)
    }
}

const MODEL: &str = "claude-sonnet-4-5";

async fn ask(provider: &AnthropicProvider, request: &ModelRequest) -> Result<Answer, ModelError> {
    provider.sample(request, &mut |_| {}).await
}

async fn error_of(reply: Reply) -> ModelError {
    let server = Server::start(vec![reply]).await;
    let error = ask(&provider(&server.url("/v1")), &request(MODEL))
        .await
        .unwrap_err();
    let shown = format!("{error} {error:?}");
    assert!(!shown.contains(KEY), "{shown}");
    error
}

fn event(value: &Value) -> String {
    format!("event: {}\ndata: {value}\n\n", value["type"].as_str().unwrap())
}

fn start() -> String {
    event(
        &json!({"type": "message_start", "message": {"usage": {"input_tokens": 20, "cache_read_input_tokens": 80, "output_tokens": 1}}}),
    ) + &event(
        &json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
    )
}

fn delta(text: &str) -> String {
    event(&json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}))
}

fn end() -> String {
    event(
        &json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 7}}),
    ) + &event(&json!({"type": "message_stop"}))
}

fn hello() -> Reply {
    Reply::stream().bytes(start()).bytes(delta("Hello")).bytes(end())
}

fn refusal(kind: &str, message: &str) -> String {
    json!({"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_01"}).to_string()
}

fn refused(message: &str) -> Reply {
    Reply::status(400, &[], &refusal("invalid_request_error", message))
}

fn text_of(answer: &Answer) -> String {
    match answer.parts.as_slice() {
        [AnswerPart::Text(text)] => text.clone(),
        other => panic!("{other:?}"),
    }
}

fn bodies(server: &Server) -> Vec<Value> {
    let requests = server.requests();
    requests
        .iter()
        .map(|request| serde_json::from_str(&request.body).unwrap())
        .collect()
}

#[tokio::test]
async fn an_answer_streams_and_the_request_is_what_the_protocol_says() {
    let reply = Reply::stream()
        .bytes(start())
        .bytes(delta("Hel"))
        .wait(30)
        .bytes(delta("lo"))
        .bytes(end());
    let server = Server::start(vec![reply]).await;
    let mut events = Vec::new();
    let provider = provider(&server.url("/v1"));
    let answer = provider
        .sample(&request(MODEL), &mut |event| events.push(event))
        .await
        .unwrap();
    assert_eq!(text_of(&answer), "Hello");
    let usage = answer.usage;
    assert_eq!(
        (usage.input, usage.cached, usage.output, usage.estimated),
        (20, 80, 7, false)
    );
    assert_eq!(
        events,
        [
            ModelEvent::FirstByte,
            ModelEvent::Text("Hel".into()),
            ModelEvent::Text("lo".into())
        ]
    );
    let seen = server.requests().remove(0);
    assert_eq!(seen.line, "POST /v1/messages HTTP/1.1");
    assert_eq!(seen.header("x-api-key").unwrap(), KEY);
    assert_eq!(seen.header("authorization"), None);
    assert_eq!(seen.header("anthropic-version").unwrap(), "2023-06-01");
    assert_eq!(seen.header("anthropic-beta").unwrap(), "one-2026");
    assert_eq!(seen.header("content-type").unwrap(), "application/json");
    let body: Value = serde_json::from_str(&seen.body).unwrap();
    assert_eq!((&body["model"], &body["stream"]), (&json!(MODEL), &json!(true)));
    assert!(!seen.body.contains(KEY));
}

#[tokio::test]
async fn addresses_with_and_without_a_version_lead_to_the_same_place() {
    for (base, line) in [
        ("", "POST /v1/messages HTTP/1.1"),
        ("/v1", "POST /v1/messages HTTP/1.1"),
        ("/anthropic", "POST /anthropic/v1/messages HTTP/1.1"),
        ("/api/v2", "POST /api/v2/messages HTTP/1.1"),
    ] {
        let server = Server::start(vec![hello()]).await;
        ask(&provider(&server.url(base)), &request(MODEL)).await.unwrap();
        assert_eq!(server.requests()[0].line, line);
    }
}

#[tokio::test]
async fn statuses_become_kinds_with_a_remedy() {
    use ModelErrorKind::*;
    for (status, body, kind, retryable) in [
        (
            401,
            refusal("authentication_error", "invalid x-api-key"),
            Auth,
            false,
        ),
        (403, refusal("permission_error", "no access"), Auth, false),
        (
            404,
            refusal("not_found_error", "model: claude-9"),
            NotFound,
            false,
        ),
        (
            413,
            refusal("request_too_large", "Request exceeds the maximum size"),
            Overflow,
            false,
        ),
        (
            400,
            refusal(
                "invalid_request_error",
                "prompt is too long: 208310 tokens > 200000 maximum",
            ),
            Overflow,
            false,
        ),
        (
            400,
            refusal(
                "invalid_request_error",
                "input length and `max_tokens` exceed context limit: 199990 + 32000 > 200000, decrease input length or `max_tokens` and try again",
            ),
            Overflow,
            false,
        ),
        (
            400,
            refusal(
                "invalid_request_error",
                "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.",
            ),
            Quota,
            false,
        ),
        (
            400,
            refusal(
                "invalid_request_error",
                "messages: at least one message is required",
            ),
            BadRequest,
            false,
        ),
        (402, refusal("billing_error", "billing"), Quota, false),
        (
            429,
            refusal("rate_limit_error", "This request would exceed your rate limit"),
            RateLimit,
            true,
        ),
        (
            500,
            refusal("api_error", "Internal server error"),
            Overloaded,
            true,
        ),
        (504, refusal("timeout_error", "Request timed out"), Timeout, true),
        (529, refusal("overloaded_error", "Overloaded"), Overloaded, true),
        (404, "<html>nope</html>".into(), NotFound, false),
    ] {
        let found = error_of(Reply::status(status, &[], &body)).await;
        assert_eq!(
            (found.kind, found.retryable),
            (kind, retryable),
            "{status} {body}: {found:?}"
        );
        assert_eq!(found.status, Some(status));
        assert!(found.hint.is_some());
    }
}

#[tokio::test]
async fn an_address_where_nothing_is_gets_a_hint_that_helps() {
    for (base, hint) in [
        ("", "looked for at"),
        ("/anthropic", "Check the address"),
        ("/v1", "Check the address"),
    ] {
        for page in ["404 page not found", "<html>nope</html>"] {
            let server = Server::start(vec![Reply::status(404, &[], page)]).await;
            let error = ask(&provider(&server.url(base)), &request(MODEL))
                .await
                .unwrap_err();
            assert_eq!(error.kind, ModelErrorKind::NotFound);
            assert!(error.hint.unwrap().contains(hint), "{base} {page}");
        }
    }
    let unknown = refusal("not_found_error", "model: claude-9 not found");
    let server = Server::start(vec![Reply::status(404, &[], &unknown)]).await;
    let error = ask(&provider(&server.url("")), &request("claude-9"))
        .await
        .unwrap_err();
    assert!(error.hint.unwrap().contains("Choose one of the models"));
}

#[tokio::test]
async fn the_wait_that_the_server_asks_for_is_passed_on() {
    let body = refusal("rate_limit_error", "slow down");
    let error = error_of(Reply::status(429, &[("retry-after", "7")], &body)).await;
    assert_eq!(error.retry_after, Some(Millis::seconds(7)));
    let headers = [
        ("anthropic-ratelimit-requests-remaining", "10"),
        ("anthropic-ratelimit-requests-reset", "2999-01-01T00:00:00Z"),
        ("anthropic-ratelimit-input-tokens-remaining", "0"),
        ("anthropic-ratelimit-input-tokens-reset", "2000-01-01T00:00:00Z"),
    ];
    let error = error_of(Reply::status(429, &headers, &body)).await;
    assert_eq!(error.retry_after, Some(Millis(0)));
}

#[tokio::test]
async fn an_error_in_the_stream_says_what_was_used() {
    let overloaded =
        event(&json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}));
    let error = error_of(
        Reply::stream()
            .bytes(start())
            .bytes(delta("Half of it"))
            .bytes(overloaded)
            .wait(5_000),
    )
    .await;
    assert_eq!((error.kind, error.retryable), (ModelErrorKind::Overloaded, true));
    let spent = error.spent.unwrap();
    assert_eq!((spent.input, spent.cached, spent.estimated), (20, 80, true));
    assert!(spent.output > 1);
}

#[tokio::test]
async fn a_cut_stream_is_a_failure_that_may_be_retried() {
    for reply in [
        Reply::stream().bytes(start()).bytes(delta("Half")),
        Reply::chunked().bytes(start()).bytes(delta("Half")).reset(),
        Reply::stream().bytes("event: message_start\ndata: {\"type\":\"mess"),
    ] {
        let error = error_of(reply).await;
        assert_eq!(
            (error.kind, error.retryable),
            (ModelErrorKind::Protocol, true),
            "{error:?}"
        );
        assert!(error.message.contains("broke off"), "{error}");
    }
}

#[tokio::test]
async fn silence_is_a_timeout_and_pings_are_no_silence() {
    let mut impatient = request(MODEL);
    impatient.silence = Millis(400);
    for reply in [
        Reply::empty().wait(5_000),
        Reply::stream().bytes(start()).bytes(delta("Half")).wait(5_000),
    ] {
        let server = Server::start(vec![reply]).await;
        let error = ask(&provider(&server.url("")), &impatient).await.unwrap_err();
        assert_eq!((error.kind, error.retryable), (ModelErrorKind::Timeout, true));
    }
    let mut reply = Reply::stream().bytes(start());
    for _ in 0..6 {
        reply = reply
            .bytes("event: ping\ndata: {\"type\": \"ping\"}\n\n")
            .wait(150);
    }
    let server = Server::start(vec![reply.bytes(delta("Late")).bytes(end())]).await;
    assert_eq!(
        text_of(&ask(&provider(&server.url("")), &impatient).await.unwrap()),
        "Late"
    );
}

#[tokio::test]
async fn the_answer_ends_at_its_end_although_the_connection_stays_open() {
    let server = Server::start(vec![hello().wait(5_000)]).await;
    let started = Instant::now();
    ask(&provider(&server.url("")), &request(MODEL)).await.unwrap();
    assert!(
        started.elapsed() < Duration::from_secs(3),
        "{:?}",
        started.elapsed()
    );
}

#[tokio::test]
async fn dropping_the_request_closes_the_connection() {
    let mut reply = Reply::stream().bytes(start());
    for _ in 0..100 {
        reply = reply.bytes(delta("more ")).wait(50);
    }
    let server = Server::start(vec![reply]).await;
    let provider = provider(&server.url(""));
    let request = request(MODEL);
    let dropped = tokio::time::timeout(Duration::from_millis(200), ask(&provider, &request)).await;
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
async fn what_a_server_refuses_of_a_model_is_left_out_and_remembered() {
    let server = Server::start(vec![
        refused("tools.0.cache_control: Extra inputs are not permitted"),
        refused("\"thinking.type.enabled\" is not supported for this model. Use \"thinking.type.adaptive\" and \"output_config.effort\" to control thinking behavior."),
        refused("thinking.adaptive.display: Extra inputs are not permitted"),
        refused("max_tokens: 32000 > 16384, which is the maximum allowed number of output tokens for renamed-model"),
        hello(),
        hello(),
        hello(),
    ])
    .await;
    let provider = provider(&server.url("/v1"));
    let mut renamed = request("renamed-model");
    renamed.effort = Some(Effort::Low);
    for _ in 0..2 {
        assert_eq!(text_of(&ask(&provider, &renamed).await.unwrap()), "Hello");
    }
    ask(&provider, &request(MODEL)).await.unwrap();
    let bodies = bodies(&server);
    assert_eq!(bodies.len(), 7);
    assert_eq!(
        bodies[0]["thinking"],
        json!({"type": "enabled", "budget_tokens": 2_048})
    );
    for body in &bodies[4..6] {
        assert!(!body.to_string().contains("cache_control"));
        assert_eq!(body["thinking"], json!({"type": "adaptive"}));
        assert_eq!(body["output_config"], json!({"effort": "low"}));
        assert_eq!(body["max_tokens"], 16_384);
    }
    assert!(
        bodies[6].to_string().contains("cache_control"),
        "another model is asked as before"
    );
}

#[tokio::test]
async fn a_refusal_that_teaches_nothing_is_not_asked_again() {
    let server = Server::start(vec![refused("messages: final role is wrong"), hello()]).await;
    let error = ask(&provider(&server.url("")), &request(MODEL))
        .await
        .unwrap_err();
    assert_eq!(
        (error.kind, server.requests().len()),
        (ModelErrorKind::BadRequest, 1)
    );
    // What did not help is not kept.
    let refuse = || refused("tools.0.cache_control: Extra inputs are not permitted");
    let server = Server::start(vec![refuse(), refuse(), hello()]).await;
    let asked = provider(&server.url(""));
    ask(&asked, &request(MODEL)).await.unwrap_err();
    ask(&asked, &request(MODEL)).await.unwrap();
    let marked: Vec<bool> = bodies(&server)
        .iter()
        .map(|body| body.to_string().contains("cache_control"))
        .collect();
    assert_eq!(marked, [true, false, true]);
    // Nor for ever.
    let stubborn = (1..=9).map(|n| refused(&format!("max_tokens: the maximum is {}", 20_000 - n * 1_000)));
    let server = Server::start(stubborn.collect()).await;
    ask(&provider(&server.url("")), &request(MODEL))
        .await
        .unwrap_err();
    assert_eq!(server.requests().len(), 6);
}

#[tokio::test]
async fn a_conversation_that_leaves_little_room_gets_a_shorter_answer_once() {
    let server = Server::start(vec![
        refused("input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000, decrease input length or `max_tokens` and try again"),
        hello(),
        hello(),
    ])
    .await;
    let provider = provider(&server.url(""));
    for _ in 0..2 {
        ask(&provider, &request(MODEL)).await.unwrap();
    }
    let asked: Vec<u64> = bodies(&server)
        .iter()
        .map(|body| body["max_tokens"].as_u64().unwrap())
        .collect();
    assert_eq!(asked, [32_000, 10_000, 32_000]);
}

fn thought(signature: &str) -> AgentPart {
    AgentPart::Reasoning {
        text: "Hm".into(),
        opaque: Some(Opaque {
            provider: ProviderId::new("test"),
            model: MODEL.into(),
            data: json!({"type": "thinking", "signature": signature}).to_string(),
        }),
    }
}

#[tokio::test]
async fn reasoning_that_is_refused_is_left_out_from_then_on() {
    let server = Server::start(vec![
        refused("messages.1.content.0: Invalid `signature` in `thinking` block"),
        hello(),
        hello(),
    ])
    .await;
    let provider = provider(&server.url(""));
    let said = |text: &str| AgentPart::Text { text: text.into() };
    let user = |text: &str| Message::User {
        text: text.into(),
        images: Vec::new(),
    };
    let mut request = request(MODEL);
    request.messages = vec![
        user("One"),
        Message::Agent {
            parts: vec![thought("OLD"), said("A")],
        },
        user("Two"),
    ];
    ask(&provider, &request).await.unwrap();
    request.messages.extend([
        Message::Agent {
            parts: vec![thought("NEW"), said("B")],
        },
        user("Three"),
    ]);
    ask(&provider, &request).await.unwrap();
    let signatures = |body: &Value| ["OLD", "NEW"].map(|signature| body.to_string().contains(signature));
    let sent: Vec<[bool; 2]> = bodies(&server).iter().map(signatures).collect();
    assert_eq!(sent, [[true, false], [false, false], [false, true]]);
}

#[tokio::test]
async fn an_answer_comes_back_as_it_was_sent() {
    let block = |index: u32, block: Value| {
        event(&json!({"type": "content_block_start", "index": index, "content_block": block}))
    };
    let delta = |delta: Value| event(&json!({"type": "content_block_delta", "index": 0, "delta": delta}));
    let answer = [
        event(
            &json!({"type": "message_start", "message": {"usage": {"input_tokens": 9, "output_tokens": 1}}}),
        ),
        block(0, json!({"type": "thinking", "thinking": "", "signature": ""})),
        delta(json!({"type": "thinking_delta", "thinking": "I \u{1f98a} look.\n "})),
        delta(json!({"type": "signature_delta", "signature": "EqQB+/=="})),
        block(1, json!({"type": "redacted_thinking", "data": "EmwK"})),
        block(2, json!({"type": "text", "text": "I look."})),
        block(
            3,
            json!({"type": "tool_use", "id": "toolu_01", "name": "list_files", "input": {}}),
        ),
        event(
            &json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 9}}),
        ),
        event(&json!({"type": "message_stop"})),
    ];
    let reply = answer
        .iter()
        .fold(Reply::stream(), |reply, event| reply.bytes(event));
    let server = Server::start(vec![reply, hello()]).await;
    let provider = provider(&server.url(""));
    let mut request = request(MODEL);
    let answer = ask(&provider, &request).await.unwrap();
    assert_eq!(answer.finish.0, FinishReason::Calls);
    let parts = answer.parts.into_iter().map(|part| match part {
        AnswerPart::Text(text) => AgentPart::Text { text },
        AnswerPart::Reasoning { text, opaque } => AgentPart::Reasoning { text, opaque },
        AnswerPart::Call(call) => AgentPart::Call {
            id: call.server_id,
            name: call.name,
            arguments: "{}".into(),
        },
    });
    request.messages.push(Message::Agent {
        parts: parts.collect(),
    });
    ask(&provider, &request).await.unwrap();
    assert_eq!(
        bodies(&server)[1]["messages"][1]["content"],
        json!([
            {"type": "thinking", "thinking": "I \u{1f98a} look.\n ", "signature": "EqQB+/=="},
            {"type": "redacted_thinking", "data": "EmwK"},
            {"type": "text", "text": "I look."},
            {"type": "tool_use", "id": "toolu_01", "name": "list_files", "input": {}},
        ])
    );
}

#[tokio::test]
async fn a_whole_answer_and_a_web_page_instead_of_a_stream() {
    let body = json!({"type": "message", "content": [{"type": "text", "text": "Whole"}], "stop_reason": "end_turn",
        "usage": {"input_tokens": 3, "output_tokens": 2}});
    let server = Server::start(vec![Reply::status(200, &[], &body.to_string())]).await;
    assert_eq!(
        text_of(&ask(&provider(&server.url("")), &request(MODEL)).await.unwrap()),
        "Whole"
    );
    let error = error_of(Reply::status(200, &[], "<html>Sign in</html>")).await;
    assert_eq!(error.kind, ModelErrorKind::NotFound);
}

#[tokio::test]
async fn all_pages_of_the_list_of_models_are_read() {
    let page = |id: &str, more: bool| {
        let model = json!({"type": "model", "id": id, "display_name": id, "max_input_tokens": 200_000, "max_tokens": 64_000});
        Reply::status(
            200,
            &[],
            &json!({"data": [model], "has_more": more, "first_id": id, "last_id": id}).to_string(),
        )
    };
    let server = Server::start(vec![
        page("claude-opus-4-8 & more", true),
        page("claude-haiku-4-5", false),
    ])
    .await;
    let models = provider(&server.url("")).models().await.unwrap();
    let found: Vec<(&str, Option<u32>)> = models
        .iter()
        .map(|entry| (entry.model.as_str(), entry.facts.output))
        .collect();
    assert_eq!(
        found,
        [
            ("claude-haiku-4-5", Some(64_000)),
            ("claude-opus-4-8 & more", Some(64_000))
        ]
    );
    let lines: Vec<String> = server.requests().into_iter().map(|seen| seen.line).collect();
    assert_eq!(
        lines,
        [
            "GET /v1/models?limit=1000 HTTP/1.1",
            "GET /v1/models?limit=1000&after_id=claude-opus-4-8+%26+more HTTP/1.1"
        ]
    );
    assert_eq!(server.requests()[1].header("x-api-key").unwrap(), KEY);
    let server = Server::start(vec![Reply::status(200, &[], "<html>Hi</html>")]).await;
    let error = provider(&server.url("")).models().await.unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::NotFound);
}

#[tokio::test]
async fn calls_in_a_dialect_are_read_from_the_text() {
    let call =
        "I look.\n<tool>{\"server_name\": \"local\", \"tool_name\": \"list_files\", \"arguments\": {}}";
    let server = Server::start(vec![Reply::stream().bytes(start()).bytes(delta(call)).bytes(
        event(&json!({"type": "message_delta", "delta": {"stop_reason": "stop_sequence", "stop_sequence": "</tool>"}, "usage": {"output_tokens": 7}})),
    )])
    .await;
    let mut request = request(MODEL);
    request.format = CallFormat::Xml;
    let answer = ask(&provider(&server.url("")), &request).await.unwrap();
    assert!(
        matches!(&answer.parts[..], [AnswerPart::Text(_), AnswerPart::Call(call)] if call.name == "list_files")
    );
    let body = &bodies(&server)[0];
    assert!(body.get("tools").is_none());
    assert_eq!(body["stop_sequences"], json!(["</tool>", "Tool result:"]));
    assert!(
        body["system"][0]["text"]
            .as_str()
            .unwrap()
            .starts_with("Be brief.\n\n# Tools")
    );
}
