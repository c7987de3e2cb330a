//! A whole file, new or replaced.

use crate::change::{self, Plan};
use crate::place::Place;
use crate::text::{LineEnd, Text};
use crate::typed::{Stop, TypedTool, done};
use crate::{CallContext, Prepared, ToolError, ToolKind, bounds};
use paddock_protocol::CallOutput;
use paddock_sandbox::RelativePath;
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::HashSet;

const MAX_LINE: usize = 120;

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
        change::prepare(cx, &input.path, |place, old| plan(cx, place, old, &input.content))
    }

    fn run(input: Input, cx: &CallContext, _: &Stop) -> Result<CallOutput, ToolError> {
        let (change, text, ()) = change::run(cx, &input.path, |place, old| {
            Ok((plan(cx, place, old, &input.content)?, ()))
        })?;
        Ok(CallOutput {
            changes: vec![change],
            ..done(text)
        })
    }
}

/// A replaced text file keeps its encoding, and its line ends unless the content has its own.
fn plan(cx: &CallContext, place: &Place, old: Option<Vec<u8>>, content: &str) -> Result<Plan, ToolError> {
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
    if let Some(before) = before.filter(|_| !place.is_outside()) {
        check_loss(cx, &path, &before.content, content)?;
    }
    Ok(Plan { path, old, new })
}

/// An error when what a file holds would be lost unseen.
fn check_loss(cx: &CallContext, path: &RelativePath, before: &str, content: &str) -> Result<(), ToolError> {
    let kept: HashSet<&str> = content.lines().map(str::trim).collect();
    let lines: Vec<&str> = before
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    if lines.is_empty() {
        return Ok(());
    }
    if !(cx.knows)(path) {
        return Err(ToolError::Model(format!(
            "`{path}` is there already and you have not read it; nothing was written. Read it with read_file; then change a part of it with edit_file, or write it whole."
        )));
    }
    let lost: Vec<&str> = lines
        .iter()
        .copied()
        .filter(|line| !kept.contains(line))
        .collect();
    if cx.careful && lost.len() * 2 > lines.len() {
        return Err(ToolError::Model(format!(
            "Nothing was written: `{path}` would lose {} of its {} lines, `{}` among them. Use edit_file to change a part of it. To add to it: `old_text` is its last line, `new_text` that line and the new ones.",
            lost.len(),
            lines.len(),
            bounds::short_line(lost[0], MAX_LINE)
        )));
    }
    Ok(())
}
