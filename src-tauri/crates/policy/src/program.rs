//! Facts about well-known programs: what deletes, what wants the network, what only reads, what no setting may allow.

use crate::command::{CommandLine, Part};

/// Programs that open other programs; the wrapped command is looked at as well.
const WRAPPERS: &[&str] = &[
    "env", "time", "nice", "nohup", "command", "exec", "stdbuf", "timeout", "xargs", "setsid",
];
const SHELLS: &[&str] = &[
    "sh",
    "bash",
    "dash",
    "zsh",
    "ksh",
    "fish",
    "pwsh",
    "powershell",
    "cmd",
];
const INTERPRETERS: &[&str] = &[
    "python",
    "python3",
    "node",
    "ruby",
    "perl",
    "php",
    "deno",
    "bun",
    "lua",
    "osascript",
];
const RAISES: &[&str] = &["sudo", "su", "doas", "pkexec", "runas"];
const DISKS: &[&str] = &[
    "mkfs", "fdisk", "sfdisk", "parted", "wipefs", "mount", "umount", "swapoff", "swapon", "shutdown",
    "reboot", "halt", "poweroff", "insmod", "modprobe", "rmmod", "format", "diskpart", "bcdedit",
];
const NETWORK: &[&str] = &[
    "curl", "wget", "ssh", "scp", "sftp", "rsync", "ftp", "telnet", "nc", "ncat", "socat", "ping", "dig",
    "nslookup", "gh", "aws", "gcloud", "az", "kubectl", "docker", "podman", "npx", "pnpx", "apt", "apt-get",
    "dnf", "brew",
];
/// Program, subcommands that want the network.
const NETWORK_SUBCOMMANDS: &[(&str, &[&str])] = &[
    (
        "git",
        &["push", "pull", "fetch", "clone", "ls-remote", "submodule"],
    ),
    (
        "npm",
        &[
            "install", "i", "ci", "add", "update", "publish", "audit", "outdated", "exec",
        ],
    ),
    ("pnpm", &["install", "i", "add", "update", "publish", "dlx"]),
    ("yarn", &["install", "add", "upgrade", "publish", "dlx"]),
    ("pip", &["install", "download"]),
    ("pip3", &["install", "download"]),
    ("uv", &["sync", "add", "pip", "tool"]),
    (
        "cargo",
        &["install", "add", "update", "fetch", "publish", "search"],
    ),
    ("go", &["get", "install"]),
    ("gem", &["install", "push"]),
];
pub(crate) const DELETES: &[&str] = &["rm", "rmdir", "unlink", "shred", "truncate", "del", "erase", "rd"];
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
];

/// The last component of a program's path, lower case, without `.exe`.
pub fn base_name(word: &str) -> String {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word).to_lowercase();
    name.strip_suffix(".exe").unwrap_or(&name).to_owned()
}

fn program(part: &Part) -> Option<String> {
    part.words.first().map(|word| base_name(word))
}

/// The commands inside of wrappers and of `sh -c`, as parts of their own; the outer ones come first.
pub fn opened(line: &CommandLine) -> Vec<Part> {
    let mut all = Vec::new();
    let mut waiting: Vec<(Part, u8)> = line.parts.iter().rev().map(|part| (part.clone(), 0)).collect();
    while let Some((part, depth)) = waiting.pop() {
        if depth < 4
            && let Some(inner) = inner_commands(&part)
        {
            waiting.extend(inner.into_iter().rev().map(|part| (part, depth + 1)));
        }
        all.push(part);
    }
    all
}

fn inner_commands(part: &Part) -> Option<Vec<Part>> {
    let name = program(part)?;
    if SHELLS.contains(&name.as_str()) {
        let at = part
            .words
            .iter()
            .position(|word| word.starts_with('-') && word.ends_with('c') || word == "/c")?;
        return Some(crate::parse_command(part.words.get(at + 1)?).parts);
    }
    if WRAPPERS.contains(&name.as_str()) || RAISES.contains(&name.as_str()) {
        let rest: Vec<String> = part
            .words
            .iter()
            .skip(1)
            .skip_while(|word| word.starts_with('-') || word.contains('=') || word.parse::<f64>().is_ok())
            .cloned()
            .collect();
        return (!rest.is_empty()).then(|| {
            vec![Part {
                words: rest,
                text: part.text.clone(),
                ..Part::default()
            }]
        });
    }
    None
}

/// A reason why no setting may allow this command.
pub fn hard_denial(line: &CommandLine, whole: &str) -> Option<String> {
    let squeezed: String = whole.chars().filter(|c| !c.is_whitespace()).collect();
    if squeezed.contains(":(){:|:&};:") {
        return Some("it starts processes without end".into());
    }
    opened(line).iter().find_map(|part| {
        let name = program(part)?;
        let name = name.as_str();
        if RAISES.contains(&name) {
            return Some(format!("{name} runs with the rights of another user"));
        }
        if DISKS.contains(&name) || name.starts_with("mkfs.") {
            return Some(format!("{name} changes disks or the machine itself"));
        }
        if name == "dd" && part.words.iter().any(|word| word.starts_with("of=/dev/")) {
            return Some("dd would write to a device".into());
        }
        let wide = [
            "/", "/*", "~", "~/", "~/*", "$HOME", "$HOME/", "$HOME/*", "${HOME}", "C:\\", "C:/",
        ];
        if DELETES.contains(&name) && part.words.iter().any(|word| wide.contains(&word.as_str())) {
            return Some("it would delete the home folder or the whole drive".into());
        }
        let keys = [
            ".ssh/id_",
            ".aws/credentials",
            ".gnupg/",
            "/etc/shadow",
            ".config/gh/hosts",
        ];
        let reads_keys = part
            .words
            .iter()
            .skip(1)
            .any(|word| keys.iter().any(|key| word.contains(key)));
        reads_keys.then(|| "it reads keys or passwords".to_owned())
    })
}

pub fn deletes(part: &Part) -> bool {
    let Some(name) = program(part) else { return false };
    let has = |options: &[&str]| part.words.iter().any(|word| options.contains(&word.as_str()));
    match name.as_str() {
        "git" => match subcommand(part).unwrap_or_default() {
            "clean" | "rm" => true,
            "reset" => has(&["--hard", "--merge", "--keep"]),
            "checkout" | "restore" => true,
            "push" => has(&["--force", "-f", "--force-with-lease", "--delete", "--mirror"]),
            "branch" | "tag" | "stash" => has(&["-D", "-d", "--delete", "drop", "clear"]),
            "filter-branch" | "gc" | "reflog" | "rebase" => true,
            _ => false,
        },
        "find" => has(&["-delete", "-exec", "-execdir", "-ok"]),
        name => DELETES.contains(&name),
    }
}

pub fn wants_network(part: &Part) -> bool {
    let Some(name) = program(part) else { return false };
    let sub = subcommand(part).unwrap_or_default();
    NETWORK.contains(&name.as_str())
        || NETWORK_SUBCOMMANDS
            .iter()
            .any(|(program, subs)| *program == name && subs.contains(&sub))
        || part
            .words
            .iter()
            .any(|word| word.contains("http://") || word.contains("https://") || word.contains("/dev/tcp/"))
}

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
pub fn is_safe(line: &CommandLine) -> bool {
    line.understood && line.parts.iter().all(is_safe_part)
}

fn is_safe_part(part: &Part) -> bool {
    let Some(name) = part.words.first() else {
        return false;
    };
    if !part.writes.is_empty() || !part.assignments.is_empty() || name.contains(['/', '\\']) {
        return false;
    }
    let arguments = part.words.get(1..).unwrap_or_default();
    let tame = |arguments: &[String]| {
        !arguments.iter().any(|word| {
            let option = word.split('=').next().unwrap_or(word);
            UNSAFE_OPTIONS.contains(&option) || word.starts_with("--output") || word.contains("://")
        })
    };
    match name.as_str() {
        "git" => {
            let Some((sub, rest)) = arguments.split_first() else {
                return false;
            };
            let lists = sub != "branch" || rest.iter().all(|word| word.starts_with('-'));
            GIT_READERS.contains(&sub.as_str()) && lists && tame(rest)
        }
        name if READERS.contains(&name) => tame(arguments) || name == "echo" || name == "grep",
        _ => matches!(arguments, [only] if only == "--version" || only == "-V" || only == "version"),
    }
}

/// The first word after the program that is no option.
pub fn subcommand(part: &Part) -> Option<&str> {
    part.words.get(subcommand_at(part)?).map(String::as_str)
}

/// Where that word stands.
pub fn subcommand_at(part: &Part) -> Option<usize> {
    (1..part.words.len()).find(|at| !part.words[*at].starts_with('-'))
}

pub fn is_raise(name: &str) -> bool {
    RAISES.contains(&name)
}

pub fn is_shell(name: &str) -> bool {
    SHELLS.contains(&name)
}

pub fn is_interpreter(name: &str) -> bool {
    INTERPRETERS.contains(&name) || name.starts_with("python3.")
}

/// Programs that only start what their words, their input or a file says.
pub fn starts_others(name: &str) -> bool {
    WRAPPERS.contains(&name) || matches!(name, "eval" | "source" | "." | "npx")
}

/// Whether the part starts another command that stands in its words.
pub fn opens_others(part: &Part) -> bool {
    inner_commands(part).is_some()
}

/// Whether a rule must not be made of it: it runs code that the words do not show.
pub fn hides_code(part: &Part) -> bool {
    let Some(name) = program(part) else { return true };
    let name = name.as_str();
    if WRAPPERS.contains(&name)
        || RAISES.contains(&name)
        || matches!(name, "eval" | "source" | "." | "xargs" | "npx")
    {
        return true;
    }
    let runs_code = SHELLS.contains(&name)
        || INTERPRETERS
            .iter()
            .any(|i| name == *i || name.starts_with("python3."));
    runs_code && part.words.get(1).is_none_or(|word| word.starts_with('-'))
}
