//! Texts with `{parameter}` in them. In a text a value stands as it is. In a command it is always one word of the shell,
//! quoted here; so a placeholder may only stand where a quoted word is one, which is checked when the file is read.
//!
//! `{name}` the value · `{name?words}` the words when the switch is on · `{answer.name}` the answer to an earlier question,
//! filled in when the step begins · `{{` and `}}` a brace.

use paddock_policy::parse_command;
use paddock_protocol::{ParameterValue, ParameterValues};

/// A text in parts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Template(Vec<Part>);

#[derive(Clone, Debug, PartialEq)]
enum Part {
    Text(String),
    Value(String),
    When { switch: String, words: String },
    Answer(String),
}

/// Why a text is no template, or a command not one in which values are safe.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TemplateProblem {
    #[error("`{{` begins no placeholder; write `{{{{` for a brace")]
    Brace,
    #[error(
        "`{{{0}}}` stands inside of quotes, or right after `$` or `\\`; write it bare, Paddock quotes the value"
    )]
    Quoted(String),
    #[error("`{{{0}}}` stands in a comment")]
    Comment(String),
    #[error(
        "this command is too intricate for placeholders: no `$(…)`, backquotes, parentheses, loops, conditions or `<<`"
    )]
    Intricate,
    #[error("`{{{0}}}` would choose the program; name the program in the file")]
    Program(String),
    #[error("`{program}` runs or evaluates its words as code, so `{{{name}}}` cannot be given to it")]
    Evaluated { program: String, name: String },
    #[error(
        "`{{answer.{0}}}` could be taken for an option; write ` -- ` before it, or attach it as in `--name={{answer.{0}}}`"
    )]
    BareAnswer(String),
    #[error("`{{{0}}}` is a list, which must stand as a word of its own")]
    AttachedList(String),
}

/// Programs of the shell that run or evaluate what they are given.
const EVALUATING: &[&str] = &[
    "eval",
    "let",
    "declare",
    "typeset",
    "local",
    "export",
    "readonly",
    "source",
    ".",
    "trap",
    "read",
    "unset",
    "mapfile",
    "readarray",
    "getopts",
    "wait",
    "alias",
];
/// Programs that open the program after them.
const WRAPPERS: &[&str] = &["command", "builtin", "exec", "env", "time", "nice", "nohup"];
const SHELLS: &[&str] = &["sh", "bash", "dash", "zsh", "ksh", "fish"];
/// Stands for a value while the words around it are looked at.
const MARK: &str = "PADDOCKVALUE";

impl Part {
    /// What it stands for when it is no value.
    fn own_words(&self, values: &ParameterValues) -> String {
        match self {
            Part::Text(text) => text.clone(),
            Part::When { switch, words } => match values.get(switch) {
                Some(ParameterValue::Switch(true)) => words.clone(),
                _ => String::new(),
            },
            Part::Answer(name) => format!("{{answer.{name}}}"),
            Part::Value(_) => String::new(),
        }
    }
}

impl Template {
    /// Reads a text.
    pub fn read(text: &str) -> Result<Self, TemplateProblem> {
        let mut parts = Vec::new();
        let mut plain = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            plain.push_str(&rest[..at]);
            let brace = &rest[at..];
            if let Some(after) = brace.strip_prefix("{{") {
                plain.push('{');
                rest = after;
            } else if let Some(after) = brace.strip_prefix('}') {
                plain.push('}');
                rest = after.strip_prefix('}').unwrap_or(after);
            } else {
                let (inside, after) = brace[1..].split_once('}').ok_or(TemplateProblem::Brace)?;
                if !plain.is_empty() {
                    parts.push(Part::Text(std::mem::take(&mut plain)));
                }
                parts.push(placeholder(inside).ok_or(TemplateProblem::Brace)?);
                rest = after;
            }
        }
        plain.push_str(rest);
        if !plain.is_empty() {
            parts.push(Part::Text(plain));
        }
        Ok(Self(parts))
    }

    /// Names of the parameters in it.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|part| match part {
            Part::Value(name) | Part::When { switch: name, .. } => Some(name.as_str()),
            Part::Text(_) | Part::Answer(_) => None,
        })
    }

    /// Names of switches that it asks about.
    pub fn switches(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|part| match part {
            Part::When { switch, .. } => Some(switch.as_str()),
            _ => None,
        })
    }

    /// Names of answers in it.
    pub fn answers(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|part| match part {
            Part::Answer(name) => Some(name.as_str()),
            _ => None,
        })
    }

    /// Whether something is filled in.
    pub fn has_values(&self) -> bool {
        self.0
            .iter()
            .any(|part| matches!(part, Part::Value(_) | Part::Answer(_)))
    }

    /// The one parameter of which the whole text consists.
    pub fn only_value(&self) -> Option<&str> {
        match self.0.as_slice() {
            [Part::Value(name)] => Some(name),
            _ => None,
        }
    }

    /// The text with its values.
    pub fn text(&self, values: &ParameterValues) -> String {
        self.0
            .iter()
            .map(|part| match part {
                Part::Value(name) => values.get(name).map(shown).unwrap_or_default(),
                other => other.own_words(values),
            })
            .collect()
    }

    /// Whether values are safe in it as a command: each can only ever be words of the shell.
    pub fn check_command(&self, is_list: impl Fn(&str) -> bool) -> Result<(), TemplateProblem> {
        if !self.has_values() {
            return Ok(());
        }
        self.places()?;
        for with_words in [true, false] {
            for part in parse_command(&self.marked(with_words, true)?).parts {
                let name_in = |word: &str| self.marked_in(word);
                let program = part.words.first().map(String::as_str).unwrap_or_default();
                if let Some(name) = name_in(program) {
                    return Err(TemplateProblem::Program(name));
                }
                let Some(name) = part.words.iter().find_map(|word| name_in(word)) else {
                    continue;
                };
                if evaluates(&part.words) {
                    return Err(TemplateProblem::Evaluated {
                        program: program.to_owned(),
                        name,
                    });
                }
                self.check_words(&part.words, &is_list)?;
            }
        }
        Ok(())
    }

    fn check_words(&self, words: &[String], is_list: &impl Fn(&str) -> bool) -> Result<(), TemplateProblem> {
        let mut after_end = false;
        for word in words {
            after_end |= word == "--";
            let Some(index) = word.find(MARK).and_then(|at| mark_index(&word[at..])) else {
                continue;
            };
            match self.0.get(index) {
                Some(Part::Answer(name)) if word.starts_with(MARK) && !after_end => {
                    return Err(TemplateProblem::BareAnswer(name.clone()));
                }
                Some(Part::Value(name)) if is_list(name) && *word != mark(index) => {
                    return Err(TemplateProblem::AttachedList(name.clone()));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The command with its values, each quoted. `Err` names the parameters whose value would be taken for an option.
    pub fn command(
        &self,
        values: &ParameterValues,
        is_path: impl Fn(&str) -> bool,
    ) -> Result<String, Vec<String>> {
        let bare = self.bare(values);
        let mut options = Vec::new();
        let mut text = String::new();
        for (index, part) in self.0.iter().enumerate() {
            let Part::Value(name) = part else {
                text.push_str(&part.own_words(values));
                continue;
            };
            let words = match values.get(name) {
                None => Vec::new(),
                Some(ParameterValue::List(list)) => list.clone(),
                Some(value) => vec![shown(value)],
            };
            let stands_alone = bare.iter().any(|(at, _)| *at == index);
            if words.is_empty() && !stands_alone {
                text.push_str("''");
            }
            let could_be_option = bare.contains(&(index, true));
            for (at, word) in words.iter().enumerate() {
                let dashed = could_be_option && word.starts_with('-');
                if dashed && !is_path(name) {
                    options.push(name.clone());
                }
                text.push_str(if at > 0 { " " } else { "" });
                text.push_str(&match dashed {
                    true => quoted(&format!("./{word}")),
                    false => quoted(word),
                });
            }
        }
        options.dedup();
        if options.is_empty() {
            Ok(text)
        } else {
            Err(options)
        }
    }

    /// Values that begin a word, and whether such a word could be taken for an option there.
    fn bare(&self, values: &ParameterValues) -> Vec<(usize, bool)> {
        let mut found = Vec::new();
        let sample =
            self.marked_with(&|switch| matches!(values.get(switch), Some(ParameterValue::Switch(true))));
        for part in parse_command(&sample).parts {
            let mut after_end = false;
            for word in part.words {
                after_end |= word == "--";
                if word.starts_with(MARK)
                    && let Some(index) = mark_index(&word)
                {
                    found.push((index, !after_end));
                }
            }
        }
        found
    }

    /// The command with a plain word in the place of each value. An error when it cannot be split into words for sure.
    fn marked(&self, with_words: bool, strict: bool) -> Result<String, TemplateProblem> {
        let text = self.marked_with(&|_| with_words);
        if strict && !parse_command(&text).understood {
            return Err(TemplateProblem::Intricate);
        }
        Ok(text)
    }

    fn marked_with(&self, is_on: &dyn Fn(&str) -> bool) -> String {
        self.0
            .iter()
            .enumerate()
            .map(|(index, part)| match part {
                Part::Text(text) => text.clone(),
                Part::Value(_) | Part::Answer(_) => mark(index),
                Part::When { switch, words } if is_on(switch) => words.clone(),
                Part::When { .. } => String::new(),
            })
            .collect()
    }

    fn marked_in(&self, word: &str) -> Option<String> {
        let index = mark_index(&word[word.find(MARK)?..])?;
        Some(match self.0.get(index)? {
            Part::Answer(name) => format!("answer.{name}"),
            Part::Value(name) => name.clone(),
            _ => return None,
        })
    }

    /// Each value stands outside of quotes and comments and after nothing that would change what a quote means.
    fn places(&self) -> Result<(), TemplateProblem> {
        let mut shell = Shell::default();
        for part in &self.0 {
            match part {
                Part::Text(text) | Part::When { words: text, .. } => {
                    let before = shell.clone();
                    text.chars().for_each(|letter| shell.take(letter));
                    if matches!(part, Part::When { .. }) && shell.quote != before.quote {
                        return Err(TemplateProblem::Intricate);
                    }
                }
                Part::Value(name) => shell.allows(name)?,
                Part::Answer(name) => shell.allows(&format!("answer.{name}"))?,
            }
        }
        Ok(())
    }
}

/// How far a shell has come in a line.
#[derive(Clone, Default)]
struct Shell {
    quote: Option<char>,
    escaped: bool,
    comment: bool,
    before: Option<char>,
}

impl Shell {
    fn take(&mut self, letter: char) {
        let word_begins = self
            .before
            .is_none_or(|before| before.is_whitespace() || ";|&()".contains(before));
        if self.comment {
            self.comment = letter != '\n';
        } else if self.escaped {
            self.escaped = false;
        } else {
            match (self.quote, letter) {
                (Some('\''), '\'') | (Some('"'), '"') => self.quote = None,
                (Some('\''), _) => {}
                (_, '\\') => self.escaped = true,
                (None, '\'' | '"') => self.quote = Some(letter),
                (None, '#') if word_begins => self.comment = true,
                _ => {}
            }
        }
        self.before = Some(letter);
    }

    fn allows(&mut self, name: &str) -> Result<(), TemplateProblem> {
        if self.comment {
            return Err(TemplateProblem::Comment(name.to_owned()));
        }
        if self.quote.is_some() || self.escaped || self.before == Some('$') {
            return Err(TemplateProblem::Quoted(name.to_owned()));
        }
        self.before = Some('x');
        Ok(())
    }
}

fn placeholder(inside: &str) -> Option<Part> {
    if let Some(name) = inside.strip_prefix("answer.") {
        return is_name(name).then(|| Part::Answer(name.to_owned()));
    }
    match inside.split_once('?') {
        Some((switch, words)) => (is_name(switch) && !words.contains('{')).then(|| Part::When {
            switch: switch.to_owned(),
            words: words.to_owned(),
        }),
        None => is_name(inside).then(|| Part::Value(inside.to_owned())),
    }
}

/// Whether a text can be the name of a parameter.
pub fn is_name(name: &str) -> bool {
    name.len() <= 40
        && name.starts_with(|letter: char| letter.is_ascii_lowercase())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'-'))
}

fn mark(index: usize) -> String {
    format!("{MARK}{index}X")
}

fn mark_index(text: &str) -> Option<usize> {
    let rest = text.strip_prefix(MARK)?;
    rest[..rest.find('X')?].parse().ok()
}

fn evaluates(words: &[String]) -> bool {
    let base = |word: &String| word.rsplit('/').next().unwrap_or_default().to_owned();
    let program = words.first().map(base).unwrap_or_default();
    let sets_variables =
        matches!(program.as_str(), "test" | "[" | "printf") && words.iter().any(|word| word == "-v");
    let runs_line = words.iter().any(|word| SHELLS.contains(&base(word).as_str()))
        && words
            .iter()
            .any(|word| word.starts_with('-') && word.ends_with('c'));
    let looked_at = if WRAPPERS.contains(&program.as_str()) {
        words.len()
    } else {
        1
    };
    let evaluating = |word: &String| EVALUATING.contains(&base(word).as_str());
    sets_variables || runs_line || words.iter().take(looked_at).any(evaluating)
}

/// A value as text.
pub fn shown(value: &ParameterValue) -> String {
    match value {
        ParameterValue::Switch(on) => on.to_string(),
        ParameterValue::Number(number) => number.to_string(),
        ParameterValue::Text(text) => text.clone(),
        ParameterValue::List(list) => list.join(", "),
    }
}

/// One word of the shell, whatever is in it.
pub fn quoted(word: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./:@%+,".contains(&byte);
    if !word.is_empty() && word.bytes().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests;
