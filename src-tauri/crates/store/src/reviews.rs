//! Which files of a project that tell Paddock what to do (workflows, roles) the person has read and switched on, each by
//! the hash of its content. Lies in Paddock's data and never in the project, where the agent could write it.

use crate::{Home, Loaded, StoreError, disk};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;

#[derive(Default, Serialize, Deserialize)]
struct Record {
    /// For a person who looks; the folder's name is what counts.
    project: String,
    /// Path relative to the project → hex SHA-256 of the content that was accepted.
    accepted: BTreeMap<String, String>,
}

/// The accepted contents of a project's files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reviews(BTreeMap<String, String>);

/// What the person said about a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Review {
    /// Nothing yet, or that it stays off.
    Off,
    /// Exactly this content is on.
    On,
    /// Another content was on; this one is off.
    Changed,
}

impl Reviews {
    /// What holds for a file with this content.
    pub fn of(&self, path: &str, hash: &str) -> Review {
        match self.0.get(path) {
            Some(accepted) if accepted == hash => Review::On,
            Some(_) => Review::Changed,
            None => Review::Off,
        }
    }
}

/// Hex SHA-256 of a content.
pub fn hash_of(content: &[u8]) -> String {
    disk::hash(content)
}

/// Reads the reviews of a project (its canonical path). A damaged file is kept aside and reported: nothing is on then.
pub fn load(home: &Home, project: &str) -> Result<Loaded<Reviews>, StoreError> {
    let Loaded { value, kept_aside } = disk::load::<Record>(&file(home, project))?;
    Ok(Loaded {
        value: Reviews(value.accepted),
        kept_aside,
    })
}

/// Switches a file on, with exactly this content.
pub fn accept(home: &Home, project: &str, path: &str, hash: &str) -> Result<(), StoreError> {
    change(home, project, |accepted| {
        accepted.insert(path.to_owned(), hash.to_owned());
    })
}

/// Switches a file off, whatever it holds.
pub fn reject(home: &Home, project: &str, path: &str) -> Result<(), StoreError> {
    change(home, project, |accepted| {
        accepted.remove(path);
    })
}

fn change(
    home: &Home,
    project: &str,
    what: impl FnOnce(&mut BTreeMap<String, String>),
) -> Result<(), StoreError> {
    let mut accepted = load(home, project)?.value.0;
    what(&mut accepted);
    disk::save(
        &file(home, project),
        &Record {
            project: project.to_owned(),
            accepted,
        },
        disk::Replace::Durable,
    )
}

fn file(home: &Home, project: &str) -> PathBuf {
    home.project(project).join("reviews.json")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_on_only_with_the_content_that_was_accepted() {
        let place = tempfile::tempdir().unwrap();
        let home = Home::open(Some(place.path().into())).unwrap();
        let now = |project: &str, hash: &str| load(&home, project).unwrap().value.of("a.toml", hash);
        assert_eq!(now("/p", "1"), Review::Off);
        accept(&home, "/p", "a.toml", "1").unwrap();
        assert_eq!(
            (now("/p", "1"), now("/p", "2"), now("/other", "1")),
            (Review::On, Review::Changed, Review::Off)
        );
        accept(&home, "/p", "a.toml", "2").unwrap();
        assert_eq!((now("/p", "1"), now("/p", "2")), (Review::Changed, Review::On));
        reject(&home, "/p", "a.toml").unwrap();
        assert_eq!((now("/p", "1"), now("/p", "2")), (Review::Off, Review::Off));
    }

    #[test]
    fn a_damaged_record_switches_nothing_on() {
        let place = tempfile::tempdir().unwrap();
        let home = Home::open(Some(place.path().into())).unwrap();
        accept(&home, "/p", "a.toml", "1").unwrap();
        std::fs::write(file(&home, "/p"), b"{\"accepted\":").unwrap();
        let loaded = load(&home, "/p").unwrap();
        assert_eq!(loaded.value.of("a.toml", "1"), Review::Off);
        assert!(loaded.kept_aside.is_some_and(|aside| aside.exists()));
    }
}
