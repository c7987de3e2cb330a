//! What a deletion would take away, as it is now.

use super::identity::{Found, look};
use super::{Room, bounds};
use crate::ToolError;
use crate::typed::Stop;
use paddock_sandbox::{ProjectRoot, RelativePath};

/// A file, link or folder that would be deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doomed {
    pub path: String,
    /// What is there; given back with the call.
    pub identity: String,
    pub is_folder: bool,
    /// Files in it, 1 for a file or link.
    pub files: u32,
    /// Bytes.
    pub bytes: u64,
    /// Why an undo cannot bring it back, in words.
    pub lost: Option<String>,
}

impl Doomed {
    /// Size and number in words: "12 files, 3.0 MB".
    pub fn size(&self) -> String {
        let size = bounds::size(self.bytes);
        if self.is_folder {
            format!("{}, {size}", bounds::count(self.files as usize, "file"))
        } else {
            size
        }
    }
}

/// Looks at each path in order; one where nothing is any more is left out. Blocking.
pub fn doomed(root: &ProjectRoot, paths: &[RelativePath]) -> Result<Vec<Doomed>, ToolError> {
    let mut room = Room::new();
    let stop = Stop::default();
    let mut all = Vec::with_capacity(paths.len());
    for path in paths {
        let looked = look(root, path, &stop)?;
        let (is_folder, files, bytes) = match &looked.found {
            Found::Nothing => continue,
            Found::File { size } => (false, 1, *size),
            Found::Link => (false, 1, 0),
            Found::Folder(tree) => (true, tree.count(), tree.bytes()),
        };
        all.push(Doomed {
            path: path.to_string(),
            identity: looked.identity,
            is_folder,
            files,
            bytes,
            lost: why_lost(&looked.found, &mut room),
        });
    }
    Ok(all)
}

/// Takes room for what was found; why it cannot be brought back.
pub(super) fn why_lost(found: &Found, room: &mut Room) -> Option<String> {
    match found {
        Found::Nothing => None,
        Found::File { size } => room.take(1, *size, *size).err(),
        Found::Link => Some("cannot be restored: a link".to_owned()),
        Found::Folder(tree) => {
            if !tree.others.is_empty() {
                let links = bounds::count(tree.others.len(), "link");
                return Some(format!("cannot be restored: holds {links}"));
            }
            let files = u32::try_from(tree.files.len()).unwrap_or(u32::MAX);
            room.take(files, tree.bytes(), tree.largest()).err()
        }
    }
}
