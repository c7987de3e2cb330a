use crate::support::Project;
use paddock_protocol::*;
use paddock_tools::*;
use serde_json::json;

fn patch(body: &str) -> serde_json::Value {
    json!({"patch": format!("*** Begin Patch\n{body}\n*** End Patch\n")})
}

const ALL: &str = "*** Update File: src/a.rs\n@@\n fn a() {\n-    one();\n+    two();\n }\n\
    *** Add File: new/b.rs\n+fn b() {}\n*** Delete File: old.rs\n\
    *** Update File: from.sh\n*** Move to: bin/to.sh\n@@\n-echo a\n+echo b";

fn files() -> Project {
    let project = Project::new(&[
        ("src/a.rs", "fn a() {\n    one();\n}\n"),
        ("old.rs", "old\nlines\n"),
        ("from.sh", "echo a\n"),
    ]);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(project.path("from.sh"), mode.clone()).unwrap();
        std::fs::set_permissions(project.path("old.rs"), mode).unwrap();
    }
    project
}

#[cfg(unix)]
fn is_executable(project: &Project, name: &str) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(project.path(name))
        .unwrap()
        .permissions()
        .mode()
        & 0o777
        == 0o755
}

#[tokio::test]
async fn a_patch_of_several_files_is_shown_and_made() {
    let mut project = files();
    let prepared = project.prepare("apply_patch", patch(ALL)).await.unwrap();
    assert!(project.journal.lock().unwrap().is_empty());
    let ApprovalBody::Changes { changes, base } = prepared.body else {
        panic!("no changes")
    };
    assert_eq!(
        (prepared.verb, prepared.target.as_str()),
        (Verb::Edit, "src/a.rs and 3 more")
    );
    let touched: Vec<_> = base.iter().map(|base| (base.path.as_str(), base.size)).collect();
    assert_eq!(
        touched,
        [
            ("src/a.rs", Some(22)),
            ("new/b.rs", None),
            ("old.rs", Some(10)),
            ("from.sh", Some(7)),
            ("bin/to.sh", None),
        ]
    );
    let write = |path: &str| Access::Write { path: path.into() };
    let delete = Access::Delete {
        path: "old.rs".into(),
    };
    assert_eq!(
        prepared.access,
        [
            write("src/a.rs"),
            write("new/b.rs"),
            delete,
            write("from.sh"),
            write("bin/to.sh")
        ]
    );
    project.cx.approved = base;
    let output = project.run("apply_patch", patch(ALL)).await.unwrap();
    assert_eq!(output.changes, changes, "what was shown is what was done");
    assert_eq!(
        output.text,
        "Edited src/a.rs (+1 -1 lines).\nCreated new/b.rs (1 line).\nDeleted old.rs.\nMoved from.sh to bin/to.sh (+1 -1 lines)."
    );
    assert_eq!(project.text("src/a.rs"), "fn a() {\n    two();\n}\n");
    assert_eq!(project.text("new/b.rs"), "fn b() {}\n");
    assert_eq!(project.text("bin/to.sh"), "echo b\n");
    assert!(!project.path("old.rs").exists() && !project.path("from.sh").exists());
    #[cfg(unix)]
    assert!(is_executable(&project, "bin/to.sh"));
    let journal = project.journal.lock().unwrap().clone();
    let kept: Vec<_> = journal
        .iter()
        .map(|(path, old)| (path.as_str(), old.as_deref()))
        .collect();
    assert_eq!(
        kept,
        [
            ("src/a.rs", Some(&b"fn a() {\n    one();\n}\n"[..])),
            ("new/b.rs", None),
            ("old.rs", Some(b"old\nlines\n")),
            ("from.sh", Some(b"echo a\n")),
            ("bin/to.sh", None),
        ]
    );
    let after = project.after.lock().unwrap().clone();
    assert_eq!(after[2], ("old.rs".into(), FileVersion::Absent));
    assert_eq!(after[4], ("bin/to.sh".into(), version_of(Some(b"echo b\n"))));
}

/// The third of the changes cannot be made: its folder is a file by then, or may not be written to.
#[cfg(unix)]
#[tokio::test]
async fn when_one_file_fails_nothing_is_changed() {
    let project = files();
    std::fs::create_dir(project.path("shut")).unwrap();
    let shut = |mode| {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(project.path("shut"), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    // Rights mean nothing to root, but a name that is longer than the file system's does, and is seen only at the write.
    let long = "n".repeat(240);
    let blocked = format!("deep/{long}/{long}");
    let before =
        || ["src/a.rs", "old.rs", "from.sh"].map(|name| (project.get(name), is_executable(&project, name)));
    let then = before();
    shut(0o555);
    let third = format!("{ALL}\n*** Add File: shut/x/{blocked}\n+x");
    let writable = std::fs::write(project.path("shut/probe"), "").is_ok();
    if writable {
        shut(0o755);
        std::fs::remove_file(project.path("shut/probe")).unwrap();
        // A file where a folder would have to be made, hidden from the look before by its place in the same patch.
        let third = "*** Update File: src/a.rs\n@@\n-    one();\n+    two();\n*** Update File: from.sh\n*** Move to: new/deep/to.sh\n@@\n-echo a\n+echo b\n\
            *** Add File: x\n+file\n*** Add File: x/y\n+below a file\n*** Delete File: old.rs";
        let text = project.fails("apply_patch", patch(third)).await;
        assert!(text.ends_with("Nothing was changed."), "{text}");
    } else {
        let text = project.fails("apply_patch", patch(&third)).await;
        assert!(text.ends_with("Nothing was changed."), "{text}");
        shut(0o755);
    }
    assert_eq!(before(), then);
    for gone in ["new", "bin", "x", "shut/x"] {
        assert!(!project.path(gone).exists(), "{gone} was left");
    }
    let after = project.after.lock().unwrap().clone();
    let last = after.iter().rev().find(|(path, _)| path == "src/a.rs").unwrap();
    assert_eq!(
        last.1,
        version_of(Some(&then[0].0)),
        "the record says that it is as it was"
    );
}

#[tokio::test]
async fn nothing_is_written_when_one_of_the_approved_files_changed() {
    let mut project = files();
    let prepared = project.prepare("apply_patch", patch(ALL)).await.unwrap();
    project.cx.approved = prepared.body.base();
    for (path, content) in [
        ("old.rs", &b"by the person\n"[..]),
        ("src/a.rs", b"fn a() {\n    one();\n}\n// more\n"),
    ] {
        let kept = project.get(path);
        project.put(path, content);
        let result = project.run("apply_patch", patch(ALL)).await;
        assert!(
            matches!(&result, Err(ToolError::ChangedSince { path: changed }) if changed == path),
            "{result:?}"
        );
        project.put(path, &kept);
    }
    assert!(project.journal.lock().unwrap().is_empty());
    assert_eq!(project.text("from.sh"), "echo a\n");
    project.run("apply_patch", patch(ALL)).await.unwrap();
}

#[tokio::test]
async fn a_patch_that_does_not_fit_says_why_and_changes_nothing() {
    let project = files();
    project.put("two.txt", b"x\ny\nx\n");
    project.put("bin.dat", b"a\0b");
    std::fs::write(project.outside().join("secret.txt"), "secret\n").unwrap();
    let first = "*** Update File: src/a.rs\n@@\n-    one();\n+    two();\n";
    let absolute = project.outside().join("secret.txt").to_str().unwrap().to_owned();
    let leaves = format!("*** Update File: {absolute}\n@@\n-secret\n+evil");
    for (rest, expected) in [
        (
            "*** Update File: two.txt\n@@\n-x\n+z",
            "Part 1 of the patch is in `two.txt` 2 times (lines 1, 3); nothing was changed.",
        ),
        (
            "*** Update File: two.txt\n@@\n-y\n+z\n@@\n-w\n+v",
            "Part 2 of the patch is not in `two.txt`",
        ),
        (
            "*** Update File: two.txt\n@@\n x\n-y\n+z\n@@\n-y\n+v",
            "change the same lines of `two.txt`",
        ),
        (
            "*** Update File: two.txt\n@@ x\n+z",
            "Part 1 of the patch for `two.txt` only adds lines",
        ),
        (
            "*** Update File: two.txt\n@@\n-y\n+y",
            "leaves `two.txt` as it is",
        ),
        (
            "*** Update File: missing.txt\n@@\n-x\n+z",
            "`missing.txt` does not exist",
        ),
        (
            "*** Update File: bin.dat\n@@\n-x\n+z",
            "not text; nothing was changed",
        ),
        ("*** Delete File: missing.txt", "`missing.txt` does not exist"),
        (
            "*** Add File: two.txt\n+x",
            "`two.txt` exists already; nothing was changed",
        ),
        (
            "*** Update File: old.rs\n*** Move to: two.txt",
            "`two.txt` exists already",
        ),
        ("*** Delete File: ./src/a.rs", "`src/a.rs` is named twice"),
        ("*** Add File: ../evil.txt\n+x", "leaves the project"),
        (
            "*** Update File: old.rs\n*** Move to: ../evil.rs",
            "leaves the project",
        ),
        ("*** Delete File: ../secret.txt", "leaves the project"),
        ("*** Add File: .\n+x", "the project folder itself"),
        (leaves.as_str(), "leaves the project"),
    ] {
        let arguments = patch(&format!("{first}{rest}"));
        let text = project.fails("apply_patch", arguments.clone()).await;
        assert!(text.contains(expected), "{text}");
        assert!(project.prepare("apply_patch", arguments).await.is_err());
    }
    assert!(project.journal.lock().unwrap().is_empty());
    assert_eq!(project.text("src/a.rs"), "fn a() {\n    one();\n}\n");
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("src", project.path("alias")).unwrap();
        std::os::unix::fs::symlink("two.txt", project.path("link")).unwrap();
        for (rest, expected) in [
            ("*** Delete File: alias/a.rs", "is the same file as another one"),
            ("*** Update File: link\n@@\n-y\n+z", "`link` is a link"),
            ("*** Delete File: link", "`link` is a link"),
        ] {
            let text = project
                .fails("apply_patch", patch(&format!("{first}{rest}")))
                .await;
            assert!(text.contains(expected), "{text}");
        }
    }
    assert!(!project.outside().join("evil.txt").exists());
    let secret = std::fs::read_to_string(project.outside().join("secret.txt")).unwrap();
    assert_eq!(secret, "secret\n");
}

#[tokio::test]
async fn a_project_that_is_read_only_stays_as_it_is() {
    let mut project = files();
    project.cx.read_only = true;
    for (tool, arguments) in [
        ("apply_patch", patch(ALL)),
        ("move_file", json!({"from": "src", "to": "lib"})),
        ("move_file", json!({"from": "old.rs", "to": "new.rs"})),
        ("delete_file", json!({"path": "src"})),
        ("remember", json!({"note": "x"})),
    ] {
        let text = project.fails(tool, arguments).await;
        assert!(text.contains("read-only in this role"), "{tool}: {text}");
    }
    assert!(project.journal.lock().unwrap().is_empty());
    assert!(project.path("src/a.rs").exists() && !project.path("lib").exists());
}

#[tokio::test]
async fn white_space_is_forgiven_and_encodings_are_kept() {
    let project = Project::new(&[("a.py", "def f():\r\n    if x:\r\n        y()\r\n")]);
    project.put("latin", b"caf\xe9\n");
    let text =
        "*** Update File: a.py\n@@\n if x:\n-    y()\n+    z()\n*** Update File: latin\n@@\n-café\n+thé";
    let said = project.says("apply_patch", patch(text)).await;
    assert!(said.ends_with("the indentation of the files was kept."), "{said}");
    assert_eq!(project.text("a.py"), "def f():\r\n    if x:\r\n        z()\r\n");
    assert_eq!(project.get("latin"), b"th\xe9\n");
}

#[tokio::test]
async fn protected_places_are_declared() {
    let project = Project::new(&[(".env", "A=1\n"), ("AGENTS.md", "x\n")]);
    let text =
        "*** Delete File: .env\n*** Update File: AGENTS.md\n@@\n-x\n+y\n*** Add File: .git/hooks/x\n+evil";
    let prepared = project.prepare("apply_patch", patch(text)).await.unwrap();
    let protected = prepared
        .access
        .iter()
        .filter(|access| matches!(access, Access::Protected { write: true, .. }));
    assert_eq!(protected.count(), 3);
    let refused = project.fails("apply_patch", patch(text)).await;
    assert!(
        refused.contains("protected") && refused.ends_with("Nothing was changed."),
        "{refused}"
    );
    assert_eq!(
        (project.text(".env"), project.text("AGENTS.md")),
        ("A=1\n".into(), "x\n".into())
    );
}
