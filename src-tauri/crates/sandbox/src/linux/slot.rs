//! The private caches of one running command in the state folder, and with them the note that the look at the project after
//! it is still due.

use std::fs::File;
use std::io;
use std::path::PathBuf;

use super::plan;
use crate::ProjectRoot;
use crate::command::audit::Guard;
use crate::command::{Quarantined, StateDir};

const MAX_SLOTS: usize = 64;

/// A set of private caches that no other running command uses: layers must not be shared while they are in use.
pub(super) struct Slot {
    pub(super) folder: PathBuf,
    _lock: File,
}

impl Slot {
    pub(super) fn take(state: &StateDir) -> io::Result<Self> {
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
        plan::private_folder(&folder)?;
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
