//! One line in the project's notes. The tool can only append a bounded line, so the notes are no protected place for it.

use crate::ask_question::required;
use crate::change::{self, Plan};
use crate::text::Text;
use crate::typed::{Stop, TypedTool, done};
use crate::{CallContext, Prepared, ToolError, ToolKind, paths};
use paddock_protocol::{Access, CallOutput, Verb};
use paddock_sandbox::{Kind, RelativePath};
use schemars::JsonSchema;
use serde::Deserialize;
use std::time::{SystemTime, UNIX_EPOCH};

const NOTES: &str = ".paddock/MEMORY.md";
/// Letters of a note.
const MAX_NOTE: usize = 500;
/// Bytes of all notes: every request carries them.
const MAX_NOTES: usize = 32 * 1024;

pub(crate) struct Remember;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// One line, up to 500 characters
    note: String,
}

impl TypedTool for Remember {
    type Input = Input;
    const NAME: &'static str = "remember";
    const DESCRIPTION: &'static str = include_str!("remember.md").trim_ascii();
    const KIND: ToolKind = ToolKind::Write;

    fn prepare(input: Input, cx: &CallContext) -> Result<Prepared, ToolError> {
        let path = notes(cx)?;
        let note = note(&input.note)?;
        let old = change::current(cx, &path)?;
        let prepared = plan(path, old, &note)?.prepared(cx);
        Ok(Prepared {
            verb: Verb::Note,
            access: vec![Access::Write {
                path: NOTES.to_owned(),
            }],
            ..prepared
        })
    }

    fn run(input: Input, cx: &CallContext, _: &Stop) -> Result<CallOutput, ToolError> {
        let path = notes(cx)?;
        let note = note(&input.note)?;
        let old = change::current_approved(cx, &path)?;
        let change = plan(path, old, &note)?.chosen_by(cx)?.carry_out(cx)?;
        Ok(CallOutput {
            changes: vec![change],
            ..done(format!("Noted in {NOTES}."))
        })
    }
}

/// The file of the notes, itself and not a link to something else.
fn notes(cx: &CallContext) -> Result<RelativePath, ToolError> {
    let path = cx.root.relative(NOTES).map_err(paths::failure)?;
    for part in path.parent().iter().chain([&path]) {
        if cx
            .root
            .link_metadata(part)
            .is_ok_and(|found| found.kind == Kind::Link)
        {
            return Err(ToolError::Model(format!(
                "`{part}` is a link, so nothing is noted there."
            )));
        }
    }
    Ok(path)
}

/// The note as one line of plain text.
fn note(text: &str) -> Result<String, ToolError> {
    let reverses = |letter: char| matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let words: Vec<String> = text
        .split(|letter: char| letter.is_whitespace() || letter.is_control() || reverses(letter))
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect();
    let note = required("note", &words.join(" "))?;
    match note.chars().count() {
        ..=MAX_NOTE => Ok(note),
        letters => Err(ToolError::Arguments(format!(
            "`note` has {letters} characters; at most {MAX_NOTE} are possible"
        ))),
    }
}

fn plan(path: RelativePath, old: Option<Vec<u8>>, note: &str) -> Result<Plan, ToolError> {
    let bytes = old.as_deref().unwrap_or_default();
    let Some(before) = Text::decode(bytes) else {
        return Err(ToolError::Model(format!(
            "`{NOTES}` is no text file; nothing was noted."
        )));
    };
    let known = before.content.lines().any(|line| {
        let line = line.strip_prefix("- ").unwrap_or(line);
        line.trim() == note || line.split_once(": ").is_some_and(|(_, text)| text.trim() == note)
    });
    if known {
        return Err(ToolError::Model(format!(
            "This is in `{NOTES}` already; nothing was noted."
        )));
    }
    let mut content = before.content.clone();
    if !content.is_empty() && !content.ends_with('\n') {
        content.push('\n');
    }
    content.push_str(&format!("- {}: {note}\n", today()));
    if content.len() > MAX_NOTES {
        return Err(ToolError::Model(format!(
            "`{NOTES}` is full; nothing was noted. The person can shorten it."
        )));
    }
    let new = before.encode(&content).map_err(|letter| {
        ToolError::Model(format!(
            "`{NOTES}` is not stored as UTF-8 and cannot hold “{letter}”."
        ))
    })?;
    Ok(Plan { path, old, new })
}

fn today() -> String {
    let seconds = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |time| time.as_secs());
    date(seconds / 86_400)
}

/// A day, counted from 1970-01-01, as `2026-01-31`.
fn date(day: u64) -> String {
    let is_leap = |year: u64| year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400);
    let (mut year, mut left) = (1970, day);
    loop {
        let days = if is_leap(year) { 366 } else { 365 };
        if left < days {
            break;
        }
        left -= days;
        year += 1;
    }
    let february = if is_leap(year) { 29 } else { 28 };
    let mut month = 1;
    for days in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if left < days {
            break;
        }
        left -= days;
        month += 1;
    }
    format!("{year:04}-{month:02}-{:02}", left + 1)
}

#[cfg(test)]
mod tests {
    use super::date;

    #[test]
    fn days_are_dates() {
        for (day, expected) in [
            (0, "1970-01-01"),
            (59, "1970-03-01"),
            (789, "1972-02-29"),
            (11_016, "2000-02-29"),
            (20_453, "2025-12-31"),
            (20_454, "2026-01-01"),
        ] {
            assert_eq!(date(day), expected);
        }
    }
}
