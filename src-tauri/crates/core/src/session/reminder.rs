//! The person's words of this turn once more, at the end of a request with results. A model with a small window that calls in its
//! text loses sight of them after the first result: it goes on with what it saw last, or says that all is done.

use super::state::SessionState;
use super::words;
use paddock_protocol::{Delivery, ItemKind};
use paddock_provider::{Asked, Message, ModelRequest, reminder};

/// Longer words are not said again.
const MAX_WORDS: usize = 500;

/// Adds the reminder where one helps. Only the last message changes, so what a server keeps of the prompt is kept.
pub fn remind(request: &mut ModelRequest) {
    let Some((asked, reminder)) = request.asked.as_ref().zip(reminder(request)) else {
        return;
    };
    let words = words::reminder(&asked.words, reminder);
    match request.messages.last_mut() {
        Some(Message::User { text, .. }) => {
            text.push_str("\n\n");
            text.push_str(&words);
        }
        _ => request.messages.push(Message::User {
            text: words,
            images: Vec::new(),
        }),
    }
}

/// What the person said in this turn, on one line; none where it is too long to be said again.
pub fn asked(state: &SessionState) -> Option<Asked> {
    let turn = state.live.turn.as_ref()?;
    let mut of_turn = state.items.iter().filter(|item| item.turn == turn.turn);
    let texts = of_turn.clone().filter_map(|item| match &item.kind {
        ItemKind::UserMessage {
            text,
            delivery: Delivery::Start | Delivery::Steer { .. },
            ..
        } => Some(text),
        _ => None,
    });
    let words: Vec<&str> = texts.flat_map(|text| text.split_whitespace()).collect();
    let all = words.join(" ");
    let is_short = all.chars().count() <= MAX_WORDS;
    (is_short && !all.is_empty()).then(|| Asked {
        words: all.into(),
        is_begun: of_turn.any(|item| matches!(item.kind, ItemKind::Call(_))),
        is_changed: !turn.changed_files.is_empty(),
    })
}
