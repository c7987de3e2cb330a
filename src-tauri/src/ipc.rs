//! The commands the page may call. Each one is thin: take typed arguments, ask the core, give a typed answer.

use crate::desk::{Desk, Wish};
use crate::window;
use paddock_protocol::{ClientError, Event, Reply, Request, SessionId, SessionSnapshot};
use tauri::ipc::Channel;
use tauri::{AppHandle, State};

/// Asks the core. Its work is off the window's thread.
#[tauri::command]
pub async fn request(app: AppHandle, desk: State<'_, Desk>, request: Request) -> Result<Reply, ClientError> {
    let deleted = match &request {
        Request::DeleteSession { session } => Some(session.clone()),
        _ => None,
    };
    let reply = desk.paddock()?.request(request).await?;
    if let Some(session) = deleted {
        desk.deleted(session);
    }
    if let Reply::Project { project } = &reply {
        desk.entered(project);
        window::show_project(&app, &project.name);
    }
    Ok(reply)
}

/// Watches a session: the state now, and every event after it through the channel until [`detach`].
#[tauri::command]
pub async fn attach(
    desk: State<'_, Desk>,
    session: SessionId,
    channel: Channel<Vec<Event>>,
) -> Result<SessionSnapshot, ClientError> {
    let page = desk.views.page();
    let (snapshot, events) = desk.paddock()?.attach(&session).await?;
    desk.looked_at(&session);
    desk.views.open(page, session, events, channel);
    Ok(snapshot)
}

/// Ends the oldest watch of a session. Not async, so that it cannot overtake or be overtaken by a new [`attach`].
#[tauri::command]
pub fn detach(desk: State<'_, Desk>, session: SessionId) {
    desk.views.end(&session);
}

/// What the page should open first: as the program's arguments say, or where it was before it loaded again.
#[tauri::command]
pub fn start(desk: State<'_, Desk>) -> Wish {
    desk.begin()
}
