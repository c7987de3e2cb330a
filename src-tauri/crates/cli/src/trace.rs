//! What happens inside, for whoever asks for it: lines with PADDOCK_LOG, an export with the variables of OpenTelemetry.

use crate::failure::Failure;
use crate::home;
use paddock_telemetry::trace::{self, Place, TraceError, Wish};

/// Begins to tell when PADDOCK_LOG says so.
pub fn begin() -> Result<(), Failure> {
    let Some(text) = std::env::var(trace::VARIABLE)
        .ok()
        .filter(|text| !text.is_empty())
    else {
        return Ok(());
    };
    let failure = |error: TraceError| match error {
        TraceError::Taken(_) => Failure::fault(error.to_string()),
        _ => Failure::usage(error.to_string()),
    };
    let wish = Wish::read(&text).map_err(failure)?;
    let folder = match wish.place {
        Place::Home => home::folder()?.path().to_owned(),
        _ => std::path::PathBuf::new(),
    };
    trace::begin(wish, &folder).map_err(failure)
}

/// The export of what a turn does, when the environment asks for it.
pub struct Export {
    #[cfg(feature = "otel")]
    running: Option<paddock_telemetry::otel::Export>,
}

impl Export {
    #[cfg(feature = "otel")]
    pub fn begin(paddock: &paddock_core::Paddock) -> Result<Export, Failure> {
        let running = if paddock_telemetry::otel::is_wished() {
            paddock_telemetry::otel::start(paddock.all_events(), home::folder()?)
        } else {
            None
        };
        Ok(Export { running })
    }

    #[cfg(not(feature = "otel"))]
    pub fn begin(_: &paddock_core::Paddock) -> Result<Export, Failure> {
        Ok(Export {})
    }

    /// Sends what is left, for at most some seconds.
    pub async fn finish(self) {
        #[cfg(feature = "otel")]
        if let Some(running) = self.running {
            running.finish().await;
        }
    }
}
