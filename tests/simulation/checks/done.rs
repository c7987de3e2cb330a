//! The check that the person sets: a turn that may have changed something is not done before it passes, or the person says
//! so; its results reach the model.

use super::Checks;
use paddock_core::session::input::Input;
use paddock_protocol::*;

/// Failures after which the person is asked.
const TRIES: u32 = 3;

#[derive(Default)]
pub struct Done {
    /// Something may have changed since a check passed.
    pub changed: bool,
    /// In a row, since the person last decided.
    failed: u32,
    /// The person said that it may end without.
    allowed: bool,
}

impl Checks {
    /// A call of the turn, with what it was before.
    pub(super) fn done_call(&mut self, item: &Item, call: &CallItem, before: Option<ItemStatus>) {
        let Some(turn) = self.turn.as_ref().filter(|turn| turn.id == item.turn) else {
            return;
        };
        if let Some(check) = &call.check {
            if before.is_none() {
                self.check_begins(call, check);
            }
            if item.status.is_final() && !before.is_some_and(ItemStatus::is_final) {
                self.check_ends(item, call);
            }
            return;
        }
        let was_final = before.is_some_and(ItemStatus::is_final);
        let ran = call.began.is_some() || call.again.is_some();
        if !item.status.is_final() || was_final || !ran || turn.ended.is_some() {
            return;
        }
        let output = call.output.as_ref();
        let half = matches!(item.status, ItemStatus::Stopped | ItemStatus::OutcomeUnknown);
        let may_have_changed = match call.tool.as_str() {
            "run_command" => true,
            "write_file" | "delete_files" => half || output.is_some_and(|output| !output.changes.is_empty()),
            "delegate" => call.sub_agent.as_ref().is_some_and(|agent| agent.writes),
            _ => false,
        };
        if let Some(turn) = &mut self.turn {
            turn.done.changed |= may_have_changed;
        }
    }

    fn check_begins(&mut self, call: &CallItem, check: &CheckRun) {
        let turn = self.turn.as_ref().expect("a turn");
        assert_eq!(call.tool, "run_command");
        assert_eq!((check.attempt, check.of), (turn.done.failed + 1, TRIES));
        if self.step.is_none() {
            return;
        }
        assert_eq!(
            Some(&call.target),
            self.config.done_when.as_ref(),
            "another command than the person set"
        );
        assert_eq!(
            call.arguments,
            serde_json::json!({ "command": call.target }).to_string()
        );
        assert!(turn.done.changed, "a check and nothing changed");
        assert!(!turn.done.allowed, "a check after the person did without");
        assert!(!turn.finishing && !turn.without_model && turn.ended.is_none());
        assert!(self.config.parent.is_none() && self.config.role != Role::Plan);
        let open = self
            .items
            .iter()
            .find(|item| matches!(item.kind, ItemKind::Call(_)) && !item.status.is_final());
        assert!(open.is_none(), "a check begins while {open:?} is open");
        self.is_complete(turn);
        self.see("check: begun");
    }

    fn check_ends(&mut self, item: &Item, call: &CallItem) {
        let allowed = call.verdict.as_ref().is_some_and(|verdict| verdict.allowed);
        let background = matches!(
            call.output.as_ref().and_then(|output| output.facts.as_ref()),
            Some(OutputFacts::Background { .. })
        );
        assert!(!background, "nobody waits for the check");
        let turn = self.turn.as_mut().expect("a turn");
        match item.status {
            ItemStatus::Done => {
                turn.done.changed = false;
                turn.done.failed = 0;
            }
            ItemStatus::Failed => turn.done.failed += 1,
            _ => {}
        }
        let third = turn.done.failed >= TRIES;
        if self.step.is_none() {
            return;
        }
        let steered = self.items.iter().any(|item| {
            matches!(item.kind, ItemKind::UserMessage { .. }) && item.status == ItemStatus::Waiting
        });
        let name = match item.status {
            ItemStatus::Done => "check: passed",
            ItemStatus::Failed => "check: failed",
            ItemStatus::OutcomeUnknown => "check: outcome unknown",
            ItemStatus::Stopped => "check: stopped",
            ItemStatus::Rejected => "check: may not run",
            status => panic!("a check is {status:?}"),
        };
        assert_eq!(
            item.status == ItemStatus::Rejected,
            !allowed && name == "check: may not run"
        );
        self.see(name);
        self.see_if(steered, "check: a message came while it ran");
        self.see_if(third, "check: failed for the third time");
    }

    /// Whether the iteration ended with a check, so that the model's word alone does not count.
    pub(super) fn was_checked(&self) -> bool {
        self.newest_check().is_some()
    }

    fn newest_check(&self) -> Option<(&Item, &CallItem)> {
        let turn = self.turn.as_ref()?;
        let of_iteration = |item: &&Item| item.turn == turn.id && item.iteration == turn.iteration;
        self.items
            .iter()
            .rev()
            .filter(of_iteration)
            .find_map(|item| match &item.kind {
                ItemKind::Call(call) if call.check.is_some() => Some((item, &**call)),
                _ => None,
            })
    }

    pub(super) fn check_pauses(&mut self, command: &str) {
        let (item, call) = self.newest_check().expect("a check");
        assert_eq!(call.target, command);
        let failed = self.turn.as_ref().expect("a turn").done.failed;
        let may_not = item.status == ItemStatus::Rejected;
        assert!(
            failed >= TRIES || may_not,
            "it pauses after {failed} failures of the check"
        );
    }

    /// The person was asked, or is asked now.
    pub(super) fn check_counts_anew(&mut self) {
        if let Some(turn) = &mut self.turn {
            turn.done.failed = 0;
        }
    }

    pub(super) fn check_is_waived(&mut self) {
        if let Some(turn) = &mut self.turn {
            turn.done.allowed = true;
        }
    }

    pub(super) fn check_lets_go_on(&self) {
        let turn = self.turn.as_ref().expect("a turn");
        assert!(
            turn.done.failed < TRIES || turn.done.allowed,
            "the check failed {} times and nobody was asked",
            turn.done.failed
        );
    }

    /// The turn completes: its check has passed, or there is a reason why it need not.
    pub(super) fn is_checked(&mut self) {
        let turn = self.turn.as_ref().expect("a turn");
        let due = turn.done.changed && self.config.done_when.is_some();
        if !due || turn.finishing || self.config.parent.is_some() || self.step.is_none() {
            return;
        }
        if turn.done.allowed {
            self.see("check: the turn completes without it, allowed");
            return;
        }
        if self.config.role == Role::Plan {
            self.see("check: the turn completes, the role only looks");
            return;
        }
        let input = self.step.as_ref().map(|step| step.input.clone());
        let check = self.newest_check();
        let ended = check.is_some_and(|(item, _)| item.status == ItemStatus::Stopped);
        let by_person = matches!(
            input,
            Some(Input::Op(
                Op::EndCall { .. } | Op::Continue { .. } | Op::Send { .. } | Op::SendQueued { .. }
            ))
        );
        assert!(
            ended && by_person,
            "the turn completes without its check: {check:?} after {input:?}"
        );
        self.see("check: the turn completes, the person ended it");
    }
}
