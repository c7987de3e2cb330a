//! Keeps the notices up to date: hears the events of all open sessions, where the person looks, and the clock.

use super::{NoticeStep, Notices, Sight};
use crate::Paddock;
use crate::session::actor::now;
use paddock_protocol::{Reply, Request, SessionId};
use std::time::Duration;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::mpsc;

enum Look {
    Focus(bool),
    Shown(SessionId),
    Hidden(SessionId),
    Gone(SessionId),
}

/// Tells [`watch`] where the person looks. Cheap to clone.
#[derive(Clone)]
pub struct Attention(mpsc::UnboundedSender<Look>);

/// The other end, for [`watch`].
pub struct Looks(mpsc::UnboundedReceiver<Look>);

/// The two ends of what is known about the person's attention; nothing is focused and nothing shown at first.
pub fn attention() -> (Attention, Looks) {
    let (send, receive) = mpsc::unbounded_channel();
    (Attention(send), Looks(receive))
}

impl Attention {
    /// The window got or lost the focus.
    pub fn focus(&self, focused: bool) {
        let _ = self.0.send(Look::Focus(focused));
    }

    /// A view of this session opened.
    pub fn shown(&self, session: SessionId) {
        let _ = self.0.send(Look::Shown(session));
    }

    /// A view of this session closed.
    pub fn hidden(&self, session: SessionId) {
        let _ = self.0.send(Look::Hidden(session));
    }

    /// The session was deleted.
    pub fn gone(&self, session: SessionId) {
        let _ = self.0.send(Look::Gone(session));
    }
}

impl Sight {
    fn changed(&self, look: &Look) -> Sight {
        let mut sight = self.clone();
        match look {
            Look::Focus(focused) => sight.focused = *focused,
            Look::Shown(session) => sight.sessions.push(session.clone()),
            Look::Hidden(session) => {
                if let Some(at) = sight.sessions.iter().position(|shown| shown == session) {
                    sight.sessions.remove(at);
                }
            }
            Look::Gone(session) => sight.sessions.retain(|shown| shown != session),
        }
        sight
    }
}

/// Carries out every step until the last [`Attention`] is gone.
pub async fn watch(paddock: Paddock, mut looks: Looks, mut carry_out: impl FnMut(NoticeStep)) {
    let mut events = paddock.all_events();
    let mut notices = Notices::default();
    loop {
        for step in notices.act(now(), paddock.settings().notifications) {
            carry_out(step);
        }
        let wait = notices.due().map(|due| due.since(now()).as_duration());
        tokio::select! {
            look = looks.0.recv() => {
                let Some(look) = look else { return };
                notices.look(notices.sight.changed(&look), now());
                if let Look::Gone(session) = look {
                    notices.forget(&session);
                }
            }
            event = events.recv() => match event {
                Ok(event) if notices.knows(&event.session) => notices.hear(&event),
                Ok(event) => meet(&paddock, &mut notices, event.session).await,
                Err(RecvError::Lagged(_)) => {
                    for session in notices.known() {
                        meet(&paddock, &mut notices, session).await;
                    }
                }
                Err(RecvError::Closed) => return,
            },
            () = tokio::time::sleep(wait.unwrap_or(Duration::MAX)), if wait.is_some() => {}
        }
    }
}

async fn meet(paddock: &Paddock, notices: &mut Notices, session: SessionId) {
    if let Ok(Reply::Session { snapshot }) = paddock.request(Request::OpenSession { session }).await {
        notices.meet(&snapshot, now());
    }
}
