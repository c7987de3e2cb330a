//! Tools that the loop carries out, and those of background processes where none runs.

use crate::support::Project;
use paddock_protocol::*;
use paddock_tools::*;
use serde_json::json;

#[tokio::test]
async fn update_plan_carries_the_whole_list() {
    let project = Project::new(&[]);
    let tasks = json!({"tasks": [
        {"text": " Read\nthe code ", "state": "done"},
        {"text": "Write", "state": "doing"},
        {"text": "Ask: not needed", "state": "dropped"},
        {"text": "Check", "state": "open"},
    ]});
    let prepared = project.prepare("update_plan", tasks).await.unwrap();
    assert_eq!(
        (prepared.verb, prepared.target.as_str()),
        (Verb::Plan, "1 of 4 tasks done")
    );
    assert!(prepared.access.is_empty());
    let Flow::Plan { tasks } = prepared.flow else {
        panic!("no plan")
    };
    let first = PlanTask {
        text: "Read the code".into(),
        state: TaskState::Done,
    };
    assert_eq!(tasks[0], first);
    let states: Vec<_> = tasks.iter().map(|task| task.state).collect();
    assert_eq!(
        states,
        [
            TaskState::Done,
            TaskState::Doing,
            TaskState::Dropped,
            TaskState::Open
        ]
    );
    let task = |state: &str| json!({"text": "x", "state": state});
    let many: Vec<_> = (0..41).map(|_| task("open")).collect();
    for (arguments, expected) in [
        (json!({}), "`tasks` is missing: 1 to 40"),
        (json!({"tasks": []}), "`tasks` has 0 tasks; 1 to 40 are possible"),
        (
            json!({"tasks": many}),
            "`tasks` has 41 tasks; 1 to 40 are possible",
        ),
        (
            json!({"tasks": ["x"]}),
            "`tasks` must be a list of objects, not a list: 1 to 40",
        ),
        (
            json!({"tasks": [task("open"), task("doing"), task("doing")]}),
            "`tasks` has 2 tasks that are `doing`; at most one at a time",
        ),
        (
            json!({"tasks": [task("open"), task("later")]}),
            "`tasks[1].state` must be one of `open`, `doing`, `done`, `dropped`, not text",
        ),
        (json!({"tasks": [{"text": "x"}]}), "`tasks[0].state` is missing"),
        (
            json!({"tasks": [{"text": "x", "state": "open", "id": 1}]}),
            "`tasks[0].id` is not known here; known: `text`, `state`",
        ),
        (
            json!({"tasks": [{"text": " ", "state": "open"}]}),
            "`tasks[0].text` has 0 characters; 1 to 300 are possible",
        ),
    ] {
        let error = project.prepare("update_plan", arguments).await.unwrap_err();
        assert!(matches!(error, ToolError::Arguments(_)));
        assert_eq!(error.to_string(), expected);
    }
    let text = json!({"tasks": json!([task("open")]).to_string()});
    assert!(
        project.prepare("update_plan", text).await.is_ok(),
        "a list inside of a text"
    );
}

#[tokio::test]
async fn delegate_carries_the_task() {
    let project = Project::new(&[]);
    let arguments = json!({"name": " find\nusages ", "task": "Find all.\nReturn paths.", "writes": true});
    let prepared = project.prepare("delegate", arguments).await.unwrap();
    assert_eq!(
        (prepared.verb, prepared.target.as_str()),
        (Verb::Delegate, "find usages")
    );
    let flow = Flow::Delegate {
        name: "find usages".into(),
        task: "Find all.\nReturn paths.".into(),
        writes: true,
    };
    assert_eq!(prepared.flow, flow);
    let looks = project
        .prepare("delegate", json!({"name": "a", "task": "b"}))
        .await
        .unwrap();
    assert!(matches!(looks.flow, Flow::Delegate { writes: false, .. }));
    for (arguments, expected) in [
        (json!({"name": "a", "task": " "}), "`task` is empty"),
        (
            json!({"name": "a"}),
            "`task` is missing: goal, what is known, where to look, what to return",
        ),
        (
            json!({"name": "a".repeat(41), "task": "b"}),
            "`name` has 41 characters; at most 40 are possible",
        ),
        (
            json!({"name": "a", "task": "b".repeat(20_001)}),
            "`task` has 20001 characters; at most 20000 are possible",
        ),
    ] {
        let error = project.prepare("delegate", arguments).await.unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
    let run = project.run("delegate", json!({"name": "a", "task": "b"})).await;
    assert!(matches!(run, Err(ToolError::Fatal(_))), "the loop carries it out");
}

#[tokio::test]
async fn an_unknown_process_is_said() {
    let project = Project::new(&[]);
    let stop = json!({"process": "p7"});
    assert_eq!(
        project.fails("stop_process", stop.clone()).await,
        "No background process `p7` runs, nor any other."
    );
    assert!(project.prepare("stop_process", stop).await.is_err());
    let read = project.fails("read_output", json!({"call": "p7"})).await;
    assert_eq!(read, "No background process `p7` runs, nor any other.");
    project
        .outputs
        .lock()
        .unwrap()
        .insert("t1.i2.c3".into(), b"1\n2\n3\n4\n".to_vec());
    let tail = project
        .says("read_output", json!({"call": "t1.i2.c3", "tail": 2}))
        .await;
    assert_eq!(tail, "3\t3\n4\t4\n");
    let both = json!({"call": "t1.i2.c3", "tail": 2, "from_line": 1});
    assert!(matches!(
        project.run("read_output", both).await,
        Err(ToolError::Arguments(_))
    ));
}
