//! The figures of what is watched, as instruments.

use opentelemetry::KeyValue;
use opentelemetry::metrics::{Counter, Histogram, Meter};
use paddock_protocol::{Millis, TurnReport, Usage};

pub struct Figures {
    turns: Counter<u64>,
    active: Histogram<f64>,
    waiting: Histogram<f64>,
    iterations: Histogram<u64>,
    limit_hits: Counter<u64>,
    requests: Counter<u64>,
    tokens: Counter<u64>,
    calls: Counter<u64>,
    call_time: Histogram<f64>,
    decisions: Counter<u64>,
    decide_time: Histogram<f64>,
    noticed: Counter<u64>,
}

impl Figures {
    pub fn new(meter: &Meter) -> Figures {
        let counter = |name, about| meter.u64_counter(name).with_description(about).build();
        let time = |name, about| {
            meter
                .f64_histogram(name)
                .with_unit("s")
                .with_description(about)
                .build()
        };
        Figures {
            turns: counter("paddock.turns", "Turns that ended, by outcome"),
            active: time("paddock.turn.active", "Working time of a turn"),
            waiting: time(
                "paddock.turn.waiting",
                "Time in which a turn waited for the person",
            ),
            iterations: meter
                .u64_histogram("paddock.turn.iterations")
                .with_description("Iterations of a turn")
                .build(),
            limit_hits: counter("paddock.turn.limit_hits", "Pauses at the iteration limit"),
            requests: counter("paddock.requests", "Requests to models, retries included"),
            tokens: counter("paddock.tokens", "Tokens by model, source and kind"),
            calls: counter("paddock.calls", "Calls that ran, by tool and outcome"),
            call_time: time("paddock.call.duration", "Duration of calls by tool"),
            decisions: counter("paddock.decisions", "Decisions about calls, by who decided"),
            decide_time: time("paddock.approval.time_to_decide", "Time until the person decided"),
            noticed: counter(
                "paddock.notices",
                "Retries, unreadable calls, guard and breaker hits, undone calls",
            ),
        }
    }

    pub fn turn(&self, outcome: &'static str, report: Option<&TurnReport>) {
        self.turns.add(1, &[KeyValue::new("outcome", outcome)]);
        if let Some(report) = report {
            self.active.record(seconds(report.active), &[]);
            self.waiting.record(seconds(report.waiting), &[]);
            self.iterations.record(report.iterations.into(), &[]);
        }
    }

    pub fn limit_hit(&self) {
        self.limit_hits.add(1, &[]);
    }

    pub fn request(&self, model: &[KeyValue]) {
        self.requests.add(1, model);
    }

    pub fn tokens(&self, model: &[KeyValue], usage: &Usage) {
        let kinds = [
            ("input", usage.input),
            ("cached", usage.cached),
            ("output", usage.output),
            ("reasoning", usage.reasoning),
        ];
        for (kind, count) in kinds.into_iter().filter(|(_, count)| *count > 0) {
            let mut about = model.to_vec();
            about.push(KeyValue::new("kind", kind));
            self.tokens.add(count.into(), &about);
        }
    }

    pub fn call(&self, tool: &str, outcome: &'static str, duration: Option<Millis>) {
        let tool = KeyValue::new("tool", tool.to_owned());
        self.calls
            .add(1, &[tool.clone(), KeyValue::new("outcome", outcome)]);
        if let Some(duration) = duration {
            self.call_time.record(seconds(duration), &[tool]);
        }
    }

    pub fn decision(&self, by: &'static str, allowed: bool, edited: bool) {
        let about = [
            KeyValue::new("by", by),
            KeyValue::new("allowed", allowed),
            KeyValue::new("edited", edited),
        ];
        self.decisions.add(1, &about);
    }

    pub fn decided_in(&self, time: Millis) {
        self.decide_time.record(seconds(time), &[]);
    }

    pub fn noticed(&self, what: &'static str) {
        self.noticed.add(1, &[KeyValue::new("notice", what)]);
    }
}

fn seconds(time: Millis) -> f64 {
    time.as_duration().as_secs_f64()
}
