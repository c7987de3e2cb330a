//! Files that a person allowed a command to make outside of the project. Only what exists can be shown in a sandbox, so they
//! are made empty before the command, and removed after it when they are still empty.

use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

use crate::ProjectRoot;
use crate::command::PathGrant;

pub(super) struct NewFiles(Vec<PathBuf>);

impl NewFiles {
    /// Makes those that are missing, where their folder is there and the place may be granted at all.
    /// And `others`, which no command writes, but which must be there to stay as they are.
    pub(super) fn make(root: &ProjectRoot, grants: &[PathGrant], others: &[PathBuf]) -> Self {
        let granted = grants
            .iter()
            .filter(|grant| grant.writable)
            .map(|grant| &grant.path);
        let made = granted.chain(others).filter_map(|path| {
            let folder = path.parent()?.canonicalize().ok()?;
            let path = folder.join(path.file_name()?);
            let may_be = root.never_granted(&path, true).is_none();
            (may_be && make(&path).is_ok()).then_some(path)
        });
        Self(made.collect())
    }
}

fn make(path: &PathBuf) -> io::Result<()> {
    // What is there already stays as it is, a link too.
    let mut options = OpenOptions::new();
    options
        .write(true)
        .create_new(true)
        .custom_flags(libc::O_NOFOLLOW);
    options.open(path).map(drop)
}

impl Drop for NewFiles {
    fn drop(&mut self) {
        for path in &self.0 {
            let is_empty =
                std::fs::symlink_metadata(path).is_ok_and(|found| found.is_file() && found.len() == 0);
            if is_empty {
                let _ = std::fs::remove_file(path);
            }
        }
    }
}
