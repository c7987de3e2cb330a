//! The Gemini provider on a real socket: a server that sends exactly the bytes of a test, when the test says so.
#![allow(clippy::unwrap_used)]

mod asking;
#[allow(dead_code, reason = "other tests use more of it")]
mod server;

use paddock_protocol::{Effort, FinishReason, Millis, ModelError, ModelErrorKind, ProviderId};
use paddock_provider::*;
use serde_json::{Value, json};
use server::{Reply, Seen, Server};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const KEY: &str = "AIzaSecretSecretSecret-wxyz";

fn config(base_url: &str, key: &str) -> ServerConfig {
    ServerConfig {
        id: ProviderId::new("gemini"),
        label: "Gemini".into(),
        base_url: BaseUrl::parse(base_url).unwrap(),
        key: Some(Secret::new(key)),
        key_origin: "from GEMINI_API_KEY".into(),
        local: true,
        headers: Vec::new(),
        network: Network::default(),
    }
}

fn provider(server: &Server) -> GeminiProvider {
    GeminiProvider::new(config(&server.url("/v1beta"), KEY))
}

fn user(text: &str) -> Message {
    Message::User {
        text: text.into(),
        images: Vec::new(),
    }
}

fn request(model: &str, messages: Vec<Message>) -> ModelRequest {
    ModelRequest {
        messages,
        ..asking::request(model)
    }
}

async fn ask(provider: &GeminiProvider, request: &ModelRequest) -> Result<Answer, ModelError> {
    provider.sample(request, &mut |_| ()).await
}

async fn sample(provider: &GeminiProvider) -> Result<Answer, ModelError> {
    ask(provider, &request("gemini-3-flash", vec![user("Hi")])).await
}

async fn error_of(reply: Reply) -> ModelError {
    let server = Server::start(vec![reply]).await;
    let error = sample(&provider(&server)).await.unwrap_err();
    let shown = format!("{error} {error:?}");
    assert!(!shown.contains(KEY), "{shown}");
    error
}

fn chunk(parts: Value, finish: Option<&str>) -> String {
    let mut candidate = json!({"content": {"parts": parts, "role": "model"}, "index": 0});
    if let Some(finish) = finish {
        candidate["finishReason"] = json!(finish);
    }
    let chunk = json!({"candidates": [candidate], "usageMetadata": {"promptTokenCount": 4, "candidatesTokenCount": 2, "totalTokenCount": 6}});
    format!("data: {chunk}\r\n\r\n")
}

fn text(text: &str, finish: Option<&str>) -> String {
    chunk(json!([{ "text": text }]), finish)
}

fn hello() -> Reply {
    Reply::stream()
        .bytes(text("Hel", None))
        .bytes(text("lo", Some("STOP")))
}

fn text_of(answer: &Answer) -> &str {
    match answer.parts.as_slice() {
        [AnswerPart::Text(text)] => text,
        other => panic!("{other:?}"),
    }
}

fn body_of(seen: &Seen) -> Value {
    serde_json::from_str(&seen.body).unwrap()
}

#[tokio::test]
async fn an_answer_streams_and_the_request_is_what_the_protocol_says() {
    let reply = Reply::stream().bytes(text("Hel", None)).wait(30);
    let server = Server::start(vec![reply.bytes(text("lo", Some("STOP")))]).await;
    let exchanges = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&exchanges);
    let request = ModelRequest {
        record: Some(Recorder(Arc::new(move |exchange| {
            kept.lock().unwrap().push(exchange)
        }))),
        ..request("gemini-3-flash", vec![user("Hi")])
    };
    let mut events = Vec::new();
    let answer = provider(&server)
        .sample(&request, &mut |event| events.push(event))
        .await
        .unwrap();
    assert_eq!(text_of(&answer), "Hello");
    assert_eq!((answer.usage.input, answer.usage.output), (4, 2));
    assert_eq!(
        events,
        [
            ModelEvent::FirstByte,
            ModelEvent::Text("Hel".into()),
            ModelEvent::Text("lo".into())
        ]
    );
    let seen = server.requests().remove(0);
    assert_eq!(
        seen.line,
        "POST /v1beta/models/gemini-3-flash:streamGenerateContent?alt=sse HTTP/1.1"
    );
    assert_eq!(seen.header("x-goog-api-key").unwrap(), KEY);
    assert_eq!(seen.header("authorization"), None);
    assert_eq!(seen.header("content-type").unwrap(), "application/json");
    assert!(!seen.line.contains(KEY) && !seen.body.contains(KEY));
    assert_eq!(body_of(&seen)["generationConfig"]["maxOutputTokens"], 50);
    let exchange = exchanges.lock().unwrap().remove(0);
    assert!(
        exchange.address.ends_with(":streamGenerateContent?alt=sse"),
        "{}",
        exchange.address
    );
    assert!(!String::from_utf8_lossy(&exchange.request).contains(KEY));
}

#[tokio::test]
async fn vertex_is_reached_by_its_address_and_the_token_of_an_account() {
    let server = Server::start(vec![hello()]).await;
    let base = server.url("/v1/projects/p/locations/eu/publishers/google");
    let provider = GeminiProvider::new(config(&base, "ya29.token"));
    assert_eq!(text_of(&sample(&provider).await.unwrap()), "Hello");
    let seen = server.requests().remove(0);
    assert_eq!(
        seen.line,
        "POST /v1/projects/p/locations/eu/publishers/google/models/gemini-3-flash:streamGenerateContent?alt=sse HTTP/1.1"
    );
    assert_eq!(seen.header("authorization").unwrap(), "Bearer ya29.token");
    assert_eq!(seen.header("x-goog-api-key"), None);
}

#[tokio::test]
async fn chunked_bodies_cut_anywhere_are_read() {
    let body = format!("{}{}", text("für ", None), text("🦊", Some("STOP")));
    for cut in [1, 7, 30, 64, 90, body.len() - 3] {
        let (first, second) = body.as_bytes().split_at(cut);
        let server = Server::start(vec![Reply::chunked().bytes(first).wait(5).bytes(second)]).await;
        assert_eq!(text_of(&sample(&provider(&server)).await.unwrap()), "für 🦊");
    }
}

#[tokio::test]
async fn a_list_of_chunks_is_an_answer_too() {
    let chunks = [text("Hel", None), text("lo", Some("STOP"))].map(|chunk| chunk.replace("data: ", ""));
    let body = format!("[{}]", chunks.join(","));
    let server = Server::start(vec![
        Reply::chunked().bytes(&body[..40]).wait(5).bytes(&body[40..]),
        Reply::stream().bytes(&body[..body.len() - 20]),
    ])
    .await;
    let provider = provider(&server);
    assert_eq!(text_of(&sample(&provider).await.unwrap()), "Hello");
    let error = sample(&provider).await.unwrap_err();
    assert_eq!((error.kind, error.retryable), (ModelErrorKind::Protocol, true));
}

#[tokio::test]
async fn silence_is_a_timeout_and_comments_are_not_silence() {
    for reply in [
        Reply::empty().wait(5_000),
        Reply::stream().wait(5_000),
        Reply::stream().bytes(text("Half", None)).wait(5_000),
    ] {
        let started = Instant::now();
        let error = error_of(reply).await;
        assert_eq!((error.kind, error.retryable), (ModelErrorKind::Timeout, true));
        assert!(started.elapsed() < Duration::from_secs(3));
    }
    let mut slow = Reply::stream();
    for _ in 0..5 {
        slow = slow.bytes(": ping\n\n").wait(150);
    }
    let server = Server::start(vec![slow.bytes(text("Late", Some("STOP")))]).await;
    assert_eq!(text_of(&sample(&provider(&server)).await.unwrap()), "Late");
}

#[tokio::test]
async fn a_cut_stream_is_a_failure_that_may_be_retried() {
    for reply in [
        Reply::stream().bytes(text("Half", None)),
        Reply::chunked().bytes(text("Half", None)).reset(),
        Reply::stream().bytes("data: {\"candidates\":[{\"con"),
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
async fn the_answer_ends_at_its_end_although_the_connection_stays_open() {
    let server = Server::start(vec![hello().wait(5_000)]).await;
    let started = Instant::now();
    assert_eq!(text_of(&sample(&provider(&server)).await.unwrap()), "Hello");
    assert!(
        started.elapsed() < Duration::from_millis(2_500),
        "{:?}",
        started.elapsed()
    );
}

#[tokio::test]
async fn dropping_the_request_closes_the_connection() {
    let mut reply = Reply::stream();
    for _ in 0..100 {
        reply = reply.bytes(text("more ", None)).wait(50);
    }
    let server = Server::start(vec![reply]).await;
    let provider = provider(&server);
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

fn google_error(status: u16, name: &str, message: &str, details: Value) -> String {
    json!({"error": {"code": status, "message": message, "status": name, "details": details}}).to_string()
}

fn quota(ids: &[&str]) -> Value {
    let violations: Vec<Value> = ids
        .iter()
        .map(|id| json!({"quotaMetric": "requests", "quotaId": id}))
        .collect();
    json!([
        {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": violations},
        {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "13.5s"},
    ])
}

#[tokio::test]
#[expect(clippy::too_many_lines, reason = "one table")]
async fn statuses_become_kinds_with_a_remedy() {
    use ModelErrorKind::*;
    let plain = |status, name: &str, message: &str| google_error(status, name, message, json!([]));
    let key = json!([{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}]);
    let minute = quota(&["GenerateRequestsPerMinutePerProjectPerModel-FreeTier"]);
    let day = quota(&[
        "GenerateRequestsPerMinutePerProjectPerModel-FreeTier",
        "GenerateRequestsPerDayPerProjectPerModel-FreeTier",
    ]);
    for (status, body, kind, retryable, words) in [
        (
            400,
            google_error(400, "INVALID_ARGUMENT", "API key not valid.", key),
            Auth,
            false,
            "refused the key ending in wxyz",
        ),
        (
            403,
            plain(403, "PERMISSION_DENIED", "no access"),
            Auth,
            false,
            "refused the key",
        ),
        (
            404,
            plain(404, "NOT_FOUND", "models/m is not found for API version v1beta"),
            NotFound,
            false,
            "does not know this model",
        ),
        (
            400,
            plain(
                400,
                "INVALID_ARGUMENT",
                "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
            ),
            Overflow,
            false,
            "too long",
        ),
        (
            400,
            plain(400, "FAILED_PRECONDITION", "User location is not supported."),
            BadRequest,
            false,
            "did not accept",
        ),
        (
            429,
            plain(
                429,
                "RESOURCE_EXHAUSTED",
                "You exceeded your current quota, check billing",
            ),
            RateLimit,
            true,
            "asks to wait",
        ),
        (
            429,
            google_error(429, "RESOURCE_EXHAUSTED", "quota", minute),
            RateLimit,
            true,
            "asks to wait",
        ),
        (
            429,
            google_error(429, "RESOURCE_EXHAUSTED", "quota", day),
            Quota,
            false,
            "quota of this day",
        ),
        (
            500,
            plain(500, "INTERNAL", "An internal error has occurred."),
            Overloaded,
            true,
            "busy",
        ),
        (
            503,
            plain(503, "UNAVAILABLE", "The model is overloaded."),
            Overloaded,
            true,
            "busy",
        ),
        (
            504,
            plain(504, "DEADLINE_EXCEEDED", "took too long"),
            Timeout,
            true,
            "did not answer in time",
        ),
        (
            503,
            format!("[{}]", plain(503, "UNAVAILABLE", "overloaded")),
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
        assert_eq!(found.status, Some(status));
        assert!(found.hint.is_some());
    }
}

#[tokio::test]
async fn the_wait_that_the_server_asks_for_is_passed_on() {
    let body = google_error(429, "RESOURCE_EXHAUSTED", "slow down", quota(&["PerMinute"]));
    let error = error_of(Reply::status(429, &[], &body)).await;
    assert_eq!(error.retry_after, Some(Millis(13_500)));
    let in_the_stream = format!("data: {body}\r\n\r\n");
    let error = error_of(Reply::stream().bytes(text("Half", None)).bytes(in_the_stream)).await;
    assert_eq!(
        (error.kind, error.retry_after),
        (ModelErrorKind::RateLimit, Some(Millis(13_500)))
    );
    assert!(
        error.spent.as_ref().is_some_and(|spent| spent.input == 4),
        "{error:?}"
    );
}

#[tokio::test]
async fn what_is_blocked_stays_blocked() {
    let feedback = json!({"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 4, "totalTokenCount": 4}});
    for reply in [
        Reply::stream().bytes(format!("data: {feedback}\r\n\r\n")),
        Reply::kept_open(&feedback.to_string()),
        Reply::stream().bytes(chunk(json!([]), Some("PROHIBITED_CONTENT"))),
    ] {
        let error = error_of(reply).await;
        assert_eq!(
            (error.kind, error.retryable),
            (ModelErrorKind::Blocked, false),
            "{error:?}"
        );
        assert!(error.message.contains("Gemini blocked the content"), "{error}");
    }
}

#[tokio::test]
async fn what_a_model_refuses_is_left_out_and_remembered_for_it_alone() {
    let refusal = |message: &str| {
        Reply::status(
            400,
            &[],
            &google_error(400, "INVALID_ARGUMENT", message, json!([])),
        )
    };
    let server = Server::start(vec![
        refusal("Thinking level MEDIUM is not supported for this model."),
        refusal("Thinking level is not supported for this model."),
        refusal("Developer instruction is not enabled for models/gemini-3-flash"),
        hello(),
        hello(),
        hello(),
    ])
    .await;
    let provider = provider(&server);
    for model in ["gemini-3-flash", "gemini-3-flash", "gemini-3-pro"] {
        let request = ModelRequest {
            effort: Some(Effort::Medium),
            ..request(model, vec![user("Hi")])
        };
        assert_eq!(text_of(&ask(&provider, &request).await.unwrap()), "Hello");
    }
    let bodies: Vec<Value> = server.requests().iter().map(body_of).collect();
    let thinking = |n: usize| bodies[n]["generationConfig"]["thinkingConfig"].clone();
    assert_eq!(thinking(0)["thinkingLevel"], "medium");
    assert_eq!(thinking(1)["thinkingLevel"], "high");
    assert_eq!(
        thinking(2),
        json!({"includeThoughts": true, "thinkingBudget": 128})
    );
    assert!(bodies[2].get("systemInstruction").is_some());
    assert!(bodies[3].get("systemInstruction").is_none());
    assert_eq!(bodies[3]["contents"][0]["parts"][0]["text"], "Be brief.\n\nHi");
    assert_eq!(bodies[3], bodies[4]);
    assert_eq!(thinking(5)["thinkingLevel"], "medium");
}

#[tokio::test]
async fn what_did_not_help_or_was_about_one_request_is_not_remembered() {
    let refusal = |message: &str| {
        let body = google_error(400, "INVALID_ARGUMENT", message, json!([]));
        Reply::status(400, &[], &body)
    };
    let server = Server::start(vec![
        refusal("Request contains an invalid argument."),
        refusal("Request contains an invalid argument."),
        refusal("Unable to process input image."),
        hello(),
        hello(),
    ])
    .await;
    let provider = provider(&server);
    let image = Image {
        media_type: "image/png".into(),
        data: "iVBORw0KGgo=".into(),
        name: "shot.png".into(),
    };
    let look = Message::User {
        text: "Look.".into(),
        images: vec![image],
    };
    let request = request("gemini-3-flash", vec![look]);
    let error = ask(&provider, &request).await.unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::BadRequest);
    ask(&provider, &request).await.unwrap();
    ask(&provider, &request).await.unwrap();
    let bodies: Vec<String> = server.requests().into_iter().map(|seen| seen.body).collect();
    let thinks: Vec<bool> = bodies
        .iter()
        .map(|body| body.contains("thinkingConfig"))
        .collect();
    assert_eq!(thinks, [true, false, true, true, true]);
    let sees: Vec<bool> = bodies.iter().map(|body| body.contains("inlineData")).collect();
    assert_eq!(sees, [true, true, true, false, true]);
    assert!(bodies[3].contains("[Image shot.png: this model does not see images]"));
}

#[tokio::test]
async fn a_refusal_that_teaches_nothing_new_is_the_answer() {
    let reply = || {
        let body = google_error(
            400,
            "INVALID_ARGUMENT",
            "Unknown name \"id\": Cannot find field.",
            json!([]),
        );
        Reply::status(400, &[], &body)
    };
    let server = Server::start(vec![reply(), reply(), hello()]).await;
    let error = sample(&provider(&server)).await.unwrap_err();
    assert_eq!((error.kind, error.retryable), (ModelErrorKind::BadRequest, false));
    assert!(error.details.unwrap().contains("Cannot find field"));
    assert_eq!(server.requests().len(), 2);
}

/// The answer as it stands in the history.
fn said(answer: &Answer) -> Message {
    let part = |part: &AnswerPart| match part.clone() {
        AnswerPart::Text(text) => AgentPart::Text { text },
        AnswerPart::Reasoning { text, opaque } => AgentPart::Reasoning { text, opaque },
        AnswerPart::Call(call) => AgentPart::Call {
            id: call.server_id,
            name: call.name,
            arguments: match call.arguments {
                CallArguments::Complete(text) => text,
                CallArguments::Malformed { raw, .. } => raw,
            },
        },
    };
    Message::Agent {
        parts: answer.parts.iter().map(part).collect(),
    }
}

#[tokio::test]
async fn signatures_and_ids_go_back_on_the_parts_that_they_came_with() {
    let signature = "CtwBAVSo+XO7/xYk3cPz==";
    let parts = json!([
        {"text": "I look. "},
        {"functionCall": {"name": "list_files", "args": {"path": "a"}, "id": "call-1"}, "thoughtSignature": signature},
        {"functionCall": {"name": "list_files", "args": {"path": "b"}, "id": "call-2"}},
    ]);
    let server = Server::start(vec![
        Reply::stream()
            .bytes(chunk(json!([{"text": "Hm.", "thought": true}]), None))
            .bytes(chunk(parts, None))
            .bytes(chunk(
                json!([{"text": "", "thoughtSignature": "last+/="}]),
                Some("STOP"),
            )),
        hello(),
        hello(),
    ])
    .await;
    let provider = provider(&server);
    let first = ask(&provider, &request("gemini-3-flash", vec![user("Hi")]))
        .await
        .unwrap();
    assert_eq!(first.finish.0, FinishReason::Calls);
    let result = |id: &str, text: &str| CallResult {
        id: id.into(),
        name: "list_files".into(),
        text: text.into(),
        ok: true,
        images: Vec::new(),
    };
    let history = vec![
        user("Hi"),
        said(&first),
        Message::Results {
            results: vec![result("call-2", "B"), result("call-1", "A")],
        },
    ];
    for model in ["gemini-3-flash", "gemini-2.5-flash"] {
        ask(&provider, &request(model, history.clone())).await.unwrap();
    }
    let requests = server.requests();
    let answered = |n: usize| body_of(&requests[n])["contents"].clone();
    assert_eq!(
        answered(1)[1]["parts"],
        json!([
            {"text": "I look."},
            {"functionCall": {"id": "call-1", "name": "list_files", "args": {"path": "a"}}, "thoughtSignature": signature},
            {"functionCall": {"id": "call-2", "name": "list_files", "args": {"path": "b"}}},
            {"text": "", "thoughtSignature": "last+/="},
        ])
    );
    let response = |id: &str, output: &str| json!({"functionResponse": {"id": id, "name": "list_files", "response": {"output": output}}});
    assert_eq!(
        answered(1)[2]["parts"],
        json!([response("call-1", "A"), response("call-2", "B")])
    );
    assert!(!requests[2].body.contains("thoughtSignature") && !requests[2].body.contains("call-1"));
    // What was said before stays the beginning of what is said now.
    let (beginning, _) = requests[0].body.split_once("],\"generationConfig\"").unwrap();
    assert!(
        requests[1].body.starts_with(beginning),
        "{beginning}\n{}",
        requests[1].body
    );
}

#[tokio::test]
async fn a_missing_signature_is_made_up_for_at_the_next_attempt() {
    let missing = Reply::stream().bytes(chunk(json!([]), Some("MISSING_THOUGHT_SIGNATURE")));
    let server = Server::start(vec![missing, hello()]).await;
    let provider = provider(&server);
    let call = AgentPart::Call {
        id: "a".into(),
        name: "list_files".into(),
        arguments: "{}".into(),
    };
    let history = vec![user("Hi"), Message::Agent { parts: vec![call] }];
    let request = request("gemini-2.5-flash", history);
    let error = ask(&provider, &request).await.unwrap_err();
    assert_eq!((error.kind, error.retryable), (ModelErrorKind::Protocol, true));
    assert!(error.message.contains("MISSING_THOUGHT_SIGNATURE"), "{error}");
    ask(&provider, &request).await.unwrap();
    let bodies: Vec<String> = server.requests().into_iter().map(|seen| seen.body).collect();
    assert!(!bodies[0].contains("thoughtSignature"));
    assert!(bodies[1].contains("skip_thought_signature_validator"));
}

#[tokio::test]
async fn models_are_listed_page_by_page() {
    let model = |name: &str, methods: Value| json!({"name": format!("models/{name}"), "inputTokenLimit": 1_048_576, "outputTokenLimit": 65_536, "supportedGenerationMethods": methods});
    let page = |models: Value, next: &str| {
        Reply::status(
            200,
            &[],
            &json!({"models": models, "nextPageToken": next}).to_string(),
        )
    };
    let server = Server::start(vec![
        page(
            json!([
                model("gemini-3-pro", json!(["generateContent"])),
                model("embedding-1", json!(["embedContent"]))
            ]),
            "a+b/=",
        ),
        page(
            json!([model(
                "gemini-2.5-flash",
                json!(["generateContent", "countTokens"])
            )]),
            "",
        ),
    ])
    .await;
    let models = provider(&server).models().await.unwrap();
    let names: Vec<&str> = models.iter().map(|entry| entry.model.as_str()).collect();
    assert_eq!(names, ["gemini-2.5-flash", "gemini-3-pro"]);
    assert_eq!(models[0].facts.output, Some(65_536));
    let requests = server.requests();
    let lines: Vec<&str> = requests.iter().map(|seen| seen.line.as_str()).collect();
    assert_eq!(
        lines,
        [
            "GET /v1beta/models?pageSize=1000 HTTP/1.1",
            "GET /v1beta/models?pageSize=1000&pageToken=a%2Bb%2F%3D HTTP/1.1"
        ]
    );
    assert!(
        requests
            .iter()
            .all(|seen| seen.header("x-goog-api-key").as_deref() == Some(KEY))
    );
}

#[tokio::test]
async fn an_address_may_leave_out_the_version() {
    let list = json!({"models": []}).to_string();
    let server = Server::start(vec![
        hello(),
        Reply::status(200, &[], &list),
        Reply::status(404, &[], ""),
    ])
    .await;
    let provider = GeminiProvider::new(config(&server.url(""), KEY));
    assert_eq!(text_of(&sample(&provider).await.unwrap()), "Hello");
    assert_eq!(provider.models().await.unwrap(), []);
    let error = sample(&provider).await.unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::NotFound);
    assert!(error.hint.unwrap().contains(&server.url("/v1beta")));
    for seen in server.requests() {
        assert!(seen.line.contains(" /v1beta/models"), "{}", seen.line);
    }
}
