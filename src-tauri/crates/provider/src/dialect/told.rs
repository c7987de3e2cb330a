//! Which tools a model is told of in the text, by the room that it has. Each tool costs a small model some of its attention and a
//! slow machine some seconds before the first word, so only those that a small task needs are told there.

use crate::{ModelRequest, ToolSpec};

/// Windows up to here, in tokens, and unknown ones count as small: models that need a dialect mostly have one.
const SMALL_WINDOW: u32 = 32_768;
/// Told first where there is little room.
const CORE: [&str; 10] = [
    "list_files",
    "search_files",
    "read_file",
    "write_file",
    "edit_file",
    "move_file",
    "delete_file",
    "run_command",
    "ask_question",
    "task_completion",
];

/// How much room the text about tools has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    Small,
    Large,
}

impl Room {
    /// By the model's window in tokens, when it is known.
    pub fn of(window: Option<u32>) -> Self {
        match window {
            Some(window) if window > SMALL_WINDOW => Self::Large,
            _ => Self::Small,
        }
    }

    pub(crate) fn in_request(request: &ModelRequest) -> Self {
        Self::of(request.facts.window)
    }
}

/// The tools that are told, in the order of the registry: all, or the core; where a role lacks some of the core, others take their
/// place.
pub(crate) fn told(tools: &[ToolSpec], room: Room) -> Vec<&ToolSpec> {
    if room == Room::Large {
        return tools.iter().collect();
    }
    let is_core = |tool: &&ToolSpec| CORE.contains(&tool.name.as_str());
    let places = CORE.len().saturating_sub(tools.iter().filter(is_core).count());
    let mut others = 0;
    tools
        .iter()
        .filter(|tool| {
            let core = is_core(tool);
            others += usize::from(!core);
            core || others <= places
        })
        .collect()
}
