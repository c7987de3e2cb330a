//! Path arguments: whatever they say, nothing of the folder beside the project is read through it, and the spellings of one
//! path mean one thing.

use std::path::{Component, Path};

use paddock_sandbox::{PathPlace, ProjectRoot, ProtectionKind, RelativePath};

const SECRET: &str = "what nobody may read";

struct World {
    _place: tempfile::TempDir,
    root: ProjectRoot,
}

thread_local! {
    static WORLD: World = World::new().unwrap_or_else(|error| panic!("the folders cannot be made: {error}"));
}

impl World {
    fn new() -> std::io::Result<Self> {
        let place = tempfile::tempdir()?;
        let project = place.path().join("project");
        for folder in ["project/a/b", "project/.git/hooks", "outside/a"] {
            std::fs::create_dir_all(place.path().join(folder))?;
        }
        for file in ["file", "a/file", "a/b/file", ".git/config"] {
            std::fs::write(project.join(file), "inside")?;
        }
        for file in ["secret", "file", "a/file"] {
            std::fs::write(place.path().join("outside").join(file), SECRET)?;
        }
        for (to, link) in [
            ("../outside", "out"),
            ("../../outside/a", "a/out"),
            ("..", "up"),
            ("a/b", "in"),
            (".git", "g"),
            ("loop", "loop"),
            ("/", "top"),
            ("/proc/self", "self"),
        ] {
            link_to(to, &project.join(link))?;
        }
        let root = ProjectRoot::open(&project).map_err(std::io::Error::other)?;
        Ok(Self { _place: place, root })
    }
}

#[cfg(unix)]
fn link_to(to: &str, link: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(to, link)
}

#[cfg(not(unix))]
fn link_to(_: &str, _: &Path) -> std::io::Result<()> {
    Ok(())
}

/// Resolves the bytes as a path argument in every way a tool does.
pub fn path(bytes: &[u8]) {
    let argument = String::from_utf8_lossy(bytes);
    WORLD.with(|world| {
        if let Ok(path) = world.root.relative(&argument) {
            one_meaning(&world.root, &path);
            stays_inside(&world.root, &path);
        }
        match world.root.classify(&argument) {
            PathPlace::Inside(path) => stays_inside(&world.root, &path),
            PathPlace::Outside(place) => {
                let plain = |part| !matches!(part, Component::ParentDir | Component::CurDir);
                assert!(
                    place.real.is_absolute() && place.real.components().all(plain),
                    "{place:?}"
                );
                assert!(!place.real.starts_with(world.root.path()), "{place:?}");
                let read = world.root.never_granted(&place.real, false);
                let write = world.root.never_granted(&place.real, true);
                assert!(
                    read.is_none() || write.is_some(),
                    "writing is milder than reading: {place:?}"
                );
            }
            PathPlace::Invalid(_) => assert!(world.root.relative(&argument).is_err()),
        }
    });
}

fn one_meaning(root: &ProjectRoot, path: &RelativePath) {
    let names: Vec<&str> = path.components().collect();
    assert!(
        names
            .iter()
            .all(|name| !matches!(*name, "" | "." | "..") && !name.contains(['/', '\0']))
    );
    assert_eq!(
        root.relative(path.as_str()).ok().as_ref(),
        Some(path),
        "not the same again"
    );
    let json = serde_json::to_string(path).unwrap_or_default();
    assert_eq!(
        serde_json::from_str::<RelativePath>(&json).ok().as_ref(),
        Some(path)
    );
    let absolute = format!("{}/{path}", root.path().display());
    if let Ok(other) = root.relative(&absolute) {
        assert_eq!(
            &other, path,
            "another meaning with the project's folder before it"
        );
    }
    let git = |path: &RelativePath| {
        root.protection(path)
            .is_some_and(|found| found.kind == ProtectionKind::GitInternals)
    };
    if let Ok(capital) = root.relative(&path.as_str().to_ascii_uppercase()) {
        assert!(
            !names.contains(&".git") || git(path) && git(&capital),
            "{path} in capitals is git's too"
        );
    }
}

fn stays_inside(root: &ProjectRoot, path: &RelativePath) {
    if let Ok(bytes) = root.read(path, 1000) {
        assert_eq!(bytes, b"inside", "{path}");
    }
    if let Ok(entries) = root.read_dir(path) {
        assert!(entries.iter().all(|entry| entry.name != "secret"), "{path}");
    }
}
