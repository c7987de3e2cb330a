//! The audit trail: every action in the logs of sessions as one flat line each, for people and programs outside of
//! Paddock. Read from the logs themselves, never from the index. Deliberately absent: what files hold, what the model
//! wrote, arguments; what looks like a key is masked.

mod line;
mod mask;
mod trail;

pub use line::{AuditLine, rfc3339};
pub use mask::mask;

use paddock_protocol::{MetricsQuery, SessionId, Timestamp};
use paddock_store::{Home, LogEntry, LogReader, StoreError};
use trail::Trail;

/// Hands over every action of the sessions that the query names (a session with its sub-agents), session by session in the
/// order in which they began, until `take` returns false. `days` counts back from `now` to the action itself.
pub fn audit(
    home: &Home,
    query: &MetricsQuery,
    now: Timestamp,
    take: &mut dyn FnMut(AuditLine) -> bool,
) -> Result<(), StoreError> {
    let days = query.days.map(|days| u64::from(days) * 24 * 60 * 60 * 1_000);
    let since = Timestamp(days.map_or(0, |days| now.0.saturating_sub(days)));
    let mut sessions = paddock_store::sessions::list_sessions(home, query.project.as_deref())?;
    sessions.sort_by(|one, other| (one.created, &one.session).cmp(&(other.created, &other.session)));
    for summary in sessions {
        let parent = summary.parent.as_ref().map(|parent| &parent.session);
        let asked = |session: &SessionId| *session == summary.session || Some(session) == parent;
        if summary.changed < since || !query.session.as_ref().is_none_or(asked) {
            continue;
        }
        let mut trail = Trail::default();
        for entry in LogReader::open(home, &summary.session)? {
            let LogEntry::Event(event) = entry? else {
                continue;
            };
            for line in trail.hear(&event) {
                if event.at >= since && !take(line) {
                    return Ok(());
                }
            }
        }
    }
    Ok(())
}
