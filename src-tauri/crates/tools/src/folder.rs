//! A file, or a folder with everything in it, that is moved or deleted as a whole: only what can be kept for an undo.

use crate::several::no_link;
use crate::{CallContext, ToolError, change, paths};
use paddock_sandbox::{Kind, RelativePath};

/// Files of one call; for more there is a preview of its own.
const MAX_FILES: usize = 50;
const MAX_FOLDERS: usize = 500;
/// Bytes of all files together: they are all kept.
const MAX_BYTES: usize = 256 * 1024 * 1024;

/// Everything at a path.
pub(crate) struct Contents {
    pub(crate) is_folder: bool,
    /// The files with what they hold, in the order of their names.
    pub(crate) files: Vec<(RelativePath, Vec<u8>)>,
    /// The folder and those in it, outer ones first.
    pub(crate) folders: Vec<RelativePath>,
}

/// Reads everything at a path. Ignored files count like all others. `too_many`: what to use for more files.
pub(crate) fn contents(cx: &CallContext, path: &RelativePath, too_many: &str) -> Result<Contents, ToolError> {
    if path.is_root() {
        return Err(ToolError::Model("`.` is the project folder itself.".to_owned()));
    }
    no_link(cx, path)?;
    let found = cx.root.link_metadata(path).map_err(paths::failure)?;
    let is_folder = found.kind == Kind::Folder;
    let mut names = Vec::new();
    let mut folders = Vec::new();
    if is_folder {
        folders.push(path.clone());
        list(cx, path, &mut names, &mut folders)?;
    } else {
        names.push(path.clone());
    }
    if names.len() > MAX_FILES || folders.len() > MAX_FOLDERS {
        return Err(ToolError::Model(format!(
            "`{path}` holds more than {MAX_FILES} files; nothing was changed. {too_many}"
        )));
    }
    let mut bytes = 0;
    let mut files = Vec::new();
    for name in names {
        let content = cx.root.read(&name, change::MAX_FILE).map_err(paths::failure)?;
        bytes += content.len();
        if bytes > MAX_BYTES {
            return Err(ToolError::Model(format!(
                "`{path}` is too large to be kept for an undo; nothing was changed. {too_many}"
            )));
        }
        files.push((name, content));
    }
    Ok(Contents {
        is_folder,
        files,
        folders,
    })
}

/// Stops soon after there are too many.
fn list(
    cx: &CallContext,
    folder: &RelativePath,
    names: &mut Vec<RelativePath>,
    folders: &mut Vec<RelativePath>,
) -> Result<(), ToolError> {
    for entry in cx.root.read_dir(folder).map_err(paths::failure)? {
        if names.len() > MAX_FILES || folders.len() > MAX_FOLDERS {
            return Ok(());
        }
        let path = folder.join(&entry.name).map_err(paths::failure)?;
        match entry.kind {
            Kind::File => names.push(path),
            Kind::Folder => {
                folders.push(path.clone());
                list(cx, &path, names, folders)?;
            }
            Kind::Link | Kind::Other => {
                return Err(ToolError::Model(format!(
                    "`{path}` is a link or no regular file, which could not be brought back; nothing was changed. Use run_command for it."
                )));
            }
        }
    }
    Ok(())
}

/// Makes folders, so that empty ones are there too; one that cannot be made holds nothing that is lost.
pub(crate) fn make_all(cx: &CallContext, folders: &[RelativePath]) {
    let root = paths::root_of(cx);
    for folder in folders {
        if let Err(error) = root.create_folder(folder) {
            tracing::warn!(%error, "an empty folder was not made again");
        }
    }
}

/// Removes folders that nothing is in any more, inner ones first. What came into one meanwhile keeps it.
pub(crate) fn remove_empty(cx: &CallContext, folders: &[RelativePath]) -> bool {
    let root = paths::root_of(cx);
    folders
        .iter()
        .rev()
        .all(|folder| root.remove_empty_folder(folder).is_ok())
}
