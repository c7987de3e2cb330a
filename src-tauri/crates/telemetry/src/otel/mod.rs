//! Export to an OpenTelemetry collector, OTLP over HTTP. Off unless the person switches it on: with the standard variables
//! (`OTEL_EXPORTER_OTLP_ENDPOINT` and its kin) or `PADDOCK_OTEL=1`; `PADDOCK_OTEL=0` and `OTEL_SDK_DISABLED=true` keep it
//! off. Turns are traces, their iterations and calls the spans in it; the figures are counters and histograms.
//!
//! It listens to events that are in the log already, on a thread of its own: a slow or dead collector costs spans, never
//! a turn. What it missed while it was behind it reads from the log.

mod figures;
mod tale;

use figures::Figures;
use opentelemetry::metrics::MeterProvider as _;
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_otlp::{ExporterBuildError, MetricExporter, SpanExporter};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::metrics::SdkMeterProvider;
use opentelemetry_sdk::trace::{SdkTracer, SdkTracerProvider};
use paddock_core::{Home, LogEntry, LogReader};
use paddock_protocol::{Event, SessionId};
use std::collections::HashMap;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;
use tale::Tale;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use tokio::sync::{broadcast, oneshot};

/// How long the end of the program may wait for the collector.
const PATIENCE: Duration = Duration::from_secs(3);

/// Whether the environment asks for the export.
pub fn is_wished() -> bool {
    wished(|name| std::env::var(name).ok())
}

fn wished(variable: impl Fn(&str) -> Option<String>) -> bool {
    let is = |name, words: &[&str]| {
        variable(name).is_some_and(|value| words.contains(&value.trim().to_ascii_lowercase().as_str()))
    };
    if is("OTEL_SDK_DISABLED", &["true"]) || is("PADDOCK_OTEL", &["0", "false", "off"]) {
        return false;
    }
    let endpoints = [
        "OTEL_EXPORTER_OTLP_ENDPOINT",
        "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
        "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",
    ];
    let has = |name: &str| variable(name).is_some_and(|value| !value.trim().is_empty());
    is("PADDOCK_OTEL", &["1", "true", "on"]) || endpoints.into_iter().any(has)
}

/// An export under way.
pub struct Export {
    stop: oneshot::Sender<()>,
    done: oneshot::Receiver<()>,
}

impl Export {
    /// Sends what is left, for at most some seconds.
    pub async fn finish(self) {
        let _ = self.stop.send(());
        if tokio::time::timeout(PATIENCE, self.done).await.is_err() {
            tracing::warn!("the collector did not take the rest of the telemetry in time");
        }
    }
}

/// Exports the events from now on. Must be called inside of a runtime; what cannot be set up is told as a warning.
pub fn start(mut events: broadcast::Receiver<Event>, home: Home) -> Option<Export> {
    let providers = match Providers::new() {
        Ok(providers) => providers,
        Err(error) => {
            tracing::warn!(%error, "no telemetry is exported");
            return None;
        }
    };
    let (hand_over, handed) = channel();
    let (stop, mut stopped) = oneshot::channel();
    let (ended, done) = oneshot::channel();
    let work = move || {
        export(&handed, &home, &providers);
        providers.end();
        let _ = ended.send(());
    };
    if let Err(error) = std::thread::Builder::new().name("telemetry".into()).spawn(work) {
        tracing::warn!(%error, "no telemetry is exported");
        return None;
    }
    tokio::spawn(async move {
        loop {
            let heard = tokio::select! {
                heard = events.recv() => heard,
                _ = &mut stopped => break,
            };
            // What was missed is read from the log with the next event.
            let goes_on = match heard {
                Ok(event) => hand_over.send(event).is_ok(),
                Err(RecvError::Lagged(_)) => true,
                Err(RecvError::Closed) => false,
            };
            if !goes_on {
                return;
            }
        }
        let left = std::iter::from_fn(|| match events.try_recv() {
            Err(TryRecvError::Empty | TryRecvError::Closed) => None,
            heard => Some(heard.ok()),
        });
        for event in left.flatten() {
            let _ = hand_over.send(event);
        }
    });
    Some(Export { stop, done })
}

struct Providers {
    spans: SdkTracerProvider,
    figures: SdkMeterProvider,
}

impl Providers {
    fn new() -> Result<Providers, ExporterBuildError> {
        let resource = Resource::builder()
            .with_service_name("paddock")
            .with_attribute(opentelemetry::KeyValue::new(
                "service.version",
                env!("CARGO_PKG_VERSION"),
            ))
            .build();
        let spans = SpanExporter::builder().with_http().build()?;
        let figures = MetricExporter::builder().with_http().build()?;
        Ok(Providers {
            spans: SdkTracerProvider::builder()
                .with_batch_exporter(spans)
                .with_resource(resource.clone())
                .build(),
            figures: SdkMeterProvider::builder()
                .with_periodic_exporter(figures)
                .with_resource(resource)
                .build(),
        })
    }

    fn end(&self) {
        for result in [
            self.spans.shutdown_with_timeout(PATIENCE),
            self.figures.shutdown_with_timeout(PATIENCE),
        ] {
            if let Err(error) = result {
                tracing::warn!(%error, "not all telemetry was exported");
            }
        }
    }
}

/// The whole work of the thread: until nobody hands over events any more.
fn export(handed: &Receiver<Event>, home: &Home, providers: &Providers) {
    let teller = Teller {
        tracer: providers.spans.tracer("paddock"),
        figures: Figures::new(&providers.figures.meter("paddock")),
        home: home.clone(),
    };
    let mut tales: HashMap<SessionId, Tale> = HashMap::new();
    while let Ok(event) = handed.recv() {
        let tale = tales.entry(event.session.clone()).or_default();
        if event.seq > tale.seq() + 1 {
            teller.catch_up(tale, &event);
        }
        tale.hear(&event, &teller);
    }
    tales.into_values().for_each(Tale::leave);
}

/// What a tale is told with.
struct Teller {
    tracer: SdkTracer,
    figures: Figures,
    home: Home,
}

impl Teller {
    /// Reads what lies between the tale and the event. Of a session that was not followed before, only its settings.
    fn catch_up(&self, tale: &mut Tale, event: &Event) {
        let followed = tale.seq() > 0;
        for missed in self.log(&event.session, tale.seq()) {
            if missed.seq >= event.seq {
                return;
            }
            if followed {
                tale.hear(&missed, self);
            } else {
                tale.learn(&missed);
            }
        }
    }

    /// The events of a log after this one; a log that cannot be read ends early.
    fn log(&self, session: &SessionId, after: u64) -> impl Iterator<Item = Event> + use<> {
        let entries = LogReader::open(&self.home, session).into_iter().flatten();
        entries.filter_map(move |entry| match entry {
            Ok(LogEntry::Event(event)) if event.seq > after => Some(*event),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_off_until_the_person_asks_for_it() {
        let with = |set: &[(&str, &str)]| {
            wished(|name| {
                set.iter()
                    .find(|(n, _)| *n == name)
                    .map(|(_, value)| (*value).to_owned())
            })
        };
        assert!(!with(&[]));
        assert!(!with(&[("OTEL_EXPORTER_OTLP_ENDPOINT", "")]));
        assert!(with(&[("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318")]));
        assert!(with(&[("PADDOCK_OTEL", "1")]));
        assert!(!with(&[
            ("PADDOCK_OTEL", "0"),
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://x")
        ]));
        assert!(!with(&[("OTEL_SDK_DISABLED", "TRUE"), ("PADDOCK_OTEL", "1")]));
    }
}
