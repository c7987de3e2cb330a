//! The private caches of one running command in the state folder, and with them the note that the look at the project after
//! it is still due.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::audit::Guard;
use super::{Quarantined, StateDir};
use crate::ProjectRoot;

const MAX_SLOTS: usize = 64;
/// How long a slot is waited for that is about to become free.
const MAX_WAIT: Duration = Duration::from_millis(250);

/// Slots of commands that are over, while the kernel still clears away what they had mounted.
static CLOSING: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
static CLOSED: Condvar = Condvar::new();

/// A set of private caches that no other running command uses: layers must not be shared while they are in use.
pub(crate) struct Slot {
    pub(crate) folder: PathBuf,
    lock: File,
}

impl Slot {
    pub(crate) fn take(state: &StateDir) -> io::Result<Self> {
        for number in 0..MAX_SLOTS {
            // The next command uses the same caches as the one before it, which has just been told to be over.
            wait_until_closed(&Self::folder(state, number));
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
        if lock.try_lock().is_err() {
            return Ok(None);
        }
        Ok(Some(Self { folder, lock }))
    }

    fn folder(state: &StateDir, number: usize) -> PathBuf {
        state.path().join(format!("caches-{number}"))
    }

    /// The command is over; the slot becomes free when what is returned is dropped.
    pub(crate) fn closing(self) -> ClosingSlot {
        closing().insert(self.folder.clone());
        ClosingSlot(Some(self))
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        // Closing the file would not do: a program that is just being started has a copy of it until it begins.
        let _ = self.lock.unlock();
    }
}

/// A slot that is about to become free.
pub(crate) struct ClosingSlot(Option<Slot>);

impl Drop for ClosingSlot {
    fn drop(&mut self) {
        let folder = self.0.take().map(|slot| slot.folder.clone());
        closing().retain(|other| Some(other) != folder.as_ref());
        CLOSED.notify_all();
    }
}

fn closing() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    lock_of(&CLOSING)
}

fn lock_of(set: &'static Mutex<BTreeSet<PathBuf>>) -> MutexGuard<'static, BTreeSet<PathBuf>> {
    set.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits while a slot is closing; does not wait for one that is in use.
fn wait_until_closed(folder: &Path) {
    // Whether it is closed is seen by taking it.
    let _ = CLOSED.wait_timeout_while(closing(), MAX_WAIT, |slots| slots.contains(folder));
}

/// Whether a command of this project runs now.
pub(crate) fn is_any_in_use(state: &StateDir) -> bool {
    (0..MAX_SLOTS)
        .map(|number| Slot::folder(state, number))
        .take_while(|folder| folder.exists())
        .enumerate()
        .any(|(number, folder)| {
            wait_until_closed(&folder);
            !matches!(Slot::take_number(state, number), Ok(Some(_)))
        })
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
