//! What is in a folder.

use crate::place::{self, Place};
use crate::typed::{Stop, TypedTool, done, reading};
use crate::walk::walk;
use crate::{CallContext, Prepared, ToolError, ToolKind, bounds};
use paddock_protocol::{CallOutput, OutputFacts, Verb};
use paddock_sandbox::Kind;
use schemars::JsonSchema;
use serde::Deserialize;
use std::fmt::Write;
use std::ops::ControlFlow;

const DEPTH: u32 = 2;
const MAX_ENTRIES: usize = 1_000;

pub(crate) struct ListFiles;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    path: Option<String>,
    /// Default 2
    depth: Option<u32>,
}

impl TypedTool for ListFiles {
    type Input = Input;
    const NAME: &'static str = "list_files";
    const DESCRIPTION: &'static str = include_str!("list_files.md").trim_ascii();
    const KIND: ToolKind = ToolKind::Read;

    fn prepare(input: Input, cx: &CallContext) -> Result<Prepared, ToolError> {
        let named = place::named_or_root(cx, input.path.as_deref())?;
        Ok(reading(Verb::List, named.target(), named.reads(cx)))
    }

    fn run(input: Input, cx: &CallContext, stop: &Stop) -> Result<CallOutput, ToolError> {
        let place = place::open(cx, place::named_or_root(cx, input.path.as_deref())?, false)?;
        let kind = place.root.metadata(&place.path).map(|found| found.kind);
        if matches!(kind, Ok(Kind::File)) {
            return Err(ToolError::Model(format!(
                "`{}` is a file. Use read_file to see what is in it.",
                place.name()
            )));
        }
        let depth = input.depth.unwrap_or(DEPTH).max(1) as usize;
        let mut text = String::new();
        let mut entries = 0;
        let walked = walk(&place, Some(depth), stop, |found| {
            if entries == MAX_ENTRIES || text.len() > bounds::MAX_TEXT - 8 * 1024 {
                return Ok(ControlFlow::Break(()));
            }
            entries += 1;
            let path = place.name_of(&found.path);
            let _ = match found.kind {
                Kind::Folder => writeln!(text, "{path}/"),
                Kind::Link => writeln!(text, "{path} (link)"),
                _ => writeln!(text, "{path} ({})", bounds::size(found.size)),
            };
            Ok(ControlFlow::Continue(()))
        })?;
        if entries == 0 {
            text.push_str(if is_empty(&place) {
                "The folder is empty."
            } else {
                "Everything in it is ignored."
            });
        }
        if walked.cut {
            let _ = writeln!(
                text,
                "… more than {entries} entries; list a folder of these, or use find_files."
            );
        }
        if walked.unreadable > 0 {
            let _ = writeln!(
                text,
                "{} could not be read.",
                bounds::count(walked.unreadable, "folder")
            );
        }
        let facts = OutputFacts::Entries {
            entries: entries as u32,
            more: walked.cut,
        };
        Ok(CallOutput {
            facts: Some(facts),
            ..done(text)
        })
    }
}

fn is_empty(place: &Place) -> bool {
    place
        .root
        .read_dir(&place.path)
        .is_ok_and(|entries| entries.is_empty())
}
