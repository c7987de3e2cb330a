use super::*;

const TOOLS: [&str; 3] = ["read_file", "write_file", "list_files"];

/// The calls as `name arguments`, with `!` and the problem at the end.
fn read(text: &str) -> Vec<String> {
    let found = read_text_calls(text, &TOOLS);
    let calls = found
        .calls
        .iter()
        .map(|call| format!("{} {}", call.name, call.arguments));
    calls
        .chain(found.problem.map(|problem| format!("! {problem}")))
        .collect()
}

#[test]
fn rule_1_reasoning_is_no_call() {
    let call = r#"{"tool":"list_files"}"#;
    assert_eq!(read(&format!("<think>{call}</think>\n{call}")), ["list_files {}"]);
    assert_eq!(read(&format!("I could\n{call}\n</think>\nDone.")), [""; 0]);
    assert_eq!(
        read(&format!("<think>I call\n{call}")),
        ["! there is only reasoning, no answer and no call after it"]
    );
}

#[test]
fn rule_2_a_call_begins_a_line_or_fills_a_fence() {
    for text in [
        r#"{"tool":"read_file","parameters":{"path":"a"}}"#,
        "\u{feff}  {\"tool\":\"read_file\",\"parameters\":{\"path\":\"a\"}}",
        "I look.\n{\"tool\":\"read_file\",\"parameters\":{\"path\":\"a\"}}\nThat was it.",
        "```json\n{\"tool\":\"read_file\",\"parameters\":{\"path\":\"a\"}}\n```",
        "```\n{\"tool\":\"read_file\",\"parameters\":{\"path\":\"a\"}}\n```",
        "Text\n~~~tool\n{\"tool\":\"read_file\",\"parameters\":{\"path\":\"a\"}}\n~~~\nText",
    ] {
        assert_eq!(read(text), [r#"read_file {"path":"a"}"#], "{text}");
    }
}

#[test]
fn rule_3_tags_count_outside_of_fences() {
    let xml =
        "<tool>{\"server_name\":\"local\",\"tool_name\":\"read_file\",\"arguments\":{\"path\":\"a\"}}</tool>";
    assert_eq!(read(xml), [r#"read_file {"path":"a"}"#]);
    assert_eq!(read(&format!("I look.\n{xml}")), [r#"read_file {"path":"a"}"#]);
    assert_eq!(
        read(&format!("```xml\n{xml}\n```")),
        [r#"read_file {"path":"a"}"#]
    );
    assert_eq!(read(&format!("So:\n```xml\n{xml}\n```")), [""; 0]);
}

#[test]
fn rule_4_quotations_are_no_calls() {
    for text in [
        "Write `{\"tool\":\"list_files\"}` to see them.",
        "`{\"tool\":\"list_files\"}`",
        "> {\"tool\":\"list_files\"}",
        "```python\n{\"tool\":\"list_files\"}\n```",
        "````\n```json\n{\"tool\":\"list_files\"}\n```\n````",
        "````markdown\n{\"tool\":\"list_files\"}\n````",
        "The object {\"tool\":\"list_files\"} lists.",
        "Use <tool>{\"tool\":\"list_files\"}</tool> for it.",
        "{\"example\":\n{\"tool\":\"list_files\"}\n}",
        "{\"text\":\"\n{\\\"tool\\\":\\\"list_files\\\"}\"}",
    ] {
        assert_eq!(read(text), [""; 0], "{text}");
    }
    let nested = r#"{"tool":"write_file","parameters":{"path":"a","content":"```json\n{\"tool\":\"list_files\"}\n```\n</tool>"}}"#;
    assert_eq!(read(nested).len(), 1);
}

#[test]
fn rule_5_the_object_ends_where_its_json_ends() {
    let call =
        r#"<tool>{"tool":"write_file","parameters":{"path":"a","content":"x</tool>\n``` } {"}}</tool>"#;
    assert_eq!(
        read(call),
        [r#"write_file {"path":"a","content":"x</tool>\n``` } {"}"#]
    );
}

#[test]
fn rule_6_a_missing_end_mark_is_fine_and_a_missing_end_is_not() {
    for text in [
        "<tool>{\"tool\":\"list_files\"}",
        "<tool>{\"tool\":\"list_files\"}</tol>",
        "```json\n{\"tool\":\"list_files\"}",
        "```json\n{\"tool\":\"list_files\"}\n~~~",
    ] {
        assert_eq!(read(text), ["list_files {}"], "{text}");
    }
    for text in [
        "{\"tool\":\"write_file\",\"parameters\":{\"path\":\"a\",\"content\":\"half",
        "<tool>{\"tool\":\"list_files\"",
        "```json\n{\"tool\":\"list_files\",\n```",
    ] {
        let found = read_text_calls(text, &TOOLS);
        assert!(found.calls.is_empty() && found.problem.is_some(), "{text}");
    }
    let cut = "{\"tool\":\"write_file\",\"parameters\":{\"path\":\"a\",\"content\":\"half";
    assert_eq!(
        read_text_calls(cut, &TOOLS).problem,
        Some(TextCallProblem::Truncated)
    );
}

#[test]
fn rule_7_repairs_stay_outside_of_strings() {
    for (text, call) in [
        (
            "{'tool': 'read_file', 'parameters': {'path': 'a',},}",
            r#"read_file {"path":"a"}"#,
        ),
        (
            "{\"tool\": \"list_files\", // all of them\n \"terminate\": False}",
            "list_files {}",
        ),
        ("{“tool”: “list_files”}", "list_files {}"),
        (
            "{\"tool\":\"write_file\",\"parameters\":{\"content\":\"a\n\tb\"}}",
            r#"write_file {"content":"a\n\tb"}"#,
        ),
        (
            r#"{'tool':'write_file','parameters':{"content":"“x”, &amp; // True,}"}}"#,
            r#"write_file {"content":"“x”, &amp; // True,}"}"#,
        ),
    ] {
        assert_eq!(read(text), [call], "{text}");
    }
}

#[test]
fn rule_8_backslashes_are_never_dropped() {
    let found = read_text_calls(
        r#"{"tool":"read_file","parameters":{"path":"C:\Users\me"}}"#,
        &TOOLS,
    );
    assert!(found.calls.is_empty());
    assert!(matches!(found.problem, Some(TextCallProblem::Invalid(reason)) if reason.contains("backslash")));
}

#[test]
fn rule_9_entities_once_and_only_where_needed() {
    assert_eq!(
        read(
            "<tool>{&quot;tool&quot;:&quot;read_file&quot;,&quot;parameters&quot;:{&quot;path&quot;:&quot;a&amp;amp;b&quot;}}</tool>"
        ),
        [r#"read_file {"path":"a&amp;b"}"#]
    );
    assert_eq!(
        read(r#"<tool>{"tool":"read_file","parameters":{"path":"a&lt;b"}}</tool>"#),
        [r#"read_file {"path":"a&lt;b"}"#]
    );
    assert_eq!(
        read("<tool><![CDATA[{\"tool\":\"list_files\"}]]></tool>"),
        ["list_files {}"]
    );
}

#[test]
fn rule_10_parameters_in_all_their_forms() {
    for (text, call) in [
        (r#"{"tool":"list_files"}"#, "list_files {}"),
        (r#"{"tool":"list_files","parameters":null}"#, "list_files {}"),
        (
            r#"{"tool":"read_file","parameters":"{\"path\":\"a\"}"}"#,
            r#"read_file {"path":"a"}"#,
        ),
        (
            r#"{"name":"read_file","arguments":{"path":"a"}}"#,
            r#"read_file {"path":"a"}"#,
        ),
        (
            r#"{"tool_name":"read_file","input":{"path":"a"}}"#,
            r#"read_file {"path":"a"}"#,
        ),
        (
            r#"{"type":"function","function":{"name":"read_file","arguments":"{\"path\":\"a\"}"}}"#,
            r#"read_file {"path":"a"}"#,
        ),
    ] {
        assert_eq!(read(text), [call], "{text}");
    }
    assert_eq!(read(r#"{"name":"someone","arguments":{}}"#), [""; 0]);
    assert_eq!(read(r#"{"name":"read_file"}"#), [""; 0]);
    let found = read_text_calls(r#"{"tool":"list_files","terminate":true}"#, &TOOLS);
    assert_eq!(found.calls[0].terminate, Some(true));
}

#[test]
fn rule_11_several_calls_in_order_and_no_invented_results() {
    assert_eq!(
        read("{\"tool\":\"list_files\"}\n{\"tool\":\"read_file\",\"parameters\":{\"path\":\"a\"}}"),
        ["list_files {}", r#"read_file {"path":"a"}"#]
    );
    assert_eq!(
        read("```json\n[{\"tool\":\"list_files\"}, {\"tool\":\"read_file\"}]\n```"),
        ["list_files {}", "read_file {}"]
    );
    for invented in [
        "Tool result: a.rs",
        "<tool_result>a</tool_result>",
        "Observation: a.rs",
    ] {
        let text = format!("{{\"tool\":\"list_files\"}}\n{invented}\n{{\"tool\":\"read_file\"}}");
        assert_eq!(read(&text), ["list_files {}"], "{text}");
    }
}

#[test]
fn rule_12_unknown_tools_are_errors_and_other_objects_are_text() {
    assert_eq!(
        read(r#"{"tool":"make_coffee"}"#),
        ["! there is no tool named make_coffee"]
    );
    assert_eq!(read(r#"{"a":1}"#), [""; 0]);
    assert_eq!(read("[1, 2]"), [""; 0]);
    assert_eq!(read("Just text."), [""; 0]);
    assert_eq!(read(""), [""; 0]);
}

#[test]
fn rule_13_a_stop_sequence_may_have_taken_the_end_mark() {
    assert_eq!(
        read("I look.\n<tool>\n{\"tool\":\"list_files\"}\n"),
        ["list_files {}"]
    );
}

#[test]
fn prose_is_noticed() {
    for (text, has_prose) in [
        ("{\"tool\":\"list_files\"}\n", false),
        ("```json\n{\"tool\":\"list_files\"}\n```\n", false),
        ("I look.\n{\"tool\":\"list_files\"}", true),
        ("{\"tool\":\"list_files\"} is the call", true),
        ("{\"tool\":\"list_files\"}\nDone.", true),
    ] {
        assert_eq!(read_text_calls(text, &TOOLS).has_prose, has_prose, "{text}");
    }
}

#[test]
fn no_text_is_too_odd_to_be_read() {
    let pieces = [
        "{",
        "}",
        "\"tool\"",
        ":",
        "\"list_files\"",
        "```",
        "\n",
        "<tool>",
        "</tool>",
        "[",
        "]",
        ",",
        "ü",
        "<think>",
        "</think>",
        "'",
        "&quot;",
        "\\",
    ];
    let mut seed = 7_u64;
    for _ in 0..20_000 {
        let text: String = (0..12)
            .map(|_| {
                seed = seed
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                pieces[(seed >> 33) as usize % pieces.len()]
            })
            .collect();
        read_text_calls(&text, &TOOLS);
    }
}

#[test]
fn quotations_over_several_lines_are_no_calls() {
    let call = r#"{"tool":"list_files"}"#;
    for text in [
        // Reasoning in the middle of an answer, closed or not.
        format!("Well.\n<think>\n{call}\n</think>\nYes."),
        format!("Well.\n<thinking>I\n{call}"),
        // A fence within a longer one, behind a value that is no call.
        format!("````\n{{\"a\":1}}\n```json\n{call}\n```\n````"),
        format!("```json\n{{\"a\":1}}\n{call}\n```"),
        // The rest of a line that began with a value.
        format!("[ ] {call}"),
        format!("{{\"a\":1}} {call}"),
        // Code and brackets that began in the line before.
        format!("Write `\n{call}\n` so."),
        format!("For example [1,\n{call}\n]"),
        format!("fn main() {{\n{call}\n}}"),
        // One element that is no call.
        format!("[{call},\n1]"),
        format!("```xml\n<tool>{call}</tool>\n```\nThat is how it looks."),
    ] {
        assert_eq!(read(&text), [""; 0], "{text}");
    }
    // A blank line ends what was open by mistake.
    for text in [
        format!("Press the ` key.\n\n{call}"),
        format!("I am sad :[\n\n{call}"),
        format!("So `a` and [b](c):\n{call}"),
    ] {
        assert_eq!(read(&text), ["list_files {}"], "{text}");
    }
}

#[test]
fn what_is_between_tags_was_meant_as_a_call() {
    assert_eq!(
        read("<tool>{\"a\":1}</tool>"),
        ["! the object between the tags names no tool"]
    );
    assert_eq!(
        read("<tool>{\"name\":\"make_tea\",\"arguments\":{}}</tool>"),
        ["! there is no tool named make_tea"]
    );
    assert_eq!(read("<tool> is a tag"), [""; 0]);
}

#[test]
fn a_tool_of_a_server_is_never_one_of_the_program() {
    let call =
        |server: &str| format!("<tool>{{\"server_name\":\"{server}\",\"tool_name\":\"list_files\"}}</tool>");
    let names = |server: &str, tools: &[&str]| {
        let found = read_text_calls(&call(server), tools);
        found.calls.into_iter().map(|call| call.name).collect::<Vec<_>>()
    };
    assert_eq!(names("local", &TOOLS), ["list_files"]);
    assert_eq!(names("", &TOOLS), ["list_files"]);
    assert_eq!(names("disk", &TOOLS), [""; 0]);
    assert_eq!(
        names("disk", &["list_files", "disk__list_files"]),
        ["disk__list_files"]
    );
    assert_eq!(
        read(&call("disk")),
        ["! there is no tool named list_files on the server disk"]
    );
}

#[test]
fn nothing_of_a_call_is_left_as_text() {
    for text in [
        "<tool>{\"tool\":\"list_files\"}</tol>\n",
        "{\"tool\":\"list_files\"}</tool>",
        "<tool_call>{\"tool\":\"list_files\"}</tool> ,\n",
        "```json\n{\"tool\":\"list_files\"}```",
    ] {
        let found = read_text_calls(text, &TOOLS);
        assert_eq!(
            (found.calls.len(), found.has_prose, found.problem),
            (1, false, None),
            "{text}"
        );
    }
}

#[test]
fn repairs_never_complete_or_drop_anything() {
    // The entities would close the string that was cut.
    assert_eq!(
        read("<tool>{\"tool\":\"write_file\",\"parameters\":{\"content\":\"say &quot;}}</tool>"),
        ["! the call ends in the middle of its object"]
    );
    let kept = r#"{"tool":"read_file","parameters":{"path":"it\'s"}}"#;
    assert!(matches!(
        read_text_calls(kept, &TOOLS).problem,
        Some(TextCallProblem::Invalid(_))
    ));
}

/// The words that go to a model show a call that is read.
#[test]
fn the_form_is_one_that_is_read() {
    for format in [CallFormat::Json, CallFormat::Xml] {
        let words = form(format)
            .replace('…', "")
            .replace("\"name\"", "\"list_files\"");
        let shown = words
            .split(", one complete")
            .next()
            .and_then(|words| words.split(", with one").next());
        let found = read_text_calls(shown.unwrap(), &TOOLS);
        assert_eq!((found.calls.len(), found.has_prose), (1, false), "{words}");
    }
}

mod constraint;
mod golden;
mod live;
mod property;
