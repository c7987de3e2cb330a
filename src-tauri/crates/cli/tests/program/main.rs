//! The built program, run as a person or a script runs it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

mod bad_inputs;
mod bed;
#[cfg(unix)]
mod interrupts;
mod run;
#[cfg(target_os = "linux")]
mod sandbox;
#[cfg(unix)]
mod terminal;
mod tool;
