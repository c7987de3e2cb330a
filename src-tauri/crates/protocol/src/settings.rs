//! Settings of the person, for all projects. Keys are not among them: they are in the OS keyring.

use crate::*;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
#[serde(default)]
pub struct Settings {
    pub providers: Vec<ProviderConfig>,
    /// Model of new sessions; absent until one was chosen.
    pub model: Option<ModelChoice>,
    /// Offered, or used, when the model of a session fails.
    pub fallback: Option<Fallback>,
    /// For sub-agents and other small work; absent = the model of the session.
    pub small: Option<ModelChoice>,
    /// Models that do not call tools natively, as the self-test found or the person set.
    pub formats: Vec<ModelFormat>,
    /// Windows and prices that the person corrected.
    pub overrides: Vec<ModelOverride>,
    /// Of new sessions.
    pub budget: Budget,
    pub network: NetworkSettings,
    pub autonomy: Autonomy,
    pub profile: LimitProfile,
    pub limits: Limits,
    pub theme: Theme,
    pub notifications: NotificationSettings,
    pub send_key: SendKey,
    /// Projects opened last, newest first, at most 12.
    pub recent_projects: Vec<String>,
}

/// How one model is asked to call tools.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
pub struct ModelFormat {
    pub model: ModelChoice,
    pub format: CallFormat,
}

/// One model server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
pub struct ProviderConfig {
    pub id: ProviderId,
    pub kind: ProviderKind,
    /// Name shown to the person.
    pub label: String,
    /// For example `https://api.openai.com/v1` or `http://127.0.0.1:11434/v1`.
    pub base_url: String,
    /// Whether the server wants a key; local ones mostly do not.
    pub needs_key: bool,
    /// Context window in tokens, when the person knows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub window: Option<u32>,
    /// Sent with every request, for gateways that want them. Not for keys.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "bindings", ts(as = "Option<Vec<HeaderLine>>", optional))]
    pub headers: Vec<HeaderLine>,
}

/// A header of HTTP.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
pub struct HeaderLine {
    pub name: String,
    pub value: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum ProviderKind {
    /// OpenAI-compatible Chat Completions.
    Chat,
    /// OpenAI Responses.
    Responses,
    /// Anthropic Messages.
    Anthropic,
    /// Google Gemini.
    Gemini,
    /// The scripted demo model: no network, no key.
    Demo,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum Theme {
    #[default]
    System,
    Light,
    Dark,
    HighContrastLight,
    HighContrastDark,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum SendKey {
    #[default]
    Enter,
    /// Ctrl+Enter, on macOS Command+Enter.
    ModEnter,
}

/// System notifications while the window is not focused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
#[serde(default)]
pub struct NotificationSettings {
    pub waiting: bool,
    pub done: bool,
    pub failed: bool,
    /// Command, path and host may appear in the text.
    pub details: bool,
}

impl Default for NotificationSettings {
    fn default() -> Self {
        Self {
            waiting: true,
            done: true,
            failed: true,
            details: false,
        }
    }
}

/// Where the key of a provider is, without the key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
#[serde(tag = "key", rename_all = "snake_case")]
pub enum KeyState {
    NotNeeded,
    Missing,
    /// In the OS keyring; the last four characters help to recognise it.
    InKeyring {
        ends_with: String,
    },
    /// Kept in memory until the program ends, because the keyring did not take it.
    ThisSessionOnly {
        ends_with: String,
        why: String,
    },
    /// From an environment variable.
    FromEnvironment {
        variable: String,
        ends_with: String,
    },
    /// The keyring did not answer, is locked or missing.
    Unavailable {
        why: String,
    },
}
