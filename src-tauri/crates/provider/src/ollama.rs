//! What an Ollama server tells beyond the list that it shares with others: what its models can do, and the windows that they really
//! have.
//!
//! The wall stands here because the protocol knows nothing of it: a window cannot be asked for in Chat Completions, and the server
//! cuts what does not fit without a word. Deliberately absent: starting it, pulling models.

use crate::BaseUrl;
use crate::catalogue::merged;
use crate::model_list::{ollama_show_request, read_ollama_running, read_ollama_show};
use crate::server::Server;
use futures_util::future::join_all;
use paddock_protocol::{ModelEntry, ModelFacts};

const USUAL_PORT: &str = ":11434";
/// Models that are asked for at once, and all together.
const AT_ONCE: usize = 8;
const MODELS: usize = 200;

/// Whether the provider was made from the preset, found on this machine, or is at the usual port.
pub fn is_ollama(id: &str, base_url: &BaseUrl) -> bool {
    id == "ollama" || id.starts_with("ollama-") || base_url.host().ends_with(USUAL_PORT)
}

/// Adds what the server tells to its list. A server that does not answer like Ollama leaves the list as it is.
pub(crate) async fn look_closer(server: &Server, mut models: Vec<ModelEntry>) -> Vec<ModelEntry> {
    let Some(running) = server.beside("api/ps", None).await else {
        return models;
    };
    let Ok(running) = read_ollama_running(&running) else {
        return models;
    };
    let asked = models.len().min(MODELS);
    for some in models[..asked].chunks_mut(AT_ONCE) {
        join_all(some.iter_mut().map(|entry| show(server, entry))).await;
    }
    for entry in &mut models {
        let latest = format!("{}:latest", entry.model);
        let of_entry = |(name, _): &&(String, u32)| *name == entry.model || *name == latest;
        // What is loaded counts more than what was asked for.
        if let Some((_, window)) = running.iter().find(of_entry) {
            entry.facts.window = Some(*window);
            entry.facts.from = "the server".into();
        }
    }
    models
}

async fn show(server: &Server, entry: &mut ModelEntry) {
    let request = ollama_show_request(&entry.model).to_string();
    let shown = server.beside("api/show", Some(request)).await;
    if let Some(shown) = shown.and_then(|body| read_ollama_show(&body).ok()) {
        let listed = std::mem::take(&mut entry.facts);
        entry.facts = ModelFacts {
            from: "the server".into(),
            ..merged(shown.facts, listed)
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_known_by_its_preset_or_its_port() {
        let at = |address: &str| BaseUrl::parse(address).unwrap();
        assert!(is_ollama("ollama", &at("http://10.0.0.7:9000/v1")));
        assert!(is_ollama("ollama-11500", &at("http://127.0.0.1:11500/v1")));
        assert!(is_ollama("mine", &at("http://localhost:11434/v1")));
        assert!(!is_ollama("llama-cpp", &at("http://127.0.0.1:8080/v1")));
    }
}
