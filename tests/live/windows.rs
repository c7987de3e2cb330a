//! Windows of models as their servers really give them: what Ollama tells beside the list, and prompts that are cut in silence.

use crate::bed::{Bed, model_of};
use paddock_core::SessionWish;
use paddock_protocol::*;
use paddock_tests::model_server::{ModelServer, Piece, Received, bytes, call_delta, delta, status};
use serde_json::{Value, json};

/// What the server gives a model that it has loaded.
const SERVED: u32 = 4_096;

/// An Ollama server with one model, which is loaded once it was asked.
fn ollama(answering: impl Fn(&Received) -> Vec<Piece> + Send + Sync + 'static) -> ModelServer {
    let loaded = std::sync::atomic::AtomicBool::new(false);
    ModelServer::start(move |_, request| {
        let line = request.head.lines().next().unwrap_or_default();
        match line.split(' ').nth(1).unwrap_or_default() {
            "/v1/models" => ok(&json!({ "object": "list", "data": [
                { "id": "m", "object": "model", "created": 1, "owned_by": "library" },
            ]})),
            "/api/show" => {
                assert_eq!(request.json(), json!({ "model": "m" }));
                ok(&json!({
                    "parameters": "temperature 0.7",
                    "model_info": { "qwen2.context_length": 131_072 },
                    "capabilities": ["completion", "tools"],
                }))
            }
            "/api/ps" => {
                let running = match loaded.load(std::sync::atomic::Ordering::Relaxed) {
                    true => json!([{ "name": "m:latest", "context_length": SERVED }]),
                    false => json!([]),
                };
                ok(&json!({ "models": running }))
            }
            "/v1/chat/completions" => {
                loaded.store(true, std::sync::atomic::Ordering::Relaxed);
                answering(request)
            }
            other => panic!("asked for {other}"),
        }
    })
    .unwrap()
}

fn ok(body: &Value) -> Vec<Piece> {
    status("200 OK", "content-type: application/json\r\n", &body.to_string())
}

/// An answer with this count of the prompt.
fn counted(part: &Value, finish: &str, prompt: u32) -> Vec<Piece> {
    let usage = json!({ "prompt_tokens": prompt, "completion_tokens": 10, "total_tokens": prompt + 10 });
    let usage =
        json!({ "id": "c", "object": "chat.completion.chunk", "model": "m", "choices": [], "usage": usage });
    let body = format!(
        "{}{}data: {usage}\n\ndata: [DONE]\n\n",
        delta(part, None),
        delta(&json!({}), Some(finish))
    );
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    vec![bytes(head + &body)]
}

fn calls_add() -> Vec<Piece> {
    let call = call_delta(0, "c1", "add_numbers", "{\"a\": 17, \"b\": 25}");
    counted(&call, "tool_calls", 90)
}

async fn tested(bed: &Bed) -> ModelTest {
    let model = model_of("ollama");
    match bed.paddock.request(Request::TestModel { model }).await.unwrap() {
        Reply::ModelTest { test } => *test,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn the_self_test_tells_the_window_that_ollama_really_gives() {
    let server = ollama(|_| calls_add());
    let bed = Bed::new(&[("ollama", &server)]);
    let test = tested(&bed).await;
    assert_eq!(
        test.facts.window,
        Some(SERVED),
        "what is loaded counts, not what it was made for"
    );
    assert_eq!(test.facts.native_calls, Some(true));
    let window = test.links.iter().find(|link| link.link == "window").unwrap();
    assert_eq!(window.state, LinkState::Warning);
    let remedy = window.remedy.as_deref().unwrap();
    assert!(
        remedy.contains("OLLAMA_CONTEXT_LENGTH") && remedy.contains("num_ctx"),
        "{remedy}"
    );
}

#[tokio::test]
async fn a_window_that_is_set_larger_than_it_is_served_is_warned_of() {
    let server = ollama(|_| calls_add());
    let bed = Bed::with(&[("ollama", &server)], Some(32_768));
    let test = tested(&bed).await;
    let window = test.links.iter().find(|link| link.link == "window").unwrap();
    assert_eq!(window.state, LinkState::Warning);
    assert!(
        window
            .says
            .starts_with("32768 tokens are set, but the server gives it 4096"),
        "{}",
        window.says
    );
}

#[tokio::test]
async fn a_session_begins_with_the_window_that_the_server_tells() {
    let server = ollama(|_| calls_add());
    let bed = Bed::new(&[("ollama", &server)]);
    tested(&bed).await;
    let wish = || SessionWish {
        model: Some(model_of("ollama")),
        ..SessionWish::default()
    };
    let work = bed.session(wish()).await;
    assert_eq!(work.snapshot().await.config.facts.window, Some(SERVED));
    // After a restart nobody has asked for the list: it is asked for before the session begins.
    let again = Bed::new(&[("ollama", &server)]);
    let work = again.session(wish()).await;
    assert_eq!(work.snapshot().await.config.facts.window, Some(SERVED));
}

#[tokio::test]
async fn a_prompt_that_its_server_cut_is_told_once() {
    let server = ModelServer::start(|number, _| match number {
        0 | 1 => {
            let arguments = json!({ "path": format!("{number}.txt") }).to_string();
            let call = call_delta(0, &format!("c{number}"), "read_file", &arguments);
            counted(&call, "tool_calls", if number == 0 { 3_500 } else { 2_048 })
        }
        _ => counted(&json!({ "role": "assistant", "content": "Done." }), "stop", 2_048),
    })
    .unwrap();
    let bed = Bed::new(&[("main", &server)]);
    for name in ["0.txt", "1.txt"] {
        bed.put(name, &"Many words of a long file.\n".repeat(900));
    }
    let mut work = bed.session(SessionWish::default()).await;
    work.say("Read both files.").await;
    work.status(TurnStatus::Completed).await;
    let shown = work.snapshot().await;
    let told: Vec<_> = shown
        .items
        .iter()
        .filter_map(|item| match &item.kind {
            ItemKind::PromptCut {
                model,
                read,
                sent,
                remedy,
            } => Some((item.iteration, model.clone(), *read, *sent, remedy.clone())),
            _ => None,
        })
        .collect();
    assert_eq!(told.len(), 1, "{told:?}");
    let (iteration, model, read, sent, remedy) = &told[0];
    assert_eq!((*iteration, model, *read), (2, &model_of("main"), 2_048));
    assert!(*sent > 8_000, "{sent}");
    assert!(remedy.contains("OLLAMA_CONTEXT_LENGTH"));
}
