//! Messages and blocks in the words of the protocol.

use serde::Serialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Role {
    User,
    Assistant,
}

#[derive(Debug, Serialize)]
pub(crate) struct WireMessage<'a> {
    pub role: Role,
    pub content: Vec<Block<'a>>,
}

/// Up to here the server may keep what it has read.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct CacheMark {
    #[serde(rename = "type")]
    kind: &'static str,
}

impl CacheMark {
    pub const EPHEMERAL: CacheMark = CacheMark { kind: "ephemeral" };
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Block<'a> {
    Text {
        text: Cow<'a, str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<CacheMark>,
    },
    Image {
        source: Source<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<CacheMark>,
    },
    Thinking {
        thinking: &'a str,
        signature: String,
    },
    RedactedThinking {
        data: String,
    },
    ToolUse {
        id: String,
        name: String,
        input: Cow<'a, RawValue>,
    },
    ToolResult {
        tool_use_id: String,
        content: ResultContent<'a>,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<CacheMark>,
    },
}

impl<'a> Block<'a> {
    pub fn text(text: impl Into<Cow<'a, str>>) -> Self {
        Block::Text {
            text: text.into(),
            cache_control: None,
        }
    }
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum ResultContent<'a> {
    Text(&'a str),
    Blocks(Vec<Block<'a>>),
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Source<'a> {
    Base64 { media_type: &'a str, data: &'a str },
}
