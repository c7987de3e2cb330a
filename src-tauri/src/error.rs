//! Why the app did not start. Everything that fails later is a `ClientError` in the page.

use std::process::ExitCode;

const USAGE: &str = "Usage: paddock-desktop [--demo | --project FOLDER]";

#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("{0}\n{USAGE}")]
    Usage(String),
    #[error("Paddock could not open its window: {0}")]
    Window(#[from] tauri::Error),
}

impl StartError {
    /// 2 for arguments that are not understood, 1 for anything else.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::Usage(_) => ExitCode::from(2),
            Self::Window(_) => ExitCode::FAILURE,
        }
    }
}
