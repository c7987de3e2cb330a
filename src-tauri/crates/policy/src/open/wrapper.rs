//! Commands that start others which stand in their own words.

use super::{Inside, code, power_shell, rest_as_text, shell, text, value};
use crate::command::{CommandLine, Part, WordKind};
use crate::options::{behind, subcommand, subcommand_at};
use crate::program::{base_name, is_interpreter, is_shell, runs_inline};

/// Wrappers, their options that take a value, and how many words of their own stand before the command.
const WRAPPERS: &[(&str, &[&str], usize)] = &[
    ("time", &["-f", "-o", "--format", "--output"], 0),
    ("nice", &["-n", "--adjustment"], 0),
    ("ionice", &["-c", "-n", "--class", "--classdata"], 0),
    ("chrt", &["-T", "-P", "-D"], 1),
    ("taskset", &[], 1),
    ("nohup", &[], 0),
    ("timeout", &["-s", "-k", "--signal", "--kill-after"], 1),
    ("setsid", &[], 0),
    ("stdbuf", &["-i", "-o", "-e", "--input", "--output", "--error"], 0),
    ("builtin", &[], 0),
    ("exec", &["-a"], 0),
    ("unbuffer", &[], 0),
    ("caffeinate", &["-t", "-w"], 0),
    (
        "strace",
        &[
            "-o", "-e", "-p", "-s", "-u", "-E", "-P", "-a", "-b", "-I", "-O", "-S",
        ],
        0,
    ),
    ("ltrace", &["-o", "-e", "-p", "-s", "-u", "-l", "-n"], 0),
    ("chroot", &["--userspec", "--groups"], 1),
    (
        "unshare",
        &["--map-user", "--map-group", "-S", "-G", "-R", "-w"],
        0,
    ),
    (
        "nsenter",
        &["-t", "--target", "-S", "-G", "--setuid", "--setgid"],
        0,
    ),
    ("xvfb-run", &["-n", "-s", "-e", "-f", "-p", "-w"], 0),
    ("dbus-run-session", &["--config-file", "--dbus-daemon"], 0),
    (
        "systemd-run",
        &[
            "-p",
            "--property",
            "-u",
            "--unit",
            "-E",
            "--setenv",
            "--uid",
            "--gid",
            "-M",
            "-H",
        ],
        0,
    ),
    ("systemd-inhibit", &["--what", "--who", "--why", "--mode"], 0),
    ("prlimit", &[], 0),
    ("fakeroot", &["-l", "-s", "-i"], 0),
    ("ccache", &[], 0),
    ("sccache", &[], 0),
    ("busybox", &[], 0),
    ("toybox", &[], 0),
    ("entr", &[], 0),
    (
        "xargs",
        &[
            "-I",
            "-n",
            "-P",
            "-L",
            "-s",
            "-d",
            "-E",
            "-a",
            "--max-args",
            "--max-procs",
            "--arg-file",
            "--delimiter",
        ],
        0,
    ),
    (
        "sudo",
        &[
            "-u", "-g", "-h", "-p", "-C", "-r", "-t", "-T", "-U", "-D", "-R", "--user", "--group",
        ],
        0,
    ),
    ("doas", &["-u", "-C"], 0),
    ("pkexec", &["--user"], 0),
    ("run0", &["-u", "--user", "-D"], 0),
    ("gosu", &[], 1),
    ("su-exec", &[], 1),
    ("firejail", &[], 0),
    ("proot", &["-r", "-b", "-w"], 0),
    ("gdb", &["-x", "-ex"], 0),
    ("valgrind", &[], 0),
    ("pipx", &[], 1),
];
/// Programs that run a command of the project's own surroundings; the words show it plainly.
const RUNNERS: &[(&str, &str)] = &[
    ("uv", "run"),
    ("poetry", "run"),
    ("pipenv", "run"),
    ("pdm", "run"),
    ("rye", "run"),
    ("hatch", "run"),
    ("conda", "run"),
    ("bundle", "exec"),
    ("npm", "exec"),
    ("npm", "x"),
    ("pnpm", "exec"),
    ("pnpm", "dlx"),
    ("yarn", "exec"),
    ("yarn", "dlx"),
    ("bun", "x"),
    ("mise", "exec"),
    ("mise", "x"),
    ("doppler", "run"),
];

/// Whether the part only starts what its words, its input or a file says, so that no rule may stand for it.
pub(crate) fn is_wrapper(part: &Part) -> bool {
    let Some(name) = part.words.first().map(|word| base_name(word)) else {
        return true;
    };
    let name = name.as_str();
    if starts_others(name) {
        return true;
    }
    if is_runner(part) {
        return started(part).is_none_or(|inner| is_wrapper(&inner));
    }
    if is_shell(name) || is_interpreter(name) {
        // With the name of a script it is a program like others.
        return part.words.get(1).is_none_or(|word| word.starts_with('-'));
    }
    inside(part, 0).line.is_some()
}

/// Programs that are nothing but a way to start others.
pub(crate) fn starts_others(name: &str) -> bool {
    const OTHERS: &[&str] = &[
        "env",
        "eval",
        "source",
        ".",
        "npx",
        "pnpx",
        "bunx",
        "command",
        "watch",
        "parallel",
        "script",
        "ssh",
        "su",
        "flock",
        "nix-shell",
        "trap",
        "alias",
        "cross-env",
        "direnv",
        "uvx",
        "runas",
    ];
    OTHERS.contains(&name) || WRAPPERS.iter().any(|(wrapper, ..)| *wrapper == name)
}

/// The command that a runner starts: `uv run`, `python -m`.
pub(crate) fn started(part: &Part) -> Option<Part> {
    let line = is_runner(part).then(|| inside(part, 0).line).flatten();
    line.and_then(|line| line.parts.into_iter().next())
}

/// Whether these two words start what stands behind them, plainly.
pub(crate) fn runs(program: &str, sub: &str) -> bool {
    RUNNERS.contains(&(program, sub)) || (is_interpreter(program) && sub == "-m")
}

fn is_runner(part: &Part) -> bool {
    let Some(name) = part.words.first().map(|word| base_name(word)) else {
        return false;
    };
    if is_interpreter(&name) && part.words.get(1).is_some_and(|word| word == "-m") {
        return true;
    }
    let sub = subcommand(part).unwrap_or_default();
    RUNNERS
        .iter()
        .any(|(program, run)| *program == name && *run == sub)
}

pub(super) fn inside(part: &Part, depth: u8) -> Inside {
    let Some(name) = part.words.first().map(|word| base_name(word)) else {
        return Inside::default();
    };
    let name = name.as_str();
    match name {
        "pwsh" | "powershell" => power_shell::power_shell(part, depth),
        "cmd" => {
            let at = part
                .words
                .iter()
                .position(|word| matches!(word.to_lowercase().as_str(), "/c" | "/k" | "/r"));
            match at {
                Some(at) => rest_as_text(part, Some(at + 1), depth),
                None => Inside::hidden("it reads commands from its input"),
            }
        }
        _ if is_shell(name) => shell::shell(part, depth),
        "eval" => Inside {
            hidden: Some("it runs a text as a command"),
            ..rest_as_text(part, Some(1), depth)
        },
        "alias" if part.words.iter().any(|word| word.contains('=')) => {
            Inside::hidden("it gives a command another name")
        }
        "trap" | "watch" | "nix-shell" | "script" | "su" | "runas" => of_text(part, name, depth),
        "source" | "." => match (part.words.get(1), part.kind(1)) {
            (Some(file), WordKind::Literal) if !file.starts_with("/dev/") && !file.starts_with("/proc/") => {
                Inside::default()
            }
            _ => Inside::hidden("it runs what it reads"),
        },
        "command"
            if part
                .words
                .get(1)
                .is_some_and(|word| matches!(word.as_str(), "-v" | "-V" | "-pv")) =>
        {
            Inside::default()
        }
        "command" => behind(part, 1, &[])
            .map(|at| Inside::part(part.starting_at(at)))
            .unwrap_or_default(),
        "env" | "cross-env" => environment(part, depth),
        "find" | "fd" | "fdfind" => executed(part),
        "parallel" => parallel(part, depth),
        "ssh" => {
            const VALUES: &[&str] = &[
                "-i", "-p", "-o", "-l", "-F", "-J", "-L", "-R", "-D", "-b", "-c", "-E", "-e", "-I", "-m",
                "-O", "-Q", "-S", "-W", "-w",
            ];
            let host = behind(part, 1, VALUES);
            rest_as_text(part, host.map(|at| at + 1), depth).elsewhere()
        }
        "docker" | "podman" | "nerdctl" => container(part),
        "kubectl" if subcommand(part) == Some("exec") => {
            let at = part.words.iter().position(|word| word == "--");
            at.map(|at| Inside::part(part.starting_at(at + 1)).elsewhere())
                .unwrap_or_default()
        }
        "git" => code::git(part, depth),
        "npx" | "pnpx" | "bunx" | "uvx" => match value(part, &["-c", "--call"]) {
            Some(line) => text(line, depth),
            None => behind(part, 1, &["-p", "--package", "--from", "--with", "--python"])
                .map(|at| Inside::part(part.starting_at(at)))
                .unwrap_or_default(),
        },
        "direnv" => match part.words.get(1).map(String::as_str) {
            Some("exec") => Inside::part(part.starting_at(3)),
            _ => Inside::default(),
        },
        "flock" => match value(part, &["-c", "--command"]) {
            Some(line) => text(line, depth),
            None => behind(part, 1, &["-w", "-E", "--timeout"])
                .map(|at| Inside::part(part.starting_at(at + 1)))
                .unwrap_or_default(),
        },
        _ if is_interpreter(name) => code::interpreter(part, name),
        _ if runs_inline(part, name) => Inside::hidden("it runs code that stands in its words"),
        _ => wrapped(part, name),
    }
}

fn wrapped(part: &Part, name: &str) -> Inside {
    if is_runner(part) {
        let sub = subcommand_at(part).unwrap_or(part.words.len());
        let at = behind(
            part,
            sub + 1,
            &[
                "--with",
                "--python",
                "-p",
                "--package",
                "-n",
                "--name",
                "--extra",
                "--group",
            ],
        );
        return at
            .map(|at| Inside::part(part.starting_at(at)))
            .unwrap_or_default();
    }
    let Some((_, values, own)) = WRAPPERS.iter().find(|(wrapper, ..)| *wrapper == name) else {
        return Inside::default();
    };
    let Some(at) = behind(part, 1, values) else {
        return Inside::default();
    };
    let mut at = at + own;
    if part.words.get(at).is_some_and(|word| word == "--") {
        at += 1;
    }
    // `sudo A=b program`
    while part
        .words
        .get(at)
        .is_some_and(|word| word.contains('=') && !word.starts_with(['/', '.']))
    {
        at += 1;
    }
    Inside::part(part.starting_at(at))
}

/// Programs that take a command as one text.
fn of_text(part: &Part, name: &str, depth: u8) -> Inside {
    match name {
        "trap" => match part.words.get(1) {
            Some(line) if !line.starts_with('-') && part.words.len() > 2 => text(line, depth),
            _ => Inside::default(),
        },
        "watch" => rest_as_text(part, behind(part, 1, &["-n", "--interval"]), depth),
        "nix-shell" => {
            value(part, &["--run", "--command"]).map_or_else(Inside::default, |line| text(line, depth))
        }
        "runas" => rest_as_text(part, behind(part, 1, &[]), depth),
        _ => value(part, &["-c", "--command", "-qc"]).map_or_else(Inside::default, |line| text(line, depth)),
    }
}

fn environment(part: &Part, depth: u8) -> Inside {
    if let Some(line) = value(part, &["-S", "--split-string"]) {
        return text(line, depth);
    }
    if let Some(line) = part
        .words
        .iter()
        .find_map(|word| word.strip_prefix("-S").filter(|line| !line.is_empty()))
    {
        return text(line, depth);
    }
    let Some(mut at) = behind(part, 1, &["-u", "--unset", "-C", "--chdir"]) else {
        return Inside::default();
    };
    while part
        .words
        .get(at)
        .is_some_and(|word| word.contains('=') || word == "-")
    {
        at += 1;
    }
    Inside::part(part.starting_at(at))
}

/// `find … -exec program … ;`, all of them.
fn executed(part: &Part) -> Inside {
    const STARTS: &[&str] = &[
        "-exec",
        "-execdir",
        "-ok",
        "-okdir",
        "-x",
        "-X",
        "--exec",
        "--exec-batch",
    ];
    let mut parts = Vec::new();
    let mut at = 1;
    while at < part.words.len() {
        at += 1;
        if STARTS.contains(&part.words[at - 1].as_str()) {
            let mut inner = part.starting_at(at);
            let end = inner.words.iter().position(|word| word == ";" || word == "+");
            inner.words.truncate(end.unwrap_or(inner.words.len()));
            inner.kinds.truncate(inner.words.len());
            at += inner.words.len();
            parts.push(inner);
        }
    }
    if parts.is_empty() {
        return Inside::default();
    }
    let seen = parts.iter().all(|part| part.kind(0) == WordKind::Literal);
    Inside::line(CommandLine {
        parts,
        seen,
        ..CommandLine::default()
    })
}

fn parallel(part: &Part, depth: u8) -> Inside {
    let end = part.words.iter().position(|word| word.starts_with(":::"));
    let mut own = part.clone();
    own.words.truncate(end.unwrap_or(part.words.len()));
    match behind(
        &own,
        1,
        &[
            "-j",
            "--jobs",
            "-a",
            "--arg-file",
            "-I",
            "-N",
            "-S",
            "--delay",
            "--timeout",
            "--joblog",
        ],
    ) {
        Some(at) => rest_as_text(&own, Some(at), depth),
        None => Inside::hidden("it reads commands from its input"),
    }
}

fn container(part: &Part) -> Inside {
    const VALUES: &[&str] = &[
        "-e",
        "--env",
        "--env-file",
        "-v",
        "--volume",
        "--mount",
        "--name",
        "-w",
        "--workdir",
        "-u",
        "--user",
        "-p",
        "--publish",
        "--network",
        "--net",
        "--entrypoint",
        "-h",
        "--hostname",
        "-l",
        "--label",
        "-m",
        "--memory",
        "--cpus",
        "--platform",
        "--restart",
        "--device",
        "--cap-add",
        "--cap-drop",
        "--security-opt",
        "--add-host",
        "--gpus",
        "--ipc",
        "--pid",
        "--shm-size",
        "--tmpfs",
        "--ulimit",
        "--userns",
        "--runtime",
        "--pull",
    ];
    let Some(sub) = subcommand_at(part) else {
        return Inside::default();
    };
    let verb = part.words.get(sub).map(String::as_str).unwrap_or_default();
    if !matches!(verb, "run" | "exec" | "create") {
        return Inside::default();
    }
    let image = behind(part, sub + 1, VALUES);
    let command = image.map(|at| Inside::part(part.starting_at(at + 1)).elsewhere());
    command.unwrap_or_default()
}
