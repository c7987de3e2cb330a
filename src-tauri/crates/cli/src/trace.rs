//! What happens inside, for whoever asks for it with PADDOCK_LOG: one line an event. Small enough that no subscriber crate
//! with filters and formats is linked for it.

use crate::failure::Failure;
use std::fmt::{Debug, Write as _};
use std::fs::File;
use std::io::Write;
use std::sync::Mutex;
use std::time::Instant;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

/// Begins to write when PADDOCK_LOG says so: `LEVEL` or `LEVEL,FILE`.
pub fn begin() -> Result<(), Failure> {
    let Some(wish) = std::env::var("PADDOCK_LOG").ok().filter(|wish| !wish.is_empty()) else {
        return Ok(());
    };
    let (level, file) = match wish.split_once(',') {
        Some((level, file)) => (level, Some(file)),
        None => (wish.as_str(), None),
    };
    let level: Level = level.trim().parse().map_err(|_| {
        Failure::usage(format!(
            "PADDOCK_LOG takes error, warn, info, debug or trace, not '{level}'."
        ))
    })?;
    let file = file
        .map(|path| {
            File::options()
                .create(true)
                .append(true)
                .open(path.trim())
                .map_err(|error| {
                    Failure::usage(format!("The file of PADDOCK_LOG cannot be written: {error}."))
                })
        })
        .transpose()?;
    let lines = Lines {
        level,
        begun: Instant::now(),
        file: file.map(Mutex::new),
    };
    tracing::subscriber::set_global_default(lines)
        .map_err(|error| Failure::fault(format!("PADDOCK_LOG could not be followed: {error}.")))
}

struct Lines {
    level: Level,
    begun: Instant,
    file: Option<Mutex<File>>,
}

impl Subscriber for Lines {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= self.level
    }

    fn max_level_hint(&self) -> Option<tracing::level_filters::LevelFilter> {
        Some(self.level.into())
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields(String::new());
        event.record(&mut fields);
        let metadata = event.metadata();
        let seconds = self.begun.elapsed().as_secs_f64();
        let line = format!(
            "{seconds:9.4} {:5} {}{}\n",
            metadata.level().as_str(),
            metadata.target(),
            crate::view::plain::line(&fields.0)
        );
        let _ = match &self.file {
            Some(file) => file
                .lock()
                .unwrap_or_else(std::sync::PoisonError::into_inner)
                .write_all(line.as_bytes()),
            None => std::io::stderr().write_all(line.as_bytes()),
        };
    }
}

struct Fields(String);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let _ = if field.name() == "message" {
            write!(self.0, ": {value:?}")
        } else {
            write!(self.0, " {}={value:?}", field.name())
        };
    }
}
