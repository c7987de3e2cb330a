//! The built program, run as a person or a script runs it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

mod bad_inputs;
mod bed;
#[cfg(feature = "otel")]
mod export;
#[cfg(unix)]
mod interrupts;
mod records;
mod run;
#[cfg(target_os = "linux")]
mod sandbox;
#[cfg(unix)]
mod terminal;
mod tool;
mod workflow;
