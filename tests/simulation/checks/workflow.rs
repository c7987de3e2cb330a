//! Workflows: the steps of the plan that the person confirmed, in order, each at most once.

use super::Checks;
use crate::person::fill;
use paddock_core::session::input::Input;
use paddock_protocol::*;
use std::collections::BTreeMap;

pub struct Run {
    plan: WorkflowPlan,
    pub begun: u32,
    answers: BTreeMap<String, String>,
    /// Turns of the step that began last.
    pub turns: u32,
    pub ended: Option<TurnEnd>,
}

impl Run {
    fn step(&self) -> Option<&WorkflowStep> {
        self.plan.steps.get((self.begun as usize).checked_sub(1)?)
    }
}

impl Checks {
    pub(super) fn workflow_event(&mut self, msg: &EventMsg) {
        match msg {
            EventMsg::WorkflowStarted { plan } => {
                assert!(self.workflow.is_none(), "two workflows at once");
                if self.step.is_some() {
                    let asked = matches!(self.op(), Some(Op::RunWorkflow { plan: asked }) if asked == plan);
                    assert!(asked, "a workflow that nobody started");
                }
                self.workflow = Some(Run {
                    plan: plan.clone(),
                    begun: 0,
                    answers: BTreeMap::new(),
                    turns: 0,
                    ended: None,
                });
            }
            EventMsg::WorkflowStepped { step } => {
                let run = self.workflow.as_mut().expect("a workflow");
                assert_eq!(*step, run.begun + 1, "the steps go in order");
                assert!(*step as usize <= run.plan.steps.len());
                let done = run.begun == 0 || run.ended == Some(TurnEnd::Completed);
                assert!(done, "a step begins after one that came to {:?}", run.ended);
                run.begun = *step;
                run.turns = 0;
                run.ended = None;
            }
            EventMsg::WorkflowAnswered { name, answer } => {
                let run = self.workflow.as_mut().expect("a workflow");
                run.answers.insert(name.clone(), answer.clone());
            }
            EventMsg::WorkflowEnded { end } => {
                let run = self.workflow.take().expect("a workflow");
                let whole = run.begun as usize == run.plan.steps.len();
                let completed = whole && run.ended == Some(TurnEnd::Completed);
                let died = matches!(
                    self.step.as_ref().map(|step| &step.input),
                    Some(Input::Reopened) | None
                );
                assert!(
                    (*end == WorkflowEnd::Completed) == completed || died && *end == WorkflowEnd::Stopped,
                    "the workflow came to {end:?} after step {} with {:?}",
                    run.begun,
                    run.ended
                );
            }
            _ => {}
        }
    }

    pub(super) fn turn_of_workflow(&mut self, without_model: bool) {
        match &mut self.workflow {
            None => assert!(!without_model, "a turn without a model and without a workflow"),
            Some(run) => {
                run.turns += 1;
                assert_eq!(
                    run.turns, 1,
                    "a step of the workflow began twice, or another turn in it"
                );
                let asks = matches!(run.step(), Some(WorkflowStep::Message { .. }));
                assert_ne!(asks, without_model, "the step is another one");
            }
        }
    }

    pub(super) fn turn_of_workflow_ended(&mut self, end: TurnEnd) {
        let Some(run) = &mut self.workflow else { return };
        run.ended = Some(end);
        let turn = self.turn.as_ref().expect("a turn").id;
        let calls: Vec<&CallItem> = self
            .items
            .iter()
            .filter(|item| item.turn == turn && item.iteration == 0)
            .filter_map(|item| match &item.kind {
                ItemKind::Call(call) => Some(&**call),
                _ => None,
            })
            .collect();
        let asks_model = matches!(run.step(), Some(WorkflowStep::Message { .. }));
        let one = calls.len() == usize::from(!asks_model);
        assert!(
            one || end == TurnEnd::Stopped && calls.is_empty(),
            "a step is one call"
        );
        if end != TurnEnd::Completed {
            return;
        }
        if let (Some(WorkflowStep::Confirm { .. }), Some(call)) = (run.step(), calls.first()) {
            let facts = call.output.as_ref().and_then(|output| output.facts.as_ref());
            let yes = matches!(facts, Some(OutputFacts::Answer { answer }) if answer == "Yes");
            assert!(yes, "the workflow went on without a yes");
        }
    }

    /// What runs in a step without the model is the step's call, with the answers filled in.
    pub(super) fn is_the_workflows(&self, tool: &str, arguments: &str) {
        if !self.turn.as_ref().is_some_and(|turn| turn.without_model) {
            return;
        }
        let run = self.workflow.as_ref().expect("a workflow");
        let Some(WorkflowStep::Call {
            tool: asked,
            arguments: written,
        }) = run.step()
        else {
            panic!("{tool} runs in a step that calls nothing");
        };
        assert_eq!(tool, asked);
        let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).expect("an object");
        let (given, written) = (value(arguments), value(written));
        let edited = self.was_edited(arguments);
        for (key, text) in written.as_object().into_iter().flatten() {
            let quoted: BTreeMap<String, String> = run
                .answers
                .iter()
                .map(|(name, answer)| {
                    let word = format!("'{}'", answer.replace('\'', r"'\''"));
                    let said = if tool == "run_command" {
                        word
                    } else {
                        answer.clone()
                    };
                    (name.clone(), said)
                })
                .collect();
            let expected = fill(text.as_str().unwrap_or_default(), &quoted);
            assert!(
                edited || given[key] == expected.as_str(),
                "{arguments} runs in place of {written}"
            );
        }
    }
}
