//! The tools of workflows on real files and real repositories: exactly what was previewed, and nothing that came later.
#![cfg(unix)]
#![allow(clippy::unwrap_used)]

#[path = "../support/mod.rs"]
mod support;

mod discard;

use paddock_protocol::{ChangeKind, FileVersion, Role};
use paddock_sandbox::RelativePath;
use paddock_tools::bulk::{self, Doomed, Renamed, doomed};
use serde_json::{Value, json};
use support::Project;

pub fn paths(project: &Project, names: &[&str]) -> Vec<RelativePath> {
    names
        .iter()
        .map(|name| project.cx.root.relative(name).unwrap())
        .collect()
}

fn deletion(doomed: &[Doomed]) -> Value {
    let paths: Vec<&str> = doomed.iter().map(|one| one.path.as_str()).collect();
    let identities: Vec<&str> = doomed.iter().map(|one| one.identity.as_str()).collect();
    json!({"paths": paths, "identities": identities})
}

#[test]
fn no_model_hears_of_them() {
    let registry = paddock_tools::Registry::new();
    let own = registry.workflow_only();
    assert_eq!(own, ["delete_files", "rename_files", "discard_changes"]);
    for name in own {
        assert!(registry.get(name).is_some());
        assert!(registry.resolve(name).is_none() && registry.resolve(&format!("functions.{name}")).is_none());
        for role in [Role::Plan, Role::Act, Role::Admin] {
            assert!(!registry.names(role).contains(&name));
            assert!(registry.specs(role).iter().all(|(spec, ..)| *spec != name));
        }
    }
}

#[tokio::test]
async fn only_what_was_seen_is_deleted() {
    let project = Project::new(&[
        ("a.log", "one"),
        ("b.log", "two"),
        ("c.log", "three"),
        ("old/x", "1"),
        ("old/in/y", "2"),
        ("new/z", "3"),
    ]);
    let named = paths(&project, &["a.log", "b.log", "c.log", "old", "new"]);
    let seen = doomed(&project.cx.root, &named).unwrap();
    assert_eq!(
        seen.iter().map(|one| one.files).collect::<Vec<_>>(),
        [1, 1, 1, 2, 1]
    );
    assert!(seen.iter().all(|one| one.lost.is_none()));
    project.put("b.log", b"changed since");
    project.put("new/later", b"");
    std::fs::remove_file(project.path("c.log")).unwrap();
    let output = project.run("delete_files", deletion(&seen)).await.unwrap();
    assert!(!output.ok);
    assert_eq!(
        output.text,
        "Deleted 3 files.\nLeft as it is: b.log (it changed after the preview).\n\
         Left as it is: c.log (it changed after the preview).\nLeft as it is: new (it changed after the preview).\n"
    );
    assert!(!project.path("a.log").exists() && !project.path("old").exists());
    assert!(project.path("new/z").exists() && project.path("new/later").exists());
    assert_eq!(project.text("b.log"), "changed since");
    let mut kept: Vec<String> = project
        .journal
        .lock()
        .unwrap()
        .iter()
        .map(|(path, _)| path.clone())
        .collect();
    kept.sort();
    assert_eq!(kept, ["a.log", "old/in/y", "old/x"]);
    assert!(
        project
            .after
            .lock()
            .unwrap()
            .iter()
            .all(|(_, version)| *version == FileVersion::Absent)
    );
    let changed: Vec<&str> = output.changes.iter().map(|change| change.path.as_str()).collect();
    assert_eq!(changed, ["a.log", "old"]);
}

#[tokio::test]
async fn what_cannot_be_kept_is_said_before() {
    let project = Project::new(&[("tree/a", "1")]);
    std::os::unix::fs::symlink("a", project.path("tree/link")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", project.path("link")).unwrap();
    for n in 0..1_001 {
        project.put(&format!("many/{n}"), b"x");
    }
    let seen = doomed(
        &project.cx.root,
        &paths(&project, &["link", "many", "tree", "gone"]),
    )
    .unwrap();
    let lost: Vec<_> = seen.iter().map(|one| one.lost.clone().unwrap()).collect();
    assert_eq!(
        lost,
        [
            "cannot be restored: a link",
            "cannot be restored: more than 1000 files are not kept",
            "cannot be restored: holds 1 link"
        ]
    );
    let output = project.run("delete_files", deletion(&seen)).await.unwrap();
    assert!(
        output.ok && output.text == "Deleted 1004 files.\n",
        "{}",
        output.text
    );
    assert!(output.changes.iter().all(|change| !change.undoable));
    assert!(project.journal.lock().unwrap().is_empty());
    assert!(std::path::Path::new("/etc/passwd").exists());
}

#[tokio::test]
async fn repositories_and_the_outside_are_not_deleted() {
    let project = Project::new(&[("inner/.git/HEAD", "ref"), ("inner/a", "")]);
    assert!(
        doomed(&project.cx.root, &paths(&project, &["inner"]))
            .unwrap_err()
            .to_string()
            .contains("repository")
    );
    for bad in ["../x", "/etc/passwd", "."] {
        let arguments = json!({"paths": [bad], "identities": ["file"]});
        project.fails("delete_files", arguments).await;
    }
    let uneven = json!({"paths": ["inner/a"], "identities": []});
    assert!(project.fails("delete_files", uneven).await.contains("one entry"));
    let mut reader = Project::new(&[("a", "")]);
    let seen = doomed(&reader.cx.root, &paths(&reader, &["a"])).unwrap();
    reader.cx.read_only = true;
    reader.cx.root = reader.cx.root.read_only();
    assert!(
        reader
            .fails("delete_files", deletion(&seen))
            .await
            .contains("read-only")
    );
    assert!(reader.path("a").exists());
}

fn renaming(files: &[Renamed]) -> Value {
    let pick = |get: fn(&Renamed) -> &str| files.iter().map(|file| get(file).to_owned()).collect::<Vec<_>>();
    json!({
        "from": pick(|file| &file.from),
        "to": pick(|file| &file.to),
        "identities": pick(|file| &file.identity),
    })
}

fn look(project: &Project, names: &[(&str, &str)]) -> Result<Vec<Renamed>, Vec<bulk::RenameProblem>> {
    let pairs: Vec<_> = names
        .iter()
        .map(|(from, to)| {
            (
                project.cx.root.relative(from).unwrap(),
                project.cx.root.relative(to).unwrap(),
            )
        })
        .collect();
    bulk::renamed(&project.cx.root, &pairs).unwrap()
}

#[tokio::test]
async fn rings_chains_and_letter_cases_are_renamed() {
    let project = Project::new(&[
        ("a", "A"),
        ("b", "B"),
        ("1.txt", "one"),
        ("2.txt", "two"),
        ("Read.md", "r"),
    ]);
    let names = [
        ("a", "b"),
        ("b", "a"),
        ("1.txt", "2.txt"),
        ("2.txt", "sub/3.txt"),
        ("Read.md", "READ.md"),
    ];
    let seen = look(&project, &names).unwrap();
    let output = project.run("rename_files", renaming(&seen)).await.unwrap();
    assert!(
        output.ok && output.text == "Renamed 5 files.\n",
        "{}",
        output.text
    );
    for (name, content) in [
        ("a", "B"),
        ("b", "A"),
        ("2.txt", "one"),
        ("sub/3.txt", "two"),
        ("READ.md", "r"),
    ] {
        assert_eq!(project.text(name), content, "{name}");
    }
    assert!(!project.path("1.txt").exists() && !project.path("Read.md").exists());
    // For each name what it held first and what it holds now, so that each can be taken back alone.
    let journal = project.journal.lock().unwrap();
    let two = journal.iter().find(|(path, _)| path == "2.txt").unwrap();
    assert_eq!(two.1.as_deref(), Some(&b"two"[..]));
    assert_eq!(journal.len(), 7);
    let moved = &output.changes[0];
    assert_eq!(moved.kind, ChangeKind::Moved { from: "a".to_owned() });
}

#[tokio::test]
async fn a_conflict_is_found_before_anything_moves() {
    let project = Project::new(&[("a", ""), ("b", ""), ("c", "kept")]);
    let said = |names: &[(&str, &str)]| look(&project, names).unwrap_err()[0].to_string();
    assert_eq!(
        said(&[("a", "x"), ("b", "x")]),
        "`a` and `b` would both be called `x`."
    );
    assert!(said(&[("a", "x"), ("b", "X")]).contains("case of letters"));
    assert_eq!(
        said(&[("a", "c")]),
        "`a` would be called `c`, which exists already."
    );
    let seen = look(&project, &[("a", "x"), ("b", "y")]).unwrap();
    project.put("y", b"came later");
    let text = project.fails("rename_files", renaming(&seen)).await;
    assert!(
        text.starts_with("Nothing was renamed, because of `y`: it exists by now"),
        "{text}"
    );
    assert!(project.path("a").exists() && project.text("y") == "came later");
    let seen = look(&project, &[("a", "x"), ("b", "z")]).unwrap();
    project.put("b", b"changed");
    assert!(
        project
            .fails("rename_files", renaming(&seen))
            .await
            .contains("changed after")
    );
    assert!(project.path("a").exists());
}
