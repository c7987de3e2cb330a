//! The streams to the page: one pump per watched session, at the pace at which the window can draw.

use paddock_core::join::{Events, pump};
use paddock_core::notices::Attention;
use paddock_protocol::{Event, SessionId};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tauri::async_runtime::JoinHandle;
use tauri::ipc::Channel;

/// Text reads as well as at the pace of the screen and costs less than half; the first event after a pause goes at once.
const FRAME: Duration = Duration::from_millis(40);
/// The pace while the person looks at another window.
const SLOW_FRAME: Duration = Duration::from_millis(100);

/// All open streams of the window.
pub struct Views {
    open: Mutex<Open>,
    attention: Attention,
    focused: Arc<AtomicBool>,
}

#[derive(Default)]
struct Open {
    /// Counts the pages that were loaded, so that an attach of a page that is gone opens nothing.
    page: u64,
    /// In the order in which they began.
    pumps: Vec<(SessionId, JoinHandle<()>)>,
}

/// Tells the notices for how long a session is shown, also when its pump is ended from outside.
struct Shown(Attention, SessionId);

impl Drop for Shown {
    fn drop(&mut self) {
        self.0.hidden(self.1.clone());
    }
}

impl Views {
    pub fn new(attention: Attention) -> Self {
        Self {
            open: Mutex::default(),
            attention,
            focused: Arc::default(),
        }
    }

    /// The page that is loaded now.
    pub fn page(&self) -> u64 {
        self.lock().page
    }

    /// Sends the events of a session to a page until the session ends, the page is gone or [`Views::end`] is called.
    pub fn open(&self, page: u64, session: SessionId, events: Events, channel: Channel<Vec<Event>>) {
        let mut open = self.lock();
        if open.page != page {
            return;
        }
        self.attention.shown(session.clone());
        let shown = Shown(self.attention.clone(), session.clone());
        let focused = self.focused.clone();
        let task = tauri::async_runtime::spawn(async move {
            let _shown = shown;
            let frame = || {
                if focused.load(Ordering::Relaxed) {
                    FRAME
                } else {
                    SLOW_FRAME
                }
            };
            pump(events, frame, |batch| channel.send(batch).is_ok()).await;
        });
        open.pumps.push((session, task));
    }

    /// Ends the oldest stream of a session: a page that attaches again ends the older one of the two.
    pub fn end(&self, session: &SessionId) {
        let mut open = self.lock();
        if let Some(at) = open.pumps.iter().position(|(of, _)| of == session) {
            open.pumps.remove(at).1.abort();
        }
    }

    /// Ends all streams; the page they led to is gone.
    pub fn end_all(&self) {
        let mut open = self.lock();
        open.page += 1;
        for (_, task) in open.pumps.drain(..) {
            task.abort();
        }
    }

    /// The window got or lost the focus.
    pub fn focus(&self, focused: bool) {
        self.focused.store(focused, Ordering::Relaxed);
        self.attention.focus(focused);
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
