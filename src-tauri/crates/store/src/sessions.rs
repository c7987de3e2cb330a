//! The list of sessions. A summary is derived: it may be missing or old, and is then made again from the log.

use crate::lock::try_lock;
use crate::{Home, LogEntry, LogReader, StoreError, disk};
use paddock_protocol::{EventMsg, SessionId, SessionSummary, Timestamp, Usage};
use std::fs;
use std::path::Path;

const SUMMARY: &str = "summary.json";
/// Begins the name of a folder whose deletion has begun.
const DELETED: &str = ".deleted-";

/// Replaces the summary of a session. Not synced: it can be made again.
pub fn write_summary(home: &Home, summary: &SessionSummary) -> Result<(), StoreError> {
    let folder = home.session(&summary.session)?;
    if !folder.is_dir() {
        return Err(StoreError::NotFound {
            what: format!("session {}", summary.session),
        });
    }
    disk::save(&folder.join(SUMMARY), summary, disk::Replace::Derived)
}

/// The sessions of one project, or all; the one changed last comes first. What cannot be read is left out.
pub fn list_sessions(home: &Home, project: Option<&str>) -> Result<Vec<SessionSummary>, StoreError> {
    let folder = home.sessions();
    let entries = match fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(StoreError::io("read", &folder)(error)),
    };
    let mut sessions: Vec<SessionSummary> = entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter_map(|name| summary_of(home, &SessionId::new(name)))
        .filter(|summary| project.is_none_or(|project| summary.project == project))
        .collect();
    sessions.sort_by(|one, other| {
        other
            .changed
            .cmp(&one.changed)
            .then_with(|| other.session.cmp(&one.session))
    });
    Ok(sessions)
}

/// Deletes a session with everything kept for it. [`StoreError::InUse`] while its log is written.
pub fn delete_session(home: &Home, session: &SessionId) -> Result<(), StoreError> {
    let folder = home.session(session)?;
    if !folder.is_dir() {
        return Err(StoreError::NotFound {
            what: format!("session {session}"),
        });
    }
    let lock = try_lock(&folder.join("lock"), "This session")?;
    // Renamed first: a deletion that is cut short leaves no half session in the list.
    let doomed = home.sessions().join(format!("{DELETED}{session}"));
    // Windows does not rename a folder with an open file in it.
    #[cfg(windows)]
    drop(lock);
    fs::rename(&folder, &doomed).map_err(StoreError::io("deleted", &folder))?;
    #[cfg(not(windows))]
    drop(lock);
    sweep(home);
    Ok(())
}

/// Removes what deletions left, also those that a crash cut short; what resists is tried again next time.
fn sweep(home: &Home) {
    let Ok(entries) = fs::read_dir(home.sessions()) else {
        return;
    };
    for entry in entries.flatten() {
        if entry.file_name().to_string_lossy().starts_with(DELETED)
            && let Err(error) = fs::remove_dir_all(entry.path())
        {
            tracing::warn!(%error, "a deleted session could not be removed yet");
        }
    }
}

fn summary_of(home: &Home, session: &SessionId) -> Option<SessionSummary> {
    let folder = home.session(session).ok()?;
    let read = disk::read(&folder.join(SUMMARY)).ok()?;
    let summary = read.and_then(|bytes| serde_json::from_slice::<SessionSummary>(&bytes).ok());
    summary
        .filter(|summary| summary.session == *session)
        .or_else(|| from_log(home, session, &folder))
}

/// A summary made from the log. Nobody waits for an answer here: that is known once the session is opened.
fn from_log(home: &Home, session: &SessionId, folder: &Path) -> Option<SessionSummary> {
    let mut summary: Option<SessionSummary> = None;
    for entry in LogReader::open(home, session).ok()? {
        let Ok(LogEntry::Event(event)) = entry else {
            continue;
        };
        if let EventMsg::SessionCreated { config, .. } = &event.msg {
            summary = Some(SessionSummary {
                session: session.clone(),
                project: config.project.clone(),
                title: config.title.clone(),
                created: event.at,
                changed: Timestamp::default(),
                status: None,
                waiting: 0,
                iteration: 0,
                usage: Usage::default(),
                parent: config.parent.clone(),
            });
        }
        let Some(summary) = &mut summary else { continue };
        summary.changed = event.at;
        match event.msg {
            EventMsg::SessionChanged { config } => summary.title = config.title,
            EventMsg::TurnStarted { .. } => summary.iteration = 0,
            EventMsg::TurnChanged { status, .. } => summary.status = Some(status),
            EventMsg::IterationStarted { iteration, .. } => summary.iteration = iteration,
            EventMsg::IterationAnswered { usage, .. }
            | EventMsg::AttemptLost { usage, .. }
            | EventMsg::SubAgentUsed { usage, .. } => summary.usage.add(&usage),
            _ => {}
        }
    }
    if let Some(summary) = &summary
        && folder.is_dir()
    {
        let _ = write_summary(home, summary);
    }
    summary
}
