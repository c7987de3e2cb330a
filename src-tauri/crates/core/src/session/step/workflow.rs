//! A workflow that the person started: its steps one after another, each a turn of its own. It goes on after a restart.

use super::Draft;
use crate::session::words;
use paddock_protocol::*;
use std::collections::BTreeMap;

/// Names the question of a workflow among the calls of its step.
const ASK: &str = "ask_question";

impl Draft<'_> {
    pub(super) fn run_workflow(&mut self, plan: WorkflowPlan) {
        if self.turn().is_some() || self.live.workflow.is_some() {
            self.refuse(
                ErrorCode::Busy,
                "The session works already.",
                "Wait until it has ended, or stop it, then start the workflow.",
            );
            return;
        }
        if plan.steps.is_empty() {
            self.refuse(
                ErrorCode::BadRequest,
                "This workflow has no steps.",
                "Add a step to its file.",
            );
            return;
        }
        if self.live.config.title.is_empty() {
            let title = plan.title.clone();
            self.change_config(|config| config.title = title);
        }
        self.emit(EventMsg::WorkflowStarted { plan });
        self.next_workflow_step();
    }

    /// Begins the next step, or ends the run after the last one.
    fn next_workflow_step(&mut self) {
        let Some(run) = self.live.workflow.clone() else {
            return;
        };
        let begun = run.begun as usize;
        let Some(step) = run.plan.steps.get(begun).cloned() else {
            self.end_workflow(WorkflowEnd::Completed);
            return;
        };
        self.emit(EventMsg::WorkflowStepped { step: run.begun + 1 });
        match step {
            WorkflowStep::Message { text } => {
                let text = filled(&text, &run.answers, |answer| answer.to_owned());
                self.start_turn(text.into(), None);
            }
            WorkflowStep::Call { tool, arguments } => {
                let arguments = filled_arguments(&arguments, &tool, &run.answers);
                self.start_workflow_call(tool, arguments);
            }
            WorkflowStep::Confirm { question } => {
                let question = filled(&question, &run.answers, |answer| answer.to_owned());
                self.start_workflow_question(&question, &[words::YES.to_owned(), words::NO.to_owned()]);
            }
            WorkflowStep::Ask {
                question, options, ..
            } => self.start_workflow_question(&question, &options),
        }
    }

    fn start_workflow_question(&mut self, question: &str, options: &[String]) {
        let arguments = serde_json::json!({ "question": question, "options": options });
        self.start_workflow_call(ASK.to_owned(), arguments.to_string());
    }

    /// A turn whose one call the person asked for.
    fn start_workflow_call(&mut self, tool: String, arguments: String) {
        let turn = self.begin_turn(true);
        self.note_workflow(None);
        let call = turn.call(0, 1);
        let item = CallItem {
            arguments,
            ..super::answer::new_call(call, tool)
        };
        self.start_item(ItemStatus::Waiting, ItemKind::Call(Box::new(item)));
        self.set_status(TurnStatus::UsingTools);
        self.prepare_calls();
        self.advance();
    }

    /// The row that says which step begins, or how the run ended.
    pub(super) fn note_workflow(&mut self, end: Option<WorkflowEnd>) {
        let Some(run) = self.live.workflow.clone() else {
            return;
        };
        self.note_item(ItemKind::Workflow {
            name: run.plan.name.clone(),
            title: run.plan.title.clone(),
            step: run.begun,
            of: u32::try_from(run.plan.steps.len()).unwrap_or(u32::MAX),
            end,
        });
    }

    pub(super) fn end_workflow(&mut self, end: WorkflowEnd) {
        if self.live.workflow.is_some() {
            self.note_workflow(Some(end));
            self.emit(EventMsg::WorkflowEnded { end });
        }
    }

    /// Whether the call was asked for by the workflow whose turn this is.
    pub(super) fn is_workflow_turn(&self) -> bool {
        self.turn().is_some_and(|turn| turn.without_model)
    }

    /// The step's call has its result: the turn ends with it.
    pub(super) fn workflow_call_done(&mut self) {
        let Some(call) = self.turn().and_then(|turn| turn.calls.last()).cloned() else {
            return;
        };
        let output = self.call_item(call.item).and_then(|call| call.output);
        let answer = output.as_ref().and_then(|output| match &output.facts {
            Some(OutputFacts::Answer { answer }) => Some(answer.clone()),
            _ => None,
        });
        let step = self
            .live
            .workflow
            .as_ref()
            .and_then(|run| run.plan.steps.get((run.begun as usize).checked_sub(1)?).cloned());
        let ok = output.is_some_and(|output| output.ok);
        let end = match (&step, answer) {
            (Some(WorkflowStep::Confirm { .. }), answer) if answer.as_deref() != Some(words::YES) => {
                TurnEnd::Stopped
            }
            (Some(WorkflowStep::Ask { name, .. }), Some(answer)) => {
                self.emit(EventMsg::WorkflowAnswered {
                    name: name.clone(),
                    answer,
                });
                TurnEnd::Completed
            }
            _ if ok && call.status == ItemStatus::Done => TurnEnd::Completed,
            _ => TurnEnd::Failed,
        };
        self.end_turn(end);
    }

    /// What follows the end of a turn: the next step, or the end of the run.
    pub(super) fn workflow_after(&mut self, end: TurnEnd) {
        match end {
            TurnEnd::Completed => self.next_workflow_step(),
            TurnEnd::Stopped => self.end_workflow(WorkflowEnd::Stopped),
            TurnEnd::Failed => self.end_workflow(WorkflowEnd::Failed),
        }
    }
}

/// `{answer.NAME}` replaced by the answer; a name without an answer stays as it is.
fn filled(text: &str, answers: &BTreeMap<String, String>, quote: impl Fn(&str) -> String) -> String {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{answer.") {
        filled.push_str(before);
        match after
            .split_once('}')
            .and_then(|(name, tail)| Some((answers.get(name)?, tail)))
        {
            Some((answer, tail)) => {
                filled.push_str(&quote(answer));
                rest = tail;
            }
            None => {
                filled.push_str("{answer.");
                rest = after;
            }
        }
    }
    filled.push_str(rest);
    filled
}

/// Fills every text of the arguments; in a command an answer becomes one word of the shell.
fn filled_arguments(arguments: &str, tool: &str, answers: &BTreeMap<String, String>) -> String {
    let Ok(mut value) = serde_json::from_str::<serde_json::Value>(arguments) else {
        return arguments.to_owned();
    };
    let quote = |answer: &str| {
        if tool == "run_command" {
            format!("'{}'", answer.replace('\'', r"'\''"))
        } else {
            answer.to_owned()
        }
    };
    fill(&mut value, answers, &quote);
    value.to_string()
}

fn fill(value: &mut serde_json::Value, answers: &BTreeMap<String, String>, quote: &impl Fn(&str) -> String) {
    match value {
        serde_json::Value::String(text) => *text = filled(text, answers, quote),
        serde_json::Value::Array(list) => list.iter_mut().for_each(|value| fill(value, answers, quote)),
        serde_json::Value::Object(map) => map.values_mut().for_each(|value| fill(value, answers, quote)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_in_a_command_is_one_word() {
        let answers = BTreeMap::from([("name".to_owned(), "a'; rm -rf / #{answer.name}".to_owned())]);
        let command = filled_arguments(
            r#"{"command":"echo {answer.name} {answer.none}"}"#,
            "run_command",
            &answers,
        );
        let value: serde_json::Value = serde_json::from_str(&command).unwrap();
        assert_eq!(
            value["command"],
            r"echo 'a'\''; rm -rf / #{answer.name}' {answer.none}"
        );
    }
}
