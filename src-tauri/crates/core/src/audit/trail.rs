//! From the events of one session to the lines of its audit trail.

use super::line::AuditLine;
use paddock_protocol::*;
use paddock_store::index::Decisions;
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt::Write;

/// Characters of a target or a reason that are told.
const MOST: usize = 2_000;
/// Of prose that a model wrote: enough to recognise it.
const MOST_PROSE: usize = 120;

/// Folds the events of one session, in order.
#[derive(Default)]
pub struct Trail {
    config: Option<Box<SessionConfig>>,
    turn: u32,
    iteration: u32,
    decisions: Decisions,
    /// Calls whose end was told: an undo shows them once more.
    told: BTreeSet<CallId>,
}

impl Trail {
    /// The actions that this event tells of.
    pub fn hear(&mut self, event: &Event) -> Vec<AuditLine> {
        let mut lines = Vec::new();
        let decided = self.decisions.hear(event).map(|line| decision(event, line));
        match &event.msg {
            EventMsg::SessionCreated { config, .. } => {
                lines.push(AuditLine {
                    target: config
                        .parent
                        .as_ref()
                        .map(|p| format!("sub-agent of {}", p.session))
                        .unwrap_or_default(),
                    detail: format!(
                        "model={} role={} autonomy={}",
                        model(&config.model),
                        word(&config.role),
                        word(&config.autonomy)
                    ),
                    ..AuditLine::new(event, "session_created")
                });
                self.config = Some(Box::new(config.clone()));
            }
            EventMsg::SessionChanged { config } => {
                if let Some(before) = self.config.replace(Box::new(config.clone())) {
                    lines.extend(changes(event, &before, config));
                }
            }
            EventMsg::ItemStarted { item }
            | EventMsg::ItemUpdated { item }
            | EventMsg::ItemCompleted { item } => {
                // The decision comes before the end of the call that it refuses.
                lines.extend(decided);
                lines.extend(self.item(event, item));
                return self.place(lines, Some((item.turn.0, item.iteration)));
            }
            msg => {
                if let EventMsg::TurnStarted { turn, .. } = msg {
                    (self.turn, self.iteration) = (turn.0, 0);
                }
                if let EventMsg::IterationStarted { iteration, .. } = msg {
                    self.iteration = *iteration;
                }
                lines.extend(self.of_the_turn(event));
                lines.extend(aside(event));
            }
        }
        lines.extend(decided);
        self.place(lines, None)
    }

    /// The lines with where they belong.
    fn place(&self, lines: Vec<AuditLine>, at: Option<(u32, u32)>) -> Vec<AuditLine> {
        let (turn, iteration) = at.unwrap_or((self.turn, self.iteration));
        let project = self
            .config
            .as_ref()
            .map(|config| config.project.clone())
            .unwrap_or_default();
        let placed = |line: AuditLine| AuditLine {
            turn,
            iteration,
            project: project.clone(),
            ..line
        };
        lines.into_iter().map(|line| placed(line).masked()).collect()
    }

    fn of_the_turn(&self, event: &Event) -> Option<AuditLine> {
        let line = |action| AuditLine::new(event, action);
        Some(match &event.msg {
            EventMsg::TurnStarted {
                iteration_limit,
                without_model,
                ..
            } => AuditLine {
                detail: format!("iteration_limit={iteration_limit} without_model={without_model}"),
                ..line("turn_started")
            },
            EventMsg::TurnChanged {
                status: TurnStatus::Paused { cause },
                ..
            } => AuditLine {
                reason: paused(cause),
                ..line("turn_paused")
            },
            EventMsg::TurnChanged {
                status: TurnStatus::Interrupted,
                ..
            } => line("turn_interrupted"),
            EventMsg::TurnEnded { end, .. } => AuditLine {
                outcome: word(end),
                ..line("turn_ended")
            },
            EventMsg::LimitChanged { limit, allowed, .. } => AuditLine {
                target: word(limit),
                to: allowed.to_string(),
                ..line("limit_extended")
            },
            EventMsg::IterationStarted {
                attempt, finishing, ..
            } => AuditLine {
                target: self
                    .config
                    .as_ref()
                    .map(|config| model(&config.model))
                    .unwrap_or_default(),
                detail: format!("attempt={attempt} finishing={finishing}"),
                ..line("request_sent")
            },
            EventMsg::IterationAnswered {
                usage,
                finish,
                first_byte,
                ..
            } => AuditLine {
                target: self
                    .config
                    .as_ref()
                    .map(|config| model(&config.model))
                    .unwrap_or_default(),
                outcome: word(finish),
                detail: format!(
                    "input={} cached={} output={} reasoning={} first_byte_ms={}",
                    usage.input, usage.cached, usage.output, usage.reasoning, first_byte.0
                ),
                ..line("request_answered")
            },
            EventMsg::CauseAllowed { cause, .. } => AuditLine {
                reason: paused(cause),
                ..line("cause_allowed")
            },
            _ => return None,
        })
    }

    fn item(&mut self, event: &Event, item: &Item) -> Option<AuditLine> {
        let line = |action| AuditLine::new(event, action);
        Some(match &item.kind {
            ItemKind::Call(call) if item.status.is_final() && self.told.insert(call.call.clone()) => {
                ended(event, item.status, call)
            }
            ItemKind::Undo { call, redo, files } => {
                let name = |file: &UndoneFile| format!("{}={}", file.path, word(&file.result));
                AuditLine {
                    call: call.to_string(),
                    target: cut(&files.iter().map(name).collect::<Vec<_>>().join(" "), MOST),
                    ..line(if *redo { "redo" } else { "undo" })
                }
            }
            ItemKind::Error { error } => AuditLine {
                outcome: word(&error.kind),
                reason: cut(&error.message, MOST),
                ..line("request_failed")
            },
            ItemKind::Retry { attempt, error, .. } if matches!(event.msg, EventMsg::ItemStarted { .. }) => {
                AuditLine {
                    outcome: word(&error.kind),
                    detail: format!("attempt={attempt}"),
                    ..line("request_retried")
                }
            }
            ItemKind::Guard { pattern, paused, .. } => AuditLine {
                outcome: word(pattern),
                detail: format!("paused={paused}"),
                ..line("loop_guard")
            },
            ItemKind::Breaker { tool, .. } => AuditLine {
                tool: tool.clone(),
                ..line("tool_breaker")
            },
            ItemKind::Limit { reached } => AuditLine {
                target: word(&reached.limit),
                detail: format!("used={} allowed={}", reached.used, reached.allowed),
                ..line("limit_reached")
            },
            _ => return None,
        })
    }
}

/// What is not of the turn's own course.
fn aside(event: &Event) -> Option<AuditLine> {
    let line = |action| AuditLine::new(event, action);
    Some(match &event.msg {
        EventMsg::ApprovalRequested { approval } if approval.origin.is_none() => AuditLine {
            call: approval.call.to_string(),
            tool: approval.tool.clone(),
            target: target(approval.verb, &approval.target),
            classes: classes(&approval.classes),
            ..line("approval_requested")
        },
        EventMsg::ApprovalResolved {
            approval,
            outcome: ApprovalOutcome::Withdrawn { why },
        } => AuditLine {
            call: approval.to_string(),
            reason: word(why),
            ..line("approval_withdrawn")
        },
        // Rules that were kept from before are told again to each new session; those made here carry its id.
        EventMsg::RuleAdded { rule } if rule.id.as_str().starts_with(event.session.as_str()) => AuditLine {
            target: cut(&shape(&rule.shape), MOST),
            by: "person".into(),
            rule: rule.id.to_string(),
            outcome: word(&rule.answer),
            detail: format!("scope={}", scope(rule.scope)),
            ..line("rule_added")
        },
        EventMsg::ProcessStarted { process } => AuditLine {
            call: process.call.to_string(),
            target: target(Verb::Run, &process.command),
            detail: format!("process={}", process.id),
            ..line("process_started")
        },
        EventMsg::ProcessEnded { process, end } => AuditLine {
            outcome: tag(end, "how"),
            detail: format!("process={process}"),
            ..line("process_ended")
        },
        EventMsg::WorkflowStarted { plan } => AuditLine {
            target: plan.name.clone(),
            by: "person".into(),
            detail: format!("steps={}", plan.steps.len()),
            ..line("workflow_started")
        },
        EventMsg::WorkflowEnded { end } => AuditLine {
            outcome: word(end),
            ..line("workflow_ended")
        },
        _ => return None,
    })
}

fn ended(event: &Event, status: ItemStatus, call: &CallItem) -> AuditLine {
    let mut detail = String::new();
    let output = call.output.as_ref();
    if let Some(code) = output.and_then(|output| output.exit_code) {
        let _ = write!(detail, "exit_code={code} ");
    }
    if let Some(agent) = &call.sub_agent {
        let _ = write!(detail, "sub_agent={} ", agent.session);
    }
    for change in output.map(|output| output.changes.as_slice()).unwrap_or_default() {
        let _ = write!(detail, "{}={} ", tag(&change.kind, "change"), change.path);
    }
    let by = call.verdict.as_ref().map(|verdict| decider(&verdict.by));
    AuditLine {
        call: call.call.to_string(),
        tool: cut(&call.tool, MOST_PROSE),
        target: target(call.verb, &call.target),
        classes: classes(&call.classes),
        allowed: call.verdict.as_ref().map(|verdict| verdict.allowed),
        by: by.unwrap_or_default(),
        edited: call.verdict.as_ref().map(CallVerdict::changes_it),
        outcome: if output.is_some_and(|output| paddock_store::index::timed_out(status, call, output)) {
            "timed_out".into()
        } else {
            word(&status)
        },
        duration_ms: output
            .filter(|_| status != ItemStatus::OutcomeUnknown)
            .map(|output| output.duration.0),
        detail: cut(detail.trim_end(), MOST),
        ..AuditLine::new(event, "call")
    }
}

fn decision(event: &Event, line: DecisionLine) -> AuditLine {
    AuditLine {
        call: line.call.to_string(),
        tool: line.tool,
        target: target(Verb::Use, &line.target),
        classes: classes(&line.classes),
        allowed: Some(line.allowed),
        by: decider(&line.by),
        rule: line.rule,
        edited: Some(line.edited),
        reason: cut(&line.reason.unwrap_or_default(), MOST),
        ..AuditLine::new(event, "decision")
    }
}

fn changes(event: &Event, before: &SessionConfig, after: &SessionConfig) -> Vec<AuditLine> {
    let role = |config: &SessionConfig| match &config.own_role {
        Some(own) => format!("{} ({})", own.name, word(&config.role)),
        None => word(&config.role),
    };
    let fallback = |config: &SessionConfig| match &config.fallback {
        Some(second) => format!("{} automatic={}", model(&second.model), second.automatic),
        None => "none".to_owned(),
    };
    let told = [
        ("role_changed", role(before), role(after)),
        ("autonomy_changed", word(&before.autonomy), word(&after.autonomy)),
        ("model_changed", model(&before.model), model(&after.model)),
        ("format_changed", word(&before.format), word(&after.format)),
        ("fallback_changed", fallback(before), fallback(after)),
    ];
    let changed = told.into_iter().filter(|(_, from, to)| from != to);
    let mut lines: Vec<AuditLine> = changed
        .map(|(action, from, to)| AuditLine {
            from,
            to,
            ..AuditLine::new(event, action)
        })
        .collect();
    let fields = |limits: &Limits| serde_json::to_value(limits).ok()?.as_object().cloned();
    if let (Some(old), Some(new)) = (fields(&before.limits), fields(&after.limits)) {
        for (name, to) in new {
            let from = old.get(&name).cloned().unwrap_or_default();
            if from != to {
                lines.push(AuditLine {
                    target: name,
                    from: from.to_string(),
                    to: to.to_string(),
                    ..AuditLine::new(event, "limits_changed")
                });
            }
        }
    }
    lines
}

/// What a call is about: prose of the model shortened, a command without the texts it carries for files.
fn target(verb: Verb, text: &str) -> String {
    match verb {
        Verb::Ask | Verb::Finish | Verb::Say | Verb::Note | Verb::Delegate | Verb::Plan => {
            cut(text, MOST_PROSE)
        }
        _ => cut(&without_documents(text), MOST),
    }
}

/// A command line in which each here-document is only counted: it is the content of a file.
fn without_documents(command: &str) -> String {
    let mut kept: Vec<String> = Vec::new();
    let mut lines = command.lines();
    while let Some(line) = lines.next() {
        kept.push(line.to_owned());
        for end in documents(line) {
            let count = lines.by_ref().take_while(|line| line.trim() != end).count();
            kept.push(format!("[{count} lines] {end}"));
        }
    }
    kept.join("\n")
}

/// The words that end the here-documents which a line begins.
fn documents(line: &str) -> Vec<String> {
    let begins = line.split("<<").skip(1);
    let word = |rest: &str| {
        let rest = rest.strip_prefix('-').unwrap_or(rest).trim_start();
        let quoted = rest.starts_with(['\'', '"', '\\']);
        let rest = rest.trim_start_matches(['\'', '"', '\\']);
        let end =
            rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || (quoted && matches!(c, '-' | '.'))));
        let word = &rest[..end.unwrap_or(rest.len())];
        // `<<<` is a text in the line itself; a digit is a shift.
        (!word.is_empty() && !word.starts_with(|c: char| c.is_ascii_digit())).then(|| word.to_owned())
    };
    begins.filter_map(word).collect()
}

fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let mut cut: String = text.chars().take(most).collect();
    cut.push('…');
    cut
}

fn decider(by: &DecidedBy) -> String {
    match by {
        DecidedBy::Person => "person".to_owned(),
        DecidedBy::Rule { rule } => format!("rule:{rule}"),
        DecidedBy::Policy => "policy".to_owned(),
        DecidedBy::Workflow { name } => format!("workflow:{name}"),
    }
}

fn paused(cause: &PauseCause) -> String {
    match cause {
        PauseCause::Person => "person".to_owned(),
        PauseCause::Limits { reached } => {
            let names: Vec<String> = reached.iter().map(|reached| word(&reached.limit)).collect();
            format!("limit {}", names.join(" "))
        }
        PauseCause::Guard { pattern } => format!("loop_guard {}", word(pattern)),
        PauseCause::Breaker { tool } => format!("tool_breaker {tool}"),
        PauseCause::Model { error } => format!("model {}", word(&error.kind)),
        PauseCause::Check { attempts, .. } => format!("check {attempts}"),
        PauseCause::Expensive { estimate, .. } => format!("expensive {}", estimate.0),
    }
}

fn shape(shape: &RuleShape) -> String {
    match shape {
        RuleShape::Command { .. } | RuleShape::Outside { .. } => paddock_policy::in_words(shape),
        RuleShape::WritePath { path } => path.clone(),
        RuleShape::Host { host } => host.clone(),
        RuleShape::ExternalTool { server, tool } => format!("{server} {tool}"),
    }
}

fn scope(scope: RuleScope) -> &'static str {
    match scope {
        RuleScope::Turn { .. } => "turn",
        RuleScope::Session => "session",
        RuleScope::Project => "project",
        RuleScope::Everywhere => "everywhere",
    }
}

fn model(model: &ModelChoice) -> String {
    format!("{}/{}", model.provider, model.model)
}

fn classes(classes: &[RiskClass]) -> String {
    classes.iter().map(word).collect::<Vec<_>>().join(" ")
}

/// The word that stands for a value in the protocol.
fn word(value: &impl Serialize) -> String {
    let value = serde_json::to_value(value).ok();
    value
        .and_then(|value| value.as_str().map(str::to_owned))
        .unwrap_or_default()
}

/// The word of a value that carries more, by the name of its tag.
fn tag(value: &impl Serialize, name: &str) -> String {
    let value = serde_json::to_value(value).ok();
    value
        .and_then(|value| value.get(name)?.as_str().map(str::to_owned))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests;
