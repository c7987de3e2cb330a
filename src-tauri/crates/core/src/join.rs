//! How events reach a view: text deltas that follow each other are joined, and what gathered within one frame goes
//! as one batch. A view draws a frame at most this often, and one message per token would freeze it.

use paddock_protocol::{Event, EventMsg};
use std::time::Duration;
use tokio::sync::mpsc;

/// Events of an attached session, in order.
pub type Events = mpsc::UnboundedReceiver<Event>;

/// Text of one batch at most, in bytes; more goes as a further batch.
pub const BATCH_BYTES: usize = 64 * 1024;
/// What an event without streamed text counts.
const EVENT_BYTES: usize = 512;

/// Events that wait for the next frame.
#[derive(Debug, Default)]
pub struct Batch {
    events: Vec<Event>,
    bytes: usize,
    /// Where the text of the newest event ends, in UTF-16 units.
    end: u32,
}

impl Batch {
    /// Adds an event; a delta that continues the newest one becomes part of it.
    pub fn push(&mut self, event: Event) {
        let EventMsg::ItemDelta { text, offset, .. } = &event.msg else {
            self.bytes += EVENT_BYTES;
            self.events.push(event);
            return;
        };
        self.bytes += text.len();
        let length = u32::try_from(text.encode_utf16().count()).unwrap_or(u32::MAX);
        let follows = *offset == self.end;
        self.end = offset.saturating_add(length);
        match self.events.last_mut() {
            Some(last) if follows && same_place(last, &event) => append(last, text),
            _ => self.events.push(event),
        }
    }

    /// Whether it holds as much as one message should.
    pub fn is_full(&self) -> bool {
        self.bytes >= BATCH_BYTES
    }

    /// The events so far; the batch is empty then.
    pub fn take(&mut self) -> Vec<Event> {
        self.bytes = 0;
        std::mem::take(&mut self.events)
    }
}

/// Whether both are deltas of one channel of one item, with nothing durable between them.
fn same_place(last: &Event, next: &Event) -> bool {
    let place = |event: &Event| match &event.msg {
        EventMsg::ItemDelta { item, channel, .. } => Some((*item, *channel)),
        _ => None,
    };
    last.session == next.session && last.seq == next.seq && place(last) == place(next)
}

fn append(last: &mut Event, more: &str) {
    if let EventMsg::ItemDelta { text, .. } = &mut last.msg {
        text.push_str(more);
    }
}

/// Delivers the events of a session, one batch per frame, until the session ends or `deliver` says that the view is gone.
/// The first event after a pause goes at once; `frame` is asked after each batch how long the next one may gather.
pub async fn pump(
    mut events: Events,
    frame: impl Fn() -> Duration,
    mut deliver: impl FnMut(Vec<Event>) -> bool,
) {
    let mut batch = Batch::default();
    while let Some(first) = events.recv().await {
        batch.push(first);
        while let Ok(next) = events.try_recv() {
            batch.push(next);
            if batch.is_full() && !deliver(batch.take()) {
                return;
            }
        }
        let rest = batch.take();
        if !rest.is_empty() && !deliver(rest) {
            return;
        }
        tokio::time::sleep(frame()).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use paddock_protocol::*;

    fn delta(item: u32, channel: DeltaChannel, offset: u32, text: &str) -> Event {
        event(EventMsg::ItemDelta {
            item: ItemId(item),
            channel,
            offset,
            text: text.to_owned(),
        })
    }

    fn event(msg: EventMsg) -> Event {
        Event {
            session: SessionId::new("s"),
            seq: 7,
            at: Timestamp(1),
            msg,
        }
    }

    fn joined(events: impl IntoIterator<Item = Event>) -> Vec<Event> {
        let mut batch = Batch::default();
        events.into_iter().for_each(|event| batch.push(event));
        batch.take()
    }

    #[test]
    fn text_that_follows_directly_is_joined_by_utf16_length() {
        let events = joined([
            delta(1, DeltaChannel::Text, 0, "né 🌱"),
            delta(1, DeltaChannel::Text, 5, " grows"),
            delta(1, DeltaChannel::Text, 11, "."),
        ]);
        assert_eq!(events, [delta(1, DeltaChannel::Text, 0, "né 🌱 grows.")]);
    }

    #[test]
    fn a_gap_another_channel_another_item_or_an_event_between_keeps_them_apart() {
        let apart = [
            delta(1, DeltaChannel::Stdout, 0, "ab"),
            delta(1, DeltaChannel::Stdout, 3, "d"),
            delta(1, DeltaChannel::Stderr, 4, "e"),
            delta(2, DeltaChannel::Stderr, 5, "f"),
            event(EventMsg::QueueChanged {
                queue: Queue::default(),
            }),
            delta(2, DeltaChannel::Stderr, 6, "g"),
        ];
        assert_eq!(joined(apart.clone()), apart);
    }

    #[test]
    fn text_of_another_moment_of_the_log_is_not_joined() {
        let mut later = delta(1, DeltaChannel::Text, 1, "b");
        later.seq = 8;
        let events = [delta(1, DeltaChannel::Text, 0, "a"), later];
        assert_eq!(joined(events.clone()), events);
    }

    async fn pumped(events: Vec<Event>, batches: usize) -> Vec<Vec<Event>> {
        let (send, receive) = mpsc::unbounded_channel();
        for event in events {
            send.send(event).unwrap();
        }
        drop(send);
        let mut seen = Vec::new();
        pump(
            receive,
            || Duration::from_millis(1),
            |batch| {
                seen.push(batch);
                seen.len() < batches
            },
        )
        .await;
        seen
    }

    #[tokio::test]
    async fn a_thousand_words_that_wait_go_as_one_event() {
        let words = (0..1_000).map(|n| delta(1, DeltaChannel::Text, n * 2, "a "));
        let seen = pumped(words.collect(), usize::MAX).await;
        assert_eq!(seen, [[delta(1, DeltaChannel::Text, 0, &"a ".repeat(1_000))]]);
    }

    #[tokio::test]
    async fn a_flood_is_cut_into_batches_and_nothing_is_lost() {
        let line = "x".repeat(10_000);
        let flood = (0..20).map(|n| delta(1, DeltaChannel::Stdout, n * 10_000, &line));
        let seen = pumped(flood.collect(), usize::MAX).await;
        let lengths: Vec<usize> = seen
            .iter()
            .flatten()
            .map(|event| match &event.msg {
                EventMsg::ItemDelta { text, .. } => text.len(),
                _ => 0,
            })
            .collect();
        assert_eq!(lengths, [70_000, 70_000, 60_000]);
    }

    #[tokio::test]
    async fn the_pump_ends_when_the_view_is_gone() {
        let line = "x".repeat(BATCH_BYTES);
        let flood = (0..5).map(|n| delta(n, DeltaChannel::Stdout, 0, &line));
        assert_eq!(pumped(flood.collect(), 2).await.len(), 2);
    }
}
