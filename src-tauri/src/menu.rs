//! The native menu. Its commands go to the page, which also knows their keys: the person can change those, so the menu
//! claims none of them. On macOS the standard items of Edit are what makes copy and paste work.

use crate::window;
use serde::Serialize;
#[cfg(target_os = "macos")]
use tauri::menu::Submenu;
use tauri::menu::{Menu, MenuBuilder, MenuItemBuilder, SubmenuBuilder};
use tauri::{AppHandle, Emitter as _};

/// The page listens to this event.
const EVENT: &str = "menu";

const FILE: &[(&str, &str)] = &[
    ("open-folder", "Open Folder…"),
    ("new-session", "New Session"),
    ("settings", "Settings…"),
];
const TURN: &[(&str, &str)] = &[
    ("pause", "Pause after This Iteration"),
    ("stop", "Stop Now"),
    ("extend", "Extend Iterations…"),
];
const QUIT: &str = "quit";
/// Zoom is the window's own; these keys are the same everywhere.
const ZOOM: &[(&str, &str, &str, isize)] = &[
    ("zoom-in", "Zoom In", "CmdOrCtrl+=", 1),
    ("zoom-out", "Zoom Out", "CmdOrCtrl+-", -1),
    ("zoom-normal", "Actual Size", "CmdOrCtrl+0", 0),
];

#[derive(Clone, Serialize)]
struct Chosen<'a> {
    command: &'a str,
}

pub fn build(app: &AppHandle) -> tauri::Result<Menu<tauri::Wry>> {
    let file = commands(app, "File", FILE)?.separator();
    #[cfg(target_os = "macos")]
    let file = file.close_window();
    // The standard item works on macOS only.
    #[cfg(not(target_os = "macos"))]
    let file = file.item(
        &MenuItemBuilder::with_id(QUIT, "Quit")
            .accelerator("Ctrl+Q")
            .build(app)?,
    );
    let mut view = SubmenuBuilder::new(app, "View");
    for (id, text, key, _) in ZOOM {
        view = view.item(&MenuItemBuilder::with_id(*id, text).accelerator(key).build(app)?);
    }
    let menu = MenuBuilder::new(app);
    #[cfg(target_os = "macos")]
    let menu = menu.item(&own(app)?);
    let menu = menu.item(&file.build()?);
    #[cfg(target_os = "macos")]
    let menu = menu.item(&edit(app)?);
    menu.item(&view.build()?)
        .item(&commands(app, "Turn", TURN)?.build()?)
        .build()
}

/// An item was chosen: what concerns the window is done here, anything else is the page's.
pub fn chosen(app: &AppHandle, command: &str) {
    if let Some((.., steps)) = ZOOM.iter().find(|(id, ..)| *id == command) {
        window::zoom(app, *steps);
    } else if command == QUIT {
        window::close(app);
    } else if let Err(error) = app.emit(EVENT, Chosen { command }) {
        tracing::warn!(%error, command, "the page did not get a command of the menu");
    }
}

fn commands<'a>(
    app: &'a AppHandle,
    name: &str,
    items: &[(&str, &str)],
) -> tauri::Result<SubmenuBuilder<'a, tauri::Wry, AppHandle>> {
    Ok(items
        .iter()
        .fold(SubmenuBuilder::new(app, name), |menu, (id, text)| {
            menu.text(*id, text)
        }))
}

#[cfg(target_os = "macos")]
fn own(app: &AppHandle) -> tauri::Result<Submenu<tauri::Wry>> {
    SubmenuBuilder::new(app, "Paddock")
        .about(None)
        .separator()
        .hide()
        .hide_others()
        .show_all()
        .separator()
        .quit()
        .build()
}

#[cfg(target_os = "macos")]
fn edit(app: &AppHandle) -> tauri::Result<Submenu<tauri::Wry>> {
    SubmenuBuilder::new(app, "Edit")
        .undo()
        .redo()
        .separator()
        .cut()
        .copy()
        .paste()
        .select_all()
        .build()
}
