//! The index over the logs of all sessions: what a figure needs, in SQLite, so that a question reads no log twice. It is
//! derived and never a second truth: made when first asked for, brought up to date by reading only new lines, thrown away
//! when it is damaged or of another version. Where it cannot be kept (another program holds it, the disk is full) the same
//! tables are made in memory for the one question. A person never hears of it.

mod decided;
mod figures;
mod rows;
mod schema;

pub use decided::Decisions;
pub use rows::{Run, timed_out};

use crate::log::lengths;
use crate::{Home, LogEntry, LogReader, StoreError, disk};
use paddock_protocol::{DecisionLine, Metrics, MetricsQuery, SessionId, Timestamp, Usage};
use rows::Fold;
use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a question waits for another program that just brings the index up to date.
const PATIENCE: Duration = Duration::from_secs(2);
/// Sessions read between two commits: a first reading that is cut short keeps most of its work.
const BATCH: usize = 64;

/// Figures over the turns that the query names; `now` is what "the last days" count from.
pub fn metrics(home: &Home, query: &MetricsQuery, now: Timestamp) -> Result<Metrics, StoreError> {
    ask(home, |rows| figures::metrics(rows, query, now))
}

/// The decision log of the turns that the query names, newest first, at most `limit` lines.
pub fn decisions(
    home: &Home,
    query: &MetricsQuery,
    limit: u32,
    now: Timestamp,
) -> Result<Vec<DecisionLine>, StoreError> {
    ask(home, |rows| figures::decisions(rows, query, limit, now))
}

/// What all sessions have used since midnight, local time.
pub fn spent_today(home: &Home) -> Result<Usage, StoreError> {
    ask(home, figures::spent_today)
}

fn ask<T>(home: &Home, question: impl Fn(&Connection) -> rusqlite::Result<T>) -> Result<T, StoreError> {
    let path = home.index();
    for _ in 0..2 {
        match kept(home, &path).and_then(|rows| Ok(question(&rows)?)) {
            Ok(answer) => return Ok(answer),
            Err(StoreError::Index(error)) if is_damage(&error) => {
                tracing::warn!(%error, "the index is damaged and is made anew");
                throw_away(&path);
            }
            Err(error) => {
                tracing::warn!(%error, "the index cannot be kept; the logs are read for this question");
                break;
            }
        }
    }
    let mut rows = Connection::open_in_memory()?;
    schema::lay_out(&mut rows)?;
    feed(&mut rows, home)?;
    Ok(question(&rows)?)
}

/// The index on the disk, up to date.
fn kept(home: &Home, path: &Path) -> Result<Connection, StoreError> {
    disk::private_file()
        .create(true)
        .truncate(false)
        .open(path)
        .map_err(StoreError::io("opened", path))?;
    let mut rows = Connection::open(path)?;
    rows.busy_timeout(PATIENCE)?;
    // Readers do not wait for a writer, and a crash leaves at most an older state.
    rows.pragma_update(None, "journal_mode", "WAL")?;
    rows.pragma_update(None, "synchronous", "NORMAL")?;
    schema::lay_out(&mut rows)?;
    feed(&mut rows, home)?;
    Ok(rows)
}

/// Whether a new index would help. A table that is missing in an index of this version is damage too.
fn is_damage(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{
        CannotOpen, DatabaseBusy, DatabaseLocked, DiskFull, OutOfMemory, PermissionDenied, ReadOnly,
        SystemIoFailure,
    };
    !matches!(
        error.sqlite_error_code(),
        Some(
            CannotOpen
                | DatabaseBusy
                | DatabaseLocked
                | DiskFull
                | OutOfMemory
                | PermissionDenied
                | ReadOnly
                | SystemIoFailure
        )
    )
}

fn throw_away(path: &Path) {
    for ending in ["", "-wal", "-shm"] {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        if let Err(error) = std::fs::remove_file(PathBuf::from(name))
            && error.kind() != std::io::ErrorKind::NotFound
        {
            tracing::warn!(%error, "a damaged index could not be removed");
        }
    }
}

/// How far a session's log was read.
struct Place {
    key: i64,
    offset: u64,
}

/// Reads what the logs hold beyond the index, and forgets sessions that are gone.
fn feed(rows: &mut Connection, home: &Home) -> Result<(), StoreError> {
    let logs = lengths(home)?;
    let mut known = places(rows)?;
    let mut behind: Vec<&(SessionId, u64)> = Vec::new();
    for log in &logs {
        match known.remove(&log.0) {
            Some(place) if place.offset == log.1 => {}
            _ => behind.push(log),
        }
    }
    if !known.is_empty() {
        let change = rows.transaction_with_behavior(TransactionBehavior::Immediate)?;
        for place in known.values() {
            forget(&change, place.key)?;
        }
        change.commit()?;
    }
    for batch in behind.chunks(BATCH) {
        let change = rows.transaction_with_behavior(TransactionBehavior::Immediate)?;
        for (session, length) in batch {
            match read_on(&change, home, session, *length) {
                // A log that cannot be read costs its session's figures, not all figures.
                Err(StoreError::Io { source, .. }) => {
                    tracing::warn!(%session, error = %source, "a log could not be read for the index");
                }
                // Deleted since the list was made, or a stray folder.
                Err(StoreError::NotFound { .. } | StoreError::InvalidId { .. }) => {}
                other => other?,
            }
        }
        change.commit()?;
    }
    Ok(())
}

fn places(rows: &Connection) -> rusqlite::Result<HashMap<SessionId, Place>> {
    let mut found = rows.prepare("SELECT id, key, offset FROM sessions")?;
    let place = |row: &rusqlite::Row<'_>| {
        let offset = u64::try_from(row.get::<_, i64>(2)?).unwrap_or(0);
        Ok((
            SessionId::new(row.get::<_, String>(0)?),
            Place {
                key: row.get(1)?,
                offset,
            },
        ))
    };
    found.query_map([], place)?.collect()
}

/// Reads the new lines of one log. Looks up the place again: another program may have read on meanwhile.
fn read_on(rows: &Connection, home: &Home, session: &SessionId, length: u64) -> Result<(), StoreError> {
    let found: Option<(i64, i64, String)> = rows
        .query_row(
            "SELECT key, offset, fold FROM sessions WHERE id = ?",
            [session.as_str()],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
        )
        .optional()?;
    let known = found.and_then(|(key, offset, fold)| {
        let offset = u64::try_from(offset).ok()?;
        let fold = serde_json::from_str::<Fold>(&fold).ok()?;
        Some((key, offset, fold))
    });
    let (key, offset, mut fold) = match known {
        Some(known) if known.1 <= length => known,
        // A log that is shorter than what was read of it is another log.
        _ => begin(rows, session)?,
    };
    let mut reader = LogReader::open_at(home, session, offset)?;
    for entry in reader.by_ref() {
        if let LogEntry::Event(event) = entry? {
            rows::write(rows, key, &mut fold, &event)?;
        }
    }
    let offset = i64::try_from(reader.offset()).unwrap_or(i64::MAX);
    rows.prepare_cached("UPDATE sessions SET offset = ?, fold = ? WHERE key = ?")?
        .execute(params![offset, serde_json::to_string(&fold)?, key])?;
    Ok(())
}

fn begin(rows: &Connection, session: &SessionId) -> rusqlite::Result<(i64, u64, Fold)> {
    let old = rows
        .query_row(
            "SELECT key FROM sessions WHERE id = ?",
            [session.as_str()],
            |row| row.get(0),
        )
        .optional()?;
    if let Some(key) = old {
        forget(rows, key)?;
    }
    rows.execute(
        "INSERT INTO sessions (id, project, root, child, offset, fold) VALUES (?1, '', ?1, 0, 0, '')",
        [session.as_str()],
    )?;
    Ok((rows.last_insert_rowid(), 0, Fold::default()))
}

fn forget(rows: &Connection, session: i64) -> rusqlite::Result<()> {
    for table in schema::OF_A_SESSION {
        rows.execute(&format!("DELETE FROM {table} WHERE session = ?"), [session])?;
    }
    rows.execute("DELETE FROM sessions WHERE key = ?", [session])?;
    Ok(())
}
