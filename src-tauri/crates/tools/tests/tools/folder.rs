use crate::support::Project;
use paddock_protocol::*;
use paddock_tools::*;
use serde_json::json;

#[tokio::test]
async fn delete_file_keeps_what_it_removes() {
    let mut project = Project::new(&[("a.txt", "one\ntwo\n"), ("b/c.txt", "c"), ("b/d/e.txt", "e")]);
    std::fs::create_dir(project.path("b/empty")).unwrap();
    let one = json!({"path": "a.txt"});
    let prepared = project.prepare("delete_file", one.clone()).await.unwrap();
    let ApprovalBody::Delete { files, base } = &prepared.body else {
        panic!("no deletion")
    };
    assert_eq!(
        (files[0].kind.clone(), files[0].removed),
        (ChangeKind::Deleted, 2)
    );
    assert_eq!(
        *base,
        [FileBase {
            path: "a.txt".into(),
            version: version_of(Some(b"one\ntwo\n")),
            size: Some(8)
        }]
    );
    assert_eq!(prepared.access, [Access::Delete { path: "a.txt".into() }]);
    assert_eq!(
        (prepared.verb, prepared.undo.clone()),
        (Verb::Delete, UndoFact::Covered)
    );
    project.cx.approved = prepared.body.base();
    project.put("a.txt", b"newer\n");
    let newer = project.run("delete_file", one.clone()).await;
    assert!(matches!(newer, Err(ToolError::ChangedSince { .. })), "{newer:?}");
    project.put("a.txt", b"one\ntwo\n");
    let output = project.run("delete_file", one).await.unwrap();
    assert_eq!(
        (output.text.as_str(), output.changes.len()),
        ("Deleted a.txt.", 1)
    );
    assert!(!project.path("a.txt").exists());
    let kept = ("a.txt".to_owned(), Some(b"one\ntwo\n".to_vec()));
    assert_eq!(*project.journal.lock().unwrap(), [kept]);
    assert_eq!(
        *project.after.lock().unwrap(),
        [("a.txt".into(), FileVersion::Absent)]
    );

    project.cx.approved = Vec::new();
    let folder = json!({"path": "b"});
    let prepared = project.prepare("delete_file", folder.clone()).await.unwrap();
    let delete = |path: &str| Access::Delete { path: path.into() };
    assert_eq!(
        prepared.access,
        [delete("b"), delete("b/c.txt"), delete("b/d/e.txt")]
    );
    project.cx.approved = prepared.body.base();
    project.put("b/new.txt", b"came meanwhile");
    let more = project.run("delete_file", folder.clone()).await;
    assert!(
        matches!(&more, Err(ToolError::ChangedSince { path }) if path == "b/new.txt"),
        "{more:?}"
    );
    std::fs::remove_file(project.path("b/new.txt")).unwrap();
    assert_eq!(project.says("delete_file", folder).await, "Deleted b (2 files).");
    assert!(!project.path("b").exists());
}

#[tokio::test]
async fn delete_file_refuses_what_could_not_be_brought_back() {
    let mut project = Project::new(&[("a.txt", "x"), (".gitignore", "many/\n")]);
    for number in 0..300 {
        project.put(&format!("many/{}/{number}.txt", number % 7), b"x");
    }
    for number in 0..50 {
        project.put(&format!("fifty/{number}.txt"), b"x");
    }
    let text = project.fails("delete_file", json!({"path": "many"})).await;
    assert_eq!(
        text,
        "`many` holds more than 50 files; nothing was changed. For that there is the clean-up workflow, which the person can start."
    );
    assert!(
        project
            .prepare("delete_file", json!({"path": "many"}))
            .await
            .is_err()
    );
    assert_eq!(std::fs::read_dir(project.path("many")).unwrap().count(), 7);
    for (path, expected) in [
        (".", "project folder itself"),
        ("nothing", "`nothing` does not exist"),
        ("../outside", "leaves the project"),
    ] {
        let text = project.fails("delete_file", json!({"path": path})).await;
        assert!(text.contains(expected), "{text}");
    }
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("a.txt", project.path("link")).unwrap();
        std::fs::create_dir(project.path("with-link")).unwrap();
        std::os::unix::fs::symlink("../a.txt", project.path("with-link/link")).unwrap();
        for path in ["link", "with-link"] {
            let text = project.fails("delete_file", json!({"path": path})).await;
            assert!(text.contains("is a link"), "{text}");
        }
        assert!(project.path("with-link/link").exists() && project.path("link").exists());
    }
    assert_eq!(
        project.says("delete_file", json!({"path": "fifty"})).await,
        "Deleted fifty (50 files)."
    );
    project.cx.read_only = true;
    let text = project.fails("delete_file", json!({"path": "a.txt"})).await;
    assert!(text.contains("read-only"), "{text}");
    assert!(project.path("a.txt").exists());
}

#[tokio::test]
async fn move_file_moves_files_and_small_folders() {
    let project = Project::new(&[("a.txt", "one\n"), ("src/b.rs", "b"), ("src/deep/c.rs", "c")]);
    std::fs::create_dir(project.path("src/empty")).unwrap();
    let one = json!({"from": "a.txt", "to": "docs/new/b.txt"});
    let prepared = project.prepare("move_file", one.clone()).await.unwrap();
    let write = |path: &str| Access::Write { path: path.into() };
    assert_eq!(prepared.access, [write("a.txt"), write("docs/new/b.txt")]);
    assert_eq!(
        (prepared.verb, prepared.target.as_str()),
        (Verb::Move, "a.txt to docs/new/b.txt")
    );
    let output = project.run("move_file", one).await.unwrap();
    assert_eq!(output.text, "Moved a.txt to docs/new/b.txt.");
    let from = ChangeKind::Moved { from: "a.txt".into() };
    assert_eq!(
        (output.changes[0].kind.clone(), output.changes[0].added),
        (from, 0)
    );
    assert!(!project.path("a.txt").exists() && project.text("docs/new/b.txt") == "one\n");
    assert_eq!(
        *project.journal.lock().unwrap(),
        [
            ("a.txt".to_owned(), Some(b"one\n".to_vec())),
            ("docs/new/b.txt".to_owned(), None)
        ]
    );
    let said = project
        .says("move_file", json!({"from": "src", "to": "lib/src"}))
        .await;
    assert_eq!(said, "Moved src to lib/src (2 files).");
    assert!(!project.path("src").exists() && project.path("lib/src/empty").is_dir());
    assert_eq!(
        (project.text("lib/src/b.rs"), project.text("lib/src/deep/c.rs")),
        ("b".into(), "c".into())
    );
    for (from, to, expected) in [
        ("lib", "docs", "`docs` exists already"),
        ("lib", "lib/inner", "lies in it"),
        ("nothing", "x", "`nothing` does not exist"),
        ("lib/src/b.rs", "lib/src/b.rs", "itself"),
        ("lib/src/b.rs", "lib/src/deep/c.rs/d", "not a folder"),
        ("lib/src/b.rs", "../b.rs", "leaves the project"),
    ] {
        let arguments = json!({"from": from, "to": to});
        let text = project.fails("move_file", arguments.clone()).await;
        assert!(text.contains(expected), "{from} {to}: {text}");
        assert!(project.prepare("move_file", arguments).await.is_err());
    }
}
