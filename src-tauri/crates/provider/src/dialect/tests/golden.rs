//! The prompt of a dialect, word for word, in every length.

use crate::dialect::prompt::prompt_within;
use crate::dialect::{PROMPT_LIMIT, PromptCache, Room, enhanced_prompt};
use crate::{ModelRequest, ToolSpec};
use paddock_protocol::{CallFormat, Millis};
use serde_json::json;
use std::sync::Arc;

/// A few tools as the program has them.
pub(crate) fn tools() -> Vec<ToolSpec> {
    let tool = |name: &str, description: &str, parameters| ToolSpec {
        name: name.into(),
        description: description.into(),
        parameters,
    };
    vec![
        tool(
            "read_file",
            "Reads a text file, at most 2000 lines at once. Each line comes as number, tab, text.\nFor a long file search first.",
            json!({"$schema": "x", "type": "object", "required": ["path"], "additionalProperties": false, "properties": {
                "path": {"type": "string", "description": "A path relative to the project, e.g. <src/main.rs>."},
                "from": {"type": ["integer", "null"], "description": "First line. Begins at 1.", "minimum": 1},
            }}),
        ),
        tool(
            "write_file",
            "Writes a whole file & makes its folders. Prefer small files.",
            json!({"type": "object", "required": ["path", "content"], "properties": {
                "path": {"type": "string", "description": "A path relative to the project."},
                "content": {"type": "string", "description": "The whole text."},
            }}),
        ),
        tool(
            "ask_question",
            "Asks the user and waits for the answer. Use it when you cannot decide yourself.",
            json!({"type": "object", "required": ["question"], "properties": {
                "question": {"type": "string"},
                "options": {"type": "array", "items": {"type": "string"}, "description": "Answers to choose from."},
                "description": {"type": "string", "description": "A property with the name of a keyword."},
            }}),
        ),
        tool(
            "task_completion",
            "Ends the turn. Say what was done.",
            json!({"type": "object", "required": ["result"], "properties": {"result": {"type": "string"}}}),
        ),
        tool(
            "list_files",
            "Lists the files of a folder.",
            json!({"type": "object", "properties": {}}),
        ),
    ]
}

#[test]
fn prompt_of_each_dialect() {
    for (name, format) in [("json", CallFormat::Json), ("xml", CallFormat::Xml)] {
        for (size, room) in [("", Room::Large), ("_small", Room::Small)] {
            let prompt = enhanced_prompt("Be brief.\n", &tools(), format, room);
            insta::assert_snapshot!(format!("prompt_{name}{size}"), prompt);
        }
    }
    assert_eq!(
        enhanced_prompt("Be brief.\n", &tools(), CallFormat::Native, Room::Large),
        "Be brief."
    );
    assert_eq!(
        enhanced_prompt("Be brief.", &[], CallFormat::Json, Room::Small),
        "Be brief."
    );
}

/// Each limit is one byte too small for the length before.
#[test]
fn what_a_dialect_adds_comes_before_the_project() {
    let project = "# Project\nlinux\n\n# Project\nof a guide";
    for (system, begin) in [
        (format!("Be brief.\n\n{project}\n"), "Be brief.\n\n# Tools"),
        (project.to_owned(), "# Tools"),
    ] {
        let prompt = enhanced_prompt(&system, &tools(), CallFormat::Json, Room::Small);
        assert!(prompt.starts_with(begin), "{prompt}");
        assert!(prompt.ends_with(&format!("\n\n{project}")), "{prompt}");
    }
}

#[test]
fn each_length_of_the_prompt() {
    let mut limit = PROMPT_LIMIT;
    let mut seen: Vec<String> = Vec::new();
    loop {
        let prompt = prompt_within("", &tools(), CallFormat::Json, Room::Large, limit);
        if seen.contains(&prompt) {
            break;
        }
        limit = prompt.len() - 1;
        seen.push(prompt);
    }
    // Four lengths, then one tool after the other; two are always there.
    assert_eq!(seen.len(), 4 + 3);
    for (stage, prompt) in seen.iter().enumerate().skip(1) {
        assert!(prompt.len() < seen[stage - 1].len());
        insta::assert_snapshot!(format!("prompt_shortened_{stage}"), prompt);
    }
    let last = seen.last().unwrap();
    assert!(last.contains("name=\"ask_question\"") && last.contains("name=\"task_completion\""));
}

#[test]
fn a_large_set_of_tools_fits_a_small_window() {
    let mut tools = tools();
    for n in 0..300 {
        let mut tool = tools[0].clone();
        tool.name = format!("server_tool_with_a_long_name_{n}");
        tools.push(tool);
    }
    for format in [CallFormat::Json, CallFormat::Xml] {
        let prompt = enhanced_prompt("", &tools, format, Room::Large);
        assert!(prompt.len() <= PROMPT_LIMIT, "{}", prompt.len());
        assert!(prompt.contains("name=\"ask_question\""));
        assert!(prompt.contains("more tools are not described here, because the list would be too long.\n"));
        let small = enhanced_prompt("", &tools, format, Room::Small);
        assert!(small.len() <= 5 * 1024, "{}", small.len());
        assert_eq!(small.matches("<tool_spec ").count(), 10);
    }
}

#[test]
fn a_prompt_is_built_again_only_when_something_changes() {
    let cache = PromptCache::default();
    let request = |system: &str, tools: Vec<ToolSpec>, format| ModelRequest {
        model: "m".into(),
        system: system.into(),
        messages: Vec::new(),
        tools: tools.into(),
        format,
        max_output: None,
        silence: Millis::seconds(1),
        record: None,
        effort: None,
        facts: Arc::default(),
        asked: None,
    };
    let first = cache.prompt(&request("A", tools(), CallFormat::Json));
    // Equal is enough, it need not be the same memory; other sessions may ask in between.
    let others = [
        request("B", tools(), CallFormat::Json),
        request("A", tools(), CallFormat::Xml),
        request("A", tools()[1..].to_vec(), CallFormat::Json),
    ];
    for other in &others {
        assert_ne!(cache.prompt(other), first);
    }
    assert!(Arc::ptr_eq(
        &cache.prompt(&request("A", tools(), CallFormat::Json)),
        &first
    ));
    for n in 0..20 {
        cache.prompt(&request(&n.to_string(), tools(), CallFormat::Json));
    }
    let again = cache.prompt(&request("A", tools(), CallFormat::Json));
    assert!(!Arc::ptr_eq(&again, &first) && again == first);
}
