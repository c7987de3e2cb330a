//! Brings files back to their committed content and deletes new ones, as a person confirmed it.

use super::delete_run::Work;
use super::discard::as_here;
use super::identity::{ABSENT, look};
use super::{CHANGED, Git, Left, Room, file_change, keep, must_write, pairs};
use crate::change::MAX_FILE;
use crate::typed::{Stop, blocking, done};
use crate::{CallContext, Flow, Prepared, Tool, ToolError, ToolKind, arguments, bounds, paths};
use async_trait::async_trait;
use paddock_protocol::{Access, ApprovalBody, CallOutput, ChangeKind, UndoFact, Verb};
use paddock_sandbox::{PathError, RelativePath, WriteMode};
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::HashSet;
use std::time::Instant;

/// Permissions of a program as git makes them.
const PROGRAM: u32 = 0o755;

pub(crate) struct DiscardChanges {
    schema: serde_json::Value,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// Files that get their committed content back
    restore: Vec<String>,
    /// Names of the committed contents, one for each
    blobs: Vec<String>,
    /// What was there at the preview, one for each
    restore_identities: Vec<String>,
    /// Those of `restore` that are missing and were programs
    programs: Vec<String>,
    /// New files to delete
    remove: Vec<String>,
    /// What was there at the preview, one for each
    remove_identities: Vec<String>,
}

impl DiscardChanges {
    pub(crate) fn new() -> Self {
        Self {
            schema: arguments::schema_of::<Input>(),
        }
    }

    fn read(&self, arguments: &str, cx: &CallContext) -> Result<Plan, ToolError> {
        let input: Input = arguments::read(arguments, &self.schema)?;
        if input.blobs.len() != input.restore.len() {
            return Err(ToolError::Arguments(
                "`blobs` must have one entry for each of `restore`".to_owned(),
            ));
        }
        let restore = ("restore", "restore_identities");
        let remove = ("remove", "remove_identities");
        let owned = |pairs: Vec<(RelativePath, &str)>| {
            pairs
                .into_iter()
                .map(|(path, identity)| (path, identity.to_owned()))
                .collect()
        };
        Ok(Plan {
            restore: owned(pairs(cx, restore, &input.restore, &input.restore_identities)?),
            remove: owned(pairs(cx, remove, &input.remove, &input.remove_identities)?),
            blobs: input.blobs,
            programs: input.programs.into_iter().collect(),
        })
    }
}

struct Plan {
    restore: Vec<(RelativePath, String)>,
    blobs: Vec<String>,
    programs: HashSet<String>,
    remove: Vec<(RelativePath, String)>,
}

#[async_trait]
impl Tool for DiscardChanges {
    fn name(&self) -> &'static str {
        "discard_changes"
    }

    fn description(&self) -> &'static str {
        "Brings the files of a confirmed preview back to the last commit."
    }

    fn schema(&self) -> serde_json::Value {
        self.schema.clone()
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Write
    }

    async fn prepare(&self, arguments: &str, cx: &CallContext) -> Result<Prepared, ToolError> {
        let plan = self.read(arguments, cx)?;
        let mut access: Vec<Access> = plan
            .restore
            .iter()
            .flat_map(|(path, _)| paths::writes(cx, path))
            .collect();
        for (path, _) in &plan.remove {
            let mut one = paths::writes(cx, path);
            one[0] = Access::Delete {
                path: path.to_string(),
            };
            access.extend(one);
        }
        Ok(Prepared {
            verb: Verb::Edit,
            target: super::named(plan.restore.iter().chain(&plan.remove).map(|(path, _)| path)),
            access,
            body: ApprovalBody::Other,
            undo: UndoFact::Covered,
            flow: Flow::Run,
        })
    }

    async fn run(&self, arguments: &str, cx: &CallContext) -> Result<CallOutput, ToolError> {
        let begun = Instant::now();
        must_write(cx)?;
        let plan = self.read(arguments, cx)?;
        let git = Git {
            root: cx.root.clone(),
            confinement: cx.confinement.clone(),
            state: cx.state.clone(),
        };
        let contents = git.blobs(&plan.blobs).await?;
        let cx = cx.clone();
        let mut output = blocking(move |stop| carry_out(&cx, &plan, contents, stop)).await?;
        output.duration = begun.elapsed().into();
        Ok(output)
    }
}

fn carry_out(
    cx: &CallContext,
    plan: &Plan,
    contents: Vec<Vec<u8>>,
    stop: &Stop,
) -> Result<CallOutput, ToolError> {
    let mut work = Work {
        cx,
        stop,
        room: Room::new(),
        left: Left::default(),
        changes: Vec::new(),
        deleted: 0,
    };
    let mut restored = 0;
    for ((path, identity), content) in plan.restore.iter().zip(contents) {
        stop.check()?;
        let permissions = plan.programs.contains(path.as_str()).then_some(PROGRAM);
        match restore(&mut work, path, identity, (content, permissions))? {
            Ok(()) => restored += 1,
            Err(why) => work.left.add(path.as_str(), why),
        }
    }
    // Counted anew, as the preview does.
    work.room = Room::new();
    for (path, identity) in &plan.remove {
        work.remove(path, identity)?;
    }
    let mut text = format!("Restored {}.\n", bounds::count(restored, "file"));
    if !plan.remove.is_empty() {
        text.push_str(&format!("Deleted {}.\n", bounds::count(work.deleted, "new file")));
    }
    text.push_str(&work.left.lines());
    Ok(CallOutput {
        ok: work.left.is_empty(),
        changes: work.changes,
        ..done(text)
    })
}

/// One file; `Err` says why it was left as it is.
fn restore(
    work: &mut Work<'_>,
    path: &RelativePath,
    identity: &str,
    (content, permissions): (Vec<u8>, Option<u32>),
) -> Result<Result<(), String>, ToolError> {
    let cx = work.cx;
    match look(&cx.root, path, work.stop) {
        Ok(looked) if looked.identity == identity => {}
        Ok(_) => return Ok(Err(CHANGED.to_owned())),
        Err(error) => return Ok(Err(error.to_string())),
    }
    let old = match identity {
        ABSENT => None,
        _ => match cx.root.read(path, MAX_FILE) {
            Ok(old) => Some(old),
            Err(error) => return Ok(Err(error.to_string())),
        },
    };
    let new = as_here(content, old.as_deref());
    let size = old.as_ref().map_or(0, |old| old.len() as u64);
    let undoable = old.is_none() || work.room.take(1, size, size).is_ok();
    if undoable {
        keep(cx, path, old.as_deref(), Some(&new))?;
    }
    let root = paths::root_of(cx);
    let written = match (&old, permissions) {
        (Some(_), _) => root.write(path, &new, WriteMode::Replace),
        (None, None) => root.write(path, &new, WriteMode::CreateNew),
        (None, some) => root.restore(path, &new, some),
    };
    match written {
        Ok(()) => {}
        Err(error @ PathError::NoSpace { .. }) => return Err(paths::failure(error)),
        Err(error) => return Ok(Err(error.to_string())),
    }
    let kind = match old {
        Some(_) => ChangeKind::Edited,
        None => ChangeKind::Created,
    };
    work.changes.push(match undoable {
        true => crate::file_change(path.as_str(), old.as_deref(), &new),
        false => file_change(path.as_str(), kind, false),
    });
    Ok(Ok(()))
}
