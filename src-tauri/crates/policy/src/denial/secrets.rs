//! Commands that read keys, passwords and logins of the person.

use super::place::Base;
use crate::command::Part;
use crate::options::subcommand;
use crate::program::program;

/// What is kept right below a home folder.
const AT_HOME: &[&[&str]] = &[
    &[".ssh"],
    &[".gnupg"],
    &[".aws"],
    &[".azure"],
    &[".kube"],
    &[".password-store"],
    &[".netrc"],
    &["_netrc"],
    &[".git-credentials"],
    &[".pgpass"],
    &[".my.cnf"],
    &[".npmrc"],
    &[".pypirc"],
    &[".vault-token"],
    &[".terraform.d"],
    &[".docker", "config.json"],
    &[".cargo", "credentials.toml"],
    &[".cargo", "credentials"],
    &[".gem", "credentials"],
    &[".config", "gh"],
    &[".config", "gcloud"],
    &[".config", "op"],
    &[".config", "google-chrome"],
    &[".config", "chromium"],
    &[".mozilla"],
    &[".electrum"],
    &[".bash_history"],
    &[".zsh_history"],
    &[".local", "share", "keyrings"],
    &[".local", "share", "kwalletd"],
    &["Library", "Keychains"],
    &["Library", "Cookies"],
    &["AppData", "Local", "Microsoft", "Credentials"],
    &["AppData", "Roaming", "Microsoft", "Credentials"],
];
/// What is kept at one place of a system.
const IN_SYSTEM: &[&[&str]] = &[
    &["etc", "shadow"],
    &["etc", "gshadow"],
    &["etc", "sudoers"],
    &["etc", "sudoers.d"],
    &["etc", "krb5.keytab"],
    &["Library", "Keychains"],
    &["run", "secrets"],
    &["var", "run", "secrets"],
];
/// Files beside the keys of ssh that are no secret.
const OPEN: &[&str] = &["known_hosts", "known_hosts.old", "config", "allowed_signers"];
/// Programs that look at a path and not into it.
const OUTSIDE: &[&str] = &[
    "ls",
    "test",
    "[",
    "[[",
    "stat",
    "chmod",
    "mkdir",
    "echo",
    "printf",
    "which",
    "file",
    "export",
    "cd",
    "touch",
    "rm",
    "ssh-keygen",
    "ssh-add",
    "git",
];
/// Programs that hand out secrets: their first words.
const GIVERS: &[(&str, &[&str])] = &[
    (
        "security",
        &[
            "find-generic-password",
            "find-internet-password",
            "dump-keychain",
            "export",
            "find-identity",
        ],
    ),
    ("secret-tool", &["lookup", "search"]),
    ("keyctl", &["read", "print", "pipe"]),
    ("gh", &["auth token"]),
    (
        "gcloud",
        &[
            "auth print-access-token",
            "auth print-identity-token",
            "auth application-default",
        ],
    ),
    ("aws", &["configure export-credentials", "sts get-session-token"]),
    ("az", &["account get-access-token"]),
    (
        "git",
        &[
            "credential fill",
            "credential-store get",
            "credential-osxkeychain get",
        ],
    ),
    ("op", &["read", "item get"]),
    ("bw", &["get", "list", "export"]),
    ("pass", &["show", "ls"]),
    ("gopass", &["show"]),
    ("vault", &["kv get", "read"]),
    ("kwallet-query", &[""]),
    ("docker-credential-desktop", &["get"]),
    ("docker-credential-osxkeychain", &["get"]),
    ("cmdkey", &["/list"]),
    ("mimikatz", &[""]),
];

pub(super) fn reads(part: &Part, base: &Base) -> bool {
    let Some(name) = program(part) else {
        return part
            .reads
            .iter()
            .any(|path| is_secret(path, base, part, usize::MAX));
    };
    if gives(part, &name) {
        return true;
    }
    if part
        .reads
        .iter()
        .any(|path| is_secret(path, base, part, usize::MAX))
    {
        return true;
    }
    if OUTSIDE.contains(&name.as_str()) {
        return false;
    }
    let connects = matches!(name.as_str(), "ssh" | "scp" | "sftp" | "rsync" | "mosh");
    (1..part.words.len()).any(|at| {
        // The key with which one connects is used and not shown.
        let identity = connects && part.words[at - 1] == "-i";
        let word = &part.words[at];
        let value = word
            .split_once('=')
            .map_or(word.as_str(), |(_, value)| value)
            .trim_start_matches('@');
        !identity && (is_secret(word, base, part, at) || is_secret(value, base, part, at))
    })
}

fn gives(part: &Part, name: &str) -> bool {
    let exports =
        matches!(name, "gpg" | "gpg2") && part.words.iter().any(|word| word.starts_with("--export-secret"));
    let plain: Vec<&str> = part
        .words
        .iter()
        .skip(1)
        .map(String::as_str)
        .filter(|word| !word.starts_with('-'))
        .collect();
    let said = plain.join(" ");
    let first = subcommand(part).is_some();
    exports
        || GIVERS.iter().any(|(giver, verbs)| {
            *giver == name
                && verbs
                    .iter()
                    .any(|verb| (first || verb.is_empty()) && begins(&said, verb))
        })
}

fn begins(said: &str, verb: &str) -> bool {
    verb.is_empty()
        || said
            .strip_prefix(verb)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}

/// Whether a path outside of the project leads to where secrets are kept. Inside of the project nothing is said: what is
/// protected there asks.
fn is_secret(path: &str, base: &Base, part: &Part, at: usize) -> bool {
    let kind = match at {
        // Redirections: a leading `~` is taken for a home.
        usize::MAX => crate::command::WordKind::Pattern,
        at => part.kind(at),
    };
    let known = base.steps(path, kind);
    let steps: Vec<&str> = match &known {
        Some(steps) => steps.iter().map(String::as_str).collect(),
        // Up and out of the project, to who knows where.
        None if path.starts_with("../") => path.split('/').filter(|step| *step != "..").collect(),
        None => return false,
    };
    let last = steps.last().copied().unwrap_or_default();
    if last.ends_with(".pub") || (OPEN.contains(&last) && steps.contains(&".ssh")) {
        return false;
    }
    let below_home = match steps.as_slice() {
        _ if known.is_none() => return begins_at(&steps, &AT_HOME[..3]),
        ["~", rest @ ..] | ["home" | "Users" | "users", _, rest @ ..] | ["root", rest @ ..] => rest,
        ["proc", process, "environ"] => return *process != "self",
        _ => return begins_at(&steps, IN_SYSTEM),
    };
    begins_at(below_home, AT_HOME)
}

fn begins_at(steps: &[&str], places: &[&[&str]]) -> bool {
    places.iter().any(|place| {
        steps.len() >= place.len() && steps.iter().zip(*place).all(|(step, name)| fits(step, name))
    })
}

/// Whether a step of a path is this name, wildcards in it opened; a step of wildcards alone says nothing.
fn fits(step: &str, name: &str) -> bool {
    if !step.contains(['*', '?', '[']) {
        return step.eq_ignore_ascii_case(name);
    }
    step.chars().any(char::is_alphanumeric) && matches(step, name)
}

/// The usual wildcards; a set stands for any letter, as far as a hint goes.
fn matches(pattern: &str, name: &str) -> bool {
    let mut letters = Vec::new();
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        if c == '[' {
            chars.by_ref().find(|c| *c == ']');
            letters.push('?');
        } else {
            letters.push(c);
        }
    }
    let name: Vec<char> = name.chars().collect();
    let (mut at, mut in_name, mut star) = (0, 0, None);
    while in_name < name.len() {
        match letters.get(at) {
            Some('*') => {
                star = Some((at, in_name));
                at += 1;
            }
            Some(c) if *c == '?' || Some(c) == name.get(in_name) => {
                at += 1;
                in_name += 1;
            }
            _ => match star {
                Some((star_at, from)) => {
                    star = Some((star_at, from + 1));
                    at = star_at + 1;
                    in_name = from + 1;
                }
                None => return false,
            },
        }
    }
    letters.get(at..).unwrap_or_default().iter().all(|c| *c == '*')
}
