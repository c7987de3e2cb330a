//! Opens the core on the data folder that the environment names.

use crate::failure::Failure;
use paddock_core::{HelperProgram, Home, Paddock};
use std::path::PathBuf;

const VARIABLE: &str = "PADDOCK_HOME";

fn place() -> Option<PathBuf> {
    std::env::var_os(VARIABLE)
        .filter(|value| !value.is_empty())
        .map(PathBuf::from)
}

/// The core, with this program as the one that builds the sandbox.
pub fn paddock() -> Result<Paddock, Failure> {
    Paddock::open(place(), HelperProgram::current()).map_err(|error| unusable(&error))
}

/// The data folder alone.
pub fn folder() -> Result<Home, Failure> {
    Home::open(place()).map_err(|error| unusable(&error))
}

fn unusable(error: &dyn std::error::Error) -> Failure {
    let words = error.to_string();
    let words = words.trim_end_matches('.');
    Failure::fault(format!(
        "Paddock's data folder cannot be used: {words}. Free it, or set {VARIABLE} to another folder."
    ))
}
