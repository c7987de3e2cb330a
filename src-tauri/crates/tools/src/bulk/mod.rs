//! What changes many files at once: the tools of workflows, and the looking that goes before them. A model is never told
//! of these tools. Each call carries the exact list of paths with what was there when the person saw the preview; what is
//! not as it was then is left alone. The wall stands here so that preview and run read the same facts the same way.

mod delete;
mod delete_run;
mod discard;
mod discard_run;
mod git;
mod identity;
mod rename;
mod rename_run;

pub use delete::{Doomed, doomed};
pub(crate) use delete_run::DeleteFiles;
pub use discard::{Discard, Discarded, discard};
pub(crate) use discard_run::DiscardChanges;
pub use git::Git;
pub use rename::{RenameProblem, Renamed, rename_order, renamed};
pub(crate) use rename_run::RenameFiles;

use crate::change::MAX_FILE;
use crate::{CallContext, ToolError, bounds, paths};
use paddock_protocol::{ChangeKind, FileChange};
use paddock_sandbox::{PathError, RelativePath};

/// Most paths that one call carries.
pub const MAX_PATHS: usize = 5_000;
/// Files of one call whose content is kept for an undo, and their bytes together.
const KEPT_FILES: u32 = 1_000;
const KEPT_BYTES: u64 = 512 * 1024 * 1024;

/// Whether a path fits a pattern, as in `find_files`: one without `/` is for names in any folder.
pub fn path_glob(pattern: &str) -> Result<impl Fn(&str) -> bool + Send + use<>, ToolError> {
    let glob = crate::find_files::glob(pattern, pattern)?;
    Ok(move |path: &str| glob.is_match(path))
}

/// What is left of the room for an undo. Preview and run count it down in the same order, so both say the same.
#[derive(Clone, Copy)]
pub(crate) struct Room {
    files: u32,
    bytes: u64,
}

impl Room {
    pub(crate) fn new() -> Self {
        Self {
            files: KEPT_FILES,
            bytes: KEPT_BYTES,
        }
    }

    /// Takes room for all of these files or for none; why not, in words.
    pub(crate) fn take(&mut self, files: u32, bytes: u64, largest: u64) -> Result<(), String> {
        if largest > MAX_FILE {
            return Err(format!(
                "cannot be restored: larger than {}",
                bounds::size(MAX_FILE)
            ));
        }
        if files > self.files {
            return Err(format!(
                "cannot be restored: more than {KEPT_FILES} files are not kept"
            ));
        }
        if bytes > self.bytes {
            return Err(format!(
                "cannot be restored: more than {} are not kept",
                bounds::size(KEPT_BYTES)
            ));
        }
        self.files -= files;
        self.bytes -= bytes;
        Ok(())
    }
}

/// Paths with what was there at the preview, in pairs.
fn pairs<'a>(
    cx: &CallContext,
    names: (&str, &str),
    paths: &'a [String],
    identities: &'a [String],
) -> Result<Vec<(RelativePath, &'a str)>, ToolError> {
    if paths.len() != identities.len() {
        return Err(ToolError::Arguments(format!(
            "`{}` must have one entry for each of `{}`",
            names.1, names.0
        )));
    }
    if paths.len() > MAX_PATHS {
        return Err(ToolError::Arguments(format!(
            "`{}` may name at most {MAX_PATHS} paths",
            names.0
        )));
    }
    paths
        .iter()
        .zip(identities)
        .map(|(path, identity)| {
            let path = paths::locate(cx, path)?;
            if path.is_root() {
                return Err(ToolError::Arguments(format!(
                    "`{}` must not name the project folder itself",
                    names.0
                )));
            }
            Ok((path, identity.as_str()))
        })
        .collect()
}

/// The first names, and how many more there are.
fn named<'a>(paths: impl Iterator<Item = &'a RelativePath>) -> String {
    const SHOWN: usize = 3;
    let names: Vec<&str> = paths.map(RelativePath::as_str).collect();
    let shown = names[..names.len().min(SHOWN)].join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// Keeps what a file held and what it will hold, before it is touched.
fn keep(
    cx: &CallContext,
    path: &RelativePath,
    old: Option<&[u8]>,
    new: Option<&[u8]>,
) -> Result<(), ToolError> {
    (cx.before)(path, old)
        .and_then(|()| (cx.after)(path, crate::version_of(new)))
        .map_err(|error| ToolError::Fatal(format!("What `{path}` held could not be kept: {error}.")))
}

fn must_write(cx: &CallContext) -> Result<(), ToolError> {
    if cx.read_only || cx.root.reach().read_only {
        return Err(paths::failure(PathError::ReadOnly {
            path: RelativePath::root(),
        }));
    }
    Ok(())
}

fn file_change(path: &str, kind: ChangeKind, undoable: bool) -> FileChange {
    FileChange {
        path: path.to_owned(),
        kind,
        added: 0,
        removed: 0,
        diff: None,
        undoable,
        notes: Vec::new(),
    }
}

/// What was left as it is, with the reasons, for the result.
#[derive(Default)]
struct Left(Vec<(String, String)>);

impl Left {
    const SHOWN: usize = 50;

    fn add(&mut self, path: impl Into<String>, why: impl Into<String>) {
        self.0.push((path.into(), why.into()));
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn lines(&self) -> String {
        let mut text = String::new();
        for (path, why) in self.0.iter().take(Self::SHOWN) {
            text.push_str(&format!("Left as it is: {path} ({why}).\n"));
        }
        if self.0.len() > Self::SHOWN {
            text.push_str(&format!("… and {} more.\n", self.0.len() - Self::SHOWN));
        }
        text
    }
}

const CHANGED: &str = "it changed after the preview";

fn words_of(error: PathError) -> String {
    error.to_string()
}
