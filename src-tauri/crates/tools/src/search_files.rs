//! Text in files, by regular expression.

use crate::find_files::glob;
use crate::place::{self, Place};
use crate::text::Text;
use crate::typed::{Stop, TypedTool, done, reading};
use crate::walk::{Found, walk};
use crate::{CallContext, Prepared, ToolError, ToolKind, bounds};
use globset::GlobMatcher;
use paddock_protocol::{CallOutput, OutputFacts, Verb};
use paddock_sandbox::{Kind, RelativePath};
use regex::{Regex, RegexBuilder};
use schemars::JsonSchema;
use serde::Deserialize;
use std::fmt::Write;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

const MAX_HITS: usize = 300;
const MAX_HITS_PER_FILE: usize = 40;
const MAX_LINE: usize = 300;
/// Larger files are mostly data, not source.
const MAX_FILE: u64 = 4 * 1024 * 1024;
const AS_PLAIN_TEXT: &str = "Nothing found as a regular expression; as plain text:\n";
const BY_WORDS: &str = "Nothing found; lines with one of its words:\n";
const MAX_FILES_WITH: usize = 5;
const MAX_TIME_WITH: Duration = Duration::from_millis(300);
/// Memory of a compiled expression, in bytes.
const MAX_REGEX: usize = 2 * 1024 * 1024;

pub(crate) struct SearchFiles;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// Rust regex for one line; small letters find both
    pattern: String,
    /// Folder or file
    path: Option<String>,
    /// `*.rs`
    glob: Option<String>,
}

impl TypedTool for SearchFiles {
    type Input = Input;
    const NAME: &'static str = "search_files";
    const DESCRIPTION: &'static str = include_str!("search_files.md").trim_ascii();
    const KIND: ToolKind = ToolKind::Read;

    fn prepare(input: Input, cx: &CallContext) -> Result<Prepared, ToolError> {
        let query = Query::new(&input)?;
        let named = place::named_or_root(cx, input.path.as_deref())?;
        drop(query);
        Ok(reading(Verb::Search, input.pattern, named.reads(cx)))
    }

    fn run(input: Input, cx: &CallContext, stop: &Stop) -> Result<CallOutput, ToolError> {
        let query = Query::new(&input)?;
        let place = place::open(cx, place::named_or_root(cx, input.path.as_deref())?, false)?;
        let mut hits = look(cx, &place, &query, stop, Hits::are_enough)?;
        for (pattern, said) in other_ways(&input.pattern, cx.careful) {
            if hits.hits > 0 {
                break;
            }
            let query = Query::new(&Input {
                pattern,
                path: None,
                glob: input.glob.clone(),
            })?;
            let other = look(cx, &place, &query, stop, Hits::are_enough)?;
            if other.hits > 0 {
                hits = Hits { said, ..other };
            }
        }
        Ok(hits.output())
    }
}

/// Files of the project that hold a word, at most a few; fewer where looking takes long.
pub(crate) fn files_with(word: &str, cx: &CallContext, stop: &Stop) -> Result<Vec<String>, ToolError> {
    let query = Query::new(&Input {
        pattern: format!("(?-i)\\b{}\\b", regex::escape(word)),
        path: None,
        glob: None,
    })?;
    let place = place::open(cx, place::named_or_root(cx, None)?, false)?;
    let begun = Instant::now();
    let are_enough = |hits: &Hits| hits.files.len() >= MAX_FILES_WITH || begun.elapsed() > MAX_TIME_WITH;
    Ok(look(cx, &place, &query, stop, are_enough)?.files)
}

/// What else may have been meant by an expression that is found nowhere, with what is said when that is found.
fn other_ways(pattern: &str, careful: bool) -> Vec<(String, &'static str)> {
    let mut ways = Vec::new();
    let plain = regex::escape(pattern);
    if plain != pattern {
        ways.push((plain, AS_PLAIN_TEXT));
    }
    let words: Vec<String> = pattern
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| word.chars().count() > 2)
        .map(str::to_lowercase)
        .collect();
    if careful && words.len() > 1 {
        ways.push((format!("\\b({})\\b", words.join("|")), BY_WORDS));
    }
    ways
}

/// Searches a folder until there is enough, or a file.
fn look(
    cx: &CallContext,
    place: &Place,
    query: &Query,
    stop: &Stop,
    are_enough: impl Fn(&Hits) -> bool,
) -> Result<Hits, ToolError> {
    let mut hits = Hits::default();
    let found = place
        .root
        .metadata(&place.path)
        .map_err(|error| place.failure(error))?;
    if found.kind == Kind::Folder {
        let walked = walk(place, None, stop, |found| {
            if found.kind == Kind::File && query.wants(place, &found.path) {
                search(cx, place, query, found, false, &mut hits);
                if query.is_name_of(&found.path) {
                    hits.of_that_name
                        .get_or_insert_with(|| place.name_of(&found.path));
                }
            }
            Ok(if are_enough(&hits) {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            })
        })?;
        hits.more |= walked.cut;
    } else {
        let found = Found {
            path: place.path.clone(),
            kind: found.kind,
            size: found.size,
        };
        search(cx, place, query, &found, true, &mut hits);
    }
    Ok(hits)
}

/// Whether letters of an expression are capitals; those of classes like `\W` are none.
fn has_capitals(pattern: &str) -> bool {
    let mut letters = pattern.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => drop(letters.next()),
            letter if letter.is_uppercase() => return true,
            _ => {}
        }
    }
    false
}

struct Query {
    line: Regex,
    /// The same for a whole file at once, to pass over files quickly.
    file: Regex,
    glob: Option<GlobMatcher>,
}

impl Query {
    fn new(input: &Input) -> Result<Self, ToolError> {
        if input.pattern.is_empty() {
            return Err(ToolError::Arguments("`pattern` is empty".to_owned()));
        }
        let mut builder = RegexBuilder::new(&input.pattern);
        builder
            .case_insensitive(!has_capitals(&input.pattern))
            .size_limit(MAX_REGEX)
            .dfa_size_limit(MAX_REGEX);
        let compile = |builder: &RegexBuilder| {
            builder.build().map_err(|error| {
                ToolError::Arguments(format!(
                    "`pattern` is no regular expression; put \\ before . * + ? ( ) [ ] {{ }} | ^ $ \\ that stand for themselves\n{error}"
                ))
            })
        };
        let line = compile(&builder)?;
        let file = compile(builder.multi_line(true).crlf(true))?;
        let wanted = input.glob.as_deref().filter(|pattern| !pattern.trim().is_empty());
        Ok(Self {
            line,
            file,
            glob: wanted.map(|pattern| glob("glob", pattern)).transpose()?,
        })
    }

    /// Whether the expression is the name of a file; in expressions its dot has a backslash.
    fn is_name_of(&self, path: &RelativePath) -> bool {
        let name = path.as_str().rsplit('/').next().unwrap_or_default();
        self.line.as_str().replace('\\', "") == name
    }

    fn wants(&self, place: &Place, path: &RelativePath) -> bool {
        // In the project a glob is one over whole paths.
        let path = if place.is_outside() {
            place.below(path)
        } else {
            path.as_str()
        };
        self.glob.as_ref().is_none_or(|glob| glob.is_match(path))
    }
}

#[derive(Default)]
struct Hits {
    /// What is said before the text.
    said: &'static str,
    text: String,
    hits: usize,
    /// Their names.
    files: Vec<String>,
    more: bool,
    too_large: usize,
    secret: usize,
    /// A file that is named like what was searched for.
    of_that_name: Option<String>,
}

impl Hits {
    fn are_enough(&self) -> bool {
        self.hits >= MAX_HITS || self.text.len() > bounds::MAX_TEXT - 16 * 1024
    }

    fn output(mut self) -> CallOutput {
        self.more |= self.are_enough();
        if self.hits == 0 {
            self.text
                .push_str("Nothing found (ignored and binary files are left out).\n");
            if let Some(path) = &self.of_that_name {
                let _ = writeln!(self.text, "But there is a file with this name: {path}");
            }
        } else {
            // A small model takes a first line for what was found, so it is no name of a file.
            let (lines, files) = (
                bounds::count(self.hits, "line"),
                bounds::count(self.files.len(), "file"),
            );
            let head = format!("{}{lines} in {files}.\n\n", self.said);
            self.text.insert_str(0, &head);
        }
        if self.hits > 0 && self.more {
            let _ = writeln!(
                self.text,
                "… there may be more; narrow it with path, glob or a longer pattern."
            );
        }
        if self.too_large > 0 {
            let _ = writeln!(
                self.text,
                "{} over 4 MB not searched.",
                bounds::count(self.too_large, "file")
            );
        }
        if self.secret > 0 {
            let files = bounds::count(self.secret, "file");
            let _ = writeln!(
                self.text,
                "{files} with passwords or keys not shown; read one by name if it is needed."
            );
        }
        let facts = OutputFacts::Hits {
            hits: self.hits as u32,
            files: self.files.len() as u32,
            more: self.more,
        };
        CallOutput {
            facts: Some(facts),
            ..done(self.text)
        }
    }
}

fn search(cx: &CallContext, place: &Place, query: &Query, found: &Found, by_name: bool, hits: &mut Hits) {
    if found.size > MAX_FILE {
        hits.too_large += 1;
        return;
    }
    // What cannot be read or is no text has no hits.
    let Some(text) = place
        .root
        .read(&found.path, MAX_FILE)
        .ok()
        .and_then(|bytes| Text::decode(&bytes))
    else {
        return;
    };
    if !query.file.is_match(&text.content) {
        return;
    }
    let mut in_file = 0;
    for (number, line) in text.content.lines().enumerate() {
        let Some(hit) = query.line.find(line) else {
            continue;
        };
        if in_file == 0 {
            if !by_name && place.is_hidden_secret(cx, &found.path) {
                hits.secret += 1;
                return;
            }
            let gap = if hits.files.is_empty() { "" } else { "\n" };
            let name = place.name_of(&found.path);
            let _ = writeln!(hits.text, "{gap}{name}");
            hits.files.push(name);
        }
        if in_file == MAX_HITS_PER_FILE || hits.are_enough() {
            hits.more = true;
            let _ = writeln!(hits.text, "  … more in this file");
            return;
        }
        in_file += 1;
        hits.hits += 1;
        let _ = writeln!(hits.text, "  {}: {}", number + 1, part(line, hit.start()));
    }
}

/// A line, or of a long one the part around the hit.
fn part(line: &str, hit: usize) -> String {
    if line.len() <= MAX_LINE {
        return line.to_owned();
    }
    let from = line.floor_char_boundary(hit.saturating_sub(MAX_LINE / 3));
    let to = line.floor_char_boundary(from + MAX_LINE);
    let (before, after) = (
        if from > 0 { "…" } else { "" },
        if to < line.len() { "…" } else { "" },
    );
    format!("{before}{}{after}", &line[from..to])
}
