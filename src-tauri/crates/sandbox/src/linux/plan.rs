//! The plan of a command's sandbox: what of this machine it sees, and how. Made in the app, by looking only; the helper
//! carries it out. Nothing of the home folder is visible but what is listed here.

use std::ffi::OsString;
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::wire::{Content, Place, Plan, Project};
use crate::command::audit::Guard;
use crate::command::environment::{HOME_VISIBLE, TOOLCHAIN_FOLDERS, command_environment, set};
use crate::command::proxy;
use crate::command::slot::private_folder;
use crate::command::{CommandLine, CommandSpec, Network, PathGrant, SandboxError, SecretFiles};
use crate::{Kind, PathError, RelativePath};

/// Folders of the system that are visible, read-only.
const SYSTEM: &[&str] = &[
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix", "/gnu",
];
/// Caches of tools: writable for the commands of one project alone. Those marked hold downloads: they start from what the
/// account has, and what is new in them is kept only where there is a network to download from.
const CACHES: &[(&str, bool)] = &[
    (".cache", false),
    (".cache/pip", true),
    (".cache/uv", true),
    (".cargo/git", true),
    (".cargo/registry", true),
    (".gradle", false),
    (".gradle/caches", true),
    (".m2/repository", true),
    (".npm", false),
    (".npm/_cacache", true),
    (".local/share/pnpm", false),
    (".yarn", false),
    ("go/pkg", true),
];

/// Where tools write names of programs anew after an installation; a layer where they are there, nothing otherwise.
const SHIMS: &[&str] = &[".asdf/shims", ".pyenv/shims", ".rbenv/shims"];
/// Where the proxy listens in the network of a command: above the ports that the kernel gives out by itself.
const PROXY_PORT: u16 = 61_080;

/// Makes the plan and the private folders it needs.
pub(super) fn make(spec: &CommandSpec, guard: &Guard, caches: &Path) -> Result<Plan, SandboxError> {
    let own: Vec<(OsString, OsString)> = std::env::vars_os().collect();
    let home = home_folder(&own);
    let mut environment = command_environment(own.iter().cloned(), &spec.environment);
    set(&mut environment, "HOME", home.clone().into());
    set(&mut environment, "TMPDIR", "/tmp".into());
    let proxy_port = (spec.network == Network::Asks).then_some(PROXY_PORT);
    for (name, value) in proxy_port.map(proxy::environment).unwrap_or_default() {
        set(&mut environment, name, value.into());
    }

    let mut places = Vec::new();
    let mut links = Vec::new();
    system_places(&mut places, &mut links);
    let machine = "/sys".to_owned();
    places.push(Place {
        target: machine.clone(),
        content: Content::KernelDevices { machine },
    });
    places.push(Place {
        target: text(&home),
        content: Content::Empty,
    });
    let toolchains = HOME_VISIBLE
        .iter()
        .map(|name| home.join(name))
        .chain(toolchain_folders(&environment, &home));
    places.extend(toolchains.filter_map(|path| visible(&path)));
    cache_places(&mut places, &home, caches, spec.network).map_err(SandboxError::State)?;
    if spec.network == Network::Host {
        places.extend(name_servers().as_deref().and_then(visible));
    }
    for grant in &spec.extra {
        places.push(granted(spec, grant)?);
    }
    let places = in_order(places);
    let (programs, arguments) = program(&spec.line, &environment);
    Ok(Plan {
        project: project(spec, guard)?,
        folder: working_folder(spec)?,
        links,
        places,
        masked: unreadable_settings().to_vec(),
        reduced: None,
        bwrap: None,
        host_network: spec.network == Network::Host,
        proxy_port,
        programs,
        arguments,
        environment: environment
            .into_iter()
            .filter_map(|(name, value)| Some(format!("{}={}", name.to_str()?, value.to_str()?)))
            .collect(),
        limits: spec.limits,
    })
}

/// The place of a grant. What no answer opens is not opened by a mistake of the caller either.
fn granted(spec: &CommandSpec, grant: &PathGrant) -> Result<Place, SandboxError> {
    let real = grant.path.canonicalize().unwrap_or_else(|_| grant.path.clone());
    if let Some(why) = spec.root.never_granted(&real, grant.writable) {
        return Err(SandboxError::Setup {
            step: format!("allowing {}: {why}", real.display()),
            source: io::ErrorKind::PermissionDenied.into(),
        });
    }
    let source = text(&real);
    Ok(Place {
        target: source.clone(),
        content: Content::Machine {
            source,
            writable: grant.writable,
        },
    })
}

fn project(spec: &CommandSpec, guard: &Guard) -> Result<Project, SandboxError> {
    let found = spec
        .root
        .metadata(&RelativePath::root())
        .map_err(SandboxError::Folder)?;
    let texts = |paths: &[RelativePath]| paths.iter().map(ToString::to_string).collect();
    Ok(Project {
        path: text(spec.root.path()),
        device: found.device,
        inode: found.inode,
        read_only: spec.root.reach().read_only,
        pinned: texts(&guard.pinned),
        protected: if spec.root.reach().git_internals {
            Vec::new()
        } else {
            texts(&guard.protected)
        },
        hidden: if spec.secret_files == SecretFiles::Hidden {
            texts(&guard.secrets)
        } else {
            Vec::new()
        },
    })
}

fn working_folder(spec: &CommandSpec) -> Result<String, SandboxError> {
    let found = spec.root.metadata(&spec.folder).map_err(SandboxError::Folder)?;
    if found.kind != Kind::Folder {
        return Err(SandboxError::Folder(PathError::NotAFolder {
            path: spec.folder.clone(),
        }));
    }
    let real = spec.root.real(&spec.folder).map_err(SandboxError::Folder)?;
    Ok(text(&spec.root.path().join(real.as_str())))
}

/// Paths go over the wire as text; one that is no text is not found by the helper, which then refuses.
fn text(path: &Path) -> String {
    path.components()
        .collect::<PathBuf>()
        .to_string_lossy()
        .into_owned()
}

fn home_folder(own: &[(OsString, OsString)]) -> PathBuf {
    let named = own
        .iter()
        .find(|(name, _)| name == "HOME")
        .map(|(_, value)| PathBuf::from(value));
    named
        .filter(|home| home.is_absolute() && home.components().count() > 1)
        .map(|home| home.canonicalize().unwrap_or(home))
        .unwrap_or_else(|| PathBuf::from("/home/paddock"))
}

fn system_places(places: &mut Vec<Place>, links: &mut Vec<(String, String)>) {
    for path in SYSTEM {
        let Ok(found) = std::fs::symlink_metadata(path) else {
            continue;
        };
        match std::fs::read_link(path) {
            Ok(target) if found.is_symlink() => links.push(((*path).to_owned(), text(&target))),
            _ => places.push(read_only(path)),
        }
    }
}

/// Folders before what lies in them, and nothing twice.
fn in_order(mut places: Vec<Place>) -> Vec<Place> {
    places.sort_by_key(|place| (place.target.matches('/').count(), place.target.clone()));
    let mut kept: Vec<Place> = Vec::new();
    for place in places {
        let around = kept
            .iter()
            .rfind(|other| Path::new(&place.target).starts_with(&other.target));
        if around.is_none_or(|around| !shows_itself(&place) || !shows_itself(around)) {
            kept.push(place);
        }
    }
    kept
}

/// Whether a place is the same read-only content as on the machine.
fn shows_itself(place: &Place) -> bool {
    place.content
        == Content::Machine {
            source: place.target.clone(),
            writable: false,
        }
}

fn read_only(path: &str) -> Place {
    Place {
        target: path.to_owned(),
        content: Content::Machine {
            source: path.to_owned(),
            writable: false,
        },
    }
}

fn visible(path: &Path) -> Option<Place> {
    path.exists().then(|| read_only(&text(path)))
}

/// Folders of toolchains that the environment names: PATH and its prefixes, and variables like JAVA_HOME.
fn toolchain_folders(environment: &[(OsString, OsString)], home: &Path) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    for (name, value) in environment {
        if name == "PATH" {
            for entry in std::env::split_paths(value) {
                folders.push(prefix(&entry, home).unwrap_or(entry));
            }
        } else if name
            .to_str()
            .is_some_and(|name| TOOLCHAIN_FOLDERS.contains(&name))
        {
            folders.push(PathBuf::from(value));
        }
    }
    folders.retain(|folder| {
        folder.is_absolute()
            && !home.starts_with(folder)
            && folder.parent().is_some_and(|parent| parent.parent().is_some())
            && !SYSTEM.iter().any(|system| folder.starts_with(system))
            && !is_private_place(folder, home)
    });
    folders.sort();
    folders.dedup();
    folders
}

/// The folder above a `bin`, which holds the libraries of what is in it, unless that is more than a toolchain.
fn prefix(entry: &Path, home: &Path) -> Option<PathBuf> {
    let name = entry.file_name()?;
    let above = entry.parent()?;
    let is_bin = name == "bin" || name == "sbin";
    let is_too_much = home.starts_with(above) || above == home.join(".local") || above == home.join(".cargo");
    (is_bin && !is_too_much && above.components().count() > 2).then(|| above.to_owned())
}

/// Folders that hold more than toolchains, so that no variable makes them visible as a whole.
fn is_private_place(folder: &Path, home: &Path) -> bool {
    [
        ".local",
        ".config",
        ".ssh",
        ".gnupg",
        ".aws",
        ".cargo",
        ".local/share",
        "Desktop",
        "Documents",
    ]
    .iter()
    .any(|name| folder == home.join(name))
}

fn cache_places(places: &mut Vec<Place>, home: &Path, caches: &Path, network: Network) -> io::Result<()> {
    let shims = SHIMS.iter().map(|name| (*name, true));
    for (name, layered) in CACHES.iter().copied().chain(shims) {
        let (target, own) = (
            home.join(name),
            caches.join(name.replace('/', "-").trim_start_matches('.')),
        );
        let lower = target
            .canonicalize()
            .ok()
            .filter(|lower| layered && lower.is_dir());
        // A cache of its own without content below it is part of the one around it.
        let is_part = SHIMS.contains(&name)
            || CACHES
                .iter()
                .any(|(other, layered)| !layered && name.starts_with(other));
        if layered && lower.is_none() && is_part {
            continue;
        }
        let upper = own.join("content");
        private_folder(&upper)?;
        let content = match lower {
            None => Content::Machine {
                source: text(&upper),
                writable: true,
            },
            Some(lower) => {
                let work = own.join("work");
                private_folder(&work)?;
                Content::Layer {
                    lower: text(&lower),
                    upper: text(&upper),
                    work: text(&work),
                    keep: network != Network::Off,
                }
            }
        };
        places.push(Place {
            target: text(&target),
            content,
        });
    }
    Ok(())
}

/// The file behind a `resolv.conf` that is a link out of /etc.
fn name_servers() -> Option<PathBuf> {
    Path::new("/etc/resolv.conf")
        .canonicalize()
        .ok()
        .filter(|path| !path.starts_with("/etc"))
}

/// What of /etc an ordinary account could not read. Only for root, whom no file mode keeps out.
fn unreadable_settings() -> &'static [String] {
    static FOUND: OnceLock<Vec<String>> = OnceLock::new();
    FOUND.get_or_init(|| {
        let mut found = Vec::new();
        if rustix::process::geteuid().is_root() {
            collect_unreadable(Path::new("/etc"), 0, &mut found);
        }
        found
    })
}

fn collect_unreadable(folder: &Path, depth: usize, found: &mut Vec<String>) {
    const MAX_DEPTH: usize = 3;
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let Ok(facts) = entry.metadata() else { continue };
        if facts.is_symlink() {
            continue;
        }
        let others = facts.permissions().mode() & 0o7;
        if others & 0o4 == 0 && facts.uid() == 0 {
            found.push(text(&entry.path()));
        } else if facts.is_dir() && depth < MAX_DEPTH {
            collect_unreadable(&entry.path(), depth + 1, found);
        }
    }
}

fn program(line: &CommandLine, environment: &[(OsString, OsString)]) -> (Vec<String>, Vec<String>) {
    match line {
        CommandLine::Shell(line) => {
            let shell = if Path::new("/bin/bash").exists() {
                "bash"
            } else {
                "sh"
            };
            (
                vec![format!("/bin/{shell}")],
                vec![shell.into(), "-c".into(), line.clone()],
            )
        }
        CommandLine::Program { program, arguments } => {
            let all = std::iter::once(program).chain(arguments).cloned().collect();
            if program.contains('/') {
                return (vec![program.clone()], all);
            }
            let path = environment
                .iter()
                .find(|(name, _)| name == "PATH")
                .map(|(_, value)| value.clone());
            let folders = path.unwrap_or_else(|| "/usr/bin:/bin".into());
            (
                std::env::split_paths(&folders)
                    .map(|folder| text(&folder.join(program)))
                    .collect(),
                all,
            )
        }
    }
}
