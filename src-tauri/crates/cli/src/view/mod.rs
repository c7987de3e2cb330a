//! A session as lines of text for a person: what streams, one line per call, cards for approvals. Everything that comes
//! from a model or a tool passes `plain` before it reaches the terminal.

pub mod card;
pub mod plain;
pub mod style;
pub mod text;
pub mod words;
