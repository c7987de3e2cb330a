//! The built program `paddock`, run as a person or a script runs it, against model servers that misbehave and in places
//! that refuse.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test fails by panicking, and says what it rolled"
)]

mod aimock;
mod bad_days;
mod chat;
mod dice;
mod images;
#[cfg(unix)]
mod inputs;
#[cfg(unix)]
mod kill;
mod mocks;
mod models;
mod second_opinion;
