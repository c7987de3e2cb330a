//! The schema of an answer, and which tools it names.

use super::golden::tools;
use crate::dialect::{Constraint, Reminder, Room, reminder, response_format};
use crate::{AgentPart, Asked, CallResult, Message, ModelRequest, ToolSpec};
use paddock_protocol::{CallFormat, Millis, ModelFacts};
use serde_json::{Value, json};
use std::sync::Arc;

fn tool(name: &str) -> ToolSpec {
    ToolSpec {
        name: name.into(),
        description: "Does it.".into(),
        parameters: json!({"type": "object"}),
    }
}

fn request(tools: Vec<ToolSpec>, messages: Vec<Message>) -> ModelRequest {
    ModelRequest {
        model: "m".into(),
        system: "".into(),
        messages,
        tools: tools.into(),
        format: CallFormat::Json,
        facts: Arc::default(),
        effort: None,
        max_output: None,
        silence: Millis::seconds(1),
        record: None,
        asked: None,
    }
}

fn user() -> Message {
    Message::User {
        text: "Go".into(),
        images: Vec::new(),
    }
}

/// What the person said in a turn in which something was called.
fn said(words: &str, is_changed: bool) -> Asked {
    Asked {
        words: words.into(),
        is_begun: true,
        is_changed,
    }
}

/// An answer with one call and its result.
fn called(name: &str, arguments: &str, ok: bool) -> [Message; 2] {
    let call = AgentPart::Call {
        id: "c".into(),
        name: name.into(),
        arguments: arguments.into(),
    };
    let result = CallResult {
        id: "c".into(),
        name: name.into(),
        text: "x".into(),
        ok,
        images: Vec::new(),
    };
    [
        Message::Agent { parts: vec![call] },
        Message::Results {
            results: vec![result],
        },
    ]
}

fn schema(request: &ModelRequest, constraint: Constraint) -> Value {
    let mut format = response_format(request, constraint).unwrap();
    assert_eq!(format["type"], "json_schema");
    format["json_schema"]["schema"].take()
}

/// Names of the tools that may be called, but for those of the first list.
fn offered(request: &ModelRequest) -> Vec<String> {
    let schema = schema(request, Constraint::AnyTool);
    let names = schema["properties"]["tool"]["enum"].as_array().unwrap();
    names
        .iter()
        .map(|name| name.as_str().unwrap().to_owned())
        .collect()
}

fn small(messages: Vec<Message>) -> Vec<String> {
    let names = [
        "list_files",
        "read_file",
        "edit_file",
        "run_command",
        "fetch_url",
        "task_completion",
    ];
    offered(&request(names.map(tool).to_vec(), messages))
}

#[test]
fn each_tool_has_its_parameters() {
    let mut request = request(tools(), vec![user()]);
    request.facts = Arc::new(ModelFacts {
        window: Some(200_000),
        ..ModelFacts::default()
    });
    let schema = schema(&request, Constraint::EachTool);
    let calls = schema["anyOf"].as_array().unwrap();
    assert_eq!(calls.len(), tools().len());
    assert_eq!(
        calls[0],
        json!({
            "type": "object",
            "properties": {
                "tool": {"const": "read_file"},
                "parameters": {
                    "type": "object",
                    "required": ["path"],
                    "additionalProperties": false,
                    "properties": {"path": {"type": "string"}, "from": {"type": ["integer", "null"], "minimum": 1}},
                },
                "terminate": {"type": "boolean"},
            },
            "required": ["tool", "parameters", "terminate"],
            "additionalProperties": false,
        })
    );
    let asks = &calls[2]["properties"]["parameters"]["properties"];
    assert!(
        asks["description"].is_object(),
        "a property may be named so: {asks}"
    );
}

#[test]
fn in_a_small_room_only_the_end_terminates() {
    let messages = [vec![user()], called("list_files", "{}", true).to_vec()].concat();
    let schema = schema(&request(tools(), messages), Constraint::EachTool);
    for call in schema["anyOf"].as_array().unwrap() {
        let fields = &call["properties"];
        let is_end = fields["tool"]["const"] == "task_completion";
        assert_eq!(fields["terminate"], json!({ "const": is_end }), "{fields}");
    }
}

#[test]
fn a_refused_schema_is_widened_and_then_left_out() {
    let request = request(tools(), vec![user()]);
    let wider = Constraint::EachTool.wider();
    assert_eq!(
        schema(&request, wider)["properties"]["parameters"],
        json!({"type": "object"})
    );
    assert_eq!(wider.wider(), Constraint::None);
    assert_eq!(response_format(&request, Constraint::None), None);
}

#[test]
fn only_calls_in_json_are_constrained() {
    for format in [CallFormat::Native, CallFormat::Xml] {
        let request = ModelRequest {
            format,
            ..request(tools(), vec![user()])
        };
        assert_eq!(response_format(&request, Constraint::EachTool), None);
    }
    // The last words of a turn have no tools; a model that reasons has to be free to.
    assert_eq!(
        response_format(&request(Vec::new(), vec![user()]), Constraint::EachTool),
        None
    );
    let mut reasons = request(tools(), vec![user()]);
    reasons.facts = Arc::new(ModelFacts {
        reasoning: Some(true),
        ..ModelFacts::default()
    });
    assert_eq!(response_format(&reasons, Constraint::EachTool), None);
}

#[test]
fn a_small_model_looks_first() {
    assert_eq!(small(vec![user()]), ["list_files", "read_file"]);
    let looked = called("list_files", "{}", true);
    let later = small([vec![user()], looked.to_vec(), vec![user()]].concat());
    assert!(later.contains(&"edit_file".to_owned()) && later.contains(&"run_command".to_owned()));
}

#[test]
fn what_failed_or_was_done_twice_is_not_offered_at_once() {
    let after = |rounds: &[[Message; 2]]| small([vec![user()], rounds.concat()].concat());
    let has = |names: &[String], name: &str| names.iter().any(|offered| offered == name);

    let failed = after(&[called("run_command", "{}", false)]);
    assert!(!has(&failed, "run_command") && has(&failed, "read_file"));
    assert!(!has(&failed, "list_files"), "it has just said what is wrong");
    let edit = called("edit_file", "{}", false);
    assert!(
        has(&after(std::slice::from_ref(&edit)), "edit_file"),
        "it is told how"
    );
    let twice = [edit, called("edit_file", "[2]", false)];
    assert!(!has(&after(&twice), "edit_file"));
    let again = [twice.concat(), called("read_file", "{}", true).to_vec()].concat();
    assert!(has(&small([vec![user()], again].concat()), "edit_file"));

    let twice = after(&[called("read_file", "{}", true), called("read_file", "{}", true)]);
    assert!(!has(&twice, "read_file") && has(&twice, "edit_file"));
    let other = after(&[
        called("read_file", "{}", true),
        called("read_file", "{\"path\":\"b\"}", true),
    ]);
    assert!(has(&other, "read_file"));

    let turns = [called("list_files", "{}", true), called("read_file", "{}", true)];
    let circle = after(&[turns.clone(), turns.clone()].concat());
    assert_eq!(
        circle,
        ["edit_file", "run_command", "fetch_url", "task_completion"]
    );
    let changed = [
        turns[1].clone(),
        called("edit_file", "{}", true),
        turns[1].clone(),
    ];
    assert!(has(&after(&changed), "read_file"), "a change is looked at again");

    let ended = after(&[called("task_completion", "{}", false)]);
    assert!(has(&ended, "task_completion"), "without it a turn does not end");
}

/// Whether the end and a question are offered after these answers to what a person said.
fn may_end(asked: &str, rounds: &[[Message; 2]]) -> bool {
    let names = [
        "read_file",
        "edit_file",
        "run_command",
        "ask_question",
        "task_completion",
    ];
    let mut request = request(names.map(tool).to_vec(), [vec![user()], rounds.concat()].concat());
    request.asked = Some(said(asked, false));
    let offered = offered(&request);
    let has = |name: &str| offered.iter().any(|offered| offered == name);
    assert_eq!(has("ask_question"), has("task_completion"), "{offered:?}");
    has("task_completion")
}

#[test]
fn a_turn_ends_after_a_change_or_some_looks() {
    let look = |n: usize| called("read_file", &format!("[{n}]"), true);
    let looks = |count: usize| (0..count).map(look).collect::<Vec<_>>();
    assert!(!may_end("Do it.", &looks(3)) && may_end("Do it.", &looks(4)));
    assert!(may_end("Which is it? ", &looks(1)), "a look may be an answer");
    let changed = [look(0), called("edit_file", "{}", true)];
    assert!(may_end("Do it.", &changed));
    let of_next_turn = [changed.concat(), called("task_completion", "{}", true).to_vec()].concat();
    let pairs = of_next_turn
        .chunks(2)
        .map(|pair| [pair[0].clone(), pair[1].clone()]);
    let next: Vec<[Message; 2]> = pairs.chain(looks(1)).collect();
    assert!(!may_end("Do more.", &next), "a change of the turn before");
}

#[test]
fn a_failure_is_no_end_unless_it_comes_again() {
    let edited = called("edit_file", "{}", true);
    let check = called("run_command", "{}", false);
    let look = called("read_file", "{}", true);
    assert!(!may_end("Do it.", &[edited.clone(), check.clone()]));
    assert!(!may_end("Is it so?", std::slice::from_ref(&check)));
    let again = [edited.clone(), check.clone(), look.clone(), check.clone()];
    assert!(may_end("Do it.", &again), "nothing was changed since");
    let changed = [check.clone(), edited, check];
    assert!(!may_end("Do it.", &changed), "a change has to show");
    let many: Vec<_> = (0..5)
        .map(|n| called("run_command", &format!("[{n}]"), false))
        .collect();
    assert!(!may_end("Do it.", &many[..4]) && may_end("Do it.", &many));
    assert!(may_end("Do it.", &[look, called("task_completion", "{}", false)]));
}

#[test]
fn a_small_model_is_told_again_what_was_asked() {
    let tools = || vec![tool("read_file"), tool("edit_file"), tool("task_completion")];
    let after = |words: &str, is_changed: bool, rounds: &[[Message; 2]]| ModelRequest {
        asked: Some(said(words, is_changed)),
        ..request(tools(), [vec![user()], rounds.concat()].concat())
    };
    let look = called("read_file", "{}", true);
    let edit = |ok| called("edit_file", "{}", ok);
    let looked = after("Do it.", false, std::slice::from_ref(&look));
    assert_eq!(reminder(&looked), Some(Reminder::Unchanged));
    let ran = after(
        "Do it.",
        false,
        &[look.clone(), called("run_command", "{}", true)],
    );
    assert_eq!(reminder(&ran), Some(Reminder::UnchangedMayEnd));
    let changed = after("Do it.", true, &[edit(true)]);
    assert_eq!(reminder(&changed), Some(Reminder::GoOn));

    let asked = after("Is it so?", false, std::slice::from_ref(&look));
    assert_eq!(reminder(&asked), None, "a look may be an answer");
    let asked = after("Is it so?", false, &[edit(false)]);
    assert_eq!(reminder(&asked), Some(Reminder::GoOn));

    let mut begins = looked.clone();
    begins.asked = Some(Asked {
        is_begun: false,
        ..said("Do it.", false)
    });
    let mut native = looked.clone();
    native.format = CallFormat::Native;
    let mut large = looked.clone();
    large.facts = Arc::new(ModelFacts {
        window: Some(128_000),
        ..ModelFacts::default()
    });
    let mut last_words = looked.clone();
    last_words.tools = Arc::default();
    let mut untold = looked;
    untold.asked = None;
    for request in [begins, native, large, last_words, untold] {
        assert_eq!(reminder(&request), None);
    }
}

#[test]
fn a_search_is_not_followed_by_the_same_search_tool() {
    let after = |rounds: &[[Message; 2]]| small([vec![user()], rounds.concat()].concat());
    let listed = called("list_files", "{}", true);
    assert!(!after(std::slice::from_ref(&listed)).contains(&"list_files".to_owned()));
    let read = [listed, called("read_file", "{}", true)];
    assert!(after(&read).contains(&"list_files".to_owned()));
}

#[test]
fn a_role_with_little_else_is_offered_what_it_has() {
    let request = request(vec![tool("fetch_url"), tool("task_completion")], vec![user()]);
    assert_eq!(offered(&request), ["fetch_url", "task_completion"]);
}

#[test]
fn a_large_window_is_offered_everything() {
    let names = ["edit_file", "fetch_url", "delegate"].map(tool).to_vec();
    let mut request = request(
        names,
        [vec![user()], called("edit_file", "{}", false).to_vec()].concat(),
    );
    request.facts = Arc::new(ModelFacts {
        window: Some(128_000),
        ..ModelFacts::default()
    });
    assert_eq!(offered(&request), ["edit_file", "fetch_url", "delegate"]);
    assert_eq!(Room::of(Some(32_768)), Room::Small);
    assert_eq!(Room::of(None), Room::Small);
}
