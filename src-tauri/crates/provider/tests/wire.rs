//! The Chat provider on a real socket: a server that sends exactly the bytes of a test, when the test says so.
#![allow(clippy::unwrap_used)]

mod asking;
#[allow(dead_code, reason = "other tests use more of it")]
mod server;

use paddock_protocol::{FinishReason, Millis, ModelError, ModelErrorKind, ProviderId};
use paddock_provider::*;
use serde_json::{Value, json};
use server::{Reply, Server};
use std::time::{Duration, Instant};

const KEY: &str = "sk-secret-secret-wxyz";

fn provider(base_url: &str) -> ChatProvider {
    ChatProvider::new(ServerConfig {
        id: ProviderId::new("test"),
        label: "Test server".into(),
        base_url: BaseUrl::parse(base_url).unwrap(),
        key: Some(Secret::new(KEY)),
        key_origin: "from TEST_KEY".into(),
        local: true,
        headers: Vec::new(),
        network: Network::default(),
    })
}

fn request() -> ModelRequest {
    asking::request("m")
}

async fn sample(provider: &ChatProvider) -> (Result<Answer, ModelError>, Vec<ModelEvent>) {
    let mut events = Vec::new();
    let answer = provider.sample(&request(), &mut |event| events.push(event)).await;
    (answer, events)
}

async fn error_of(reply: Reply) -> ModelError {
    let server = Server::start(vec![reply]).await;
    let error = sample(&provider(&server.url("/v1"))).await.0.unwrap_err();
    let shown = format!("{error} {error:?}");
    assert!(!shown.contains(KEY), "{shown}");
    error
}

fn chunk(content: &str) -> String {
    format!(
        "data: {}\n\n",
        json!({"choices": [{"index": 0, "delta": {"content": content}}]})
    )
}

const STOP: &str = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
const DONE: &str = "data: [DONE]\n\n";

fn hello() -> Reply {
    Reply::stream().bytes(chunk("Hello")).bytes(STOP).bytes(DONE)
}

fn text_of(answer: &Answer) -> String {
    match answer.parts.as_slice() {
        [AnswerPart::Text(text)] => text.clone(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn an_answer_streams_and_the_request_is_what_the_protocol_says() {
    let server = Server::start(vec![
        Reply::stream()
            .bytes(chunk("Hel"))
            .wait(30)
            .bytes(chunk("lo"))
            .bytes(STOP)
            .bytes(DONE),
    ])
    .await;
    let (answer, events) = sample(&provider(&server.url("/v1"))).await;
    assert_eq!(text_of(&answer.unwrap()), "Hello");
    assert_eq!(
        events,
        [
            ModelEvent::FirstByte,
            ModelEvent::Text("Hel".into()),
            ModelEvent::Text("lo".into())
        ]
    );
    let seen = server.requests().remove(0);
    assert_eq!(seen.line, "POST /v1/chat/completions HTTP/1.1");
    assert_eq!(seen.header("authorization").unwrap(), format!("Bearer {KEY}"));
    assert_eq!(seen.header("content-type").unwrap(), "application/json");
    assert!(seen.header("user-agent").unwrap().starts_with("paddock/"));
    let body: Value = serde_json::from_str(&seen.body).unwrap();
    assert_eq!(body["model"], "m");
    assert_eq!(body["max_tokens"], 50);
}

#[tokio::test]
async fn chunked_bodies_cut_anywhere_are_read() {
    let body = format!("{}{}{STOP}{DONE}", chunk("für "), chunk("🦊")).replace('\n', "\r\n");
    for cut in [1, 7, 30, 64, 90, body.len() - 3] {
        let (first, second) = body.as_bytes().split_at(cut);
        let server = Server::start(vec![Reply::chunked().bytes(first).wait(5).bytes(second)]).await;
        assert_eq!(
            text_of(&sample(&provider(&server.url("/v1"))).await.0.unwrap()),
            "für 🦊"
        );
    }
}

#[tokio::test]
async fn silence_before_and_after_the_first_byte_is_a_timeout() {
    for reply in [
        Reply::empty().wait(5_000),
        Reply::stream().wait(5_000),
        Reply::stream().bytes(chunk("Half")).wait(5_000),
    ] {
        let started = Instant::now();
        let error = error_of(reply).await;
        assert_eq!(error.kind, ModelErrorKind::Timeout);
        assert!(
            error.retryable && error.message.contains("sent nothing for"),
            "{error}"
        );
        assert!(started.elapsed() < Duration::from_secs(3));
    }
}

#[tokio::test]
async fn comments_keep_a_slow_answer_alive() {
    let mut reply = Reply::stream();
    for _ in 0..6 {
        reply = reply.bytes(": ping\n\n").wait(150);
    }
    let server = Server::start(vec![reply.bytes(chunk("Late")).bytes(STOP).bytes(DONE)]).await;
    assert_eq!(
        text_of(&sample(&provider(&server.url("/v1"))).await.0.unwrap()),
        "Late"
    );
}

#[tokio::test]
async fn a_cut_stream_is_a_failure_that_may_be_retried() {
    for reply in [
        Reply::stream().bytes(chunk("Half")),
        Reply::chunked().bytes(chunk("Half")).reset(),
        Reply::stream().bytes("data: {\"choices\":[{\"del"),
    ] {
        let error = error_of(reply).await;
        assert_eq!(error.kind, ModelErrorKind::Protocol, "{error:?}");
        assert!(error.retryable);
        assert!(error.message.contains("broke off"), "{error}");
    }
}

#[tokio::test]
async fn the_answer_ends_at_its_end_although_the_connection_stays_open() {
    for (reply, limit) in [
        (hello().wait(5_000), 300),
        (
            Reply::stream().bytes(chunk("Hello")).bytes(STOP).wait(5_000),
            2_500,
        ),
    ] {
        let server = Server::start(vec![reply]).await;
        let started = Instant::now();
        assert_eq!(
            text_of(&sample(&provider(&server.url("/v1"))).await.0.unwrap()),
            "Hello"
        );
        assert!(
            started.elapsed() < Duration::from_millis(limit),
            "{:?}",
            started.elapsed()
        );
    }
}

#[tokio::test]
async fn dropping_the_request_closes_the_connection() {
    let mut reply = Reply::stream();
    for _ in 0..100 {
        reply = reply.bytes(chunk("more ")).wait(50);
    }
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
#[expect(clippy::too_many_lines, reason = "one table")]
async fn statuses_become_kinds_with_a_remedy() {
    use ModelErrorKind::*;
    let error = |message: &str, code: &str| json!({"error": {"message": message, "code": code}}).to_string();
    for (status, body, kind, retryable, words) in [
        (
            401,
            error(
                "Incorrect API key provided: sk-secret-secret-wxyz",
                "invalid_api_key",
            ),
            Auth,
            false,
            "refused the key ending in wxyz (from TEST_KEY)",
        ),
        (403, error("no access", ""), Auth, false, "change it"),
        (402, error("Payment required", ""), Quota, false, "no credit"),
        (
            404,
            error("The model `m` does not exist", "model_not_found"),
            NotFound,
            false,
            "does not know this model",
        ),
        (
            404,
            "404 page not found".into(),
            NotFound,
            false,
            "There is no model server at",
        ),
        (404, "<html>nope</html>".into(), NotFound, false, "web page"),
        (408, String::new(), Timeout, true, "did not answer in time"),
        (413, String::new(), Overflow, false, "too long"),
        (
            400,
            error(
                "This model's maximum context length is 4096 tokens",
                "context_length_exceeded",
            ),
            Overflow,
            false,
            "too long",
        ),
        (
            400,
            json!({"error": {"code": 400, "type": "exceed_context_size_error", "message": "x"}}).to_string(),
            Overflow,
            false,
            "larger window",
        ),
        (
            400,
            error("string too long", "string_above_max_length"),
            BadRequest,
            false,
            "did not accept",
        ),
        (
            400,
            error("blocked", "content_policy_violation"),
            Blocked,
            false,
            "blocked the content",
        ),
        (
            422,
            json!({"detail": [{"msg": "field required"}]}).to_string(),
            BadRequest,
            false,
            "did not accept",
        ),
        (
            429,
            error(
                "Rate limit: context window exceeded per minute",
                "rate_limit_exceeded",
            ),
            RateLimit,
            true,
            "asks to wait",
        ),
        (
            429,
            error("You exceeded your current quota", "insufficient_quota"),
            Quota,
            false,
            "no credit",
        ),
        (
            429,
            error("Quota exceeded for requests per minute", "RESOURCE_EXHAUSTED"),
            RateLimit,
            true,
            "asks to wait",
        ),
        (
            500,
            error("Jinja Exception: something", ""),
            BadRequest,
            false,
            "did not accept",
        ),
        (500, String::new(), Overloaded, true, "busy"),
        (
            503,
            error("context length exceeded", ""),
            Overflow,
            false,
            "too long",
        ),
        (503, String::new(), Overloaded, true, "busy"),
        (
            529,
            error("Overloaded", "overloaded_error"),
            Overloaded,
            true,
            "busy",
        ),
    ] {
        let found = error_of(Reply::status(status, &[], &body)).await;
        let shown = found.to_string();
        assert_eq!(
            (found.kind, found.retryable),
            (kind, retryable),
            "{status} {body}: {found:?}"
        );
        assert!(shown.contains(words), "{status} {body}: {shown}");
        assert_eq!(found.status, Some(status), "{found:?}");
        assert!(found.hint.is_some());
    }
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let error = error_of(Reply::status(
        301,
        &[("location", "https://elsewhere.example/v1")],
        "",
    ))
    .await;
    assert_eq!(error.kind, ModelErrorKind::NotFound);
    assert_eq!(error.details.as_deref(), Some("https://elsewhere.example/v1"));
    assert!(!error.retryable);
}

#[tokio::test]
async fn the_wait_that_a_server_asks_for_is_passed_on() {
    let error = error_of(Reply::status(429, &[("retry-after", "7")], "slow down")).await;
    assert_eq!(error.retry_after, Some(Millis::seconds(7)));
    let error = error_of(Reply::status(503, &[], "Please try again in 1.5s")).await;
    assert_eq!(error.retry_after, Some(Millis(1_500)));
    let error = error_of(Reply::status(401, &[("retry-after", "7")], "no")).await;
    assert_eq!(error.retry_after, None);
}

#[tokio::test]
async fn a_missing_v1_and_a_missing_server_are_explained() {
    let server = Server::start(vec![Reply::status(404, &[], "404 page not found")]).await;
    let error = sample(&provider(&server.url(""))).await.0.unwrap_err();
    assert!(error.hint.unwrap().contains(&server.url("/v1")));

    let port = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap().port()
    };
    let url = format!("http://127.0.0.1:{port}/v1");
    let error = sample(&provider(&url)).await.0.unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Network);
    assert_eq!(
        error.message,
        format!("Nothing answers at {url}: is the local server running?")
    );

    let error = sample(&provider("http://no-such-host.invalid/v1"))
        .await
        .0
        .unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Network);
    assert!(error.message.contains("no-such-host.invalid"), "{error:?}");
}

#[tokio::test]
async fn what_a_server_refuses_is_left_out_and_remembered() {
    let refusal =
        |message: &str| Reply::status(400, &[], &json!({"error": {"message": message}}).to_string());
    let server = Server::start(vec![
        refusal("Unrecognized request argument supplied: stream_options"),
        refusal("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."),
        hello(),
        hello(),
    ])
    .await;
    let provider = provider(&server.url("/v1"));
    for _ in 0..2 {
        assert_eq!(text_of(&sample(&provider).await.0.unwrap()), "Hello");
    }
    let bodies: Vec<Value> = server
        .requests()
        .iter()
        .map(|request| serde_json::from_str(&request.body).unwrap())
        .collect();
    assert_eq!(bodies.len(), 4);
    assert!(bodies[0].get("stream_options").is_some() && bodies[1].get("stream_options").is_none());
    for body in &bodies[2..] {
        assert_eq!(
            (body.get("max_tokens"), &body["max_completion_tokens"]),
            (None, &json!(50))
        );
        assert!(body.get("stream_options").is_none());
    }
}

#[tokio::test]
async fn a_call_that_the_server_could_not_read_is_read_here() {
    let failed = |text: &str| {
        let body = json!({"error": {"message": "Failed to call a function", "code": "tool_use_failed", "failed_generation": text}});
        Reply::status(400, &[], &body.to_string())
    };
    let server = Server::start(vec![failed(
        "<tool_call>{\"name\": \"list_files\", \"arguments\": {}}</tool_call>",
    )])
    .await;
    let answer = sample(&provider(&server.url("/v1"))).await.0.unwrap();
    assert_eq!(answer.finish.0, FinishReason::Calls);
    assert!(matches!(&answer.parts[..], [AnswerPart::Call(call)] if call.name == "list_files"));

    let error = error_of(failed("<function=half")).await;
    assert!(
        error.retryable && error.message.contains("could not read the call"),
        "{error:?}"
    );
}

#[tokio::test]
async fn a_fresh_connection_that_is_closed_without_a_byte_is_not_tried_again() {
    let error = error_of(Reply::empty()).await;
    assert_eq!(error.kind, ModelErrorKind::Network);
    assert!(error.retryable);
}

#[tokio::test]
async fn the_connection_is_used_again_after_a_stream() {
    let server = Server::start(vec![
        Reply::chunked()
            .bytes(chunk("Hello"))
            .bytes(STOP)
            .bytes(DONE)
            .keep_open(),
        Reply::chunked()
            .bytes(chunk("Hello"))
            .bytes(STOP)
            .bytes(DONE)
            .keep_open(),
    ])
    .await;
    let provider = provider(&server.url("/v1"));
    for _ in 0..2 {
        assert_eq!(text_of(&sample(&provider).await.0.unwrap()), "Hello");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn models_are_listed_from_every_shape() {
    for (body, names) in [
        (
            json!({"data": [{"id": "b"}, {"id": "a"}, {"id": "a"}]}),
            vec!["a", "b"],
        ),
        (json!({"models": [{"name": "x:latest"}]}), vec!["x:latest"]),
        (json!([{"id": "one"}, "two"]), vec!["one", "two"]),
        (json!({"data": []}), vec![]),
    ] {
        let server = Server::start(vec![Reply::status(200, &[], &body.to_string())]).await;
        let models = provider(&server.url("/v1")).models().await.unwrap();
        let found: Vec<&str> = models.iter().map(|entry| entry.model.as_str()).collect();
        assert_eq!(found, names);
        assert_eq!(server.requests()[0].line, "GET /v1/models HTTP/1.1");
    }
    let server = Server::start(vec![Reply::status(200, &[], "<html>Hi</html>")]).await;
    let error = provider(&server.url("/v1")).models().await.unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::NotFound);
}

#[tokio::test]
async fn a_key_that_no_header_can_carry_is_an_error_before_anything_is_sent() {
    let mut config = ServerConfig {
        id: ProviderId::new("test"),
        label: "Test server".into(),
        base_url: BaseUrl::parse("http://127.0.0.1:9/v1").unwrap(),
        key: Some(Secret::new("sk-\u{201c}quoted\u{201d}\nline")),
        key_origin: String::new(),
        local: false,
        headers: Vec::new(),
        network: Network::default(),
    };
    let error = sample(&ChatProvider::new(config.clone())).await.0.unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Auth);
    config.key = None;
    let server = Server::start(vec![Reply::status(401, &[], "no key")]).await;
    config.base_url = BaseUrl::parse(&server.url("/v1")).unwrap();
    let error = sample(&ChatProvider::new(config)).await.0.unwrap_err();
    assert_eq!(error.message, "Test server wants a key and none is set.");
    assert_eq!(server.requests()[0].header("authorization"), None);
}

const CALL_IN_TEXT: &str = "Ich schaue für dich nach.\n<tool>{\"server_name\": \"local\", \"tool_name\": \"list_files\", \"arguments\": {\"in\": \"ä/🦊\"}}</tool>\n";

async fn sample_xml(provider: &ChatProvider) -> (Answer, Vec<ModelEvent>) {
    let mut request = request();
    request.format = paddock_protocol::CallFormat::Xml;
    let mut events = Vec::new();
    let answer = provider.sample(&request, &mut |event| events.push(event)).await;
    (answer.unwrap(), events)
}

/// What was shown, joined, and the call.
fn shown(events: &[ModelEvent]) -> (String, String) {
    let mut shown = (String::new(), String::new());
    for event in events {
        match event {
            ModelEvent::Text(text) => shown.0 += text,
            ModelEvent::CallStarted { slot, name } => shown.1 += &format!("{slot} {name} "),
            ModelEvent::CallArguments { text, .. } => shown.1 += text,
            _ => {}
        }
    }
    shown
}

#[tokio::test]
async fn a_call_in_text_is_read_wherever_the_network_cuts_it() {
    let mut body = String::new();
    for piece in CALL_IN_TEXT.split_inclusive(['s', '\"']) {
        body += &chunk(piece);
    }
    body = body + STOP + DONE;
    // Every cut in two, and each byte on its own.
    let mut replies: Vec<Reply> = (1..body.len())
        .map(|cut| {
            let (first, second) = body.as_bytes().split_at(cut);
            Reply::chunked().bytes(first).bytes(second)
        })
        .collect();
    let single = body.as_bytes().chunks(1);
    replies.push(single.fold(Reply::chunked(), |reply, byte| reply.bytes(byte)));
    let number = replies.len();
    let server = Server::start(replies).await;
    let provider = provider(&server.url("/v1"));
    for n in 0..number {
        let (answer, events) = sample_xml(&provider).await;
        let [AnswerPart::Text(text), AnswerPart::Call(call)] = &answer.parts[..] else {
            panic!("{n}: {answer:?}");
        };
        assert_eq!(text, "Ich schaue für dich nach.");
        let arguments = "{\"in\": \"ä/🦊\"}";
        assert_eq!(call.arguments, CallArguments::Complete(arguments.into()));
        assert_eq!((call.name.as_str(), call.terminate), ("list_files", false));
        assert_eq!(
            shown(&events),
            (text.clone(), format!("0 list_files {arguments}")),
            "{n}"
        );
    }
    let body: Value = serde_json::from_str(&server.requests()[0].body).unwrap();
    assert!(body.get("tools").is_none());
    assert_eq!(body["stop"], json!(["</tool>", "Tool result:"]));
    let system = body["messages"][0]["content"].as_str().unwrap();
    assert!(system.starts_with("Be brief.\n\n# Tools"), "{system}");
}

/// What streams is seen when it comes, not when the answer ends.
#[tokio::test]
async fn a_call_in_text_is_seen_while_it_streams() {
    let (first, second) = CALL_IN_TEXT.split_at(CALL_IN_TEXT.find(", \"arguments").unwrap());
    let reply = Reply::stream().bytes(chunk(first)).wait(300);
    let server = Server::start(vec![reply.bytes(chunk(second)).bytes(STOP).bytes(DONE)]).await;
    let mut request = request();
    request.format = paddock_protocol::CallFormat::Xml;
    let (mut began, mut started) = (None, None);
    let provider = provider(&server.url("/v1"));
    let mut on_event = |event| match event {
        ModelEvent::FirstByte => began = Some(Instant::now()),
        ModelEvent::CallStarted { .. } => started = Some(Instant::now()),
        _ => {}
    };
    provider.sample(&request, &mut on_event).await.unwrap();
    let late = started.unwrap() - began.unwrap();
    assert!(late < Duration::from_millis(150), "{late:?}");
}

#[tokio::test]
async fn a_server_that_refuses_stop_sequences_is_asked_without() {
    let refusal =
        json!({"error": {"message": "Unsupported parameter: 'stop' is not supported with this model."}});
    let server = Server::start(vec![
        Reply::status(400, &[], &refusal.to_string()),
        hello(),
        hello(),
    ])
    .await;
    let provider = provider(&server.url("/v1"));
    for _ in 0..2 {
        assert_eq!(text_of(&sample_xml(&provider).await.0), "Hello");
    }
    let asked: Vec<bool> = server
        .requests()
        .iter()
        .map(|request| request.body.contains("\"stop\":"))
        .collect();
    assert_eq!(asked, [true, false, false]);
}

#[tokio::test]
async fn what_was_sent_and_what_came_is_told_also_of_a_dropped_request() {
    let told = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let into = told.clone();
    let mut asked = request();
    asked.record = Some(Recorder(std::sync::Arc::new(move |exchange| {
        into.lock().unwrap().push(exchange);
    })));
    let server = Server::start(vec![hello()]).await;
    let provider = provider(&server.url("/v1"));
    provider.sample(&asked, &mut |_| {}).await.unwrap();
    {
        let told = told.lock().unwrap();
        let [exchange] = told.as_slice() else {
            panic!("{told:?}")
        };
        assert_eq!(
            exchange.address,
            format!("POST {}", server.url("/v1/chat/completions"))
        );
        assert_eq!(exchange.status, Some(200));
        assert_eq!(
            exchange.response,
            format!("{}{STOP}{DONE}", chunk("Hello")).as_bytes()
        );
        let sent: Value = serde_json::from_slice(&exchange.request).unwrap();
        assert_eq!(sent["messages"][1]["content"], "Hi");
        assert!(!String::from_utf8_lossy(&exchange.request).contains(KEY));
    }
    let silent = Server::start(vec![Reply::stream().bytes(chunk("Hel")).wait(5_000)]).await;
    let slow = self::provider(&silent.url("/v1"));
    asked.silence = Millis::seconds(5);
    let mut unheard = |_| {};
    let work = slow.sample(&asked, &mut unheard);
    assert!(
        tokio::time::timeout(Duration::from_millis(300), work)
            .await
            .is_err()
    );
    let told = told.lock().unwrap();
    assert_eq!(told.len(), 2);
    assert_eq!(told[1].response, chunk("Hel").as_bytes());
}
