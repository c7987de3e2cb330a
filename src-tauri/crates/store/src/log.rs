//! The log of a session: one event per line, only ever appended, the only truth. Damage costs the damaged lines and
//! nothing else: a torn last line is cut off when the log is opened for writing, a damaged line before it is skipped,
//! counted, and stays in the file.

use crate::lock::{HeldLock, try_lock};
use crate::{Home, StoreError, disk};
use paddock_protocol::{Event, SessionId};
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;

const LOG: &str = "log.jsonl";
const TORN: &str = "log.torn";
/// A longer line is damage, not an event.
const MAX_LINE: u64 = 256 * 1024 * 1024;

/// How sure an event is when `append` returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// In the system's hands: survives a crash of the program, not a power cut. About 3 µs.
    Written,
    /// On the disk (fdatasync): survives a power cut too. 0.1 to 10 ms, by disk.
    Synced,
}

/// The last line of a log, cut off because it was never written whole. Its bytes are kept in `log.torn`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TornLine {
    /// Where it began, in bytes.
    pub offset: u64,
    /// Its length in bytes.
    pub length: u64,
}

/// Every session with a log, and the log's length in bytes.
pub(crate) fn lengths(home: &Home) -> Result<Vec<(SessionId, u64)>, StoreError> {
    let folder = home.sessions();
    let entries = match std::fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(StoreError::io("read", &folder)(error)),
    };
    let length = |entry: std::fs::DirEntry| {
        let session = SessionId::new(entry.file_name().into_string().ok()?);
        let facts = std::fs::metadata(home.session(&session).ok()?.join(LOG)).ok()?;
        facts.is_file().then_some((session, facts.len()))
    };
    Ok(entries.filter_map(|entry| length(entry.ok()?)).collect())
}

/// The one writer of a session's log. While it lives, no second one can be made, in no process.
#[derive(Debug)]
pub struct LogWriter {
    file: File,
    path: PathBuf,
    /// Length of the whole lines, in bytes.
    length: u64,
    line: Vec<u8>,
    broken: bool,
    _lock: HeldLock,
}

impl LogWriter {
    /// Begins the log of a new session. [`StoreError::AlreadyExists`] when there is one, [`StoreError::InUse`] when
    /// another writer just begins it.
    pub fn create(home: &Home, session: &SessionId) -> Result<LogWriter, StoreError> {
        let folder = home.session(session)?;
        disk::make_folder(&folder)?;
        let lock = try_lock(&folder.join("lock"), "This session")?;
        let path = folder.join(LOG);
        let file = disk::private_file()
            .create_new(true)
            .open(&path)
            .map_err(|error| match error.kind() {
                std::io::ErrorKind::AlreadyExists => StoreError::AlreadyExists {
                    what: format!("session {session}"),
                },
                _ => StoreError::io("created", &path)(error),
            })?;
        disk::sync_folder(&folder)?;
        disk::sync_folder(&home.sessions())?;
        Ok(LogWriter {
            file,
            path,
            length: 0,
            line: Vec::new(),
            broken: false,
            _lock: lock,
        })
    }

    /// Opens the log of a session to append to it, and cuts off a torn last line. [`StoreError::NotFound`] when there is
    /// no such session, [`StoreError::InUse`] while another writer lives.
    pub fn open(home: &Home, session: &SessionId) -> Result<(LogWriter, Option<TornLine>), StoreError> {
        let folder = home.session(session)?;
        let path = folder.join(LOG);
        if !path.is_file() {
            return Err(StoreError::NotFound {
                what: format!("session {session}"),
            });
        }
        let lock = try_lock(&folder.join("lock"), "This session")?;
        let mut file = disk::private_file()
            .read(true)
            .open(&path)
            .map_err(StoreError::io("opened", &path))?;
        let torn = torn_tail(&mut file).map_err(StoreError::io("read", &path))?;
        let length = match &torn {
            Some((torn, bytes)) => {
                keep_torn(&folder.join(TORN), bytes)?;
                file.set_len(torn.offset)
                    .and_then(|()| file.sync_data())
                    .map_err(StoreError::io("repaired", &path))?;
                tracing::warn!(%session, offset = torn.offset, length = torn.length, "a torn line was cut off");
                torn.offset
            }
            None => file.metadata().map_err(StoreError::io("read", &path))?.len(),
        };
        file.seek(SeekFrom::Start(length))
            .map_err(StoreError::io("read", &path))?;
        let writer = LogWriter {
            file,
            path,
            length,
            line: Vec::new(),
            broken: false,
            _lock: lock,
        };
        Ok((writer, torn.map(|(torn, _)| torn)))
    }

    /// Appends one event with one write. After an error the log holds exactly what it held before (a full disk is
    /// such an error and may be tried again), or it refuses everything more with [`StoreError::LogBroken`].
    pub fn append(&mut self, event: &Event, durability: Durability) -> Result<(), StoreError> {
        if self.broken {
            return Err(StoreError::LogBroken);
        }
        self.line.clear();
        serde_json::to_writer(&mut self.line, event)?;
        self.line.push(b'\n');
        if let Err(error) = self.file.write_all(&self.line) {
            let back = self
                .file
                .set_len(self.length)
                .and_then(|()| self.file.seek(SeekFrom::Start(self.length)));
            self.broken = back.is_err();
            return Err(StoreError::io("written", &self.path)(error));
        }
        self.length += self.line.len() as u64;
        if durability == Durability::Synced {
            self.sync()?;
        }
        Ok(())
    }

    /// Makes everything appended so far durable.
    pub fn sync(&mut self) -> Result<(), StoreError> {
        self.file.sync_data().map_err(|error| {
            // What a failed sync left on the disk is unknown, and a second sync would not tell.
            self.broken = true;
            StoreError::io("synced", &self.path)(error)
        })
    }

    /// Length of the log in bytes.
    pub fn length(&self) -> u64 {
        self.length
    }
}

/// The bytes after the last line end, if any.
fn torn_tail(file: &mut File) -> std::io::Result<Option<(TornLine, Vec<u8>)>> {
    const STEP: u64 = 64 * 1024;
    let end = file.metadata()?.len();
    let mut tail: Vec<u8> = Vec::new();
    let mut start = end;
    while start > 0 {
        let from = start.saturating_sub(STEP);
        let mut block = vec![0; (start - from) as usize];
        file.seek(SeekFrom::Start(from))?;
        file.read_exact(&mut block)?;
        let cut = block.iter().rposition(|byte| *byte == b'\n');
        let rest = block.split_off(cut.map_or(0, |at| at + 1));
        start -= rest.len() as u64;
        tail.splice(0..0, rest);
        if cut.is_some() {
            break;
        }
    }
    Ok((start < end).then(|| {
        (
            TornLine {
                offset: start,
                length: end - start,
            },
            tail,
        )
    }))
}

fn keep_torn(path: &std::path::Path, bytes: &[u8]) -> Result<(), StoreError> {
    let mut options = disk::private_file();
    let mut side = options
        .append(true)
        .create(true)
        .open(path)
        .map_err(StoreError::io("opened", path))?;
    side.write_all(bytes)
        .and_then(|()| side.write_all(b"\n"))
        .and_then(|()| side.sync_data())
        .map_err(StoreError::io("written", path))
}

/// A line that is no event. It stays in the log as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DamagedLine {
    /// Counted from 1.
    pub line: u64,
    /// Where it begins, in bytes.
    pub offset: u64,
    /// Its length in bytes, without the line end.
    pub length: u64,
    /// What is wrong with it.
    pub why: String,
}

/// One line of a log.
#[derive(Clone, Debug, PartialEq)]
pub enum LogEntry {
    Event(Box<Event>),
    Damaged(DamagedLine),
}

/// A whole log.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Replay {
    pub events: Vec<Event>,
    pub damaged: Vec<DamagedLine>,
}

/// Reads a log from its beginning; a line that is not ended yet is left out. About 2 µs per small event. Needs no lock.
#[derive(Debug)]
pub struct LogReader {
    reader: BufReader<File>,
    path: PathBuf,
    buffer: Vec<u8>,
    line: u64,
    offset: u64,
    failed: bool,
}

impl LogReader {
    /// Opens the log of a session. [`StoreError::NotFound`] when there is none.
    pub fn open(home: &Home, session: &SessionId) -> Result<LogReader, StoreError> {
        Self::open_at(home, session, 0)
    }

    /// Opens it behind the lines that were read before: `offset` is a former [`LogReader::offset`]. Damaged lines are then
    /// counted from there.
    pub(crate) fn open_at(home: &Home, session: &SessionId, offset: u64) -> Result<LogReader, StoreError> {
        let path = home.session(session)?.join(LOG);
        let mut file = File::open(&path).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => StoreError::NotFound {
                what: format!("session {session}"),
            },
            _ => StoreError::io("opened", &path)(error),
        })?;
        file.seek(SeekFrom::Start(offset))
            .map_err(StoreError::io("read", &path))?;
        let reader = BufReader::with_capacity(64 * 1024, file);
        Ok(LogReader {
            reader,
            path,
            buffer: Vec::new(),
            line: 0,
            offset,
            failed: false,
        })
    }

    /// Where the next line begins, in bytes.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// Everything, with the damaged lines beside the events.
    pub fn replay(self) -> Result<Replay, StoreError> {
        let mut replay = Replay::default();
        for entry in self {
            match entry? {
                LogEntry::Event(event) => replay.events.push(*event),
                LogEntry::Damaged(damaged) => replay.damaged.push(damaged),
            }
        }
        Ok(replay)
    }

    fn read_line(&mut self) -> std::io::Result<Option<LogEntry>> {
        self.buffer.clear();
        (&mut self.reader)
            .take(MAX_LINE)
            .read_until(b'\n', &mut self.buffer)?;
        let mut length = self.buffer.len() as u64;
        let why = if self.buffer.last() == Some(&b'\n') {
            self.buffer.pop();
            match serde_json::from_slice(&self.buffer) {
                Ok(event) => {
                    self.line += 1;
                    self.offset += length;
                    return Ok(Some(LogEntry::Event(Box::new(event))));
                }
                Err(error) => error.to_string(),
            }
        } else if length < MAX_LINE {
            return Ok(None);
        } else {
            length += self.reader.skip_until(b'\n')? as u64;
            format!("longer than {MAX_LINE} bytes")
        };
        self.line += 1;
        let damaged = DamagedLine {
            line: self.line,
            offset: self.offset,
            length: length - 1,
            why,
        };
        self.offset += length;
        Ok(Some(LogEntry::Damaged(damaged)))
    }
}

impl Iterator for LogReader {
    type Item = Result<LogEntry, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        self.read_line()
            .map_err(|error| {
                self.failed = true;
                StoreError::io("read", &self.path)(error)
            })
            .transpose()
    }
}
