//! The commands the page may call. Each one is thin: take typed arguments, ask the core, give a typed answer.

use serde::Serialize;

/// What the app says about itself.
#[derive(Debug, Serialize)]
pub struct About {
    name: &'static str,
    version: &'static str,
}

/// Name and version of the running app.
#[tauri::command]
pub fn about() -> About {
    About {
        name: "Paddock",
        version: env!("CARGO_PKG_VERSION"),
    }
}
