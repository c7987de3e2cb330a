//! A whole file, new or replaced.

use crate::change::{self, Plan};
use crate::place::Place;
use crate::text::{LineEnd, Text};
use crate::typed::{Stop, TypedTool, done};
use crate::{CallContext, Prepared, ToolError, ToolKind};
use paddock_protocol::CallOutput;
use schemars::JsonSchema;
use serde::Deserialize;

pub(crate) struct WriteFile;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    path: String,
    content: String,
}

impl TypedTool for WriteFile {
    type Input = Input;
    const NAME: &'static str = "write_file";
    const DESCRIPTION: &'static str = include_str!("write_file.md").trim_ascii();
    const KIND: ToolKind = ToolKind::Write;

    fn prepare(input: Input, cx: &CallContext) -> Result<Prepared, ToolError> {
        change::prepare(cx, &input.path, |place, old| plan(place, old, &input.content))
    }

    fn run(input: Input, cx: &CallContext, _: &Stop) -> Result<CallOutput, ToolError> {
        let (change, text, ()) = change::run(cx, &input.path, |place, old| {
            Ok((plan(place, old, &input.content)?, ()))
        })?;
        Ok(CallOutput {
            changes: vec![change],
            ..done(text)
        })
    }
}

/// A replaced text file keeps its encoding, and its line ends unless the content has its own.
fn plan(place: &Place, old: Option<Vec<u8>>, content: &str) -> Result<Plan, ToolError> {
    let path = place.path.clone();
    if path.is_root() {
        return Err(ToolError::Model(
            if place.is_outside() {
                "That is a folder; name a file."
            } else {
                "`.` is the project folder itself; name a file."
            }
            .to_owned(),
        ));
    }
    let before = old
        .as_deref()
        .filter(|bytes| !bytes.is_empty())
        .and_then(Text::decode);
    let new = match &before {
        None => content.as_bytes().to_vec(),
        Some(before) => {
            let content = match LineEnd::of(&before.content) {
                LineEnd::CrLf => LineEnd::CrLf.apply(content),
                _ => content.to_owned(),
            };
            // Latin-1 that cannot hold a letter becomes UTF-8: the whole text is new anyway.
            before.encode(&content).unwrap_or_else(|_| content.into_bytes())
        }
    };
    if old.as_deref() == Some(&new) {
        return Err(ToolError::Model(format!(
            "`{}` already has exactly this content; nothing was written.",
            place.name()
        )));
    }
    Ok(Plan { path, old, new })
}
