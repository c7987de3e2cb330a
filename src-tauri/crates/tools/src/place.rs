//! The place that a path argument names: in the project, or outside of it, where a person must allow it first. Until then
//! nothing about an outside place is told, not even whether something is there; and afterwards the model reads no more of
//! its path than it wrote itself.

use crate::paths::{self, sentence};
use crate::{CallContext, ToolError};
use paddock_protocol::{Access, FileVersion, ProtectedPlace};
use paddock_sandbox::{Kind, OutsidePath, PathError, PathPlace, ProjectRoot, RelativePath};
use std::path::Path;

/// Names that an error shows of a folder.
const MAX_NEAR: usize = 20;

/// What an argument names; nothing is opened yet.
pub(crate) enum Named {
    Inside(RelativePath),
    Outside(Outside),
}

/// A place outside of the project that a person may be asked about.
pub(crate) struct Outside {
    /// As the model wrote it.
    name: String,
    at: OutsidePath,
}

/// A place that may be opened by this call.
pub(crate) struct Place {
    /// The project, or exactly the place outside of it.
    pub(crate) root: ProjectRoot,
    pub(crate) path: RelativePath,
    /// For a place outside: its name for the model, and its real path.
    outside: Option<(String, String)>,
}

/// What an argument names, for reading or for writing a file. What nobody may allow is an error.
pub(crate) fn named(cx: &CallContext, argument: &str, write: bool) -> Result<Named, ToolError> {
    match cx.root.classify(argument) {
        PathPlace::Inside(path) => Ok(Named::Inside(path)),
        PathPlace::Invalid(why) => Err(paths::failure(PathError::Invalid { why })),
        PathPlace::Outside(at) => {
            let name = argument.trim_end_matches('/').to_owned();
            match cx.root.never_granted(&at.real, write) {
                Some(reason) => Err(ToolError::Model(format!(
                    "`{argument}` lies outside of the project and is never opened, because {reason}."
                ))),
                None => Ok(Named::Outside(Outside { name, at })),
            }
        }
    }
}

/// The same for an argument that may be left out: the project folder.
pub(crate) fn named_or_root(cx: &CallContext, argument: Option<&str>) -> Result<Named, ToolError> {
    match argument {
        None | Some("") => Ok(Named::Inside(RelativePath::root())),
        Some(argument) => named(cx, argument, false),
    }
}

/// What an argument names, for a call that runs: outside of the project only what the person allowed.
pub(crate) fn open(cx: &CallContext, named: Named, write: bool) -> Result<Place, ToolError> {
    match named {
        Named::Inside(path) => Ok(Place::inside(cx, path)),
        Named::Outside(outside) if outside.is_covered(cx, write) => outside.open(cx, write),
        Named::Outside(outside) => Err(ToolError::Model(format!(
            "`{}` lies outside of the project, and this was not allowed.",
            outside.name
        ))),
    }
}

impl Named {
    /// The main argument of the call.
    pub(crate) fn target(&self) -> &str {
        match self {
            Named::Inside(path) => path.as_str(),
            Named::Outside(outside) => &outside.name,
        }
    }

    /// What reading it touches.
    pub(crate) fn reads(&self, cx: &CallContext) -> Vec<Access> {
        match self {
            Named::Inside(path) => paths::reads(cx, path),
            Named::Outside(outside) => outside.access(cx, false),
        }
    }
}

impl Outside {
    /// What the model calls it.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Everything that reading or writing it touches.
    pub(crate) fn access(&self, cx: &CallContext, write: bool) -> Vec<Access> {
        let is_folder = self.at.kind == Some(Kind::Folder);
        let mut all: Vec<Access> = access(&self.at.real, is_folder, write, self.at.leaves_at.clone())
            .into_iter()
            .collect();
        let place = cx.root.outside(&self.at.real, write).ok();
        let protection = place.and_then(|(root, path)| paths::place_of(&root, &path));
        if let Some(place) = protection.filter(|place| write || *place == ProtectedPlace::SecretFile) {
            all.push(Access::Protected {
                path: self.at.real.to_string_lossy().into_owned(),
                write,
                place,
            });
        }
        all
    }

    /// Whether the call may reach it: it was granted itself, or a folder above it. Writing covers reading.
    pub(crate) fn is_covered(&self, cx: &CallContext, write: bool) -> bool {
        let real = &self.at.real;
        cx.outside
            .iter()
            .filter(|grant| grant.writable || !write)
            .any(|grant| grant.path == *real || real.starts_with(&grant.path) && is_folder(&grant.path))
    }

    /// Opens it without asking whether it is covered: for a preview, which only the person sees, and after that question.
    pub(crate) fn open(&self, cx: &CallContext, write: bool) -> Result<Place, ToolError> {
        let (root, path) = cx
            .root
            .outside(&self.at.real, write)
            .map_err(|error| ToolError::Model(format!("`{}`: {error}.", self.name)))?;
        let root = if write && cx.protected_granted {
            root.with_git_internals()
        } else {
            root
        };
        Ok(Place {
            root,
            path,
            outside: Some((self.name.clone(), self.at.real.to_string_lossy().into_owned())),
        })
    }
}

impl Place {
    pub(crate) fn inside(cx: &CallContext, path: RelativePath) -> Self {
        Self {
            root: cx.root.clone(),
            path,
            outside: None,
        }
    }

    pub(crate) fn is_outside(&self) -> bool {
        self.outside.is_some()
    }

    /// What the model calls it.
    pub(crate) fn name(&self) -> String {
        self.name_of(&self.path)
    }

    /// What the model calls something below it.
    pub(crate) fn name_of(&self, path: &RelativePath) -> String {
        let Some((name, _)) = &self.outside else {
            return path.to_string();
        };
        match below(path, &self.path) {
            "" => name.clone(),
            rest => format!("{name}/{rest}"),
        }
    }

    /// A path below this place, relative to it.
    pub(crate) fn below<'a>(&self, path: &'a RelativePath) -> &'a str {
        below(path, &self.path)
    }

    /// The path under which a person sees it, and which an approval names.
    pub(crate) fn shown(&self) -> &str {
        match &self.outside {
            None => self.path.as_str(),
            Some((_, real)) => real,
        }
    }

    /// A failure at or below it, in words for the model.
    pub(crate) fn failure(&self, error: PathError) -> ToolError {
        let path = match path_of(&error) {
            Some(path) if self.is_outside() => path,
            Some(path) if matches!(error, PathError::NotFound { .. }) => {
                let near = self.near(path);
                return ToolError::Model(format!("{}{near}", sentence(&error.to_string())));
            }
            _ => return paths::failure(error),
        };
        let text = error
            .to_string()
            .replace(&format!("`{path}`"), &format!("`{}`", self.name_of(path)));
        match error {
            PathError::NoSpace { .. } => ToolError::Fatal(sentence(&text)),
            _ => ToolError::Model(sentence(&text)),
        }
    }

    /// Why a file cannot be read or edited that is not there, and what to do.
    pub(crate) fn missing_file(&self) -> ToolError {
        let path = self.path.clone();
        match self.failure(PathError::NotFound { path }) {
            ToolError::Model(text) if !self.is_outside() => {
                let next = match self.otherwise_written() {
                    Some(meant) => format!("Use `{meant}`."),
                    None => "To make it use write_file.".to_owned(),
                };
                ToolError::Model(format!("{text} {next}"))
            }
            other => other,
        }
    }

    /// What is there under the same name, but for small and capital letters.
    fn otherwise_written(&self) -> Option<RelativePath> {
        let folder = self.path.parent()?;
        let wanted = self.path.as_str().to_lowercase();
        let entries = self.root.read_dir(&folder).ok()?;
        let mut paths = entries.iter().filter_map(|entry| folder.join(&entry.name).ok());
        paths.find(|path| path.as_str().to_lowercase() == wanted)
    }

    /// What there is in the nearest folder above something that is not there: a wrong guess is corrected at once.
    fn near(&self, missing: &RelativePath) -> String {
        let mut above = missing.parent();
        while let Some(folder) = above {
            if let Ok(mut entries) = self.root.read_dir(&folder) {
                entries.retain(|entry| entry.name != ".git");
                entries.sort_by(|a, b| a.name.cmp(&b.name));
                let more = if entries.len() > MAX_NEAR { ", …" } else { "" };
                let names = entries.iter().take(MAX_NEAR).map(|entry| match entry.kind {
                    Kind::Folder => format!("{}/", entry.name),
                    _ => entry.name.clone(),
                });
                let names: Vec<String> = names.collect();
                let place = match folder.is_root() {
                    true => "The project folder".to_owned(),
                    false => format!("`{folder}`"),
                };
                return match names.is_empty() {
                    true => format!(" {place} is empty."),
                    false => format!(" {place} has: {}{more}.", names.join(", ")),
                };
            }
            above = folder.parent();
        }
        String::new()
    }

    /// What the file holds; `None` when it is not there.
    pub(crate) fn current(&self, max_bytes: u64) -> Result<Option<Vec<u8>>, ToolError> {
        match self.root.read(&self.path, max_bytes) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(PathError::NotFound { .. }) => Ok(None),
            Err(error) => Err(self.failure(error)),
        }
    }

    /// An error when the file is not in a state that the person approved.
    pub(crate) fn check_approved(&self, cx: &CallContext, found: &FileVersion) -> Result<(), ToolError> {
        let mut approved = cx.approved.iter();
        let is_approved = cx.approved.is_empty()
            || approved.any(|base| base.path == self.shown() && base.version == *found);
        is_approved
            .then_some(())
            .ok_or_else(|| ToolError::ChangedSince { path: self.name() })
    }

    /// Whether a file that turned up in a search may not be shown without being asked for by name.
    pub(crate) fn is_hidden_secret(&self, cx: &CallContext, path: &RelativePath) -> bool {
        !cx.protected_granted && paths::place_of(&self.root, path) == Some(ProtectedPlace::SecretFile)
    }
}

/// The access to a real path outside of the project; none when its name is no text.
pub(crate) fn access(real: &Path, is_folder: bool, write: bool, through: Option<String>) -> Option<Access> {
    let mut path = real.to_str()?.to_owned();
    if is_folder && !path.ends_with('/') {
        path.push('/');
    }
    Some(Access::Outside { path, write, through })
}

fn is_folder(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|found| found.is_dir())
}

fn below<'a>(path: &'a RelativePath, above: &RelativePath) -> &'a str {
    let rest = path.as_str();
    match above.is_root() {
        true if path.is_root() => "",
        true => rest,
        false => rest
            .strip_prefix(above.as_str())
            .unwrap_or(rest)
            .trim_start_matches('/'),
    }
}

fn path_of(error: &PathError) -> Option<&RelativePath> {
    match error {
        PathError::Outside { .. } | PathError::Invalid { .. } => None,
        PathError::Protected { path, .. }
        | PathError::ReadOnly { path }
        | PathError::NotGranted { path }
        | PathError::NotFound { path }
        | PathError::AlreadyExists { path }
        | PathError::NotAFolder { path }
        | PathError::NotAFile { path }
        | PathError::Link { path }
        | PathError::IsAFolder { path }
        | PathError::NotEmpty { path }
        | PathError::Special { path }
        | PathError::TooLarge { path, .. }
        | PathError::Permission { path }
        | PathError::NoSpace { path }
        | PathError::Io { path, .. } => Some(path),
    }
}
