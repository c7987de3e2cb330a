//! What deletes, overwrites without a copy, or throws changes away.

use super::program;
use crate::command::Part;
use crate::options::{arguments, has, subcommand};

pub(crate) const DELETES: &[&str] = &[
    "rm",
    "rmdir",
    "unlink",
    "shred",
    "truncate",
    "srm",
    "wipe",
    "del",
    "erase",
    "rd",
    "ri",
    "remove-item",
    "clear-content",
    "clear-item",
    "rimraf",
    "del-cli",
    "dropdb",
    "trash-empty",
];
/// Tools of other places, where deleting is a word among others.
const FAR_TOOLS: &[&str] = &[
    "docker",
    "podman",
    "nerdctl",
    "docker-compose",
    "kubectl",
    "helm",
    "aws",
    "gcloud",
    "gsutil",
    "az",
    "gh",
    "glab",
    "terraform",
    "tofu",
    "pulumi",
    "heroku",
    "doctl",
    "fly",
    "flyctl",
    "firebase",
    "vercel",
    "netlify",
    "wrangler",
];
const FAR_DELETIONS: &[&str] = &[
    "rm",
    "rmi",
    "rb",
    "delete",
    "destroy",
    "remove",
    "prune",
    "purge",
    "down",
    "uninstall",
    "terminate-instances",
    "apps:destroy",
    "drain",
    "archive",
];
const DATABASES: &[&str] = &[
    "psql",
    "mysql",
    "mariadb",
    "sqlite3",
    "mongosh",
    "mongo",
    "redis-cli",
    "duckdb",
    "sqlcmd",
];
/// Names of branches that are no files.
const BRANCHES: &[&str] = &[
    "main",
    "master",
    "develop",
    "development",
    "dev",
    "trunk",
    "staging",
    "production",
    "HEAD",
    "-",
];

/// Whether it deletes, overwrites without a copy, or throws changes away.
pub(crate) fn deletes(part: &Part) -> bool {
    let Some(name) = program(part) else { return false };
    let words = part.words.get(1..).unwrap_or_default();
    match name.as_str() {
        "git" => git_deletes(part),
        "find" => words.iter().any(|word| word == "-delete"),
        "rsync" => words.iter().any(|word| {
            word.starts_with("--delete") || word == "--del" || word.starts_with("--remove-source")
        }),
        "dd" => words
            .iter()
            .any(|word| word.starts_with("of=") && word != "of=/dev/null"),
        "mv" => words.last().is_some_and(|word| word == "/dev/null"),
        "cp" => {
            words.iter().any(|word| word == "/dev/null")
                && words.last().is_some_and(|word| word != "/dev/null")
        }
        "hg" => matches!(subcommand(part), Some("purge" | "strip" | "revert" | "rollback")),
        "svn" => matches!(subcommand(part), Some("revert" | "cleanup" | "delete" | "rm")),
        "jj" => matches!(subcommand(part), Some("abandon" | "restore" | "undo")),
        name if FAR_TOOLS.contains(&name) => part
            .words
            .iter()
            .skip(1)
            .filter(|word| !word.starts_with('-'))
            .take(3)
            .any(|word| FAR_DELETIONS.contains(&word.as_str())),
        name if DATABASES.contains(&name) => words.iter().any(|word| {
            let text = word.to_uppercase();
            let marks = [
                "DROP ",
                "TRUNCATE ",
                "DELETE FROM",
                "FLUSHALL",
                "FLUSHDB",
                "DROPDATABASE",
                "DELETEMANY",
            ];
            marks.iter().any(|mark| text.contains(mark))
        }),
        name => DELETES.contains(&name),
    }
}

fn git_deletes(part: &Part) -> bool {
    let words = arguments(part);
    let first = words.first().map(String::as_str).unwrap_or_default();
    match subcommand(part).unwrap_or_default() {
        "clean" => !has(words, &["-n", "--dry-run"]),
        "rm" => !has(words, &["--cached", "--dry-run"]),
        "reset" => has(words, &["--hard", "--merge", "--keep"]),
        "checkout" => checkout_discards(words),
        "switch" => has(
            words,
            &["-f", "--force", "--discard-changes", "-C", "--force-create"],
        ),
        "restore" => !has(words, &["--staged", "-S"]) || has(words, &["--worktree", "-W"]),
        "push" => {
            has(
                words,
                &[
                    "-f",
                    "--force",
                    "--force-with-lease",
                    "--force-if-includes",
                    "--delete",
                    "-d",
                    "--mirror",
                    "--prune",
                ],
            ) || words
                .iter()
                .any(|word| word.starts_with('+') || (word.starts_with(':') && word.len() > 1))
        }
        "branch" => has(words, &["-D", "-d", "--delete", "-f", "--force", "-M", "-C"]),
        "tag" => has(words, &["-d", "--delete", "-f", "--force"]),
        "stash" => matches!(first, "drop" | "clear"),
        "worktree" => matches!(first, "remove" | "prune"),
        "reflog" => matches!(first, "expire" | "delete"),
        "submodule" => first == "deinit",
        "update-ref" => has(words, &["-d"]),
        "lfs" => first == "prune",
        "filter-branch" | "filter-repo" | "gc" | "prune" | "rebase" => true,
        _ => false,
    }
}

/// Whether a checkout may throw changes of files away: everything but new branches and well-known names of branches.
fn checkout_discards(words: &[String]) -> bool {
    if has(words, &["-f", "--force", "-B", "-p", "--ours", "--theirs"])
        || words.iter().any(|word| word == "--")
    {
        return true;
    }
    if has(words, &["-b", "--orphan", "--track", "-t", "--detach"]) {
        return false;
    }
    let plain: Vec<&String> = words
        .iter()
        .filter(|word| *word == "-" || !word.starts_with('-'))
        .collect();
    match plain.as_slice() {
        [] => false,
        [only] => {
            let branch = only.split_once('/').is_some_and(|(kind, rest)| {
                matches!(
                    kind,
                    "feature" | "feat" | "fix" | "bugfix" | "hotfix" | "release" | "chore" | "origin"
                ) && !rest.contains('.')
            });
            !branch && !BRANCHES.contains(&only.as_str())
        }
        _ => true,
    }
}
