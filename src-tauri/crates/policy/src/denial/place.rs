//! Where a word leads: the root of the drive, a home folder, a device. By text alone: links are the fence's business.

use crate::command::{Part, WordKind};
use crate::program::program;

/// So many steps up lead to the root from wherever a project lies.
const STEPS_TO_ROOT: usize = 6;
/// Folders of a system; deleting one ends it.
const TOPS: &[&str] = &[
    "bin",
    "boot",
    "dev",
    "etc",
    "home",
    "lib",
    "lib32",
    "lib64",
    "libx32",
    "opt",
    "proc",
    "root",
    "run",
    "sbin",
    "srv",
    "sys",
    "usr",
    "var",
    "Users",
    "System",
    "Library",
    "Applications",
    "private",
    "Volumes",
    "cores",
    "Windows",
    "Program Files",
    "Program Files (x86)",
    "ProgramData",
];

/// The folder that `cd` went to, as far as it matters here.
#[derive(Default)]
pub(super) struct Base(Option<Vec<String>>);

/// A path as steps from the root: a home folder stands as `~`.
type Steps = Vec<String>;

impl Base {
    /// Goes where this command goes.
    pub(super) fn follow(&mut self, part: &Part) {
        if !matches!(
            program(part).as_deref(),
            Some("cd" | "pushd" | "chdir" | "set-location")
        ) {
            return;
        }
        let target = (1..part.words.len()).find(|at| !part.words[*at].starts_with('-'));
        self.0 = match target {
            None if part.words.len() == 1 => Some(vec!["~".to_owned()]),
            None => None,
            Some(at) => part
                .words
                .get(at)
                .and_then(|word| self.steps(word, part.kind(at))),
        };
    }

    /// The steps from the root or from a home; `None` for what stays relative to an unknown folder.
    pub(super) fn steps(&self, word: &str, kind: WordKind) -> Option<Steps> {
        let word = &windows(word);
        let (mut steps, rest): (Steps, &str) = if let Some(rest) = word.strip_prefix('/') {
            (Vec::new(), rest)
        } else if let Some(rest) = home(word, kind) {
            (vec!["~".to_owned()], rest)
        } else if let Some(base) = &self.0 {
            (base.clone(), word)
        } else {
            return climbs(word).then(Vec::new);
        };
        for step in rest.split('/') {
            match step {
                "" | "." => {}
                ".." => {
                    // Above a home lies the folder of all homes.
                    if steps.pop().is_some_and(|last| last == "~") {
                        steps.push("home".to_owned());
                    }
                }
                step => steps.push(step.to_owned()),
            }
        }
        Some(steps)
    }
}

/// `C:\x` as `/x`, and the names of homes there.
fn windows(word: &str) -> String {
    let bytes = word.as_bytes();
    let drive = bytes.first().is_some_and(u8::is_ascii_alphabetic)
        && bytes.get(1) == Some(&b':')
        && matches!(bytes.get(2), Some(b'/' | b'\\') | None);
    if drive {
        return format!("/{}", word.get(2..).unwrap_or_default().replace('\\', "/"));
    }
    for home in ["%USERPROFILE%", "$env:USERPROFILE", "%HOMEPATH%"] {
        if word
            .get(..home.len())
            .is_some_and(|begin| begin.eq_ignore_ascii_case(home))
        {
            return format!(
                "$HOME{}",
                word.get(home.len()..).unwrap_or_default().replace('\\', "/")
            );
        }
    }
    for system in [
        "%SystemRoot%",
        "%SystemDrive%",
        "$env:SystemRoot",
        "$env:SystemDrive",
    ] {
        if word
            .get(..system.len())
            .is_some_and(|begin| begin.eq_ignore_ascii_case(system))
        {
            return "/".to_owned();
        }
    }
    word.to_owned()
}

/// What stands behind `~`, `~name` or `$HOME`.
fn home(word: &str, kind: WordKind) -> Option<&str> {
    let behind = |rest: &'_ str| rest.is_empty() || rest.starts_with('/');
    if let Some(rest) = word.strip_prefix('~').filter(|_| kind != WordKind::Literal) {
        let name = rest.split('/').next().unwrap_or_default();
        let plain = name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'));
        // `~+` and `~-` are working folders.
        return plain.then(|| rest.get(name.len()..).unwrap_or_default());
    }
    for home in ["$HOME", "${HOME}", "$USERPROFILE"] {
        if let Some(rest) = word.strip_prefix(home).filter(|rest| behind(rest)) {
            return Some(rest);
        }
    }
    None
}

fn climbs(word: &str) -> bool {
    let mut up = 0;
    for step in word.split('/') {
        match step {
            ".." => up += 1,
            "" | "." => {}
            step if is_all(step) => {}
            _ => return false,
        }
    }
    up >= STEPS_TO_ROOT
}

fn is_all(step: &str) -> bool {
    matches!(
        step,
        "*" | ".*" | "**" | "?*" | "*.*" | ".[!.]*" | "..?*" | "{*,.*}" | "[!.]*" | "[a-z]*" | "[a-zA-Z]*"
    )
}

/// Whether the word stands for the whole drive, a folder of the system, or a home folder.
pub(super) fn is_wide(word: &str, kind: WordKind, base: &Base) -> bool {
    let Some(mut steps) = base.steps(word, kind) else {
        return false;
    };
    while steps.last().is_some_and(|step| is_all(step)) {
        steps.pop();
    }
    let steps: Vec<&str> = steps.iter().map(String::as_str).collect();
    match steps.as_slice() {
        [] | ["~"] => true,
        [top] => TOPS.iter().any(|name| name.eq_ignore_ascii_case(top)) || is_all_of_top(top),
        ["home" | "Users" | "users", _] => true,
        _ => false,
    }
}

/// `/us?`, `/[a-z]sr`: wildcards at the top of the drive.
fn is_all_of_top(top: &str) -> bool {
    top.contains(['*', '?', '['])
}

/// Disks and memory of the machine.
pub(super) fn is_device(path: &str) -> bool {
    const DEVICES: &[&str] = &[
        "sd", "hd", "vd", "xvd", "nvme", "mmcblk", "disk", "rdisk", "dm-", "md", "mapper/", "mem", "kmem",
        "port", "nbd", "loop", "sr",
    ];
    let lower = path.to_lowercase();
    if lower.starts_with("\\\\.\\physicaldrive") || lower.starts_with("//./physicaldrive") {
        return true;
    }
    lower.strip_prefix("/dev/").is_some_and(|name| {
        DEVICES.iter().any(|device| name.starts_with(device)) && !name.starts_with("mdns")
    })
}
