//! What the program tells of itself: lines in its data folder, or where PADDOCK_LOG says; an export when the variables of
//! OpenTelemetry ask for one. Never contents, never keys.

use paddock_core::{Home, Paddock};
use paddock_telemetry::otel::{self, Export};
use paddock_telemetry::trace::{self, Place, TraceError, Wish};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use tracing::level_filters::LevelFilter;

/// Begins to write lines: warnings into the data folder, unless PADDOCK_LOG wishes something else.
pub fn begin(home: Option<PathBuf>) -> Result<(), TraceError> {
    let said = std::env::var(trace::VARIABLE)
        .ok()
        .filter(|text| !text.is_empty());
    let wish = match said {
        Some(text) => Wish::read(&text)?,
        None => Wish::from_level(LevelFilter::WARN, Place::Home),
    };
    match Home::open(home) {
        Ok(home) => trace::begin(wish, home.path()),
        // Why the folder cannot be used is shown in the window.
        Err(_) => trace::begin(
            Wish::from_level(LevelFilter::WARN, Place::Stderr),
            &PathBuf::new(),
        ),
    }
}

/// The export of what turns do, when the environment asked for it.
#[derive(Default)]
pub struct Exported(Mutex<Option<Export>>);

impl Exported {
    pub fn begin(&self, paddock: &Paddock, home: Home) {
        if otel::is_wished() {
            let runtime = tauri::async_runtime::handle();
            let _inside = runtime.inner().enter();
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = otel::start(paddock.all_events(), home);
        }
    }

    /// The export, to be finished when nothing more happens.
    pub fn take(&self) -> Option<Export> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}
