//! The index over the logs: figures against ones worked out by hand, against a plain recomputation for many random logs
//! read in many steps, and what happens when the index is damaged, old, held by another program or cannot be kept.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod by_hand;
mod damage;
mod desk;
mod plain;
mod random;
mod random_logs;
