//! The private caches of one running command in the state folder, and with them the note that the look at the project after
//! it is still due.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use super::audit::Guard;
use super::{Quarantined, StateDir};
use crate::ProjectRoot;

const MAX_SLOTS: usize = 64;

/// A set of private caches that no other running command uses: layers must not be shared while they are in use.
pub(crate) struct Slot {
    pub(crate) folder: PathBuf,
    _lock: File,
}

impl Slot {
    pub(crate) fn take(state: &StateDir) -> io::Result<Self> {
        for number in 0..MAX_SLOTS {
            let Some(slot) = Self::take_number(state, number)? else {
                continue;
            };
            // After a crash the look at the project is still due, and this command must not hide that.
            if Guard::kept(&slot.folder).is_none() {
                return Ok(slot);
            }
        }
        Err(io::ErrorKind::ResourceBusy.into())
    }

    /// One set of caches; none while it is in use.
    fn take_number(state: &StateDir, number: usize) -> io::Result<Option<Self>> {
        let folder = Self::folder(state, number);
        private_folder(&folder)?;
        let lock = File::create(folder.join("lock"))?;
        Ok(lock.try_lock().is_ok().then_some(Self { folder, _lock: lock }))
    }

    fn folder(state: &StateDir, number: usize) -> PathBuf {
        state.path().join(format!("caches-{number}"))
    }
}

/// Looks at a project after commands that Paddock did not survive, as it would have done after their end.
pub(crate) fn audit_after_crash(root: &ProjectRoot, state: &StateDir) -> Vec<Quarantined> {
    let mut moved = Vec::new();
    for number in 0..MAX_SLOTS {
        let folder = Slot::folder(state, number);
        if !folder.exists() {
            break;
        }
        if Guard::kept(&folder).is_none() {
            continue;
        }
        // A slot in use belongs to a command that runs, and will be looked at after its end.
        if let Ok(Some(slot)) = Slot::take_number(state, number)
            && let Some(guard) = Guard::kept(&slot.folder)
        {
            moved.extend(guard.audit(root, state));
            Guard::forget(&slot.folder);
        }
    }
    moved
}

/// Makes a folder, and those above it, for this account alone; on Windows they inherit that from the account's own folder.
pub(crate) fn private_folder(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(path)
}
