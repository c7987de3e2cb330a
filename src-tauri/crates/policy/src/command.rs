//! Splits a shell command line into all commands that it would start, for display and for risk hints. It never runs anything,
//! and it is never the boundary: what it cannot follow is marked so and asks.
//!
//! A reader of our own and not a grammar made for editors: those guess on after a mistake, this one must say that it is lost; and
//! what matters here, the text of a word after quotes, escapes, braces and known variables, they do not give.

mod reader;
mod word;

use std::collections::HashMap;

/// A command line, split as far as it can be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandLine {
    pub parts: Vec<Part>,
    /// Whether the parts are the whole truth, word by word: no substitution, control flow, here-document or open quote.
    pub understood: bool,
    /// Whether every command that the shell itself starts is among the parts, also those of substitutions, loops and functions,
    /// and each names its program plainly. Weaker than `understood`.
    pub seen: bool,
    /// It defines a function that starts itself several times over.
    pub multiplies: bool,
}

/// One simple command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// How it is joined to the one before, or what it stands in: `$(`, `<(`, `(`, `{`, `do`, `then` and the like; empty for the
    /// first.
    pub joint: String,
    /// As written.
    pub text: String,
    /// Words after quote removal, redirections and leading assignments apart.
    pub words: Vec<String>,
    /// How far each word is what it says; words without an entry are literal.
    pub kinds: Vec<WordKind>,
    /// Targets of `>`, `>>`, `2>` and the like; `/dev/null` and descriptors are left out.
    pub writes: Vec<String>,
    /// Sources of `<`.
    pub reads: Vec<String>,
    /// Variables set for this part only: `NAME=value`.
    pub assignments: Vec<String>,
    /// The text of a here-document or here-string, when it is known letter by letter.
    pub input: Option<String>,
    /// It is followed by `&`.
    pub background: bool,
}

/// How far a word is what it says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum WordKind {
    #[default]
    Literal,
    /// With wildcards or a leading `~`: the shell puts paths in its place.
    Pattern,
    /// Made of variables, substitutions or braces: the text is a guess.
    Expanded,
}

impl Part {
    /// How far the word at this place is what it says.
    pub fn kind(&self, at: usize) -> WordKind {
        self.kinds.get(at).copied().unwrap_or_default()
    }

    /// The command that begins at this word.
    pub(crate) fn starting_at(&self, at: usize) -> Part {
        Part {
            text: self.text.clone(),
            words: self.words.get(at..).unwrap_or_default().to_vec(),
            kinds: self.kinds.get(at..).unwrap_or_default().to_vec(),
            ..Part::default()
        }
    }
}

/// Variables with their values, as far as the line itself sets them; several values for lists.
pub(crate) type Values = HashMap<String, Vec<String>>;

/// The parts of a command line in the order in which they stand there.
pub fn parse_command(text: &str) -> CommandLine {
    parse_with(text, Values::new(), 0)
}

/// The same for a text that another command runs, inside of so many others.
pub(crate) fn parse_with(text: &str, values: Values, depth: u8) -> CommandLine {
    let mut reader = reader::Reader::new(text, values, depth);
    reader.all();
    reader.finish()
}

#[cfg(test)]
mod tests;
