//! Adapters to model APIs: bytes in, a normalised stream of model events out.
//!
//! The wall stands here so that the loop never sees a wire format. One call of [`Provider::sample`] is one attempt:
//! retries, limits and what is done with the answer belong to the loop. Deliberately absent: tools' behaviour,
//! approvals, sessions.

mod anthropic;
mod arguments;
mod base_url;
mod catalogue;
mod chat;
mod dialect;
mod discovery;
mod failure;
mod gemini;
mod http;
mod loose_json;
mod model;
mod model_list;
mod network;
mod ollama;
mod presets;
mod prompt_cut;
mod reading;
mod recording;
mod replay;
mod responses;
mod retry_after;
mod runaway;
mod scripted;
mod secret;
mod server;
mod sse;
mod writing;

pub use anthropic::AnthropicProvider;
pub use base_url::BaseUrl;
pub use catalogue::{catalogue_date, known_facts, merged, minimal_effort_word};
pub use chat::ChatProvider;
pub use dialect::{
    BrokenCall, PROJECT_HEADING, PROMPT_LIMIT, Reminder, Room, TextCall, TextCallProblem, TextCalls,
    TextPart, enhanced_prompt, form, read_text_calls, reminder,
};
pub use discovery::{find_local_servers, find_servers_on};
pub use gemini::GeminiProvider;
pub use http::{test_connection, test_proxy};
pub use model::*;
pub use model_list::{
    ModelListError, OllamaModel, next_page, ollama_show_request, page_size, read_model_list,
    read_ollama_running, read_ollama_show,
};
pub use network::{
    CertificateFacts, Exceptions, Network, NetworkConfig, ProxyAddress, ProxyChoice, ProxyLogin, Route,
    Variables,
};
pub use ollama::is_ollama;
pub use presets::presets;
pub use prompt_cut::prompt_was_cut;
pub use replay::{Replayed, replay};
pub use responses::ResponsesProvider;
pub use scripted::{Script, ScriptError, ScriptPace, ScriptedProvider, lay_out_sample_project};
pub use secret::Secret;
pub use server::ServerConfig;

use async_trait::async_trait;
use paddock_protocol::{ModelEntry, ModelError, ProviderId};

/// A model API. Dropping the future of [`Provider::sample`] ends the request on the wire.
#[async_trait]
pub trait Provider: Send + Sync {
    fn id(&self) -> &ProviderId;

    /// Asks once and reports the answer while it streams. An error means that nothing of the answer may be used;
    /// what was reported through `on_event` so far is then replaced by a further attempt.
    async fn sample(
        &self,
        request: &ModelRequest,
        on_event: &mut (dyn FnMut(ModelEvent) + Send),
    ) -> Result<Answer, ModelError>;

    /// The models that the server offers, with what it tells of them.
    async fn models(&self) -> Result<Vec<ModelEntry>, ModelError>;
}
