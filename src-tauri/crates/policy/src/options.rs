//! Options before the word that matters: which of them take a value, so that a subcommand or an opened command is found behind
//! all of them.

use crate::command::Part;
use crate::program::base_name;

/// Programs with subcommands, and their options in front of one that take the next word as their value.
const GLOBAL_VALUES: &[(&str, &[&str])] = &[
    (
        "git",
        &[
            "-C",
            "-c",
            "--git-dir",
            "--work-tree",
            "--namespace",
            "--super-prefix",
            "--config-env",
            "--attr-source",
            "--exec-path",
        ],
    ),
    (
        "npm",
        &[
            "--prefix",
            "-C",
            "-w",
            "--workspace",
            "--loglevel",
            "--registry",
            "--userconfig",
            "--cache",
            "--script-shell",
        ],
    ),
    (
        "pnpm",
        &[
            "-C",
            "--dir",
            "-F",
            "--filter",
            "--filter-prod",
            "--reporter",
            "--loglevel",
            "--prefix",
        ],
    ),
    (
        "yarn",
        &[
            "--cwd",
            "--registry",
            "--cache-folder",
            "--modules-folder",
            "--use-yarnrc",
        ],
    ),
    ("bun", &["--cwd", "--config", "-c", "--filter"]),
    (
        "cargo",
        &[
            "-Z",
            "-C",
            "--config",
            "--color",
            "--manifest-path",
            "--target-dir",
            "--explain",
            "--lockfile-path",
        ],
    ),
    ("rustup", &["--toolchain"]),
    (
        "make",
        &[
            "-C",
            "-f",
            "-I",
            "-o",
            "-W",
            "--directory",
            "--file",
            "--makefile",
            "--include-dir",
            "--eval",
        ],
    ),
    (
        "just",
        &[
            "-f",
            "-d",
            "--justfile",
            "--working-directory",
            "--set",
            "--shell",
        ],
    ),
    ("go", &["-C"]),
    ("docker", DOCKER),
    ("podman", DOCKER),
    ("nerdctl", DOCKER),
    (
        "kubectl",
        &[
            "-n",
            "--namespace",
            "--context",
            "--kubeconfig",
            "--cluster",
            "--user",
            "-s",
            "--server",
            "--token",
            "--as",
        ],
    ),
    ("helm", &["-n", "--namespace", "--kube-context", "--kubeconfig"]),
    ("gh", &["-R", "--repo", "--hostname"]),
    ("pip", PIP),
    ("pip3", PIP),
    (
        "uv",
        &[
            "--directory",
            "--project",
            "--config-file",
            "--cache-dir",
            "--color",
            "--python",
            "-p",
            "--with",
        ],
    ),
    ("poetry", &["-C", "--directory", "-P", "--project"]),
    (
        "mvn",
        &["-f", "-s", "-P", "-D", "-pl", "-rf", "-T", "--file", "--settings"],
    ),
    (
        "gradle",
        &["-p", "-b", "-c", "-I", "--project-dir", "--build-file"],
    ),
    (
        "systemctl",
        &[
            "-H",
            "-M",
            "-t",
            "-p",
            "-n",
            "-o",
            "--host",
            "--machine",
            "--root",
            "--type",
        ],
    ),
    ("composer", &["-d", "--working-dir"]),
    (
        "aws",
        &["--profile", "--region", "--endpoint-url", "--output", "--query"],
    ),
    ("gcloud", &["--project", "--account", "--configuration"]),
    ("apt", &["-o", "-c", "-t"]),
    ("apt-get", &["-o", "-c", "-t"]),
    ("hg", &["-R", "--repository", "--cwd", "--config", "--encoding"]),
    ("svn", &["--config-dir", "--username", "--password"]),
];

const DOCKER: &[&str] = &[
    "-H",
    "--host",
    "-c",
    "--context",
    "--config",
    "-l",
    "--log-level",
    "--tlscacert",
    "--tlscert",
    "--tlskey",
    "--connection",
    "--url",
    "--root",
    "-f",
    "--file",
    "-p",
    "--project-name",
];
const PIP: &[&str] = &[
    "--python",
    "--proxy",
    "--log",
    "--cache-dir",
    "--cert",
    "--timeout",
    "--retries",
];

/// Where the subcommand of a program stands: the first word behind its global options and their values.
pub(crate) fn subcommand_at(part: &Part) -> Option<usize> {
    let program = base_name(part.words.first()?);
    let values = GLOBAL_VALUES
        .iter()
        .find(|(name, _)| *name == program)
        .map_or(&[][..], |(_, values)| values);
    let from = match part.words.get(1) {
        // `cargo +nightly`
        Some(word) if word.starts_with('+') => 2,
        _ => 1,
    };
    behind(part, from, values)
}

/// The first word from a place on that is neither an option nor the value of one of these options.
pub(crate) fn behind(part: &Part, from: usize, values: &[&str]) -> Option<usize> {
    let mut at = from;
    while let Some(word) = part.words.get(at) {
        if word == "--" {
            return (at + 1 < part.words.len()).then_some(at + 1);
        }
        if !word.starts_with('-') || word == "-" {
            return Some(at);
        }
        at += if values.contains(&word.as_str()) { 2 } else { 1 };
    }
    None
}

pub(crate) fn subcommand(part: &Part) -> Option<&str> {
    part.words.get(subcommand_at(part)?).map(String::as_str)
}

/// Words behind the subcommand.
pub(crate) fn arguments(part: &Part) -> &[String] {
    subcommand_at(part)
        .and_then(|at| part.words.get(at + 1..))
        .unwrap_or_default()
}

/// Whether one of these options is there, alone, with `=value`, or, a single letter, among others: `-xf`.
pub(crate) fn has(words: &[String], options: &[&str]) -> bool {
    words
        .iter()
        .take_while(|word| *word != "--")
        .any(|word| options.iter().any(|option| is_option(word, option)))
}

fn is_option(word: &str, option: &str) -> bool {
    if word == option {
        return true;
    }
    match option.strip_prefix("--") {
        // git takes the begin of an option for the whole.
        Some(_) => {
            let name = word.split('=').next().unwrap_or(word);
            name.len() > 4 && option.starts_with(name)
        }
        None => match (option.strip_prefix('-'), word.strip_prefix('-')) {
            (Some(letter), Some(letters)) if letter.len() == 1 => {
                !letters.starts_with('-')
                    && letters.chars().all(|c| c.is_ascii_alphabetic())
                    && letters.contains(letter)
            }
            _ => false,
        },
    }
}
