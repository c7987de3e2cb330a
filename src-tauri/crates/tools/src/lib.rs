//! What the agent can do: one typed file and its prose per tool.
//!
//! A tool declares what it would touch and then does it; whether it may is decided elsewhere, in one place.
//! Deliberately absent: permission code, the loop, anything a model could use to widen its reach.

mod contract;

pub use contract::*;
