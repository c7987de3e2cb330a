//! What must hold for every text.

use super::live::{TOOLS, characters, events};
use crate::ModelEvent;
use crate::dialect::{TextPart, read_answer, read_text_calls};
use proptest::prelude::*;

/// Calls in every form that is run, each in a line of its own; `marker` is an argument of one.
fn call(form: usize, marker: &str) -> String {
    let object =
        format!("{{\"tool\":\"read_file\",\"parameters\":{{\"path\":\"{marker}\"}},\"terminate\":false}}");
    match form % 8 {
        0 => object,
        1 => format!(
            "<tool>{{\"server_name\":\"local\",\"tool_name\":\"read_file\",\"arguments\":{{\"path\":\"{marker}\"}}}}</tool>"
        ),
        2 => format!("```json\n{object}\n```"),
        3 => format!("  {object},"),
        4 => format!(
            "[{object},\n {{\"name\":\"write_file\",\"arguments\":{{\"content\":\"a }} \\\" ``` </tool> b\"}}}}]"
        ),
        5 => format!(
            "{{'tool': 'read_file', 'parameters': {{'path': '{marker}',}}, // so\n 'terminate': False}}"
        ),
        6 => format!("~~~\n{object}\n{{\"tool\":\"list_files\"}}\n~~~"),
        _ => format!(
            "<tool_call>\n{{\"arguments\":{{\"path\":\"{marker}\"}},\"name\":\"read_file\"}}\n</tool_call>"
        ),
    }
}

/// Texts that hold a call only as a quotation, or none.
fn quotation(form: usize) -> String {
    let object = "{\"tool\":\"read_file\",\"parameters\":{\"path\":\"quoted\"}}";
    match form % 18 {
        0 => format!("Write `{object}` to read."),
        1 => format!("> {object}"),
        2 => format!("```python\n{object}\n```"),
        3 => format!("````\n```json\n{object}\n```\n````"),
        4 => format!("The object {object} reads."),
        5 => format!("Text and <tool>{object}</tool> in it."),
        6 => format!("{{\"example\": {object}}}"),
        7 => format!("{{\"text\": \"a\n{}\n\"}}", object.replace('"', "\\\"")),
        8 => format!("So:\n```xml\n<tool>{object}</tool>\n```"),
        9 => format!("[ ] {object}"),
        10 => format!("````json\n{{\"a\": 1}}\n```json\n{object}\n```\n````"),
        11 => format!("1. {object}\n- {object}\n* {object}"),
        12 => "fn main() {\n    println!(\"{}\", x);\n}\n\n[link](x) and **bold**".into(),
        13 => format!("`\n{object}\n`, or: [1,\n{object}\n]"),
        15 => format!("So.\n<thinking>\n{object}\n</thinking>\nYes."),
        16 => format!("```xml\n<tool>{object}</tool>\n```\nThat is how it looks."),
        14 => format!("<!-- {object} -->\n| {object} |"),
        _ => format!("[{object}, {{\"a\": 1}}]"),
    }
}

/// Ordinary prose with all kinds of marks, but no line that begins a value or a fence.
fn prose() -> impl Strategy<Value = String> {
    proptest::collection::vec("[a-zäß,.;:(){}\\[\\]\"'<>/\\\\ #*_|-]{0,24}", 1..4).prop_map(|lines| {
        let lines: Vec<String> = lines.iter().map(|line| format!("x{line}")).collect();
        lines.join("\n")
    })
}

fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        2 => prose(),
        2 => (0..18_usize).prop_map(quotation),
        3 => (0..8_usize).prop_map(|form| call(form, "MARKER")),
        1 => prop::sample::select(vec![
            "Tool result: a", "</think>", "<think>", "```", "~~~~", "{", "[", "<tool>", "</tool>", "{\"tool\":", "`", "&quot;", "  ", "",
            "{\"tool\":\"nothing\"}", "<tool>{\"a\":1}</tool>", "<tool>{&quot;tool&quot;:&quot;list_files&quot;}</tool>", "{\"a\" /",
        ])
        .prop_map(str::to_owned),
    ]
}

fn message() -> impl Strategy<Value = String> {
    (
        proptest::collection::vec(
            (piece(), prop::sample::select(vec!["\n", "\n\n", "\r\n", " "])),
            1..6,
        ),
        0..5_usize,
    )
        .prop_map(|(pieces, cut)| {
            let pieces = pieces.into_iter().enumerate();
            let mut text: String = pieces
                .map(|(n, (piece, end))| piece.replace("MARKER", &format!("m{n}m")) + end)
                .collect();
            let keep = text.chars().count().saturating_sub(cut * 3);
            text = text.chars().take(keep).collect();
            text
        })
}

/// Without what streams of a call that turns out to be broken: how much of it came before the mistake is chance.
fn steady(text: &str, mut events: Vec<ModelEvent>) -> Vec<ModelEvent> {
    if read_text_calls(text, &TOOLS).problem.is_some() {
        events.retain(|event| !matches!(event, ModelEvent::CallArguments { .. }));
    }
    events
}

fn texts(events: &[ModelEvent]) -> String {
    let texts = events.iter().filter_map(|event| match event {
        ModelEvent::Text(text) => Some(text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\u{1}")
}

proptest! {
    /// However the text is cut, the same is shown.
    #[test]
    fn any_split_shows_the_same(text in message(), cuts in proptest::collection::vec(0..400_usize, 0..6)) {
        let single = steady(&text, events(characters(&text)));
        prop_assert_eq!(&steady(&text, events([text.as_str()])), &single);
        let mut places: Vec<usize> = cuts.into_iter().filter(|at| text.is_char_boundary(*at) && *at <= text.len()).collect();
        places.extend([0, text.len()]);
        places.sort_unstable();
        let pieces: Vec<&str> = places.windows(2).map(|pair| &text[pair[0]..pair[1]]).collect();
        prop_assert_eq!(&steady(&text, events(pieces)), &single);
    }

    /// What is shown as text is no part of a call that runs; and without reasoning it is the text of the answer, exactly.
    #[test]
    fn shown_text_is_prose(text in message()) {
        let live = events(characters(&text));
        let shown = texts(&live);
        let has_tags = text.contains("think>");
        for call in read_text_calls(&text, &TOOLS).calls {
            let marker = (0..6).map(|n| format!("m{n}m")).find(|marker| call.arguments.contains(marker));
            prop_assert!(!marker.is_some_and(|marker| shown.contains(&marker)), "{shown}");
        }
        if !has_tags {
            let parts = read_answer(&text, &TOOLS);
            let prose: Vec<&str> = parts.iter().filter_map(|part| match part {
                TextPart::Prose(text) => Some(text.as_str()),
                _ => None,
            }).collect();
            let shown: String = shown.replace('\u{1}', "");
            prop_assert_eq!(shown, prose.concat());
        }
    }

    /// Without a complete call nothing runs.
    #[test]
    fn no_text_without_a_complete_call_runs_anything(
        pieces in proptest::collection::vec(prop_oneof![prose(), (0..18_usize).prop_map(quotation)], 0..5),
        cut in prop::option::of((0..8_usize, 0..1_000_usize)),
    ) {
        // A blank line between them, so that one does not become part of the other.
        let mut text: String = pieces.into_iter().map(|piece| piece + "\n\n").collect();
        if let Some((form, at)) = cut {
            let whole = call(form, "a");
            let end = object_end(&whole);
            let at = at % end;
            text.push_str(&whole[..at]);
        }
        let found = read_text_calls(&text, &TOOLS);
        prop_assert!(found.calls.is_empty(), "{text}\n{:?}", found.calls);
    }

    /// Any soup of the marks of the grammar: what runs stands complete in the text.
    #[test]
    fn what_runs_was_written(pieces in proptest::collection::vec(prop::sample::select(vec![
        "{", "}", "[", "]", ":", ",", "\"tool\"", "\"parameters\"", "\"list_files\"", "\"a\\\\\"", "\n", "\n", " ", "```", "json\n", "<tool>", "</tool>", "<think>",
        "</think>", "'", "\u{201c}", "\u{201d}", "//", "&quot;", "\\", "{\"tool\":\"list_files\"}", "`", "> ", "ü", "<![CDATA[", "]]>",
    ]), 0..24)) {
        let text: String = pieces.concat();
        let single = steady(&text, events(characters(&text)));
        prop_assert_eq!(&steady(&text, events([text.as_str()])), &single);
        for call in read_text_calls(&text, &TOOLS).calls {
            prop_assert!(text.contains("list_files"));
            prop_assert!(serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(&call.arguments).is_ok());
        }
    }
}

/// Bytes up to which a call of [`call`] is not complete.
fn object_end(whole: &str) -> usize {
    let opened = whole.find(['{', '[']).unwrap();
    match &whole[opened..] {
        list if list.starts_with('[') => whole.rfind(']').unwrap() + 1,
        _ if whole.starts_with("~~~") => whole.find("}\n").unwrap() + 1,
        _ => whole.rfind('}').unwrap() + 1,
    }
}

#[test]
fn a_call_that_is_cut_anywhere_is_no_call() {
    for form in 0..8 {
        let whole = call(form, "a");
        assert!(!read_text_calls(&whole, &TOOLS).calls.is_empty(), "{whole}");
        let end = object_end(&whole);
        for cut in 0..end {
            let found = read_text_calls(&whole[..cut], &TOOLS);
            assert!(found.calls.is_empty(), "{}", &whole[..cut]);
        }
        // Behind the object only marks may be missing.
        for cut in end..whole.len() {
            assert!(
                !read_text_calls(&whole[..cut], &TOOLS).calls.is_empty(),
                "{}",
                &whole[..cut]
            );
        }
    }
}
