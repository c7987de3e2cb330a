//! Background processes: a stop of the turn leaves them, a stop of everything and the end of the session do not.

use super::Draft;
use crate::session::input::Effect;
use paddock_protocol::*;

impl Draft<'_> {
    pub(super) fn process_started(&mut self, process: Process) {
        let known = self.live.processes.iter().any(|running| running.id == process.id);
        if !known {
            self.emit(EventMsg::ProcessStarted { process });
        }
    }

    pub(super) fn process_ended(&mut self, id: &ProcessId, end: ProcessEnd) {
        let running = self
            .live
            .processes
            .iter()
            .find(|process| process.id == *id)
            .cloned();
        if let Some(process) = running {
            self.emit(EventMsg::ProcessEnded {
                process: id.clone(),
                end,
            });
            self.note_item(ItemKind::ProcessEnded { process, end });
        }
    }

    pub(super) fn end_process(&mut self, id: ProcessId) {
        if self.live.processes.iter().any(|process| process.id == id) {
            self.effect(Effect::EndProcess {
                process: id,
                end: ProcessEnd::EndedByPerson,
            });
        } else {
            self.refuse(
                ErrorCode::NotFound,
                "This process has ended already.",
                "Nothing was changed.",
            );
        }
    }

    pub(super) fn stop_everything(&mut self) {
        self.empty_queue();
        self.stop_awaiting_folder();
        if self.turn().is_some() {
            self.stop_turn();
        }
        self.effect(Effect::EndAllProcesses);
    }

    /// They died with the program that ran them.
    pub(super) fn lose_processes(&mut self) {
        for process in self.live.processes.clone() {
            self.process_ended(&process.id, ProcessEnd::Lost);
        }
    }
}
