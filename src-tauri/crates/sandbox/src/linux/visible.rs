//! What a command saw of the machine, kept for the question which grant would have helped it.

use std::path::{Path, PathBuf};

use super::wire::{Content, Plan};
use crate::ProjectRoot;
use crate::command::blocked::Surroundings;

/// The real places that were in the sandbox, and whether they could be changed there.
pub(super) struct Visible {
    root: ProjectRoot,
    places: Vec<(PathBuf, bool)>,
    /// Places that hold something of the command's own instead of what is there on the machine.
    own: Vec<PathBuf>,
}

impl Visible {
    pub(super) fn of(plan: &Plan, root: &ProjectRoot) -> Self {
        let mut places = Vec::new();
        let mut own: Vec<PathBuf> = ["/tmp", "/var/tmp", "/dev", "/run"].map(PathBuf::from).into();
        for place in &plan.places {
            match &place.content {
                Content::Machine { source, writable } if *source == place.target => {
                    places.push((place.target.clone().into(), *writable));
                }
                // Changes to a layer stay with the project, which is no reason to ask for the folder below it.
                Content::Layer { .. } => places.push((place.target.clone().into(), true)),
                _ => own.push(place.target.clone().into()),
            }
        }
        Self {
            root: root.clone(),
            places,
            own,
        }
    }
}

impl Surroundings for Visible {
    fn is_reachable(&self, path: &Path, write: bool) -> bool {
        if path.starts_with(self.root.path()) {
            // What is refused in the project is refused for reasons that no grant for a path changes.
            return true;
        }
        let depth = |place: &Path| path.starts_with(place).then(|| place.components().count());
        let own = self.own.iter().filter_map(|place| depth(place)).max();
        self.places
            .iter()
            .filter_map(|(place, writable)| Some((depth(place)?, *writable)))
            .max()
            .is_some_and(|(depth, writable)| own.is_none_or(|own| depth >= own) && (writable || !write))
    }

    fn may_be_granted(&self, path: &Path, write: bool) -> bool {
        self.root.never_granted(path, write).is_none()
    }
}
