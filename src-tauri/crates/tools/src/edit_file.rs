//! A part of a file, replaced in exactly the place that is meant.

use crate::change::{self, Plan};
use crate::matching::{self, How, Match, indentation, is_alike};
use crate::nearest::Wanted;
use crate::place::Place;
use crate::search_files::files_with;
use crate::text::{self, Text, binary_kind};
use crate::typed::{Stop, TypedTool, done};
use crate::{CallContext, Prepared, ToolError, ToolKind, bounds, nearest};
use paddock_protocol::CallOutput;
use schemars::JsonSchema;
use serde::Deserialize;
use std::fmt::Write;

const WANTED: Wanted<'_> = Wanted {
    name: "`old_text`",
    one_place: "Add lines around it to name one place, or set `all`.",
    call_again: Some("Call edit_file again with\n\"old_text\": "),
};

/// Lines shown around a change, and at most.
const AROUND: usize = 2;
const MAX_SHOWN: usize = 20;
const MAX_LINE: usize = 300;

pub(crate) struct EditFile;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    path: String,
    old_text: String,
    /// Empty to delete
    new_text: String,
    /// Every place
    #[serde(default)]
    all: bool,
}

impl TypedTool for EditFile {
    type Input = Input;
    const NAME: &'static str = "edit_file";
    const DESCRIPTION: &'static str = include_str!("edit_file.md").trim_ascii();
    const KIND: ToolKind = ToolKind::Write;

    fn prepare(input: Input, cx: &CallContext) -> Result<Prepared, ToolError> {
        change::prepare(cx, &input.path, |place, old| Ok(plan(cx, place, old, &input)?.0))
    }

    fn run(input: Input, cx: &CallContext, stop: &Stop) -> Result<CallOutput, ToolError> {
        let (change, mut text, (found, now)) = change::run(cx, &input.path, |place, old| {
            let (plan, found, new) = plan(cx, place, old, &input)?;
            let now = excerpt(&new, &found, cx.careful);
            Ok((plan, (found, now)))
        })?;
        if cx.chosen.is_some() {
            return Ok(CallOutput {
                changes: vec![change],
                ..done(text)
            });
        }
        if found.replacements.len() > 1 {
            let _ = write!(
                text,
                " {} replaced.",
                bounds::count(found.replacements.len(), "place")
            );
        }
        if found.how == How::WhiteSpace {
            text.push_str(" The white space of old_text differed; the indentation of the file was kept.");
        }
        if let Some(word) = replaced_word(&input).filter(|_| cx.careful) {
            // The change is made; a look that fails takes nothing from it.
            let files = files_with(word, cx, stop).unwrap_or_default();
            if !files.is_empty() {
                let _ = write!(text, " `{word}` is still in {}.", files.join(", "));
            }
        }
        text.push_str(&now);
        Ok(CallOutput {
            changes: vec![change],
            ..done(text)
        })
    }
}

/// The one word that an edit replaces by other text: where a small model renames something, the rest of its places is easily forgotten.
fn replaced_word(input: &Input) -> Option<&str> {
    let word = input.old_text.trim();
    let is_name = word.chars().count() > 3 && word.chars().all(|c| c.is_alphanumeric() || c == '_');
    (is_name && !input.new_text.contains(word)).then_some(word)
}

fn plan(
    cx: &CallContext,
    place: &Place,
    old: Option<Vec<u8>>,
    input: &Input,
) -> Result<(Plan, Match, String), ToolError> {
    let path = place.name();
    let Some(bytes) = old else {
        return Err(place.missing_file());
    };
    let Some(text) = Text::decode(&bytes) else {
        return Err(ToolError::Model(format!(
            "`{path}` is {}, not text.",
            binary_kind(&bytes)
        )));
    };
    if input.old_text.is_empty() {
        return Err(ToolError::Arguments(
            "`old_text` is empty; give the text to replace, or use write_file for a whole file".to_owned(),
        ));
    }
    let found =
        matching::find(&text.content, &input.old_text, &input.new_text, input.all).map_err(|none| {
            // Not even a hint of what is in a file that may not be read without being asked for.
            let hidden = place.is_hidden_secret(cx, &place.path);
            ToolError::Model(nearest::explain(&WANTED, &path, &text.content, &none, hidden))
        })?;
    let content = found.apply(&text.content);
    let new = text.encode(&content).map_err(|letter| {
        ToolError::Model(format!(
            "`{path}` is not stored as UTF-8 and cannot hold “{letter}”; nothing was changed. Use other letters, or write_file for the whole file."
        ))
    })?;
    if cx.careful
        && let Some(kept) = with_forgotten_line(&text.content, &found, &input.old_text)
    {
        return Err(ToolError::Model(format!(
            "Nothing was changed: the line `{}` would be gone, but what it begins would stay. To keep it call edit_file again with the same `old_text` and with\n\"new_text\": {}",
            bounds::short_line(input.old_text.trim(), MAX_LINE),
            serde_json::json!(kept)
        )));
    }
    if new == bytes {
        return Err(ToolError::Model(
            "The new text is the same as the old; nothing was changed.".to_owned(),
        ));
    }
    Ok((
        Plan {
            path: place.path.clone(),
            old: Some(bytes),
            new,
        },
        found,
        content,
    ))
}

/// What was meant where new lines take the place of the first line of a block that stays: those lines and then that line. A small model
/// that adds something before a block forgets to write the line again.
fn with_forgotten_line(before: &str, found: &Match, old_text: &str) -> Option<String> {
    let [only] = found.replacements.as_slice() else {
        return None;
    };
    let old = old_text.trim_matches('\n');
    let new = only.text.trim_matches('\n');
    let is_one_line = !old.contains('\n') && !old.trim().is_empty();
    let adds_lines = new.lines().count() > 2 && new.len() <= bounds::MAX_REPLACEMENT;
    if !is_one_line || !adds_lines || new.lines().any(|line| is_alike(line.trim(), old.trim())) {
        return None;
    }
    let begin = before[..only.range.start].rfind('\n').map_or(0, |at| at + 1);
    let mut lines = before[begin..].lines();
    let line = lines.next().filter(|line| line.trim() == old.trim())?;
    let below = lines.find(|line| !line.trim().is_empty())?;
    let is_block = indentation(below).len() > indentation(line).len();
    is_block.then(|| format!("{new}{}{old}", text::gap(before)))
}

/// The changed lines as they are now, with those around them: what went wrong is seen at once.
fn excerpt(new: &str, found: &Match, careful: bool) -> String {
    let Some(first) = found.replacements.first() else {
        return String::new();
    };
    // Before the first place nothing moved.
    let start = new[..first.range.start].matches('\n').count();
    let from = start.saturating_sub(AROUND);
    let to = start + first.text.lines().count().max(1) + AROUND;
    let lines: Vec<&str> = new.lines().collect();
    let to = to.min(lines.len()).min(from + MAX_SHOWN);
    let mut shown = String::from("\nNow:\n");
    for (number, line) in lines.iter().enumerate().take(to).skip(from) {
        let line = bounds::short_line(line, MAX_LINE);
        let _ = match careful {
            true => writeln!(shown, "{line}"),
            false => writeln!(shown, "{}\t{line}", number + 1),
        };
    }
    shown.trim_end().to_owned()
}
