//! A small request, the same for every protocol; a test changes what it is about.

use paddock_protocol::{CallFormat, Millis};
use paddock_provider::{Message, ModelRequest, ToolSpec};
use serde_json::json;

pub fn request(model: &str) -> ModelRequest {
    ModelRequest {
        model: model.into(),
        system: "Be brief.".into(),
        messages: vec![Message::User {
            text: "Hi".into(),
            images: Vec::new(),
        }],
        tools: vec![ToolSpec {
            name: "list_files".into(),
            description: "Lists".into(),
            parameters: json!({"type": "object", "properties": {}}),
        }]
        .into(),
        format: CallFormat::Native,
        max_output: Some(50),
        silence: Millis(400),
        record: None,
        effort: None,
        facts: Default::default(),
        asked: None,
    }
}
