//! A change of one file: what it looks like to a person, and carrying it out only on the file that the person saw.

use crate::place::{self, Named, Place};
use crate::{CallContext, Flow, Prepared, ToolError, bounds, diff, paths};
use paddock_protocol::{ApprovalBody, ChangeKind, ChangeNote, FileChange, FileVersion, UndoFact, Verb};
use paddock_sandbox::{PathError, ProjectRoot, RelativePath, WriteMode};
use sha2::{Digest, Sha256};

/// Larger files are not changed: what they held could not be kept for an undo.
pub(crate) const MAX_FILE: u64 = 64 * 1024 * 1024;

/// One file with its content before and after.
pub(crate) struct Plan {
    pub(crate) path: RelativePath,
    pub(crate) old: Option<Vec<u8>>,
    pub(crate) new: Vec<u8>,
}

impl Plan {
    /// What the person and the model are told of it.
    pub(crate) fn change(&self) -> FileChange {
        diff::file_change(self.path.as_str(), self.old.as_deref(), &self.new)
    }

    /// The same with what the person switched off taken out; an error when that was chosen from another diff than this one.
    pub(crate) fn chosen_by(self, cx: &CallContext) -> Result<Plan, ToolError> {
        let Some(chosen) = &cx.chosen else {
            return Ok(self);
        };
        let left = self
            .old
            .as_deref()
            .and_then(|old| diff::without(old, &self.new, chosen));
        let Some(new) = left else {
            let path = self.path.to_string();
            return Err(ToolError::ChangedSince { path });
        };
        Ok(Plan { new, ..self })
    }

    /// The call as an approval shows it.
    pub(crate) fn prepared(&self, cx: &CallContext) -> Prepared {
        Prepared {
            verb: self.verb(),
            target: self.path.to_string(),
            access: paths::writes(cx, &self.path),
            body: ApprovalBody::Change {
                change: self.noted(cx, self.change()),
                base: version_of(self.old.as_deref()),
            },
            undo: UndoFact::Covered,
            flow: Flow::Run,
        }
    }

    /// A change that is proposed, with the lines that look like keys.
    pub(crate) fn noted(&self, cx: &CallContext, mut change: FileChange) -> FileChange {
        let found = diff::key_lines(self.old.as_deref(), &self.new, &cx.key_lines);
        if !found.is_empty() {
            change.notes.push(ChangeNote::PossibleKey { lines: found });
        }
        change
    }

    fn verb(&self) -> Verb {
        match self.old {
            Some(_) => Verb::Edit,
            None => Verb::Create,
        }
    }

    /// The change as a person sees it. What was outside of the project before is kept nowhere.
    fn change_at(&self, place: &Place) -> FileChange {
        FileChange {
            undoable: !place.is_outside(),
            ..diff::file_change(place.shown(), self.old.as_deref(), &self.new)
        }
    }

    fn carry_out_at(&self, cx: &CallContext, place: &Place) -> Result<FileChange, ToolError> {
        if !place.is_outside() {
            return self.carry_out(cx);
        }
        if cx.read_only {
            return Err(ToolError::Model(
                "Nothing can be changed in this role.".to_owned(),
            ));
        }
        let written = place.root.write(&self.path, &self.new, self.mode());
        written.map_err(|error| match error {
            PathError::AlreadyExists { .. } | PathError::NotFound { .. } => {
                ToolError::ChangedSince { path: place.name() }
            }
            other => place.failure(other),
        })?;
        Ok(self.change_at(place))
    }

    fn mode(&self) -> WriteMode {
        match self.old {
            Some(_) => WriteMode::Replace,
            None => WriteMode::CreateNew,
        }
    }

    /// Writes the file. What it held is kept first, and what it will hold is recorded.
    pub(crate) fn carry_out(&self, cx: &CallContext) -> Result<FileChange, ToolError> {
        let root = changeable_root(cx, &self.path)?;
        record(cx, &self.path, self.old.as_deref(), version_of(Some(&self.new)))?;
        self.write(&root)?;
        Ok(self.change())
    }

    /// The write alone, on the file that was looked at.
    pub(crate) fn write(&self, root: &ProjectRoot) -> Result<(), ToolError> {
        root.write(&self.path, &self.new, self.mode())
            .map_err(changed_or_failed)
    }
}

/// A change of the one file that an argument names, as an approval shows it.
pub(crate) fn prepare(
    cx: &CallContext,
    argument: &str,
    plan: impl FnOnce(&Place, Option<Vec<u8>>) -> Result<Plan, ToolError>,
) -> Result<Prepared, ToolError> {
    let outside = match place::named(cx, argument, true)? {
        Named::Inside(path) => {
            let place = Place::inside(cx, path);
            let old = place.current(MAX_FILE)?;
            return Ok(plan(&place, old)?.prepared(cx));
        }
        Named::Outside(outside) => outside,
    };
    let planned = outside.open(cx, true).and_then(|place| {
        let old = place.current(MAX_FILE)?;
        Ok((plan(&place, old)?, place))
    });
    let (verb, body) = match planned {
        Ok((plan, place)) => {
            let change = plan.noted(cx, plan.change_at(&place));
            let base = version_of(plan.old.as_deref());
            (plan.verb(), ApprovalBody::Change { change, base })
        }
        Err(error) if outside.is_covered(cx, true) => return Err(error),
        // What is wrong would tell the model what is there: it hears of that once the person allowed the place.
        Err(_) => (Verb::Edit, ApprovalBody::Other),
    };
    Ok(Prepared {
        verb,
        target: outside.name().to_owned(),
        access: outside.access(cx, true),
        body,
        undo: UndoFact::NotCovered {
            why: "Files outside of the project are not kept.".to_owned(),
        },
        flow: Flow::Run,
    })
}

/// Carries such a change out: what was done, the line for the model, and what else the plan found.
pub(crate) fn run<T>(
    cx: &CallContext,
    argument: &str,
    plan: impl FnOnce(&Place, Option<Vec<u8>>) -> Result<(Plan, T), ToolError>,
) -> Result<(FileChange, String, T), ToolError> {
    let place = place::open(cx, place::named(cx, argument, true)?, true)?;
    let old = place.current(MAX_FILE)?;
    place.check_approved(cx, &version_of(old.as_deref()))?;
    let (plan, found) = plan(&place, old)?;
    let plan = plan.chosen_by(cx)?;
    let change = plan.carry_out_at(cx, &place)?;
    let told = FileChange {
        path: place.name(),
        ..change.clone()
    };
    let mut text = report(&told, &plan.new);
    if let Some(chosen) = &cx.chosen {
        text.push_str(&diff::told(chosen));
    }
    Ok((change, text, found))
}

/// The project, for a call that may change it.
pub(crate) fn changeable_root(cx: &CallContext, path: &RelativePath) -> Result<ProjectRoot, ToolError> {
    let root = paths::root_of(cx);
    if root.reach().read_only {
        return Err(paths::failure(PathError::ReadOnly { path: path.clone() }));
    }
    Ok(root)
}

/// Keeps what a file holds and records what it will hold. To be called before the change: were the program to die between
/// the two, an undo would not know the change as the call's own.
pub(crate) fn record(
    cx: &CallContext,
    path: &RelativePath,
    old: Option<&[u8]>,
    new: FileVersion,
) -> Result<(), ToolError> {
    (cx.before)(path, old)
        .map_err(|error| ToolError::Fatal(format!("What `{path}` held could not be kept: {error}.")))?;
    (cx.after)(path, new)
        .map_err(|error| ToolError::Fatal(format!("The change of `{path}` could not be recorded: {error}.")))
}

/// The error of a change whose file is no longer as it was a moment ago, or of one that failed.
pub(crate) fn changed_or_failed(error: PathError) -> ToolError {
    match error {
        PathError::AlreadyExists { path } | PathError::NotFound { path } => ToolError::ChangedSince {
            path: path.to_string(),
        },
        other => paths::failure(other),
    }
}

/// What a file holds now; `None` when it is not there.
pub(crate) fn current(cx: &CallContext, path: &RelativePath) -> Result<Option<Vec<u8>>, ToolError> {
    match cx.root.read(path, MAX_FILE) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(PathError::NotFound { .. }) => Ok(None),
        Err(error) => Err(paths::failure(error)),
    }
}

/// The same right before a change: an error when it is not what the person approved.
pub(crate) fn current_approved(cx: &CallContext, path: &RelativePath) -> Result<Option<Vec<u8>>, ToolError> {
    let found = current(cx, path)?;
    let is_approved = cx.approved.is_empty()
        || cx
            .approved
            .iter()
            .any(|base| base.path == path.as_str() && base.version == version_of(found.as_deref()));
    if is_approved {
        Ok(found)
    } else {
        Err(ToolError::ChangedSince {
            path: path.to_string(),
        })
    }
}

/// The version of a file's content: hex SHA-256, or that it is absent.
pub fn version_of(content: Option<&[u8]>) -> FileVersion {
    let Some(bytes) = content else {
        return FileVersion::Absent;
    };
    let digits =
        |byte: u8| [byte >> 4, byte & 15].map(|digit| char::from_digit(u32::from(digit), 16).unwrap_or('0'));
    FileVersion::Content {
        hash: Sha256::digest(bytes)
            .iter()
            .flat_map(|byte| digits(*byte))
            .collect(),
    }
}

/// One line for the model about a change that was made.
pub(crate) fn report(change: &FileChange, new: &[u8]) -> String {
    let path = &change.path;
    match &change.kind {
        ChangeKind::Created => {
            let lines = String::from_utf8_lossy(new).lines().count();
            format!("Created {path} ({}).", bounds::count(lines, "line"))
        }
        ChangeKind::Edited => format!("Edited {path} (+{} -{} lines).", change.added, change.removed),
        ChangeKind::Deleted => format!("Deleted {path}."),
        ChangeKind::Moved { from } if change.added + change.removed == 0 => {
            format!("Moved {from} to {path}.")
        }
        ChangeKind::Moved { from } => format!(
            "Moved {from} to {path} (+{} -{} lines).",
            change.added, change.removed
        ),
    }
}
