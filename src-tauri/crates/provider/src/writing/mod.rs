//! Writing a request: what all protocols have in common when a history is made legal.
//!
//! Servers refuse calls without results, arguments that are no JSON, odd ids and empty texts; here is what stands in their place, the
//! same in every request, so that the beginning of a request stays the same and the server's cache stays warm.

mod call_ids;
mod schema;

pub(crate) use call_ids::CallIds;
pub(crate) use schema::{drop_patterns, object_schema};

use crate::dialect::{Constraint, response_format};
use crate::{CallResult, Image, ModelRequest};
use serde_json::Value;
use std::borrow::Cow;

/// Result of a call that has none.
pub(crate) const INTERRUPTED: &str = "Interrupted before it gave a result; its outcome is unknown.";
/// Result of a call that said nothing: some servers refuse an empty one.
const NO_OUTPUT: &str = "(no output)";
/// Characters of unreadable arguments that are kept.
const UNREADABLE_LIMIT: usize = 2_000;

/// Arguments as they were written; where they are no JSON object, an object that holds them, because servers read them.
pub(crate) fn legal_arguments(arguments: &str) -> Cow<'_, str> {
    if arguments.trim().is_empty() {
        return Cow::Borrowed("{}");
    }
    // Read whole: half a character in an escape is passed over otherwise, and refused by the server.
    let is_object = serde_json::from_str::<Value>(arguments).is_ok_and(|value| value.is_object());
    if is_object {
        return Cow::Borrowed(arguments);
    }
    let kept: String = arguments.chars().take(UNREADABLE_LIMIT).collect();
    Cow::Owned(serde_json::json!({ "not_valid_json": kept }).to_string())
}

/// The schema that an answer with calls in its text has to fit, for protocols that put it elsewhere than Chat Completions.
pub(crate) fn answer_schema(request: &ModelRequest, constraint: Constraint) -> Option<Value> {
    let mut format = response_format(request, constraint)?;
    format.pointer_mut("/json_schema/schema").map(Value::take)
}

/// The result of each call, in the order of the calls: `None` for one that has none. A result without its call is left out.
pub(crate) fn results_of<'a>(calls: &[&str], results: &'a [CallResult]) -> Vec<Option<&'a CallResult>> {
    let mut used = vec![false; results.len()];
    let result = |id: &&str| {
        let at = (0..results.len()).find(|at| !used[*at] && results[*at].id == **id)?;
        used[at] = true;
        Some(&results[at])
    };
    calls.iter().map(result).collect()
}

/// What is told of a call's outcome; never empty.
pub(crate) fn result_text(result: Option<&CallResult>) -> &str {
    match result {
        Some(result) if result.text.trim().is_empty() => NO_OUTPUT,
        Some(result) => &result.text,
        None => INTERRUPTED,
    }
}

/// What stands in the place of an image for a model that does not see. One line, whatever the name is.
pub(crate) fn image_placeholder(image: &Image) -> String {
    let name = image.name.replace(char::is_control, " ");
    format!("[Image {}: this model does not see images]", name.trim())
}
