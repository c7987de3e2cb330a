//! The exact things that the sandbox refused to a command, so that a person can allow just these and run it again. Hosts
//! are known where a proxy refused them; all else is guessed from what a failed command wrote, and is named only where
//! a grant would change something.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// Something that was refused and that a grant could allow.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Blocked {
    /// An absolute path outside of the project that exists on this machine; for a write its folder does.
    Path {
        path: PathBuf,
        write: bool,
    },
    Host {
        host: String,
        port: u16,
    },
}

pub(crate) const MAX_BLOCKED: usize = 4;
const MAX_NAMED: usize = 64;
/// What a path that is not there, or cannot be read or written, looks like in output (lower case).
const PATH_HINTS: &[(&str, Fault)] = &[
    ("no such file or directory", Fault::Missing),
    ("not found", Fault::Missing),
    ("cannot find", Fault::Missing),
    ("does not exist", Fault::Missing),
    ("enoent", Fault::Missing),
    ("read-only file system", Fault::ReadOnly),
    ("erofs", Fault::ReadOnly),
    ("permission denied", Fault::Refused),
    ("eacces", Fault::Refused),
    ("operation not permitted", Fault::Refused),
    ("eperm", Fault::Refused),
];
/// What words before a name mean that something was to be written there (lower case).
const WRITE_HINTS: &[&str] = &[
    "cannot create",
    "cannot touch",
    "mkdir",
    "cannot open for writing",
    "unable to create",
    "cannot remove",
    "cannot move",
];
const HOST_HINTS: &[&str] = &[
    "could not resolve host: ",
    "could not resolve hostname ",
    "could not resolve proxy: ",
    "getaddrinfo enotfound ",
    "getaddrinfo eai_again ",
    "unable to resolve host address ",
    "unable to look up ",
    "host=",
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    Missing,
    ReadOnly,
    Refused,
}

/// What is known about the world of a command, to tell what a grant would change.
pub(crate) trait Surroundings {
    /// Whether a path of the machine, its links resolved, is in the sandbox: for a write, writable in it.
    fn is_reachable(&self, path: &Path, write: bool) -> bool;
    /// Whether a person may be asked about it at all.
    fn may_be_granted(&self, path: &Path, write: bool) -> bool;
}

/// The places outside of the project that a failed command seems to have missed.
pub(crate) fn paths(output: &[u8], folder: &Path, around: &dyn Surroundings) -> Vec<Blocked> {
    let text = String::from_utf8_lossy(output);
    let mut found = Vec::new();
    let mut looked_at = 0;
    for line in text.lines().rev() {
        let folded = line.to_lowercase();
        let Some((_, fault)) = PATH_HINTS.iter().find(|(hint, _)| folded.contains(hint)) else {
            continue;
        };
        let writes = *fault == Fault::ReadOnly || WRITE_HINTS.iter().any(|hint| folded.contains(hint));
        for named in named_paths(line) {
            looked_at += 1;
            if found.len() == MAX_BLOCKED || looked_at > MAX_NAMED {
                return found;
            }
            let Some((path, is_new)) = real(&folder.join(named)) else {
                continue;
            };
            // Nothing is missed by reading what does not exist; but the folder of a new file may be.
            let writes = writes || is_new;
            let blocked = Blocked::Path {
                path: path.clone(),
                write: writes,
            };
            if !found.contains(&blocked)
                && !around.is_reachable(&path, writes)
                && around.may_be_granted(&path, writes)
            {
                found.push(blocked);
            }
        }
    }
    found
}

/// The hosts that a failed command without network seems to have missed.
pub(crate) fn hosts(output: &[u8]) -> Vec<Blocked> {
    let text = String::from_utf8_lossy(output);
    let mut found = Vec::new();
    let mut note = |host: &str, port: u16| {
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        let blocked = Blocked::Host { host, port };
        if found.len() < MAX_BLOCKED && !found.contains(&blocked) {
            found.push(blocked);
        }
    };
    let port_of = |host: &str| {
        // The same output often names the whole address somewhere.
        let lower = text.to_ascii_lowercase();
        addresses(&lower)
            .find(|(other, _)| *other == host)
            .map_or(443, |(_, port)| port)
    };
    for line in text.lines() {
        let folded = line.to_ascii_lowercase();
        for hint in HOST_HINTS {
            let Some(at) = folded.find(hint) else { continue };
            let rest = folded[at + hint.len()..].trim_start_matches(['\'', '"', '\u{2018}', '`']);
            let end = rest
                .find(|letter: char| !is_host_letter(letter))
                .unwrap_or(rest.len());
            if is_host(&rest[..end]) {
                note(&rest[..end], port_of(rest[..end].trim_end_matches('.')));
            }
        }
        if FAILED.iter().any(|hint| folded.contains(hint)) {
            for (host, port) in addresses(&folded) {
                note(host, port);
            }
        }
    }
    found
}

/// Lines that tell of a connection that failed.
const FAILED: &[&str] = &[
    "unable to access",
    "failed to fetch",
    "failed to download",
    "network is unreachable",
    "enetunreach",
    "failed to connect",
    "connection error",
    "failed to establish a new connection",
    "name resolution",
    "request to http",
    "could not connect",
    "couldn't connect",
    "failed to lookup address",
];

/// The hosts and ports of the web addresses in a text.
fn addresses(text: &str) -> impl Iterator<Item = (&str, u16)> {
    ["https://", "http://", "ssh://", "git://"]
        .into_iter()
        .zip([443_u16, 80, 22, 9418])
        .flat_map(move |(scheme, usual)| {
            text.match_indices(scheme).filter_map(move |(at, _)| {
                let rest = &text[at + scheme.len()..];
                let end = rest
                    .find(['/', '\'', '"', ' ', ')', '?', '#', '>', ','])
                    .unwrap_or(rest.len());
                let named = rest[..end]
                    .rsplit_once('@')
                    .map_or(&rest[..end], |(_, host)| host);
                let (host, port) = match named.split_once(':') {
                    Some((host, port)) => (host, port.parse().unwrap_or(usual)),
                    None => (named, usual),
                };
                is_host(host).then_some((host, port))
            })
        })
}

fn is_host_letter(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '.' | '-' | '_')
}

fn is_host(text: &str) -> bool {
    text.contains('.')
        && text.len() <= 253
        && text.chars().all(is_host_letter)
        && !text.starts_with(['.', '-'])
}

/// What in a line of output could be a path: quoted parts, and words with a slash.
fn named_paths(line: &str) -> Vec<&str> {
    const QUOTES: &[(char, char)] = &[('\'', '\''), ('"', '"'), ('`', '`'), ('\u{2018}', '\u{2019}')];
    let mut found = Vec::new();
    for (open, close) in QUOTES {
        let mut rest = line;
        while let Some(at) = rest.find(*open) {
            let inner = &rest[at + open.len_utf8()..];
            let Some(end) = inner.find(*close) else { break };
            found.push(&inner[..end]);
            rest = &inner[end + close.len_utf8()..];
        }
    }
    let is_edge = |letter: char| letter.is_whitespace() || "'\"`\u{2018}\u{2019}()[]{}<>,;=".contains(letter);
    found.extend(line.split(is_edge).map(|word| word.trim_end_matches([':', '.'])));
    found.retain(|path| path.contains('/') && !path.contains("://") && path.len() <= 4096);
    found.sort_unstable();
    found.dedup();
    found
}

/// The real path of something outside; where nothing is yet, that of its folder with the name, and true.
fn real(path: &Path) -> Option<(PathBuf, bool)> {
    if let Ok(real) = path.canonicalize() {
        return Some((real, false));
    }
    let (folder, name) = (path.parent()?, path.file_name()?);
    let folder = folder.canonicalize().ok().filter(|folder| folder.is_dir())?;
    Some((folder.join(name), true))
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Nothing;
    impl Surroundings for Nothing {
        fn is_reachable(&self, path: &Path, write: bool) -> bool {
            path.starts_with("/usr") && !write
        }
        fn may_be_granted(&self, path: &Path, _: bool) -> bool {
            !path.starts_with("/proc")
        }
    }

    fn path(path: &Path, write: bool) -> Blocked {
        Blocked::Path {
            path: path.to_owned(),
            write,
        }
    }

    #[test]
    fn paths_that_are_there_outside_are_named() {
        let place = tempfile::tempdir().unwrap();
        let place = place.path().canonicalize().unwrap();
        std::fs::create_dir(place.join("project")).unwrap();
        std::fs::write(place.join("ports.json"), "x").unwrap();
        let (file, folder) = (place.join("ports.json"), place.join("project"));
        let tell = |line: &str| paths(line.as_bytes(), &folder, &Nothing);
        assert_eq!(
            tell(&format!("cat: {}: No such file or directory", file.display())),
            [path(&file, false)]
        );
        assert_eq!(
            tell("Error: ENOENT: no such file or directory, open '../ports.json'"),
            [path(&file, false)]
        );
        assert_eq!(
            tell(&format!(
                "touch: cannot touch '{0}/new': Read-only file system",
                place.display()
            )),
            [path(&place.join("new"), true)]
        );
        assert_eq!(
            tell(&format!(
                "bash: line 1: {0}/new: No such file or directory",
                place.display()
            )),
            [path(&place.join("new"), true)]
        );
        for line in [
            "cat: /usr/bin/env: No such file or directory",
            "cat: /proc/1/maps: Permission denied",
            "cat: /no/such/thing: No such file or directory",
            "see ../ports.json",
            "https://example.com/: not found",
        ] {
            assert_eq!(tell(line), [], "{line}");
        }
    }

    #[test]
    fn hosts_are_named_with_their_port() {
        let host = |host: &str, port| Blocked::Host {
            host: host.to_owned(),
            port,
        };
        for (output, expected) in [
            (
                "curl: (6) Could not resolve host: Example.com",
                vec![host("example.com", 443)],
            ),
            (
                "fatal: unable to access 'http://git.example:8080/x/': Could not resolve host: git.example",
                vec![host("git.example", 8080)],
            ),
            (
                "npm error request to https://registry.example.org/left-pad failed, reason: getaddrinfo EAI_AGAIN registry.example.org",
                vec![host("registry.example.org", 443)],
            ),
            (
                "ssh: Could not resolve hostname github.com: Temporary failure in name resolution",
                vec![host("github.com", 443)],
            ),
            (
                "HTTPSConnectionPool(host='packages.example.org', port=443): Max retries exceeded: Temporary failure in name resolution",
                vec![host("packages.example.org", 443)],
            ),
            ("see https://example.com/docs for more", vec![]),
            ("assertion failed", vec![]),
        ] {
            assert_eq!(hosts(output.as_bytes()), expected, "{output}");
        }
    }
}
