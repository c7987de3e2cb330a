//! Arguments that name something outside of the project: what a person is shown, and that exactly this is opened.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use paddock_sandbox::{
    Kind, OutsideError, OutsidePath, PathError, PathPlace, ProjectRoot, RelativePath, WriteMode,
};

struct Bed {
    _place: tempfile::TempDir,
    /// Real path of the folder around the project.
    around: PathBuf,
    root: ProjectRoot,
}

impl Bed {
    fn new() -> Self {
        let place = tempfile::tempdir().unwrap();
        let around = place.path().canonicalize().unwrap();
        let at = |path: &str| around.join(path);
        for folder in ["project/folder", "shared/inner", "data"] {
            fs::create_dir_all(at(folder)).unwrap();
        }
        for (file, text) in [
            ("project/file", "inside"),
            ("shared/ports.json", "{}"),
            ("shared/other", "other"),
            ("shared/inner/deep", "deep"),
        ] {
            fs::write(at(file), text).unwrap();
        }
        for (to, link) in [
            ("../shared", "project/config"),
            ("config/inner", "project/second"),
            ("../../shared/ports.json", "project/folder/ports"),
            ("../shared/not-there", "project/dangling"),
            ("inner", "shared/to-inner"),
            ("other", "shared/to-other"),
            ("/proc/self/root", "project/magic"),
        ] {
            symlink(to, at(link)).unwrap();
        }
        symlink(at("project/file"), at("project/absolute-inside")).unwrap();
        symlink(at("project"), at("alias")).unwrap();
        symlink("loop", at("shared/loop")).unwrap();
        let root = ProjectRoot::open_beside(&at("project"), Some(&at("data"))).unwrap();
        Self {
            _place: place,
            around,
            root,
        }
    }

    fn at(&self, path: &str) -> PathBuf {
        self.around.join(path)
    }

    fn open(&self, path: &str, write: bool) -> Result<(ProjectRoot, RelativePath), OutsideError> {
        self.root.outside(&self.at(path), write)
    }
}

#[test]
fn an_argument_shows_where_it_leads() {
    let bed = Bed::new();
    let absolute = |path: &str| bed.at(path).to_str().unwrap().to_owned();
    let cases = [
        (
            "../shared/ports.json".to_owned(),
            "shared/ports.json",
            Some(".."),
            Some(Kind::File),
        ),
        ("../shared".to_owned(), "shared", Some(".."), Some(Kind::Folder)),
        (
            "config/ports.json".to_owned(),
            "shared/ports.json",
            Some("config"),
            Some(Kind::File),
        ),
        ("config".to_owned(), "shared", Some("config"), Some(Kind::Folder)),
        ("config/new".to_owned(), "shared/new", Some("config"), None),
        (
            "config/a/b/new".to_owned(),
            "shared/a/b/new",
            Some("config"),
            None,
        ),
        (
            "second/deep".to_owned(),
            "shared/inner/deep",
            Some("second"),
            Some(Kind::File),
        ),
        (
            "folder/ports".to_owned(),
            "shared/ports.json",
            Some("folder/ports"),
            Some(Kind::File),
        ),
        ("dangling".to_owned(), "shared/not-there", Some("dangling"), None),
        (
            "config/to-inner/deep".to_owned(),
            "shared/inner/deep",
            Some("config"),
            Some(Kind::File),
        ),
        (
            "folder/../../shared/inner/..//ports.json".to_owned(),
            "shared/ports.json",
            Some(".."),
            Some(Kind::File),
        ),
        (
            absolute("shared/to-other"),
            "shared/other",
            None,
            Some(Kind::File),
        ),
        (absolute("shared/new"), "shared/new", None, None),
        (absolute("shared/loop"), "shared/loop", None, Some(Kind::Link)),
        (
            absolute("project/../shared/other"),
            "shared/other",
            None,
            Some(Kind::File),
        ),
        (absolute("project-two/x"), "project-two/x", None, None),
    ];
    for (argument, real, leaves_at, kind) in cases {
        let expected = PathPlace::Outside(OutsidePath {
            real: bed.at(real),
            leaves_at: leaves_at.map(str::to_owned),
            kind,
        });
        assert_eq!(bed.root.classify(&argument), expected, "{argument}");
    }
}

#[test]
fn what_is_inside_after_all_and_what_is_no_place() {
    let bed = Bed::new();
    let absolute = |path: &str| bed.at(path).to_str().unwrap().to_owned();
    for (argument, inside) in [
        ("file".to_owned(), "file"),
        ("new/deep".to_owned(), "new/deep"),
        ("folder/../file".to_owned(), "file"),
        ("config/../file".to_owned(), "file"),
        ("../project/file".to_owned(), "file"),
        ("absolute-inside".to_owned(), "file"),
        (absolute("alias/file"), "file"),
        (absolute("alias/new"), "new"),
    ] {
        let PathPlace::Inside(path) = bed.root.classify(&argument) else {
            panic!("{argument} is inside");
        };
        assert_eq!(path.as_str(), inside, "{argument}");
    }
    for argument in ["", "a\0b"] {
        assert!(matches!(bed.root.classify(argument), PathPlace::Invalid(_)));
    }
    // What a process sees of itself is not followed: it would be another place for each reader.
    for argument in [
        "magic/etc/passwd",
        "/proc/self/root/etc/passwd",
        "/dev/stdin",
        "/proc/self/fd/0",
        "/proc/self/cwd",
    ] {
        let PathPlace::Outside(place) = bed.root.classify(argument) else {
            panic!("{argument} is outside");
        };
        assert!(place.real.starts_with("/proc"), "{argument}: {place:?}");
        assert!(bed.root.never_granted(&place.real, false).is_some());
    }
}

#[test]
fn a_granted_file_is_all_that_is_reached() {
    let bed = Bed::new();
    let (root, file) = bed.open("shared/ports.json", false).unwrap();
    assert!(root.is_outside() && !bed.root.is_outside());
    assert_eq!(root.read(&file, 100).unwrap(), b"{}");
    assert_eq!(root.spelled(&file), bed.at("shared/ports.json").to_str().unwrap());
    let beside = root.relative("other").unwrap();
    let below = root.relative("inner/deep").unwrap();
    for path in [&beside, &below, &RelativePath::root()] {
        for result in [
            root.read(path, 100).map(drop),
            root.metadata(path).map(drop),
            root.link_metadata(path).map(drop),
            root.read_dir(path).map(drop),
        ] {
            assert!(
                matches!(result, Err(PathError::NotGranted { .. })),
                "{path}: {result:?}"
            );
        }
        assert!(!root.exists(path) && root.stamp(path).is_none());
    }
    // Reading was allowed, not writing.
    for result in [
        root.write(&file, b"x", WriteMode::CreateOrReplace),
        root.remove_file(&file),
        root.rename(&file, &beside),
        root.with_git_internals().write(&file, b"x", WriteMode::Replace),
    ] {
        assert!(matches!(result, Err(PathError::NotGranted { .. })), "{result:?}");
    }
    let (root, file) = bed.open("shared/ports.json", true).unwrap();
    root.write(&file, b"new", WriteMode::Replace).unwrap();
    assert_eq!(fs::read(bed.at("shared/ports.json")).unwrap(), b"new");
    for result in [
        root.write(&beside, b"x", WriteMode::CreateOrReplace),
        root.rename(&file, &beside),
        root.rename(&beside, &file),
        root.remove_file(&beside),
        root.create_folder(&root.relative("made").unwrap()),
        root.remove_folder(&RelativePath::root()),
    ] {
        assert!(matches!(result, Err(PathError::NotGranted { .. })), "{result:?}");
    }
    assert_eq!(fs::read(bed.at("shared/other")).unwrap(), b"other");
}

#[test]
fn a_granted_folder_is_what_is_below_it() {
    let bed = Bed::new();
    let (root, folder) = bed.open("shared", true).unwrap();
    assert!(folder.is_root());
    let names: Vec<String> = root
        .read_dir(&folder)
        .unwrap()
        .into_iter()
        .map(|entry| entry.name)
        .collect();
    assert!(names.contains(&"inner".to_owned()) && names.contains(&"to-other".to_owned()));
    let path = root
        .relative(bed.at("shared/inner/deep").to_str().unwrap())
        .unwrap();
    assert_eq!(root.read(&path, 100).unwrap(), b"deep");
    root.write(&root.relative("a/b/new").unwrap(), b"new", WriteMode::CreateNew)
        .unwrap();
    assert_eq!(fs::read(bed.at("shared/a/b/new")).unwrap(), b"new");
    assert!(root.relative("../project/file").is_err());
    // No link is followed there, not even one that stays in it: its real place is what a person is asked about.
    for link in ["to-inner/deep", "to-other", "loop"] {
        let path = root.relative(link).unwrap();
        assert!(root.read(&path, 100).is_err(), "{link}");
        assert!(
            root.write(&path, b"x", WriteMode::CreateOrReplace).is_err(),
            "{link}"
        );
    }
    assert_eq!(fs::read(bed.at("shared/other")).unwrap(), b"other");
}

#[test]
fn a_place_that_is_not_there_yet_can_be_granted_for_writing() {
    let bed = Bed::new();
    assert!(matches!(
        bed.open("shared/x/y/new", false),
        Err(OutsideError::Missing)
    ));
    let (root, file) = bed.open("shared/x/y/new", true).unwrap();
    assert!(!root.exists(&file));
    let beside = root.relative("x/y/beside").unwrap();
    assert!(matches!(
        root.write(&beside, b"", WriteMode::CreateNew),
        Err(PathError::NotGranted { .. })
    ));
    root.write(&file, b"new", WriteMode::CreateNew).unwrap();
    assert_eq!(fs::read(bed.at("shared/x/y/new")).unwrap(), b"new");
    // Between the question and the answer a link took the place of a folder on the way.
    let (root, file) = bed.open("shared/z/new", true).unwrap();
    symlink(bed.at("data"), bed.at("shared/z")).unwrap();
    assert!(root.write(&file, b"x", WriteMode::CreateNew).is_err());
    assert!(!bed.at("data/new").exists());
}

#[test]
fn what_was_shown_is_what_is_opened() {
    let bed = Bed::new();
    let PathPlace::Outside(shown) = bed.root.classify("config/inner/deep") else {
        panic!("it is outside");
    };
    fs::create_dir(bed.at("private")).unwrap();
    fs::write(bed.at("private/deep"), "private").unwrap();
    fs::rename(bed.at("shared/inner"), bed.at("shared/aside")).unwrap();
    symlink(bed.at("private"), bed.at("shared/inner")).unwrap();
    assert!(matches!(
        bed.root.outside(&shown.real, false),
        Err(OutsideError::Link)
    ));
    fs::remove_file(bed.at("shared/inner")).unwrap();
    fs::create_dir(bed.at("shared/inner")).unwrap();
    symlink(bed.at("private/deep"), bed.at("shared/inner/deep")).unwrap();
    assert!(matches!(
        bed.root.outside(&shown.real, false),
        Err(OutsideError::Link)
    ));
    // Opened before the swap, the handle still is what was shown.
    let (root, file) = bed.open("shared/other", false).unwrap();
    fs::rename(bed.at("shared"), bed.at("moved")).unwrap();
    symlink(bed.at("private"), bed.at("shared")).unwrap();
    assert_eq!(root.read(&file, 100).unwrap(), b"other");
}

#[test]
fn what_is_never_opened() {
    let bed = Bed::new();
    let never = |path: &Path| matches!(bed.root.outside(path, false), Err(OutsideError::Never { .. }));
    for path in ["/", "/proc/self/environ", "/dev/null", "/etc/shadow", "/sys"] {
        assert!(never(Path::new(path)), "{path}");
    }
    for path in [
        "",
        "data",
        "data/x",
        "shared/.ssh/id_rsa",
        "shared/.git-credentials",
    ] {
        assert!(never(&bed.at(path)), "{path}");
    }
    assert!(matches!(
        bed.root.outside(Path::new("shared"), false),
        Err(OutsideError::NotReal)
    ));
    assert!(matches!(
        bed.open("shared/../shared/other", false),
        Err(OutsideError::NotReal)
    ));
    assert!(matches!(bed.open("alias/file", false), Err(OutsideError::Link)));
    assert!(matches!(
        bed.open("shared/to-other", false),
        Err(OutsideError::Link)
    ));
    assert!(matches!(
        bed.open("shared/other/below", true),
        Err(OutsideError::Missing)
    ));
    let socket = std::os::unix::net::UnixListener::bind(bed.at("shared/socket")).unwrap();
    assert!(matches!(
        bed.open("shared/socket", false),
        Err(OutsideError::Special)
    ));
    drop(socket);
}

#[test]
fn protection_counts_the_names_above_too() {
    let bed = Bed::new();
    fs::create_dir_all(bed.at("shared/.git/hooks")).unwrap();
    fs::create_dir_all(bed.at("shared/.paddock/workflows")).unwrap();
    for (place, name) in [
        ("shared/.git/hooks", "pre-commit"),
        ("shared/.git/hooks/pre-push", ""),
    ] {
        let (root, granted) = bed.open(place, true).unwrap();
        let path = if name.is_empty() {
            granted
        } else {
            root.relative(name).unwrap()
        };
        assert!(root.protection(&path).is_some(), "{place}");
        let refused = root.write(&path, b"x", WriteMode::CreateOrReplace);
        assert!(matches!(refused, Err(PathError::Protected { .. })), "{refused:?}");
    }
    let (root, _) = bed.open("shared/.paddock/workflows", false).unwrap();
    assert!(root.protection(&root.relative("x.toml").unwrap()).is_some());
    let (root, file) = bed.open("shared/other", false).unwrap();
    assert_eq!(root.protection(&file), None);
}
