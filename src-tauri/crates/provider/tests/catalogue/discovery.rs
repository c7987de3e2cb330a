//! Servers on loopback ports of the test, found and told apart.

use paddock_protocol::{FoundServer, ModelCost};
use paddock_provider::{BaseUrl, find_servers_on};
use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

fn list(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/lists")
        .join(format!("{name}.json"));
    std::fs::read_to_string(path).unwrap()
}

/// A server of fixed answers; paths that it does not know get the answer of "*", else 404.
struct Fake {
    port: u16,
    seen: Arc<Mutex<Vec<String>>>,
}

impl Fake {
    async fn start(answers: &[(&str, u16, &str)]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let fake = Self {
            port,
            seen: Arc::default(),
        };
        fake.serve(listener, answers);
        fake
    }

    fn serve(&self, listener: TcpListener, answers: &[(&str, u16, &str)]) {
        let answers: HashMap<String, (u16, String)> = answers
            .iter()
            .map(|(path, status, body)| ((*path).to_owned(), (*status, (*body).to_owned())))
            .collect();
        let (answers, seen) = (Arc::new(answers), Arc::clone(&self.seen));
        tokio::spawn(async move {
            while let Ok((mut socket, _)) = listener.accept().await {
                let (answers, seen) = (Arc::clone(&answers), Arc::clone(&seen));
                tokio::spawn(async move {
                    let mut head = Vec::new();
                    while !head.ends_with(b"\r\n\r\n") {
                        let Ok(byte) = socket.read_u8().await else { return };
                        head.push(byte);
                    }
                    let head = String::from_utf8(head).unwrap();
                    let path = head.split(' ').nth(1).unwrap().to_owned();
                    seen.lock().unwrap().push(head);
                    let nothing = (404, "{\"error\":\"not found\"}".to_owned());
                    let (status, body) = answers
                        .get(&path)
                        .or_else(|| answers.get("*"))
                        .unwrap_or(&nothing);
                    let answer = format!(
                        "HTTP/1.1 {status} X\r\nContent-Length: {}\r\nConnection: close\r\nLocation: http://127.0.0.1:9/\r\n\r\n{body}",
                        body.len()
                    );
                    let _ = socket.write_all(answer.as_bytes()).await;
                });
            }
        });
    }

    fn requests(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }

    async fn found(&self) -> Vec<FoundServer> {
        find_servers_on(&[self.port]).await
    }
}

fn only(found: &[FoundServer], id: &str) -> FoundServer {
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].preset.id, id);
    assert!(found[0].preset.local);
    BaseUrl::parse(&found[0].preset.base_url).unwrap();
    found[0].clone()
}

#[tokio::test]
async fn each_kind_of_server_is_known_by_what_it_answers() {
    let llama = Fake::start(&[("/v1/models", 200, &list("llama-server"))]).await;
    let server = only(&llama.found().await, "llama-cpp");
    assert_eq!(
        server.preset.base_url,
        format!("http://127.0.0.1:{}/v1", llama.port)
    );
    assert_eq!(server.models[0].facts.window, Some(16_384));
    assert_eq!(server.models[0].facts.cost, ModelCost::Free);
    assert!(!server.preset.needs_key);

    let vllm = Fake::start(&[
        ("/v1/models", 200, &list("vllm")),
        ("/version", 200, "{\"version\":\"0.20.0\"}"),
    ])
    .await;
    assert_eq!(
        only(&vllm.found().await, "vllm").models[0].facts.window,
        Some(65_536)
    );

    let ollama = Fake::start(&[
        ("/v1/models", 200, &list("ollama")),
        ("/api/version", 200, "{\"version\":\"0.40.12\"}"),
        ("/", 200, "Ollama is running"),
        ("/api/ps", 200, &list("ollama-ps")),
    ])
    .await;
    let models = only(&ollama.found().await, "ollama").models;
    assert_eq!(models.len(), 2);
    assert_eq!(
        (models[0].model.as_str(), &models[0].facts.cost),
        ("gpt-oss:120b-cloud", &ModelCost::Unknown)
    );
    assert_eq!(
        (models[1].facts.window, &models[1].facts.cost),
        (Some(4_096), &ModelCost::Free)
    );

    // It answers unknown paths with 200 and an error.
    let studio = Fake::start(&[
        ("/v1/models", 200, "{\"object\":\"list\",\"data\":[{\"id\":\"qwen3-coder-30b\",\"object\":\"model\",\"owned_by\":\"organization_owner\"}]}"),
        ("/api/v0/models", 200, &list("lm-studio")),
        ("*", 200, "{\"error\":\"Unexpected endpoint or method.\"}"),
    ])
    .await;
    let models = only(&studio.found().await, "lm-studio").models;
    assert_eq!((models.len(), models[1].facts.window), (2, Some(16_384)));
    let unexpected = "{\"error\":\"Unexpected endpoint or method.\"}";
    let list = list("lm-studio-v1");
    let newer = Fake::start(&[
        ("/v1/models", 200, "{\"data\":[]}"),
        ("/api/v1/models", 200, &list),
        ("*", 200, unexpected),
    ])
    .await;
    assert_eq!(
        only(&newer.found().await, "lm-studio").models[1].facts.window,
        Some(4_096)
    );
    let empty = "{\"object\":\"list\",\"data\":[]}";
    let bare = Fake::start(&[
        ("/v1/models", 200, empty),
        ("/api/v0/models", 200, empty),
        ("*", 200, unexpected),
    ])
    .await;
    assert!(only(&bare.found().await, "lm-studio").models.is_empty());
}

#[tokio::test]
async fn a_server_that_wants_a_key_is_named_without_its_models() {
    let jan = Fake::start(&[
        (
            "/openapi.json",
            200,
            "{\"openapi\":\"3.0.0\",\"info\":{\"title\":\"Jan API Server Endpoints\"}}",
        ),
        ("*", 401, "Invalid or missing authorization token"),
    ])
    .await;
    let server = only(&jan.found().await, "jan");
    assert!(server.preset.needs_key && server.models.is_empty());
    let vllm = Fake::start(&[
        (
            "/openapi.json",
            200,
            "{\"paths\":{\"/v1/chat/completions\":{},\"/detokenize\":{},\"/version\":{}}}",
        ),
        ("/version", 200, "{\"version\":\"0.20.0\"}"),
        ("*", 401, "{\"error\":\"Unauthorized\"}"),
    ])
    .await;
    assert!(only(&vllm.found().await, "vllm").preset.needs_key);
    for request in jan.requests().iter().chain(&vllm.requests()) {
        assert!(request.starts_with("GET "), "{request}");
        assert!(!request.to_lowercase().contains("authorization"), "{request}");
    }
}

#[tokio::test]
async fn strangers_are_not_listed_and_hardly_asked() {
    for (status, body) in [
        (200, "<!doctype html><title>My page</title>"),
        (404, "Cannot GET /v1/models"),
        (302, "{\"data\":[]}"),
        (500, "{}"),
    ] {
        let stranger = Fake::start(&[("*", status, body)]).await;
        assert!(stranger.found().await.is_empty(), "{status} {body}");
        assert_eq!(stranger.requests().len(), 1, "{status} {body}");
    }
    // Another API that answers everything with JSON, and one that wants a login.
    for (status, body) in [
        (200, "{\"data\":[{\"id\":1}],\"version\":\"2\"}"),
        (200, "{\"data\":[],\"models\":[]}"),
        (401, "{\"error\":\"login\"}"),
    ] {
        let stranger = Fake::start(&[("*", status, body)]).await;
        assert!(stranger.found().await.is_empty(), "{status} {body}");
    }
    let endless = format!("{{\"data\":[\"{}\"]}}", "x".repeat(3 * 1024 * 1024));
    let stranger = Fake::start(&[("*", 200, &endless)]).await;
    assert!(stranger.found().await.is_empty());
}

#[tokio::test]
async fn nobody_and_someone_silent_cost_little_time() {
    let closed = {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        listener.local_addr().unwrap().port()
    };
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = silent.local_addr().unwrap().port();
    let held = tokio::spawn(async move {
        let mut sockets = Vec::new();
        while let Ok((socket, _)) = silent.accept().await {
            sockets.push(socket);
        }
    });
    let llama = Fake::start(&[("/v1/models", 200, &list("llama-server"))]).await;
    let began = Instant::now();
    let found = find_servers_on(&[closed, port, llama.port]).await;
    assert!(
        began.elapsed() < Duration::from_millis(1_500),
        "{:?}",
        began.elapsed()
    );
    only(&found, "llama-cpp");
    held.abort();
}

#[tokio::test]
async fn one_server_on_both_loopback_addresses_is_listed_once_and_two_have_two_names() {
    let llama = Fake::start(&[("/v1/models", 200, &list("llama-server"))]).await;
    // Machines without IPv6 have only the one address.
    if let Ok(listener) = TcpListener::bind(("::1", llama.port)).await {
        llama.serve(listener, &[("/v1/models", 200, &list("llama-server"))]);
    }
    let other = Fake::start(&[("/v1/models", 200, &list("llama-server"))]).await;
    let found = find_servers_on(&[llama.port, other.port]).await;
    let ids: Vec<&str> = found.iter().map(|server| server.preset.id.as_str()).collect();
    assert_eq!(ids, ["llama-cpp", &format!("llama-cpp-{}", other.port)]);
    assert_eq!(found[1].preset.label, format!("llama.cpp ({})", other.port));
    assert_eq!(
        found[0].preset.base_url,
        format!("http://127.0.0.1:{}/v1", llama.port)
    );
}

#[tokio::test]
async fn a_server_only_on_the_newer_loopback_address_is_found_where_there_is_one() {
    let Ok(listener) = TcpListener::bind("[::1]:0").await else {
        return;
    };
    let fake = Fake {
        port: listener.local_addr().unwrap().port(),
        seen: Arc::default(),
    };
    fake.serve(listener, &[("/v1/models", 200, &list("llama-server"))]);
    let server = only(&fake.found().await, "llama-cpp");
    assert_eq!(server.preset.base_url, format!("http://[::1]:{}/v1", fake.port));
}
