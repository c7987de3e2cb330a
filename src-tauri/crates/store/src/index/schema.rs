//! The tables of the index. Every row of a turn holds when that turn began (`began`, milliseconds), so that a question
//! about some days is one comparison. `sessions.fold` is where the reading of a log stands besides its offset.

use rusqlite::Connection;

/// Raised whenever a table or the meaning of a column changes; an index of another version is made anew.
const VERSION: i32 = 2;

const TABLES: &str = "
CREATE TABLE sessions (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    project TEXT NOT NULL,
    root TEXT NOT NULL,
    child INTEGER NOT NULL,
    offset INTEGER NOT NULL,
    fold TEXT NOT NULL
);
CREATE TABLE turns (
    session INTEGER NOT NULL,
    turn INTEGER NOT NULL,
    began INTEGER NOT NULL,
    without_model INTEGER NOT NULL,
    end TEXT,
    iterations INTEGER,
    active INTEGER,
    waiting INTEGER,
    limit_hit INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (session, turn)
) WITHOUT ROWID;
CREATE TABLE requests (
    session INTEGER NOT NULL,
    turn INTEGER NOT NULL,
    iteration INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    began INTEGER NOT NULL,
    at INTEGER NOT NULL,
    model TEXT NOT NULL,
    input INTEGER NOT NULL DEFAULT 0,
    cached INTEGER NOT NULL DEFAULT 0,
    output INTEGER NOT NULL DEFAULT 0,
    reasoning INTEGER NOT NULL DEFAULT 0,
    estimated INTEGER NOT NULL DEFAULT 0,
    cache_write INTEGER NOT NULL DEFAULT 0,
    cost INTEGER NOT NULL DEFAULT 0,
    unpriced INTEGER NOT NULL DEFAULT 0,
    lost INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (session, turn, iteration, attempt)
) WITHOUT ROWID;
CREATE TABLE calls (
    session INTEGER NOT NULL,
    call TEXT NOT NULL,
    began INTEGER NOT NULL,
    tool TEXT NOT NULL,
    ran INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    timed_out INTEGER NOT NULL,
    duration INTEGER,
    by_rule INTEGER NOT NULL,
    undone INTEGER NOT NULL,
    PRIMARY KEY (session, call)
) WITHOUT ROWID;
CREATE TABLE approvals (
    session INTEGER NOT NULL,
    approval TEXT NOT NULL,
    began INTEGER NOT NULL,
    requested INTEGER NOT NULL,
    outcome TEXT,
    edited INTEGER NOT NULL DEFAULT 0,
    decided INTEGER,
    reason TEXT,
    PRIMARY KEY (session, approval)
) WITHOUT ROWID;
CREATE TABLE notes (
    session INTEGER NOT NULL,
    item INTEGER NOT NULL,
    began INTEGER NOT NULL,
    kind TEXT NOT NULL,
    PRIMARY KEY (session, item)
) WITHOUT ROWID;
CREATE TABLE decisions (
    session INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    began INTEGER NOT NULL,
    at INTEGER NOT NULL,
    line TEXT NOT NULL,
    PRIMARY KEY (session, seq)
) WITHOUT ROWID;
CREATE INDEX decisions_by_time ON decisions (at DESC);
";

/// The tables with rows of a session.
pub const OF_A_SESSION: [&str; 6] = ["turns", "requests", "calls", "approvals", "notes", "decisions"];

/// Lays out the tables; what another version of Paddock left is thrown away.
pub fn lay_out(connection: &mut Connection) -> rusqlite::Result<()> {
    let version = |c: &Connection| c.pragma_query_value(None, "user_version", |row| row.get::<_, i32>(0));
    if version(connection)? == VERSION {
        return Ok(());
    }
    // Another program may do the same at this moment: looked at again behind the lock.
    let change = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    if version(&change)? != VERSION {
        let old: Vec<String> = change
            .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")?
            .query_map([], |row| row.get(0))?
            .collect::<rusqlite::Result<_>>()?;
        for table in old {
            change.execute_batch(&format!("DROP TABLE \"{}\"", table.replace('"', "\"\"")))?;
        }
        change.execute_batch(TABLES)?;
        change.pragma_update(None, "user_version", VERSION)?;
    }
    change.commit()
}
