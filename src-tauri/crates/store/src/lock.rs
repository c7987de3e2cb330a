//! Locks between processes. The system gives a lock back when its holder dies, so there is nothing to clean up.

use crate::{Home, StoreError, disk};
use std::fs::{File, TryLockError};
use std::path::Path;

/// The right to write in one project folder, among all running Paddocks. Given back on drop.
#[derive(Debug)]
pub struct ProjectLock {
    _lock: HeldLock,
}

impl ProjectLock {
    /// Takes the lock of a project (its canonical path) or says at once that it is in use.
    pub fn try_take(home: &Home, project: &str) -> Result<ProjectLock, StoreError> {
        let folder = home.project(project);
        disk::make_folder(&folder)?;
        Ok(ProjectLock {
            _lock: try_lock(&folder.join("writer.lock"), "This project folder")?,
        })
    }
}

/// A locked file, unlocked on drop. Closing it would not do: a program that is just being started has a copy of it until it
/// begins, and the lock would stay for that moment.
#[derive(Debug)]
pub(crate) struct HeldLock(File);

impl Drop for HeldLock {
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

/// Opens a lock file and locks it without waiting.
pub(crate) fn try_lock(path: &Path, what: &str) -> Result<HeldLock, StoreError> {
    let file = disk::private_file()
        .create(true)
        .truncate(false)
        .open(path)
        .map_err(StoreError::io("opened", path))?;
    match file.try_lock() {
        Ok(()) => Ok(HeldLock(file)),
        Err(TryLockError::WouldBlock) => Err(StoreError::InUse {
            what: what.to_owned(),
        }),
        Err(TryLockError::Error(error)) => Err(StoreError::io("locked", path)(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_writer_per_project() {
        let place = tempfile::tempdir().unwrap();
        let home = Home::open(Some(place.path().into())).unwrap();
        let held = ProjectLock::try_take(&home, "/a").unwrap();
        assert!(matches!(
            ProjectLock::try_take(&home, "/a"),
            Err(StoreError::InUse { .. })
        ));
        ProjectLock::try_take(&home, "/b").unwrap();
        drop(held);
        ProjectLock::try_take(&home, "/a").unwrap();
    }

    #[test]
    fn a_copy_in_a_program_that_is_being_started_does_not_hold_it() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("lock");
        let held = try_lock(&path, "This session").unwrap();
        let _copy = held.0.try_clone().unwrap();
        drop(held);
        try_lock(&path, "This session").unwrap();
    }
}
