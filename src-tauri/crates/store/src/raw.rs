//! What was sent to a model's server and what came back, as it was: the last exchanges of a session, for a person who looks
//! into them. Worth less than the log: not synced, bounded, and gone with the session.

use crate::{Home, StoreError, disk};
use paddock_protocol::{RawExchange, SessionId, TurnId};
use std::fs;
use std::path::{Path, PathBuf};

/// Exchanges that are kept of a session.
pub const KEPT: usize = 60;

/// Keeps one exchange, and lets go of the oldest beyond [`KEPT`].
pub fn keep(
    home: &Home,
    session: &SessionId,
    turn: TurnId,
    iteration: u32,
    exchange: &RawExchange,
) -> Result<(), StoreError> {
    let folder = home.raw(session)?;
    let number = newest(&folder)?.map_or(1, |(number, _)| number + 1);
    let name = format!("{number:08}-{turn}.i{iteration}.json", turn = turn.0);
    disk::replace(
        &folder.join(name),
        &serde_json::to_vec(exchange)?,
        disk::Replace::Derived,
    )?;
    let all = names(&folder)?;
    for (_, old) in all.iter().take(all.len().saturating_sub(KEPT)) {
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
    let ending = format!("-{}.i{iteration}.json", turn.0);
    let mut exchanges = Vec::new();
    for (_, path) in names(&home.raw(session)?)? {
        let fits = path
            .file_name()
            .is_some_and(|name| name.to_string_lossy().ends_with(&ending));
        if !fits {
            continue;
        }
        if let Some(bytes) = disk::read(&path)? {
            exchanges.push(serde_json::from_slice(&bytes)?);
        }
    }
    Ok(exchanges)
}

fn newest(folder: &Path) -> Result<Option<(u64, PathBuf)>, StoreError> {
    Ok(names(folder)?.pop())
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
    use paddock_protocol::Timestamp;

    #[test]
    fn the_newest_are_kept_and_found_by_their_iteration() {
        let place = tempfile::tempdir().unwrap();
        let home = Home::open(Some(place.path().join("home"))).unwrap();
        let session = SessionId::new("s1");
        assert_eq!(read(&home, &session, TurnId(1), 1).unwrap(), []);
        let exchange = |attempt| RawExchange {
            attempt,
            at: Timestamp(u64::from(attempt)),
            address: "POST http://x".into(),
            request: "{}".into(),
            response: String::new(),
            status: None,
            cut: 0,
        };
        for n in 1..=70_u32 {
            keep(&home, &session, TurnId(1), n / 2, &exchange(n)).unwrap();
        }
        assert_eq!(read(&home, &session, TurnId(1), 5).unwrap(), []);
        assert_eq!(
            read(&home, &session, TurnId(1), 30).unwrap(),
            [exchange(60), exchange(61)]
        );
        assert_eq!(names(&home.raw(&session).unwrap()).unwrap().len(), KEPT);
    }
}
