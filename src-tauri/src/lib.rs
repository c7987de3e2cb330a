//! The shell: the only Rust that names tauri. It opens the window and wires the page to the core; every rule of the
//! agent lives in the crates, so nothing here needs a unit test.

mod desk;
mod error;
mod ipc;
mod menu;
mod notify;
mod stream;
mod told;
mod window;

use desk::{Desk, Wish};
use error::StartError;
use paddock_core::notices;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::mpsc;
use std::time::Duration;
use tauri::webview::PageLoadEvent;
use tauri::{App, AppHandle, Manager as _, RunEvent};

/// How long the end of the program may wait for the logs of the sessions.
const CLOSING: Duration = Duration::from_secs(3);

/// Opens the window and returns when the app has ended; a window that cannot open is an error on standard error.
pub fn start() -> ExitCode {
    if let Err(error) = told::begin(home()) {
        return complain(&StartError::Usage(error.to_string()));
    }
    match Wish::from_arguments(std::env::args_os().skip(1)).and_then(run) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => complain(&error),
    }
}

fn run(wish: Wish) -> Result<(), StartError> {
    let builder = tauri::Builder::default()
        .plugin(tauri_plugin_dialog::init())
        .plugin(tauri_plugin_opener::init())
        .invoke_handler(tauri::generate_handler![
            ipc::request,
            ipc::attach,
            ipc::detach,
            ipc::start
        ])
        .menu(menu::build)
        .on_menu_event(|app, event| menu::chosen(app, event.id().as_ref()))
        // A page that loads again attaches again; what its predecessor watched has no reader any more.
        .on_page_load(|webview, load| {
            if load.event() == PageLoadEvent::Started {
                webview.state::<Desk>().views.end_all();
            }
        });
    #[cfg(target_os = "macos")]
    let builder = builder.on_web_content_process_terminate(|webview| {
        let _ = webview.reload();
    });
    let app = builder
        .setup(|app| Ok(set_up(app, wish)?))
        .build(tauri::generate_context!())?;
    app.run(|app, event| {
        if let RunEvent::Exit = event {
            close(app);
        }
    });
    Ok(())
}

/// The data folder that the environment names.
fn home() -> Option<PathBuf> {
    std::env::var_os("PADDOCK_HOME")
        .filter(|home| !home.is_empty())
        .map(PathBuf::from)
}

fn set_up(app: &mut App, wish: Wish) -> tauri::Result<()> {
    let (attention, looks) = notices::attention();
    let desk = Desk::open(home(), wish, attention);
    let paddock = desk.paddock().ok();
    let exported = told::Exported::default();
    if let (Some(paddock), Some(home)) = (&paddock, desk.home.clone()) {
        exported.begin(paddock, home);
    }
    app.manage(exported);
    app.manage(desk);
    app.manage(notify::Board::default());
    window::open(app.handle())?;
    if let Some(paddock) = paddock {
        let app = app.handle().clone();
        tauri::async_runtime::spawn(notices::watch(paddock, looks, move |step| {
            notify::carry_out(&app, step);
        }));
    }
    Ok(())
}

/// The sessions are durable at every moment; this lets their logs end whole and releases them.
fn close(app: &AppHandle) {
    window::keep_frame(app);
    let desk = app.state::<Desk>();
    desk.views.end_all();
    if let Ok(paddock) = desk.paddock() {
        let (send, closed) = mpsc::channel();
        let export = app.state::<told::Exported>().take();
        tauri::async_runtime::spawn(async move {
            paddock.close_all().await;
            if let Some(export) = export {
                export.finish().await;
            }
            let _ = send.send(());
        });
        if closed.recv_timeout(CLOSING).is_err() {
            tracing::warn!("not every session could be closed in time");
        }
    }
}

#[expect(clippy::print_stderr, reason = "no window exists to show the failure in")]
fn complain(error: &StartError) -> ExitCode {
    eprintln!("{error}");
    error.exit_code()
}
