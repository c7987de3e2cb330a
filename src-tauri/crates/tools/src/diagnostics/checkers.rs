//! The checkers that a project has set up for itself, found by its own files. Nothing is installed and nothing is guessed:
//! what is set up but not there is named as missing.

use crate::CallContext;
use crate::typed::Stop;
use crate::{ToolError, place::Place, walk::walk};
use paddock_sandbox::{Kind, ProjectRoot, RelativePath};
use std::ops::ControlFlow;

const MAX_FILE: u64 = 1024 * 1024;
/// Levels of folders that are looked at.
const DEPTH: usize = 3;
/// More are not run in one call.
const MAX_CHECKERS: usize = 12;
/// Files that set a checker up.
const MARKS: &[&str] = &[
    "Cargo.toml",
    "package.json",
    "tsconfig.json",
    "pyproject.toml",
    "ruff.toml",
    ".ruff.toml",
    "mypy.ini",
    "pyrightconfig.json",
    "go.mod",
    "Makefile",
];
/// Scripts of a package that check and change nothing, and how they are called for short.
const SCRIPTS: &[(&str, &str)] = &[
    ("typecheck", "typecheck"),
    ("type-check", "typecheck"),
    ("check", "check"),
    ("lint", "lint"),
];
const ESLINT: &[&str] = &[
    "eslint.config.js",
    "eslint.config.mjs",
    "eslint.config.cjs",
    "eslint.config.ts",
    ".eslintrc.json",
    ".eslintrc.js",
    ".eslintrc.cjs",
    ".eslintrc.yml",
];
/// What cargo builds for a check is kept beside the other caches of commands: the project is read-only, and the next check
/// is quick.
const CARGO: &str = "CARGO_TARGET_DIR=\"$HOME/.cache/paddock/check\" cargo check --workspace --all-targets --offline \
                     --message-format short --color never";

/// One command that checks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Checker {
    /// For the model: `cargo`, `tsc`, `lint`.
    pub(super) name: &'static str,
    pub(super) folder: RelativePath,
    /// For the shell; holds nothing that the project wrote.
    pub(super) line: String,
}

/// What a project has.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) checkers: Vec<Checker>,
    /// Set up, but not there; one sentence each.
    pub(super) missing: Vec<String>,
}

/// Looks for checkers in the nearest folder that has some, from a path upwards, and below the path.
pub(super) fn find(cx: &CallContext, path: &RelativePath, stop: &Stop) -> Result<Found, ToolError> {
    let mut folders = above(&cx.root, path);
    let is_folder = cx
        .root
        .metadata(path)
        .is_ok_and(|found| found.kind == Kind::Folder);
    if is_folder {
        let place = Place::inside(cx, path.clone());
        walk(&place, Some(DEPTH), stop, |found| {
            let name = found.path.file_name().unwrap_or_default();
            let folder = found.path.parent().unwrap_or_else(RelativePath::root);
            if found.kind == Kind::File && MARKS.contains(&name) && !folders.contains(&folder) {
                folders.push(folder);
            }
            Ok(ControlFlow::Continue(()))
        })?;
    }
    let mut all = Found::default();
    for folder in &folders {
        in_folder(&cx.root, folder, &mut all);
    }
    // Those that build take long.
    all.checkers.sort_by_key(|checker| checker.name == "cargo");
    all.checkers.truncate(MAX_CHECKERS);
    Ok(all)
}

/// The nearest folder with a mark, and before it the one whose lock file it shares.
fn above(root: &ProjectRoot, path: &RelativePath) -> Vec<RelativePath> {
    let upwards = |from: &RelativePath| std::iter::successors(Some(from.clone()), RelativePath::parent);
    let has = |folder: &RelativePath, name: &str| Folder { root, folder }.has(name);
    let Some(nearest) = upwards(path).find(|folder| MARKS.iter().any(|mark| has(folder, mark))) else {
        return Vec::new();
    };
    let shared = upwards(&nearest).find(|folder| has(folder, "Cargo.toml") && has(folder, "Cargo.lock"));
    let shared = shared.filter(|folder| has(&nearest, "Cargo.toml") && *folder != nearest);
    shared.into_iter().chain([nearest]).collect()
}

fn in_folder(root: &ProjectRoot, folder: &RelativePath, all: &mut Found) {
    let before = all.checkers.len() + all.missing.len();
    let at = Folder { root, folder };
    // A package inside of a workspace is checked with it.
    let has_cargo = |checker: &Checker| checker.name == "cargo" && folder.starts_with(&checker.folder);
    if at.has("Cargo.toml") && !all.checkers.iter().any(has_cargo) {
        match at.has("Cargo.lock") {
            true => all.checkers.push(at.checker("cargo", CARGO.to_owned())),
            false => at.is_missing("Cargo.lock: build once, it cannot be written here", all),
        }
    }
    at.node(all);
    at.python(all);
    if at.has("go.mod") {
        all.checkers
            .push(at.checker("go", "GOPROXY=off GOFLAGS=-mod=readonly go vet ./...".to_owned()));
    }
    if all.checkers.len() + all.missing.len() == before && at.has_make_target("lint") {
        all.checkers.push(at.checker("make", "make lint".to_owned()));
    }
}

struct Folder<'a> {
    root: &'a ProjectRoot,
    folder: &'a RelativePath,
}

impl Folder<'_> {
    fn has(&self, name: &str) -> bool {
        self.folder
            .join(name)
            .is_ok_and(|path| self.root.metadata(&path).is_ok())
    }

    fn text(&self, name: &str) -> Option<String> {
        let path = self.folder.join(name).ok()?;
        let bytes = self.root.read(&path, MAX_FILE).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn checker(&self, name: &'static str, line: String) -> Checker {
        Checker {
            name,
            folder: self.folder.clone(),
            line,
        }
    }

    fn is_missing(&self, what: &str, all: &mut Found) {
        all.missing.push(format!("{what} (set up in {})", self.folder));
    }

    fn node(&self, all: &mut Found) {
        let package = self.text("package.json");
        let package = package.and_then(|text| serde_json::from_str::<serde_json::Value>(&text).ok());
        let scripts = package
            .as_ref()
            .and_then(|package| package.get("scripts")?.as_object());
        let has_script = |name: &str| scripts.is_some_and(|scripts| scripts.contains_key(name));
        let found: Vec<_> = SCRIPTS.iter().filter(|(script, _)| has_script(script)).collect();
        let checks_types = found.iter().any(|(_, name)| *name != "lint");
        let lints = found.iter().any(|(_, name)| *name == "lint");
        let needs_packages = package.as_ref().is_some_and(|package| {
            ["dependencies", "devDependencies"].iter().any(|kind| {
                package
                    .get(kind)
                    .and_then(|all| all.as_object())
                    .is_some_and(|all| !all.is_empty())
            })
        });
        if needs_packages && self.upwards("node_modules").is_none() {
            if !found.is_empty() || self.has("tsconfig.json") {
                self.is_missing("node_modules: install the packages first", all);
            }
            return;
        }
        for (script, name) in &found {
            all.checkers
                .push(self.checker(name, format!("npm run --silent {script}")));
        }
        if !checks_types && self.has("tsconfig.json") {
            self.program("tsc", "node_modules/.bin/tsc", "--noEmit --pretty false", all);
        }
        if !lints && ESLINT.iter().any(|name| self.has(name)) {
            self.program("eslint", "node_modules/.bin/eslint", "--no-color .", all);
        }
    }

    fn python(&self, all: &mut Found) {
        let project = self.text("pyproject.toml").unwrap_or_default();
        let has = |name: &str, files: &[&str]| {
            let table = format!("[tool.{name}");
            project.lines().any(|line| line.trim_start().starts_with(&table))
                || files.iter().any(|file| self.has(file))
        };
        let mut add = |name: &'static str, arguments: &str| {
            let own = [".venv/bin", "venv/bin"]
                .iter()
                .map(|folder| format!("{folder}/{name}"))
                .find(|path| self.has(path));
            let program = own.map_or_else(|| name.to_owned(), |path| format!("./{path}"));
            all.checkers
                .push(self.checker(name, format!("{program} {arguments}")));
        };
        if has("ruff", &["ruff.toml", ".ruff.toml"]) {
            add("ruff", "check --output-format concise --no-cache .");
        }
        if has("mypy", &["mypy.ini"]) {
            add(
                "mypy",
                "--no-color-output --show-column-numbers --no-error-summary --cache-dir=/dev/null .",
            );
        }
        if has("pyright", &["pyrightconfig.json"]) {
            add("pyright", "");
        }
    }

    /// A program that a package brings, here or in a folder above.
    fn program(&self, name: &'static str, path: &str, arguments: &str, all: &mut Found) {
        match self.upwards(path) {
            Some(up) => all
                .checkers
                .push(self.checker(name, format!("{up}{path} {arguments}"))),
            None => self.is_missing(name, all),
        }
    }

    /// The way up to the nearest folder that has something: empty, `../`, `../../`.
    fn upwards(&self, path: &str) -> Option<String> {
        let folders = std::iter::successors(Some(self.folder.clone()), RelativePath::parent);
        let mut up = String::from("./");
        for folder in folders {
            if (Folder {
                root: self.root,
                folder: &folder,
            })
            .has(path)
            {
                return Some(up);
            }
            up.push_str("../");
        }
        None
    }

    fn has_make_target(&self, target: &str) -> bool {
        let text = self.text("Makefile").unwrap_or_default();
        text.lines().any(|line| {
            let names = line.split(':').next().unwrap_or_default();
            line.contains(':')
                && !line.starts_with(['\t', '#', ' '])
                && names.split_whitespace().any(|name| name == target)
        })
    }
}
