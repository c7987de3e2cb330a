//! One session: its state, the pure step, the actor that owns both.

pub mod actor;
pub mod executor;
pub mod folder;
pub mod gate;
pub mod guard;
pub mod history;
pub mod input;
pub mod live_turn;
pub mod reminder;
pub mod state;
pub mod step;
pub mod sub_agent;
pub mod traced;
pub mod words;
