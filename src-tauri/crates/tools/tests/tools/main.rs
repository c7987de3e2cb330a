//! The tools on real projects.
#![allow(clippy::unwrap_used)]

#[path = "../support/mod.rs"]
mod support;

mod change;
mod read;
mod registry;
