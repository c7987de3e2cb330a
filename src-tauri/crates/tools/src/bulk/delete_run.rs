//! Deletes files and folders that a person confirmed. What the files held is kept first, as far as the preview said so.

use super::delete::why_lost;
use super::identity::{Found, Tree, look};
use super::{CHANGED, Left, Room, file_change, keep, must_write, pairs, words_of};
use crate::change::MAX_FILE;
use crate::typed::{Stop, TypedTool, done};
use crate::{CallContext, Flow, Prepared, ToolError, ToolKind, bounds, paths};
use paddock_protocol::{Access, ApprovalBody, CallOutput, ChangeKind, FileChange, UndoFact, Verb};
use paddock_sandbox::{PathError, RelativePath};
use schemars::JsonSchema;
use serde::Deserialize;

pub(crate) struct DeleteFiles;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// Files and folders
    paths: Vec<String>,
    /// What was there at the preview, one for each path
    identities: Vec<String>,
}

impl TypedTool for DeleteFiles {
    type Input = Input;
    const NAME: &'static str = "delete_files";
    const DESCRIPTION: &'static str = "Deletes the files and folders of a confirmed preview.";
    const KIND: ToolKind = ToolKind::Write;

    fn prepare(input: Input, cx: &CallContext) -> Result<Prepared, ToolError> {
        let named = pairs(cx, ("paths", "identities"), &input.paths, &input.identities)?;
        let mut access = Vec::new();
        let mut room = Room::new();
        let (mut files, mut lost) = (Vec::new(), 0usize);
        for (path, _) in &named {
            let looked = look(&cx.root, path, &Stop::default())?;
            access.extend(deletes(cx, path));
            if let Found::Folder(tree) = &looked.found {
                let inside = tree.files.iter().map(|(path, _)| path).chain(&tree.others);
                access.extend(inside.flat_map(|path| deletes(cx, path)).filter(is_protected));
            }
            let why = why_lost(&looked.found, &mut room);
            lost += usize::from(why.is_some());
            files.push(file_change(path.as_str(), ChangeKind::Deleted, why.is_none()));
        }
        let undo = match lost {
            0 => UndoFact::Covered,
            _ => UndoFact::NotCovered {
                why: format!("{lost} of {} cannot be restored.", files.len()),
            },
        };
        Ok(Prepared {
            verb: Verb::Delete,
            target: super::named(named.iter().map(|(path, _)| path)),
            access,
            body: ApprovalBody::Delete {
                files,
                base: Vec::new(),
            },
            undo,
            flow: Flow::Run,
        })
    }

    fn run(input: Input, cx: &CallContext, stop: &Stop) -> Result<CallOutput, ToolError> {
        must_write(cx)?;
        let named = pairs(cx, ("paths", "identities"), &input.paths, &input.identities)?;
        let mut work = Work {
            cx,
            stop,
            room: Room::new(),
            left: Left::default(),
            changes: Vec::new(),
            deleted: 0,
        };
        for (path, identity) in named {
            stop.check()?;
            work.remove(&path, identity)?;
        }
        let text = format!(
            "Deleted {}.\n{}",
            bounds::count(work.deleted, "file"),
            work.left.lines()
        );
        Ok(CallOutput {
            ok: work.left.is_empty(),
            changes: work.changes,
            ..done(text)
        })
    }
}

fn deletes(cx: &CallContext, path: &RelativePath) -> Vec<Access> {
    let mut access = paths::writes(cx, path);
    access[0] = Access::Delete {
        path: path.to_string(),
    };
    access
}

fn is_protected(access: &Access) -> bool {
    matches!(access, Access::Protected { .. })
}

/// A deletion that goes on, also used for the new files of a discard.
pub(super) struct Work<'a> {
    pub(super) cx: &'a CallContext,
    pub(super) stop: &'a Stop,
    pub(super) room: Room,
    pub(super) left: Left,
    pub(super) changes: Vec<FileChange>,
    /// Files, those in folders counted one by one.
    pub(super) deleted: usize,
}

impl Work<'_> {
    /// Deletes what is at the path if it is what the person saw.
    pub(super) fn remove(&mut self, path: &RelativePath, identity: &str) -> Result<(), ToolError> {
        let looked = match look(&self.cx.root, path, self.stop) {
            Ok(looked) if looked.identity == identity => looked,
            Ok(_) => {
                self.left.add(path.as_str(), CHANGED);
                return Ok(());
            }
            Err(error) => {
                self.left.add(path.as_str(), error.to_string());
                return Ok(());
            }
        };
        let undoable = why_lost(&looked.found, &mut self.room).is_none();
        let before = self.deleted;
        match &looked.found {
            Found::Nothing => {}
            Found::File { .. } => self.remove_file(path, undoable)?,
            Found::Link => self.unlink(path),
            Found::Folder(tree) => self.remove_tree(tree, undoable)?,
        }
        if self.deleted > before {
            let change = file_change(path.as_str(), ChangeKind::Deleted, undoable);
            self.changes.push(change);
        }
        Ok(())
    }

    fn remove_file(&mut self, path: &RelativePath, undoable: bool) -> Result<(), ToolError> {
        if undoable {
            match self.cx.root.read(path, MAX_FILE) {
                Ok(content) => keep(self.cx, path, Some(&content), None)?,
                Err(error) => {
                    self.left.add(path.as_str(), words_of(error));
                    return Ok(());
                }
            }
        }
        self.unlink(path);
        Ok(())
    }

    fn unlink(&mut self, path: &RelativePath) {
        match paths::root_of(self.cx).remove_file(path) {
            Ok(()) => self.deleted += 1,
            Err(error) => self.left.add(path.as_str(), words_of(error)),
        }
    }

    fn remove_tree(&mut self, tree: &Tree, undoable: bool) -> Result<(), ToolError> {
        for (path, _) in &tree.files {
            self.stop.check()?;
            self.remove_file(path, undoable)?;
        }
        for path in &tree.others {
            self.unlink(path);
        }
        for folder in tree.folders.iter().rev() {
            self.remove_empty(folder);
        }
        Ok(())
    }

    /// A folder that is not empty holds something that came later; it stays.
    fn remove_empty(&mut self, folder: &RelativePath) {
        match paths::root_of(self.cx).remove_empty_folder(folder) {
            Ok(()) | Err(PathError::NotFound { .. }) => {}
            Err(PathError::NotEmpty { .. }) => self.left.add(folder.as_str(), "it is not empty"),
            Err(error) => self.left.add(folder.as_str(), words_of(error)),
        }
    }
}
