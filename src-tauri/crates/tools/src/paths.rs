//! Path arguments: what they name, what touching them means, and failures in words for the model.

use crate::{CallContext, ToolError};
use paddock_protocol::{Access, ProtectedPlace};
use paddock_sandbox::{PathError, ProjectRoot, ProtectionKind, RelativePath};

/// The path an argument names. A path that leaves the project is an error for the model.
pub(crate) fn locate(cx: &CallContext, argument: &str) -> Result<RelativePath, ToolError> {
    cx.root.relative(argument).map_err(failure)
}

/// The same for an argument that may be left out: the project folder.
pub(crate) fn locate_or_root(cx: &CallContext, argument: Option<&str>) -> Result<RelativePath, ToolError> {
    match argument {
        None | Some("") => Ok(RelativePath::root()),
        Some(argument) => locate(cx, argument),
    }
}

/// The project as far as this call may change it.
pub(crate) fn root_of(cx: &CallContext) -> ProjectRoot {
    match (cx.read_only, cx.protected_granted) {
        (true, _) => cx.root.read_only(),
        (false, true) => cx.root.with_git_internals(),
        (false, false) => cx.root.clone(),
    }
}

/// What reading a path touches. Of the protected places, only those that hold secrets matter to a reader.
pub(crate) fn reads(cx: &CallContext, path: &RelativePath) -> Vec<Access> {
    let mut access = vec![Access::Read {
        path: path.to_string(),
    }];
    if let Some(place) = place_of(&cx.root, path).filter(|place| *place == ProtectedPlace::SecretFile) {
        access.push(Access::Protected {
            path: path.to_string(),
            write: false,
            place,
        });
    }
    access
}

/// What writing a path touches.
pub(crate) fn writes(cx: &CallContext, path: &RelativePath) -> Vec<Access> {
    let write = Access::Write {
        path: path.to_string(),
    };
    with_protection(cx, path, write)
}

/// What removing a path touches.
pub(crate) fn deletes(cx: &CallContext, path: &RelativePath) -> Vec<Access> {
    let delete = Access::Delete {
        path: path.to_string(),
    };
    with_protection(cx, path, delete)
}

fn with_protection(cx: &CallContext, path: &RelativePath, access: Access) -> Vec<Access> {
    let mut access = vec![access];
    if let Some(place) = place_of(&cx.root, path) {
        access.push(Access::Protected {
            path: path.to_string(),
            write: true,
            place,
        });
    }
    access
}

/// Whether a file that turned up in a search may not be shown without being asked for by name.
pub(crate) fn is_hidden_secret(cx: &CallContext, path: &RelativePath) -> bool {
    !cx.protected_granted && place_of(&cx.root, path) == Some(ProtectedPlace::SecretFile)
}

/// Why a path is protected.
pub(crate) fn place_of(root: &ProjectRoot, path: &RelativePath) -> Option<ProtectedPlace> {
    Some(match root.protection(path)?.kind {
        ProtectionKind::GitInternals => ProtectedPlace::GitInternals,
        ProtectionKind::PaddockSettings => ProtectedPlace::PaddockSettings,
        ProtectionKind::AgentInstructions => ProtectedPlace::AgentInstructions,
        ProtectionKind::LoginScript => ProtectedPlace::LoginScript,
        ProtectionKind::EditorTasks => ProtectedPlace::EditorTasks,
        ProtectionKind::SecretFile => ProtectedPlace::SecretFile,
    })
}

/// A failure of the file access: for the model, unless nothing can go on.
pub(crate) fn failure(error: PathError) -> ToolError {
    let text = sentence(&error.to_string());
    match error {
        PathError::NoSpace { .. } => ToolError::Fatal(text),
        _ => ToolError::Model(text),
    }
}

/// A text as a sentence: a capital first, a full stop last.
pub(crate) fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let Some(first) = letters.next() else {
        return String::new();
    };
    let mut result: String = first.to_uppercase().chain(letters).collect();
    if !result.ends_with(['.', '!', '?']) {
        result.push('.');
    }
    result
}
