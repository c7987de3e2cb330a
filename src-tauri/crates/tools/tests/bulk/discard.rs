//! Back to the last commit, with a real git.

use super::support::Project;
use paddock_tools::bulk::{Discard, Git, discard};
use serde_json::{Value, json};
use std::process::Command;

fn git(project: &Project, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .current_dir(project.path(""))
        .args(["-c", "user.name=Test", "-c", "user.email=test@example.invalid"])
        .args(arguments)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

fn repository(files: &[(&str, &str)]) -> Project {
    let project = Project::new(files);
    git(&project, &["init", "--quiet"]);
    git(&project, &["add", "--all"]);
    git(&project, &["commit", "--quiet", "--message", "first"]);
    project
}

async fn look(project: &Project, with_new: bool) -> Discard {
    let cx = &project.cx;
    let git = Git {
        root: cx.root.clone(),
        confinement: cx.confinement.clone(),
        state: cx.state.clone(),
    };
    discard(&git, with_new).await.unwrap()
}

fn call(found: &Discard) -> Value {
    json!({
        "restore": found.restore.iter().map(|file| &file.path).collect::<Vec<_>>(),
        "blobs": found.restore.iter().map(|file| &file.blob).collect::<Vec<_>>(),
        "restore_identities": found.restore.iter().map(|file| &file.identity).collect::<Vec<_>>(),
        "programs": found.restore.iter().filter(|file| file.executable).map(|file| &file.path).collect::<Vec<_>>(),
        "remove": found.remove.iter().map(|file| &file.path).collect::<Vec<_>>(),
        "remove_identities": found.remove.iter().map(|file| &file.identity).collect::<Vec<_>>(),
    })
}

#[tokio::test]
async fn files_are_as_committed_and_what_came_later_stays() {
    let project = repository(&[
        ("a.txt", "a\n"),
        ("dir/b.txt", "b\n"),
        ("same", "s"),
        ("run.sh", "#!/bin/sh\n"),
        (".gitignore", "*.tmp\n"),
        ("odd name'$(x).txt", "odd\n"),
    ]);
    git(&project, &["update-index", "--chmod=+x", "run.sh"]);
    git(&project, &["commit", "--quiet", "--message", "mode"]);
    project.put("a.txt", b"changed\n");
    project.put("odd name'$(x).txt", b"changed");
    std::fs::remove_dir_all(project.path("dir")).unwrap();
    std::fs::remove_file(project.path("run.sh")).unwrap();
    project.put("new.txt", b"new");
    project.put("ignored.tmp", b"mine");
    project.put("staged.txt", b"staged");
    git(&project, &["add", "staged.txt"]);

    let without = look(&project, false).await;
    assert!(without.remove.is_empty() && without.staged);
    let found = look(&project, true).await;
    let restored: Vec<&str> = found.restore.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(restored, ["a.txt", "dir/b.txt", "odd name'$(x).txt", "run.sh"]);
    let removed: Vec<&str> = found.remove.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(removed, ["new.txt", "staged.txt"]);
    assert_eq!(
        found.words(),
        "Discard the changes of 4 files and delete 2 new files"
    );

    project.put("later.txt", b"came later");
    project.put("new.txt", b"changed since");
    let output = project.run("discard_changes", call(&found)).await.unwrap();
    assert_eq!(
        output.text,
        "Restored 4 files.\nDeleted 1 new file.\nLeft as it is: new.txt (it changed after the preview).\n"
    );
    assert_eq!(
        (project.text("a.txt"), project.text("dir/b.txt")),
        ("a\n".into(), "b\n".into())
    );
    assert_eq!(project.text("odd name'$(x).txt"), "odd\n");
    assert_eq!(project.text("new.txt"), "changed since");
    assert!(project.path("later.txt").exists() && project.path("ignored.tmp").exists());
    assert!(!project.path("staged.txt").exists());
    use std::os::unix::fs::PermissionsExt;
    let mode = std::fs::metadata(project.path("run.sh"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o111, 0o111);
    let kept: Vec<String> = project
        .journal
        .lock()
        .unwrap()
        .iter()
        .map(|(path, _)| path.clone())
        .collect();
    assert_eq!(
        kept,
        ["a.txt", "dir/b.txt", "odd name'$(x).txt", "run.sh", "staged.txt"]
    );
    git(&project, &["reset", "--quiet"]);
    assert_eq!(git(&project, &["diff", "--name-only", "HEAD"]), "");
}

#[tokio::test]
async fn no_program_of_the_project_has_a_say() {
    let project = repository(&[("a.txt", "a\n"), ("big.bin", "pointer\n")]);
    let marker = project.outside().join("ran");
    let program = format!("touch {}; cat", marker.display());
    for setting in [
        "core.fsmonitor",
        "filter.evil.clean",
        "filter.evil.smudge",
        "core.pager",
        "diff.external",
    ] {
        git(&project, &["config", setting, &program]);
    }
    project.put(".git/info/attributes", b"*.bin filter=evil\n");
    project.put("a.txt", b"changed\n");
    project.put("big.bin", b"the real content\n");
    let _ = std::fs::remove_file(&marker);
    let found = look(&project, true).await;
    assert_eq!(found.restore.len(), 1);
    assert_eq!(found.left[0].0, "big.bin");
    assert!(found.left[0].1.contains("filter"), "{}", found.left[0].1);
    project.run("discard_changes", call(&found)).await.unwrap();
    assert_eq!(project.text("a.txt"), "a\n");
    assert_eq!(project.text("big.bin"), "the real content\n");
    assert!(!marker.exists());
}

#[tokio::test]
async fn without_a_commit_there_is_nothing_to_go_back_to() {
    let project = Project::new(&[("a", "")]);
    let cx = &project.cx;
    let git = Git {
        root: cx.root.clone(),
        confinement: cx.confinement.clone(),
        state: cx.state.clone(),
    };
    let said = discard(&git, true).await.unwrap_err().to_string();
    assert!(said.starts_with("There is no commit"), "{said}");
    let forged = json!({
        "restore": ["a"], "blobs": ["$(touch x)"], "restore_identities": ["absent"],
        "programs": [], "remove": [], "remove_identities": []
    });
    assert!(
        project
            .fails("discard_changes", forged)
            .await
            .contains("no object of git")
    );
}
