//! Workflows and own roles as a client asks for them: real files, a real repository, the real sandbox, real undo. The
//! program builds its own sandboxes, so it has its own `main`.
#![allow(clippy::unwrap_used, clippy::panic)]

mod bed;

use bed::{Bed, text, values};
use libtest_mimic::{Arguments, Trial};
use paddock_core::protocol::*;
use std::future::Future;
#[cfg(unix)]
use std::os::unix::fs::PermissionsExt;
use std::process::ExitCode;

fn main() -> ExitCode {
    paddock_core::run_helper_if_asked();
    let trials = vec![
        trial("deletion_and_its_undo", deletion_and_its_undo),
        trial("renaming_and_its_undo", renaming_and_its_undo),
        trial("discard_and_its_undo", discard_and_its_undo),
        trial("a_world_that_changed", a_world_that_changed),
        trial("a_file_of_the_project", a_file_of_the_project),
        trial("a_role_of_the_project", a_role_of_the_project),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn trial<F: Future<Output = ()>>(name: &str, test: impl FnOnce() -> F + Send + 'static) -> Trial {
    Trial::test(name, move || {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        runtime.enable_all().build()?.block_on(test());
        Ok(())
    })
}

async fn deletion_and_its_undo() {
    let bed = Bed::new(&[("a.log", "one"), ("sub/b.log", "two"), ("keep.txt", "kept")]);
    let program = bed.path("sub/b.log");
    #[cfg(unix)]
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let before = bed.files();
    let some = values(&[("files", text("*.log"))]);
    let mut work = bed.session().await;
    let preview = bed.preview("bulk-delete", &some).await;
    let shown: Vec<String> = preview
        .effects
        .iter()
        .map(|effect| effect.target.clone())
        .collect();
    work.run("bulk-delete", &some, &preview.token).await.unwrap();
    assert_eq!(work.end().await, WorkflowEnd::Completed);
    let gone: Vec<String> = before
        .keys()
        .filter(|name| !bed.files().contains_key(*name))
        .cloned()
        .collect();
    assert_eq!((gone, bed.files().len()), (shown, 1));
    let call = work.first_call("delete_files");
    assert!(
        matches!(&call.verdict.as_ref().unwrap().by, DecidedBy::Workflow { name } if name == "bulk-delete")
    );
    work.undo(&call.call).await;
    assert_eq!(bed.files(), before);
    #[cfg(unix)]
    assert_eq!(
        std::fs::metadata(program).unwrap().permissions().mode() & 0o777,
        0o755
    );
}

async fn renaming_and_its_undo() {
    let bed = Bed::new(&[("1.txt", "one"), ("11.txt", "eleven"), ("n", "")]);
    let before = bed.files();
    // A chain: 1 → 11 → 1111.
    let some = values(&[
        ("files", text("*.txt")),
        ("find", text("1")),
        ("replace", text("11")),
    ]);
    let mut work = bed.session().await;
    let preview = bed.preview("bulk-rename", &some).await;
    assert_eq!(preview.confirm, "Rename 2 files");
    work.run("bulk-rename", &some, &preview.token).await.unwrap();
    assert_eq!(work.end().await, WorkflowEnd::Completed);
    assert_eq!(
        (bed.read("11.txt"), bed.read("1111.txt")),
        ("one".into(), "eleven".into())
    );
    assert_eq!(bed.files().len(), 3);
    let call = work.first_call("rename_files").call;
    work.undo(&call).await;
    assert_eq!(bed.files(), before);
}

async fn discard_and_its_undo() {
    let bed = Bed::new(&[("a", "committed\n"), ("gone", "was here\n"), ("same", "")]);
    bed.commit();
    let committed = bed.files();
    bed.put("a", "mine\n");
    bed.put("new", "new\n");
    std::fs::remove_file(bed.path("gone")).unwrap();
    bed.git(&["add", "a"]);
    let mine = bed.files();
    let all = values(&[("new_files", ParameterValue::Switch(true))]);
    let mut work = bed.session().await;
    let preview = bed.preview("discard-all-changes", &all).await;
    assert_eq!(preview.files, 3);
    work.run("discard-all-changes", &all, &preview.token)
        .await
        .unwrap();
    assert_eq!(work.end().await, WorkflowEnd::Completed);
    assert_eq!(bed.files(), committed);
    assert_eq!(bed.git(&["status", "--porcelain"]), "");
    let call = work.first_call("discard_changes").call;
    work.undo(&call).await;
    assert_eq!(bed.files(), mine);
}

async fn a_world_that_changed() {
    let bed = Bed::new(&[("a.log", "one"), ("dist/x", "")]);
    let some = values(&[("files", text("*.log"))]);
    let work = bed.session().await;
    let preview = bed.preview("bulk-delete", &some).await;
    bed.put("later.log", "came later");
    let before = bed.files();
    let refused = work.run("bulk-delete", &some, &preview.token).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::NotNow);
    assert!(refused.message.ends_with("2 files instead of 1."), "{refused}");
    assert_eq!(bed.files(), before);
    // A plan that a client made up is no plan.
    let plan = WorkflowPlan {
        name: "x".into(),
        title: "x".into(),
        steps: vec![WorkflowStep::Call {
            tool: "run_command".into(),
            arguments: "{\"command\":\"rm a.log\"}".into(),
        }],
    };
    let request = Request::Submit {
        session: work.session.clone(),
        op: Op::RunWorkflow { plan },
    };
    let refused = bed.paddock.request(request).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::BadRequest);
    assert_eq!(bed.files(), before);
}

const OWN: &str = r#"
name = "greet"
[[parameter]]
name = "who"
kind = "text"
[[parameter]]
name = "file"
kind = "path"
[[step]]
kind = "command"
command = "printf '%s' {who} > greeting && cp -- {file} copy"
[[step]]
kind = "tool"
tool = "write_file"
arguments = { path = "note", content = "for {who}" }
"#;

async fn a_file_of_the_project() {
    let bed = Bed::new(&[("a", "A"), (".paddock/workflows/greet.toml", OWN)]);
    let who = "it's $(touch stolen) `touch stolen`\n; touch stolen #";
    let one_line = who.replace('\n', " ");
    let some = values(&[("who", text(&one_line)), ("file", text("a"))]);
    let mut work = bed.session().await;
    let refused = work.run("greet", &some, "x").await.unwrap_err();
    assert!(refused.message.contains("not switched on"), "{refused}");
    bed.review(".paddock/workflows/greet.toml").await.unwrap();
    let preview = bed.preview("greet", &some).await;
    work.run("greet", &some, &preview.token).await.unwrap();
    assert_eq!(work.end().await, WorkflowEnd::Completed);
    assert_eq!(bed.read("greeting"), one_line);
    assert_eq!(
        (bed.read("copy"), bed.read("note")),
        ("A".into(), format!("for {one_line}"))
    );
    assert!(!bed.path("stolen").exists());
    for (name, bad) in [
        ("who", who),
        ("file", "../project/a/../../x"),
        ("file", "/etc/passwd"),
    ] {
        let mut all = some.clone();
        all.insert(name.to_owned(), text(bad));
        assert_eq!(
            bed.preview("greet", &all).await.problems[0].parameter,
            name,
            "{bad}"
        );
    }
    bed.put(".paddock/workflows/greet.toml", &OWN.replace("copy", "other"));
    let refused = work.run("greet", &some, &preview.token).await.unwrap_err();
    assert!(refused.message.contains("not switched on"), "{refused}");
}

async fn a_role_of_the_project() {
    let file = "name = \"looker\"\nbase = \"plan\"\ntools = [\"read_file\"]\n[limits]\niterations = 3\n";
    let bed = Bed::new(&[(".paddock/roles/looker.toml", file)]);
    let work = bed.session().await;
    let request = || Request::UseRole {
        session: work.session.clone(),
        name: "looker".into(),
    };
    assert!(bed.paddock.request(request()).await.is_err());
    bed.review(".paddock/roles/looker.toml").await.unwrap();
    bed.paddock.request(request()).await.unwrap();
    let opened = Request::OpenSession {
        session: work.session.clone(),
    };
    let Reply::Session { snapshot } = bed.paddock.request(opened).await.unwrap() else {
        panic!()
    };
    let role = snapshot.config.own_role.unwrap();
    assert_eq!((role.name.as_str(), snapshot.config.role), ("looker", Role::Plan));
    assert!(role.has("read_file") && !role.has("list_files"));
    assert_eq!(snapshot.config.limits.iterations, 3);
}
