//! A part of a file, replaced in exactly the place that is meant.

use crate::change::{self, Plan};
use crate::matching::{self, How, Match};
use crate::nearest::Wanted;
use crate::place::Place;
use crate::text::{Text, binary_kind};
use crate::typed::{Stop, TypedTool, done};
use crate::{CallContext, Prepared, ToolError, ToolKind, bounds, nearest};
use paddock_protocol::CallOutput;
use schemars::JsonSchema;
use serde::Deserialize;
use std::fmt::Write;

const WANTED: Wanted<'_> = Wanted {
    name: "`old_text`",
    one_place: "Add lines around it to name one place, or set `all`.",
};

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

    fn run(input: Input, cx: &CallContext, _: &Stop) -> Result<CallOutput, ToolError> {
        let (change, mut text, found) =
            change::run(cx, &input.path, |place, old| plan(cx, place, old, &input))?;
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
        Ok(CallOutput {
            changes: vec![change],
            ..done(text)
        })
    }
}

fn plan(
    cx: &CallContext,
    place: &Place,
    old: Option<Vec<u8>>,
    input: &Input,
) -> Result<(Plan, Match), ToolError> {
    let path = place.name();
    let Some(bytes) = old else {
        return Err(ToolError::Model(format!(
            "`{path}` does not exist. Use write_file to create it."
        )));
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
    let new = text.encode(&found.apply(&text.content)).map_err(|letter| {
        ToolError::Model(format!(
            "`{path}` is not stored as UTF-8 and cannot hold “{letter}”; nothing was changed. Use other letters, or write_file for the whole file."
        ))
    })?;
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
    ))
}
