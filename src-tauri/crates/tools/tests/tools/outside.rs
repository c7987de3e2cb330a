//! Places outside of the project: asked for by their real path, opened only when they were allowed, and never told more of
//! than the model wrote itself.

use crate::support::Project;
use paddock_protocol::*;
use paddock_sandbox::PathGrant;
use paddock_tools::*;
use serde_json::json;
use std::path::PathBuf;

/// A project beside a folder `shared` with two files and one with secrets.
fn project() -> Project {
    let project = Project::new(&[("a.txt", "x\n")]);
    let shared = project.outside().join("shared");
    std::fs::create_dir_all(shared.join("deep")).unwrap();
    std::fs::write(shared.join("ports.json"), "{\"http\": 80}\n").unwrap();
    std::fs::write(shared.join("deep/more.txt"), "http again\n").unwrap();
    std::fs::write(shared.join(".env"), "KEY=http\n").unwrap();
    project
}

impl Project {
    fn real(&self, name: &str) -> PathBuf {
        self.outside().canonicalize().unwrap().join(name)
    }

    fn grant(&mut self, name: &str, writable: bool) {
        let path = self.real(name);
        self.cx.outside = vec![PathGrant { path, writable }];
    }

    fn outside_access(&self, name: &str, write: bool, through: Option<&str>) -> Access {
        let mut path = self.real("").join(name).to_str().unwrap().to_owned();
        if name.ends_with('/') && !path.ends_with('/') {
            path.push('/');
        }
        let through = through.map(str::to_owned);
        Access::Outside { path, write, through }
    }
}

#[tokio::test]
async fn a_file_is_read_once_it_was_allowed() {
    let mut project = project();
    let read = json!({"path": "../shared/ports.json"});
    let prepared = project.prepare("read_file", read.clone()).await.unwrap();
    assert_eq!(
        prepared.access,
        [project.outside_access("shared/ports.json", false, Some(".."))]
    );
    assert_eq!(prepared.target, "../shared/ports.json");
    let refused = project.fails("read_file", read.clone()).await;
    assert_eq!(
        refused,
        "`../shared/ports.json` lies outside of the project, and this was not allowed."
    );
    for granted in ["shared/ports.json", "shared"] {
        project.grant(granted, false);
        assert_eq!(
            project.says("read_file", read.clone()).await,
            "1\t{\"http\": 80}\n",
            "{granted}"
        );
    }
    for other in ["shared/ports.jso", "shared/deep", "sha", "shared/ports.json/x"] {
        project.grant(other, true);
        assert!(
            project
                .fails("read_file", read.clone())
                .await
                .contains("not allowed"),
            "{other}"
        );
    }
    project.grant("shared", true);
    let missing = project
        .fails("read_file", json!({"path": "../shared/none.txt"}))
        .await;
    assert!(
        missing.starts_with("`../shared/none.txt`") && missing.contains("does not exist"),
        "{missing}"
    );
    let folder = project
        .fails("read_file", json!({"path": "../shared/deep/"}))
        .await;
    assert!(folder.starts_with("`../shared/deep` is a folder"), "{folder}");
}

#[tokio::test]
async fn a_folder_is_listed_and_searched_under_the_name_that_was_written() {
    let mut project = project();
    let list = json!({"path": "../shared"});
    let prepared = project.prepare("list_files", list.clone()).await.unwrap();
    assert_eq!(
        prepared.access,
        [project.outside_access("shared/", false, Some(".."))]
    );
    project.grant("shared", false);
    assert_eq!(
        project.says("list_files", list).await,
        "../shared/.env (9 B)\n../shared/deep/\n../shared/deep/more.txt (11 B)\n../shared/ports.json (13 B)\n"
    );
    let found = project
        .says("search_files", json!({"path": "../shared/", "pattern": "http"}))
        .await;
    assert!(
        found.starts_with(
            "2 lines in 2 files.\n\n../shared/deep/more.txt\n  1: http again\n\n../shared/ports.json\n"
        ),
        "{found}"
    );
    assert!(
        found.contains("1 file with passwords or keys not shown") && !found.contains("KEY"),
        "{found}"
    );
    let only = json!({"path": "../shared", "pattern": "http", "glob": "deep/*"});
    assert_eq!(
        project.says("search_files", only).await,
        "1 line in 1 file.\n\n../shared/deep/more.txt\n  1: http again\n"
    );
    let names = project
        .says(
            "find_files",
            json!({"path": "../shared", "pattern": "deep/*.txt"}),
        )
        .await;
    assert_eq!(names, "../shared/deep/more.txt\n");
    assert_eq!(
        project.says("find_files", json!({"pattern": "*.txt"})).await,
        "a.txt\n"
    );
    let one = project
        .says(
            "search_files",
            json!({"path": "../shared/ports.json", "pattern": "80"}),
        )
        .await;
    assert_eq!(
        one,
        "1 line in 1 file.\n\n../shared/ports.json\n  1: {\"http\": 80}\n"
    );
}

#[tokio::test]
async fn a_file_is_written_as_it_was_shown() {
    let mut project = project();
    let edit = json!({"path": "../shared/ports.json", "old_text": "80", "new_text": "8080"});
    let prepared = project.prepare("edit_file", edit.clone()).await.unwrap();
    assert_eq!(
        prepared.access,
        [project.outside_access("shared/ports.json", true, Some(".."))]
    );
    assert!(matches!(prepared.undo, UndoFact::NotCovered { .. }));
    let ApprovalBody::Change { change, .. } = &prepared.body else {
        panic!("{:?}", prepared.body)
    };
    assert_eq!((change.added, change.removed, change.undoable), (1, 1, false));
    project.grant("shared", false);
    assert!(
        project
            .fails("edit_file", edit.clone())
            .await
            .contains("not allowed"),
        "reading is not writing"
    );
    project.grant("shared/ports.json", true);
    project.cx.approved = prepared.body.base();
    std::fs::write(project.real("shared/ports.json"), "{\"http\": 80, \"x\": 1}\n").unwrap();
    let changed = project.run("edit_file", edit.clone()).await;
    assert!(
        matches!(&changed, Err(ToolError::ChangedSince { path }) if path == "../shared/ports.json"),
        "{changed:?}"
    );
    let again = project.prepare("edit_file", edit.clone()).await.unwrap();
    project.cx.approved = again.body.base();
    let output = project.run("edit_file", edit).await.unwrap();
    assert!(
        output
            .text
            .starts_with("Edited ../shared/ports.json (+1 -1 lines).\nNow:\n"),
        "{}",
        output.text
    );
    assert_eq!(
        output.changes[0].path,
        project.real("shared/ports.json").to_str().unwrap()
    );
    let now = std::fs::read_to_string(project.real("shared/ports.json")).unwrap();
    assert_eq!(now, "{\"http\": 8080, \"x\": 1}\n");
    project.cx.approved.clear();
    project.grant("shared/new/file.txt", true);
    let write = json!({"path": "../shared/new/file.txt", "content": "new\n"});
    assert_eq!(
        project.prepare("write_file", write.clone()).await.unwrap().verb,
        Verb::Create
    );
    let text = project.says("write_file", write).await;
    assert_eq!(text, "Created ../shared/new/file.txt (1 line).");
    assert!(
        project.journal.lock().unwrap().is_empty(),
        "nothing outside is kept"
    );
    project.cx.read_only = true;
    let write = json!({"path": "../shared/new/file.txt", "content": "newer\n"});
    assert!(project.fails("write_file", write).await.contains("in this role"));
}

/// Until a place was allowed, nothing about it is told, not even by way of an error.
#[tokio::test]
async fn asking_tells_nothing_of_what_is_there() {
    let mut project = project();
    let mut prepared = Vec::new();
    for (path, old_text) in [
        ("../shared/ports.json", "no such text"),
        ("../shared/none", "x"),
        ("../shared/deep", "x"),
    ] {
        let edit = json!({"path": path, "old_text": old_text, "new_text": "y"});
        let asked = project.prepare("edit_file", edit).await.unwrap();
        assert_eq!(
            (asked.body, asked.verb),
            (ApprovalBody::Other, Verb::Edit),
            "{path}"
        );
        prepared.push(path);
    }
    for path in prepared {
        assert!(
            project.prepare("read_file", json!({"path": path})).await.is_ok(),
            "{path}"
        );
    }
    project.grant("shared", true);
    let edit = json!({"path": "../shared/ports.json", "old_text": "\"https\": 80", "new_text": "y"});
    let error = project
        .prepare("edit_file", edit.clone())
        .await
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("`../shared/ports.json`; nothing was changed. The nearest lines are"),
        "{error}"
    );
    assert_eq!(project.fails("edit_file", edit).await, error);
}

#[tokio::test]
async fn secrets_outside_are_protected_as_well() {
    let mut project = project();
    let prepared = project
        .prepare("read_file", json!({"path": "../shared/.env"}))
        .await
        .unwrap();
    assert_eq!(prepared.access.len(), 2);
    assert!(matches!(
        &prepared.access[1],
        Access::Protected { write: false, place: ProtectedPlace::SecretFile, path } if path.ends_with("/shared/.env")
    ));
    project.grant("shared", true);
    let hook = json!({"path": "../shared/.git/hooks/pre-commit", "content": "x"});
    let prepared = project.prepare("write_file", hook.clone()).await.unwrap();
    assert!(matches!(
        prepared.access[1],
        Access::Protected { write: true, .. }
    ));
    assert!(project.fails("write_file", hook).await.contains("is protected"));
}

#[tokio::test]
async fn what_nobody_may_allow_is_refused_without_asking() {
    let mut project = project();
    project.cx.outside = vec![PathGrant {
        path: "/".into(),
        writable: true,
    }];
    for path in [
        "/etc/shadow",
        "/proc/self/environ",
        "/",
        "..",
        "../",
        "/dev/sda",
        "/root/../etc/sudoers",
    ] {
        for (tool, arguments) in [
            ("read_file", json!({"path": path})),
            ("list_files", json!({"path": path})),
            ("write_file", json!({"path": path, "content": "x"})),
        ] {
            let error = project
                .prepare(tool, arguments.clone())
                .await
                .unwrap_err()
                .to_string();
            assert!(
                error.contains("is never opened, because"),
                "{tool} {path}: {error}"
            );
            assert_eq!(project.run(tool, arguments).await.unwrap_err().to_string(), error);
        }
    }
    let error = project
        .prepare("write_file", json!({"path": "/etc/hosts", "content": "x"}))
        .await;
    assert!(error.unwrap_err().to_string().contains("is never opened"));
}

#[cfg(unix)]
#[tokio::test]
async fn a_link_is_followed_to_what_was_shown_and_nothing_else() {
    use std::os::unix::fs::symlink;
    let mut project = project();
    symlink(project.outside().join("shared"), project.path("config")).unwrap();
    let read = json!({"path": "config/ports.json"});
    let prepared = project.prepare("read_file", read.clone()).await.unwrap();
    assert_eq!(
        prepared.access,
        [project.outside_access("shared/ports.json", false, Some("config"))]
    );
    assert!(!project.fails("read_file", read.clone()).await.contains("shared"));
    project.grant("shared/ports.json", false);
    assert_eq!(
        project.says("read_file", read.clone()).await,
        "1\t{\"http\": 80}\n"
    );
    let missing = project.fails("read_file", json!({"path": "config/deep"})).await;
    assert!(!missing.contains("shared"), "{missing}");
    // The link leads elsewhere now, and so does a part of what was allowed.
    std::fs::write(project.outside().join("ports.json"), "other").unwrap();
    std::fs::remove_file(project.path("config")).unwrap();
    symlink(project.outside(), project.path("config")).unwrap();
    assert!(
        project
            .fails("read_file", read.clone())
            .await
            .contains("not allowed")
    );
    std::fs::remove_file(project.path("config")).unwrap();
    symlink(project.outside().join("shared"), project.path("config")).unwrap();
    std::fs::remove_file(project.real("shared/ports.json")).unwrap();
    symlink("/etc/hosts", project.outside().join("shared/ports.json")).unwrap();
    assert!(project.fails("read_file", read).await.contains("not allowed"));
    project.grant("shared", true);
    let found = project
        .says("search_files", json!({"path": "config", "pattern": "localhost"}))
        .await;
    assert!(
        found.starts_with("Nothing found"),
        "links in it are not followed: {found}"
    );
}

#[tokio::test]
async fn moving_deleting_and_patches_stay_inside() {
    let mut project = project();
    project.grant("shared", true);
    let patch = "*** Begin Patch\n*** Delete File: ../shared/ports.json\n*** End Patch";
    for (tool, arguments) in [
        ("apply_patch", json!({"patch": patch})),
        ("delete_file", json!({"path": "../shared/ports.json"})),
        (
            "move_file",
            json!({"from": "../shared/ports.json", "to": "ports.json"}),
        ),
        ("move_file", json!({"from": "a.txt", "to": "../shared/a.txt"})),
    ] {
        let text = project.fails(tool, arguments).await;
        assert!(text.contains("leaves the project at `..`"), "{tool}: {text}");
    }
    assert!(project.real("shared/ports.json").exists() && project.path("a.txt").exists());
}
