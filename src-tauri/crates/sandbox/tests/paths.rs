//! Spellings of paths against the real file system: what every one of them must lead to. The same list runs over the file
//! access of Linux and, with the feature `portable`, over that of macOS and Windows.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use paddock_sandbox::{Kind, PathError, ProjectRoot, ProtectionKind, RelativePath, WriteMode};

struct Bed {
    place: tempfile::TempDir,
    root: ProjectRoot,
}

impl Bed {
    fn new() -> Self {
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
        let root = ProjectRoot::open(&project).unwrap();
        Self { place, root }
    }

    fn path(&self, below: &str) -> PathBuf {
        self.root.path().join(below)
    }

    fn relative(&self, argument: &str) -> RelativePath {
        self.root.relative(argument).unwrap()
    }

    fn outside_is_untouched(&self) {
        let outside = self.place.path().join("outside");
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
        assert_eq!(fs::read_to_string(outside.join("secret")).unwrap(), "secret");
    }
}

/// A word for an error, as the tables below use it.
fn word(error: &PathError) -> &'static str {
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

fn read(bed: &Bed, argument: &str) -> String {
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
            word(&error).to_owned()
        }
    }
}

#[test]
fn reading_by_every_spelling() {
    let bed = Bed::new();
    let long_name = "n".repeat(256);
    let long_path = "a/".repeat(2049);
    let cases: &[(&str, &str)] = &[
        ("file", "= content"),
        ("./file", "= content"),
        ("././/file", "= content"),
        ("file/", "= content"),
        ("folder/../file", "= content"),
        ("folder/inner/../../file", "= content"),
        ("no/../file", "= content"),
        ("folder/inner/deep", "= deep"),
        ("folder//inner///deep", "= deep"),
        ("to-file", "= content"),
        ("chain", "= content"),
        ("to-folder/deep", "= deep"),
        ("folder/inner/up-inside/file", "= content"),
        ("naïve ✓ name", "= unicode"),
        ("back\\slash", "= backslash"),
        ("~", "= tilde"),
        ("$HOME", "= dollar"),
        ("-rf", "= dash"),
        ("...", "= dots"),
        (".git/config", "= [core]\n"),
        ("innocent/config", "= [core]\n"),
        ("hard", "= secret"),
        ("", "invalid"),
        ("file\0", "invalid"),
        ("fi\0le", "invalid"),
        (&long_name, "invalid"),
        (&long_path, "invalid"),
        ("..", "outside"),
        ("../outside/secret", "outside"),
        ("./../outside/secret", "outside"),
        ("folder/../../outside/secret", "outside"),
        ("folder/inner/../../../outside/secret", "outside"),
        ("../project/file", "outside"),
        ("../../../../../../../../etc/passwd", "outside"),
        ("/etc/passwd", "outside"),
        ("//etc/passwd", "outside"),
        ("/", "outside"),
        ("/proc/self/environ", "outside"),
        ("/proc/self/cwd/file", "outside"),
        ("/dev/zero", "outside"),
        ("/file", "outside"),
        ("to-secret", "outside"),
        ("to-outside/secret", "outside"),
        ("to-outside-absolute/secret", "outside"),
        ("to-passwd", "outside"),
        ("to-proc/environ", "outside"),
        ("to-proc/cwd/file", "outside"),
        ("to-parent/outside/secret", "outside"),
        ("folder/inner/up/outside/secret", "outside"),
        ("to-device", "outside"),
        ("dangling-outside", "outside"),
        ("dangling", "not found"),
        ("loop-a", "link"),
        ("missing", "not found"),
        ("missing/file", "not found"),
        ("file/below", "not a folder"),
        ("file~1", "not found"),
        ("~/file", "not a folder"),
        ("file:///etc/passwd", "not found"),
        ("%2e%2e/outside/secret", "not found"),
        ("..\\outside\\secret", "not found"),
        ("．．/outside/secret", "not found"),
        ("FILE", "not found"),
        ("file ", "not found"),
        ("fi*", "not found"),
        (".", "folder"),
        ("folder", "folder"),
        ("to-folder", "folder"),
        ("pipe", "special"),
        ("to-pipe", "special"),
        ("socket", "special"),
    ];
    assert!(cases.len() >= 60);
    for (argument, expected) in cases {
        let started = Instant::now();
        assert_eq!(&read(&bed, argument), expected, "{argument}");
        assert!(started.elapsed() < Duration::from_secs(2), "{argument} hung");
    }
    bed.outside_is_untouched();
}

#[test]
fn reading_by_absolute_paths() {
    let bed = Bed::new();
    let project = bed.root.path().to_str().unwrap().to_owned();
    for (argument, expected) in [
        (format!("{project}/file"), "= content"),
        (format!("{project}//folder/./inner/deep"), "= deep"),
        (format!("{project}/../project/file"), "= content"),
        (format!("{project}/../outside/secret"), "outside"),
        (format!("{project}-other/file"), "outside"),
        (format!("{project}file"), "outside"),
        (project.clone(), "folder"),
        (format!("{project}/"), "folder"),
        (format!("{}/OUTSIDE", bed.place.path().display()), "outside"),
    ] {
        assert_eq!(read(&bed, &argument), expected, "{argument}");
    }
    // A project that was opened through a link takes the spelling that the person knows.
    let alias = bed.place.path().join("alias");
    symlink(bed.root.path(), &alias).unwrap();
    let root = ProjectRoot::open(&alias).unwrap();
    let path = root.relative(alias.join("file").to_str().unwrap()).unwrap();
    assert_eq!(path.as_str(), "file");
}

#[test]
fn writing_by_every_spelling() {
    for (argument, expected) in [
        ("new", "ok"),
        ("a/b/c/new", "ok"),
        ("file", "ok"),
        ("to-file", "ok"),
        ("chain", "ok"),
        ("to-folder/new", "ok"),
        ("hard", "ok"),
        ("innocent-new", "ok"),
        (".gitignore", "ok"),
        (".github/workflows/ci.yml", "ok"),
        ("../outside/new", "outside"),
        ("/etc/paddock-test", "outside"),
        ("to-secret", "outside"),
        ("to-outside/new", "outside"),
        ("to-outside/a/b/new", "outside"),
        ("to-outside-absolute/new", "outside"),
        ("to-parent/outside/new", "outside"),
        ("folder/inner/up/outside/new", "outside"),
        ("dangling-outside", "outside"),
        ("to-passwd", "outside"),
        ("to-device", "outside"),
        ("dangling", "not a file"),
        ("loop-a", "link"),
        (".", "invalid"),
        ("", "invalid"),
        ("folder", "folder"),
        ("to-folder", "folder"),
        ("file/below", "not a folder"),
        ("pipe", "special"),
        ("to-pipe", "special"),
        ("socket", "special"),
        (".git/hooks/pre-commit", "protected"),
        (".git/config", "protected"),
        (".git", "protected"),
        (".GIT/config", "protected"),
        (".Git/hooks/x", "protected"),
        (".git /config", "protected"),
        (".git./config", "protected"),
        (".git::$INDEX_ALLOCATION/config", "protected"),
        ("git~1/config", "protected"),
        (".g\u{200c}it/config", "protected"),
        (".git\\config", "protected"),
        ("sub/.git/hooks/x", "protected"),
        ("innocent/hooks/x", "protected"),
        ("innocent/config", "protected"),
        ("settings", "protected"),
        ("folder/../.git/config", "protected"),
    ] {
        let bed = Bed::new();
        let result = bed
            .root
            .relative(argument)
            .and_then(|path| bed.root.write(&path, b"changed", WriteMode::CreateOrReplace));
        assert_eq!(
            result.as_ref().map_or_else(word, |()| "ok"),
            expected,
            "{argument}: {result:?}"
        );
        if expected == "ok" {
            assert_eq!(read(&bed, argument), "= changed", "{argument}");
        }
        assert_eq!(
            fs::read_to_string(bed.path(".git/config")).unwrap(),
            "[core]\n",
            "{argument}"
        );
        assert_eq!(
            fs::read_dir(bed.path(".git/hooks")).unwrap().count(),
            0,
            "{argument}"
        );
        bed.outside_is_untouched();
        let litter = fs::read_dir(bed.root.path()).unwrap().filter(|entry| {
            entry
                .as_ref()
                .unwrap()
                .file_name()
                .to_string_lossy()
                .starts_with(".paddock")
        });
        assert_eq!(litter.count(), 0, "{argument}");
    }
}

#[test]
fn writing_keeps_what_it_must() {
    let bed = Bed::new();
    let file = bed.relative("file");
    fs::set_permissions(bed.path("file"), fs::Permissions::from_mode(0o750)).unwrap();
    bed.root.write(&file, b"new", WriteMode::Replace).unwrap();
    assert_eq!(fs::metadata(bed.path("file")).unwrap().mode() & 0o777, 0o750);
    // The link stays a link, and a hard link elsewhere keeps its content.
    bed.root
        .write(&bed.relative("to-file"), b"by link", WriteMode::Replace)
        .unwrap();
    assert!(fs::symlink_metadata(bed.path("to-file")).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(bed.path("file")).unwrap(), "by link");
    bed.root
        .write(&bed.relative("hard"), b"x", WriteMode::Replace)
        .unwrap();
    bed.outside_is_untouched();
    // The modes mean what they say.
    let write = |argument, mode| bed.root.write(&bed.relative(argument), b"m", mode);
    assert_eq!(word(&write("file", WriteMode::CreateNew).unwrap_err()), "exists");
    assert_eq!(
        word(&write("fresh", WriteMode::Replace).unwrap_err()),
        "not found"
    );
    write("fresh", WriteMode::CreateNew).unwrap();
    // A version tells a change, also one of the same size.
    let before = bed.root.stamp(&file).unwrap();
    assert_eq!(bed.root.stamp(&file), Some(before));
    bed.root.write(&file, b"by lonk", WriteMode::Replace).unwrap();
    assert_ne!(bed.root.stamp(&file), Some(before));
    assert_eq!(bed.root.stamp(&bed.relative("folder")), None);
}

#[test]
fn what_is_brought_back_has_its_permissions() {
    let bed = Bed::new();
    let path = bed.relative("folder/script");
    let mode = |path: &str| fs::metadata(bed.path(path)).unwrap().mode() & 0o777;
    bed.root.restore(&path, b"#!/bin/sh\n", Some(0o755)).unwrap();
    assert_eq!(
        (mode("folder/script"), read(&bed, "folder/script")),
        (0o755, "= #!/bin/sh\n".to_owned())
    );
    bed.root.restore(&path, b"other", None).unwrap();
    assert_eq!(mode("folder/script"), 0o755, "kept when none is known");
    bed.root.restore(&path, b"third", Some(0o100_640)).unwrap();
    assert_eq!(
        (mode("folder/script"), read(&bed, "folder/script")),
        (0o640, "= third".to_owned())
    );
    bed.root
        .restore(&bed.relative("new/deep"), b"x", Some(0o600))
        .unwrap();
    assert_eq!(mode("new/deep"), 0o600);
    for refused in [".git/config", "innocent/config", "to-outside/x"] {
        assert!(
            bed.root.restore(&bed.relative(refused), b"x", None).is_err(),
            "{refused}"
        );
    }
    assert!(bed.root.read_only().restore(&path, b"x", None).is_err());
    bed.outside_is_untouched();
}

#[test]
fn git_internals_need_a_grant_and_plan_changes_nothing() {
    let bed = Bed::new();
    let hook = bed.relative(".git/hooks/pre-commit");
    bed.root
        .with_git_internals()
        .write(&hook, b"x", WriteMode::CreateNew)
        .unwrap();
    assert!(bed.path(".git/hooks/pre-commit").exists());
    let plan = bed.root.read_only();
    let file = bed.relative("file");
    assert_eq!(plan.read(&file, 100).unwrap(), b"content");
    for result in [
        plan.write(&file, b"x", WriteMode::Replace),
        plan.remove_file(&file),
        plan.remove_folder(&bed.relative("folder")),
        plan.create_folder(&bed.relative("new")),
        plan.rename(&file, &bed.relative("moved")),
        plan.with_git_internals().write(&hook, b"y", WriteMode::Replace),
    ] {
        assert_eq!(word(&result.unwrap_err()), "read-only");
    }
}

#[test]
fn moving_and_removing() {
    let bed = Bed::new();
    let at = |argument: &str| bed.relative(argument);
    let root = &bed.root;
    root.rename(&at("file"), &at("a/b/moved")).unwrap();
    assert_eq!(read(&bed, "a/b/moved"), "= content");
    for (from, to, expected) in [
        ("a/b/moved", "folder/inner/deep", "exists"),
        ("missing", "x", "not found"),
        ("a/b/moved", ".git/hooks/pre-commit", "protected"),
        ("a/b/moved", "innocent/hooks/pre-commit", "protected"),
        ("a/b/moved", "to-outside/new", "outside"),
        ("to-outside/secret", "stolen", "outside"),
        (".git", "other", "protected"),
        ("innocent/config", "other", "protected"),
        (".", "other", "invalid"),
    ] {
        assert_eq!(
            word(&root.rename(&at(from), &at(to)).unwrap_err()),
            expected,
            "{from} to {to}"
        );
    }
    // A link goes, what it leads to stays.
    root.remove_file(&at("to-outside")).unwrap();
    root.remove_file(&at("to-secret")).unwrap();
    bed.outside_is_untouched();
    assert_eq!(word(&root.remove_file(&at("folder")).unwrap_err()), "folder");
    assert_eq!(
        word(&root.remove_file(&at(".git/config")).unwrap_err()),
        "protected"
    );
    assert_eq!(word(&root.remove_folder(&at(".git")).unwrap_err()), "protected");
    assert_eq!(
        word(&root.remove_folder(&at("to-folder")).unwrap_err()),
        "not a folder"
    );
    fs::create_dir_all(bed.path("vendor/lib/.git")).unwrap();
    fs::write(bed.path("vendor/lib/source"), "x").unwrap();
    assert_eq!(word(&root.remove_folder(&at("vendor")).unwrap_err()), "protected");
    assert!(bed.path("vendor/lib/source").exists(), "refused as a whole");
    symlink("../../outside", bed.path("folder/escape")).unwrap();
    root.remove_folder(&at("folder")).unwrap();
    assert!(!bed.path("folder").exists());
    bed.outside_is_untouched();
}

#[test]
fn listing_and_limits() {
    let bed = Bed::new();
    let entries = bed.root.read_dir(&RelativePath::root()).unwrap();
    let kind = |name: &str| entries.iter().find(|entry| entry.name == name).unwrap().kind;
    assert_eq!(kind("file"), Kind::File);
    assert_eq!(kind("folder"), Kind::Folder);
    assert_eq!(kind("to-outside"), Kind::Link);
    assert_eq!(kind("pipe"), Kind::Other);
    assert!(entries.is_sorted_by_key(|entry| entry.name.clone()));
    assert_eq!(
        word(&bed.root.read_dir(&bed.relative("to-outside")).unwrap_err()),
        "outside"
    );
    assert_eq!(
        word(&bed.root.read_dir(&bed.relative("file")).unwrap_err()),
        "not a folder"
    );
    assert_eq!(
        word(&bed.root.read(&bed.relative("file"), 6).unwrap_err()),
        "too large"
    );
    assert_eq!(bed.root.read(&bed.relative("file"), 7).unwrap(), b"content");
    assert!(bed.root.exists(&bed.relative("dangling")) && !bed.root.exists(&bed.relative("missing")));
}

#[test]
fn protection_is_that_of_the_real_place() {
    let bed = Bed::new();
    let kind = |argument: &str| {
        bed.root
            .protection(&bed.relative(argument))
            .map(|found| found.kind)
    };
    assert_eq!(kind("innocent/config"), Some(ProtectionKind::GitInternals));
    assert_eq!(kind("innocent/hooks/new"), Some(ProtectionKind::GitInternals));
    assert_eq!(kind("settings"), Some(ProtectionKind::GitInternals));
    assert_eq!(kind("folder/.env"), Some(ProtectionKind::SecretFile));
    symlink("key.pem", bed.path("harmless")).unwrap();
    fs::write(bed.path("key.pem"), "x").unwrap();
    assert_eq!(kind("harmless"), Some(ProtectionKind::SecretFile));
    assert_eq!(kind("file"), None);
}

/// A folder and a link out of the project change places as fast as they can, while files are read and written through them.
#[test]
fn swapped_folders_lead_nowhere() {
    const TRIES: usize = 4_000;
    let bed = Bed::new();
    let outside = bed.place.path().canonicalize().unwrap().join("outside");
    fs::create_dir(bed.path("swap")).unwrap();
    fs::write(bed.path("swap/secret"), "inside").unwrap();
    symlink(&outside, bed.path("link")).unwrap();
    let done = Arc::new(AtomicBool::new(false));
    let (project, stop) = (bed.root.path().to_owned(), Arc::clone(&done));
    let swapper = std::thread::spawn(move || {
        let mut count = 0_usize;
        while !stop.load(Ordering::Relaxed) {
            let at = |name: &str| project.join(name);
            let _ = fs::rename(at("swap"), at("aside"));
            let _ = fs::rename(at("link"), at("swap"));
            let _ = fs::rename(at("swap"), at("link"));
            let _ = fs::rename(at("aside"), at("swap"));
            count += 1;
        }
        count
    });
    let secret = bed.relative("swap/secret");
    let (mut inside, mut refused, mut number) = (0, 0, 0);
    // On a busy machine the two sides need a while to meet.
    let deadline = Instant::now() + Duration::from_secs(20);
    while (number < TRIES || inside < 50 || refused < 50) && Instant::now() < deadline {
        number += 1;
        match bed.root.read(&secret, 100) {
            Ok(bytes) => {
                assert_eq!(bytes, b"inside");
                inside += 1;
            }
            Err(PathError::Outside { .. }) => refused += 1,
            Err(_) => {}
        }
        if number % 50 == 0 {
            let _ = bed.root.write(&secret, b"inside", WriteMode::Replace);
        }
    }
    done.store(true, Ordering::Relaxed);
    let swaps = swapper.join().unwrap();
    assert!(
        inside > 0 && refused > 0,
        "{swaps} swaps, {number} tries, {inside} inside, {refused} refused"
    );
    bed.outside_is_untouched();
}
