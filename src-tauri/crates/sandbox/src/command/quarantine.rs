//! What was set aside after commands, as the person finds it later: listed, looked at, put back or thrown away. The list
//! lies in the state folder, so it outlives the program. Only what was looked at is put back, byte for byte.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::end::Quarantined;
use super::slot;
use super::spec::StateDir;
use crate::{PathError, ProjectRoot, RelativePath};

const MAX_LISTED: usize = 200;
const MAX_FILES: usize = 100;
/// Bytes of one entry that a person can be shown; more cannot be put back.
const MAX_SHOWN: usize = 1024 * 1024;
const MAX_LIST: u64 = 4 * 1024 * 1024;

/// Something that was set aside and was not decided about yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetAside {
    /// Its name in the quarantine; also `Quarantined::kept_as`.
    pub id: String,
    /// Where it was, relative to the project.
    pub path: String,
    /// One sentence: why.
    pub reason: String,
    /// When, in milliseconds since 1970.
    pub at: u64,
}

/// One file of an entry: what is kept, and what lies in its place now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetAsideFile {
    pub path: RelativePath,
    pub kept: Vec<u8>,
    pub executable: bool,
    pub now: Option<Vec<u8>>,
}

/// An entry as the person decides about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetAsideContent {
    pub entry: SetAside,
    /// Empty for what could not be kept, like a link.
    pub files: Vec<SetAsideFile>,
    /// Identity of everything shown; another one later means that something changed.
    pub hash: String,
}

/// Why an entry cannot be looked at or put back.
#[derive(Debug, thiserror::Error)]
pub enum QuarantineError {
    #[error("it is no longer set aside")]
    Gone,
    #[error("it is too much to be shown, so it cannot be put back here")]
    TooMuch,
    #[error("it was not kept, so it cannot be put back")]
    NotKept,
    #[error("it changed since it was looked at")]
    Changed,
    #[error("a command runs in this project, and would have it set aside again")]
    CommandRuns,
    #[error(transparent)]
    Path(#[from] PathError),
    #[error("Paddock's own folder cannot be used: {0}")]
    State(#[from] io::Error),
}

/// Adds what was just set aside to the list of its run.
pub(super) fn note(state: &StateDir, run: &str, moved: &[Quarantined]) -> io::Result<()> {
    let at = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let at = u64::try_from(at.as_millis()).unwrap_or(u64::MAX);
    let entries: Vec<SetAside> = moved
        .iter()
        .map(|one| SetAside {
            id: one.kept_as.clone(),
            path: one.path.clone(),
            reason: one.reason.clone(),
            at,
        })
        .collect();
    write_list(&list_of(state, run), &entries)
}

/// What waits for a decision, newest first; at most 200.
pub fn set_aside(state: &StateDir) -> Vec<SetAside> {
    let mut all: Vec<SetAside> = fs::read_dir(state.quarantine())
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.path().extension().is_some_and(|kind| kind == "json"))
        .flat_map(|entry| read_list(&entry.path()))
        .collect();
    all.sort_by(|one, other| other.at.cmp(&one.at).then_with(|| one.path.cmp(&other.path)));
    all.truncate(MAX_LISTED);
    all
}

/// An entry with everything that a decision about it needs.
///
/// # Errors
/// `Gone`, `TooMuch`, or what lies in its place cannot be read.
pub fn look_at_set_aside(
    root: &ProjectRoot,
    state: &StateDir,
    id: &str,
) -> Result<SetAsideContent, QuarantineError> {
    let entry = entry_of(state, id)?;
    let place = root.relative(&entry.path)?;
    let mut files = Vec::new();
    let mut left = MAX_SHOWN;
    collect(&state.quarantine().join(id), &place, &mut files, &mut left)?;
    let inside = root.with_git_internals();
    for file in &mut files {
        if inside.link_metadata(&file.path).is_ok() {
            let now = inside.read(&file.path, MAX_SHOWN as u64)?;
            left = left.checked_sub(now.len()).ok_or(QuarantineError::TooMuch)?;
            file.now = Some(now);
        }
    }
    let hash = identity(&files);
    Ok(SetAsideContent { entry, files, hash })
}

/// Puts back what was looked at; what lay there is replaced. It is no longer in the list then.
///
/// # Errors
/// Nothing was put back when it is `Changed`, `CommandRuns`, `NotKept` or `TooMuch`; a file that cannot be written ends it
/// between two files, and the entry stays.
pub fn put_back(root: &ProjectRoot, state: &StateDir, id: &str, hash: &str) -> Result<(), QuarantineError> {
    let shown = look_at_set_aside(root, state, id)?;
    if shown.hash != hash {
        return Err(QuarantineError::Changed);
    }
    if shown.files.is_empty() {
        return Err(QuarantineError::NotKept);
    }
    if slot::is_any_in_use(state) {
        return Err(QuarantineError::CommandRuns);
    }
    let inside = root.with_git_internals();
    for file in &shown.files {
        let mode = if file.executable { 0o755 } else { 0o644 };
        inside.restore(&file.path, &file.kept, Some(mode))?;
    }
    throw_away(state, id)
}

/// Removes an entry and what was kept of it.
///
/// # Errors
/// `Gone`, or the list cannot be written.
pub fn throw_away(state: &StateDir, id: &str) -> Result<(), QuarantineError> {
    entry_of(state, id)?;
    let (run, _) = id.split_once('/').ok_or(QuarantineError::Gone)?;
    let list = list_of(state, run);
    let left: Vec<SetAside> = read_list(&list)
        .into_iter()
        .filter(|entry| entry.id != id)
        .collect();
    if left.is_empty() {
        fs::remove_file(list)?;
    } else {
        write_list(&list, &left)?;
    }
    let kept = state.quarantine().join(id);
    // What was not kept has nothing there.
    let _ = if kept.is_dir() {
        fs::remove_dir_all(&kept)
    } else {
        fs::remove_file(&kept)
    };
    if left.is_empty() {
        let _ = fs::remove_dir_all(state.quarantine().join(run));
    }
    Ok(())
}

fn list_of(state: &StateDir, run: &str) -> PathBuf {
    state.quarantine().join(format!("{run}.json"))
}

/// The entry of the list: a name that is not there leads nowhere, whatever it says.
fn entry_of(state: &StateDir, id: &str) -> Result<SetAside, QuarantineError> {
    let (run, _) = id.split_once('/').ok_or(QuarantineError::Gone)?;
    if run.is_empty() || !run.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-') {
        return Err(QuarantineError::Gone);
    }
    let list = read_list(&list_of(state, run));
    list.into_iter()
        .find(|entry| entry.id == id)
        .ok_or(QuarantineError::Gone)
}

fn read_list(path: &Path) -> Vec<SetAside> {
    let is_small = fs::metadata(path).is_ok_and(|found| found.len() <= MAX_LIST);
    let text = is_small.then(|| fs::read(path).ok()).flatten();
    text.and_then(|text| serde_json::from_slice(&text).ok())
        .unwrap_or_default()
}

fn write_list(path: &Path, entries: &[SetAside]) -> io::Result<()> {
    let new = path.with_extension("new");
    fs::write(&new, serde_json::to_vec(entries)?)?;
    fs::rename(new, path)
}

fn collect(
    kept: &Path,
    place: &RelativePath,
    files: &mut Vec<SetAsideFile>,
    left: &mut usize,
) -> Result<(), QuarantineError> {
    let Ok(found) = fs::symlink_metadata(kept) else {
        return Ok(());
    };
    if found.is_dir() {
        let mut names: Vec<_> = fs::read_dir(kept)?
            .flatten()
            .map(|entry| entry.file_name())
            .collect();
        names.sort();
        for name in names {
            let inner = place.join(&name.to_string_lossy())?;
            collect(&kept.join(&name), &inner, files, left)?;
        }
        return Ok(());
    }
    let size = usize::try_from(found.len()).unwrap_or(usize::MAX);
    if files.len() == MAX_FILES {
        return Err(QuarantineError::TooMuch);
    }
    *left = left.checked_sub(size).ok_or(QuarantineError::TooMuch)?;
    files.push(SetAsideFile {
        path: place.clone(),
        kept: fs::read(kept)?,
        executable: is_executable(&found),
        now: None,
    });
    Ok(())
}

#[cfg(unix)]
fn is_executable(found: &fs::Metadata) -> bool {
    std::os::unix::fs::PermissionsExt::mode(&found.permissions()) & 0o111 != 0
}

#[cfg(not(unix))]
fn is_executable(_: &fs::Metadata) -> bool {
    false
}

fn identity(files: &[SetAsideFile]) -> String {
    let mut hash = Sha256::new();
    for file in files {
        let now = file.now.as_ref();
        let parts: [&[u8]; 4] = [
            file.path.as_str().as_bytes(),
            &file.kept,
            &[u8::from(file.executable), u8::from(now.is_some())],
            now.map_or(&[], Vec::as_slice),
        ];
        for part in parts {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::super::audit::Guard;
    use super::*;

    struct World {
        place: tempfile::TempDir,
        root: ProjectRoot,
        state: StateDir,
    }

    /// A project in which a command has just made a hook and changed the guide for agents.
    fn world() -> World {
        let place = tempfile::tempdir().unwrap();
        let project = place.path().join("project");
        fs::create_dir_all(project.join(".git/objects")).unwrap();
        fs::create_dir(project.join(".git/refs")).unwrap();
        fs::write(project.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        fs::write(project.join("AGENTS.md"), "mine").unwrap();
        let root = ProjectRoot::open(&project).unwrap();
        let state = StateDir::new(place.path().join("state"));
        let guard = Guard::of(&root);
        fs::create_dir(project.join(".git/hooks")).unwrap();
        fs::write(project.join(".git/hooks/pre-commit"), "#!/bin/sh\n").unwrap();
        #[cfg(unix)]
        fs::set_permissions(
            project.join(".git/hooks/pre-commit"),
            std::os::unix::fs::PermissionsExt::from_mode(0o755),
        )
        .unwrap();
        fs::write(project.join("AGENTS.md"), "theirs").unwrap();
        assert_eq!(guard.audit(&root, &state).len(), 2);
        World { place, root, state }
    }

    fn entry(world: &World, path: &str) -> SetAside {
        let all = set_aside(&world.state);
        all.into_iter().find(|entry| entry.path == path).unwrap()
    }

    #[test]
    fn what_was_set_aside_is_put_back_as_it_was_looked_at() {
        let world = world();
        let hook = world.place.path().join("project/.git/hooks/pre-commit");
        assert!(!hook.exists());
        let id = entry(&world, ".git/hooks/pre-commit").id;
        let shown = look_at_set_aside(&world.root, &world.state, &id).unwrap();
        assert_eq!(shown.files.len(), 1);
        assert_eq!(shown.files[0].kept, b"#!/bin/sh\n");
        assert_eq!(shown.files[0].now, None);
        put_back(&world.root, &world.state, &id, &shown.hash).unwrap();
        assert_eq!(fs::read_to_string(&hook).unwrap(), "#!/bin/sh\n");
        #[cfg(unix)]
        assert!(is_executable(&fs::metadata(&hook).unwrap()));
        assert!(matches!(
            put_back(&world.root, &world.state, &id, &shown.hash),
            Err(QuarantineError::Gone)
        ));
        assert_eq!(set_aside(&world.state).len(), 1, "the other one still waits");
    }

    #[test]
    fn what_changed_since_the_look_is_not_put_back() {
        let world = world();
        let guide = world.place.path().join("project/AGENTS.md");
        let id = entry(&world, "AGENTS.md").id;
        let shown = look_at_set_aside(&world.root, &world.state, &id).unwrap();
        assert_eq!(shown.files[0].now.as_deref(), Some(&b"mine"[..]));
        fs::write(&guide, "mine, newer").unwrap();
        let back = put_back(&world.root, &world.state, &id, &shown.hash);
        assert!(matches!(back, Err(QuarantineError::Changed)), "{back:?}");
        assert_eq!(fs::read_to_string(&guide).unwrap(), "mine, newer");
        fs::write(world.state.quarantine().join(&id), "swapped").unwrap();
        let back = put_back(&world.root, &world.state, &id, &shown.hash);
        assert!(matches!(back, Err(QuarantineError::Changed)), "{back:?}");
    }

    #[test]
    fn what_is_thrown_away_is_gone() {
        let world = world();
        for entry in set_aside(&world.state) {
            throw_away(&world.state, &entry.id).unwrap();
        }
        assert!(set_aside(&world.state).is_empty());
        assert_eq!(fs::read_dir(world.state.quarantine()).unwrap().count(), 0);
    }

    #[test]
    fn nothing_is_put_back_while_a_command_runs() {
        let world = world();
        let id = entry(&world, "AGENTS.md").id;
        let shown = look_at_set_aside(&world.root, &world.state, &id).unwrap();
        let slot = slot::Slot::take(&world.state).unwrap();
        let back = put_back(&world.root, &world.state, &id, &shown.hash);
        assert!(matches!(back, Err(QuarantineError::CommandRuns)), "{back:?}");
        drop(slot);
        put_back(&world.root, &world.state, &id, &shown.hash).unwrap();
    }

    #[test]
    fn a_name_that_is_in_no_list_leads_nowhere() {
        let world = world();
        fs::write(world.place.path().join("outside"), "x").unwrap();
        for id in [
            "../outside",
            "1-1/../../outside",
            "",
            "/etc/passwd",
            "1-1/AGENTS.md",
        ] {
            let looked = look_at_set_aside(&world.root, &world.state, id);
            assert!(matches!(looked, Err(QuarantineError::Gone)), "{id}");
            assert!(throw_away(&world.state, id).is_err(), "{id}");
        }
    }
}
