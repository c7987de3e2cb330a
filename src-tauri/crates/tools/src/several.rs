//! Changes of several files in one call, all or nothing: everything is looked at and recorded first, and what was done
//! before a failure is put back.

use crate::change::{self, Plan, changed_or_failed, record, version_of};
use crate::{CallContext, ToolError, diff, paths};
use paddock_protocol::{Access, ApprovalBody, ChangeKind, FileBase, FileChange};
use paddock_sandbox::{Kind, ProjectRoot, RelativePath, WriteMode};

/// What becomes of one file.
pub(crate) enum Step {
    Write(Plan),
    Remove {
        path: RelativePath,
        old: Vec<u8>,
    },
    /// Its content may change on the way.
    Move {
        from: RelativePath,
        to: RelativePath,
        old: Vec<u8>,
        new: Vec<u8>,
    },
}

impl Step {
    pub(crate) fn change(&self) -> FileChange {
        match self {
            Step::Write(plan) => plan.change(),
            Step::Remove { path, old } => FileChange {
                kind: ChangeKind::Deleted,
                ..diff::file_change(path.as_str(), Some(old), b"")
            },
            Step::Move { from, to, old, new } => FileChange {
                kind: ChangeKind::Moved {
                    from: from.to_string(),
                },
                ..diff::file_change(to.as_str(), Some(old), new)
            },
        }
    }

    fn proposed(&self, cx: &CallContext) -> FileChange {
        match self {
            Step::Write(plan) => plan.noted(cx, plan.change()),
            Step::Remove { .. } | Step::Move { .. } => self.change(),
        }
    }

    pub(crate) fn report(&self) -> String {
        let new: &[u8] = match self {
            Step::Write(plan) => &plan.new,
            Step::Remove { .. } => b"",
            Step::Move { new, .. } => new,
        };
        change::report(&self.change(), new)
    }

    pub(crate) fn access(&self, cx: &CallContext) -> Vec<Access> {
        match self {
            Step::Write(plan) => paths::writes(cx, &plan.path),
            Step::Remove { path, .. } => paths::deletes(cx, path),
            Step::Move { from, to, .. } => [paths::writes(cx, from), paths::writes(cx, to)].concat(),
        }
    }

    fn files(&self) -> Vec<Touched<'_>> {
        let touched = |path, old, new| Touched { path, old, new };
        match self {
            Step::Write(plan) => vec![touched(&plan.path, plan.old.as_deref(), Some(&plan.new))],
            Step::Remove { path, old } => vec![touched(path, Some(old), None)],
            Step::Move { from, to, old, new } => {
                vec![touched(from, Some(old), None), touched(to, None, Some(new))]
            }
        }
    }
}

/// A file that a step touches: what it holds, and what it will hold.
struct Touched<'a> {
    path: &'a RelativePath,
    old: Option<&'a [u8]>,
    new: Option<&'a [u8]>,
}

/// An error for a link: it would be moved or removed, while what a person sees and an undo keeps is what it leads to.
pub(crate) fn no_link(cx: &CallContext, path: &RelativePath) -> Result<(), ToolError> {
    let found = cx.root.link_metadata(path).map_err(paths::failure)?;
    if found.kind == Kind::Link {
        return Err(ToolError::Model(format!(
            "`{path}` is a link; nothing was changed. Use run_command for it."
        )));
    }
    Ok(())
}

/// The body of an approval of all steps.
pub(crate) fn body(cx: &CallContext, steps: &[Step]) -> ApprovalBody {
    ApprovalBody::Changes {
        changes: steps.iter().map(|step| step.proposed(cx)).collect(),
        base: base(steps),
    }
}

/// The states of all files that the steps touch.
pub(crate) fn base(steps: &[Step]) -> Vec<FileBase> {
    let files = steps.iter().flat_map(Step::files);
    files
        .map(|file| FileBase {
            path: file.path.to_string(),
            version: version_of(file.old),
            size: file.old.map(|bytes| bytes.len() as u64),
        })
        .collect()
}

/// An error when the files are not exactly those that the person approved, in the states in which they were.
pub(crate) fn check_approved(cx: &CallContext, steps: &[Step]) -> Result<(), ToolError> {
    if cx.approved.is_empty() {
        return Ok(());
    }
    let now = base(steps);
    let differs = |one: &FileBase, others: &[FileBase]| {
        !others
            .iter()
            .any(|other| other.path == one.path && other.version == one.version)
    };
    let new = now.iter().find(|base| differs(base, &cx.approved));
    let gone = cx.approved.iter().find(|base| differs(base, &now));
    match new.or(gone) {
        None => Ok(()),
        Some(base) => Err(ToolError::ChangedSince {
            path: base.path.clone(),
        }),
    }
}

/// Carries out all steps, removals last, or none of them.
pub(crate) fn carry_out(cx: &CallContext, steps: &[Step]) -> Result<Vec<FileChange>, ToolError> {
    let Some(first) = steps.iter().flat_map(Step::files).map(|file| file.path).next() else {
        return Ok(Vec::new());
    };
    let root = change::changeable_root(cx, first)?;
    for file in steps.iter().flat_map(Step::files) {
        record(cx, file.path, file.old, version_of(file.new))?;
    }
    let mut done = Done {
        root: &root,
        undo: Vec::new(),
    };
    let is_removal = |step: &&Step| matches!(step, Step::Remove { .. });
    let ordered = steps
        .iter()
        .filter(|step| !is_removal(step))
        .chain(steps.iter().filter(is_removal));
    for step in ordered {
        if let Err(error) = done.step(step) {
            return Err(done.take_back(cx, steps, error));
        }
    }
    Ok(steps.iter().map(Step::change).collect())
}

/// What was done, with the way back.
struct Done<'a> {
    root: &'a ProjectRoot,
    undo: Vec<Undo<'a>>,
}

enum Undo<'a> {
    RemoveFile(&'a RelativePath),
    RemoveFolder(RelativePath),
    Restore {
        path: &'a RelativePath,
        old: &'a [u8],
        mode: Option<u32>,
    },
    MoveBack {
        from: &'a RelativePath,
        to: &'a RelativePath,
    },
}

impl<'a> Done<'a> {
    fn step(&mut self, step: &'a Step) -> Result<(), ToolError> {
        match step {
            Step::Write(plan) => {
                self.expect_folders(&plan.path);
                plan.write(self.root)?;
                self.undo.push(match &plan.old {
                    None => Undo::RemoveFile(&plan.path),
                    Some(old) => self.restore(&plan.path, old),
                });
            }
            Step::Remove { path, old } => {
                let undo = self.restore(path, old);
                self.root.remove_file(path).map_err(changed_or_failed)?;
                self.undo.push(undo);
            }
            Step::Move { from, to, old, new } => {
                self.expect_folders(to);
                self.root.rename(from, to).map_err(changed_or_failed)?;
                self.undo.push(Undo::MoveBack { from, to });
                if old != new {
                    self.root
                        .write(to, new, WriteMode::Replace)
                        .map_err(changed_or_failed)?;
                    self.undo.push(self.restore(to, old));
                }
            }
        }
        Ok(())
    }

    fn restore(&self, path: &'a RelativePath, old: &'a [u8]) -> Undo<'a> {
        let mode = self.root.metadata(path).ok().map(|found| found.mode);
        Undo::Restore { path, old, mode }
    }

    /// Notes the folders that will be made for a file.
    fn expect_folders(&mut self, path: &RelativePath) {
        let missing = std::iter::successors(path.parent(), RelativePath::parent)
            .take_while(|folder| !folder.is_root() && !self.root.exists(folder));
        let mut missing: Vec<_> = missing.map(Undo::RemoveFolder).collect();
        missing.reverse();
        self.undo.extend(missing);
    }

    /// Puts everything back; the error that the model is told.
    fn take_back(self, cx: &CallContext, steps: &[Step], error: ToolError) -> ToolError {
        let mut left = Vec::new();
        for undo in self.undo.iter().rev() {
            let (path, result) = match undo {
                Undo::RemoveFile(path) => (*path, self.root.remove_file(path)),
                Undo::Restore { path, old, mode } => (*path, self.root.restore(path, old, *mode)),
                Undo::MoveBack { from, to } => (*to, self.root.rename(to, from)),
                // A folder that someone else uses meanwhile stays.
                Undo::RemoveFolder(folder) => {
                    let _ = self.root.remove_empty_folder(folder);
                    continue;
                }
            };
            if let Err(error) = result {
                tracing::warn!(%error, "a file of a broken off change could not be put back");
                left.push(path.to_string());
            }
        }
        if left.is_empty() {
            // The record of this call then says what is so: nothing changed.
            for file in steps.iter().flat_map(Step::files) {
                let _: std::io::Result<()> = (cx.after)(file.path, version_of(file.old));
            }
            return match error {
                ToolError::Model(text) => ToolError::Model(format!("{text} Nothing was changed.")),
                other => other,
            };
        }
        ToolError::Model(format!(
            "{} What was done before could not all be put back: look at {}.",
            paths::sentence(&error.to_string()),
            left.join(", ")
        ))
    }
}
