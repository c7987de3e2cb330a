//! Lines of what happens inside: one an event, with the fields of the spans around it.
//!
//! `PADDOCK_LOG` says which and where: levels and targets, and at most one place, separated by commas. `info`,
//! `warn,paddock_core=debug`, `debug,FILE`, `info,home` (`logs/paddock.log` in the data folder).

use crate::rotation::Rotating;
use std::fmt::{Debug, Write as _};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Instant, SystemTime, UNIX_EPOCH};
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::{Context, SubscriberExt as _};
use tracing_subscriber::registry::LookupSpan;

/// The variable that is asked.
pub const VARIABLE: &str = "PADDOCK_LOG";

/// Why nothing is traced. The texts are for the person.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    #[error(
        "PADDOCK_LOG takes levels (error, warn, info, debug, trace, off), TARGET=LEVEL and one FILE, not '{part}'."
    )]
    Unknown { part: String },
    #[error("The file of PADDOCK_LOG cannot be written: {0}.")]
    File(#[from] std::io::Error),
    /// Something else in the program traces already.
    #[error("PADDOCK_LOG could not be followed: {0}.")]
    Taken(#[from] tracing::subscriber::SetGlobalDefaultError),
}

/// Where lines go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    Stderr,
    File(PathBuf),
    /// `logs/paddock.log` in the data folder.
    Home,
}

/// What is told, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wish {
    usual: LevelFilter,
    /// Longest target first.
    targets: Vec<(String, LevelFilter)>,
    pub place: Place,
}

impl Wish {
    /// Everything from this level on.
    pub fn from_level(usual: LevelFilter, place: Place) -> Wish {
        Wish {
            usual,
            targets: Vec::new(),
            place,
        }
    }

    /// Reads the words of the variable.
    pub fn read(text: &str) -> Result<Wish, TraceError> {
        let mut wish = Wish::from_level(LevelFilter::OFF, Place::Stderr);
        let mut said = false;
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let unknown = || TraceError::Unknown {
                part: part.to_owned(),
            };
            if let Ok(level) = part.parse::<LevelFilter>() {
                (wish.usual, said) = (level, true);
            } else if let Some((target, level)) = part.split_once('=').filter(|(target, _)| is_target(target))
            {
                let level = level.parse().map_err(|_| unknown())?;
                wish.targets.push((target.to_owned(), level));
                said = true;
            } else if wish.place == Place::Stderr && said {
                wish.place = match part {
                    "home" => Place::Home,
                    path => Place::File(PathBuf::from(path)),
                };
            } else {
                return Err(unknown());
            }
        }
        wish.targets
            .sort_by_key(|(target, _)| std::cmp::Reverse(target.len()));
        Ok(wish)
    }

    fn level(&self, target: &str) -> LevelFilter {
        let within = |name: &str| {
            target
                .strip_prefix(name)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
        };
        let found = self.targets.iter().find(|(name, _)| within(name));
        found.map_or(self.usual, |(_, level)| *level)
    }

    fn most(&self) -> LevelFilter {
        self.targets
            .iter()
            .map(|(_, level)| *level)
            .fold(self.usual, LevelFilter::max)
    }
}

fn is_target(text: &str) -> bool {
    !text.is_empty()
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | ':' | '-'))
}

/// Begins to tell, for the rest of the program. `home` is the data folder.
pub fn begin(wish: Wish, home: &Path) -> Result<(), TraceError> {
    let file = match &wish.place {
        Place::Stderr => None,
        Place::File(path) => Some(path.clone()),
        Place::Home => {
            let folder = home.join("logs");
            std::fs::create_dir_all(&folder)?;
            Some(folder.join("paddock.log"))
        }
    };
    let file = file.map(|path| Rotating::open(&path)).transpose()?;
    let lines = Lines {
        wish,
        begun: Instant::now(),
        file: file.map(Mutex::new),
    };
    Ok(tracing::subscriber::set_global_default(
        tracing_subscriber::registry().with(lines),
    )?)
}

struct Lines {
    wish: Wish,
    begun: Instant,
    file: Option<Mutex<Rotating>>,
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Lines {
    fn enabled(&self, metadata: &Metadata<'_>, _: Context<'_, S>) -> bool {
        *metadata.level() <= self.wish.level(metadata.target())
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(self.wish.most())
    }

    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut fields = Fields(String::new());
        attributes.record(&mut fields);
        if let Some(span) = context.span(id) {
            span.extensions_mut().insert(fields);
        }
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        if let Some(span) = context.span(id)
            && let Some(fields) = span.extensions_mut().get_mut::<Fields>()
        {
            values.record(fields);
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut fields = Fields(String::new());
        event.record(&mut fields);
        let mut around = String::new();
        for span in context
            .event_scope(event)
            .into_iter()
            .flat_map(|scope| scope.from_root())
        {
            if let Some(of) = span.extensions().get::<Fields>() {
                let _ = write!(around, " {}{{{}}}", span.name(), of.0.trim_start());
            }
        }
        let metadata = event.metadata();
        let (level, target) = (metadata.level().as_str(), metadata.target());
        let told = plain(&format!("{level:5} {target}{around}{}", fields.0));
        // A place that takes no more lines is no reason to stop working.
        let _ = match &self.file {
            Some(file) => {
                let line = format!("{} {told}\n", moment());
                file.lock().unwrap_or_else(PoisonError::into_inner).write(&line)
            }
            None => {
                let seconds = self.begun.elapsed().as_secs_f64();
                std::io::stderr().write_all(format!("{seconds:9.4} {told}\n").as_bytes())
            }
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

/// One line that moves no cursor.
fn plain(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { '\u{fffd}' } else { c })
        .collect()
}

fn moment() -> String {
    let passed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    paddock_core::audit::rfc3339(paddock_protocol::Timestamp(
        u64::try_from(passed.as_millis()).unwrap_or(u64::MAX),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_the_variable() {
        let wish = Wish::read("warn,paddock_core=debug,paddock_core::session=trace, /tmp/x=y.log").unwrap();
        assert_eq!(wish.place, Place::File("/tmp/x=y.log".into()));
        for (target, level) in [
            ("hyper", LevelFilter::WARN),
            ("paddock_core", LevelFilter::DEBUG),
            ("paddock_core::desk", LevelFilter::DEBUG),
            ("paddock_core::session::actor", LevelFilter::TRACE),
            ("paddock_corelike", LevelFilter::WARN),
        ] {
            assert_eq!(wish.level(target), level, "{target}");
        }
        assert_eq!(wish.most(), LevelFilter::TRACE);
        assert_eq!(Wish::read("info,home").unwrap().place, Place::Home);
        assert_eq!(Wish::read("INFO").unwrap().place, Place::Stderr);
        for wrong in ["loud", "paddock_core=loud", "home", "info,a,b"] {
            assert!(Wish::read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_line_has_the_fields_of_the_spans_around_it() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("lines.log");
        let lines = Lines {
            wish: Wish::read("info").unwrap(),
            begun: Instant::now(),
            file: Some(Mutex::new(Rotating::open(&path).unwrap())),
        };
        tracing::subscriber::with_default(tracing_subscriber::registry().with(lines), || {
            let call = tracing::info_span!(
                "call",
                session = "s",
                turn = 2,
                call = "t2.i1.c1",
                tool = "read_file"
            );
            call.in_scope(|| {
                tracing::debug!("not told");
                tracing::warn!(path = "a\u{1b}[31m", "slow\nreading");
            });
        });
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text.lines().count(), 1, "{text}");
        assert!(text.contains("WARN  paddock_telemetry::trace"), "{text}");
        assert!(
            text.contains("call{session=\"s\" turn=2 call=\"t2.i1.c1\" tool=\"read_file\"}"),
            "{text}"
        );
        assert!(text.contains("slow") && !text.contains('\u{1b}'), "{text}");
    }
}
