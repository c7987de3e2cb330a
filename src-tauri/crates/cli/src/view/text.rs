//! Events as live text. Fed with every event in order; keeps only what it needs to know where a line ends.

use super::{plain, style::Style, words};
use crate::output::Output;
use paddock_protocol::*;
use std::collections::HashMap;

/// Characters of a call's target in its line.
const TARGET: usize = 100;

pub struct TextView {
    style: Style,
    /// Whether the last character written was a line end.
    at_line_start: bool,
    /// Items whose text streams, by what they are.
    streaming: HashMap<ItemId, Streaming>,
    /// The iteration whose line was written.
    iteration: Option<(TurnId, u32, u32)>,
}

#[derive(Clone, Copy, PartialEq)]
enum Streaming {
    Agent,
    Reasoning,
    /// A running command; its line was written.
    Command,
}

impl TextView {
    pub fn new(style: Style) -> Self {
        Self {
            style,
            at_line_start: true,
            streaming: HashMap::new(),
            iteration: None,
        }
    }

    pub fn style(&self) -> Style {
        self.style
    }

    /// Where and with what the session works.
    pub fn head(&mut self, config: &SessionConfig, output: &mut Output) {
        let line = format!(
            "Working in {} · {} of {} · role {}",
            plain::line(&config.project),
            plain::line(&config.model.model),
            plain::line(config.model.provider.as_str()),
            words::role(config.role)
        );
        self.line(&self.style.dim(&line), output);
        if config.demo {
            let line = "Demo: the answers are scripted; tools, approvals, sandbox and undo are real.";
            self.line(&self.style.attention(line), output);
        }
    }

    pub fn show(&mut self, event: &Event, output: &mut Output) {
        match &event.msg {
            EventMsg::IterationStarted {
                turn,
                iteration,
                attempt,
                limit,
                finishing,
                ..
            } => {
                let now = (*turn, *iteration, *attempt);
                if self.iteration.replace(now) != Some(now) {
                    self.iteration_line(*iteration, *attempt, *limit, *finishing, output);
                }
            }
            EventMsg::ItemStarted { item } | EventMsg::ItemUpdated { item } => self.started(item, output),
            EventMsg::ItemDelta { item, text, .. } => self.delta(*item, text, output),
            EventMsg::ItemCompleted { item } => self.completed(item, output),
            EventMsg::LimitChanged { limit, allowed, .. } => {
                let what = match limit {
                    LimitKind::Iterations => format!("The limit is now {allowed} iterations."),
                    LimitKind::ActiveTime => {
                        format!("The limit is now {}.", words::time(Millis(*allowed)))
                    }
                    LimitKind::SessionTokens => {
                        format!("The limit is now {} tokens.", words::thousands(*allowed))
                    }
                    LimitKind::TurnMoney | LimitKind::SessionMoney | LimitKind::DayMoney => {
                        format!("The limit is now {}.", words::money(Micros(*allowed)))
                    }
                };
                self.line(&self.style.dim(&what), output);
            }
            EventMsg::PlanChanged { tasks } => {
                for task in tasks {
                    let line = words::task(task);
                    self.line(&line, output);
                }
            }
            EventMsg::OpRefused { error } => {
                let text = plain::text(&error.to_string());
                self.line(&self.style.bad(&text), output);
            }
            _ => {}
        }
    }

    /// Text of its own, which may have several lines and is harmless already.
    pub fn line(&mut self, text: &str, output: &mut Output) {
        self.end_line(output);
        output.write(format!("{}\n", text.trim_end_matches('\n')).as_bytes());
    }

    /// A question at whose end the answer is typed.
    pub fn ask(&mut self, text: &str, output: &mut Output) {
        self.end_line(output);
        output.write(text.as_bytes());
        // The person's Enter ends the line.
        self.at_line_start = true;
    }

    fn end_line(&mut self, output: &mut Output) {
        if !self.at_line_start {
            output.write(b"\n");
            self.at_line_start = true;
        }
    }

    fn iteration_line(
        &mut self,
        iteration: u32,
        attempt: u32,
        limit: u32,
        finishing: bool,
        output: &mut Output,
    ) {
        let mut line = format!("\n── Iteration {iteration} of {limit}");
        if attempt > 1 {
            line.push_str(&format!(", try {attempt}"));
        }
        if finishing {
            line.push_str(", finishing up");
        }
        self.line(&self.style.dim(&line), output);
    }

    fn started(&mut self, item: &Item, output: &mut Output) {
        match &item.kind {
            ItemKind::AgentText { .. } => {
                self.streaming.entry(item.id).or_insert(Streaming::Agent);
            }
            ItemKind::Reasoning { .. } => {
                self.streaming.entry(item.id).or_insert(Streaming::Reasoning);
            }
            ItemKind::Call(call)
                if call.verb == Verb::Run
                    && item.status == ItemStatus::Running
                    && self.streaming.insert(item.id, Streaming::Command).is_none() =>
            {
                self.line(&format!("▸ Run {}", plain::short(&call.target, TARGET)), output);
            }
            ItemKind::Retry {
                attempt,
                of,
                until,
                error,
            } if !item.status.is_final() => {
                let wait = words::time(until.since(item.started));
                let error = plain::text(&error.message);
                let line = format!("{error} Trying again in {wait} ({attempt} of {of}).");
                self.line(&self.style.attention(&line), output);
            }
            _ => {}
        }
    }

    fn delta(&mut self, item: ItemId, text: &str, output: &mut Output) {
        let Some(kind) = self.streaming.get(&item).copied() else {
            return;
        };
        let text = plain::text(text);
        let mut shown = String::with_capacity(text.len());
        for part in text.split_inclusive('\n') {
            if self.at_line_start && kind != Streaming::Agent {
                shown.push_str(&self.style.dim("  │ "));
            }
            match kind {
                Streaming::Agent => shown.push_str(part),
                _ => shown.push_str(&self.style.dim(part)),
            }
            self.at_line_start = part.ends_with('\n');
        }
        output.write(shown.as_bytes());
    }

    fn completed(&mut self, item: &Item, output: &mut Output) {
        let streamed = self.streaming.remove(&item.id);
        match &item.kind {
            ItemKind::UserMessage { text, delivery, .. } => {
                let from = match delivery {
                    Delivery::Start => "You",
                    _ => "You, meanwhile",
                };
                let line = format!("{from}: {}", plain::text(text));
                self.line(&self.style.bold(&line), output);
            }
            ItemKind::AgentText { text } if streamed.is_none() => {
                let text = plain::text(text);
                self.line(&text, output);
            }
            ItemKind::AgentText { .. } | ItemKind::Reasoning { .. } => {
                self.end_line(output);
                if item.status == ItemStatus::Stopped {
                    self.line(&self.style.dim("  (not finished)"), output);
                }
            }
            ItemKind::Call(call) => self.call_line(item, call, output),
            other => {
                if let Some(line) = self.note(other) {
                    self.line(&line, output);
                }
            }
        }
    }

    fn call_line(&mut self, item: &Item, call: &CallItem, output: &mut Output) {
        if item.status == ItemStatus::Done && matches!(call.verb, Verb::Finish | Verb::Say) {
            self.line(&plain::text(&call.target), output);
            return;
        }
        let style = self.style;
        let mark = match item.status {
            ItemStatus::Done => style.good("✓"),
            ItemStatus::Failed => style.bad("✗"),
            ItemStatus::Rejected => style.attention("⊘"),
            ItemStatus::Stopped => style.dim("■"),
            ItemStatus::OutcomeUnknown => style.attention("?"),
            ItemStatus::Undone => style.dim("↶"),
            ItemStatus::Waiting | ItemStatus::Running => style.dim("…"),
        };
        let name = match call.verb {
            Verb::Use => call.tool.as_str(),
            verb => words::verb(verb),
        };
        let mut line = format!(
            "{mark} {} {}",
            plain::line(name),
            plain::short(&call.target, TARGET)
        );
        if let Some(agent) = &call.sub_agent {
            line.push_str(&style.dim(&format!(
                "  {}, {} tokens",
                words::count(agent.iteration.into(), "iteration"),
                words::thousands(agent.usage.total())
            )));
        }
        let facts = call.output.as_ref().map(words::facts).unwrap_or_default();
        let facts = match item.status {
            ItemStatus::Rejected => {
                let reason = call.verdict.as_ref().and_then(|verdict| verdict.reason.clone());
                reason.map_or_else(|| "rejected".to_owned(), |reason| format!("rejected: {reason}"))
            }
            ItemStatus::Stopped => "stopped".to_owned(),
            ItemStatus::OutcomeUnknown => "outcome unknown".to_owned(),
            ItemStatus::Failed if facts.is_empty() => {
                let text = call.output.as_ref().map(|output| output.text.as_str());
                plain::short(text.unwrap_or("failed"), 160)
            }
            _ => facts,
        };
        if !facts.is_empty() {
            line.push_str("  ");
            line.push_str(&style.dim(&plain::line(&facts)));
        }
        self.line(line.trim_end(), output);
        if let Some(OutputFacts::Command { denials, .. }) =
            call.output.as_ref().and_then(|output| output.facts.as_ref())
        {
            for denial in denials {
                let line = format!("  {}", plain::line(denial));
                self.line(&self.style.attention(&line), output);
            }
        }
    }

    /// Any other item, in a line.
    fn note(&self, kind: &ItemKind) -> Option<String> {
        let style = self.style;
        Some(match kind {
            ItemKind::Malformed { reason, .. } => style.attention(&format!(
                "A call could not be read and is asked for again: {}",
                plain::short(reason, 200)
            )),
            ItemKind::Guard { pattern, .. } => style.attention(words::guard(*pattern)),
            ItemKind::Breaker { tool, .. } => {
                style.bad(&format!("{} failed several times in a row.", plain::line(tool)))
            }
            ItemKind::Limit { reached } => style.attention(&words::limit(reached)),
            ItemKind::Recovery { unknown } if unknown.is_empty() => {
                style.attention("The program had ended during this turn.")
            }
            ItemKind::Recovery { unknown } => style.attention(&format!(
                "The program had ended during this turn. {} ran then; what came of it is not known.",
                words::count(unknown.len() as u64, "call")
            )),
            ItemKind::RoleChange { to, own, .. } => {
                let name = own
                    .as_deref()
                    .map_or_else(|| words::role(*to).to_owned(), plain::line);
                style.dim(&format!("The role is now {name}."))
            }
            ItemKind::ModelChange { to, .. } => style.dim(&format!(
                "The model is now {} of {}.",
                plain::line(&to.model),
                plain::line(to.provider.as_str())
            )),
            ItemKind::PromptCut {
                model,
                read,
                sent,
                remedy,
            } => style.attention(&format!(
                "{} read only {} of about {} tokens: what does not fit its window is cut off without a word. {remedy}",
                plain::line(&model.model),
                words::thousands((*read).into()),
                words::thousands((*sent).into()),
            )),
            ItemKind::Workflow {
                title, step, of, end, ..
            } => style.dim(&words::workflow(title, *step, *of, *end)),
            ItemKind::ProcessEnded { process, end } => style.dim(&format!(
                "{} ({}) {}.",
                plain::line(process.id.as_str()),
                plain::short(&process.command, 80),
                words::process_end(*end)
            )),
            ItemKind::TurnSummary { report } => format!("\n{}", style.bold(&words::report(report))),
            // Said once more at the end, with what to do.
            ItemKind::Error { .. } => return None,
            _ => return None,
        })
    }
}
