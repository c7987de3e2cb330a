//! The tools on real projects.
#![allow(clippy::unwrap_used)]

#[path = "../support/mod.rs"]
mod support;

mod change;
mod folder;
mod loops;
mod patch;
mod read;
mod registry;
mod remember;
