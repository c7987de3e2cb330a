//! What checkers complain of, read out of their output: each tool writes the place in one of three ways, and a place counts
//! only when such a file is in the project.

use crate::bounds;
use paddock_sandbox::{Kind, ProjectRoot, RelativePath};
use regex::Regex;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;
use std::sync::LazyLock;

const MAX_PROBLEMS: usize = 200;
const MAX_PER_FILE: usize = 40;
const MAX_MESSAGE: usize = 300;

/// `src/a.rs:3:5: error …`, also with more of cargo, go and pyright before and after it.
static COLONS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^\s*(?:vet: )?([^\s:(][^:(]*):(\d+)(?::(\d+))?(?:\s*[:-]\s*|\s+|$)(.*)$").ok()
});
/// `src/a.ts(3,5): error …`
static BRACKETS: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^\s*([^\s(][^(]*)\((\d+),(\d+)\):?\s*(.*)$").ok());
/// `  3:5  error  …`, below a line with the file.
static BELOW: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^\s+(\d+):(\d+)\s+(\S.*)$").ok());

/// All problems, each once.
#[derive(Default)]
pub(super) struct Problems {
    by_file: BTreeMap<String, BTreeSet<(u32, u32, String)>>,
}

impl Problems {
    /// Takes the problems out of the output of a checker that ran in a folder; how many they were. That it could not write
    /// is none of the project's problems.
    pub(super) fn read(&mut self, output: &str, root: &ProjectRoot, folder: &RelativePath) -> usize {
        let mut files = Files {
            root,
            folder,
            known: BTreeMap::new(),
        };
        let mut found = 0;
        let mut current = None;
        let mut lines = output.lines().peekable();
        while let Some(line) = lines.next() {
            let place = files.place(line);
            if let Some((file, line, column, mut message)) = place {
                // Some write the place on a line of its own.
                if message.is_empty() {
                    message = lines.peek().copied().unwrap_or_default().trim().to_owned();
                }
                found += usize::from(self.add(file, line, column, &message));
            } else if let Some((line, column, message)) = below(line) {
                if let Some(file) = &current {
                    found += usize::from(self.add(String::clone(file), line, column, message));
                }
            } else if !line.starts_with(char::is_whitespace) {
                current = files
                    .name(line.trim_end())
                    .or_else(|| current.take().filter(|_| !line.is_empty()));
            }
        }
        found
    }

    fn add(&mut self, file: String, line: u32, column: u32, message: &str) -> bool {
        if wants_to_write(message) {
            return false;
        }
        let words: Vec<&str> = message.split_whitespace().collect();
        let message = bounds::short_line(&words.join(" "), MAX_MESSAGE);
        self.by_file
            .entry(file)
            .or_default()
            .insert((line, column, message));
        true
    }

    /// Those at a path and below it, for the model; with their number, that of their files, and whether more are elsewhere.
    pub(super) fn shown(&self, path: &RelativePath) -> Shown {
        let is_in =
            |file: &str| path.is_root() || file == path.as_str() || file.starts_with(&format!("{path}/"));
        let mut shown = Shown::default();
        for (file, problems) in &self.by_file {
            if !is_in(file) {
                shown.elsewhere += problems.len();
                continue;
            }
            shown.problems += problems.len();
            shown.files += 1;
            let room = MAX_PROBLEMS.saturating_sub(shown.lines).min(MAX_PER_FILE);
            if room > 0 {
                let _ = writeln!(shown.text, "{file}");
            }
            for (line, column, message) in problems.iter().take(room) {
                let _ = match column {
                    0 => writeln!(shown.text, "  {line}: {message}"),
                    _ => writeln!(shown.text, "  {line}:{column} {message}"),
                };
                shown.lines += 1;
            }
            if room > 0 && problems.len() > room {
                let _ = writeln!(shown.text, "  … {} more", problems.len() - room);
            }
        }
        shown
    }
}

/// Whether a text says that something could not be written because all is read-only.
pub(super) fn wants_to_write(text: &str) -> bool {
    text.contains("EROFS") || text.to_ascii_lowercase().contains("read-only file system")
}

/// Problems as the model reads them.
#[derive(Debug, Default)]
pub(super) struct Shown {
    pub(super) text: String,
    pub(super) problems: usize,
    pub(super) files: usize,
    /// Problems that the text holds.
    pub(super) lines: usize,
    pub(super) elsewhere: usize,
}

fn below(line: &str) -> Option<(u32, u32, &str)> {
    let found = BELOW.as_ref()?.captures(line)?;
    Some((
        found[1].parse().ok()?,
        found[2].parse().ok()?,
        found.get(3)?.as_str(),
    ))
}

/// Names of files as a checker writes them, made relative to the project.
struct Files<'a> {
    root: &'a ProjectRoot,
    folder: &'a RelativePath,
    known: BTreeMap<String, Option<String>>,
}

impl Files<'_> {
    fn place(&mut self, line: &str) -> Option<(String, u32, u32, String)> {
        [&COLONS, &BRACKETS].iter().find_map(|pattern| {
            let found = pattern.as_ref()?.captures(line)?;
            let column = found
                .get(3)
                .map_or(Some(0), |column| column.as_str().parse().ok())?;
            let file = self.name(&found[1])?;
            Some((file, found[2].parse().ok()?, column, found[4].trim().to_owned()))
        })
    }

    /// The file that is meant, when it is in the project.
    fn name(&mut self, name: &str) -> Option<String> {
        if name.is_empty() || name.len() > 500 {
            return None;
        }
        if let Some(known) = self.known.get(name) {
            return known.clone();
        }
        let path = match Path::new(name).is_absolute() {
            true => self.root.relative(name).ok(),
            false => self.root.relative(&format!("{}/{name}", self.folder)).ok(),
        };
        let file = path.filter(|path| {
            self.root
                .metadata(path)
                .is_ok_and(|found| found.kind == Kind::File)
        });
        let file = file.map(|path| path.to_string());
        self.known.insert(name.to_owned(), file.clone());
        file
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_to_write_a_place_is_read() {
        let folder = tempfile::tempdir().unwrap();
        for file in ["ui/a.ts", "ui/b.svelte", "src/lib.rs", "main.py", "x.go"] {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        let root = ProjectRoot::open(folder.path()).unwrap();
        let absolute = root.path().display();
        let mut problems = Problems::default();
        let mut read = |at: &str, output: &str| problems.read(output, &root, &root.relative(at).unwrap());
        assert_eq!(
            read(
                ".",
                "src/lib.rs:3:5: error[E0308]: mismatched types: expected `u32`\n"
            ),
            1
        );
        assert_eq!(
            read(
                ".",
                "    Checking x v0.1.0\n12:30:45 nothing\nerror: could not compile `x`\n"
            ),
            0
        );
        assert_eq!(
            read("ui", "a.ts(7,1): error TS2322: Type 'x'.\n  Types of x.\n"),
            1
        );
        assert_eq!(
            read(
                "ui",
                &format!("{absolute}/ui/b.svelte:9:2\nError: no such thing\n\n")
            ),
            1
        );
        assert_eq!(
            read(
                "ui",
                &format!(
                    "\n{absolute}/ui/a.ts\n  1:2  error  'x' is unused  no-unused\n  4:1  warning  odd\n\n✖ 2 problems\n"
                )
            ),
            2
        );
        assert_eq!(
            read(
                ".",
                "main.py:1:1: F401 `os` imported\nmain.py:2: error: no column\n"
            ),
            2
        );
        assert_eq!(
            read(
                ".",
                &format!("  {absolute}/main.py:5:6 - error: \"x\" is not defined\n")
            ),
            1
        );
        assert_eq!(read(".", "vet: ./x.go:3:1: expected operand\n# example\n"), 1);
        assert_eq!(
            read(
                ".",
                "../outside.py:1:1: error\n/etc/passwd:1:1: error\nmissing.py:1:1: x\n"
            ),
            0
        );
        let kept = "b.svelte:9:2\nError: EROFS: read-only file system, open 'x'\n";
        assert_eq!(read("ui", kept), 0);
        let shown = problems.shown(&RelativePath::root());
        assert_eq!(
            shown.text,
            "main.py\n  1:1 F401 `os` imported\n  2: error: no column\n  5:6 error: \"x\" is not defined\n\
             src/lib.rs\n  3:5 error[E0308]: mismatched types: expected `u32`\n\
             ui/a.ts\n  1:2 error 'x' is unused no-unused\n  4:1 warning odd\n  7:1 error TS2322: Type 'x'.\n\
             ui/b.svelte\n  9:2 Error: no such thing\nx.go\n  3:1 expected operand\n"
        );
        let only = problems.shown(&root.relative("ui").unwrap());
        assert_eq!((only.problems, only.files, only.elsewhere), (4, 2, 5));
    }

    #[test]
    fn many_problems_are_bounded() {
        let folder = tempfile::tempdir().unwrap();
        let mut output = String::new();
        for file in 0..20 {
            std::fs::write(folder.path().join(format!("{file}.rs")), "").unwrap();
            for line in 1..=100 {
                output.push_str(&format!("{file}.rs:{line}:1: error: x\n"));
            }
        }
        let root = ProjectRoot::open(folder.path()).unwrap();
        let mut problems = Problems::default();
        assert_eq!(problems.read(&output, &root, &RelativePath::root()), 2000);
        let shown = problems.shown(&RelativePath::root());
        assert_eq!(
            (shown.problems, shown.files, shown.lines),
            (2000, 20, MAX_PROBLEMS)
        );
        assert!(shown.text.contains("  … 60 more"), "{}", shown.text);
    }
}
