//! The text of a Seatbelt profile, made from what a command may reach. Pure, so that it is tested on every system. No path
//! is ever part of the text: paths go beside it as parameters, so none can become a rule. For one operation the last rule
//! that fits counts, so what is denied stands at the end; but a rule about a part of an operation (`file-write-data`) comes
//! before all rules about the whole (`file-write*`), so nothing of the project is ever allowed by such a part.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::marker::Marker;
use crate::root::protection::EDITOR_NAMES;

/// What a command may reach; absolute, canonical paths.
#[derive(Debug, Clone, Default)]
pub(super) struct Bounds {
    pub(super) project: PathBuf,
    pub(super) read_only: bool,
    /// Private folders of the command: home, temporary files.
    pub(super) own: Vec<PathBuf>,
    pub(super) readable: Vec<PathBuf>,
    pub(super) writable: Vec<PathBuf>,
    /// Is neither changed nor made nor given another name.
    pub(super) guarded: Vec<PathBuf>,
    /// Stays where it is; its content may change.
    pub(super) kept: Vec<PathBuf>,
    /// Is neither read nor changed.
    pub(super) hidden: Vec<PathBuf>,
    pub(super) network: Reachable,
}

/// What network there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Reachable {
    #[default]
    Nothing,
    /// One port of this machine, behind which Paddock's proxy asks.
    Proxy(u16),
    /// The network of the machine; sockets in files only where names are looked up.
    Machine,
}

/// A profile as `sandbox-exec` takes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Profile {
    pub(super) text: String,
    pub(super) parameters: Vec<(String, PathBuf)>,
}

/// What every program needs. Names of services are few: none of them starts programs, hands out passwords or reaches
/// other programs. The shared memory is that of Python's and OpenMP's own names.
const BASE: &str = r##"(version 1)
(deny default)
(allow process-exec)
(allow process-fork)
(allow signal (target same-sandbox))
(allow process-info* (target same-sandbox))
(allow sysctl-read
  (sysctl-name-prefix "hw.")
  (sysctl-name-prefix "machdep.cpu.")
  (sysctl-name "kern.argmax")
  (sysctl-name "kern.boottime")
  (sysctl-name "kern.hostname")
  (sysctl-name "kern.maxfilesperproc")
  (sysctl-name "kern.maxproc")
  (sysctl-name "kern.ngroups")
  (sysctl-name "kern.osproductversion")
  (sysctl-name "kern.osrelease")
  (sysctl-name "kern.ostype")
  (sysctl-name "kern.osvariant_status")
  (sysctl-name "kern.osversion")
  (sysctl-name "kern.secure_kernel")
  (sysctl-name "kern.tcsm_available")
  (sysctl-name "kern.usrstack64")
  (sysctl-name "kern.version")
  (sysctl-name "sysctl.proc_cputype")
  (sysctl-name "vm.loadavg")
  (sysctl-name "vm.pagesize"))
(allow mach-lookup
  (global-name "com.apple.system.notification_center")
  (global-name "com.apple.system.opendirectoryd.libinfo")
  (global-name "com.apple.system.opendirectoryd.membership"))
(allow ipc-posix-sem)
(allow ipc-posix-shm-read-data (ipc-posix-name "apple.shm.notification_center"))
(allow ipc-posix-shm-read-data ipc-posix-shm-read-metadata ipc-posix-shm-write-create ipc-posix-shm-write-data ipc-posix-shm-write-unlink
  (ipc-posix-name-regex #"^/?psm_")
  (ipc-posix-name-regex #"^/__KMP_REGISTERED_LIB_[0-9]+$"))
(allow pseudo-tty)
(allow file-read* file-write* file-ioctl (literal "/dev/ptmx"))
(allow file-read* file-write* file-ioctl
  (require-all (regex #"^/dev/ttys[0-9]+$") (extension "com.apple.sandbox.pty")))
(allow file-read* file-write-data
  (literal "/dev/null")
  (literal "/dev/zero")
  (literal "/dev/tty")
  (literal "/dev/dtracehelper"))
(allow file-ioctl (literal "/dev/tty") (literal "/dev/dtracehelper"))
(allow file-read* (literal "/dev/random") (literal "/dev/urandom") (literal "/dev/autofs_nowait"))
(allow file-read-data file-write-data (subpath "/dev/fd"))
(allow file-read-metadata
  (literal "/dev")
  (literal "/etc")
  (literal "/tmp")
  (literal "/var")
  (literal "/private")
  (literal "/private/var")
  (literal "/private/var/db")
  (literal "/private/var/run")
  (literal "/private/etc/localtime")
  (literal "/Library")
  (literal "/Applications")
  (literal "/opt"))
(allow file-read* file-map-executable (literal "/"))
(deny file-write-setugid)
"##;

/// The system and its toolchains, with everything below. Not the volume where the accounts are, by its other name.
pub(super) const SYSTEM: &[&str] = &[
    "/Applications/Xcode.app",
    "/Library/Apple",
    "/Library/Developer",
    "/Library/Frameworks",
    "/Library/Java",
    "/Library/Perl",
    "/Library/Ruby",
    "/System/Cryptexes",
    "/System/Library",
    "/System/Volumes/Preboot/Cryptexes",
    "/System/iOSSupport",
    "/bin",
    "/nix",
    "/opt/homebrew",
    "/opt/local",
    "/private/etc",
    "/private/preboot/Cryptexes",
    "/private/var/db/dyld",
    "/private/var/db/timezone",
    "/private/var/db/xcode_select_link",
    "/private/var/select",
    "/sbin",
    "/usr",
];
/// Data of databases and servers that stand among the toolchains.
const SYSTEM_DATA: &[&str] = &["/opt/homebrew/var", "/opt/local/var", "/usr/local/var"];

/// Certificates are checked by a service of the system; no keychain is reached by it.
const CERTIFICATES: &str = r#"(allow mach-lookup
  (global-name "com.apple.trustd")
  (global-name "com.apple.trustd.agent"))
"#;

const MACHINE_NETWORK: &str = r#"(allow network-outbound (remote ip))
(allow network-bind network-inbound (local ip))
(allow network-outbound (literal "/private/var/run/mDNSResponder"))
(allow system-socket (require-all (socket-domain AF_SYSTEM) (socket-protocol 2)))
(allow file-read* (literal "/private/var/run/resolv.conf"))
(allow mach-lookup
  (global-name "com.apple.SystemConfiguration.DNSConfiguration")
  (global-name "com.apple.SystemConfiguration.configd")
  (global-name "com.apple.dnssd.service"))
"#;

/// The profile of a command.
pub(super) fn profile(bounds: &Bounds, marker: &Marker) -> Profile {
    let mut writing = Writing {
        text: BASE.to_owned(),
        parameters: Vec::new(),
    };
    writing.rule("allow file-read* file-map-executable", &fixed(SYSTEM));
    writing.rule("allow file-clone", &files_of(&fixed(SYSTEM)));
    writing.rule("deny file-read* file-clone", &fixed(SYSTEM_DATA));
    // Allowed to nobody else and used by nobody: by it the processes of this run are told from all others.
    writing.line(&format!(
        "(allow mach-lookup (global-name \"{}\"))",
        marker.allowed()
    ));
    let project = writing.names("PROJECT", std::slice::from_ref(&bounds.project));
    let own = writing.names("OWN", &bounds.own);
    let readable = writing.names("READ", &bounds.readable);
    let writable = writing.names("WRITE", &bounds.writable);
    let above = writing.names("ABOVE", &ancestors(bounds));
    let guarded = writing.names("GUARD", &bounds.guarded);
    let kept = writing.names("KEEP", &bounds.kept);
    let hidden = writing.names("HIDE", &bounds.hidden);

    writing.rule("allow file-read-metadata", &literals(&above));
    let read = [&project[..], &own, &readable, &writable].concat();
    writing.rule("allow file-read* file-map-executable", &subpaths(&read));
    writing.rule("allow file-clone", &files_of(&subpaths(&read)));
    let changed = [&own[..], &writable].concat();
    writing.rule("allow file-write* file-link", &subpaths(&changed));
    if !bounds.read_only {
        let except = both(&[&guarded[..], &hidden].concat());
        let mut filters = subpaths(&project);
        filters.extend(except.iter().map(|filter| format!("(require-not {filter})")));
        let filters = filters.join("\n    ");
        writing.rule(
            "allow file-write* file-link",
            &[format!("(require-all\n    {filters})")],
        );
    }
    writing.rule("allow network-bind", &sockets("local", &own));
    writing.rule("allow network-outbound", &sockets("remote", &own));
    writing.line("(allow system-socket (socket-domain AF_UNIX))");
    match bounds.network {
        Reachable::Nothing => {}
        Reachable::Proxy(port) => {
            writing.line(&format!(
                "(allow network-outbound (remote ip \"localhost:{port}\"))"
            ));
            writing.text.push_str(CERTIFICATES);
        }
        Reachable::Machine => {
            writing.text.push_str(MACHINE_NETWORK);
            writing.text.push_str(CERTIFICATES);
        }
    }

    writing.rule("deny file-write* file-link", &both(&guarded));
    writing.rule(
        "deny file-read-data file-write* file-link file-clone",
        &both(&hidden),
    );
    // Whoever could replace one of these by a link would choose what the next command may change.
    let in_place = [&kept[..], &project, &own, &writable].concat();
    writing.rule("deny file-write-unlink", &literals(&in_place));
    let spellings = spellings(&bounds.project);
    if !spellings.is_empty() {
        let (project, any) = (subpaths(&project).join(" "), spellings.join("\n    "));
        let rule = format!("(require-all {project} (require-any\n    {any}))");
        writing.rule("deny file-write* file-link", &[rule]);
    }
    Profile {
        text: writing.text,
        parameters: writing.parameters,
    }
}

/// Names that are protected in every spelling, because the file system takes them all for one: Paddock's settings, and the
/// unusual spellings of what is looked at after a command by its usual one. A name that the project's own path holds is
/// left out: the expressions are about whole paths, and there it would be about the whole project.
fn spellings(project: &Path) -> Vec<String> {
    let is_free = |name: &str| {
        !project
            .components()
            .any(|part| part.as_os_str().eq_ignore_ascii_case(name))
    };
    let mut filters = Vec::new();
    if is_free(".paddock") {
        filters.extend(anywhere(&any_case(".paddock")));
    }
    for name in EDITOR_NAMES
        .iter()
        .copied()
        .chain([".git"])
        .filter(|name| is_free(name))
    {
        let usual = anywhere(&escaped(name)).join(" ");
        filters.push(format!(
            "(require-all (require-any {}) (require-not (require-any {usual})))",
            anywhere(&any_case(name)).join(" ")
        ));
    }
    filters
}

/// A name of a path, and what lies below it.
fn anywhere(pattern: &str) -> Vec<String> {
    vec![
        format!("(regex #\"/{pattern}$\")"),
        format!("(regex #\"/{pattern}/\")"),
    ]
}

/// An expression for a name in lower and upper case.
fn any_case(name: &str) -> String {
    name.chars()
        .map(|letter| {
            let (lower, upper) = (letter.to_ascii_lowercase(), letter.to_ascii_uppercase());
            if lower == upper {
                escaped(&letter.to_string())
            } else {
                format!("[{lower}{upper}]")
            }
        })
        .collect()
}

/// An expression for exactly this name. A quote would end the text that it stands in.
fn escaped(name: &str) -> String {
    let mut pattern = String::new();
    for letter in name.chars().filter(|letter| *letter != '"') {
        if r"\.^$|?*+()[]{}".contains(letter) {
            pattern.push('\\');
        }
        pattern.push(letter);
    }
    pattern
}

/// The folders above everything that is reached, to be walked through, not listed.
fn ancestors(bounds: &Bounds) -> Vec<PathBuf> {
    let reached = [&bounds.own[..], &bounds.readable, &bounds.writable].concat();
    let mut found: Vec<PathBuf> = reached
        .iter()
        .chain([&bounds.project])
        .flat_map(|path| path.ancestors().skip(1).map(Path::to_owned))
        .filter(|path| path.parent().is_some())
        .collect();
    found.sort();
    found.dedup();
    found
}

/// The text that grows, and the parameters it names.
struct Writing {
    text: String,
    parameters: Vec<(String, PathBuf)>,
}

impl Writing {
    /// Names paths; the names are what the text may hold.
    fn names(&mut self, kind: &str, paths: &[PathBuf]) -> Vec<String> {
        let mut names = Vec::new();
        for (number, path) in paths.iter().enumerate() {
            let name = format!("{kind}_{number}");
            self.parameters.push((name.clone(), path.clone()));
            names.push(name);
        }
        names
    }

    /// One rule; without anything it is about it would be about everything, so then there is none.
    fn rule(&mut self, what: &str, filters: &[String]) {
        if !filters.is_empty() {
            let _ = writeln!(self.text, "({what}\n  {})", filters.join("\n  "));
        }
    }

    fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "{line}");
    }
}

fn literals(names: &[String]) -> Vec<String> {
    names
        .iter()
        .map(|name| format!("(literal (param \"{name}\"))"))
        .collect()
}

fn subpaths(names: &[String]) -> Vec<String> {
    names
        .iter()
        .map(|name| format!("(subpath (param \"{name}\"))"))
        .collect()
}

/// Places that are the same on every machine.
fn fixed(places: &[&str]) -> Vec<String> {
    places
        .iter()
        .map(|place| format!("(subpath \"{place}\")"))
        .collect()
}

/// The files among these, without the folders: a clone of a folder holds everything below, also what is hidden.
fn files_of(filters: &[String]) -> Vec<String> {
    vec![format!(
        "(require-all (vnode-type REGULAR-FILE) (require-any\n    {}))",
        filters.join("\n    ")
    )]
}

/// The thing itself, also where it does not exist yet, and what lies below.
fn both(names: &[String]) -> Vec<String> {
    [literals(names), subpaths(names)].concat()
}

fn sockets(side: &str, names: &[String]) -> Vec<String> {
    subpaths(names)
        .iter()
        .map(|filter| format!("({side} unix-socket {filter})"))
        .collect()
}

#[cfg(test)]
mod tests;
