//! Gives many files other names, as a person confirmed them.

use super::identity::{Found, look};
use super::rename::{fold, rename_order};
use super::{CHANGED, Left, Room, file_change, keep, must_write, pairs};
use crate::change::MAX_FILE;
use crate::typed::{Stop, TypedTool, done};
use crate::{CallContext, Flow, Prepared, ToolError, ToolKind, bounds, paths};
use paddock_protocol::{ApprovalBody, CallOutput, ChangeKind, UndoFact, Verb};
use paddock_sandbox::{PathError, RelativePath};
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::{BTreeMap, HashSet};

pub(crate) struct RenameFiles;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// Files as they are called
    from: Vec<String>,
    /// As they will be called, one for each
    to: Vec<String>,
    /// What was there at the preview, one for each
    identities: Vec<String>,
}

/// One file on its way.
struct Moving {
    from: RelativePath,
    to: RelativePath,
    /// Absent when it is too much for an undo.
    content: Option<Vec<u8>>,
    lost: bool,
}

impl TypedTool for RenameFiles {
    type Input = Input;
    const NAME: &'static str = "rename_files";
    const DESCRIPTION: &'static str = "Renames the files of a confirmed preview.";
    const KIND: ToolKind = ToolKind::Write;

    fn prepare(input: Input, cx: &CallContext) -> Result<Prepared, ToolError> {
        let from = pairs(cx, ("from", "identities"), &input.from, &input.identities)?;
        let to = pairs(cx, ("to", "identities"), &input.to, &input.identities)?;
        let both = from.iter().chain(&to);
        Ok(Prepared {
            verb: Verb::Move,
            target: super::named(from.iter().map(|(path, _)| path)),
            access: both.flat_map(|(path, _)| paths::writes(cx, path)).collect(),
            body: ApprovalBody::Other,
            undo: UndoFact::Covered,
            flow: Flow::Run,
        })
    }

    /// All or nothing up to the first move: were one file left out, another could stand in its place.
    fn run(input: Input, cx: &CallContext, stop: &Stop) -> Result<CallOutput, ToolError> {
        must_write(cx)?;
        let from = pairs(cx, ("from", "identities"), &input.from, &input.identities)?;
        let to = pairs(cx, ("to", "identities"), &input.to, &input.identities)?;
        let mut room = Room::new();
        let mut moving = Vec::new();
        for ((from, identity), (to, _)) in from.into_iter().zip(to) {
            stop.check()?;
            moving.push(load(cx, from, identity, to, &mut room, stop)?);
        }
        free_targets(cx, &moving)?;
        keep_all(cx, &moving, stop)?;
        carry_out(cx, &moving)
    }
}

fn load(
    cx: &CallContext,
    from: RelativePath,
    identity: &str,
    to: RelativePath,
    room: &mut Room,
    stop: &Stop,
) -> Result<Moving, ToolError> {
    let looked = look(&cx.root, &from, stop)?;
    let Found::File { size } = looked.found else {
        return Err(nothing_renamed(&from, "it is no file any more"));
    };
    if looked.identity != identity {
        return Err(nothing_renamed(&from, CHANGED));
    }
    let lost = room.take(1, size, size).is_err();
    let content = match lost {
        true => None,
        false => Some(cx.root.read(&from, MAX_FILE).map_err(paths::failure)?),
    };
    Ok(Moving {
        from,
        to,
        content,
        lost,
    })
}

fn nothing_renamed(path: &RelativePath, why: &str) -> ToolError {
    ToolError::Model(format!(
        "Nothing was renamed, because of `{path}`: {why}. Look at the preview again."
    ))
}

fn free_targets(cx: &CallContext, moving: &[Moving]) -> Result<(), ToolError> {
    let given_up: HashSet<String> = moving.iter().map(|file| fold(file.from.as_str())).collect();
    let taken = moving
        .iter()
        .find(|file| !given_up.contains(&fold(file.to.as_str())) && cx.root.exists(&file.to));
    match taken {
        Some(file) => Err(nothing_renamed(&file.to, "it exists by now")),
        None => free_detours(cx, moving),
    }
}

/// A temporary name on the way must be free too, or the file that has it would be taken for one of these.
fn free_detours(cx: &CallContext, moving: &[Moving]) -> Result<(), ToolError> {
    for (_, to) in rename_order(&names(moving)) {
        let path = paths::locate(cx, &to)?;
        let known = moving.iter().any(|file| file.to == path);
        if !known && cx.root.exists(&path) {
            return Err(nothing_renamed(&path, "this name is needed on the way"));
        }
    }
    Ok(())
}

fn names(moving: &[Moving]) -> Vec<(String, String)> {
    moving
        .iter()
        .map(|file| (file.from.to_string(), file.to.to_string()))
        .collect()
}

/// For each name what it held first and what it will hold last, whatever happens in between.
fn keep_all(cx: &CallContext, moving: &[Moving], stop: &Stop) -> Result<(), ToolError> {
    type Content<'a> = Option<&'a [u8]>;
    let mut names: BTreeMap<&RelativePath, (Content<'_>, Content<'_>)> = BTreeMap::new();
    for file in moving.iter().filter(|file| !file.lost) {
        names.entry(&file.from).or_default().0 = file.content.as_deref();
        names.entry(&file.to).or_default().1 = file.content.as_deref();
    }
    for (path, (before, after)) in names {
        stop.check()?;
        keep(cx, path, before, after)?;
    }
    Ok(())
}

fn carry_out(cx: &CallContext, moving: &[Moving]) -> Result<CallOutput, ToolError> {
    let mut left = Left::default();
    for (from, to) in rename_order(&names(moving)) {
        if let Err(error) = one(cx, &from, &to) {
            left.add(from, error.to_string());
        }
    }
    let mut changes = Vec::new();
    for file in moving.iter().filter(|file| cx.root.exists(&file.to)) {
        let from = file.from.to_string();
        changes.push(file_change(
            file.to.as_str(),
            ChangeKind::Moved { from },
            !file.lost,
        ));
    }
    let text = format!(
        "Renamed {}.\n{}",
        bounds::count(changes.len(), "file"),
        left.lines()
    );
    Ok(CallOutput {
        ok: left.is_empty(),
        changes,
        ..done(text)
    })
}

/// One move. A system that does not tell cases apart takes a change of case only by way of another name.
fn one(cx: &CallContext, from: &str, to: &str) -> Result<(), ToolError> {
    let root = paths::root_of(cx);
    let (from, to) = (paths::locate(cx, from)?, paths::locate(cx, to)?);
    match root.rename(&from, &to) {
        Err(PathError::AlreadyExists { .. }) if fold(from.as_str()) == fold(to.as_str()) => {
            let between = paths::locate(cx, &format!("{from}.renaming"))?;
            root.rename(&from, &between)
                .and_then(|()| root.rename(&between, &to))
                .map_err(paths::failure)
        }
        result => result.map_err(paths::failure),
    }
}
