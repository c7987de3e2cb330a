//! The queue: a message waits in it until exactly one item delivers it or the person takes it out.

use paddock_protocol::*;
use std::collections::BTreeSet;

#[derive(Default)]
pub struct Waiting {
    pub queue: Queue,
    known: BTreeSet<u32>,
    delivered: BTreeSet<u32>,
}

impl Waiting {
    /// A message of the queue became an item.
    pub fn delivered(&mut self, id: u32, text: &str, starts: bool, op: Option<&Op>, live: bool) {
        assert!(
            self.delivered.insert(id),
            "the queued message {id} was delivered twice"
        );
        let at = self.queue.messages.iter().position(|message| message.id == id);
        let at = at.unwrap_or_else(|| panic!("the message {id} was not in the queue"));
        assert_eq!(
            self.queue.messages[at].text, text,
            "another text is delivered than waited"
        );
        if live {
            let wished = matches!(op, Some(Op::SendQueued { id: wished }) if *wished == id);
            let released = matches!(op, Some(Op::ReleaseQueue));
            assert!(
                wished || released || !self.queue.held,
                "a held queue sent its message by itself"
            );
            assert!(wished || starts && at == 0, "a queued message jumped the queue");
        }
        self.queue.messages.remove(at);
    }

    /// The queue is another one: only the person takes out, rewrites or reorders.
    pub fn changed(&mut self, queue: &Queue, op: Option<&Op>, live: bool) {
        let ids: BTreeSet<u32> = queue.messages.iter().map(|message| message.id).collect();
        assert_eq!(ids.len(), queue.messages.len(), "a message is in the queue twice");
        for id in &ids {
            assert!(
                !self.delivered.contains(id),
                "the delivered message {id} is in the queue again"
            );
        }
        let new: Vec<&QueuedMessage> = queue
            .messages
            .iter()
            .filter(|message| !self.known.contains(&message.id))
            .collect();
        if live {
            for message in &new {
                let sent = matches!(op, Some(Op::Send { text, .. }) if text.trim() == message.text);
                assert!(sent, "nobody sent the queued message {message:?}");
            }
            let kept: Vec<&QueuedMessage> = queue
                .messages
                .iter()
                .filter(|message| self.known.contains(&message.id))
                .collect();
            let same = kept.iter().copied().eq(self.queue.messages.iter());
            let by_person = matches!(op, Some(Op::SetQueue { .. } | Op::StopEverything));
            assert!(same || by_person, "the queue lost or changed a message");
            if let Some(Op::SetQueue { messages }) = op {
                assert_eq!(*messages, queue.messages);
            }
        }
        let greatest = self.known.iter().max().copied().unwrap_or(0);
        assert!(
            new.iter().all(|message| message.id > greatest),
            "a queue id was used again"
        );
        self.known.extend(ids);
        self.queue = queue.clone();
    }
}
