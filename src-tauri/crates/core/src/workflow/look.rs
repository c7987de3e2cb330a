//! Which files of the project a workflow is about, and which names they would get.

use super::Problem;
use super::builtin::{counted, wrong};
use paddock_protocol::{ParameterValue, ParameterValues};
use paddock_sandbox::{Kind, ProjectRoot, RelativePath};
use paddock_tools::bulk::{MAX_PATHS, path_glob};
use regex::{NoExpand, Regex, RegexBuilder};
use std::time::{Duration, SystemTime};

/// Folders whose content a build or a tool makes again.
const BUILD_FOLDERS: &[&str] = &[
    "target",
    "node_modules",
    "dist",
    "build",
    "__pycache__",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
    ".tox",
    ".next",
    ".nuxt",
    ".svelte-kit",
    ".turbo",
    ".parcel-cache",
    ".gradle",
    "coverage",
];
const MAX_OFFERED: usize = 200;
const OFFERED_DEPTH: usize = 6;
const MAX_DEPTH: usize = 64;
/// Entries looked at in one walk.
const MAX_SEEN: usize = 500_000;
const DAY: u64 = 24 * 60 * 60;

/// Folders of build output in this project, by path.
pub fn build_folders(root: &ProjectRoot) -> Vec<String> {
    let mut found = Vec::new();
    let mut waiting = vec![(RelativePath::root(), 0)];
    let mut seen = 0;
    while let Some((folder, depth)) = waiting.pop() {
        let Ok(entries) = root.read_dir(&folder) else {
            continue;
        };
        seen += entries.len();
        if seen > MAX_SEEN || found.len() >= MAX_OFFERED {
            break;
        }
        for entry in entries
            .iter()
            .filter(|entry| entry.kind == Kind::Folder && entry.name != ".git")
        {
            let Ok(path) = folder.join(&entry.name) else {
                continue;
            };
            if BUILD_FOLDERS.contains(&entry.name.as_str()) {
                found.push(path.to_string());
            } else if depth < OFFERED_DEPTH {
                waiting.push((path, depth + 1));
            }
        }
    }
    found.sort();
    found.truncate(MAX_OFFERED);
    found
}

type Glob = Box<dyn Fn(&str) -> bool + Send>;

/// Files by patterns and age.
pub struct Chosen {
    files: Vec<Glob>,
    keep: Vec<Glob>,
    changed_before: Option<SystemTime>,
}

impl Chosen {
    /// From the parameters `files`, `keep` and `older_than`.
    pub fn of(values: &ParameterValues) -> Result<Self, Problem> {
        let changed_before = match values.get("older_than") {
            Some(ParameterValue::Number(days)) => {
                let age = Duration::try_from_secs_f64(days * DAY as f64)
                    .map_err(|_| wrong("older_than", "It is too large."))?;
                SystemTime::now().checked_sub(age)
            }
            _ => None,
        };
        Ok(Self {
            files: globs(values, "files")?,
            keep: globs(values, "keep")?,
            changed_before,
        })
    }

    /// The files, by path. Links are not followed and `.git` is not entered.
    pub fn files(&self, root: &ProjectRoot) -> Result<Vec<RelativePath>, Problem> {
        let mut found = Vec::new();
        let mut waiting = vec![(RelativePath::root(), 0)];
        let mut seen = 0;
        while let Some((folder, depth)) = waiting.pop() {
            let Ok(entries) = root.read_dir(&folder) else {
                continue;
            };
            seen += entries.len();
            if seen > MAX_SEEN {
                return Err(wrong("files", "This project holds too many files to look at."));
            }
            for entry in entries.iter().filter(|entry| entry.name != ".git") {
                let Ok(path) = folder.join(&entry.name) else {
                    continue;
                };
                match entry.kind {
                    Kind::Folder if depth < MAX_DEPTH => waiting.push((path, depth + 1)),
                    Kind::File if self.is_chosen(path.as_str(), entry.modified) => found.push(path),
                    _ => {}
                }
            }
        }
        if found.is_empty() {
            return Err(wrong("files", "No file fits."));
        }
        if found.len() > MAX_PATHS {
            let many = counted(u32::try_from(found.len()).unwrap_or(u32::MAX), "file");
            return Err(wrong(
                "files",
                format!("{many} fit, and {MAX_PATHS} are the most. Name fewer."),
            ));
        }
        found.sort();
        Ok(found)
    }

    fn is_chosen(&self, path: &str, modified: SystemTime) -> bool {
        self.files.iter().any(|glob| glob(path))
            && !self.keep.iter().any(|glob| glob(path))
            && self.changed_before.is_none_or(|before| modified <= before)
    }
}

/// One pattern a line.
fn globs(values: &ParameterValues, name: &str) -> Result<Vec<Glob>, Problem> {
    let Some(ParameterValue::Text(lines)) = values.get(name) else {
        return Ok(Vec::new());
    };
    lines
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .map(|line| {
            let fits = path_glob(line).map_err(|error| wrong(name, error.to_string()))?;
            Ok(Box::new(fits) as Glob)
        })
        .collect()
}

/// How names change.
pub struct Renaming {
    find: Regex,
    replace: String,
    literal: bool,
}

impl Renaming {
    /// From the parameters `find`, `replace` and `regex`.
    pub fn of(values: &ParameterValues) -> Result<Self, Problem> {
        let text = |name: &str| match values.get(name) {
            Some(ParameterValue::Text(text)) => text.clone(),
            _ => String::new(),
        };
        let literal = !matches!(values.get("regex"), Some(ParameterValue::Switch(true)));
        let pattern = match literal {
            true => regex::escape(&text("find")),
            false => text("find"),
        };
        let find = RegexBuilder::new(&pattern)
            .size_limit(1024 * 1024)
            .build()
            .map_err(|error| {
                let last = error.to_string();
                let last = last.lines().last().unwrap_or_default().trim();
                wrong(
                    "find",
                    format!(
                        "It is no regular expression: {}.",
                        last.trim_start_matches("error: ")
                    ),
                )
            })?;
        Ok(Self {
            find,
            replace: text("replace"),
            literal,
        })
    }

    /// Old and new path of each file whose name changes.
    pub fn pairs(
        &self,
        root: &ProjectRoot,
        files: Vec<RelativePath>,
    ) -> Result<Vec<(RelativePath, RelativePath)>, Problem> {
        let mut pairs = Vec::new();
        for from in files {
            let name = from.file_name().unwrap_or_default();
            let new = self.name(name);
            if new == name {
                continue;
            }
            let folder = from.parent().unwrap_or_else(RelativePath::root);
            let to = folder.join(&new).ok().filter(|to| {
                to.file_name() == Some(new.as_str()) && to.parent().as_ref() == Some(&folder) && new != ".git"
            });
            match to.filter(|to| root.relative(to.as_str()).is_ok()) {
                Some(to) => pairs.push((from, to)),
                None => {
                    return Err(wrong(
                        "replace",
                        format!("`{from}` would be called `{new}`, which is no name of a file."),
                    ));
                }
            }
        }
        if pairs.is_empty() {
            return Err(wrong("find", "No name changes."));
        }
        Ok(pairs)
    }

    fn name(&self, name: &str) -> String {
        match self.literal {
            true => self.find.replace_all(name, NoExpand(&self.replace)).into_owned(),
            false => self.find.replace_all(name, self.replace.as_str()).into_owned(),
        }
    }
}
