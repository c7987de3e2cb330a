//! The plan of a command where no namespaces can be made: the same allow-list, as files and folders of the machine that it
//! may reach, and a home and temporary folder of its own that only the environment can lead to.

use std::io;
use std::path::Path;

use super::wire::{Content, Plan, Reachable};
use crate::command::slot::private_folder;

/// No terminals: without namespaces those of the person are among them, to be read and written.
const DEVICES: &[&str] = &[
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
];
/// Where tools look below the home folder, and the variables that keep them there.
const TOOLCHAINS: &[(&str, &str)] = &[
    ("RUSTUP_HOME", ".rustup"),
    ("PYENV_ROOT", ".pyenv"),
    ("NVM_DIR", ".nvm"),
    ("GIT_CONFIG_GLOBAL", ".gitconfig"),
];

/// Turns a plan for namespaces into one without; the private folders lie below the caches.
pub(super) fn reduce(mut plan: Plan, caches: &Path) -> io::Result<Plan> {
    let (home, temporary) = (caches.join("home"), caches.join("temporary"));
    // It is the command's own, so nothing in it is believed; links in it are removed, not followed.
    if temporary.exists() {
        std::fs::remove_dir_all(&temporary)?;
    }
    private_folder(&home)?;
    private_folder(&temporary)?;
    let (home, temporary) = (text(&home)?, text(&temporary)?);

    let mut readable = vec!["/proc".to_owned()];
    let mut writable: Vec<String> = DEVICES.iter().map(|name| (*name).to_owned()).collect();
    writable.extend([home.clone(), temporary.clone()]);
    readable.extend(plan.links.iter().map(|(link, _)| link.clone()));
    for place in &plan.places {
        if let Content::Machine {
            source,
            writable: false,
        } = &place.content
        {
            open_but(source, &plan.masked, &mut readable);
        } else if let Content::Machine {
            source,
            writable: true,
        } = &place.content
            && *source == place.target
        {
            writable.push(source.clone());
        }
    }
    let own_home = value(&plan.environment, "HOME").unwrap_or_default().to_owned();
    for (name, below) in TOOLCHAINS {
        let folder = Path::new(&own_home).join(below);
        if value(&plan.environment, name).is_none() && folder.exists() {
            set(&mut plan.environment, name, &text(&folder)?);
        }
    }
    set(&mut plan.environment, "HOME", &home);
    set(&mut plan.environment, "TMPDIR", &temporary);
    plan.reduced = Some(Reachable { readable, writable });
    Ok(plan)
}

/// Adds a folder, or, where something in it is hidden, everything else in it.
fn open_but(path: &str, hidden: &[String], readable: &mut Vec<String>) {
    if hidden.iter().any(|other| other == path) {
        return;
    }
    if !hidden.iter().any(|other| Path::new(other).starts_with(path)) {
        readable.push(path.to_owned());
        return;
    }
    for entry in std::fs::read_dir(path).into_iter().flatten().flatten() {
        if let Some(inner) = entry.path().to_str() {
            open_but(inner, hidden, readable);
        }
    }
}

fn text(path: &Path) -> io::Result<String> {
    path.to_str()
        .map(str::to_owned)
        .ok_or_else(|| io::ErrorKind::InvalidInput.into())
}

fn value<'a>(environment: &'a [String], name: &str) -> Option<&'a str> {
    environment
        .iter()
        .find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))
}

fn set(environment: &mut Vec<String>, name: &str, new: &str) {
    environment.retain(|pair| value(std::slice::from_ref(pair), name).is_none());
    environment.push(format!("{name}={new}"));
}
