//! One session as spans: its turns, in them iterations, in those calls; the turn of a sub-agent in the call that started
//! it. Attributes are ids, names, numbers and outcomes; a tool has a name here only after its call was judged, because
//! before that the name is a text of the model.

use super::Teller;
use opentelemetry::trace::{Span as _, SpanContext, SpanKind, Status, TraceContextExt as _, Tracer as _};
use opentelemetry::{Context, KeyValue};
use opentelemetry_sdk::trace::Span;
use paddock_core::metrics::{Decisions, Run};
use paddock_protocol::*;
use std::collections::{HashMap, HashSet};
use std::time::{Duration, SystemTime};

#[derive(Default)]
pub struct Tale {
    seq: u64,
    heard: Timestamp,
    /// The call of the session that started this one.
    parent: Option<SpanContext>,
    child: bool,
    provider: String,
    model: String,
    turn: Option<Span>,
    iteration: Option<(u32, Span)>,
    report: Option<TurnReport>,
    told: HashSet<CallId>,
    asked: HashMap<ApprovalId, Timestamp>,
    decisions: Decisions,
}

impl Tale {
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// Takes in what an event of before says about the session.
    pub fn learn(&mut self, event: &Event) {
        (self.seq, self.heard) = (event.seq, event.at);
        self.decisions.hear(event);
        if let EventMsg::SessionCreated { config, .. } | EventMsg::SessionChanged { config } = &event.msg {
            self.child = config.parent.is_some();
            self.provider = config.model.provider.to_string();
            self.model.clone_from(&config.model.model);
        }
        if let EventMsg::ItemCompleted { item } = &event.msg
            && let ItemKind::Call(call) = &item.kind
        {
            self.told.insert(call.call.clone());
        }
    }

    pub fn hear(&mut self, event: &Event, teller: &Teller) {
        if let Some(line) = self.decisions.hear(event) {
            let by = match line.by {
                DecidedBy::Person => "person",
                DecidedBy::Rule { .. } => "rule",
                DecidedBy::Policy => "policy",
                DecidedBy::Workflow { .. } => "workflow",
            };
            teller.figures.decision(by, line.allowed, line.edited);
        }
        (self.seq, self.heard) = (event.seq, event.at);
        match &event.msg {
            EventMsg::SessionCreated { config, .. } | EventMsg::SessionChanged { config } => {
                self.child = config.parent.is_some();
                self.provider = config.model.provider.to_string();
                self.model.clone_from(&config.model.model);
            }
            EventMsg::TurnStarted {
                turn, without_model, ..
            } => self.begin_turn(event, teller, *turn, *without_model),
            EventMsg::TurnChanged {
                status:
                    TurnStatus::Paused {
                        cause: PauseCause::Limits { reached },
                    },
                ..
            } if reached
                .iter()
                .any(|reached| reached.limit == LimitKind::Iterations) =>
            {
                teller.figures.limit_hit();
            }
            EventMsg::IterationStarted {
                iteration, attempt, ..
            } => self.begin_iteration(event, teller, *iteration, *attempt),
            EventMsg::IterationAnswered {
                usage, first_byte, ..
            } => {
                teller.figures.tokens(&self.about_model(), usage);
                if let Some((_, span)) = &mut self.iteration {
                    let input = i64::from(usage.input) + i64::from(usage.cached);
                    span.set_attributes([
                        KeyValue::new("gen_ai.usage.input_tokens", input),
                        KeyValue::new(
                            "gen_ai.usage.output_tokens",
                            i64::from(usage.output) + i64::from(usage.reasoning),
                        ),
                        KeyValue::new("paddock.cached_tokens", i64::from(usage.cached)),
                        KeyValue::new("paddock.first_byte_ms", number(*first_byte)),
                    ]);
                }
            }
            EventMsg::ApprovalRequested { approval } if approval.origin.is_none() => {
                self.asked.insert(approval.id.clone(), approval.requested);
            }
            EventMsg::ApprovalResolved { approval, outcome } => {
                let asked = self.asked.remove(approval);
                if let (
                    Some(asked),
                    ApprovalOutcome::Decided {
                        by: DecidedBy::Person,
                        ..
                    },
                ) = (asked, outcome)
                {
                    teller.figures.decided_in(event.at.since(asked));
                }
            }
            EventMsg::ItemCompleted { item } | EventMsg::ItemUpdated { item } if item.status.is_final() => {
                self.item(item, teller);
            }
            EventMsg::TurnEnded { end, .. } => self.end_turn(event.at, *end, teller),
            _ => {}
        }
    }

    fn begin_turn(&mut self, event: &Event, teller: &Teller, turn: TurnId, without_model: bool) {
        self.close("lost");
        self.told.clear();
        let kind = if self.child { "sub-agent turn" } else { "turn" };
        let around = self
            .parent
            .clone()
            .map(|parent| Context::new().with_remote_span_context(parent));
        let span = teller
            .tracer
            .span_builder(kind)
            .with_start_time(moment(event.at))
            .with_attributes([
                KeyValue::new("gen_ai.conversation.id", event.session.to_string()),
                KeyValue::new("gen_ai.operation.name", "invoke_agent"),
                KeyValue::new("paddock.turn", i64::from(turn.0)),
                KeyValue::new("paddock.without_model", without_model),
            ]);
        self.turn = Some(span.start_with_context(&teller.tracer, &around.unwrap_or_default()));
    }

    fn begin_iteration(&mut self, event: &Event, teller: &Teller, iteration: u32, attempt: u32) {
        teller.figures.request(&self.about_model());
        if let Some((open, span)) = &mut self.iteration
            && *open == iteration
        {
            let about = vec![KeyValue::new("paddock.attempt", i64::from(attempt))];
            span.add_event_with_timestamp("retry", moment(event.at), about);
            return;
        }
        if let Some((_, mut span)) = self.iteration.take() {
            span.end_with_timestamp(moment(event.at));
        }
        let Some(turn) = &self.turn else { return };
        let around = Context::new().with_remote_span_context(turn.span_context().clone());
        let span = teller
            .tracer
            .span_builder(format!("iteration {iteration}"))
            .with_kind(SpanKind::Client)
            .with_start_time(moment(event.at))
            .with_attributes([
                KeyValue::new("gen_ai.operation.name", "chat"),
                KeyValue::new("gen_ai.provider.name", self.provider.clone()),
                KeyValue::new("gen_ai.request.model", self.model.clone()),
                KeyValue::new("paddock.iteration", i64::from(iteration)),
            ]);
        self.iteration = Some((iteration, span.start_with_context(&teller.tracer, &around)));
    }

    fn item(&mut self, item: &Item, teller: &Teller) {
        let figures = &teller.figures;
        match &item.kind {
            ItemKind::Call(call) if self.told.insert(call.call.clone()) => self.call(item, call, teller),
            ItemKind::Undo { redo: false, .. } => figures.noticed("undone_call"),
            ItemKind::Retry { .. } => figures.noticed("retry"),
            ItemKind::Malformed { .. } => figures.noticed("unreadable_call"),
            ItemKind::Guard { .. } => figures.noticed("loop_guard"),
            ItemKind::Breaker { .. } => figures.noticed("tool_breaker"),
            ItemKind::TurnSummary { report } => self.report = Some(report.clone()),
            _ => {}
        }
    }

    fn call(&mut self, item: &Item, call: &CallItem, teller: &Teller) {
        let run = Run::of(item, call);
        let outcome = match item.status {
            _ if run.timed_out => "timed_out",
            ItemStatus::Failed => "failed",
            ItemStatus::Rejected => "rejected",
            ItemStatus::Stopped => "stopped",
            ItemStatus::OutcomeUnknown => "outcome_unknown",
            _ => "done",
        };
        let tool = if call.verdict.is_some() {
            call.tool.as_str()
        } else {
            "unknown"
        };
        if run.ran {
            teller.figures.call(tool, outcome, run.duration);
        }
        let around = match (&self.iteration, &self.turn) {
            (Some((_, span)), _) | (None, Some(span)) => span.span_context().clone(),
            _ => return,
        };
        let mut about = vec![
            KeyValue::new("gen_ai.operation.name", "execute_tool"),
            KeyValue::new("gen_ai.tool.name", tool.to_owned()),
            KeyValue::new("gen_ai.tool.call.id", call.call.to_string()),
            KeyValue::new("paddock.outcome", outcome),
        ];
        if let Some(verdict) = &call.verdict {
            about.push(KeyValue::new("paddock.allowed", verdict.allowed));
        }
        if let Some(code) = call.output.as_ref().and_then(|output| output.exit_code) {
            about.push(KeyValue::new("process.exit.code", i64::from(code)));
        }
        let span = teller
            .tracer
            .span_builder(format!("execute_tool {tool}"))
            .with_start_time(moment(call.began.unwrap_or(item.started)))
            .with_attributes(about);
        let mut span =
            span.start_with_context(&teller.tracer, &Context::new().with_remote_span_context(around));
        if run.failed {
            span.set_status(Status::error(outcome));
        }
        if let Some(agent) = &call.sub_agent {
            tell_sub_agent(&agent.session, span.span_context().clone(), teller);
        }
        span.end_with_timestamp(moment(item.ended.unwrap_or(self.heard)));
    }

    fn end_turn(&mut self, at: Timestamp, end: TurnEnd, teller: &Teller) {
        let outcome = match end {
            TurnEnd::Completed => "completed",
            TurnEnd::Stopped => "stopped",
            TurnEnd::Failed => "failed",
        };
        let report = self.report.take();
        if !self.child {
            teller.figures.turn(outcome, report.as_ref());
        }
        if let Some((_, mut span)) = self.iteration.take() {
            span.end_with_timestamp(moment(at));
        }
        let Some(mut turn) = self.turn.take() else { return };
        turn.set_attribute(KeyValue::new("paddock.outcome", outcome));
        if let Some(report) = report {
            turn.set_attributes([
                KeyValue::new("paddock.active_ms", number(report.active)),
                KeyValue::new("paddock.waiting_ms", number(report.waiting)),
                KeyValue::new("paddock.iterations", i64::from(report.iterations)),
                KeyValue::new("paddock.calls", i64::from(report.calls)),
                KeyValue::new("paddock.files_changed", i64::from(report.files_changed)),
            ]);
        }
        if end == TurnEnd::Failed {
            turn.set_status(Status::error(outcome));
        }
        turn.end_with_timestamp(moment(at));
    }

    /// The program ends: what goes on is told as far as it came.
    pub fn leave(mut self) {
        self.close("interrupted");
    }

    fn close(&mut self, outcome: &'static str) {
        let at = moment(self.heard);
        if let Some((_, mut span)) = self.iteration.take() {
            span.end_with_timestamp(at);
        }
        if let Some(mut turn) = self.turn.take() {
            turn.set_attribute(KeyValue::new("paddock.outcome", outcome));
            turn.end_with_timestamp(at);
        }
    }

    fn about_model(&self) -> [KeyValue; 3] {
        [
            KeyValue::new("provider", self.provider.clone()),
            KeyValue::new("model", self.model.clone()),
            KeyValue::new("source", if self.child { "sub_agent" } else { "main" }),
        ]
    }
}

/// A sub-agent's events are not told to everyone; when it has ended its log holds all of them.
fn tell_sub_agent(session: &SessionId, parent: SpanContext, teller: &Teller) {
    let mut tale = Tale {
        parent: Some(parent),
        ..Tale::default()
    };
    for event in teller.log(session, 0) {
        tale.hear(&event, teller);
    }
    tale.leave();
}

fn moment(at: Timestamp) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_millis(at.0)
}

fn number(time: Millis) -> i64 {
    i64::try_from(time.0).unwrap_or(i64::MAX)
}
