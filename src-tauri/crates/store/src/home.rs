//! The data folder and the places in it. Opening it makes the folder itself and nothing more; every other folder is made
//! by the first thing that goes into it.

use crate::{StoreError, disk};
use paddock_protocol::{CallId, SessionId};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The folder in which Paddock keeps everything it remembers, keys apart. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Home {
    path: Arc<Path>,
}

impl Home {
    /// Opens the data folder: `path`, or the place the system has for data of programs. Made with mode 0700 when missing.
    pub fn open(path: Option<PathBuf>) -> Result<Home, StoreError> {
        let path = match path {
            Some(path) => std::path::absolute(&path).map_err(StoreError::io("found", &path))?,
            None => directories::ProjectDirs::from("dev", "", "Paddock")
                .ok_or(StoreError::NoHome)?
                .data_local_dir()
                .to_owned(),
        };
        disk::make_folder(&path)?;
        Ok(Home { path: path.into() })
    }

    /// The folder itself, absolute.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where the sandbox keeps its state for a project (its canonical path); made by the sandbox when needed.
    pub fn sandbox_of(&self, project: &str) -> PathBuf {
        self.path.join("sandbox").join(project_key(project))
    }

    /// Where copies of the sample project live; made when missing.
    pub fn demo(&self) -> Result<PathBuf, StoreError> {
        self.made("demo")
    }

    fn made(&self, name: &str) -> Result<PathBuf, StoreError> {
        let path = self.path.join(name);
        disk::make_folder(&path)?;
        Ok(path)
    }

    pub(crate) fn settings(&self) -> PathBuf {
        self.path.join("settings.json")
    }

    pub(crate) fn index(&self) -> PathBuf {
        self.path.join("index.sqlite")
    }

    pub(crate) fn sessions(&self) -> PathBuf {
        self.path.join("sessions")
    }

    pub(crate) fn session(&self, session: &SessionId) -> Result<PathBuf, StoreError> {
        Ok(self.sessions().join(file_name(session.as_str())?))
    }

    pub(crate) fn output(&self, session: &SessionId, call: &CallId) -> Result<PathBuf, StoreError> {
        Ok(self
            .session(session)?
            .join("outputs")
            .join(format!("{}.txt", file_name(call.as_str())?)))
    }

    pub(crate) fn attachment(&self, session: &SessionId, id: &str) -> Result<PathBuf, StoreError> {
        Ok(self.session(session)?.join("attachments").join(file_name(id)?))
    }

    pub(crate) fn raw(&self, session: &SessionId) -> Result<PathBuf, StoreError> {
        Ok(self.session(session)?.join("raw"))
    }

    pub(crate) fn before(&self, session: &SessionId, call: &CallId) -> Result<PathBuf, StoreError> {
        Ok(self
            .session(session)?
            .join("before")
            .join(file_name(call.as_str())?))
    }

    /// The folder of what is remembered about a project, named by a hash of its canonical path.
    pub(crate) fn project(&self, project: &str) -> PathBuf {
        self.path.join("projects").join(project_key(project))
    }
}

/// The name of the folders that belong to a project.
fn project_key(project: &str) -> String {
    let mut name = disk::hash(project.as_bytes());
    name.truncate(32);
    name
}

/// An id as a file name. Ids come from clients too, so anything that could be more than one plain name is refused.
fn file_name(id: &str) -> Result<&str, StoreError> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    if id.is_empty() || id.len() > 128 || id.starts_with('.') || id.ends_with('.') || !id.bytes().all(plain) {
        return Err(StoreError::InvalidId {
            id: id.chars().take(128).collect(),
        });
    }
    Ok(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opening_makes_one_private_folder() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("a/b");
        let home = Home::open(Some(path.clone())).unwrap();
        assert_eq!(home.path(), path);
        assert_eq!(std::fs::read_dir(&path).unwrap().count(), 0);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(
                std::fs::metadata(&path).unwrap().permissions().mode() & 0o777,
                0o700
            );
        }
        assert_eq!(Home::open(Some(path.clone())).unwrap().path(), path);
    }

    #[test]
    fn ids_that_are_more_than_a_name_are_refused() {
        let place = tempfile::tempdir().unwrap();
        let home = Home::open(Some(place.path().into())).unwrap();
        for id in [
            "", ".", "..", "../x", "a/b", "a\\b", "/etc", ".hidden", "a\0b", "c:", "x.", "é",
        ] {
            assert!(
                matches!(
                    home.session(&SessionId::new(id)),
                    Err(StoreError::InvalidId { .. })
                ),
                "{id:?}"
            );
        }
        let call = CallId::new("t2.i5.c1");
        assert!(
            home.output(&SessionId::new("0198-a"), &call)
                .unwrap()
                .ends_with("sessions/0198-a/outputs/t2.i5.c1.txt")
        );
    }
}
