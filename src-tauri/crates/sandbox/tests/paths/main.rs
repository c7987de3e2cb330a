//! Path arguments against the real file system: what every one of them must lead to, or in which words it is refused. The
//! same lists run over the file access of Linux and, with the feature `portable`, over that of macOS and Windows.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test that cannot go on may panic, and a race says how often the sides met"
)]

mod bed;
mod changes;
mod outside;
mod property;
mod race;
mod reading;
mod writing;
