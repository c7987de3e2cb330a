//! Answers of model servers: whatever bytes come, in whatever pieces, reading them never fails otherwise than with an error, means the
//! same however they were cut, and hands out no call that is not one whole object.

use std::sync::LazyLock;

use paddock_protocol::{CallFormat, FinishReason, ProviderId, ProviderKind};
use paddock_provider::{
    Answer, AnswerPart, BaseUrl, CallArguments, ModelEvent, Network, Replayed, ServerConfig, ToolSpec, replay,
};

const KINDS: [ProviderKind; 4] = [
    ProviderKind::Chat,
    ProviderKind::Responses,
    ProviderKind::Anthropic,
    ProviderKind::Gemini,
];
const FORMATS: [CallFormat; 3] = [CallFormat::Native, CallFormat::Json, CallFormat::Xml];

static SERVER: LazyLock<ServerConfig> = LazyLock::new(|| ServerConfig {
    id: ProviderId::new("local"),
    label: "Test server".into(),
    base_url: BaseUrl::parse("http://127.0.0.1:1/v1").unwrap_or_else(|error| panic!("{error}")),
    key: None,
    key_origin: String::new(),
    local: true,
    headers: Vec::new(),
    network: Network::default(),
});

static TOOLS: LazyLock<Vec<ToolSpec>> = LazyLock::new(|| {
    let tool = |name: &str, properties: serde_json::Value| ToolSpec {
        name: name.into(),
        description: String::new(),
        parameters: serde_json::json!({"type": "object", "properties": properties}),
    };
    let text = serde_json::json!({"type": "string"});
    vec![
        tool("read_file", serde_json::json!({"path": text})),
        tool(
            "edit_file",
            serde_json::json!({"path": text, "edits": {"type": "array"}}),
        ),
        tool("list_files", serde_json::json!({})),
    ]
});

/// Reads the bytes as an answer, whole, byte by byte and cut in two. The first byte says in which protocol and call format, the second
/// where the cut is.
pub fn stream(bytes: &[u8]) {
    let [selector, place, bytes @ ..] = bytes else {
        return;
    };
    let kind = KINDS[usize::from(*selector) % KINDS.len()];
    let format = FORMATS[usize::from(*selector) / KINDS.len() % FORMATS.len()];
    let read = |pieces: &[&[u8]]| -> Replayed {
        replay(kind, SERVER.clone(), format, &TOOLS, pieces).unwrap_or_else(|| panic!("no wire"))
    };
    let whole = read(&[bytes]);
    let single: Vec<&[u8]> = bytes.chunks(1).collect();
    assert_eq!(read(&single), whole, "byte by byte it means something else");
    let (first, second) = bytes.split_at(usize::from(*place) * bytes.len() / 256);
    assert_eq!(
        read(&[first, second]),
        whole,
        "cut at {} it means something else",
        first.len()
    );

    check_events(&whole.events);
    match &whole.answer {
        Ok(answer) => check_answer(answer, format),
        Err(error) => assert!(!error.message.is_empty()),
    }
}

/// The first event is the first byte; a call is announced once, and before its arguments.
fn check_events(events: &[ModelEvent]) {
    let mut announced = Vec::new();
    for (at, event) in events.iter().enumerate() {
        assert_eq!(at == 0, *event == ModelEvent::FirstByte, "{events:?}");
        match event {
            ModelEvent::CallStarted { slot, .. } => {
                assert!(!announced.contains(slot), "announced twice: {events:?}");
                announced.push(*slot);
            }
            ModelEvent::CallArguments { slot, .. } => assert!(announced.contains(slot), "{events:?}"),
            _ => {}
        }
    }
}

fn check_answer(answer: &Answer, format: CallFormat) {
    let mut complete = 0;
    for part in &answer.parts {
        let AnswerPart::Call(call) = part else { continue };
        let CallArguments::Complete(arguments) = &call.arguments else {
            continue;
        };
        complete += 1;
        let read: Result<serde_json::Value, _> = serde_json::from_str(arguments);
        assert!(
            read.is_ok_and(|value| value.is_object()),
            "no object: {arguments}"
        );
        assert!(!call.name.is_empty(), "a call without a name: {answer:?}");
    }
    let is_cut = matches!(answer.finish.0, FinishReason::Length | FinishReason::Blocked);
    assert!(
        !is_cut || format != CallFormat::Native || complete == 0,
        "a call of a cut answer: {answer:?}"
    );
}
