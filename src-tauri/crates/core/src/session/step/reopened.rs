//! After a restart: what ran has an unknown outcome and is never run again by itself; what waited still waits.

use super::Draft;
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
        if matches!(turn.status, TurnStatus::Paused { .. } | TurnStatus::Interrupted) {
            return;
        }
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
        for call in calls {
            if !answered {
                self.change_call(call.item, ItemStatus::Stopped, |_| {});
            } else if call.status == ItemStatus::Running && !self.is_question(&call) {
                unknown.push(call.call.clone());
                self.withdraw_nested(&call, |_| true);
                self.close_call(&call, ItemStatus::OutcomeUnknown, words::OUTCOME_UNKNOWN);
            }
        }
        self.note_item(ItemKind::Recovery { unknown });
    }

    /// Nothing was going on: nothing begins by itself either.
    fn after_the_end(&mut self) {
        self.hold_queue();
        self.end_workflow(WorkflowEnd::Stopped);
    }
}
