//! Files by name.

use crate::typed::{Stop, TypedTool, done, reading};
use crate::walk::walk;
use crate::{CallContext, Prepared, ToolError, ToolKind, bounds, place};
use globset::{GlobBuilder, GlobMatcher};
use paddock_protocol::{CallOutput, OutputFacts, Verb};
use paddock_sandbox::Kind;
use schemars::JsonSchema;
use serde::Deserialize;
use std::fmt::Write;
use std::ops::ControlFlow;

const MAX_FOUND: usize = 500;

pub(crate) struct FindFiles;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// `*.rs` (in any folder), `src/**/*.{ts,svelte}`
    pattern: String,
    path: Option<String>,
}

impl TypedTool for FindFiles {
    type Input = Input;
    const NAME: &'static str = "find_files";
    const DESCRIPTION: &'static str = include_str!("find_files.md").trim_ascii();
    const KIND: ToolKind = ToolKind::Read;

    fn prepare(input: Input, cx: &CallContext) -> Result<Prepared, ToolError> {
        glob("pattern", &input.pattern)?;
        let named = place::named_or_root(cx, input.path.as_deref())?;
        Ok(reading(Verb::Search, input.pattern, named.reads(cx)))
    }

    fn run(input: Input, cx: &CallContext, stop: &Stop) -> Result<CallOutput, ToolError> {
        let glob = glob("pattern", &input.pattern)?;
        let place = place::open(cx, place::named_or_root(cx, input.path.as_deref())?, false)?;
        let mut text = String::new();
        let mut files = 0;
        let walked = walk(&place, None, stop, |found| {
            if found.kind == Kind::Folder || !glob.is_match(place.below(&found.path)) {
                return Ok(ControlFlow::Continue(()));
            }
            if files == MAX_FOUND || text.len() > bounds::MAX_TEXT - 8 * 1024 {
                return Ok(ControlFlow::Break(()));
            }
            files += 1;
            let _ = writeln!(text, "{}", place.name_of(&found.path));
            Ok(ControlFlow::Continue(()))
        })?;
        if files == 0 {
            text.push_str("No file has such a name (ignored files are left out).");
        }
        if walked.cut {
            let _ = writeln!(text, "… more than {files} files; use a narrower pattern.");
        }
        let files = files as u32;
        let facts = OutputFacts::Hits {
            hits: files,
            files,
            more: walked.cut,
        };
        Ok(CallOutput {
            facts: Some(facts),
            ..done(text)
        })
    }
}

/// A glob over paths relative to the folder that is searched; a pattern without `/` is one for names in any folder.
pub(crate) fn glob(name: &str, pattern: &str) -> Result<GlobMatcher, ToolError> {
    let pattern = pattern.trim();
    let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
    if pattern.is_empty() {
        return Err(ToolError::Arguments(format!("`{name}` is empty")));
    }
    let whole = match pattern {
        folder if folder.ends_with('/') => format!("{folder}**"),
        path if path.contains('/') => path.trim_start_matches('/').to_owned(),
        file => format!("**/{file}"),
    };
    GlobBuilder::new(&whole)
        .literal_separator(true)
        .build()
        .map(|glob| glob.compile_matcher())
        .map_err(|error| ToolError::Arguments(format!("`{name}` is no glob: {}", error.kind())))
}
