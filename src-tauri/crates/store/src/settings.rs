//! The settings of the person, one file for all projects.

use crate::{Home, Loaded, StoreError, disk};
use paddock_protocol::Settings;

/// Reads the settings; defaults when there are none yet. A damaged file is kept aside and reported.
pub fn load(home: &Home) -> Result<Loaded<Settings>, StoreError> {
    disk::load(&home.settings())
}

/// Replaces the settings as a whole, durably.
pub fn save(home: &Home, settings: &Settings) -> Result<(), StoreError> {
    disk::save(&home.settings(), settings, disk::Replace::Durable)
}
