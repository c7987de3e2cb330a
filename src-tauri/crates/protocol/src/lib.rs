//! Plain data that crosses a boundary: between core and its clients, between the actor and its log, between
//! the pure step and what carries out its effects.
//!
//! The wall stands here so that a view, a test or another program can speak with the core without linking any of
//! it. Deliberately absent: I/O, clocks, randomness, async, and every rule about what may happen next.

mod approval;
mod change;
mod client;
mod error;
mod event;
mod id;
mod item;
mod limits;
mod metrics;
mod model;
mod op;
mod plan;
mod policy;
mod process;
mod role;
mod session;
mod set_aside;
mod settings;
mod workflow;

pub use approval::*;
pub use change::*;
pub use client::*;
pub use error::*;
pub use event::*;
pub use id::*;
pub use item::*;
pub use limits::*;
pub use metrics::*;
pub use model::*;
pub use op::*;
pub use plan::*;
pub use policy::*;
pub use process::*;
pub use role::*;
pub use session::*;
pub use set_aside::*;
pub use settings::*;
pub use workflow::*;

/// Version of the event log and of the JSON-lines protocol; raised when an old reader could misread a new line.
pub const PROTOCOL_VERSION: u32 = 1;
