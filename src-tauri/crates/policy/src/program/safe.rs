//! The safe list: what only looks.

use crate::command::{CommandLine, Part, WordKind};

/// Read-only programs of the safe list. Nothing that takes a script, a hook, an editor, a pager or an output file.
const READERS: &[&str] = &[
    "ls", "cat", "head", "tail", "wc", "pwd", "echo", "file", "stat", "du", "tree", "grep", "true",
];
const GIT_READERS: &[&str] = &["status", "log", "diff", "show", "branch"];
/// Options by which a reader would write, run or page.
const UNSAFE_OPTIONS: &[&str] = &[
    "-o",
    "--output",
    "--ext-diff",
    "--textconv",
    "-D",
    "-d",
    "-m",
    "-M",
    "-c",
    "-C",
    "--exec",
    "-f",
    "--follow",
    "-u",
    "--magic-file",
    "--compile",
    "--open-files-in-pager",
];

/// The fixed list of commands that Balanced lets pass and Plan may use, in words.
pub fn safe_list() -> Vec<&'static str> {
    vec![
        "git status, log, diff, show, and the list of branches",
        "ls, tree, du, stat, file: what is there and how large",
        "cat, head, tail, grep, wc: what stands in files of the project",
        "pwd, echo, true",
        "the version of any program: --version, -V, version",
    ]
}

/// Whether the whole line is on the fixed safe list: it only looks.
pub(crate) fn is_safe(line: &CommandLine) -> bool {
    line.understood && line.parts.iter().all(is_safe_part)
}

fn is_safe_part(part: &Part) -> bool {
    let Some(name) = part.words.first() else {
        return false;
    };
    let plain = part.writes.is_empty() && part.assignments.is_empty() && !part.background;
    let known = part.kinds.iter().all(|kind| *kind != WordKind::Expanded);
    if !plain || !known || name.contains(['/', '\\']) {
        return false;
    }
    let arguments = part.words.get(1..).unwrap_or_default();
    match name.as_str() {
        "git" => {
            let Some((sub, rest)) = arguments.split_first() else {
                return false;
            };
            let lists = sub != "branch" || rest.iter().all(|word| lists_branches(word));
            GIT_READERS.contains(&sub.as_str()) && lists && is_tame(rest)
        }
        "echo" | "grep" => true,
        name if READERS.contains(&name) => is_tame(arguments),
        _ => matches!(arguments, [only] if only == "--version" || only == "-V" || only == "version"),
    }
}

fn lists_branches(word: &str) -> bool {
    let option = word.split('=').next().unwrap_or(word);
    let lists = [
        "-a",
        "-r",
        "-v",
        "-vv",
        "-l",
        "--all",
        "--remotes",
        "--list",
        "--show-current",
        "--verbose",
        "--merged",
        "--no-merged",
        "--no-color",
        "--sort",
        "--format",
        "--column",
        "--no-column",
    ];
    lists.contains(&option)
}

fn is_tame(arguments: &[String]) -> bool {
    !arguments.iter().any(|word| {
        let option = word.split('=').next().unwrap_or(word);
        UNSAFE_OPTIONS.contains(&option) || word.starts_with("--output") || word.contains("://")
    })
}
