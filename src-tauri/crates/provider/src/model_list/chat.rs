//! Lists of Chat Completions servers and their many imitators: one reading for all, field by field.
//!
//! What is served counts, not what a model was trained for: a server that cuts or refuses longer prompts must not be given them.

use super::{ENTRIES, ModelListError, entry, money, number, texts};
use paddock_protocol::{Effort, ModelEntry, ModelFacts};
use serde_json::Value;

/// Kinds of models that hold no conversation, as servers name them.
const OTHER_TYPES: &[&str] = &[
    "embedding",
    "embeddings",
    "image",
    "moderation",
    "rerank",
    "audio",
    "transcribe",
    "tts",
    "stt",
    "video",
];

/// Words in names that say the same where the server does not.
const OTHER_NAMES: &[&str] = &[
    "dall-e",
    "davinci-002",
    "babbage-002",
    "embed",
    "gpt-image",
    "chatgpt-image",
    "moderation",
    "realtime",
    "rerank",
    "sora-",
    "transcribe",
    "tts-",
    "-tts",
    "whisper",
];

pub(super) fn read(value: &Value) -> Result<Vec<ModelEntry>, ModelListError> {
    let fields = ["data", "models"].map(|field| value.get(field));
    let list = fields.into_iter().flatten().find_map(Value::as_array);
    let Some(list) = list.or_else(|| value.as_array()) else {
        // A server without any model may say so with `null`.
        let empty = fields.iter().flatten().any(|field| field.is_null());
        return if empty {
            Ok(Vec::new())
        } else {
            Err(ModelListError::NoList)
        };
    };
    let twins = value["models"].as_array().map_or(&[][..], Vec::as_slice);
    Ok(list
        .iter()
        .take(ENTRIES)
        .filter_map(|model| model_of(model, twins))
        .collect())
}

fn model_of(model: &Value, twins: &[Value]) -> Option<ModelEntry> {
    let named = |model: &Value| {
        let name = ["id", "key", "name", "model"]
            .iter()
            .find_map(|field| model.get(field)?.as_str());
        name.or_else(|| model.as_str()).map(str::to_owned)
    };
    let name = named(model)?;
    if !converses(model, &name) {
        return None;
    }
    // llama.cpp tells abilities in a second list of the same answer.
    let twin = twins
        .iter()
        .find(|twin| named(twin).as_ref() == Some(&name))
        .unwrap_or(&Value::Null);
    let facts = ModelFacts {
        window: window(model),
        output: output(model),
        cost: money::cost(model),
        native_calls: native_calls(model),
        images: images(model, twin),
        reasoning: reasoning(model),
        temperature: listed(model, "supported_parameters", "temperature"),
        efforts: efforts(model),
        from: String::new(),
    };
    entry(name, facts)
}

fn converses(model: &Value, name: &str) -> bool {
    let kind = model["type"].as_str().unwrap_or_default();
    let capabilities = &model["capabilities"];
    let refused = [
        &capabilities["completion_chat"],
        &model["supports_chat"],
        &model["active"],
    ];
    let retired = model["archived"] == true;
    let mute = [
        &model["architecture"]["output_modalities"],
        &model["output_modalities"],
    ]
    .iter()
    .any(|kinds| kinds.is_array() && !texts(kinds).contains(&"text"));
    let name = name.to_lowercase();
    !OTHER_TYPES.contains(&kind)
        && !refused.iter().any(|flag| **flag == false)
        && !retired
        && !mute
        && !OTHER_NAMES.iter().any(|word| name.contains(word))
}

fn window(model: &Value) -> Option<u32> {
    let served = [
        &model["meta"]["n_ctx"],
        &model["max_model_len"],
        &model["loaded_context_length"],
        &model["loaded_instances"][0]["config"]["context_length"],
    ];
    if let Some(window) = served.into_iter().find_map(number) {
        return Some(window);
    }
    // Not loaded yet, or only the window of the training is told: what will be served is open.
    if model.get("state").is_some() || model.get("loaded_instances").is_some() || model.get("meta").is_some()
    {
        return None;
    }
    let told = ["context_length", "context_window", "max_context_length"];
    let told = told.iter().find_map(|field| number(&model[*field]));
    let provider = number(&model["top_provider"]["context_length"]);
    match (told, provider) {
        (Some(told), Some(provider)) => Some(told.min(provider)),
        (told, provider) => told.or(provider),
    }
}

fn output(model: &Value) -> Option<u32> {
    let fields = ["max_completion_tokens", "max_output_length", "max_output_tokens"];
    number(&model["top_provider"]["max_completion_tokens"])
        .or_else(|| fields.iter().find_map(|field| number(&model[*field])))
}

/// Whether a list of words has this one; none when there is no such list.
fn listed(model: &Value, field: &str, word: &str) -> Option<bool> {
    let words = model.get(field).filter(|words| words.is_array())?;
    Some(texts(words).contains(&word))
}

fn flag(value: &Value) -> Option<bool> {
    value.as_bool()
}

fn native_calls(model: &Value) -> Option<bool> {
    let capabilities = &model["capabilities"];
    flag(&capabilities["function_calling"])
        .or_else(|| flag(&model["supports_tools"]))
        .or_else(|| listed(model, "supported_parameters", "tools"))
        .or_else(|| listed(model, "supported_features", "tools"))
        // Without that training LM Studio still translates calls: not a no.
        .or_else(|| flag(&capabilities["trained_for_tool_use"]).filter(|trained| *trained))
        .or_else(|| texts(capabilities).contains(&"tool_use").then_some(true))
}

fn images(model: &Value, twin: &Value) -> Option<bool> {
    let kinds = [&model["architecture"], model];
    let kinds = kinds
        .iter()
        .find_map(|owner| listed(owner, "input_modalities", "image"));
    let by_type = match model["type"].as_str() {
        Some("vlm") => Some(true),
        Some("llm") if model.get("arch").is_some() => Some(false),
        _ => None,
    };
    kinds
        .or_else(|| flag(&model["capabilities"]["vision"]))
        .or_else(|| flag(&model["supports_image_input"]))
        .or(by_type)
        .or_else(|| listed(twin, "capabilities", "multimodal"))
}

fn reasoning(model: &Value) -> Option<bool> {
    flag(&model["capabilities"]["reasoning"]).or_else(|| listed(model, "supported_parameters", "reasoning"))
}

/// Only where the server lists them.
fn efforts(model: &Value) -> Vec<Effort> {
    let effort = |word: &str| match word {
        "none" | "minimal" => Some(Effort::Minimal),
        "low" => Some(Effort::Low),
        "medium" => Some(Effort::Medium),
        "high" => Some(Effort::High),
        _ => None,
    };
    let words = texts(&model["reasoning"]["supported_efforts"]);
    let mut efforts: Vec<Effort> = words.into_iter().filter_map(effort).collect();
    efforts.sort_unstable();
    efforts.dedup();
    efforts
}
