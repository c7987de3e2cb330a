//! Known endpoints: facts and prices of the catalogue, lists of models, servers found on this machine.
#![allow(clippy::unwrap_used)]

mod discovery;
mod lists;
mod prices;
