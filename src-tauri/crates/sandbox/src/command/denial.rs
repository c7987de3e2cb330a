//! Likely refusals by the sandbox, guessed from what a failed command wrote. A weak hint, said as one: a refusal looks like
//! a broken machine to a program, and without the hint the wrong thing gets repaired.

use super::end::Denial;
use super::spec::Network;

const MAX_DENIALS: usize = 4;
const MAX_LINE: usize = 200;

/// What refusals look like in output (lower case), and what is said about them. The first match of a line counts.
const HINTS: &[(&[&str], Cause)] = &[
    (
        &[
            "could not resolve host",
            "temporary failure in name resolution",
            "name or service not known",
            "network is unreachable",
            "eai_again",
            "getaddrinfo",
            "enetunreach",
            "failed to lookup address",
            "could not resolve hostname",
        ],
        Cause::Network,
    ),
    (&["read-only file system", "erofs"], Cause::ReadOnly),
    (
        &[
            "permission denied",
            "eacces",
            "access is denied",
            "access to the path",
        ],
        Cause::Permission,
    ),
    (&["operation not permitted", "eperm"], Cause::NotPermitted),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cause {
    Network,
    ReadOnly,
    Permission,
    NotPermitted,
}

/// What a failed command was running under.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Circumstances {
    pub(crate) network: Network,
    pub(crate) project_read_only: bool,
    pub(crate) secrets_hidden: bool,
}

/// The likely refusals in the last output of a failed command, at most one of each kind.
pub(crate) fn denials(output: &[u8], under: Circumstances) -> Vec<Denial> {
    let text = String::from_utf8_lossy(output);
    let mut seen = Vec::new();
    let mut denials = Vec::new();
    for line in text.lines() {
        let folded = line.to_lowercase();
        let Some((_, cause)) = HINTS
            .iter()
            .find(|(hints, _)| hints.iter().any(|hint| folded.contains(hint)))
        else {
            continue;
        };
        if seen.contains(cause) || (*cause == Cause::Network && under.network == Network::Host) {
            continue;
        }
        seen.push(*cause);
        denials.push(Denial {
            sentence: sentence(*cause, under).to_owned(),
            line: shortened(line),
        });
        if denials.len() == MAX_DENIALS {
            break;
        }
    }
    denials
}

fn sentence(cause: Cause, under: Circumstances) -> &'static str {
    match cause {
        Cause::Network if under.network == Network::Asks => {
            "The sandbox lets connections out through its proxy only (HTTP_PROXY and the like are set), and this \
             program does not use it; retrying alone will not help."
        }
        Cause::Network => {
            "The sandbox has no network, so this cannot be reached; ask for network access, retrying alone will not help."
        }
        Cause::ReadOnly if under.project_read_only => {
            "The project is read-only in this role; retrying will not help before the role is changed."
        }
        Cause::ReadOnly => {
            "This place is read-only in the sandbox: what lies outside of the project, and git's hooks and settings in \
             it; retrying alone will not help."
        }
        Cause::Permission if under.secrets_hidden => {
            "The sandbox hides files with passwords or keys and what lies outside of the project; if this is one of \
             them, ask for access, retrying alone will not help."
        }
        Cause::Permission => {
            "The sandbox may have refused a path outside of the project; ask for access to it, retrying alone will not help."
        }
        // The word of macOS for whatever a profile refuses.
        Cause::NotPermitted if cfg!(target_os = "macos") => {
            "The sandbox may have refused a path: what lies outside of the project, git's hooks and settings in it, or a \
             file with passwords; ask for access, retrying alone will not help."
        }
        Cause::NotPermitted => {
            "The sandbox refuses operations on the system, other processes and file owners; retrying alone will not help."
        }
    }
}

fn shortened(line: &str) -> String {
    line.chars()
        .filter(|letter| !letter.is_control())
        .take(MAX_LINE)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const USUAL: Circumstances = Circumstances {
        network: Network::Off,
        project_read_only: false,
        secrets_hidden: true,
    };

    #[test]
    fn each_kind_is_noted_once() {
        let output = b"curl: (6) Could not resolve host: example.com\nfatal: Could not resolve host: x\n\
            touch: cannot touch '/usr/x': Read-only file system\nfine\nError: EPERM: operation not permitted, link";
        let found = denials(output, USUAL);
        assert_eq!(found.len(), 3);
        assert!(found[0].sentence.contains("no network"));
        assert!(found[1].line.contains("/usr/x"));
        assert!(denials(b"error: expected `;`", USUAL).is_empty());
    }

    #[test]
    fn refusals_of_windows_are_known() {
        for line in ["Access is denied.", "Access to the path 'C:\\x\\y' is denied."] {
            let found = denials(line.as_bytes(), USUAL);
            assert!(found[0].sentence.contains("ask for access"), "{line}");
        }
    }

    #[test]
    fn a_network_that_is_there_is_not_blamed() {
        let under = Circumstances {
            network: Network::Host,
            ..USUAL
        };
        assert!(denials(b"curl: (6) Could not resolve host: example.com", under).is_empty());
    }
}
