use crate::support::Project;
use paddock_protocol::*;
use paddock_tools::*;
use serde_json::json;

#[tokio::test]
async fn a_note_is_one_dated_line_at_the_end() {
    let mut project = Project::new(&[]);
    let note = json!({"note": " Tests run\twith\n\u{1b}[1m`make check`.\u{202e} "});
    let prepared = project.prepare("remember", note.clone()).await.unwrap();
    let path = ".paddock/MEMORY.md";
    assert_eq!(
        prepared.access,
        [Access::Write { path: path.into() }],
        "no protected place"
    );
    assert_eq!((prepared.verb, prepared.undo), (Verb::Note, UndoFact::Covered));
    let ApprovalBody::Change { change, base } = prepared.body else {
        panic!("no change")
    };
    assert_eq!(
        (change.path.as_str(), change.added, &base),
        (path, 1, &FileVersion::Absent)
    );
    project.says("remember", note.clone()).await;
    let text = project.text(path);
    let (date, rest) = text.split_once(": ").unwrap();
    assert_eq!(rest, "Tests run with [1m`make check`.\n");
    assert!(date.len() == 12 && date.starts_with("- 20"), "{date}");
    project.cx.approved = vec![FileBase {
        path: path.into(),
        version: base,
        size: None,
    }];
    let changed = project.run("remember", json!({"note": "second"})).await;
    assert!(matches!(changed, Err(ToolError::ChangedSince { .. })));
    project.cx.approved = Vec::new();
    project.says("remember", json!({"note": "second"})).await;
    let both = project.text(path);
    assert!(both.starts_with(&text) && both.ends_with(": second\n") && both.lines().count() == 2);
    let again = project.fails("remember", json!({"note": "second"})).await;
    assert!(again.contains("already"), "{again}");
}

#[tokio::test]
async fn a_note_cannot_go_elsewhere_or_be_long() {
    let project = Project::new(&[("other.md", "")]);
    for (note, expected) in [
        (
            "x".repeat(501),
            "`note` has 501 characters; at most 500 are possible",
        ),
        (" \n".to_owned(), "`note` is empty"),
    ] {
        assert_eq!(project.fails("remember", json!({"note": note})).await, expected);
    }
    assert!(
        project
            .prepare("remember", json!({"note": "x", "path": "y"}))
            .await
            .is_err()
    );
    project.says("remember", json!({"note": "é".repeat(500)})).await;
    project.put(".paddock/MEMORY.md", "- a line\n".repeat(4_000).as_bytes());
    let full = project.fails("remember", json!({"note": "x"})).await;
    assert!(full.contains("is full"), "{full}");
    #[cfg(unix)]
    {
        std::fs::remove_file(project.path(".paddock/MEMORY.md")).unwrap();
        std::os::unix::fs::symlink("../other.md", project.path(".paddock/MEMORY.md")).unwrap();
        let link = project.fails("remember", json!({"note": "x"})).await;
        assert!(link.contains("is a link"), "{link}");
        std::fs::remove_dir_all(project.path(".paddock")).unwrap();
        std::fs::create_dir(project.path("elsewhere")).unwrap();
        std::os::unix::fs::symlink("elsewhere", project.path(".paddock")).unwrap();
        let link = project.fails("remember", json!({"note": "x"})).await;
        assert!(link.contains("is a link"), "{link}");
        assert_eq!(project.text("other.md"), "");
    }
}
