//! File operations that all parts share: private folders, atomic replacing, reading of records that may be damaged.

use crate::StoreError;
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// A record that was read; `kept_aside` is where a damaged file was moved when the default took its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loaded<T> {
    pub value: T,
    pub kept_aside: Option<PathBuf>,
}

/// Creates a folder and what is missing above it, readable by the owner only.
pub(crate) fn make_folder(path: &Path) -> Result<(), StoreError> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path).map_err(StoreError::io("created", path))
}

/// Options of a file that only the owner may read.
pub(crate) fn private_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Makes the names in a folder durable. Not possible on Windows, where renames are journaled by the file system.
pub(crate) fn sync_folder(path: &Path) -> Result<(), StoreError> {
    if cfg!(unix) {
        File::open(path)
            .and_then(|folder| folder.sync_all())
            .map_err(StoreError::io("synced", path))?;
    }
    Ok(())
}

/// Whether a replaced file must survive a power cut.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Replace {
    Durable,
    /// For records that can be made again.
    Derived,
}

/// Writes a whole file so that a reader sees either the old or the new content.
pub(crate) fn replace(path: &Path, bytes: &[u8], how: Replace) -> Result<(), StoreError> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let folder = path.parent().unwrap_or(Path::new("."));
    make_folder(folder)?;
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let temporary = folder.join(format!(".{name}.{}-{number}.tmp", std::process::id()));
    let written = write_new(&temporary, bytes, how)
        .and_then(|()| fs::rename(&temporary, path).map_err(StoreError::io("replaced", path)));
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
        return written;
    }
    if how == Replace::Durable {
        sync_folder(folder)
    } else {
        Ok(())
    }
}

fn write_new(path: &Path, bytes: &[u8], how: Replace) -> Result<(), StoreError> {
    let mut file = private_file()
        .create(true)
        .truncate(true)
        .open(path)
        .map_err(StoreError::io("created", path))?;
    file.write_all(bytes).map_err(StoreError::io("written", path))?;
    if how == Replace::Durable {
        file.sync_data().map_err(StoreError::io("synced", path))?;
    }
    Ok(())
}

/// Writes a record as JSON.
pub(crate) fn save<T: Serialize>(path: &Path, value: &T, how: Replace) -> Result<(), StoreError> {
    let mut bytes = serde_json::to_vec_pretty(value)?;
    bytes.push(b'\n');
    replace(path, &bytes, how)
}

/// Reads a whole file; none when it is not there.
pub(crate) fn read(path: &Path) -> Result<Option<Vec<u8>>, StoreError> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(StoreError::io("read", path)(error)),
    }
}

/// Reads a JSON record. A missing file is the default; a damaged one is moved to `<name>.damaged-<seconds>.json` beside it
/// and reported, so that nothing a person set is thrown away.
pub(crate) fn load<T: DeserializeOwned + Default>(path: &Path) -> Result<Loaded<T>, StoreError> {
    let Some(bytes) = read(path)? else {
        return Ok(Loaded {
            value: T::default(),
            kept_aside: None,
        });
    };
    match serde_json::from_slice(&bytes) {
        Ok(value) => Ok(Loaded {
            value,
            kept_aside: None,
        }),
        Err(error) => {
            let aside = damaged_name(path);
            fs::rename(path, &aside).map_err(StoreError::io("kept aside", path))?;
            tracing::warn!(line = error.line(), kept_aside = %aside.display(), "a damaged record was kept aside");
            Ok(Loaded {
                value: T::default(),
                kept_aside: Some(aside),
            })
        }
    }
}

fn damaged_name(path: &Path) -> PathBuf {
    let seconds = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs());
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let mut number = 0;
    loop {
        let more = if number == 0 {
            String::new()
        } else {
            format!("-{number}")
        };
        let candidate = path.with_file_name(format!("{stem}.damaged-{seconds}{more}.json"));
        if !candidate.exists() {
            return candidate;
        }
        number += 1;
    }
}

/// Lower-case hex SHA-256.
pub(crate) fn hash(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .map(|digit| char::from(DIGITS[usize::from(digit)]))
        .collect()
}
