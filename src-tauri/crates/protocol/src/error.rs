//! The one shape of an error at the edge: what, why, what to do. A code exists only if a client branches on it.

use crate::{Millis, Usage};
use serde::{Deserialize, Serialize};

/// An error as a client sees it. `message` says what and why in a sentence, `hint` what to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
pub struct ClientError {
    pub code: ErrorCode,
    pub message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub hint: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub retry_after: Option<Millis>,
}

impl ClientError {
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            hint: None,
            retry_after: None,
        }
    }

    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl std::fmt::Display for ClientError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)?;
        if let Some(hint) = &self.hint {
            write!(f, " {hint}")?;
        }
        Ok(())
    }
}

impl std::error::Error for ClientError {}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    /// The request itself is wrong: an empty message, a number out of range.
    BadRequest,
    /// The folder cannot be a project.
    FolderRefused,
    /// No such session, item, call or approval.
    NotFound,
    /// The op does not fit the state: a decision on an answered approval, an extension while nothing waits.
    NotNow,
    /// Another turn works in this session.
    Busy,
    /// Another session changes this folder: wait, or look only.
    FolderBusy,
    /// No model is chosen, or its key is missing.
    NoModel,
    /// The keyring did not answer, is locked or missing.
    Keyring,
    /// The model or its server refused or failed; see [`ModelErrorKind`].
    Model,
    /// The disk, the log or the settings file could not be read or written.
    Storage,
    /// A fault in Paddock.
    Internal,
}

/// Why a model request failed. Texts in a view depend on this kind only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum ModelErrorKind {
    Auth,
    Quota,
    RateLimit,
    Overloaded,
    /// The request does not fit into the model's window.
    Overflow,
    BadRequest,
    NotFound,
    /// The provider refused the content.
    Blocked,
    Network,
    Timeout,
    /// The stream was cut or was not what the protocol says.
    Protocol,
    Cancelled,
}

/// A failed model request, in words that fit a person and without keys or raw bodies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
pub struct ModelError {
    pub kind: ModelErrorKind,
    /// What went wrong, one sentence.
    pub message: String,
    /// What to do, one sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub hint: Option<String>,
    /// HTTP status, when there was an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub status: Option<u16>,
    /// The server's own words, masked and capped at 2 000 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub details: Option<String>,
    /// The wait that the server asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub retry_after: Option<Millis>,
    /// Tokens that the failed attempt has used, as far as its server told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub spent: Option<Box<Usage>>,
    /// Whether the same request may be sent again without anyone deciding.
    pub retryable: bool,
}

impl ModelError {
    pub fn new(kind: ModelErrorKind, message: impl Into<String>) -> Self {
        use ModelErrorKind::*;
        let retryable = matches!(kind, RateLimit | Overloaded | Network | Timeout | Protocol);
        Self {
            kind,
            message: message.into(),
            hint: None,
            status: None,
            details: None,
            retry_after: None,
            spent: None,
            retryable,
        }
    }
}

impl ModelError {
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl std::fmt::Display for ModelError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)?;
        if let Some(hint) = &self.hint {
            write!(f, " {hint}")?;
        }
        Ok(())
    }
}

impl std::error::Error for ModelError {}
