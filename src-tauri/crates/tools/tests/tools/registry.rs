use crate::support::Project;
use paddock_protocol::{Access, Role, Verb};
use paddock_tools::*;
use serde_json::{Value, json};

/// What a model is told of all tools. Every request carries it, so it is kept small: name, description and schema.
#[test]
fn what_a_model_is_told_is_small() {
    let specs = Registry::new().specs(Role::Act);
    let bytes: usize = specs
        .iter()
        .map(|(name, description, schema)| name.len() + description.len() + schema.to_string().len())
        .sum();
    assert!(bytes < 5_100, "{bytes} bytes");
    let specs: Vec<Value> = specs
        .into_iter()
        .map(|(name, description, parameters)| {
            json!({"type": "function", "function": {"name": name, "description": description, "parameters": parameters}})
        })
        .collect();
    let bytes = serde_json::to_string(&specs).unwrap().len();
    assert!(bytes < 6_600, "{bytes} bytes as a request carries them");
    insta::assert_snapshot!(serde_json::to_string_pretty(&specs).unwrap());
}

#[test]
fn a_role_decides_which_tools_exist() {
    let registry = Registry::new();
    let act = registry.names(Role::Act);
    assert_eq!(act, registry.names(Role::Admin));
    let plan = registry.names(Role::Plan);
    assert!(plan.contains(&"run_command") && plan.contains(&"read_file"));
    let missing: Vec<_> = act.iter().filter(|name| !plan.contains(name)).collect();
    assert_eq!(
        missing,
        [
            &"write_file",
            &"edit_file",
            &"apply_patch",
            &"move_file",
            &"delete_file",
            &"remember"
        ]
    );
    assert_eq!(registry.specs(Role::Plan).len(), plan.len());
}

#[test]
fn a_name_is_understood_when_it_is_clear() {
    let registry = Registry::new();
    for name in [
        "read_file",
        "functions.read_file",
        "default_api:read_file",
        "Read_File",
        " read_file ",
    ] {
        assert_eq!(
            registry.resolve(name).map(|tool| tool.name()),
            Some("read_file"),
            "{name}"
        );
    }
    for name in ["", "read", "functions.", "rename_file", "x.read_file"] {
        assert!(registry.resolve(name).is_none(), "{name}");
    }
    assert!(registry.get("Read_File").is_none());
}

#[tokio::test]
async fn what_changes_something_declares_it() {
    let project = Project::new(&[("a.txt", "old\n"), (".env", "A=1\n"), ("AGENTS.md", "x\n")]);
    let write = project
        .prepare("write_file", json!({"path": "b/c.txt", "content": "x"}))
        .await
        .unwrap();
    assert_eq!(
        write.access,
        [Access::Write {
            path: "b/c.txt".into()
        }]
    );
    assert_eq!((write.verb, write.target.as_str()), (Verb::Create, "b/c.txt"));
    let edit = json!({"path": "./a.txt", "old_text": "old", "new_text": "new"});
    let edit = project.prepare("edit_file", edit).await.unwrap();
    assert_eq!(
        (edit.verb, edit.access),
        (Verb::Edit, vec![Access::Write { path: "a.txt".into() }])
    );
    for (path, access) in [
        (".env", 2),
        ("AGENTS.md", 2),
        (".git/config", 2),
        ("x/.bashrc", 2),
        ("plain.md", 1),
    ] {
        let prepared = project
            .prepare("write_file", json!({"path": path, "content": "other"}))
            .await
            .unwrap();
        assert_eq!(prepared.access.len(), access, "{path}");
    }
    for (path, access) in [(".env", 2), ("AGENTS.md", 1), ("a.txt", 1)] {
        let prepared = project.prepare("read_file", json!({"path": path})).await.unwrap();
        assert_eq!(prepared.access.len(), access, "{path}");
    }
    let command = project
        .prepare("run_command", json!({"command": "ls | wc"}))
        .await
        .unwrap();
    assert_eq!(
        command.access,
        [Access::Exec {
            command: "ls | wc".into()
        }]
    );
    assert!(
        project.journal.lock().unwrap().is_empty(),
        "nothing is changed by preparing"
    );
}

#[tokio::test]
async fn tools_that_end_an_iteration_carry_what_they_say() {
    let project = Project::new(&[]);
    let ask = json!({"question": " Which? ", "options": ["a", "", "a", "b"]});
    let flow = project.prepare("ask_question", ask).await.unwrap().flow;
    assert_eq!(
        flow,
        Flow::Ask {
            question: "Which?".into(),
            options: vec!["a".into(), "b".into()]
        }
    );
    let flow = project
        .prepare("task_completion", json!({"result": "Done."}))
        .await
        .unwrap()
        .flow;
    assert_eq!(
        flow,
        Flow::Finish {
            result: "Done.".into()
        }
    );
    let flow = project
        .prepare("converse", json!({"message": "Hello"}))
        .await
        .unwrap()
        .flow;
    assert_eq!(
        flow,
        Flow::Say {
            message: "Hello".into()
        }
    );
    for (tool, arguments) in [
        ("ask_question", json!({"question": " "})),
        (
            "ask_question",
            json!({"question": "?", "options": ["1", "2", "3", "4", "5", "6", "7", "8", "9"]}),
        ),
        ("task_completion", json!({})),
        ("converse", json!({"text": "x"})),
    ] {
        assert!(
            matches!(
                project.prepare(tool, arguments).await,
                Err(ToolError::Arguments(_))
            ),
            "{tool}"
        );
    }
    let result = project.run("converse", json!({"message": "x"})).await;
    assert!(matches!(result, Err(ToolError::Fatal(_))));
}

#[tokio::test]
async fn no_path_leaves_the_project() {
    let project = Project::new(&[("a.txt", "x\n")]);
    std::fs::write(project.outside().join("secret.txt"), "secret").unwrap();
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(project.outside().join("secret.txt"), project.path("link.txt")).unwrap();
        std::os::unix::fs::symlink(project.outside(), project.path("up")).unwrap();
    }
    let absolute = project.outside().join("secret.txt").to_str().unwrap().to_owned();
    for path in [
        "../secret.txt",
        "a/../../secret.txt",
        absolute.as_str(),
        "link.txt",
        "up/secret.txt",
        "/etc/passwd",
    ] {
        for (tool, arguments) in [
            ("read_file", json!({"path": path})),
            ("list_files", json!({"path": path})),
            ("search_files", json!({"path": path, "pattern": "s"})),
            ("write_file", json!({"path": path, "content": "evil"})),
            (
                "edit_file",
                json!({"path": path, "old_text": "s", "new_text": "evil"}),
            ),
            ("run_command", json!({"command": "true", "folder": path})),
        ] {
            let text = project.fails(tool, arguments).await;
            let refused = ["leaves the project", "lies outside of the project"];
            assert!(
                refused.iter().any(|why| text.contains(why)),
                "{tool} {path}: {text}"
            );
        }
        for (tool, arguments) in [
            ("delete_file", json!({"path": path})),
            ("move_file", json!({"from": path, "to": "here"})),
            ("move_file", json!({"from": "a.txt", "to": path})),
        ] {
            let text = project.fails(tool, arguments).await;
            let refused = ["leaves the project", "is a link", "exists already"];
            assert!(
                refused.iter().any(|why| text.contains(why)),
                "{tool} {path}: {text}"
            );
        }
    }
    assert_eq!(
        std::fs::read_to_string(project.outside().join("secret.txt")).unwrap(),
        "secret"
    );
    assert!(project.path("a.txt").exists() && !project.path("here").exists());
}
