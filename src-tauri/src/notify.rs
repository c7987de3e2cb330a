//! System notifications: shows what the core raises and takes back what it withdraws. A click brings the window to the
//! place. A system without notifications loses nothing but them.

use crate::window;
#[cfg(not(target_os = "macos"))]
use notify_rust::Urgency;
use notify_rust::{Notification, NotificationHandle, NotificationResponse};
use paddock_core::notices::{Notice, NoticeId, NoticeStep};
use paddock_protocol::{ItemId, SessionId};
use serde::Serialize;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tauri::{AppHandle, Emitter as _, Manager as _};

/// The page listens to this event and goes there.
const EVENT: &str = "navigate";

#[derive(Clone, Serialize)]
struct Destination {
    session: SessionId,
    #[serde(skip_serializing_if = "Option::is_none")]
    item: Option<ItemId>,
}

/// The name under which an installed Paddock is known to the system.
#[cfg(not(target_os = "linux"))]
const INSTALLED: &str = "dev.paddock.desktop";

/// Takes a notification back.
type Close = Box<dyn FnOnce() + Send>;

/// The notifications that are up; `None` while one is on its way to the screen.
#[derive(Default)]
pub struct Board(Mutex<HashMap<NoticeId, Option<Close>>>);

impl Board {
    fn lock(&self) -> MutexGuard<'_, HashMap<NoticeId, Option<Close>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Does what the core decided.
pub fn carry_out(app: &AppHandle, step: NoticeStep) {
    match step {
        NoticeStep::Waiting(waiting) => window::show_waiting(app, waiting),
        NoticeStep::Withdraw(id) => {
            let close = app.state::<Board>().lock().remove(&id);
            if let Some(Some(close)) = close {
                close();
            }
        }
        NoticeStep::Raise(notice) => {
            app.state::<Board>().lock().insert(notice.id, None);
            let app = app.clone();
            // Waiting for a click blocks, and forever when the system's own program for it dies: a thread for each.
            std::thread::spawn(move || show(&app, &notice));
        }
    }
}

fn show(app: &AppHandle, notice: &Notice) {
    let board = app.state::<Board>();
    match picture(notice).show() {
        Ok(handle) => {
            let (close, wait) = ends(handle);
            match board.lock().get_mut(&notice.id) {
                Some(place) => *place = Some(close),
                // Withdrawn while it was on its way.
                None => return close(),
            }
            if wait() {
                go_to(app, notice);
            }
        }
        Err(error) => tracing::warn!(%error, "a notification could not be shown"),
    }
    // A click alone leaves it on some screens.
    let close = board.lock().remove(&notice.id);
    if let Some(Some(close)) = close {
        close();
    }
}

/// The two ways in which a notification ends: it is taken back, or it is clicked or closed, for which the second blocks and
/// says whether it was clicked.
#[cfg(target_os = "linux")]
fn ends(handle: NotificationHandle) -> (Close, impl FnOnce() -> bool) {
    let handle = std::sync::Arc::new(handle);
    let closing = handle.clone();
    let close = move || {
        tauri::async_runtime::spawn(async move { closing.close_async().await });
    };
    let wait = move || {
        let mut clicked = false;
        tauri::async_runtime::block_on(
            handle.wait_for_action_async(|response| clicked = *response == NotificationResponse::Default),
        );
        clicked
    };
    (Box::new(close), wait)
}

/// Here a notification cannot be taken back: the system lets it go by itself after some seconds.
#[cfg(not(target_os = "linux"))]
fn ends(handle: NotificationHandle) -> (Close, impl FnOnce() -> bool) {
    let wait = move || {
        let mut clicked = false;
        let _ = handle.wait_for_response(|response: &NotificationResponse| {
            clicked = *response == NotificationResponse::Default;
        });
        clicked
    };
    (Box::new(|| ()), wait)
}

fn picture(notice: &Notice) -> Notification {
    let mut picture = Notification::new();
    picture
        .appname("Paddock")
        .summary(&notice.headline)
        .body(&body(&notice.body))
        .action("default", "Open");
    #[cfg(not(target_os = "macos"))]
    picture.urgency(if notice.low { Urgency::Low } else { Urgency::Normal });
    #[cfg(target_os = "linux")]
    picture.icon("paddock-desktop");
    // The system knows an installed program only.
    #[cfg(windows)]
    if !cfg!(debug_assertions) {
        picture.app_id(INSTALLED);
    }
    // Once for the program; a second time is refused and changes nothing.
    #[cfg(target_os = "macos")]
    let _ = notify_rust::set_application(if cfg!(debug_assertions) {
        "com.apple.Terminal"
    } else {
        INSTALLED
    });
    picture
}

/// The body as the system reads it: some read markup.
#[cfg(target_os = "linux")]
fn body(text: &str) -> String {
    let capabilities = notify_rust::get_capabilities().unwrap_or_default();
    if capabilities.iter().any(|capability| capability == "body-markup") {
        paddock_core::notices::escape_markup(text)
    } else {
        text.to_owned()
    }
}

#[cfg(not(target_os = "linux"))]
fn body(text: &str) -> String {
    text.to_owned()
}

fn go_to(app: &AppHandle, notice: &Notice) {
    window::bring_up(app);
    let destination = Destination {
        session: notice.session.clone(),
        item: notice.item,
    };
    if let Err(error) = app.emit(EVENT, destination) {
        tracing::warn!(%error, "the page was not told where to go");
    }
}
