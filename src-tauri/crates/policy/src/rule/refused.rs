//! Rules that may never exist: malformed ones, and allowing ones that would hand over more than a person can see in them.

use crate::command::Part;
use crate::denial::RAISES;
use crate::open::starts_others;
use crate::program::{DELETES, base_name, deletes, is_interpreter, is_shell};
use paddock_protocol::{RuleAnswer, RuleShape, WordShape};

/// Domains below which anybody may have a host.
const SHARED_DOMAINS: &[&str] = &[
    "github.io",
    "gitlab.io",
    "pages.dev",
    "workers.dev",
    "vercel.app",
    "netlify.app",
    "herokuapp.com",
    "amazonaws.com",
    "cloudfront.net",
    "azurewebsites.net",
    "windows.net",
    "appspot.com",
    "web.app",
    "firebaseapp.com",
    "googleapis.com",
    "ngrok.io",
    "ngrok.app",
    "trycloudflare.com",
    "fly.dev",
    "onrender.com",
    "surge.sh",
    "repl.co",
    "blogspot.com",
    "webhook.site",
    "pipedream.net",
    "oastify.com",
];
/// Second labels that are public together with a country's.
const PUBLIC_SECOND: &[&str] = &[
    "co", "com", "org", "net", "ac", "gov", "edu", "or", "ne", "go", "gob", "ltd", "plc",
];
/// Folders whose children belong to one person each.
const HOMES: &[&str] = &["home", "Users", "users"];
/// Parts of paths at which keys, passwords and what runs at login are kept.
pub(crate) const SECRET_PLACES: &[&str] = &[
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".kube",
    ".docker",
    ".netrc",
    "_netrc",
    ".git-credentials",
    ".pgpass",
    ".password-store",
    "keyrings",
    "Keychains",
    ".npmrc",
    ".pypirc",
    "gcloud",
    "shadow",
    "gshadow",
    "sudoers",
    "sudoers.d",
    ".vault-token",
    ".terraform.d",
    "gh",
    ".mozilla",
    "google-chrome",
    "chromium",
    ".thunderbird",
];
const LOGIN_PLACES: &[&str] = &[
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".gitconfig",
    "autostart",
    "systemd",
    "LaunchAgents",
    "LaunchDaemons",
    "Startup",
    "cron.d",
    "crontabs",
    "crontab",
    "init.d",
    "profile.d",
    "ld.so.preload",
];
/// Names inside of the project that are protected whatever a rule says.
const PROTECTED_NAMES: &[&str] = &[
    ".git",
    ".paddock",
    ".vscode",
    ".idea",
    ".envrc",
    ".env",
    "AGENTS.md",
    "CLAUDE.md",
    ".cursorrules",
];

/// Why such a rule may not be kept; `None` when it may. What asks or refuses only has to be well formed.
pub fn refused_shape(shape: &RuleShape, answer: RuleAnswer) -> Option<String> {
    let allows = answer == RuleAnswer::Allow;
    let why = match shape {
        RuleShape::Command { words } => {
            malformed_words(words).or_else(|| allows.then(|| too_much(words)).flatten())
        }
        RuleShape::Host { host } => malformed_host(host).or_else(|| allows.then(|| shared(host)).flatten()),
        RuleShape::Outside { path, write } => {
            malformed_place(path, true).or_else(|| allows.then(|| outside(path, *write)).flatten())
        }
        RuleShape::WritePath { path } => {
            malformed_place(path, false).or_else(|| allows.then(|| inside(path)).flatten())
        }
        RuleShape::ExternalTool { server, tool } => {
            (server.is_empty() || tool.is_empty()).then_some("It names no tool.")
        }
    };
    why.map(str::to_owned)
}

fn malformed_words(words: &[WordShape]) -> Option<&'static str> {
    let rest_inside = words
        .iter()
        .rev()
        .skip(1)
        .any(|word| matches!(word, WordShape::Rest));
    if words.is_empty() {
        return Some("The rule has no words.");
    }
    if rest_inside {
        return Some("“Any number of words” can only stand at the end.");
    }
    let hollow = |word: &WordShape| matches!(word, WordShape::OneOf { texts } if texts.is_empty());
    words
        .iter()
        .any(hollow)
        .then_some("A part of the rule has no value.")
}

fn too_much(words: &[WordShape]) -> Option<&'static str> {
    let (first, rest) = words.split_first()?;
    for program in texts(first) {
        let why = match program {
            None => Some("It would allow every program."),
            Some(program) => program_refused(program, rest),
        };
        if why.is_some() {
            return why;
        }
    }
    None
}

/// The texts that a word may be; a `None` stands for any.
fn texts(word: &WordShape) -> Vec<Option<&str>> {
    match word {
        WordShape::Exact { text } => vec![Some(text)],
        WordShape::OneOf { texts } => texts.iter().map(|text| Some(text.as_str())).collect(),
        WordShape::Any | WordShape::Rest => vec![None],
    }
}

fn program_refused(program: &str, rest: &[WordShape]) -> Option<&'static str> {
    let name = base_name(program);
    if name.is_empty() || program.contains(['$', '`', '*', '?', '[', '=']) {
        return Some("Its first word is no program.");
    }
    if RAISES.contains(&name.as_str()) {
        return Some("It would run with the rights of another user.");
    }
    if starts_others(&name) {
        return Some("This program runs other programs, which the rule does not show.");
    }
    let script = rest.first().map(texts).unwrap_or_default();
    let names_script = !script.is_empty()
        && script
            .iter()
            .all(|text| text.is_some_and(|text| !text.is_empty() && !text.starts_with(['-', '/', '+'])));
    // `python -m pytest`
    let module = matches!(rest, [WordShape::Exact { text: m }, WordShape::Exact { text }, ..] if m == "-m" && !text.is_empty());
    let bare = is_shell(&name) || (is_interpreter(&name) && !module);
    if bare && !names_script {
        return Some("It would run any code: shells and interpreters need the name of a script.");
    }
    deletion(program, &name, rest)
}

/// Deletions are remembered for one exact path only.
fn deletion(program: &str, name: &str, rest: &[WordShape]) -> Option<&'static str> {
    const WHY: &str = "Deletions can be remembered for one exact path only.";
    let mut exact = vec![program.to_owned()];
    for word in rest {
        match word {
            WordShape::Exact { text } => exact.push(text.clone()),
            _ if DELETES.contains(&name) => return Some(WHY),
            _ => {}
        }
    }
    let part = Part {
        words: exact,
        ..Part::default()
    };
    if !deletes(&part) {
        return None;
    }
    let paths: Vec<&String> = part
        .words
        .iter()
        .skip(1)
        .filter(|word| !word.starts_with('-'))
        .collect();
    match paths.as_slice() {
        [path] if DELETES.contains(&name) && is_one_place(path) => None,
        _ => Some(WHY),
    }
}

/// One path below the project, named letter by letter.
pub(crate) fn is_one_place(path: &str) -> bool {
    let loose = path.contains(['*', '?', '[', '{', '$', '`', '~', '\\', ':']);
    let steps = path.split('/').filter(|step| !step.is_empty() && *step != ".");
    !loose && !path.starts_with('/') && steps.clone().count() > 0 && steps.clone().all(|step| step != "..")
}

fn malformed_host(host: &str) -> Option<&'static str> {
    let name = host.strip_prefix("*.").unwrap_or(host);
    let is_address = name.contains(':');
    let allowed = |c: char| {
        c.is_ascii_lowercase()
            || c.is_ascii_digit()
            || matches!(c, '-' | '.' | '_')
            || (is_address && c == ':')
    };
    let labels_fit = is_address || name.split('.').all(|label| !label.is_empty());
    if name.is_empty() || !name.chars().all(allowed) || !labels_fit {
        return Some("It is no host name; write it like example.com or *.example.com.");
    }
    let numbers = name.chars().all(|c| c.is_ascii_digit() || c == '.');
    (name != host && (is_address || numbers)).then_some("Addresses have no hosts below them.")
}

fn shared(host: &str) -> Option<&'static str> {
    let domain = host.strip_prefix("*.")?;
    let labels: Vec<&str> = domain.split('.').collect();
    let public = match labels.as_slice() {
        [_] => true,
        [second, country] => country.len() == 2 && PUBLIC_SECOND.contains(second),
        _ => false,
    };
    // A cloud's regions are shared like itself: `s3.eu-west-1.amazonaws.com`.
    let cloud = |name: &str| domain.strip_suffix(name).is_some_and(|rest| rest.ends_with('.'));
    let shared = SHARED_DOMAINS.contains(&domain) || cloud("amazonaws.com");
    (public || shared).then_some("Anybody can have a host below this domain.")
}

fn malformed_place(path: &str, absolute: bool) -> Option<&'static str> {
    let drive = path.get(1..3).is_some_and(|at| at == ":/" || at == ":\\");
    if path.is_empty() || path.contains('\0') {
        return Some("It names no place.");
    }
    if path.split(['/', '\\']).any(|step| step == ".." || step == ".") {
        return Some("A place has no “.” or “..” in it.");
    }
    if path.contains(['*', '?']) {
        return Some("Places are exact: a file, or a folder with “/” at its end.");
    }
    let is_absolute = path.starts_with('/') || drive;
    match (absolute, is_absolute) {
        (true, false) => Some("A place outside of the project is written in full."),
        (false, true) => Some("A path in the project does not begin at the drive."),
        _ => None,
    }
}

fn outside(path: &str, write: bool) -> Option<&'static str> {
    let steps: Vec<&str> = path.split(['/', '\\']).filter(|step| !step.is_empty()).collect();
    let steps = match steps.split_first() {
        Some((drive, rest)) if drive.ends_with(':') => rest,
        _ => &steps,
    };
    let is_home = matches!(steps, [homes, _] if HOMES.contains(homes)) || matches!(steps, ["root"]);
    let top = steps.len() < 2;
    if is_home || (top && (path.ends_with('/') || steps.is_empty() || write)) {
        return Some("It would open the home folder or a whole part of the drive.");
    }
    let named = |names: &[&str]| {
        steps
            .iter()
            .any(|step| names.iter().any(|name| step.eq_ignore_ascii_case(name)))
    };
    if named(SECRET_PLACES) || steps.iter().any(|step| step.starts_with("id_")) {
        return Some("Keys and passwords are kept there: it can be allowed once, never by rule.");
    }
    if matches!(steps, ["proc" | "sys" | "dev", ..]) {
        return Some("These are no files but the machine itself.");
    }
    let system = [
        "etc", "usr", "bin", "sbin", "lib", "lib64", "boot", "System", "Windows", "Library",
    ];
    if write && (named(LOGIN_PLACES) || steps.first().is_some_and(|step| system.contains(step))) {
        return Some("What is written there runs outside of the fence later.");
    }
    None
}

fn inside(path: &str) -> Option<&'static str> {
    let protected = path.split('/').any(|step| {
        PROTECTED_NAMES.iter().any(|name| step.eq_ignore_ascii_case(name))
            || step.to_lowercase().starts_with(".env.")
    });
    protected.then_some("This place is protected: it is asked every time.")
}
