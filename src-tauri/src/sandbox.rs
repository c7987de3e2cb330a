//! Builds the sandbox around one command, for the desktop program. A program of its own, because namespaces can be made by
//! a process with one thread only, and the libraries of the window start threads before `main`; it also starts twenty
//! times faster than the window's program would.

use std::process::ExitCode;

#[expect(clippy::print_stderr, reason = "a person started it by hand")]
fn main() -> ExitCode {
    paddock_core::run_helper_if_asked();
    eprintln!("This program belongs to Paddock, which starts it when it runs a command.");
    ExitCode::from(2)
}
