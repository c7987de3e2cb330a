//! Opens commands that start others: `env`, `xargs`, `sh -c`, `find -exec`, `ssh host …`, encoded PowerShell. What they start is
//! judged like everything else; what would run and cannot be read is said.

mod code;
mod power_shell;
mod shell;
mod wrapper;

pub(crate) use wrapper::{is_wrapper, runs, started, starts_others};

use crate::command::{CommandLine, Part, Values, WordKind, parse_with};

/// Commands inside of commands inside of …
const DEEPEST: u8 = 6;
const MOST_PARTS: usize = 4_000;

/// All commands of a line.
#[derive(Debug, Default)]
pub(crate) struct Opened {
    /// Commands on this machine; the outer ones come first.
    pub here: Vec<Part>,
    /// Commands in a container or on another machine.
    pub elsewhere: Vec<Part>,
    /// Why there is more than can be read.
    pub hidden: Option<String>,
    /// A function in it starts itself several times over.
    pub multiplies: bool,
}

/// What a command starts besides itself.
#[derive(Default)]
struct Inside {
    line: Option<CommandLine>,
    /// The line runs in a container or on another machine.
    elsewhere: bool,
    hidden: Option<&'static str>,
}

impl Inside {
    fn line(line: CommandLine) -> Self {
        Self {
            line: Some(line),
            ..Self::default()
        }
    }

    fn part(part: Part) -> Self {
        let seen = part.kind(0) == WordKind::Literal;
        match part.words.is_empty() {
            true => Self::default(),
            false => Self::line(CommandLine {
                parts: vec![part],
                seen,
                ..CommandLine::default()
            }),
        }
    }

    fn hidden(why: &'static str) -> Self {
        Self {
            hidden: Some(why),
            ..Self::default()
        }
    }

    fn elsewhere(self) -> Self {
        Self {
            elsewhere: true,
            ..self
        }
    }
}

/// Everything that a line would start, as far as it can be read.
pub(crate) fn opened(line: &CommandLine) -> Opened {
    let mut all = Opened::default();
    let mut waiting: Vec<(Part, u8, bool)> = Vec::new();
    all.take(line.clone(), &mut waiting, 0, false);
    while let Some((part, depth, away)) = waiting.pop() {
        let inside = wrapper::inside(&part, depth);
        all.hide(inside.hidden.or_else(|| code::sets_code(&part)));
        if let Some(inner) = inside.line {
            if depth < DEEPEST && all.here.len() + all.elsewhere.len() + waiting.len() < MOST_PARTS {
                all.take(inner, &mut waiting, depth + 1, away || inside.elsewhere);
            } else {
                all.hide(Some("it goes too deep"));
            }
        }
        let parts = if away { &mut all.elsewhere } else { &mut all.here };
        parts.push(part);
    }
    all
}

/// The same for one part alone.
pub(crate) fn opened_part(part: &Part) -> Opened {
    opened(&CommandLine {
        parts: vec![part.clone()],
        understood: true,
        seen: true,
        multiplies: false,
    })
}

impl Opened {
    pub fn all(&self) -> impl Iterator<Item = &Part> {
        self.here.iter().chain(&self.elsewhere)
    }

    fn hide(&mut self, why: Option<&str>) {
        if self.hidden.is_none() {
            self.hidden = why.map(str::to_owned);
        }
    }

    fn take(&mut self, line: CommandLine, waiting: &mut Vec<(Part, u8, bool)>, depth: u8, away: bool) {
        self.multiplies |= line.multiplies;
        self.hide((!line.seen).then_some("it cannot be followed in all its parts"));
        waiting.extend(line.parts.into_iter().rev().map(|part| (part, depth, away)));
    }
}

fn text(line: &str, depth: u8) -> Inside {
    Inside::line(parse_with(line, Values::new(), depth + 1))
}

fn rest_as_text(part: &Part, from: Option<usize>, depth: u8) -> Inside {
    let words = from.and_then(|at| part.words.get(at..)).unwrap_or_default();
    if words.is_empty() {
        return Inside::default();
    }
    text(&words.join(" "), depth)
}

/// The word behind one of these options, also as `--option=value`.
fn value<'a>(part: &'a Part, options: &[&str]) -> Option<&'a str> {
    part.words.iter().enumerate().skip(1).find_map(|(at, word)| {
        if options.contains(&word.as_str()) {
            return part.words.get(at + 1).map(String::as_str);
        }
        let (name, value) = word.split_once('=')?;
        (name.starts_with("--") && options.contains(&name)).then_some(value)
    })
}
