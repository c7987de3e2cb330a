//! Places outside of the project that no answer opens: whole accounts and systems, keys and passwords, what the system
//! shows of itself, and for writing also what runs later outside of the sandbox. One list for the file tools and for
//! confined commands. Pure text about real paths, compared as the most forgiving file system would.

use std::path::Path;

use super::protection::{fold, is_one_of};

/// Below the account's home folder: keys, passwords, what browsers know, what Paddock itself keeps.
const HOME_SECRETS: &[&str] = &[
    ".1password",
    ".android/adbkey",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".config/1password",
    ".claude/.credentials.json",
    ".codex/auth.json",
    ".config/bitwarden",
    ".config/brave",
    ".config/bravesoftware",
    ".config/chromium",
    ".config/containers/auth.json",
    ".config/doctl",
    ".config/gcloud",
    ".config/gh",
    ".config/github-copilot",
    ".config/glab-cli",
    ".config/google-chrome",
    ".config/google-chrome-beta",
    ".config/hub",
    ".config/keepassxc",
    ".config/microsoft-edge",
    ".config/op",
    ".config/opera",
    ".config/rclone",
    ".config/signal",
    ".config/sops",
    ".config/vivaldi",
    ".docker/config.json",
    ".electrum",
    ".ethereum",
    ".bitcoin",
    ".gem/credentials",
    ".gemini/oauth_creds.json",
    ".local/share/keyrings",
    ".local/share/kwalletd",
    ".local/share/paddock",
    ".mozilla",
    ".m2/settings-security.xml",
    ".npmrc",
    ".password-store",
    ".pki",
    ".pypirc",
    ".terraform.d/credentials.tfrc.json",
    ".thunderbird",
    ".var/app",
    ".zen",
    "appdata/local/bravesoftware",
    "appdata/local/google/chrome",
    "appdata/local/microsoft/credentials",
    "appdata/local/microsoft/edge",
    "appdata/local/microsoft/vault",
    "appdata/local/paddock",
    "appdata/roaming/gcloud",
    "appdata/roaming/gh",
    "appdata/roaming/github cli",
    "appdata/roaming/gnupg",
    "appdata/roaming/microsoft/credentials",
    "appdata/roaming/microsoft/crypto",
    "appdata/roaming/microsoft/protect",
    "appdata/roaming/microsoft/vault",
    "appdata/roaming/mozilla",
    "library/application support/bravesoftware",
    "library/application support/firefox",
    "library/application support/google/chrome",
    "library/application support/microsoft edge",
    "library/application support/paddock",
    "library/containers",
    "library/cookies",
    "library/keychains",
    "library/mail",
    "library/messages",
    "library/safari",
    "snap",
];
/// Names that are keys or passwords wherever they are.
const SECRET_NAMES: &[&str] = &[
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".kube",
    ".oci",
    ".netrc",
    "_netrc",
    ".git-credentials",
    ".pgpass",
    ".vault-token",
];
/// Of the system: passwords, keys of the machine, secrets of connections.
const SYSTEM_SECRETS: &[&str] = &[
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/ipsec.secrets",
    "/etc/krb5.keytab",
    "/etc/networkmanager/system-connections",
    "/etc/ppp/chap-secrets",
    "/etc/ppp/pap-secrets",
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/ssh",
    "/etc/ssl/private",
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/etc/wireguard",
    "/etc/wpa_supplicant",
    "/library/keychains",
    "/private/etc/master.passwd",
    "/private/etc/ssh",
    "/private/etc/sudoers",
    "/private/var/db",
    "/var/lib/docker",
    "/var/lib/sss",
    "/var/lib/systemd/credential.secret",
];
/// What the system shows of itself, devices, and sockets of running programs.
const SYSTEM_SELF: &[&str] = &["/dev", "/proc", "/sys", "/run", "/var/run", "/private/var/run"];
/// Disks that people plug in are mounted here.
const MOUNTED: &[&str] = &["/run/media"];
/// Where the system's programs and settings are: not for writing.
const SYSTEM_TREES: &[&str] = &[
    "/applications",
    "/bin",
    "/boot",
    "/efi",
    "/etc",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/library",
    "/nix",
    "/private/etc",
    "/sbin",
    "/snap",
    "/system",
    "/usr",
    "/var/lib",
    "/var/spool",
];
/// Right below a drive of Windows: not for writing.
const WINDOWS_TREES: &[&str] = &["windows", "program files", "program files (x86)", "programdata"];
/// Below the home folder, run or read by programs outside of the sandbox: not for writing.
const HOME_RUNS: &[&str] = &[
    ".bun/bin",
    ".cargo/bin",
    ".cargo/config",
    ".cargo/config.toml",
    ".config/autostart",
    ".config/environment.d",
    ".config/fish",
    ".config/git",
    ".config/plasma-workspace",
    ".config/systemd",
    ".deno/bin",
    ".gitconfig",
    ".local/bin",
    ".local/share/applications",
    ".local/share/systemd",
    ".pam_environment",
    "appdata/roaming/microsoft/windows/start menu",
    "bin",
    "go/bin",
    "library/launchagents",
];
/// Folders that hold the home folders of accounts, and what in them belongs to nobody.
const ACCOUNTS: &[(&str, &[&str])] = &[
    ("/home", &[]),
    ("/users", &["shared"]),
    ("/root", &[]),
    ("c:/users", &["public"]),
];

/// What one account and one project mean for the answer; real paths.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Around<'a> {
    pub(super) home: Option<&'a Path>,
    pub(super) project: Option<&'a Path>,
    pub(super) own_data: Option<&'a Path>,
}

/// Why a real path, and what is below it, is never opened for the agent; none when the person may be asked.
pub(super) fn never_granted(real: &Path, write: bool, around: Around<'_>) -> Option<&'static str> {
    let place = names(real);
    let known = |path: Option<&Path>| path.map(names);
    let (home, project) = (known(around.home), known(around.project));
    if place.len() < 1 + usize::from(place.first().is_some_and(|name| name.ends_with(':'))) {
        return Some("it is the whole file system or a whole drive");
    }
    if home.as_ref().is_some_and(|home| home.starts_with(&place)) {
        return Some("it holds the whole home folder");
    }
    if project
        .as_ref()
        .is_some_and(|project| project.starts_with(&place))
    {
        return Some("it holds the project itself");
    }
    if known(around.own_data).is_some_and(|own| meets(&place, &own)) {
        return Some("Paddock keeps its own data there");
    }
    let below = |list: &[&str]| list.iter().any(|tree| place.starts_with(&text_names(tree)));
    if below(SYSTEM_SELF) && !below(MOUNTED) {
        return Some("it belongs to the running system, its devices and programs");
    }
    let secret = place.iter().any(|name| is_one_of(name, SECRET_NAMES))
        || SYSTEM_SECRETS
            .iter()
            .any(|secret| meets(&place, &text_names(secret)))
        || homes(&place, home.as_deref()).any(|home| {
            HOME_SECRETS
                .iter()
                .any(|secret| meets_below(&place, home, secret))
        });
    if secret {
        return Some("it holds keys, passwords or private data of programs");
    }
    if is_another_account(&place, home.as_deref(), project.as_deref()) {
        return Some("it belongs to another account");
    }
    if !write {
        return None;
    }
    let of_windows = place.first().is_some_and(|name| name.ends_with(':'))
        && place
            .get(1)
            .is_some_and(|name| WINDOWS_TREES.contains(&name.as_str()));
    if below(SYSTEM_TREES) || of_windows {
        return Some("programs and settings of the system are there");
    }
    homes(&place, home.as_deref())
        .any(|home| HOME_RUNS.iter().any(|runs| meets_below(&place, home, runs)))
        .then_some("programs outside of the sandbox run what is there, or take settings from it")
}

/// The names of a real path from the root or drive down, folded.
fn names(path: &Path) -> Vec<String> {
    text_names(&path.to_string_lossy())
}

fn text_names(path: &str) -> Vec<String> {
    let path = if cfg!(windows) {
        path.replace('\\', "/")
    } else {
        path.to_owned()
    };
    let path = path.strip_prefix("//?/").unwrap_or(&path);
    path.split('/')
        .filter(|name| !name.is_empty())
        .map(|name| match name.strip_suffix(':') {
            Some(drive) => format!("{}:", drive.to_lowercase()),
            None => fold(name),
        })
        .collect()
}

/// Whether one is the other or holds it.
fn meets(one: &[String], other: &[String]) -> bool {
    one.starts_with(other) || other.starts_with(one)
}

fn meets_below(place: &[String], home: usize, below: &str) -> bool {
    place
        .get(home..)
        .is_some_and(|rest| meets(rest, &text_names(below)))
}

/// How many names of the place are a home folder: the own one, or one of any account.
fn homes(place: &[String], home: Option<&[String]>) -> impl Iterator<Item = usize> {
    let own = home.filter(|home| place.starts_with(home)).map(<[String]>::len);
    own.into_iter().chain(account(place))
}

/// The length of the account's home folder that holds a place.
fn account(place: &[String]) -> Option<usize> {
    ACCOUNTS.iter().find_map(|(folder, shared)| {
        let folder = text_names(folder);
        if !place.starts_with(&folder) {
            return None;
        }
        if folder == ["root"] {
            return Some(1);
        }
        let name = place.get(folder.len())?;
        (!shared.contains(&name.as_str())).then_some(folder.len() + 1)
    })
}

fn is_another_account(place: &[String], home: Option<&[String]>, project: Option<&[String]>) -> bool {
    let Some(length) = account(place) else {
        // A folder of accounts itself.
        return ACCOUNTS.iter().any(|(folder, _)| place == text_names(folder));
    };
    let owner = &place[..length];
    let is_own = |known: Option<&[String]>| known.is_some_and(|known| known.starts_with(owner));
    !is_own(home) && !is_own(project)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(path: &str, write: bool) -> Option<&'static str> {
        let around = Around {
            home: Some(Path::new("/home/me")),
            project: Some(Path::new("/home/me/code/project")),
            own_data: Some(Path::new("/data/paddock")),
        };
        never_granted(Path::new(path), write, around)
    }

    #[test]
    fn what_is_never_opened_says_why() {
        for (path, part) in [
            ("/", "whole file system"),
            ("/home", "whole home"),
            ("/home/me", "whole home"),
            ("/home/me/code", "holds the project"),
            ("/home/me/code/project", "holds the project"),
            ("/data/paddock", "own data"),
            ("/data/paddock/sessions/x/log.jsonl", "own data"),
            ("/data", "own data"),
            ("/proc/self/environ", "running system"),
            ("/sys/kernel", "running system"),
            ("/dev/sda", "running system"),
            ("/dev/mem", "running system"),
            ("/run/docker.sock", "running system"),
            ("/run/user/1000/bus", "running system"),
            ("/etc", "keys"),
            ("/etc/shadow", "keys"),
            ("/etc/shadow-", "keys"),
            ("/etc/ssh/ssh_host_rsa_key", "keys"),
            ("/etc/sudoers.d/x", "keys"),
            ("/home/me/.ssh", "keys"),
            ("/home/me/.SSH/id_rsa", "keys"),
            ("/home/me/.ss\u{200c}h/id_rsa", "keys"),
            ("/home/me/SSH~1/id_rsa", "keys"),
            ("/srv/backup/.ssh/id_rsa", "keys"),
            ("/home/me/.gnupg/x", "keys"),
            ("/home/me/.aws/credentials", "keys"),
            ("/home/me/.azure", "keys"),
            ("/home/me/.kube/config", "keys"),
            ("/home/me/.config", "keys"),
            ("/home/me/.config/gcloud/x", "keys"),
            ("/home/me/.config/gh/hosts.yml", "keys"),
            ("/home/me/.local", "keys"),
            ("/home/me/.local/share/keyrings/login.keyring", "keys"),
            ("/home/me/.mozilla/firefox", "keys"),
            ("/home/me/.config/google-chrome/Default/Cookies", "keys"),
            ("/home/me/.docker", "keys"),
            ("/home/me/.docker/config.json", "keys"),
            ("/home/me/.netrc", "keys"),
            ("/home/me/.git-credentials", "keys"),
            ("/home/me/.cargo/credentials.toml", "keys"),
            ("/home/other/notes", "another account"),
            ("/home/other", "keys"),
            ("/root/notes", "another account"),
            ("/Users/other/notes", "another account"),
            ("/Users", "another account"),
        ] {
            let found = reason(path, false);
            assert!(
                found.is_some_and(|found| found.contains(part)),
                "{path}: {found:?}"
            );
            assert_eq!(reason(path, true), found, "{path}");
        }
    }

    #[test]
    fn what_a_person_may_be_asked_about() {
        for path in [
            "/home/me/code/shared/ports.json",
            "/home/me/code/project-two",
            "/home/me/documents/spec.md",
            "/home/me/.config/nvim/init.lua",
            "/home/me/.cargo/registry",
            "/home/me/.rustup",
            "/etc/hosts",
            "/etc/os-release",
            "/usr/include/stdio.h",
            "/tmp/output",
            "/srv/data",
            "/run/media/me/stick/file",
            "/Users/Shared/x",
        ] {
            assert_eq!(reason(path, false), None, "{path}");
        }
        for path in [
            "/etc/hosts",
            "/usr/include/stdio.h",
            "/boot/x",
            "/var/spool/cron/me",
            "/home/me/.config/autostart/x.desktop",
            "/home/me/.config/systemd/user/x.service",
            "/home/me/.local/bin/git",
            "/home/me/.gitconfig",
            "/home/me/bin/ls",
        ] {
            assert!(reason(path, true).is_some(), "{path}");
        }
        for path in [
            "/home/me/code/shared/ports.json",
            "/tmp/output",
            "/srv/data/x",
            "/home/me/.config/nvim/x",
        ] {
            assert_eq!(reason(path, true), None, "{path}");
        }
    }

    #[test]
    fn the_account_of_the_project_is_not_another_one() {
        let around = Around {
            home: Some(Path::new("/root")),
            project: Some(Path::new("/home/me/project")),
            own_data: None,
        };
        let reason = |path: &str| never_granted(Path::new(path), false, around);
        assert_eq!(reason("/home/me/shared"), None);
        assert!(reason("/home/me/.config/gh").is_some());
        assert!(reason("/home/me").is_some());
        assert!(reason("/home/you/x").is_some());
    }
}
