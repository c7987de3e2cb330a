//! Walking the project by handles, never by path strings. Files that the project's own ignore files leave out are left
//! out here, unless the walk begins inside of something that is ignored: then it was asked for by name.

use crate::typed::Stop;
use crate::{ToolError, place::Place};
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use paddock_sandbox::{Entry, Kind, PathError, ProjectRoot, RelativePath};
use std::ops::ControlFlow;

const IGNORE_FILES: [&str; 2] = [".gitignore", ".ignore"];
const MAX_IGNORE_FILE: u64 = 1024 * 1024;
const MAX_DEPTH: usize = 64;
/// Entries looked at in one walk.
const MAX_SEEN: usize = 500_000;

/// Something a walk came by.
pub(crate) struct Found {
    pub(crate) path: RelativePath,
    pub(crate) kind: Kind,
    /// Bytes.
    pub(crate) size: u64,
}

/// What became of a walk.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Walked {
    /// It ended before everything was seen.
    pub(crate) cut: bool,
    /// Folders that could not be read.
    pub(crate) unreadable: usize,
}

/// Visits everything below a folder in the order of names, folders before what is in them; links are not followed. At most
/// `depth` levels when given. The visitor ends the walk with `Break`.
pub(crate) fn walk(
    place: &Place,
    depth: Option<usize>,
    stop: &Stop,
    mut visit: impl FnMut(&Found) -> Result<ControlFlow<()>, ToolError>,
) -> Result<Walked, ToolError> {
    let (root, start) = (&place.root, &place.path);
    let mut walker = Walker {
        root,
        stop,
        ignores: Vec::new(),
        seen: 0,
        walked: Walked::default(),
    };
    walker.enter_ancestors(start);
    let entries = root.read_dir(start).map_err(|error| place.failure(error))?;
    let depth = depth.unwrap_or(MAX_DEPTH).min(MAX_DEPTH);
    let _: ControlFlow<()> = walker.descend(start, entries, depth, &mut visit)?;
    Ok(walker.walked)
}

struct Walker<'a> {
    root: &'a ProjectRoot,
    stop: &'a Stop,
    /// Rules of the folders from the project down to here.
    ignores: Vec<(RelativePath, Gitignore)>,
    seen: usize,
    walked: Walked,
}

impl Walker<'_> {
    fn enter_ancestors(&mut self, start: &RelativePath) {
        let mut folder = RelativePath::root();
        for name in start.components() {
            let names = IGNORE_FILES.map(str::to_owned);
            self.enter(&folder, names.iter().map(String::as_str));
            let Ok(next) = folder.join(name) else { return };
            folder = next;
            if self.is_ignored(&folder, true) {
                self.ignores.clear();
                return;
            }
        }
    }

    /// Takes up the rules in a folder; returns how many.
    fn enter<'n>(&mut self, folder: &RelativePath, names: impl Iterator<Item = &'n str>) -> usize {
        let mut builder = GitignoreBuilder::new("");
        for name in names.filter(|name| IGNORE_FILES.contains(name)) {
            let rules = folder
                .join(name)
                .and_then(|path| self.root.read(&path, MAX_IGNORE_FILE));
            for line in rules
                .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
                .unwrap_or_default()
                .lines()
            {
                // A rule that makes no sense ignores nothing.
                let _ = builder.add_line(None, line);
            }
        }
        match builder.build() {
            Ok(rules) if !rules.is_empty() => {
                self.ignores.push((folder.clone(), rules));
                1
            }
            _ => 0,
        }
    }

    /// The nearest rule that says something decides.
    fn is_ignored(&self, path: &RelativePath, is_folder: bool) -> bool {
        for (folder, rules) in self.ignores.iter().rev() {
            let below = match folder.is_root() {
                true => path.as_str(),
                false => path.as_str()[folder.as_str().len()..].trim_start_matches('/'),
            };
            let rule = rules.matched(below, is_folder);
            if !rule.is_none() {
                return rule.is_ignore();
            }
        }
        false
    }

    fn descend(
        &mut self,
        folder: &RelativePath,
        entries: Vec<Entry>,
        depth: usize,
        visit: &mut impl FnMut(&Found) -> Result<ControlFlow<()>, ToolError>,
    ) -> Result<ControlFlow<()>, ToolError> {
        let entered = self.enter(folder, entries.iter().map(|entry| entry.name.as_str()));
        for entry in entries {
            self.stop.check()?;
            self.seen += 1;
            if self.seen > MAX_SEEN {
                self.walked.cut = true;
                return Ok(ControlFlow::Break(()));
            }
            let is_folder = entry.kind == Kind::Folder;
            // A name that cannot be an argument cannot be addressed by a later call either.
            let Ok(path) = folder.join(&entry.name) else {
                continue;
            };
            if entry.name == ".git" || entry.kind == Kind::Other || self.is_ignored(&path, is_folder) {
                continue;
            }
            let found = Found {
                path,
                kind: entry.kind,
                size: entry.size,
            };
            if visit(&found)?.is_break() {
                self.walked.cut = true;
                return Ok(ControlFlow::Break(()));
            }
            if is_folder && depth > 1 && self.below(&found.path, depth - 1, visit)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        self.ignores.truncate(self.ignores.len() - entered);
        Ok(ControlFlow::Continue(()))
    }

    fn below(
        &mut self,
        folder: &RelativePath,
        depth: usize,
        visit: &mut impl FnMut(&Found) -> Result<ControlFlow<()>, ToolError>,
    ) -> Result<ControlFlow<()>, ToolError> {
        match self.root.read_dir(folder) {
            Ok(entries) => self.descend(folder, entries, depth, visit),
            Err(PathError::NotFound { .. }) => Ok(ControlFlow::Continue(())),
            Err(_) => {
                self.walked.unreadable += 1;
                Ok(ControlFlow::Continue(()))
            }
        }
    }
}
