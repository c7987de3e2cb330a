//! The tools on real projects.
#![allow(clippy::unwrap_used)]

#[path = "../support/mod.rs"]
mod support;

mod change;
mod fetch;
mod folder;
mod loops;
mod outside;
mod patch;
mod read;
mod registry;
mod remember;
