//! A whole file, new or replaced.

use crate::change::{self, Plan};
use crate::matching::is_alike;
use crate::place::Place;
use crate::text::{self, LineEnd, Text};
use crate::typed::{Stop, TypedTool, done};
use crate::{CallContext, Prepared, ToolError, ToolKind, bounds};
use paddock_protocol::CallOutput;
use paddock_sandbox::RelativePath;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use std::collections::HashSet;

const MAX_LINE: usize = 120;
/// Lines of a file that are compared with others, each with each.
const MAX_COMPARED: usize = 200;

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
    let lines: Vec<&str> = before.lines().filter(|line| !line.trim().is_empty()).collect();
    if lines.is_empty() {
        return Ok(());
    }
    if !(cx.knows)(path) {
        return Err(ToolError::Model(format!(
            "`{path}` is there already and you have not read it; nothing was written. Read it with read_file; then change a part of it with edit_file, or write it whole."
        )));
    }
    let lost = lost_lines(&lines, content);
    if !cx.careful || lost.len() * 2 <= lines.len() {
        return Ok(());
    }
    let changed = changed_lines(&lines, content);
    let way = match (changed.as_slice(), addition(before, content)) {
        ([only], _) => format!(
            "Its lines would only be set out in another way. Change what has to be changed: call edit_file with\n\"old_text\": {}",
            json!(only)
        ),
        (all, Some((old, new))) if all.len() == lines.len() => format!(
            "To add `content` at its end call edit_file with\n\"old_text\": {}\n\"new_text\": {}\nTo change a part of it call edit_file with that part.",
            json!(old),
            json!(new)
        ),
        _ => "Use edit_file to change a part of it.".to_owned(),
    };
    Err(ToolError::Model(format!(
        "Nothing was written: `{path}` would lose {} of its {} lines, `{}` among them. {way}",
        lost.len(),
        lines.len(),
        bounds::short_line(lost[0].trim(), MAX_LINE)
    )))
}

/// The lines of a file that a text does not hold. Of a short file that does not get shorter, a line that is much alike counts as held.
fn lost_lines<'a>(lines: &[&'a str], content: &str) -> Vec<&'a str> {
    let trimmed = content.lines().map(str::trim);
    let mut new: Vec<&str> = trimmed.filter(|line| !line.is_empty()).collect();
    let is_compared = lines.len() <= MAX_COMPARED && (lines.len()..=MAX_COMPARED).contains(&new.len());
    let kept: HashSet<&str> = new.iter().copied().collect();
    let is_lost = |line: &&str| !kept.contains(line.trim());
    let mut lost: Vec<&str> = lines.iter().copied().filter(is_lost).collect();
    if is_compared {
        new.retain(|line| lines.iter().all(|old| old.trim() != *line));
        lost.retain(|line| {
            let alike = new.iter().position(|other| is_alike(line.trim(), other));
            alike.map(|at| new.swap_remove(at)).is_none()
        });
    }
    lost
}

/// The lines of a file whose words a text does not hold, however it is set out.
fn changed_lines<'a>(lines: &[&'a str], content: &str) -> Vec<&'a str> {
    let without_blanks = |text: &str| text.split_whitespace().collect::<String>();
    let content = without_blanks(content);
    let is_held = |line: &&&str| content.contains(&without_blanks(line));
    lines.iter().filter(|line| !is_held(line)).copied().collect()
}

/// The passage and its replacement with which edit_file would add a text at the end of a file: the last lines of the file, as many
/// as stand in it only once. None where that is more than is of use.
fn addition(before: &str, content: &str) -> Option<(String, String)> {
    let ends = before.trim_end();
    let starts = ends.rmatch_indices('\n').map(|(at, _)| at + 1).chain([0]);
    let old = starts
        .map(|start| &ends[start..])
        .find(|tail| !tail.trim().is_empty() && before.matches(tail).count() == 1)?;
    let new = format!("{old}{}{}", text::gap(before), content.trim_matches('\n'));
    (new.len() <= bounds::MAX_REPLACEMENT).then(|| (old.to_owned(), new))
}
