//! Providers that are set up with one click: addresses, key pages and variables as their own documentation names them.
//!
//! The wall stands here so that everything known about a provider by name is in one table. A provider that needs more than an
//! address and a key (a region, a deployment, a signature) is none of these. Deliberately absent: models and prices.

use paddock_protocol::{ProviderKind, ProviderPreset};

/// One row; ports of local servers are in their addresses.
struct Row {
    id: &'static str,
    kind: ProviderKind,
    label: &'static str,
    base_url: &'static str,
    key_page: &'static str,
    variables: &'static [&'static str],
}

const fn cloud(
    id: &'static str,
    label: &'static str,
    base_url: &'static str,
    key_page: &'static str,
    variables: &'static [&'static str],
) -> Row {
    Row {
        id,
        kind: ProviderKind::Chat,
        label,
        base_url,
        key_page,
        variables,
    }
}

const CLOUDS: &[Row] = &[
    Row {
        kind: ProviderKind::Responses,
        ..cloud(
            "openai",
            "OpenAI",
            "https://api.openai.com/v1",
            "https://platform.openai.com/api-keys",
            &["OPENAI_API_KEY"],
        )
    },
    Row {
        kind: ProviderKind::Anthropic,
        ..cloud(
            "anthropic",
            "Anthropic",
            "https://api.anthropic.com/v1",
            "https://platform.claude.com/settings/keys",
            &["ANTHROPIC_API_KEY"],
        )
    },
    Row {
        kind: ProviderKind::Gemini,
        ..cloud(
            "gemini",
            "Google Gemini",
            "https://generativelanguage.googleapis.com/v1beta",
            "https://aistudio.google.com/apikey",
            &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        )
    },
    cloud(
        "openrouter",
        "OpenRouter",
        "https://openrouter.ai/api/v1",
        "https://openrouter.ai/settings/keys",
        &["OPENROUTER_API_KEY"],
    ),
    cloud(
        "mistral",
        "Mistral",
        "https://api.mistral.ai/v1",
        "https://console.mistral.ai/api-keys",
        &["MISTRAL_API_KEY"],
    ),
    cloud(
        "groq",
        "Groq",
        "https://api.groq.com/openai/v1",
        "https://console.groq.com/keys",
        &["GROQ_API_KEY"],
    ),
    cloud(
        "deepseek",
        "DeepSeek",
        "https://api.deepseek.com",
        "https://platform.deepseek.com/api_keys",
        &["DEEPSEEK_API_KEY"],
    ),
    cloud(
        "xai",
        "xAI",
        "https://api.x.ai/v1",
        "https://console.x.ai",
        &["XAI_API_KEY"],
    ),
    cloud(
        "together",
        "Together AI",
        "https://api.together.ai/v1",
        "https://api.together.ai/settings/api-keys",
        &["TOGETHER_API_KEY"],
    ),
    cloud(
        "fireworks",
        "Fireworks AI",
        "https://api.fireworks.ai/inference/v1",
        "https://app.fireworks.ai/settings/users/api-keys",
        &["FIREWORKS_API_KEY"],
    ),
    cloud(
        "cerebras",
        "Cerebras",
        "https://api.cerebras.ai/v1",
        "https://cloud.cerebras.ai",
        &["CEREBRAS_API_KEY"],
    ),
];

/// Addresses under which a cloud is reached as well, at the same prices.
const OTHER_HOSTS: &[(&str, &str)] = &[("api.together.xyz", "together")];

/// Local servers: id, label and usual port.
const LOCAL: &[(&str, &str, u16)] = &[
    ("ollama", "Ollama", 11434),
    ("lm-studio", "LM Studio", 1234),
    ("llama-cpp", "llama.cpp", 8080),
    ("vllm", "vLLM", 8000),
    ("jan", "Jan", 1337),
];

/// Providers to choose from: clouds, servers on this machine, and one with an empty address for any other server.
pub fn presets() -> Vec<ProviderPreset> {
    let clouds = CLOUDS.iter().map(|row| ProviderPreset {
        id: row.id.into(),
        kind: row.kind,
        label: row.label.into(),
        base_url: row.base_url.into(),
        needs_key: true,
        key_page: row.key_page.into(),
        local: false,
        variables: row.variables.iter().map(|name| (*name).into()).collect(),
    });
    let local = LOCAL
        .iter()
        .map(|(id, _, port)| local_preset(id, &format!("127.0.0.1:{port}")));
    clouds.chain(local).collect()
}

/// A local server at `authority` (host and port). Jan asks for a key unless it is told not to.
pub(crate) fn local_preset(id: &str, authority: &str) -> ProviderPreset {
    let label = LOCAL.iter().find(|row| row.0 == id).map_or(id, |row| row.1);
    ProviderPreset {
        id: id.into(),
        kind: ProviderKind::Chat,
        label: label.into(),
        base_url: format!("http://{authority}/v1"),
        needs_key: id == "jan",
        key_page: String::new(),
        local: true,
        variables: Vec::new(),
    }
}

/// The ports on which local servers usually are, in the order of the presets.
pub(crate) fn usual_ports() -> impl Iterator<Item = u16> {
    LOCAL.iter().map(|(_, _, port)| *port)
}

/// Whether this is the id of a local server's preset.
pub(crate) fn is_local_preset(id: &str) -> bool {
    LOCAL.iter().any(|(local, _, _)| *local == id)
}

/// The cloud with this id, or the one that is reached at this host.
pub(crate) fn cloud_named(id_or_host: &str) -> Option<&'static str> {
    let at_host = |row: &&Row| host(row.base_url) == id_or_host;
    let named = CLOUDS
        .iter()
        .find(|row| row.id == id_or_host)
        .or_else(|| CLOUDS.iter().find(at_host));
    named.map(|row| row.id).or_else(|| {
        let other = OTHER_HOSTS.iter().find(|(host, _)| *host == id_or_host);
        other.map(|(_, id)| *id)
    })
}

fn host(base_url: &'static str) -> &'static str {
    let rest = base_url.split_once("://").map_or(base_url, |(_, rest)| rest);
    rest.split('/').next().unwrap_or(rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::BaseUrl;
    use std::collections::HashSet;

    #[test]
    fn every_preset_can_be_used_as_it_is() {
        let presets = presets();
        let ids: HashSet<&str> = presets.iter().map(|preset| preset.id.as_str()).collect();
        assert_eq!(ids.len(), presets.len());
        for preset in &presets {
            let base_url = BaseUrl::parse(&preset.base_url).unwrap();
            assert_eq!(base_url.as_str(), preset.base_url, "{}", preset.id);
            assert_eq!(base_url.is_loopback(), preset.local, "{}", preset.id);
            assert_eq!(base_url.is_secure(), !preset.local, "{}", preset.id);
            assert_eq!(preset.key_page.is_empty(), preset.local, "{}", preset.id);
            assert_eq!(preset.variables.is_empty(), preset.local, "{}", preset.id);
        }
    }

    #[test]
    fn clouds_are_known_by_id_and_by_host() {
        assert_eq!(cloud_named("gemini"), Some("gemini"));
        assert_eq!(cloud_named("generativelanguage.googleapis.com"), Some("gemini"));
        assert_eq!(cloud_named("api.together.xyz"), Some("together"));
        assert_eq!(cloud_named("api.together.ai"), Some("together"));
        for stranger in [
            "",
            "other",
            "ollama",
            "openai.com",
            "xapi.openai.com",
            "eu.api.openai.com",
        ] {
            assert_eq!(cloud_named(stranger), None, "{stranger}");
        }
    }
}
