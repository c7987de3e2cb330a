//! What Paddock itself wrote to protected places. A background command may run for hours, and the look at the project after
//! it must tell what the command left from what the person approved meanwhile. Compared is the content, not a time or an
//! id: a command runs as the same account and could change a file between its write and any look at it.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use sha2::{Digest, Sha256};

use super::protection::protection_of;
use super::relative::RelativePath;

/// The contents by the place where they really are.
#[derive(Debug, Default)]
pub(super) struct OwnWrites(Mutex<BTreeMap<RelativePath, [u8; 32]>>);

impl OwnWrites {
    /// Notes what was written; only protected places are ever asked about.
    pub(super) fn note(&self, place: RelativePath, bytes: &[u8]) {
        if protection_of(place.components()).is_some() {
            self.lock().insert(place, Sha256::digest(bytes).into());
        }
    }

    /// Whether exactly this was written there.
    pub(super) fn holds(&self, place: &RelativePath, bytes: &[u8]) -> bool {
        self.lock()
            .get(place)
            .is_some_and(|known| *known == <[u8; 32]>::from(Sha256::digest(bytes)))
    }

    /// Whether anything was written there or below.
    pub(super) fn any_below(&self, place: &RelativePath) -> bool {
        self.lock().keys().any(|known| known.starts_with(place))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<RelativePath, [u8; 32]>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
