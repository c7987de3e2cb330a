//! What changes keep, what they refuse, and what lists and facts say.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

use paddock_sandbox::{Kind, ProtectionKind, RelativePath, WriteMode};

use crate::bed::{Bed, read, word};

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
fn only_an_empty_folder_is_removed_as_one() {
    let bed = Bed::new();
    fs::create_dir(bed.path("empty")).unwrap();
    symlink("empty", bed.path("to-empty")).unwrap();
    fs::create_dir(bed.path("vendor")).unwrap();
    fs::create_dir(bed.path("vendor/.git")).unwrap();
    for (argument, expected) in [
        ("folder", "not empty"),
        ("to-empty", "not a folder"),
        ("file", "not a folder"),
        ("pipe", "not a folder"),
        ("missing", "not found"),
        ("to-outside", "not a folder"),
        ("to-outside/x", "outside"),
        ("vendor", "not empty"),
        ("vendor/.git", "protected"),
        (".", "invalid"),
    ] {
        let refused = bed.root.remove_empty_folder(&bed.relative(argument)).unwrap_err();
        assert_eq!(word(&refused), expected, "{argument}");
    }
    let empty = bed.relative("empty");
    let plan = bed.root.read_only().remove_empty_folder(&empty).unwrap_err();
    assert_eq!(word(&plan), "read-only");
    bed.root.remove_empty_folder(&empty).unwrap();
    assert!(!bed.path("empty").exists());
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
