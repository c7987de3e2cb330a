//! What Ollama tells of a model beyond its name.
//!
//! Its list has only names. What a model was trained for and what the server gives it are two things: the server cuts what does not
//! fit from the front, in silence, so the trained window is never taken for the served one.

use super::{ModelListError, number, texts};
use paddock_protocol::{ModelCost, ModelFacts};
use serde_json::{Value, json};

/// One model of an Ollama server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OllamaModel {
    /// The window is the one that the model's own settings ask for (`num_ctx`); absent = the server's default, which it does
    /// not tell until the model runs ([`read_ollama_running`]).
    pub facts: ModelFacts,
    /// The largest window that may be asked for, in tokens.
    pub largest_window: Option<u32>,
}

/// Body of a POST to `/api/show`.
pub fn ollama_show_request(model: &str) -> Value {
    json!({"model": model})
}

/// Reads the answer to [`ollama_show_request`].
pub fn read_ollama_show(body: &str) -> Result<OllamaModel, ModelListError> {
    let value: Value =
        serde_json::from_str(body).map_err(|error| ModelListError::Unreadable(error.to_string()))?;
    let information = value.get("model_info").and_then(Value::as_object);
    let lengths = information
        .into_iter()
        .flatten()
        .filter(|(name, _)| name.ends_with(".context_length"));
    let largest_window = lengths.filter_map(|(_, length)| number(length)).max();
    let able = value.get("capabilities").map(texts);
    let knows = |what: &str| able.as_ref().map(|able| able.contains(&what));
    if information.is_none() && able.is_none() {
        return Err(ModelListError::NoList);
    }
    let relayed = value
        .get("remote_host")
        .is_some_and(|host| host.as_str().is_some_and(|host| !host.is_empty()));
    Ok(OllamaModel {
        facts: ModelFacts {
            window: value["parameters"].as_str().and_then(asked_window),
            cost: if relayed {
                ModelCost::Unknown
            } else {
                ModelCost::Free
            },
            native_calls: knows("tools"),
            images: knows("vision"),
            reasoning: knows("thinking"),
            from: "the server".into(),
            ..ModelFacts::default()
        },
        largest_window,
    })
}

/// Reads `/api/ps`: the models that run now, with the windows that they have.
pub fn read_ollama_running(body: &str) -> Result<Vec<(String, u32)>, ModelListError> {
    let value: Value =
        serde_json::from_str(body).map_err(|error| ModelListError::Unreadable(error.to_string()))?;
    let models = value["models"].as_array().ok_or(ModelListError::NoList)?;
    let running = |model: &Value| {
        Some((
            model["name"].as_str()?.to_owned(),
            number(&model["context_length"])?,
        ))
    };
    Ok(models.iter().filter_map(running).collect())
}

/// `num_ctx` in the settings, one a line: name, blanks, value.
fn asked_window(parameters: &str) -> Option<u32> {
    parameters.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        (words.next()? == "num_ctx").then(|| words.next()?.parse().ok())?
    })
}
