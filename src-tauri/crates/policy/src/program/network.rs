//! What looks as if it wanted the network. A hint: the fence knows for sure.

use super::program;
use crate::command::Part;
use crate::options::{arguments, has, subcommand};

const READERS_OF_TEXT: &[&str] = &[
    "echo", "printf", "grep", "egrep", "fgrep", "rg", "ag", "ack", "sed", "awk", "cat", "ls", "head", "tail",
    "wc", "tee", "jq", "test", "[", "[[", "true", ":", "export", "read", "diff", "sort", "uniq", "cut", "tr",
    "less",
];
const NETWORK: &[&str] = &[
    "curl",
    "wget",
    "aria2c",
    "http",
    "https",
    "xh",
    "lynx",
    "w3m",
    "ssh",
    "scp",
    "sftp",
    "mosh",
    "ftp",
    "telnet",
    "nc",
    "ncat",
    "netcat",
    "socat",
    "ping",
    "ping6",
    "traceroute",
    "dig",
    "host",
    "nslookup",
    "whois",
    "nmap",
    "gh",
    "glab",
    "aws",
    "gcloud",
    "gsutil",
    "az",
    "doctl",
    "heroku",
    "vercel",
    "netlify",
    "fly",
    "flyctl",
    "firebase",
    "wrangler",
    "kubectl",
    "helm",
    "docker",
    "podman",
    "nerdctl",
    "docker-compose",
    "npx",
    "pnpx",
    "bunx",
    "uvx",
    "apt",
    "apt-get",
    "aptitude",
    "dnf",
    "yum",
    "zypper",
    "pacman",
    "apk",
    "snap",
    "flatpak",
    "brew",
    "port",
    "choco",
    "winget",
    "scoop",
    "twine",
    "nvm",
    "ansible",
    "ansible-playbook",
    "sendmail",
    "mail",
    "invoke-webrequest",
    "invoke-restmethod",
    "iwr",
    "irm",
    "bitsadmin",
    "start-bitstransfer",
    "pod",
    "pulumi",
];
/// Program, subcommands that want the network.
const NETWORK_SUBCOMMANDS: &[(&str, &[&str])] = &[
    (
        "git",
        &[
            "push",
            "pull",
            "fetch",
            "clone",
            "ls-remote",
            "lfs",
            "send-email",
            "svn",
        ],
    ),
    ("npm", NODE),
    ("pnpm", NODE),
    ("yarn", NODE),
    ("bun", NODE),
    ("pip", &["install", "download", "search", "index", "wheel"]),
    ("pip3", &["install", "download", "search", "index", "wheel"]),
    ("uv", &["sync", "add", "pip", "tool", "lock", "publish", "self"]),
    ("poetry", &["install", "add", "update", "lock", "publish", "self"]),
    ("pipenv", &["install", "update", "sync", "lock"]),
    ("pipx", &["install", "upgrade", "run", "inject"]),
    ("conda", &["install", "create", "update", "search"]),
    ("mamba", &["install", "create", "update", "search"]),
    (
        "cargo",
        &[
            "install", "add", "update", "fetch", "publish", "search", "login", "owner", "yank", "info",
        ],
    ),
    (
        "rustup",
        &[
            "update",
            "install",
            "toolchain",
            "target",
            "component",
            "self",
            "check",
        ],
    ),
    ("go", &["get", "install", "mod"]),
    ("gem", &["install", "push", "update", "fetch"]),
    ("bundle", &["install", "update", "add", "outdated"]),
    (
        "composer",
        &["install", "require", "update", "create-project", "global"],
    ),
    ("dotnet", &["restore", "add", "tool", "nuget", "workload", "new"]),
    (
        "mix",
        &["deps.get", "deps.update", "hex.publish", "archive.install"],
    ),
    ("flutter", &["pub", "upgrade", "create"]),
    ("dart", &["pub"]),
    ("swift", &["package"]),
    (
        "terraform",
        &["init", "apply", "plan", "destroy", "get", "import", "refresh"],
    ),
    (
        "tofu",
        &["init", "apply", "plan", "destroy", "get", "import", "refresh"],
    ),
    ("deno", &["install", "add", "publish", "upgrade", "cache", "jsr"]),
    ("vcpkg", &["install", "update"]),
    ("conan", &["install", "create", "download", "upload"]),
    ("nix", &["profile", "shell", "develop", "build", "run", "flake"]),
    ("pyenv", &["install"]),
    ("rbenv", &["install"]),
    ("certutil", &["-urlcache"]),
];
const NODE: &[&str] = &[
    "install",
    "i",
    "ci",
    "add",
    "update",
    "up",
    "upgrade",
    "publish",
    "audit",
    "outdated",
    "exec",
    "x",
    "dlx",
    "create",
    "init",
    "view",
    "info",
    "search",
    "login",
    "whoami",
    "fund",
    "unpublish",
    "dist-tag",
    "isntall",
    "in",
    "ins",
    "install-test",
    "it",
    "import",
    "pack-remote",
    "self-update",
];

/// Whether it looks as if it wanted the network.
pub(crate) fn wants_network(part: &Part) -> bool {
    let special = |path: &String| path.starts_with("/dev/tcp/") || path.starts_with("/dev/udp/");
    if part.writes.iter().chain(&part.reads).any(special) {
        return true;
    }
    let Some(name) = program(part) else { return false };
    let name = name.as_str();
    let sub = subcommand(part).unwrap_or_default();
    if NETWORK.contains(&name)
        || NETWORK_SUBCOMMANDS
            .iter()
            .any(|(program, subs)| *program == name && subs.contains(&sub))
    {
        return true;
    }
    let words = part.words.get(1..).unwrap_or_default();
    match name {
        "yarn" => sub.is_empty() && !has(words, &["--version", "-v", "--help"]),
        "rsync" => words
            .iter()
            .any(|word| !word.starts_with('-') && word.contains(':')),
        "git" if sub == "remote" => matches!(
            arguments(part).first().map(String::as_str),
            Some("update" | "show" | "prune")
        ),
        "git" if sub == "submodule" => {
            let here = [
                "foreach",
                "status",
                "summary",
                "deinit",
                "set-url",
                "set-branch",
                "sync",
                "absorbgitdirs",
            ];
            arguments(part)
                .first()
                .is_some_and(|word| !here.contains(&word.as_str()))
        }
        "git" if sub == "archive" => words.iter().any(|word| word.starts_with("--remote")),
        "git" => false,
        name if READERS_OF_TEXT.contains(&name) => false,
        _ => words.iter().any(|word| {
            ["http://", "https://", "ftp://", "ssh://", "git@"]
                .iter()
                .any(|mark| word.contains(mark))
                || word.contains("/dev/tcp/")
        }),
    }
}
