//! The command that says whether the work is done: it runs before a turn that may have changed something is completed, and
//! its failure goes to the model. After some failures the person is asked.

use super::Draft;
use super::answer::new_call;
use crate::session::live_turn::LiveCall;
use paddock_protocol::*;

const RUN: &str = "run_command";
/// Failed checks in a row after which the turn pauses.
const TRIES: u32 = 3;

impl Draft<'_> {
    /// The work is said to be done: the turn ends when the check agrees.
    pub(super) fn complete_turn(&mut self) {
        match self.due_check() {
            Some(command) => self.start_check(&command),
            None => self.end_turn(TurnEnd::Completed),
        }
    }

    fn due_check(&self) -> Option<String> {
        let turn = self.turn()?;
        let due = turn.unchecked
            && !turn.finishing
            && !turn.check_allowed
            && !self.is_sub_agent()
            && !self.is_workflow_turn()
            && self.live.config.role != Role::Plan
            && self.around.tools.contains_key(RUN);
        self.live.config.done_when.clone().filter(|_| due)
    }

    fn start_check(&mut self, command: &str) {
        let Some(turn) = self.turn() else { return };
        let first = u32::try_from(turn.calls.len())
            .unwrap_or(u32::MAX)
            .saturating_add(1);
        let Some(id) = (first..)
            .map(|number| turn.turn.call(turn.iteration, number))
            .find(|id| turn.call(id).is_none())
        else {
            return;
        };
        let attempt = turn.checks + 1;
        let call = CallItem {
            verb: Verb::Run,
            target: command.to_owned(),
            arguments: serde_json::json!({ "command": command }).to_string(),
            check: Some(CheckRun { attempt, of: TRIES }),
            ..new_call(id, RUN.to_owned())
        };
        // First, so that no death in between leaves an open call in a paused turn.
        self.set_working(TurnStatus::UsingTools);
        self.start_item(ItemStatus::Waiting, ItemKind::Call(Box::new(call)));
        self.prepare_calls();
        self.advance();
    }

    fn newest_check(&self) -> Option<&LiveCall> {
        self.turn()?.calls.iter().rfind(|call| call.check)
    }

    /// Whether the iteration ended with a check.
    pub(super) fn was_checked(&self) -> bool {
        self.newest_check().is_some()
    }

    /// The check has its result.
    pub(super) fn check_ended(&mut self) {
        let (Some(check), Some(turn)) = (self.newest_check().cloned(), self.turn()) else {
            return;
        };
        let (checks, steered) = (turn.checks, !turn.unused.is_empty());
        let looks = self.live.config.role == Role::Plan;
        match check.status {
            ItemStatus::Failed if turn.check_allowed => self.end_turn(TurnEnd::Completed),
            ItemStatus::Failed if checks >= TRIES => self.pause_for_check(check.target, checks),
            ItemStatus::Failed => self.go_on_guarded(),
            _ if steered => self.go_on_guarded(),
            // It died with the program; the person goes on, so it is asked anew.
            ItemStatus::OutcomeUnknown => self.complete_turn(),
            // The model can do nothing about a command that may never run, and nobody has seen the work pass.
            ItemStatus::Rejected if !looks => self.pause_for_check(check.target, checks + 1),
            // It passed, or the person ended it, or the role does not change anything any longer.
            _ => self.end_turn(TurnEnd::Completed),
        }
    }

    fn pause_for_check(&mut self, command: String, attempts: u32) {
        self.pause(PauseCause::Check { command, attempts });
    }

    /// The person goes on where the check was the last thing that happened.
    pub(super) fn resume_after_check(&mut self) {
        let Some(turn) = self.turn() else { return };
        let goes_on = !turn.check_allowed && turn.checks < TRIES;
        match self.newest_check().map(|check| check.status) {
            Some(ItemStatus::Rejected) => self.complete_turn(),
            // Whatever made it pause after that, the person has decided.
            Some(ItemStatus::Failed) if goes_on => self.next_iteration(),
            _ => self.check_ended(),
        }
    }
}
