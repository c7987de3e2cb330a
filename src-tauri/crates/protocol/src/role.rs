//! Roles of one's own: a built-in role narrowed to some tools, with words, a model and limits of its own.

use crate::*;
use serde::{Deserialize, Serialize};

/// It can only take away from its base: tools that the base does not have stay absent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
pub struct OwnRole {
    pub name: String,
    /// What core and sandbox enforce. A project's file cannot name Admin.
    pub base: Role,
    /// The only tools that exist in it; absent: those of the base.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub tools: Option<Vec<String>>,
    /// Added to the system prompt.
    #[serde(default)]
    pub prompt: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub model: Option<ModelChoice>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub limits: Option<Limits>,
}

impl OwnRole {
    /// Whether the tool exists in this role, given that its base has it.
    pub fn has(&self, tool: &str) -> bool {
        self.tools
            .as_ref()
            .is_none_or(|tools| tools.iter().any(|name| name == tool))
    }
}

/// A role file as a list shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
pub struct RoleInfo {
    pub name: String,
    pub source: DefinitionSource,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub role: Option<OwnRole>,
    /// What is wrong with the file, one sentence each.
    pub problems: Vec<String>,
}
