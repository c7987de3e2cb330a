//! The same walls by the bubblewrap of the system, where this program may make no namespaces of its own: what it is told.
//! Some systems let only named programs make them, and that one is among those. It makes namespaces and mounts, gives up
//! every privilege and starts the helper inside, which finds out whether the walls stand before the command runs.

use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::process::Command;

use super::view::{KERNEL_SECRETS, KERNEL_SETTINGS, MIN_PRIVATE};
use super::wire::{ByBwrap, Content, Place, Plan};
use crate::command::slot::private_folder;

/// Never looked for in PATH: what a project puts there would run without walls.
const PROGRAM: &str = "/usr/bin/bwrap";
/// The helper's name inside.
pub(super) const INSIDE: &str = "/.paddock-sandbox";
/// What of /sys programs ask about the machine; a view of the own network alone cannot be had here.
const MACHINE_FACTS: &str = "/sys/devices/system";

/// The system's bubblewrap when it can be trusted: the system's own file, which runs with no more rights than its caller.
pub(super) fn program() -> Option<&'static str> {
    let is_own = |path: &str| {
        fs::symlink_metadata(path)
            .is_ok_and(|found| !found.is_symlink() && found.uid() == 0 && found.mode() & 0o022 == 0)
    };
    let found = fs::symlink_metadata(PROGRAM).ok()?;
    let is_plain = found.is_file() && found.mode() & 0o6000 == 0 && !has_privileges();
    (is_plain && [PROGRAM, "/usr/bin", "/usr"].into_iter().all(is_own)).then_some(PROGRAM)
}

/// Whether this version can layer folders.
pub(super) fn can_layer(program: &str) -> bool {
    let help = Command::new(program).arg("--help").env_clear().output();
    help.is_ok_and(|help| String::from_utf8_lossy(&help.stdout).contains("--overlay-src"))
}

/// Whether the file brings capabilities with it.
fn has_privileges() -> bool {
    let mut value = [0_u8; 64];
    rustix::fs::getxattr(PROGRAM, "security.capability", &mut value).is_ok()
}

/// Makes what the plan needs beside it: an unreadable file and an unreadable folder, to lie over what is hidden.
pub(super) fn prepare(program: &str, layers: bool, caches: &Path) -> io::Result<ByBwrap> {
    let (file, folder) = (caches.join("hidden-file"), caches.join("hidden-folder"));
    if !file.exists() {
        private_folder(caches)?;
        let mut options = fs::OpenOptions::new();
        options.write(true).create_new(true).mode(0o000).open(&file)?;
    }
    if !folder.exists() {
        let mut builder = fs::DirBuilder::new();
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0);
        builder.create(&folder)?;
    }
    let text = |path: &Path| {
        let text = path.to_str().map(str::to_owned);
        text.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))
    };
    Ok(ByBwrap {
        program: program.to_owned(),
        hidden_file: text(&file)?,
        hidden_folder: text(&folder)?,
        layers,
    })
}

/// What bubblewrap is told for a plan. `helper` is where the helper's program can be opened; `libraries` are folders it may
/// need besides those of the system.
pub(super) fn arguments(plan: &Plan, by: &ByBwrap, helper: &str, libraries: &[String]) -> Vec<String> {
    let mut told = Told(Vec::new());
    told.say(&[
        "--unshare-user",
        "--unshare-pid",
        "--unshare-ipc",
        "--unshare-uts",
    ]);
    told.say(&["--unshare-cgroup-try", "--die-with-parent", "--as-pid-1"]);
    told.say(&["--cap-drop", "ALL"]);
    if !plan.host_network {
        told.say(&["--unshare-net"]);
    }
    let memory = (plan.limits.memory / 2).max(MIN_PRIVATE);
    private_places(&mut told, memory);
    for (link, target) in &plan.links {
        told.say(&["--symlink", target, link]);
    }
    for place in &plan.places {
        attach(&mut told, place, by, memory);
    }
    for folder in libraries {
        told.say(&["--ro-bind-try", folder, folder]);
    }
    attach_project(&mut told, plan, by);
    for path in &plan.masked {
        mask(&mut told, by, path);
    }
    told.say(&["--proc", "/proc"]);
    for name in KERNEL_SECRETS {
        mask(&mut told, by, &format!("/proc/{name}"));
    }
    // Bubblewrap leaves them writable for the account of root.
    for name in KERNEL_SETTINGS {
        let setting = format!("/proc/{name}");
        told.say(&["--ro-bind-try", &setting, &setting]);
    }
    told.say(&[
        "--ro-bind",
        helper,
        INSIDE,
        "--remount-ro",
        "/dev",
        "--remount-ro",
        "/",
    ]);
    told.0
}

/// The list under construction.
struct Told(Vec<String>);

impl Told {
    fn say(&mut self, words: &[&str]) {
        self.0.extend(words.iter().map(|word| (*word).to_owned()));
    }
}

/// The places that every command has for itself; together they hold no more than `memory`.
fn private_places(told: &mut Told, memory: u64) {
    told.say(&["--dev", "/dev"]);
    for (place, mode, part) in [
        ("/tmp", "1777", 2),
        ("/var/tmp", "1777", 8),
        ("/run", "0755", 8),
        ("/dev/shm", "1777", 8),
    ] {
        let size = (memory / part).to_string();
        told.say(&["--perms", mode, "--size", &size, "--tmpfs", place]);
    }
}

fn attach(told: &mut Told, place: &Place, by: &ByBwrap, memory: u64) {
    let target = place.target.as_str();
    match &place.content {
        Content::Machine { source, writable } => {
            let how = if *writable { "--bind-try" } else { "--ro-bind-try" };
            told.say(&[how, source, target]);
        }
        Content::KernelDevices { .. } => told.say(&["--ro-bind-try", MACHINE_FACTS, MACHINE_FACTS]),
        Content::Empty => {
            let size = (memory / 8).to_string();
            told.say(&["--perms", "0700", "--size", &size, "--tmpfs", target]);
        }
        Content::Layer {
            lower,
            upper,
            work,
            keep,
        } => match (by.layers, keep) {
            (true, true) => told.say(&["--overlay-src", lower, "--overlay", upper, work, target]),
            (true, false) => {
                told.say(&[
                    "--overlay-src",
                    lower,
                    "--overlay-src",
                    upper,
                    "--tmp-overlay",
                    target,
                ]);
            }
            // Then the changes alone are visible.
            (false, _) => told.say(&["--bind", upper, target]),
        },
    }
}

fn attach_project(told: &mut Told, plan: &Plan, by: &ByBwrap) {
    let project = &plan.project;
    let how = if project.read_only { "--ro-bind" } else { "--bind" };
    told.say(&[how, &project.path, &project.path]);
    let at = |path: &str| format!("{}/{path}", project.path);
    if !project.read_only {
        for path in &project.pinned {
            told.say(&["--bind-try", &at(path), &at(path)]);
        }
        for path in &project.protected {
            told.say(&["--ro-bind-try", &at(path), &at(path)]);
        }
    }
    for path in &project.hidden {
        mask(told, by, &at(path));
    }
}

/// Lays something unreadable over what is there.
fn mask(told: &mut Told, by: &ByBwrap, path: &str) {
    let Ok(found) = fs::symlink_metadata(path) else {
        return;
    };
    let instead = if found.is_dir() {
        &by.hidden_folder
    } else {
        &by.hidden_file
    };
    told.say(&["--ro-bind", instead, path]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::{CommandLine, CommandSpec, StateDir};
    use crate::{ProjectRoot, linux::plan};

    fn told(change: impl FnOnce(&mut CommandSpec)) -> Vec<String> {
        let place = tempfile::tempdir().unwrap();
        let project = place.path().join("project");
        fs::create_dir_all(project.join(".git/hooks")).unwrap();
        fs::write(project.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        fs::create_dir(project.join(".git/objects")).unwrap();
        fs::create_dir(project.join(".git/refs")).unwrap();
        fs::write(project.join(".env"), "KEY=1").unwrap();
        let root = ProjectRoot::open(&project).unwrap();
        let guard = crate::command::audit::Guard::of(&root);
        let mut spec = CommandSpec::shell(root, StateDir::new(place.path().join("state")), "true");
        spec.line = CommandLine::Shell("true".into());
        change(&mut spec);
        let caches = place.path().join("caches");
        let plan = plan::make(&spec, &guard, &caches).unwrap();
        let by = prepare("/usr/bin/bwrap", false, &caches).unwrap();
        let project = format!("{}/", spec.root.path().display());
        arguments(&plan, &by, "/opt/paddock", &["/opt/lib".into()])
            .into_iter()
            .map(|word| word.replace(&project, "P/"))
            .collect()
    }

    fn says(told: &[String], words: &[&str]) -> bool {
        told.windows(words.len()).any(|some| some == words)
    }

    #[test]
    fn every_wall_is_asked_for() {
        let told = told(|_| {});
        assert!(says(&told, &["--unshare-net"]) && says(&told, &["--cap-drop", "ALL"]));
        assert!(says(&told, &["--ro-bind-try", "P/.git/hooks", "P/.git/hooks"]));
        assert!(says(&told, &["--bind-try", "P/.git", "P/.git"]));
        let hidden = told.iter().position(|word| word == "P/.env").unwrap();
        assert!(told[hidden - 1].ends_with("/hidden-file") && told[hidden - 2] == "--ro-bind");
        assert!(says(&told, &["--ro-bind-try", "/proc/sys", "/proc/sys"]));
        assert!(told.ends_with(&["--remount-ro".to_owned(), "/".to_owned()]));
        assert!(says(&told, &["--ro-bind-try", "/opt/lib", "/opt/lib"]));
    }

    #[test]
    fn a_project_that_is_only_looked_at_is_attached_read_only() {
        let told = told(|spec| spec.root = spec.root.read_only());
        let project = told
            .iter()
            .rposition(|word| word == "--ro-bind")
            .is_some_and(|_| !says(&told, &["--bind-try", "P/.git", "P/.git"]));
        assert!(project);
    }

    #[test]
    fn the_network_of_the_machine_is_not_left_out_by_mistake() {
        assert!(!says(
            &told(|spec| spec.network = crate::Network::Host),
            &["--unshare-net"]
        ));
        assert!(says(
            &told(|spec| spec.network = crate::Network::Asks),
            &["--unshare-net"]
        ));
    }

    #[test]
    fn what_is_hidden_cannot_be_read_by_its_owner() {
        let place = tempfile::tempdir().unwrap();
        let by = prepare("/usr/bin/bwrap", true, place.path()).unwrap();
        assert_eq!(fs::metadata(&by.hidden_file).unwrap().mode() & 0o777, 0);
        assert_eq!(fs::metadata(&by.hidden_folder).unwrap().mode() & 0o777, 0);
        assert_eq!(prepare("/usr/bin/bwrap", true, place.path()).unwrap(), by);
    }
}
