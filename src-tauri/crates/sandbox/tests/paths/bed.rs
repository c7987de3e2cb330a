//! A project with everything in it that could lead out, beside a folder that must never be touched.

use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};

use paddock_sandbox::{PathError, ProjectRoot, RelativePath};

pub struct Bed {
    pub place: tempfile::TempDir,
    pub root: ProjectRoot,
}

impl Bed {
    pub fn new() -> Self {
        let place = tempfile::tempdir().unwrap();
        let project = place.path().join("project");
        let outside = place.path().join("outside");
        fs::create_dir_all(project.join("folder/inner")).unwrap();
        fs::create_dir_all(project.join(".git/hooks")).unwrap();
        fs::create_dir_all(&outside).unwrap();
        fs::write(outside.join("secret"), "secret").unwrap();
        fs::write(project.join("file"), "content").unwrap();
        fs::write(project.join("folder/inner/deep"), "deep").unwrap();
        fs::write(project.join(".git/config"), "[core]\n").unwrap();
        fs::write(project.join("naïve ✓ name"), "unicode").unwrap();
        fs::write(project.join("back\\slash"), "backslash").unwrap();
        fs::write(project.join("~"), "tilde").unwrap();
        fs::write(project.join("$HOME"), "dollar").unwrap();
        fs::write(project.join("-rf"), "dash").unwrap();
        fs::write(project.join("..."), "dots").unwrap();
        symlink("file", project.join("to-file")).unwrap();
        symlink("folder/inner", project.join("to-folder")).unwrap();
        symlink("../outside/secret", project.join("to-secret")).unwrap();
        symlink("../outside", project.join("to-outside")).unwrap();
        symlink(&outside, project.join("to-outside-absolute")).unwrap();
        symlink("/etc/passwd", project.join("to-passwd")).unwrap();
        symlink("/proc/self", project.join("to-proc")).unwrap();
        symlink("..", project.join("to-parent")).unwrap();
        symlink("../../..", project.join("folder/inner/up")).unwrap();
        symlink("../..", project.join("folder/inner/up-inside")).unwrap();
        symlink("loop-b", project.join("loop-a")).unwrap();
        symlink("loop-a", project.join("loop-b")).unwrap();
        symlink("nowhere", project.join("dangling")).unwrap();
        symlink("../outside/new", project.join("dangling-outside")).unwrap();
        symlink("to-file", project.join("chain")).unwrap();
        symlink(".git", project.join("innocent")).unwrap();
        symlink(".git/config", project.join("settings")).unwrap();
        fs::hard_link(outside.join("secret"), project.join("hard")).unwrap();
        let made = std::process::Command::new("mkfifo")
            .arg(project.join("pipe"))
            .status()
            .unwrap();
        assert!(made.success());
        std::mem::forget(std::os::unix::net::UnixListener::bind(project.join("socket")).unwrap());
        symlink("pipe", project.join("to-pipe")).unwrap();
        symlink("/dev/zero", project.join("to-device")).unwrap();
        more_links(&project, &outside);
        let root = ProjectRoot::open(&project).unwrap();
        Self { place, root }
    }

    pub fn path(&self, below: &str) -> PathBuf {
        self.root.path().join(below)
    }

    pub fn relative(&self, argument: &str) -> RelativePath {
        self.root.relative(argument).unwrap()
    }

    pub fn outside_is_untouched(&self) {
        let outside = self.place.path().join("outside");
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
        assert_eq!(fs::read_to_string(outside.join("secret")).unwrap(), "secret");
    }
}

fn more_links(project: &Path, outside: &Path) {
    for (to, link) in [
        ("to-secret", "chain-out"),
        ("../to-outside", "folder/hop"),
        ("../to-outside/secret", "folder/over-a-link"),
        ("folder/../../outside/secret", "by-a-detour"),
        ("./././../outside", "dotted"),
        ("/", "to-top"),
        ("/proc/self/root", "to-proc-root"),
        ("/proc/self/fd/0", "to-descriptor"),
        ("/dev/stdin", "to-stdin"),
        ("missing/../../outside/secret", "through-nothing"),
        ("itself", "itself"),
        ("file/../../outside/secret", "through-a-file"),
        ("to-folder/../../folder/inner/deep", "roundabout"),
    ] {
        symlink(to, project.join(link)).unwrap();
    }
    symlink(project.join("file"), project.join("absolute-inside")).unwrap();
    symlink(
        project.parent().unwrap().join("project/file"),
        project.join("out-and-in"),
    )
    .unwrap();
    symlink("../project/file", project.join("up-and-in")).unwrap();
    let sparse = fs::File::create(project.join("huge")).unwrap();
    sparse.set_len(1 << 40).unwrap();
    fs::write(project.join("binary"), [0_u8, 159, 146, 150]).unwrap();
    fs::write(project.join("CON"), "device name").unwrap();
    fs::write(project.join("C:\\x"), "drive").unwrap();
    fs::write(project.join("file:stream"), "stream").unwrap();
    fs::write(project.join("name. "), "trailing").unwrap();
    // Both spellings of one accent are two names here.
    fs::write(project.join("caf\u{e9}"), "composed").unwrap();
    assert!(outside.is_dir());
}

/// A word for an error, as the tables use it.
pub fn word(error: &PathError) -> &'static str {
    match error {
        PathError::Outside { .. } => "outside",
        PathError::Protected { .. } => "protected",
        PathError::ReadOnly { .. } => "read-only",
        PathError::NotGranted { .. } => "not granted",
        PathError::Link { .. } => "link",
        PathError::NotFound { .. } => "not found",
        PathError::AlreadyExists { .. } => "exists",
        PathError::NotAFolder { .. } => "not a folder",
        PathError::NotAFile { .. } => "not a file",
        PathError::IsAFolder { .. } => "folder",
        PathError::NotEmpty { .. } => "not empty",
        PathError::Special { .. } => "special",
        PathError::TooLarge { .. } => "too large",
        PathError::Invalid { .. } => "invalid",
        PathError::Permission { .. } => "permission",
        PathError::NoSpace { .. } => "no space",
        PathError::Io { .. } => "io",
    }
}

/// The same, and for a path that leads out the part at which it leaves.
pub fn told(error: &PathError) -> String {
    match error {
        PathError::Outside { leaves_at, .. } => format!("outside at {leaves_at}"),
        other => word(other).to_owned(),
    }
}

pub fn read(bed: &Bed, argument: &str) -> String {
    let result = bed
        .root
        .relative(argument)
        .and_then(|path| bed.root.read(&path, 1000));
    match result {
        Ok(bytes) => format!("= {}", String::from_utf8_lossy(&bytes)),
        Err(error) => {
            let text = error.to_string();
            let place = bed.place.path().to_str().unwrap();
            assert!(
                !text.contains(place) && !text.replace("`/`", "").contains("`/"),
                "{argument}: {text}"
            );
            told(&error)
        }
    }
}

/// Everything about a tree that a touch could change.
pub fn snapshot(folder: &Path) -> Vec<String> {
    let mut lines = Vec::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(path) = waiting.pop() {
        let found = fs::symlink_metadata(&path).unwrap();
        let content = match (found.is_file(), found.is_symlink()) {
            (true, _) => fs::read(&path).unwrap(),
            (_, true) => fs::read_link(&path)
                .unwrap()
                .into_os_string()
                .into_encoded_bytes(),
            _ => Vec::new(),
        };
        lines.push(format!(
            "{path:?} {:o} {} {}.{} {}.{} {} {content:?}",
            found.mode(),
            found.ino(),
            found.mtime(),
            found.mtime_nsec(),
            found.ctime(),
            found.ctime_nsec(),
            found.nlink(),
        ));
        if found.is_dir() {
            waiting.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
    }
    lines.sort();
    lines
}
