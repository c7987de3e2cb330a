//! Model servers that run on this machine, found on their usual ports.
//!
//! The wall stands here because this asks ports that may belong to anyone: only addresses of this machine, no key, no redirect, little
//! time, few bytes. A stranger is asked once and not listed. Deliberately absent: servers in the network, starting one.

use crate::catalogue::{known_facts, merged};
use crate::http::{Http, Outgoing};
use crate::model_list::{read_model_list, read_ollama_running};
use crate::network::Network;
use crate::presets::{local_preset, usual_ports};
use bytes::Bytes;
use futures_util::future::join_all;
use http::{HeaderMap, Method};
use paddock_protocol::{FoundServer, Millis, ModelEntry, ProviderKind};
use serde_json::Value;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

/// For everything together.
const LIMIT: Duration = Duration::from_millis(600);
/// Bytes of one answer.
const ANSWER_LIMIT: usize = 2 * 1024 * 1024;

/// Model servers on the usual ports of this machine, each once, in the order of the presets. Takes at most 0.6 seconds.
pub async fn find_local_servers() -> Vec<FoundServer> {
    find_servers_on(&usual_ports().collect::<Vec<_>>()).await
}

/// Model servers on these ports of this machine, each once.
pub async fn find_servers_on(ports: &[u16]) -> Vec<FoundServer> {
    let http = Http::new(Network::default());
    let addresses = ports.iter().flat_map(|port| {
        [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)]
            .map(|ip| SocketAddr::new(ip, *port))
    });
    let looks = addresses.map(|address| {
        let http = &http;
        async move {
            let look = tokio::time::timeout(LIMIT, Server { http, address }.look()).await;
            look.ok()
                .flatten()
                .map(|(id, needs_key, models)| (address, id, needs_key, models))
        }
    });
    let mut found: Vec<(SocketAddr, &str, bool, Vec<ModelEntry>)> = Vec::new();
    for server in join_all(looks).await.into_iter().flatten() {
        // One server under two names; 127.0.0.1 comes first.
        if !found
            .iter()
            .any(|known| (known.0.port(), known.1) == (server.0.port(), server.1))
        {
            found.push(server);
        }
    }
    named(found)
}

/// A second server of one kind has its port in its name.
fn named(found: Vec<(SocketAddr, &str, bool, Vec<ModelEntry>)>) -> Vec<FoundServer> {
    let mut servers: Vec<FoundServer> = Vec::new();
    for (address, id, needs_key, models) in found {
        let mut preset = local_preset(id, &address.to_string());
        preset.needs_key = needs_key;
        if servers.iter().any(|server| server.preset.id == id) {
            preset.id = format!("{id}-{}", address.port());
            preset.label = format!("{} ({})", preset.label, address.port());
        }
        servers.push(FoundServer { preset, models });
    }
    servers
}

/// What answers at an address.
struct Server<'a> {
    http: &'a Http,
    address: SocketAddr,
}

type Identity = (&'static str, bool, Vec<ModelEntry>);

impl Server<'_> {
    /// Which model server this is, whether it wants a key, and its models. The list that all of them have is asked for first: what
    /// does not answer it like one of them is a stranger.
    async fn look(&self) -> Option<Identity> {
        let (status, body) = self.get("/v1/models").await?;
        let list = (status == 200)
            .then(|| serde_json::from_str::<Value>(&body).ok())
            .flatten();
        match (status, &list) {
            (200, Some(list)) => {
                if owned_by(list, "llamacpp") {
                    return Some(("llama-cpp", false, self.models(&body)));
                }
                if owned_by(list, "vllm") {
                    return Some(("vllm", false, self.models(&body)));
                }
            }
            (401 | 403, _) => {}
            _ => return None,
        }
        if let Some(models) = self.ollama(&body).await {
            return Some(("ollama", false, models));
        }
        if let Some(models) = self.lm_studio().await {
            return Some(("lm-studio", false, models));
        }
        self.by_description(list.is_none(), &body).await
    }

    /// Servers that want a key for their list still tell what they are.
    async fn by_description(&self, locked: bool, body: &str) -> Option<Identity> {
        let models = || if locked { Vec::new() } else { self.models(body) };
        let description = self.json("/openapi.json").await?;
        let title = description["info"]["title"].as_str().unwrap_or_default();
        if title.starts_with("Jan API") {
            return Some(("jan", locked, models()));
        }
        let paths = &description["paths"];
        let vllm = ["/v1/chat/completions", "/detokenize", "/version"];
        let described = vllm.iter().all(|path| paths[path].is_object());
        (described && self.json("/version").await?["version"].is_string()).then(|| ("vllm", locked, models()))
    }

    /// The list of an Ollama server, with the windows of the models that run.
    async fn ollama(&self, list: &str) -> Option<Vec<ModelEntry>> {
        let version = self.json("/api/version").await?;
        version["version"].as_str()?;
        let (200, greeting) = self.get("/").await? else {
            return None;
        };
        if !greeting.contains("Ollama") {
            return None;
        }
        let running = self
            .get("/api/ps")
            .await
            .and_then(|(_, body)| read_ollama_running(&body).ok());
        let mut models = self.models(list);
        for (name, window) in running.into_iter().flatten() {
            for entry in models.iter_mut().filter(|entry| entry.model == name) {
                entry.facts.window = Some(window);
                entry.facts.from = "the server".into();
            }
        }
        Some(models)
    }

    /// The list of an LM Studio server, which says more than the one that all have.
    async fn lm_studio(&self) -> Option<Vec<ModelEntry>> {
        for (path, field, marks) in [
            ("/api/v0/models", "data", ["type", "state"]),
            ("/api/v1/models", "models", ["type", "loaded_instances"]),
        ] {
            let (200, body) = self.get(path).await? else {
                continue;
            };
            let list = serde_json::from_str::<Value>(&body).unwrap_or_default();
            let Some(models) = list[field].as_array() else {
                continue;
            };
            let marked = |model: &Value| marks.iter().all(|mark| model.get(mark).is_some());
            if models.iter().all(marked) && (!models.is_empty() || self.refuses_like_lm_studio().await) {
                return Some(self.models(&body));
            }
        }
        None
    }

    /// Without any model only the words for an unknown path tell.
    async fn refuses_like_lm_studio(&self) -> bool {
        let answer = self.get("/").await;
        answer.is_some_and(|(_, body)| body.contains("Unexpected endpoint"))
    }

    fn models(&self, body: &str) -> Vec<ModelEntry> {
        let host = self.address.ip().to_string();
        let host = if self.address.is_ipv6() {
            format!("[{host}]")
        } else {
            host
        };
        let list = read_model_list(ProviderKind::Chat, body).unwrap_or_default();
        let known = |entry: ModelEntry| {
            let known = known_facts(&host, ProviderKind::Chat, &entry.model);
            ModelEntry {
                facts: merged(entry.facts, known),
                model: entry.model,
            }
        };
        list.into_iter().map(known).collect()
    }

    async fn json(&self, path: &str) -> Option<Value> {
        let (200, body) = self.get(path).await? else {
            return None;
        };
        serde_json::from_str(&body).ok()
    }

    /// Status and body; none when nothing answers in time or the answer is too long.
    async fn get(&self, path: &str) -> Option<(u16, String)> {
        let request = Outgoing {
            method: Method::GET,
            url: url::Url::parse(&format!("http://{}{path}", self.address)).ok()?,
            headers: HeaderMap::new(),
            body: Bytes::new(),
        };
        let silence = Millis(u64::try_from(LIMIT.as_millis()).ok()?);
        let mut answer = self.http.send(&request, silence).await.ok()?;
        let bytes = answer.body.rest(ANSWER_LIMIT + 1).await;
        (bytes.len() <= ANSWER_LIMIT).then(|| (answer.status, String::from_utf8_lossy(&bytes).into_owned()))
    }
}

fn owned_by(list: &Value, owner: &str) -> bool {
    let models = list["data"].as_array();
    models
        .into_iter()
        .flatten()
        .any(|model| model["owned_by"] == owner)
}
