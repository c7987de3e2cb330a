//! Taking back the file changes of one call, and making them again. What the person changed since is kept.

use crate::session::executor::Workplace;
use paddock_protocol::{CallId, FileVersion, UndoResult, UndoneFile};
use paddock_sandbox::{ProjectRoot, RelativePath};
use paddock_store::before::{self, Before};

/// Files above this size are not read for an undo.
const MAX_BYTES: u64 = 64 << 20;

pub fn mode_of(root: &ProjectRoot, path: &RelativePath) -> Option<u32> {
    root.metadata(path).ok().map(|metadata| metadata.mode)
}

/// Restores the files of a call. Never fails as a whole: each file says what became of it.
pub fn take_back(place: &Workplace, call: &CallId, redo: bool) -> Vec<UndoneFile> {
    let kept = match before::before_of(&place.home, &place.session, call) {
        Ok(kept) => kept,
        Err(error) => {
            tracing::warn!(%error, "what the files held before a call could not be read");
            let path = "(what Paddock kept of this call cannot be read)".to_owned();
            return vec![UndoneFile {
                path,
                result: UndoResult::Failed,
            }];
        }
    };
    kept.iter()
        .rev()
        .map(|file| UndoneFile {
            path: file.path.clone(),
            result: one_file(place, call, file, redo),
        })
        .collect()
}

fn one_file(place: &Workplace, call: &CallId, file: &Before, redo: bool) -> UndoResult {
    let root = &place.root;
    let Ok(path) = root.relative(&file.path) else {
        return UndoResult::Failed;
    };
    let now = if root.exists(&path) {
        match root.read(&path, MAX_BYTES) {
            Ok(content) => Some(content),
            Err(_) => return UndoResult::Failed,
        }
    } else {
        None
    };
    let now_version = before::version_of(now.as_deref());
    let (expected, target): (Option<&FileVersion>, Option<&[u8]>) = if redo {
        let Some(undone) = &file.undone else {
            return UndoResult::Failed;
        };
        (Some(&file.before), undone.content.as_deref())
    } else {
        (file.after.as_ref(), file.content.as_deref())
    };
    if expected.is_none_or(|expected| *expected != now_version) {
        return UndoResult::KeptNewer;
    }
    if !redo && before::keep_undone(&place.home, &place.session, call, &file.path, now.as_deref()).is_err() {
        return UndoResult::Failed;
    }
    let done = match target {
        Some(content) => root
            .restore(&path, content, file.mode)
            .map(|()| UndoResult::Restored),
        None if now.is_none() => Ok(UndoResult::Removed),
        None => root.remove_file(&path).map(|()| UndoResult::Removed),
    };
    done.unwrap_or(UndoResult::Failed)
}
