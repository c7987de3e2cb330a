//! Rules: which calls one covers, and which rule a call suggests. An allowing rule covers a command only when every part of
//! the line fits and nothing is hidden; a refusing one holds as soon as any part fits.

use crate::command::{CommandLine, Part, WordKind};
use crate::open::{Opened, is_wrapper, opened_part, started};
use crate::options::subcommand_at;
use crate::program::deletes;
use crate::rule::in_words;
use paddock_protocol::{Access, AnswerScope, RuleShape, WordShape};
use std::fmt;

/// Why a rule does not cover a call, in words for the person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misfit(pub String);

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<Misfit> for String {
    fn from(misfit: Misfit) -> Self {
        misfit.0
    }
}

/// Programs whose first plain word is a command of its own.
pub(crate) const WITH_SUBCOMMANDS: &[&str] = &[
    "git",
    "npm",
    "pnpm",
    "yarn",
    "cargo",
    "go",
    "make",
    "just",
    "uv",
    "poetry",
    "dotnet",
    "gradle",
    "mvn",
    "bundle",
    "rake",
    "task",
    "pip",
    "pip3",
    "docker",
    "podman",
    "kubectl",
    "gh",
    "brew",
    "composer",
    "terraform",
];

/// Whether `shape`, as an allowing rule, covers `access`. A command is covered only when every one of its parts is.
pub(crate) fn covers(shape: &RuleShape, access: &Access, line: Option<&CommandLine>) -> bool {
    match (shape, access) {
        (RuleShape::Command { words }, Access::Exec { .. }) => line.is_some_and(|line| {
            line.understood
                && line.parts.iter().all(|part| {
                    let plain = part.writes.is_empty() && part.assignments.is_empty();
                    plain && word_misfit(words, part).is_none() && !hides(part)
                })
        }),
        (RuleShape::WritePath { path }, Access::Write { path: target }) => {
            let climbs = target.split('/').any(|step| step == "..");
            !climbs && (target == path || (path.ends_with('/') && target.starts_with(path.as_str())))
        }
        (RuleShape::Host { host }, Access::Network { host: target }) => host_fits(host, target),
        (
            RuleShape::Outside { path, write },
            Access::Outside {
                path: target,
                write: writes,
                ..
            },
        ) => (*write || !writes) && place_fits(path, target),
        (RuleShape::ExternalTool { server, tool }, Access::External { server: s, tool: t }) => {
            server == s && tool == t
        }
        _ => false,
    }
}

/// Whether `shape`, as a rule that asks or refuses, holds for `access`: any part of a command is enough, and a rule about
/// reading a place holds for changing it too.
pub(crate) fn touches(shape: &RuleShape, access: &Access, opened: &Opened) -> bool {
    match (shape, access) {
        (RuleShape::Command { words }, Access::Exec { .. }) => {
            opened.all().any(|part| guessed_misfit(words, part).is_none())
        }
        (RuleShape::WritePath { path }, Access::Write { path: target } | Access::Delete { path: target }) => {
            place_fits(path, target) || path.strip_suffix('/') == Some(target)
        }
        (
            RuleShape::Outside { path, write },
            Access::Outside {
                path: target,
                write: writes,
                ..
            },
        ) => (*writes || !write) && (place_fits(path, target) || path.strip_suffix('/') == Some(target)),
        _ => covers(shape, access, None),
    }
}

/// Whether an allowing rule of this shape would cover everything of this call that is asked about; else why not.
///
/// # Errors
/// The first thing that it does not cover, in words for the person.
pub fn rule_fits(shape: &RuleShape, access: &[Access]) -> Result<(), Misfit> {
    let asked: Vec<&Access> = access
        .iter()
        .filter(|a| !matches!(a, Access::Read { .. }))
        .collect();
    if asked.is_empty() {
        return Err(Misfit("nothing of this call is asked about".into()));
    }
    match asked.into_iter().find_map(|a| {
        let line = match a {
            Access::Exec { command } => Some(crate::parse_command(command)),
            _ => None,
        };
        misfit(shape, a, line.as_ref())
    }) {
        Some(why) => Err(Misfit(why)),
        None => Ok(()),
    }
}

/// Whether an allowing rule of this shape would have covered this command.
pub fn covers_command(shape: &RuleShape, command: &str) -> bool {
    let access = Access::Exec {
        command: command.to_owned(),
    };
    covers(shape, &access, Some(&crate::parse_command(command)))
}

/// Whether the command is one that such a rule misses by a little: the program is right, and one word or one joined part is not.
pub fn nearly_covers(shape: &RuleShape, command: &str) -> bool {
    let RuleShape::Command { words } = shape else {
        return false;
    };
    let line = crate::parse_command(command);
    let begins = |part: &Part| match (words.first(), part.words.first()) {
        (Some(shape), Some(word)) => word_fits(shape, word),
        _ => false,
    };
    let near = line
        .parts
        .iter()
        .any(|part| begins(part) && far(words, part) <= 1);
    near && !covers_command(shape, command)
}

/// How many words of the shape the part lacks or has otherwise.
fn far(shapes: &[WordShape], part: &Part) -> usize {
    shapes
        .iter()
        .enumerate()
        .filter(|(at, shape)| match (shape, part.words.get(*at)) {
            (WordShape::Rest, _) => false,
            (shape, Some(word)) => !word_fits(shape, word),
            (_, None) => true,
        })
        .count()
}

/// Why an allowing rule does not cover this access; `None` when it does.
pub(crate) fn misfit(shape: &RuleShape, access: &Access, line: Option<&CommandLine>) -> Option<String> {
    if covers(shape, access, line) {
        return None;
    }
    Some(match (shape, access) {
        (RuleShape::Command { words }, Access::Exec { .. }) => {
            let line = line.filter(|line| line.understood);
            match line {
                None => "the command cannot be checked in parts".into(),
                Some(line) => line
                    .parts
                    .iter()
                    .find_map(|part| part_misfit(words, part))
                    .unwrap_or_else(|| "it does not cover every part".into()),
            }
        }
        (RuleShape::WritePath { path }, Access::Write { path: target }) => {
            format!("it is about {path}, this is {target}")
        }
        (RuleShape::Host { host }, Access::Network { host: target }) => {
            format!("it is about {host}, this is {target}")
        }
        (RuleShape::Outside { write: false, .. }, Access::Outside { write: true, .. }) => {
            "it allows reading, and this changes something".into()
        }
        (RuleShape::Outside { path, .. }, Access::Outside { path: target, .. }) => {
            format!("it is about {path}, this is {target}")
        }
        (RuleShape::ExternalTool { .. }, Access::External { server, tool }) => {
            format!("it is about another tool than {tool} of {server}")
        }
        (_, access) => format!("it does not cover {}", kind(access)),
    })
}

fn kind(access: &Access) -> &'static str {
    match access {
        Access::Read { .. } => "reading in the project",
        Access::Write { .. } => "changes of files",
        Access::Delete { .. } => "deletions",
        Access::Exec { .. } => "commands",
        Access::Network { .. } => "connections",
        Access::Outside { .. } => "places outside of the project",
        Access::Protected { .. } => "protected places",
        Access::External { .. } => "tools of connected servers",
    }
}

/// Whether more would run than the words of the part show.
fn hides(part: &Part) -> bool {
    is_wrapper(part) || opened_part(part).hidden.is_some()
}

fn part_misfit(words: &[WordShape], part: &Part) -> Option<String> {
    if let Some(path) = part.writes.first() {
        return Some(format!("it also writes {path}"));
    }
    if let Some(set) = part.assignments.first() {
        let name = set.split('=').next().unwrap_or(set);
        return Some(format!("it also sets {name}"));
    }
    if let Some(why) = word_misfit(words, part) {
        return Some(why);
    }
    hides(part).then(|| "it runs code that the words do not show".into())
}

/// Where the words of a part leave the shape; `None` when all fit. A word that the shell makes of something else can only be
/// one of "any number of words".
fn word_misfit(shapes: &[WordShape], part: &Part) -> Option<String> {
    for (at, word) in part.words.iter().enumerate() {
        let unknown = match shapes.get(at) {
            Some(WordShape::Rest) => break,
            Some(WordShape::Any) => part.kind(at) != WordKind::Literal,
            _ => part.kind(at) == WordKind::Expanded,
        };
        if unknown {
            return Some(format!(
                "{} part, “{word}”, is known only when it runs",
                ordinal(at)
            ));
        }
    }
    guessed_misfit(shapes, part)
}

/// The same, the texts of all words taken as they stand there.
fn guessed_misfit(shapes: &[WordShape], part: &Part) -> Option<String> {
    if shapes.is_empty() {
        return Some("the rule has no words".into());
    }
    let mut shapes = shapes.iter().enumerate();
    for (at, word) in part.words.iter().enumerate() {
        match shapes.next() {
            Some((_, WordShape::Rest)) => return None,
            Some((_, shape)) if word_fits(shape, word) => {}
            Some((_, shape)) => {
                return Some(format!(
                    "{} part is “{word}”, rule says {}",
                    ordinal(at),
                    said(shape)
                ));
            }
            None => return Some(format!("“{word}” is more than the rule says")),
        }
    }
    match shapes.next() {
        None | Some((_, WordShape::Rest)) => None,
        Some((_, shape)) => Some(format!("it ends where the rule says {}", said(shape))),
    }
}

fn word_fits(shape: &WordShape, word: &str) -> bool {
    match shape {
        WordShape::Exact { text } => text == word,
        WordShape::OneOf { texts } => texts.iter().any(|text| text == word),
        WordShape::Any | WordShape::Rest => true,
    }
}

fn said(shape: &WordShape) -> String {
    match shape {
        WordShape::Exact { text } => format!("“{text}”"),
        WordShape::OneOf { texts } => {
            let quoted: Vec<String> = texts.iter().map(|text| format!("“{text}”")).collect();
            quoted.join(" or ")
        }
        WordShape::Any => "one more word".into(),
        WordShape::Rest => "any further words".into(),
    }
}

fn ordinal(at: usize) -> String {
    match ["first", "second", "third", "fourth", "fifth"].get(at) {
        Some(name) => (*name).to_owned(),
        None => format!("{}th", at + 1),
    }
}

/// `*.domain` covers what is below the domain and never the domain itself.
fn host_fits(host: &str, target: &str) -> bool {
    match host.strip_prefix("*.") {
        Some(domain) => target
            .strip_suffix(domain)
            .and_then(|rest| rest.strip_suffix('.'))
            .is_some_and(|below| !below.is_empty() && domain.contains('.')),
        None => host == target,
    }
}

/// Exactly the path, or below it when it ends in `/`; whole components, and nothing that climbs.
fn place_fits(path: &str, target: &str) -> bool {
    let climbs = target.split('/').any(|step| step == "..");
    !climbs && !path.is_empty() && (target == path || (path.ends_with('/') && target.starts_with(path)))
}

/// The rule that an approval of this call could make, with its words. `None` where none may be offered.
pub(crate) fn suggestion(access: &[Access], line: Option<&CommandLine>) -> Option<(RuleShape, String)> {
    let mut plain = access.iter().filter(|a| !matches!(a, Access::Read { .. }));
    let only = plain.next()?;
    if plain.next().is_some() {
        return None;
    }
    let shape = match only {
        Access::Exec { .. } => of_line(line?)?,
        Access::Write { path } => RuleShape::WritePath { path: path.clone() },
        Access::External { server, tool } => RuleShape::ExternalTool {
            server: server.clone(),
            tool: tool.clone(),
        },
        Access::Network { host } => RuleShape::Host { host: host.clone() },
        Access::Outside { path, write, .. } => RuleShape::Outside {
            path: path.clone(),
            write: *write,
        },
        _ => return None,
    };
    if crate::rule::refused_shape(&shape, paddock_protocol::RuleAnswer::Allow).is_some() {
        return None;
    }
    let words = in_words(&shape);
    Some((shape, words))
}

/// The scopes in which an approval with such a rule may hold.
pub(crate) fn scopes(shape: Option<&RuleShape>) -> Vec<AnswerScope> {
    let mut scopes = vec![AnswerScope::Once];
    if shape.is_some() {
        scopes.extend([AnswerScope::Turn, AnswerScope::Session, AnswerScope::Project]);
    }
    scopes
}

/// One shape that fits every part of the line.
fn of_line(line: &CommandLine) -> Option<RuleShape> {
    if !line.understood {
        return None;
    }
    let mut shapes = line.parts.iter().map(of_part);
    let first = shapes.next()??;
    shapes
        .all(|shape| shape.as_ref() == Some(&first))
        .then_some(RuleShape::Command { words: first })
}

/// Program and subcommand as they are, then anything.
fn of_part(part: &Part) -> Option<Vec<WordShape>> {
    let writes = !part.writes.is_empty() || !part.assignments.is_empty();
    if writes || hides(part) || deletes(part) {
        return None;
    }
    let program = crate::program::base_name(part.words.first()?);
    let until = if let Some(inner) = started(part) {
        part.words.len().checked_sub(inner.words.len())?
    } else if WITH_SUBCOMMANDS.contains(&program.as_str()) {
        // Without a subcommand the rule would cover all of them.
        subcommand_at(part)?
    } else {
        usize::from(part.words.get(1).is_some_and(|word| !word.starts_with('-')))
    };
    let mut words: Vec<WordShape> = part
        .words
        .iter()
        .take(until + 1)
        .map(|text| WordShape::Exact { text: text.clone() })
        .collect();
    words.push(WordShape::Rest);
    Some(words)
}
