//! The undo journal: what files held before a call changed them, what they held after, and, once a change was taken back,
//! what was there then, so that it can be made again. Content is on the disk before the file is touched.

use crate::{Home, StoreError, disk};
use paddock_protocol::{CallId, FileVersion, SessionId};
use serde::{Deserialize, Serialize};
use std::io::Write;
use std::path::{Path, PathBuf};

const JOURNAL: &str = "journal.jsonl";

/// One file that a call changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Before {
    /// Relative to the project.
    pub path: String,
    /// What it held; `None`: it was not there.
    pub content: Option<Vec<u8>>,
    /// Unix mode, when it was known.
    pub mode: Option<u32>,
    pub before: FileVersion,
    /// What the call left there. `None`: the call never said, so whether it changed the file is unknown.
    pub after: Option<FileVersion>,
    /// What was there when the change was taken back; `None`: it never was.
    pub undone: Option<Undone>,
}

/// The content that an undo replaced; a redo brings it back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undone {
    /// `None`: it was not there.
    pub content: Option<Vec<u8>>,
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "kept", rename_all = "snake_case")]
enum Line {
    Before {
        number: usize,
        path: String,
        mode: Option<u32>,
        version: FileVersion,
    },
    After {
        path: String,
        version: FileVersion,
    },
    Undone {
        path: String,
        version: FileVersion,
    },
}

/// The version of a file's content: its hash, or that it is absent.
pub fn version_of(content: Option<&[u8]>) -> FileVersion {
    content.map_or(FileVersion::Absent, |bytes| FileVersion::Content {
        hash: disk::hash(bytes),
    })
}

/// Keeps what a file held (`None`: it was not there) before a call changes it. Durable when it returns. Only the first time
/// counts for a call and a path: a later one would keep the call's own work.
pub fn keep_before(
    home: &Home,
    session: &SessionId,
    call: &CallId,
    path: &str,
    content: Option<&[u8]>,
    mode: Option<u32>,
) -> Result<(), StoreError> {
    let folder = home.before(session, call)?;
    let known = read_journal(&folder)?;
    let mut number = 0;
    for line in &known {
        if let Line::Before { path: other, .. } = line {
            if other == path {
                return Ok(());
            }
            number += 1;
        }
    }
    if let Some(bytes) = content {
        disk::replace(&kept(&folder, number, "before"), bytes, disk::Replace::Durable)?;
    }
    append(
        &folder,
        &Line::Before {
            number,
            path: path.to_owned(),
            mode,
            version: version_of(content),
        },
    )
}

/// Records what a call left in a file, so that an undo sees whether someone changed it since.
pub fn keep_after(
    home: &Home,
    session: &SessionId,
    call: &CallId,
    path: &str,
    version: FileVersion,
) -> Result<(), StoreError> {
    append(
        &home.before(session, call)?,
        &Line::After {
            path: path.to_owned(),
            version,
        },
    )
}

/// Keeps what an undo is about to replace, so that the change can be made again. Durable when it returns. The newest counts.
/// [`StoreError::NotFound`] when the call never kept that file.
pub fn keep_undone(
    home: &Home,
    session: &SessionId,
    call: &CallId,
    path: &str,
    content: Option<&[u8]>,
) -> Result<(), StoreError> {
    let folder = home.before(session, call)?;
    let number = read_journal(&folder)?
        .iter()
        .find_map(|line| match line {
            Line::Before {
                number, path: other, ..
            } if other == path => Some(*number),
            _ => None,
        })
        .ok_or_else(|| StoreError::NotFound {
            what: format!("kept state of {path} in call {call}"),
        })?;
    if let Some(bytes) = content {
        disk::replace(&kept(&folder, number, "undone"), bytes, disk::Replace::Durable)?;
    }
    append(
        &folder,
        &Line::Undone {
            path: path.to_owned(),
            version: version_of(content),
        },
    )
}

/// The files a call changed, in the order in which it changed them; none for a call that changed nothing. A file whose
/// kept content is lost or damaged is an error: a wrong undo is worse than none.
pub fn before_of(home: &Home, session: &SessionId, call: &CallId) -> Result<Vec<Before>, StoreError> {
    let folder = home.before(session, call)?;
    let mut files: Vec<(usize, Before, Option<FileVersion>)> = Vec::new();
    for line in read_journal(&folder)? {
        let (path, version, undone) = match line {
            Line::Before {
                number,
                path,
                mode,
                version,
            } => {
                let content = content_of(&folder, number, "before", &version)?;
                let file = Before {
                    path,
                    content,
                    mode,
                    before: version,
                    after: None,
                    undone: None,
                };
                files.push((number, file, None));
                continue;
            }
            Line::After { path, version } => (path, version, false),
            Line::Undone { path, version } => (path, version, true),
        };
        if let Some((_, file, last)) = files.iter_mut().find(|(_, file, _)| file.path == path) {
            if undone {
                *last = Some(version);
            } else {
                file.after = Some(version);
            }
        }
    }
    files
        .into_iter()
        .map(|(number, mut file, undone)| {
            if let Some(version) = undone {
                file.undone = Some(Undone {
                    content: content_of(&folder, number, "undone", &version)?,
                });
            }
            Ok(file)
        })
        .collect()
}

fn content_of(
    folder: &Path,
    number: usize,
    which: &str,
    version: &FileVersion,
) -> Result<Option<Vec<u8>>, StoreError> {
    if *version == FileVersion::Absent {
        return Ok(None);
    }
    let path = kept(folder, number, which);
    let bytes = disk::read(&path)?.filter(|bytes| version_of(Some(bytes)) == *version);
    bytes.map(Some).ok_or_else(|| StoreError::NotFound {
        what: format!("undamaged {}", path.display()),
    })
}

fn kept(folder: &Path, number: usize, which: &str) -> PathBuf {
    folder.join(format!("{number}.{which}"))
}

/// Lines of the journal; a line that is not whole never took effect.
fn read_journal(folder: &Path) -> Result<Vec<Line>, StoreError> {
    let Some(bytes) = disk::read(&folder.join(JOURNAL))? else {
        return Ok(Vec::new());
    };
    Ok(bytes
        .split(|byte| *byte == b'\n')
        .filter_map(|line| serde_json::from_slice(line).ok())
        .collect())
}

fn append(folder: &Path, line: &Line) -> Result<(), StoreError> {
    disk::make_folder(folder)?;
    let path = folder.join(JOURNAL);
    // The leading line end closes a line that a crash left torn; empty lines mean nothing.
    let mut bytes = vec![b'\n'];
    serde_json::to_writer(&mut bytes, line)?;
    bytes.push(b'\n');
    let is_new = !path.exists();
    let mut file = disk::private_file()
        .append(true)
        .create(true)
        .open(&path)
        .map_err(StoreError::io("opened", &path))?;
    file.write_all(&bytes)
        .and_then(|()| file.sync_data())
        .map_err(StoreError::io("written", &path))?;
    if is_new {
        let above = folder.ancestors().skip(1).take(2);
        for folder in std::iter::once(folder).chain(above) {
            disk::sync_folder(folder)?;
        }
    }
    Ok(())
}
