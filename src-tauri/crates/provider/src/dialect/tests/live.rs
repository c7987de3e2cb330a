//! Answers while they stream.

use crate::ModelEvent;
use crate::dialect::{LiveText, TextPart, read_answer};

pub(super) const TOOLS: [&str; 3] = ["read_file", "write_file", "list_files"];

/// Events of an answer that comes in these pieces, neighbours joined.
pub(super) fn events<'a>(pieces: impl IntoIterator<Item = &'a str>) -> Vec<ModelEvent> {
    let mut live = LiveText::new(TOOLS.to_vec());
    let mut events: Vec<ModelEvent> = Vec::new();
    let mut on_event = |event| match (events.last_mut(), event) {
        (Some(ModelEvent::Text(all)), ModelEvent::Text(text)) => all.push_str(&text),
        (
            Some(ModelEvent::CallArguments { slot: a, text: all }),
            ModelEvent::CallArguments { slot, text },
        ) if *a == slot => all.push_str(&text),
        (_, event) => events.push(event),
    };
    for piece in pieces {
        live.push(piece, false, &mut on_event);
    }
    live.push("", true, &mut on_event);
    events
}

/// Each character on its own.
pub(super) fn characters(text: &str) -> Vec<&str> {
    text.char_indices()
        .map(|(at, c)| &text[at..at + c.len_utf8()])
        .collect()
}

/// `text`, `+slot name`, `slot=arguments`.
fn shown(text: &str) -> Vec<String> {
    let events = events(characters(text));
    events
        .into_iter()
        .map(|event| match event {
            ModelEvent::Text(text) => text,
            ModelEvent::CallStarted { slot, name } => format!("+{slot} {name}"),
            ModelEvent::CallArguments { slot, text } => format!("{slot}={text}"),
            other => format!("{other:?}"),
        })
        .collect()
}

#[test]
fn prose_and_calls_stream_apart() {
    for (text, expected) in [
        ("Just text.\n\nMore.\n", vec!["Just text.\n\nMore."]),
        (
            "I look.\n{\"tool\":\"read_file\",\"parameters\":{\"path\":\"a\"}}\nThen I go on.",
            vec!["I look.", "+0 read_file", "0={\"path\":\"a\"}", "Then I go on."],
        ),
        (
            "<tool>{\"server_name\":\"local\",\"tool_name\":\"read_file\",\"arguments\":{\"path\":\"a\"}}</tool>\n<tool>{\"tool\":\"list_files\"}</tool>",
            vec!["+0 read_file", "0={\"path\":\"a\"}", "+1 list_files"],
        ),
        (
            "```json\n[{\"tool\":\"list_files\"},\n {\"parameters\":{},\"tool\":\"read_file\"}]\n```\nDone.",
            vec!["+0 list_files", "+1 read_file", "1={}", "Done."],
        ),
        (
            "{\"name\":\"read_file\",\"arguments\":\"{\\\"path\\\":\\\"a\\\"}\"}",
            vec!["+0 read_file", "0=\"{\\\"path\\\":\\\"a\\\"}\""],
        ),
        (
            "So:\n```python\n{\"tool\":\"list_files\"}\n```\n- [ ] one\n[link](x)\n{\"a\":1} end",
            vec!["So:\n```python\n{\"tool\":\"list_files\"}\n```\n- [ ] one\n[link](x)\n{\"a\":1} end"],
        ),
        // Tags in a fence are a call only when nothing follows.
        (
            "```xml\n<tool>{\"tool\":\"list_files\"}</tool>\n```\nThat is how.",
            vec!["```xml\n<tool>{\"tool\":\"list_files\"}</tool>\n```\nThat is how."],
        ),
        (
            "{\"tool\":\"list_files\"}\nTool result: a\n{\"tool\":\"read_file\"}",
            vec!["+0 list_files"],
        ),
        (
            "{\"tool\":\"write_file\",\"parameters\":{\"content\":\"half",
            vec!["+0 write_file", "0={\"content\":\"half"],
        ),
        (
            "~~~\nHm, perhaps so\n</think>\n{\"tool\":\"list_files\"}\nYes.",
            vec!["~~~\nHm, perhaps so\n+0 list_files", "Yes."],
        ),
    ] {
        let mut shown = shown(text);
        if text.starts_with("~~~") {
            // What was shown before the reasoning ended stays one text.
            let first = shown.remove(0);
            shown[0] = format!("{first}\n{}", shown[0]);
        }
        assert_eq!(shown, expected, "{text}");
    }
}

#[test]
fn prose_does_not_wait_and_a_call_is_announced_with_its_name() {
    let mut live = LiveText::new(TOOLS.to_vec());
    let mut push = |text: &str| {
        let mut events = Vec::new();
        live.push(text, false, &mut |event| events.push(event));
        events
    };
    assert_eq!(push("I"), [ModelEvent::Text("I".into())]);
    assert_eq!(push(" look"), [ModelEvent::Text(" look".into())]);
    assert_eq!(push(".\n{\"tool"), [ModelEvent::Text(".".into())]);
    assert_eq!(push("\": \"read_file"), []);
    assert_eq!(
        push("\""),
        [ModelEvent::CallStarted {
            slot: 0,
            name: "read_file".into()
        }]
    );
    assert_eq!(
        push(", \"parameters\": {\"pa"),
        [ModelEvent::CallArguments {
            slot: 0,
            text: "{\"pa".into()
        }]
    );
}

/// Nothing is looked at again and again while a large file streams.
#[test]
fn a_large_call_streams_in_linear_time() {
    let content = "line of a file, {with} \\\"quotes\\\"\\n".repeat(20_000);
    let text =
        format!("<tool>{{\"tool\":\"write_file\",\"parameters\":{{\"content\":\"{content}\"}}}}</tool>");
    let started = std::time::Instant::now();
    let mut live = LiveText::new(TOOLS.to_vec());
    let mut bytes = 0;
    for piece in text.as_bytes().chunks(8) {
        live.push(std::str::from_utf8(piece).unwrap(), false, &mut |event| {
            if let ModelEvent::CallArguments { text, .. } = event {
                bytes += text.len();
            }
        });
    }
    live.push("", true, &mut |_| {});
    assert_eq!(bytes, content.len() + "{\"content\":\"\"}".len());
    // Quadratic it would take minutes.
    assert!(started.elapsed().as_secs() < 30, "{:?}", started.elapsed());
    assert!(matches!(&read_answer(&text, &TOOLS)[..], [TextPart::Call(_)]));
}
