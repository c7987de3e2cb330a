//! The way to a model server on real sockets: an own authority of certificates, a TLS server of another make, an HTTP and a
//! SOCKS proxy. Hosts are names that only the proxies know, because this machine is never reached through a proxy.
#![allow(clippy::unwrap_used)]

mod authority;
mod changes;
mod http_proxy;
mod proxies;
#[path = "../server/mod.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod server;
mod socks_proxy;
mod tls;
mod walk;

use paddock_protocol::{
    CallFormat, Millis, ModelError, ModelFacts, NetworkSettings, ProviderId, ProxySetting,
};
use paddock_provider::*;
use serde_json::json;
use server::{Reply, Server};
use std::sync::Arc;
use tokio::io::AsyncWriteExt;

/// A port of this machine at which nothing listens.
fn closed_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

/// A server that says the same to everybody at once; its port.
async fn greeter(words: &'static str) -> u16 {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            tokio::spawn(async move {
                socket.write_all(words.as_bytes()).await.unwrap();
                // Open until the other side has had enough: unread bytes would reset the connection.
                let _ = tokio::io::copy(&mut socket, &mut tokio::io::sink()).await;
            });
        }
    });
    port
}

/// A server that answers every request for its list of models.
async fn model_server() -> Server {
    Server::start(vec![Reply::status(200, &[], "{\"data\":[{\"id\":\"one\"}]}"); 8]).await
}

fn port_of(server: &Server) -> u16 {
    server.url("").rsplit_once(':').unwrap().1.parse().unwrap()
}

/// Without the variables of the process.
fn network(config: NetworkConfig) -> Network {
    Network::with_variables(config, Arc::new(|_| None))
}

fn by_variables(config: NetworkConfig, set: &[(&str, String)]) -> Network {
    let set: Vec<(String, String)> = set
        .iter()
        .map(|(name, value)| ((*name).into(), value.clone()))
        .collect();
    Network::with_variables(
        config,
        Arc::new(move |name| {
            set.iter()
                .find(|(set, _)| set == name)
                .map(|(_, value)| value.clone())
        }),
    )
}

fn own_proxy(address: &str) -> NetworkConfig {
    let settings = NetworkSettings {
        proxy: ProxySetting::Own {
            address: address.into(),
            except: String::new(),
            login: false,
        },
        ..NetworkSettings::default()
    };
    NetworkConfig::of(&settings).unwrap()
}

fn provider(network: &Network, base_url: &str) -> ChatProvider {
    ChatProvider::new(ServerConfig {
        id: ProviderId::new("test"),
        label: "Test server".into(),
        base_url: BaseUrl::parse(base_url).unwrap(),
        key: Some(Secret::new("sk-secret-secret-wxyz")),
        key_origin: "from TEST_KEY".into(),
        local: false,
        headers: Vec::new(),
        network: network.clone(),
    })
}

/// The names of the server's models.
async fn ask(network: &Network, base_url: &str) -> Result<Vec<String>, ModelError> {
    let models = provider(network, base_url).models().await?;
    Ok(models.into_iter().map(|entry| entry.model).collect())
}

async fn error(network: &Network, base_url: &str) -> ModelError {
    ask(network, base_url).await.unwrap_err()
}

fn request() -> ModelRequest {
    ModelRequest {
        model: "m".into(),
        system: "Be brief.".into(),
        messages: vec![Message::User {
            text: "Hi".into(),
            images: Vec::new(),
        }],
        tools: Arc::default(),
        format: CallFormat::Native,
        facts: Arc::new(ModelFacts::default()),
        effort: None,
        max_output: None,
        silence: Millis(5_000),
        record: None,
        asked: None,
    }
}

fn chunk(content: &str) -> String {
    let data = json!({"choices": [{"index": 0, "delta": {"content": content}}]});
    format!("data: {data}\n\n")
}
