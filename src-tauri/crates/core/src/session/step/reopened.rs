//! After a restart: what ran has an unknown outcome and is never run again by itself; what waited still waits.

use super::Draft;
use super::turn::ended_status;
use crate::session::words;
use paddock_protocol::*;

impl Draft<'_> {
    pub(super) fn reopened(&mut self) {
        self.lose_processes();
        self.stop_awaiting_folder();
        let Some(turn) = self.turn() else {
            self.after_the_end();
            return;
        };
        if let Some(end) = turn.ended {
            self.set_status(ended_status(end));
            self.after_the_end();
            return;
        }
        if matches!(turn.status, TurnStatus::Paused { .. }) {
            return;
        }
        if !turn.has_task {
            // It died before it was told what to do: whoever asked was not answered, and a queued message still waits.
            self.end_turn(TurnEnd::Stopped);
            return;
        }
        // It may have died again before all was put right.
        let again = turn.status == TurnStatus::Interrupted;
        // What a workflow calls needs no answer of a model.
        let answered = turn.without_model || self.is_answered(turn);
        let calls: Vec<_> = turn
            .calls
            .iter()
            .filter(|call| !call.is_final())
            .cloned()
            .collect();
        // First, so that the time without the program does not count as work.
        self.set_status(TurnStatus::Interrupted);
        self.close_streams();
        let mut unknown = Vec::new();
        if !answered {
            self.drop_streamed();
        }
        for call in calls {
            if answered && call.status == ItemStatus::Running && !self.is_question(&call) {
                unknown.push(call.call.clone());
                self.withdraw_nested(&call, |_| true);
                self.close_call(&call, ItemStatus::OutcomeUnknown, words::OUTCOME_UNKNOWN);
            }
        }
        // It may have died between a change of the role and what follows from it.
        self.judge_waiting();
        if !again || !unknown.is_empty() {
            self.note_item(ItemKind::Recovery { unknown });
        }
    }

    /// Nothing was going on: nothing begins by itself either.
    fn after_the_end(&mut self) {
        self.hold_queue();
        self.end_workflow(WorkflowEnd::Stopped);
    }
}
