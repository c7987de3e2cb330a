//! The text of a file, with line numbers; an image is shown to a model that sees.

use crate::text::{Encoding, LineEnd, Text, binary_kind};
use crate::typed::{Stop, TypedTool, done, reading};
use crate::{CallContext, Prepared, ToolError, ToolKind, bounds, place};
use paddock_protocol::{Attachment, CallOutput, OutputFacts, Verb};
use paddock_sandbox::PathError;
use schemars::JsonSchema;
use serde::Deserialize;
use std::fmt::Write;

const MAX_FILE: u64 = 32 * 1024 * 1024;
const MAX_LINES: usize = 2_000;
const MAX_LINE: usize = 2_000;

pub(crate) struct ReadFile;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    path: String,
    /// From 1
    from_line: Option<u32>,
    to_line: Option<u32>,
}

impl TypedTool for ReadFile {
    type Input = Input;
    const NAME: &'static str = "read_file";
    const DESCRIPTION: &'static str = include_str!("read_file.md").trim_ascii();
    const KIND: ToolKind = ToolKind::Read;

    fn prepare(input: Input, cx: &CallContext) -> Result<Prepared, ToolError> {
        let named = place::named(cx, &input.path, false)?;
        Ok(reading(Verb::Read, named.target(), named.reads(cx)))
    }

    fn run(input: Input, cx: &CallContext, _: &Stop) -> Result<CallOutput, ToolError> {
        let place = place::open(cx, place::named(cx, &input.path, false)?, false)?;
        let path = place.name();
        let bytes = place.root.read(&place.path, MAX_FILE).map_err(|error| match error {
            PathError::IsAFolder { .. } => ToolError::Model(format!(
                "`{path}` is a folder. Use list_files to see what is in it."
            )),
            PathError::TooLarge { size, .. } => ToolError::Model(format!(
                "`{path}` has {}, too much to read. Use search_files on it, or a command that shows a part.",
                bounds::size(size)
            )),
            PathError::NotFound { .. } => place.missing_file(),
            other => place.failure(other),
        })?;
        if let Some(media_type) = Attachment::media_type_of(&bytes) {
            return image(&path, media_type, &bytes, cx);
        }
        let Some(text) = Text::decode(&bytes) else {
            let (kind, size) = (binary_kind(&bytes), bounds::size(bytes.len() as u64));
            return Err(ToolError::Model(format!(
                "`{path}` is {kind} ({size}), not text."
            )));
        };
        let numbers = if cx.careful { Numbers::Left } else { Numbers::Shown };
        let mut output = part_of(&text.content, input.from_line, input.to_line, numbers)?;
        if let Some(notes) = notes(&text) {
            output.text.insert_str(0, &notes);
        }
        Ok(output)
    }
}

fn image(path: &str, media_type: &str, bytes: &[u8], cx: &CallContext) -> Result<CallOutput, ToolError> {
    let kind = media_type.trim_start_matches("image/").to_uppercase();
    let what = format!(
        "`{path}` is a {kind} image ({})",
        bounds::size(bytes.len() as u64)
    );
    if bytes.len() > Attachment::LARGEST {
        return Err(ToolError::Model(format!(
            "{what}; models take images up to 5 MB. Make a smaller copy with a command and read that."
        )));
    }
    let name = path.rsplit('/').next().unwrap_or(path);
    match (cx.show_image)(name, media_type, bytes) {
        Ok(Some(shown)) => Ok(CallOutput {
            images: vec![shown],
            ..done(format!("{what}. It is shown to you."))
        }),
        Ok(None) => Err(ToolError::Model(format!(
            "{what}. You do not see images; a command may tell its size, or what text is in it."
        ))),
        Err(error) => Err(ToolError::Model(format!(
            "{what}; it could not be kept to be shown: {error}."
        ))),
    }
}

/// What a reader should know about how the text is stored.
fn notes(text: &Text) -> Option<String> {
    let mut notes = Vec::new();
    if text.encoding != Encoding::Utf8 {
        notes.push(text.encoding.name());
    }
    match LineEnd::of(&text.content) {
        LineEnd::CrLf => notes.push("CRLF line ends"),
        LineEnd::Mixed { .. } => notes.push("mixed line ends"),
        LineEnd::Lf | LineEnd::None => {}
    }
    (!notes.is_empty()).then(|| format!("[{}]\n", notes.join(", ")))
}

/// Whether lines have their numbers before them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Numbers {
    Shown,
    /// For models that copy them into what they write.
    Left,
}

/// Lines of a text, `from` to `to`, bounded, with words about what is not shown.
pub(crate) fn part_of(
    text: &str,
    from: Option<u32>,
    to: Option<u32>,
    numbers: Numbers,
) -> Result<CallOutput, ToolError> {
    let lines: Vec<&str> = text.lines().collect();
    let of = lines.len();
    if of == 0 {
        let facts = Some(OutputFacts::Lines {
            first: 0,
            last: 0,
            of: 0,
        });
        return Ok(CallOutput {
            facts,
            ..done("It is empty.".to_owned())
        });
    }
    let first = from.unwrap_or(1).max(1) as usize;
    let wanted = to.map_or(of, |to| to as usize).min(of);
    if first > of {
        return Err(ToolError::Model(format!(
            "It has {} only.",
            bounds::count(of, "line")
        )));
    }
    if wanted < first {
        return Err(ToolError::Arguments(
            "`to_line` must not be before `from_line`".to_owned(),
        ));
    }
    let mut result = String::new();
    let mut last = first - 1;
    for line in &lines[first - 1..wanted] {
        let line = bounds::short_line(line, MAX_LINE);
        if last + 1 - first == MAX_LINES || result.len() + line.len() > bounds::MAX_TEXT - 1024 {
            break;
        }
        last += 1;
        let _ = match numbers {
            Numbers::Shown => writeln!(result, "{last}\t{line}"),
            Numbers::Left => writeln!(result, "{line}"),
        };
    }
    if last < wanted {
        let next = last + 1;
        let _ = writeln!(
            result,
            "… lines {next} to {wanted} of {of} not shown; read on with from_line {next}."
        );
    } else if last < of {
        let _ = writeln!(result, "… of {of} lines.");
    }
    let facts = OutputFacts::Lines {
        first: first as u32,
        last: last as u32,
        of: of as u32,
    };
    let total_bytes = (last < wanted).then_some(text.len() as u64);
    Ok(CallOutput {
        facts: Some(facts),
        total_bytes,
        ..done(result)
    })
}
