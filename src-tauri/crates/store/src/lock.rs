//! Locks between processes. The system gives a lock back when its holder dies, so there is nothing to clean up.

use crate::{Home, StoreError, disk};
use std::fs::{File, TryLockError};
use std::path::Path;

/// The right to write in one project folder, among all running Paddocks. Given back on drop.
#[derive(Debug)]
pub struct ProjectLock {
    _file: File,
}

impl ProjectLock {
    /// Takes the lock of a project (its canonical path) or says at once that it is in use.
    pub fn try_take(home: &Home, project: &str) -> Result<ProjectLock, StoreError> {
        let folder = home.project(project);
        disk::make_folder(&folder)?;
        Ok(ProjectLock {
            _file: try_lock(&folder.join("writer.lock"), "This project folder")?,
        })
    }
}

/// Opens a lock file and locks it without waiting.
pub(crate) fn try_lock(path: &Path, what: &str) -> Result<File, StoreError> {
    let file = disk::private_file()
        .create(true)
        .truncate(false)
        .open(path)
        .map_err(StoreError::io("opened", path))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
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
}
