//! The decisions in a log: who let a call run or refused it, and why. A person's answer counts when it is given, every
//! other verdict when the call first shows it; a verdict that only carries out the person's answer is no second decision.

use paddock_protocol::*;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Folds the events of one session, in order, to the lines of its decision log.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decisions {
    turn: u32,
    iteration: u32,
    /// Approvals that wait.
    asked: BTreeMap<ApprovalId, Asked>,
    /// Calls of the iteration that goes on: an older one can only be undone, which decides nothing.
    calls: BTreeMap<CallId, Judged>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Asked {
    call: CallId,
    tool: String,
    target: String,
    classes: Vec<RiskClass>,
    rule: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Judged {
    asked: bool,
    verdict: Option<(DecidedBy, bool)>,
    /// The person's answer, until the verdict that carries it out.
    answer: Option<bool>,
}

impl Decisions {
    /// The decision that this event tells of, if any.
    pub fn hear(&mut self, event: &Event) -> Option<DecisionLine> {
        match &event.msg {
            EventMsg::TurnStarted { turn, .. } => self.go_to(turn.0, 0),
            EventMsg::IterationStarted { turn, iteration, .. } => self.go_to(turn.0, *iteration),
            // Those of a sub-agent are in its own log.
            EventMsg::ApprovalRequested { approval } if approval.origin.is_none() => self.ask(approval),
            EventMsg::ApprovalResolved { approval, outcome } => {
                let asked = self.asked.remove(approval)?;
                return self.answer(event, asked, outcome);
            }
            // Notes begin and end at once.
            EventMsg::ItemCompleted { item } if is_note(&item.kind) => return noted(event, &item.kind),
            EventMsg::ItemStarted { item }
            | EventMsg::ItemUpdated { item }
            | EventMsg::ItemCompleted { item } => {
                if let ItemKind::Call(call) = &item.kind
                    && self.is_current(item)
                {
                    return self.verdict(event, call);
                }
            }
            _ => {}
        }
        None
    }

    /// Whether the person was asked about this call of the current iteration.
    pub(super) fn was_asked(&self, call: &CallId) -> bool {
        self.calls.get(call).is_some_and(|judged| judged.asked)
    }

    pub(super) fn is_current(&self, item: &Item) -> bool {
        (item.turn.0, item.iteration) == (self.turn, self.iteration)
    }

    fn go_to(&mut self, turn: u32, iteration: u32) {
        (self.turn, self.iteration) = (turn, iteration);
        self.calls.clear();
    }

    fn ask(&mut self, approval: &ApprovalRequest) {
        self.calls.entry(approval.call.clone()).or_default().asked = true;
        let asked = Asked {
            call: approval.call.clone(),
            tool: approval.tool.clone(),
            target: approval.target.clone(),
            classes: approval.classes.clone(),
            rule: decisive(&approval.trace),
        };
        self.asked.insert(approval.id.clone(), asked);
    }

    fn answer(&mut self, event: &Event, asked: Asked, outcome: &ApprovalOutcome) -> Option<DecisionLine> {
        let ApprovalOutcome::Decided {
            decision,
            by: by @ DecidedBy::Person,
        } = outcome
        else {
            return None;
        };
        let (allowed, edited, reason) = match decision {
            Decision::Approve { .. } => (true, decision.changes_it(), None),
            Decision::Reject { reason, .. } => (false, false, reason.clone()),
        };
        self.calls.entry(asked.call.clone()).or_default().answer = Some(allowed);
        Some(DecisionLine {
            at: event.at,
            session: event.session.clone(),
            call: asked.call,
            tool: asked.tool,
            target: asked.target,
            classes: asked.classes,
            allowed,
            by: by.clone(),
            rule: asked.rule,
            edited,
            reason,
        })
    }

    fn verdict(&mut self, event: &Event, call: &CallItem) -> Option<DecisionLine> {
        let Some(verdict) = &call.verdict else {
            if let Some(judged) = self.calls.get_mut(&call.call) {
                judged.verdict = None;
            }
            return None;
        };
        let judged = self.calls.entry(call.call.clone()).or_default();
        let now = (verdict.by.clone(), verdict.allowed);
        if judged.verdict.as_ref() == Some(&now) {
            return None;
        }
        judged.verdict = Some(now);
        let answered = judged.answer.take();
        let carries_out = verdict.by == DecidedBy::Person && answered == Some(verdict.allowed);
        // A call that could not be read was let go without having been judged.
        let unjudged = verdict.allowed && verdict.by == DecidedBy::Policy && verdict.trace.is_empty();
        if carries_out || unjudged {
            return None;
        }
        Some(DecisionLine {
            at: event.at,
            session: event.session.clone(),
            call: call.call.clone(),
            tool: call.tool.clone(),
            target: call.target.clone(),
            classes: call.classes.clone(),
            allowed: verdict.allowed,
            by: verdict.by.clone(),
            rule: decisive(&verdict.trace),
            edited: verdict.changes_it(),
            reason: verdict.reason.clone(),
        })
    }
}

fn is_note(kind: &ItemKind) -> bool {
    matches!(kind, ItemKind::HostAdmitted { .. } | ItemKind::SetAside { .. })
}

/// What was decided beside the calls: a connection by a rule, something set aside by the person.
fn noted(event: &Event, kind: &ItemKind) -> Option<DecisionLine> {
    let line = |call: CallId, tool: &str, target: &str, class, allowed, by| DecisionLine {
        at: event.at,
        session: event.session.clone(),
        call,
        tool: tool.to_owned(),
        target: target.to_owned(),
        classes: vec![class],
        allowed,
        by,
        rule: String::new(),
        edited: false,
        reason: None,
    };
    match kind {
        ItemKind::HostAdmitted {
            call,
            host,
            rule,
            rule_id,
        } => {
            let by = DecidedBy::Rule {
                rule: rule_id.clone(),
            };
            Some(DecisionLine {
                rule: format!("Rule {rule}: covers the connection"),
                ..line(call.clone(), "connect", host, RiskClass::Network, true, by)
            })
        }
        // It belongs to no call any longer.
        ItemKind::SetAside { path, back } => {
            let none = CallId::new("");
            Some(line(
                none,
                "set_aside",
                path,
                RiskClass::Protected,
                *back,
                DecidedBy::Person,
            ))
        }
        _ => None,
    }
}

/// The line of a trace that decided, in words.
fn decisive(trace: &[TraceLine]) -> String {
    let line = trace.iter().rfind(|line| line.decides);
    line.map(|line| format!("{}: {}", line.about, line.says))
        .unwrap_or_default()
}
