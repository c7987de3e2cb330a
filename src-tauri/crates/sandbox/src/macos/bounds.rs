//! From a command to the bounds of its profile: what is looked up on the machine, and in which order it counts.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, symlink};
use std::path::{Path, PathBuf};

use super::profile::{Bounds, Reachable};
use super::toolchains::{DeveloperTools, is_toolchain, named_by};
use crate::RelativePath;
use crate::command::audit::{GUARDED, Guard};
use crate::command::environment::HOME_VISIBLE;
use crate::command::environment::{command_environment, set};
use crate::command::worktree;
use crate::command::{CommandSpec, SecretFiles};

/// Values that name folders which tools write to; without them the tools use the private home.
const WRITTEN: &[&str] = &["CARGO_HOME", "DENO_DIR", "GEM_HOME", "GOPATH"];

/// The private folders of a command; canonical paths.
#[derive(Debug, Clone)]
pub(super) struct OwnPlaces {
    /// Stays from one command of a project to the next: caches of tools.
    pub(super) home: PathBuf,
    /// For this command alone.
    pub(super) temporary: PathBuf,
}

/// The account's home folder: nothing of it is reached but what is listed.
pub(super) fn account_home(own: &[(OsString, OsString)]) -> PathBuf {
    let named = own
        .iter()
        .find(|(name, _)| name == "HOME")
        .map(|(_, value)| PathBuf::from(value));
    named
        .filter(|home| home.is_absolute() && home.components().count() > 2)
        .map(|home| home.canonicalize().unwrap_or(home))
        .unwrap_or_else(|| PathBuf::from("/var/empty"))
}

/// The bounds of a command. Paths are resolved here, because the kernel compares real ones.
pub(super) fn bounds(
    spec: &CommandSpec,
    guard: &Guard,
    places: &OwnPlaces,
    environment: &[(OsString, OsString)],
    home: &Path,
    network: Reachable,
) -> Bounds {
    let project = spec.root.path().to_owned();
    let toolchains = HOME_VISIBLE
        .iter()
        .map(|name| home.join(name))
        .chain(named_by(environment, home));
    // A link among them leads to where it leads: what counts is whether that is a toolchain too.
    let mut readable: Vec<PathBuf> = toolchains
        .filter_map(|path| path.canonicalize().ok())
        .filter(|path| is_toolchain(path, home))
        .collect();
    let mut writable = Vec::new();
    for grant in &worktree::split(&spec.root, &spec.extra, false).grants {
        let path = grant.path.canonicalize().unwrap_or_else(|_| grant.path.clone());
        if grant.writable {
            &mut writable
        } else {
            &mut readable
        }
        .push(path);
    }
    readable.sort();
    readable.dedup();
    let hidden: &[RelativePath] = match spec.secret_files {
        SecretFiles::Hidden => &guard.secrets,
        SecretFiles::Readable => &[],
    };
    let (guarded, kept) = protected(guard, hidden, spec.root.reach().git_internals);
    let absolute = |paths: &[RelativePath]| -> Vec<PathBuf> {
        paths.iter().map(|path| project.join(path.as_str())).collect()
    };
    let mut guarded = absolute(&guarded);
    let settings = project.join(".paddock");
    if !guarded.contains(&settings) {
        guarded.push(settings);
    }
    Bounds {
        project: project.clone(),
        read_only: spec.root.reach().read_only,
        own: vec![places.home.clone(), places.temporary.clone()],
        readable,
        writable,
        guarded,
        kept: absolute(&kept),
        hidden: absolute(hidden),
        network,
    }
}

/// What stays as it is, and what stays where it is: whoever may move a folder moves what is protected in it away, and what
/// is hidden in it to a name under which it is not.
fn protected(
    guard: &Guard,
    hidden: &[RelativePath],
    git_internals: bool,
) -> (Vec<RelativePath>, Vec<RelativePath>) {
    let (mut guarded, mut kept) = (Vec::new(), Vec::new());
    if !git_internals {
        guarded.clone_from(&guard.protected);
        // In a repository that was there before, also what is missing: no command has to add it.
        guarded.extend(
            guard
                .pinned
                .iter()
                .flat_map(|repository| GUARDED.iter().filter_map(|name| repository.join(name).ok())),
        );
        kept.clone_from(&guard.pinned);
    }
    for path in guarded.iter().chain(hidden) {
        kept.extend(std::iter::successors(path.parent(), RelativePath::parent));
    }
    kept.retain(|path| !path.is_root());
    for paths in [&mut guarded, &mut kept] {
        paths.sort();
        paths.dedup();
    }
    (guarded, kept)
}

/// The environment of a command: the allowed part of the own one with the private places, then what the person added.
pub(super) fn environment(
    own: &[(OsString, OsString)],
    added: &[(String, String)],
    places: &OwnPlaces,
    home: &Path,
    tools: Option<&DeveloperTools>,
) -> Vec<(OsString, OsString)> {
    let kept = own
        .iter()
        .filter(|(name, _)| !WRITTEN.iter().any(|written| name == written))
        .cloned();
    let mut result = command_environment(kept, &[]);
    set(&mut result, "HOME", places.home.clone().into());
    set(&mut result, "TMPDIR", places.temporary.clone().into());
    let has = |result: &[(OsString, OsString)], name: &str| result.iter().any(|(other, _)| other == name);
    // Toolchains that are looked for in the home folder when nothing names them.
    for (name, folder) in [
        ("RUSTUP_HOME", ".rustup"),
        ("NVM_DIR", ".nvm"),
        ("PYENV_ROOT", ".pyenv"),
    ] {
        let folder = home.join(folder);
        if !has(&result, name) && folder.is_dir() {
            set(&mut result, name, folder.into());
        }
    }
    if let Some(tools) = tools {
        let path = result
            .iter()
            .find(|(name, _)| name == "PATH")
            .map(|(_, value)| value.clone());
        for (name, value) in tools.environment(path.as_deref()) {
            set(&mut result, name, value);
        }
    }
    for (name, value) in command_environment(std::iter::empty(), added) {
        if let Some(name) = name.to_str() {
            set(&mut result, name, value);
        }
    }
    result
}

/// Makes the private home of a project's commands with the names of what is readable in it. Only when it is new: later a
/// command may have put a link anywhere in it, and nothing is made behind one.
pub(super) fn make_home(folder: &Path, home: &Path) -> io::Result<PathBuf> {
    if std::fs::symlink_metadata(folder).is_err() {
        let parent = folder.parent().unwrap_or(folder);
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(parent)?;
        let fresh = folder.with_extension("new");
        // What a crash left here was never given to a command.
        if fresh.exists() {
            std::fs::remove_dir_all(&fresh)?;
        }
        std::fs::DirBuilder::new().mode(0o700).create(&fresh)?;
        for name in HOME_VISIBLE {
            let target = home.join(name);
            if let (true, Some(above)) = (target.exists(), fresh.join(name).parent()) {
                std::fs::create_dir_all(above)?;
                symlink(&target, fresh.join(name))?;
            }
        }
        match std::fs::rename(&fresh, folder) {
            // Another command of the project was first.
            Err(_) if folder.is_dir() => {}
            other => other?,
        }
    }
    // A link in its place would make the profile about what it leads to.
    if !std::fs::symlink_metadata(folder)?.is_dir() {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    folder.canonicalize()
}

/// `KEY=value` as `sandbox-exec` takes it after `-D`.
pub(super) fn definition(name: &str, path: &Path) -> OsString {
    let mut text = name.as_bytes().to_vec();
    text.push(b'=');
    text.extend_from_slice(path.as_os_str().as_bytes());
    OsStr::from_bytes(&text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::{PathGrant, StateDir};
    use crate::{ProjectRoot, WriteMode};

    struct Bed {
        place: tempfile::TempDir,
        spec: CommandSpec,
        places: OwnPlaces,
        home: PathBuf,
    }

    fn bed() -> Bed {
        let place = tempfile::tempdir().unwrap();
        let base = place.path().canonicalize().unwrap();
        for name in [
            "shop/.git/info",
            "shop/sub/lib/.git/hooks",
            "shop/deploy/keys",
            "shop/.vscode",
            "me/.rustup",
            "other",
            "state",
            "temp",
        ] {
            std::fs::create_dir_all(base.join(name)).unwrap();
        }
        for name in [
            "shop/.git/HEAD",
            "shop/.git/config",
            "shop/.env",
            "shop/deploy/keys/id_rsa",
            "shop/sub/lib/.git/HEAD",
        ] {
            std::fs::write(base.join(name), "").unwrap();
        }
        let root = ProjectRoot::open(&base.join("shop")).unwrap();
        let spec = CommandSpec::shell(root, StateDir::new(base.join("state")), "true");
        let places = OwnPlaces {
            home: base.join("state"),
            temporary: base.join("temp"),
        };
        Bed {
            home: base.join("me"),
            spec,
            places,
            place,
        }
    }

    impl Bed {
        fn bounds(&self) -> Bounds {
            bounds(
                &self.spec,
                &Guard::of(&self.spec.root),
                &self.places,
                &[],
                &self.home,
                Reachable::Nothing,
            )
        }

        fn project(&self, name: &str) -> PathBuf {
            self.spec.root.path().join(name)
        }
    }

    #[test]
    fn the_home_folder_is_never_the_whole_disk() {
        let of = |value: &str| account_home(&[("HOME".into(), value.into())]);
        assert_eq!(of("/Users/none"), PathBuf::from("/Users/none"));
        for value in ["/", "/Users", "relative", ""] {
            assert_eq!(of(value), PathBuf::from("/var/empty"), "{value}");
        }
    }

    #[test]
    fn what_git_runs_is_guarded_also_where_it_is_missing() {
        let bed = bed();
        let bounds = bed.bounds();
        for name in [
            ".git/hooks",
            ".git/config",
            ".git/config.worktree",
            ".git/info/attributes",
            ".git/commondir",
            ".vscode",
            "sub/lib/.git/hooks",
            "sub/lib/.git/config",
            ".paddock",
        ] {
            assert!(
                bounds.guarded.contains(&bed.project(name)),
                "{name}: {:?}",
                bounds.guarded
            );
        }
        for name in [".git", ".git/info", "sub", "sub/lib", "sub/lib/.git"] {
            assert!(
                bounds.kept.contains(&bed.project(name)),
                "{name}: {:?}",
                bounds.kept
            );
        }
        assert!(
            !bounds.kept.contains(&bed.project("")),
            "the project itself is kept by its own rule"
        );
        assert_eq!(
            bounds.hidden,
            [bed.project(".env"), bed.project("deploy/keys/id_rsa")]
        );
        assert!(
            bounds.kept.contains(&bed.project("deploy/keys")) && bounds.kept.contains(&bed.project("deploy"))
        );
        assert_eq!(bounds.readable, [bed.home.join(".rustup")]);
    }

    #[test]
    fn grants_and_links_are_resolved() {
        let mut bed = bed();
        let base = bed.place.path().canonicalize().unwrap();
        symlink(base.join("other"), base.join("link")).unwrap();
        // A link among the toolchains does not make what it leads to one.
        symlink(&bed.home, bed.home.join(".nvm")).unwrap();
        for (path, writable) in [("link", true), ("link", false)] {
            bed.spec.extra.push(PathGrant {
                path: base.join(path),
                writable,
            });
        }
        let bounds = bed.bounds();
        assert_eq!(bounds.writable, [base.join("other")]);
        assert!(bounds.readable.contains(&base.join("other")));
        assert!(!bounds.readable.contains(&bed.home), "{:?}", bounds.readable);
    }

    #[test]
    fn reach_and_secrets_are_obeyed() {
        let mut bed = bed();
        bed.spec.secret_files = SecretFiles::Readable;
        bed.spec.root = bed.spec.root.with_git_internals();
        let bounds = bed.bounds();
        assert_eq!(bounds.hidden, Vec::<PathBuf>::new());
        assert_eq!(bounds.guarded, [bed.project(".paddock")]);
        bed.spec.root = bed.spec.root.read_only();
        assert!(bed.bounds().read_only);
    }

    #[test]
    fn the_environment_knows_private_places_only() {
        let bed = bed();
        let own = [
            ("HOME", "/Users/me"),
            ("PATH", "/usr/bin"),
            ("CARGO_HOME", "/Users/me/.cargo"),
            ("DYLD_INSERT_LIBRARIES", "x"),
            ("__XPC_DYLD_LIBRARY_PATH", "x"),
            ("SSH_AUTH_SOCK", "/private/tmp/x"),
            ("TMPDIR", "/var/folders/x"),
        ]
        .map(|(name, value)| (name.into(), value.into()));
        let added = [("MINE", "1"), ("DYLD_LIBRARY_PATH", "x"), ("__XPC_X", "x")]
            .map(|(n, v)| (n.to_owned(), v.to_owned()));
        let result = environment(&own, &added, &bed.places, &bed.home, None);
        let value = |wanted: &str| {
            result
                .iter()
                .find(|(name, _)| name == wanted)
                .map(|(_, value)| value.clone())
        };
        assert_eq!(value("HOME"), Some(bed.places.home.clone().into()));
        assert_eq!(value("TMPDIR"), Some(bed.places.temporary.clone().into()));
        assert_eq!(value("RUSTUP_HOME"), Some(bed.home.join(".rustup").into()));
        assert_eq!(value("MINE"), Some("1".into()));
        for name in [
            "CARGO_HOME",
            "DYLD_INSERT_LIBRARIES",
            "DYLD_LIBRARY_PATH",
            "__XPC_DYLD_LIBRARY_PATH",
            "__XPC_X",
            "SSH_AUTH_SOCK",
        ] {
            assert_eq!(value(name), None, "{name}");
        }
    }

    #[test]
    fn a_private_home_is_made_once_and_links_what_is_readable() {
        let bed = bed();
        let folder = bed.places.home.join("home");
        let made = make_home(&folder, &bed.home).unwrap();
        assert_eq!(
            std::fs::read_link(made.join(".rustup")).unwrap(),
            bed.home.join(".rustup")
        );
        // What a command did to it stays, and nothing is made through it.
        std::fs::remove_file(made.join(".rustup")).unwrap();
        symlink(bed.place.path().join("other"), made.join(".config")).unwrap();
        std::fs::create_dir_all(bed.home.join(".config/git")).unwrap();
        std::fs::write(bed.home.join(".config/git/config"), "").unwrap();
        make_home(&folder, &bed.home).unwrap();
        assert!(!made.join(".rustup").exists());
        std::fs::rename(&folder, bed.places.home.join("moved")).unwrap();
        symlink(&bed.home, &folder).unwrap();
        assert!(
            make_home(&folder, &bed.home).is_err(),
            "a link is not taken for the private home"
        );
        assert_eq!(
            std::fs::read_dir(bed.place.path().join("other")).unwrap().count(),
            0
        );
    }

    #[test]
    fn a_definition_keeps_every_byte() {
        let path = Path::new(OsStr::from_bytes(b"/a=b \"\xff\n"));
        assert_eq!(definition("READ_1", path).as_bytes(), b"READ_1=/a=b \"\xff\n");
    }

    #[test]
    fn a_new_settings_folder_is_seen_by_the_next_command() {
        let bed = bed();
        let path = bed.spec.root.relative("deep/.idea/x").unwrap();
        bed.spec.root.write(&path, b"", WriteMode::CreateNew).unwrap();
        assert!(bed.bounds().guarded.contains(&bed.project("deep/.idea")));
    }
}
