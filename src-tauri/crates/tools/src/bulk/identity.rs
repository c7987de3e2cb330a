//! What was at a path, as one short text: two looks that give the same text saw the same thing. For a file its size, times
//! and inode; for a folder a hash over everything in it, so that one more file in it makes another text.

use crate::ToolError;
use crate::typed::Stop;
use paddock_sandbox::{Entry, Kind, PathError, ProjectRoot, RelativePath};
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::time::UNIX_EPOCH;

const MAX_ENTRIES: usize = 200_000;
const MAX_DEPTH: usize = 64;

/// Text of a path at which nothing is.
pub(super) const ABSENT: &str = "absent";

/// What a look found.
pub(super) struct Looked {
    pub(super) identity: String,
    pub(super) found: Found,
}

pub(super) enum Found {
    Nothing,
    File { size: u64 },
    Link,
    Folder(Tree),
}

/// Everything in a folder; folders before what is in them.
#[derive(Default)]
pub(super) struct Tree {
    pub(super) files: Vec<(RelativePath, u64)>,
    /// Links and what is no file: nothing of it can be kept.
    pub(super) others: Vec<RelativePath>,
    pub(super) folders: Vec<RelativePath>,
}

impl Tree {
    /// Files, links and the rest.
    pub(super) fn count(&self) -> u32 {
        u32::try_from(self.files.len() + self.others.len()).unwrap_or(u32::MAX)
    }

    pub(super) fn bytes(&self) -> u64 {
        self.files.iter().map(|(_, size)| size).sum()
    }

    pub(super) fn largest(&self) -> u64 {
        self.files.iter().map(|(_, size)| *size).max().unwrap_or(0)
    }
}

/// Looks at a path. Fails for what cannot be addressed, is too much, or holds a repository's `.git`.
pub(super) fn look(root: &ProjectRoot, path: &RelativePath, stop: &Stop) -> Result<Looked, ToolError> {
    let facts = match root.link_metadata(path) {
        Ok(facts) => facts,
        Err(PathError::NotFound { .. }) => {
            return Ok(Looked {
                identity: ABSENT.to_owned(),
                found: Found::Nothing,
            });
        }
        Err(error) => return Err(crate::paths::failure(error)),
    };
    let times = format!("{} {} {}", facts.modified_ns, facts.changed_ns, facts.inode);
    match facts.kind {
        Kind::File => Ok(Looked {
            identity: format!("file {} {times}", facts.size),
            found: Found::File { size: facts.size },
        }),
        Kind::Folder => look_into(root, path, stop),
        Kind::Link => Ok(Looked {
            identity: format!("link {times}"),
            found: Found::Link,
        }),
        Kind::Other => Err(crate::paths::failure(PathError::Special { path: path.clone() })),
    }
}

fn look_into(root: &ProjectRoot, path: &RelativePath, stop: &Stop) -> Result<Looked, ToolError> {
    let mut tree = Tree::default();
    let mut hash = Sha256::new();
    descend(root, path, 0, &mut tree, &mut hash, stop)?;
    let mut digits = String::new();
    for byte in hash.finalize().iter().take(16) {
        let _ = write!(digits, "{byte:02x}");
    }
    Ok(Looked {
        identity: format!("folder {} {digits}", tree.count()),
        found: Found::Folder(tree),
    })
}

fn descend(
    root: &ProjectRoot,
    folder: &RelativePath,
    depth: usize,
    tree: &mut Tree,
    hash: &mut Sha256,
    stop: &Stop,
) -> Result<(), ToolError> {
    stop.check()?;
    let entries = root.read_dir(folder).map_err(crate::paths::failure)?;
    tree.folders.push(folder.clone());
    let seen = tree.files.len() + tree.others.len() + tree.folders.len() + entries.len();
    if depth > MAX_DEPTH || seen > MAX_ENTRIES {
        return Err(ToolError::Model(format!(
            "`{folder}` holds more than can be looked at."
        )));
    }
    for entry in entries {
        if entry.name == ".git" {
            return Err(ToolError::Model(format!(
                "`{folder}` holds a repository of its own (`.git`)."
            )));
        }
        let path = folder
            .join(&entry.name)
            .ok()
            .filter(|path| path.file_name() == Some(entry.name.as_str()))
            .ok_or_else(|| ToolError::Model(format!("`{folder}` holds a name that cannot be used here.")))?;
        note(hash, &path, &entry);
        match entry.kind {
            Kind::File => tree.files.push((path, entry.size)),
            Kind::Folder => descend(root, &path, depth + 1, tree, hash, stop)?,
            Kind::Link | Kind::Other => tree.others.push(path),
        }
    }
    Ok(())
}

fn note(hash: &mut Sha256, path: &RelativePath, entry: &Entry) {
    hash.update(path.as_str().as_bytes());
    let modified = entry
        .modified
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_nanos());
    let (size, modified) = match entry.kind {
        // What changes in a folder shows in what is in it.
        Kind::Folder => (0, 0),
        _ => (entry.size, modified),
    };
    hash.update(format!("\0{:?} {size} {modified}\0", entry.kind).as_bytes());
}
