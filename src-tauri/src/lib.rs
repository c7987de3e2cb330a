//! The shell: the only Rust that names tauri. It opens the window and wires the page to the core; every rule of the
//! agent lives in the crates, so nothing here needs a unit test.

mod ipc;

use std::process::ExitCode;

/// Opens the window and returns when the app has ended; a window that cannot open is an error on standard error.
pub fn start() -> ExitCode {
    let app = tauri::Builder::default()
        .plugin(tauri_plugin_dialog::init())
        .invoke_handler(tauri::generate_handler![ipc::about])
        .run(tauri::generate_context!());
    match app {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(&error);
            ExitCode::FAILURE
        }
    }
}

#[expect(clippy::print_stderr, reason = "no window exists to show the failure in")]
fn complain(error: &tauri::Error) {
    eprintln!("Paddock could not open its window: {error}");
}
