//! The loop with everything real around it: steering, background work, sub-agents, two sessions in one folder, workflows, a
//! second model, and the text dialects.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod bed;
mod commands;
mod drill;
mod events;
mod fence;
mod folder;
mod formats;
mod known_files;
mod left_out;
mod money;
mod sub_agents;
mod windows;
mod workflows;
