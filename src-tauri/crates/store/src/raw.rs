//! What was sent to a model's server and what came back, as it was: the last exchanges of a session, for a person who looks
//! into them. Worth less than the log: not synced, bounded, and gone with the session.

use crate::{Home, StoreError, disk};
use paddock_protocol::{RawExchange, SessionId, Timestamp, TurnId};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Exchanges that are kept of a session.
pub const KEPT: usize = 60;

/// An exchange to be kept; the texts are written as they are, without a copy.
#[derive(Clone, Copy, Debug)]
pub struct Exchange<'a> {
    pub attempt: u32,
    pub at: Timestamp,
    pub address: &'a str,
    pub status: Option<u16>,
    /// Bytes that were left out.
    pub cut: u64,
    pub request: &'a [u8],
    pub response: &'a [u8],
}

/// The first line of a kept file; the request and the response follow it.
#[derive(Serialize, Deserialize)]
struct Head {
    attempt: u32,
    at: Timestamp,
    address: String,
    status: Option<u16>,
    cut: u64,
    request_bytes: usize,
}

/// Keeps one exchange, and lets go of the oldest beyond [`KEPT`].
pub fn keep(
    home: &Home,
    session: &SessionId,
    turn: TurnId,
    iteration: u32,
    exchange: &Exchange<'_>,
) -> Result<(), StoreError> {
    let folder = home.raw(session)?;
    let all = names(&folder)?;
    let number = all.last().map_or(1, |(number, _)| number + 1);
    let name = format!("{number:08}-{turn}.i{iteration}", turn = turn.0);
    let head = Head {
        attempt: exchange.attempt,
        at: exchange.at,
        address: exchange.address.to_owned(),
        status: exchange.status,
        cut: exchange.cut,
        request_bytes: exchange.request.len(),
    };
    let mut head = serde_json::to_vec(&head)?;
    head.push(b'\n');
    disk::make_folder(&folder)?;
    let path = folder.join(name);
    let written = disk::private_file()
        .create_new(true)
        .open(&path)
        .and_then(|mut file| {
            file.write_all(&head)?;
            file.write_all(exchange.request)?;
            file.write_all(exchange.response)
        });
    written.map_err(StoreError::io("written", &path))?;
    for (_, old) in all.iter().take((all.len() + 1).saturating_sub(KEPT)) {
        fs::remove_file(old).map_err(StoreError::io("removed", old))?;
    }
    Ok(())
}

/// The exchanges of an iteration that are still kept, oldest first.
pub fn read(
    home: &Home,
    session: &SessionId,
    turn: TurnId,
    iteration: u32,
) -> Result<Vec<RawExchange>, StoreError> {
    let ending = format!("-{}.i{iteration}", turn.0);
    let mut exchanges = Vec::new();
    for (_, path) in names(&home.raw(session)?)? {
        let fits = path
            .file_name()
            .is_some_and(|name| name.to_string_lossy().ends_with(&ending));
        if !fits {
            continue;
        }
        if let Some(bytes) = disk::read(&path)? {
            exchanges.extend(whole(&bytes));
        }
    }
    Ok(exchanges)
}

/// None for a file that was not written to its end.
fn whole(bytes: &[u8]) -> Option<RawExchange> {
    let line = bytes.iter().position(|byte| *byte == b'\n')?;
    let head: Head = serde_json::from_slice(&bytes[..line]).ok()?;
    let (request, response) = bytes.get(line + 1..)?.split_at_checked(head.request_bytes)?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Some(RawExchange {
        attempt: head.attempt,
        at: head.at,
        address: head.address,
        request: text(request),
        response: text(response),
        status: head.status,
        cut: head.cut,
    })
}

/// The kept files in the order in which they were made.
fn names(folder: &Path) -> Result<Vec<(u64, PathBuf)>, StoreError> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(StoreError::io("listed", folder)(error)),
    };
    let numbered = |path: PathBuf| {
        let name = path.file_name()?.to_str()?;
        Some((name.split_once('-')?.0.parse().ok()?, path))
    };
    let mut names: Vec<(u64, PathBuf)> = entries.filter_map(|entry| numbered(entry.ok()?.path())).collect();
    names.sort();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_are_kept_and_found_by_their_iteration() {
        let place = tempfile::tempdir().unwrap();
        let home = Home::open(Some(place.path().join("home"))).unwrap();
        let session = SessionId::new("s1");
        assert_eq!(read(&home, &session, TurnId(1), 1).unwrap(), []);
        let exchange = |attempt| Exchange {
            attempt,
            at: Timestamp(u64::from(attempt)),
            address: "POST http://x",
            status: Some(200),
            cut: 0,
            request: b"{\n}",
            response: b"data: 1\n",
        };
        for n in 1..=70_u32 {
            keep(&home, &session, TurnId(1), n / 2, &exchange(n)).unwrap();
        }
        assert_eq!(read(&home, &session, TurnId(1), 4).unwrap(), []);
        let kept = read(&home, &session, TurnId(1), 30).unwrap();
        let attempts: Vec<u32> = kept.iter().map(|exchange| exchange.attempt).collect();
        assert_eq!(attempts, [60, 61]);
        assert_eq!(
            (kept[0].request.as_str(), kept[0].response.as_str()),
            ("{\n}", "data: 1\n")
        );
        assert_eq!(names(&home.raw(&session).unwrap()).unwrap().len(), KEPT);
    }
}
