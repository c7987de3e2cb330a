//! Messages that wait until the turn has ended. A message leaves the queue with the very item that delivers it, so that
//! no crash loses it or sends it twice.

use super::Draft;
use crate::session::input::{Effect, Written};
use paddock_protocol::*;

impl Draft<'_> {
    pub(super) fn enqueue(&mut self, message: Written) {
        let mut queue = self.live.queue.clone();
        queue.messages.push(QueuedMessage {
            id: self.live.next_queued,
            text: message.text,
            images: message.images,
            effort: message.effort,
        });
        self.emit(EventMsg::QueueChanged { queue });
    }

    pub(super) fn set_queue(&mut self, messages: Vec<QueuedMessage>) {
        let mut known: Vec<u32> = self
            .live
            .queue
            .messages
            .iter()
            .map(|message| message.id)
            .collect();
        for message in &messages {
            let place = known.iter().position(|id| *id == message.id);
            match place {
                Some(place) if !message.text.trim().is_empty() => {
                    known.swap_remove(place);
                }
                Some(_) => {
                    self.refuse(
                        ErrorCode::BadRequest,
                        "A queued message is empty.",
                        "Write it anew, or remove it.",
                    );
                    return;
                }
                None => {
                    self.refuse(
                        ErrorCode::NotFound,
                        "A queued message was sent or removed meanwhile.",
                        "Nothing was changed. Look at the queue now.",
                    );
                    return;
                }
            }
        }
        let held = self.live.queue.held && !messages.is_empty();
        self.change_queue(Queue { messages, held });
    }

    fn change_queue(&mut self, queue: Queue) {
        if queue != self.live.queue {
            self.emit(EventMsg::QueueChanged { queue });
        }
    }

    pub(super) fn empty_queue(&mut self) {
        self.change_queue(Queue::default());
    }

    /// After a stop or a failure nothing is sent by itself.
    pub(super) fn hold_queue(&mut self) {
        let mut queue = self.live.queue.clone();
        queue.held = !queue.messages.is_empty();
        self.change_queue(queue);
    }

    pub(super) fn release_queue(&mut self) {
        let mut queue = self.live.queue.clone();
        queue.held = false;
        self.change_queue(queue);
        if self.turn().is_none() {
            self.send_next_queued();
        }
    }

    /// The first message of the queue begins the next turn.
    pub(super) fn send_next_queued(&mut self) {
        if self.live.queue.held || self.live.workflow.is_some() {
            return;
        }
        let Some(first) = self.live.queue.messages.first().cloned() else {
            return;
        };
        if self.folder_is_taken() {
            self.await_folder();
            return;
        }
        let id = first.id;
        self.start_turn(first.into(), Some(id));
    }

    pub(super) fn send_queued(&mut self, id: u32) {
        let found = self
            .live
            .queue
            .messages
            .iter()
            .find(|message| message.id == id)
            .cloned();
        let Some(message) = found else {
            self.refuse(
                ErrorCode::NotFound,
                "This message was sent or removed meanwhile.",
                "Nothing was changed.",
            );
            return;
        };
        self.deliver(message.into(), SendMode::NextIteration, Some(id));
    }

    /// Whether this session may not change the folder now because another one does.
    pub(super) fn folder_is_taken(&self) -> bool {
        self.around.folder_taken && self.live.config.role != Role::Plan
    }

    pub(super) fn await_folder(&mut self) {
        if !self.live.awaits_folder {
            self.emit(EventMsg::FolderAwaited { waiting: true });
        }
        self.effect(Effect::AwaitFolder);
    }

    pub(super) fn stop_awaiting_folder(&mut self) {
        if self.live.awaits_folder {
            self.emit(EventMsg::FolderAwaited { waiting: false });
            self.effect(Effect::StopAwaitingFolder);
        }
    }

    pub(super) fn folder_free(&mut self) {
        if !self.live.awaits_folder {
            return;
        }
        if self.folder_is_taken() {
            self.effect(Effect::AwaitFolder);
            return;
        }
        self.emit(EventMsg::FolderAwaited { waiting: false });
        if self.turn().is_none() {
            self.send_next_queued();
        }
    }
}
