//! Lists of models as servers send them, read into names and facts.
//!
//! The wall stands here because every server says the same things under other names, and nothing after this knows which. A field
//! that is not understood says nothing; an entry without a usable name is left out. Deliberately absent: asking, and what the
//! catalogue knows.

mod chat;
mod money;
mod ollama;

pub use ollama::{OllamaModel, ollama_show_request, read_ollama_running, read_ollama_show};

use paddock_protocol::{Effort, ModelEntry, ModelFacts, ProviderKind};
use serde_json::Value;

/// Entries of a list that are read.
const ENTRIES: usize = 10_000;
/// Characters of a name.
const NAME_LIMIT: usize = 300;

/// Why a list of models is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModelListError {
    #[error("not JSON: {0}")]
    Unreadable(String),
    #[error("no list of models in it")]
    NoList,
}

/// The models in a list, sorted by name, without those that hold no conversation. Prices only where the server tells them.
pub fn read_model_list(kind: ProviderKind, body: &str) -> Result<Vec<ModelEntry>, ModelListError> {
    let value: Value =
        serde_json::from_str(body).map_err(|error| ModelListError::Unreadable(error.to_string()))?;
    let mut entries = match kind {
        ProviderKind::Chat | ProviderKind::Responses => chat::read(&value)?,
        ProviderKind::Anthropic => each(&value, "data", anthropic_model)?,
        ProviderKind::Gemini => each(&value, "models", gemini_model)?,
        ProviderKind::Demo => Vec::new(),
    };
    entries.sort_by(|a, b| a.model.cmp(&b.model));
    entries.dedup_by(|a, b| a.model == b.model);
    Ok(entries)
}

/// Name and value of the query parameter that asks for as many models at once as the protocol allows.
pub fn page_size(kind: ProviderKind) -> Option<(&'static str, &'static str)> {
    match kind {
        ProviderKind::Anthropic => Some(("limit", "1000")),
        ProviderKind::Gemini => Some(("pageSize", "1000")),
        _ => None,
    }
}

/// Name and value of the query parameter that asks for what follows this part of a list; none at its end.
pub fn next_page(kind: ProviderKind, body: &str) -> Option<(&'static str, String)> {
    let value: Value = serde_json::from_str(body).ok()?;
    let (name, mark) = match kind {
        ProviderKind::Anthropic if value["has_more"] == true => ("after_id", &value["last_id"]),
        ProviderKind::Gemini => ("pageToken", &value["nextPageToken"]),
        _ => return None,
    };
    let mark = mark
        .as_str()
        .filter(|mark| !mark.is_empty() && mark.len() <= 4_096)?;
    Some((name, mark.to_owned()))
}

fn each(
    value: &Value,
    field: &str,
    read: fn(&Value) -> Option<ModelEntry>,
) -> Result<Vec<ModelEntry>, ModelListError> {
    let list = value[field].as_array().ok_or(ModelListError::NoList)?;
    Ok(list.iter().take(ENTRIES).filter_map(read).collect())
}

fn anthropic_model(model: &Value) -> Option<ModelEntry> {
    let capabilities = &model["capabilities"];
    let supported = |name: &str| capabilities[name]["supported"].as_bool();
    let levels = [
        ("low", Effort::Low),
        ("medium", Effort::Medium),
        ("high", Effort::High),
    ];
    let effort = &capabilities["effort"];
    let efforts = levels
        .into_iter()
        .filter(|(level, _)| effort[*level]["supported"] == true);
    let facts = ModelFacts {
        window: number(&model["max_input_tokens"]),
        output: number(&model["max_tokens"]),
        images: supported("image_input"),
        reasoning: supported("thinking"),
        efforts: efforts.map(|(_, effort)| effort).collect(),
        ..ModelFacts::default()
    };
    entry(model["id"].as_str()?.to_owned(), facts)
}

fn gemini_model(model: &Value) -> Option<ModelEntry> {
    let name = model["name"].as_str()?;
    let name = name.strip_prefix("models/").unwrap_or(name);
    let converses = texts(&model["supportedGenerationMethods"]).contains(&"generateContent");
    let other = ["embedding", "-image", "-tts", "imagen", "native-audio", "lyria"];
    if !converses || other.iter().any(|word| name.contains(word)) {
        return None;
    }
    let facts = ModelFacts {
        window: number(&model["inputTokenLimit"]),
        output: number(&model["outputTokenLimit"]),
        reasoning: model["thinking"].as_bool(),
        ..ModelFacts::default()
    };
    entry(name.to_owned(), facts)
}

/// An entry with a name that can be sent and shown.
fn entry(model: String, mut facts: ModelFacts) -> Option<ModelEntry> {
    if model.trim().is_empty() || model.chars().count() > NAME_LIMIT || model.chars().any(char::is_control) {
        return None;
    }
    if facts != ModelFacts::default() {
        facts.from = "the server".into();
    }
    Some(ModelEntry { model, facts })
}

/// A count of tokens; zero stands for "not told".
fn number(value: &Value) -> Option<u32> {
    let number = value.as_u64().filter(|number| *number > 0)?;
    Some(u32::try_from(number).unwrap_or(u32::MAX))
}

fn texts(value: &Value) -> Vec<&str> {
    value
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect()
}
