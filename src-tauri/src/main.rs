//! The desktop program. Everything it does is in the library beside it.

// Without this a console window opens behind the app on Windows.
#![cfg_attr(not(debug_assertions), windows_subsystem = "windows")]

use std::process::ExitCode;

fn main() -> ExitCode {
    paddock_core::run_helper_if_asked();
    paddock_desktop::start()
}
