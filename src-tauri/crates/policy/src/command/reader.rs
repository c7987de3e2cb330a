//! The grammar above words: lists, pipes, loops, functions, redirections, here-documents. It reads each character a bounded
//! number of times and gives up, saying so, where a text is too deep or too long.

mod compound;
mod redirection;

use super::word::is_name;
use super::{CommandLine, Part, Values, WordKind};
use crate::program::base_name;

/// Commands inside of commands inside of …
const DEEPEST: u8 = 24;
const MOST_PARTS: usize = 2_000;
/// Characters that known values of variables may add to all words together.
const BUDGET: usize = 64 * 1024;
/// Reserved words that close something.
const CLOSERS: &[&str] = &["then", "do", "done", "fi", "else", "elif", "esac", "}"];

pub(super) struct Reader<'a> {
    text: &'a str,
    chars: Vec<(usize, char)>,
    pub(super) at: usize,
    limit: usize,
    pub(super) depth: u8,
    parts: Vec<Part>,
    pub(super) plain: bool,
    pub(super) seen: bool,
    multiplies: bool,
    pub(super) values: Values,
    pub(super) budget: usize,
    /// A here-document had no end.
    unclosed: bool,
    /// Lists inside of lists.
    lists: usize,
    /// Where the line ends after which the bodies of here-documents stand, where they end, and in which list that is.
    bodies: Option<(usize, usize, usize)>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str, values: Values, depth: u8) -> Self {
        let chars: Vec<(usize, char)> = text.char_indices().collect();
        // Signs that a terminal hides or turns around, and blanks that are none for the shell.
        let strange = |c: char| (c.is_control() && !matches!(c, '\n' | '\t')) || is_hidden(c);
        let seen = !chars.iter().any(|(_, c)| strange(*c));
        Self {
            text,
            limit: chars.len(),
            chars,
            at: 0,
            depth,
            parts: Vec::new(),
            plain: seen,
            seen,
            multiplies: false,
            values,
            budget: BUDGET,
            unclosed: false,
            lists: 0,
            bodies: None,
        }
    }

    pub(super) fn all(&mut self) {
        self.list("", &[]);
    }

    pub(super) fn finish(mut self) -> CommandLine {
        if self.bodies.is_some() || self.parts.is_empty() {
            self.lost();
        }
        CommandLine {
            parts: self.parts,
            understood: self.plain && self.seen,
            seen: self.seen,
            multiplies: self.multiplies,
        }
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.peek_at(0)
    }

    pub(super) fn peek_at(&self, ahead: usize) -> Option<char> {
        let at = self.at + ahead;
        (at < self.limit)
            .then(|| self.chars.get(at).map(|(_, c)| *c))
            .flatten()
    }

    pub(super) fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += 1;
        Some(c)
    }

    /// The text between two places.
    pub(super) fn slice(&self, from: usize, to: usize) -> &'a str {
        let byte = |at: usize| self.chars.get(at).map_or(self.text.len(), |(byte, _)| *byte);
        self.text.get(byte(from)..byte(to.max(from))).unwrap_or_default()
    }

    /// From here on the parts are not the whole truth.
    pub(super) fn lost(&mut self) {
        self.plain = false;
        self.seen = false;
    }

    fn give_up(&mut self) {
        self.lost();
        self.at = self.limit;
    }

    /// Reads something inside of something; `None` when that is too deep.
    pub(super) fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.depth >= DEEPEST || self.parts.len() > MOST_PARTS {
            self.give_up();
            return None;
        }
        self.depth += 1;
        let read = read(self);
        self.depth -= 1;
        Some(read)
    }

    /// A list of commands up to its closing word.
    pub(super) fn inside(&mut self, joint: &str, end: &'static str) {
        self.plain = false;
        let closed = self.deeper(|reader| reader.list(joint, &[end]).is_some());
        if closed == Some(false) {
            self.lost();
        }
    }

    /// Takes over what was read of another text.
    pub(super) fn adopt(&mut self, line: CommandLine, joint: &str) {
        self.seen &= line.seen;
        self.multiplies |= line.multiplies;
        let mut parts = line.parts;
        if let Some(first) = parts.first_mut() {
            joint.clone_into(&mut first.joint);
        }
        self.parts.append(&mut parts);
    }

    fn blanks(&mut self) {
        loop {
            match (self.peek(), self.peek_at(1)) {
                (Some(' ' | '\t'), _) => self.at += 1,
                (Some('\\'), Some('\n')) => {
                    self.at += 2;
                    self.joined_line();
                }
                _ => return,
            }
        }
    }

    fn newline(&mut self) {
        match self.bodies {
            Some((at, end, list)) if at == self.at => {
                self.bodies = None;
                self.at = end;
                if list != self.lists {
                    self.lost();
                }
            }
            _ => self.at += 1,
        }
    }

    fn comment(&mut self) {
        while self.peek().is_some_and(|c| c != '\n') {
            self.at += 1;
        }
    }

    fn gap(&mut self) {
        loop {
            self.blanks();
            match self.peek() {
                Some('\n') => self.newline(),
                Some('#') => self.comment(),
                _ => return,
            }
        }
    }

    /// The unquoted word here, when it ends at a blank, an operator or the end.
    fn bare_word(&self) -> &'a str {
        let ends = |c: char| matches!(c, ' ' | '\t' | '\n' | ';' | '&' | '|' | '<' | '>' | '(' | ')');
        let mut length = 0;
        while let Some(c) = self.peek_at(length) {
            if ends(c) {
                break;
            }
            if length > 10 || matches!(c, '\'' | '"' | '\\' | '$' | '`') {
                return "";
            }
            length += 1;
        }
        self.slice(self.at, self.at + length)
    }

    fn take_word(&mut self, word: &str) -> bool {
        let here = self.bare_word() == word;
        if here {
            self.at += word.chars().count();
        }
        here
    }

    /// Commands up to one of these ends, which is read too. `None` at the end of the text.
    fn list(&mut self, first: &str, ends: &[&'static str]) -> Option<&'static str> {
        self.lists += 1;
        let end = self.commands(first, ends);
        self.lists -= 1;
        end
    }

    fn commands(&mut self, first: &str, ends: &[&'static str]) -> Option<&'static str> {
        let mut joint = first.to_owned();
        let mut any = false;
        let mut may_begin = true;
        let mut must_follow = false;
        loop {
            self.blanks();
            let Some(c) = self.peek() else {
                if must_follow {
                    self.lost();
                }
                return None;
            };
            match c {
                '\n' => {
                    self.newline();
                    if any && !must_follow {
                        joint = ";".into();
                    }
                    may_begin = true;
                }
                '#' => self.comment(),
                ')' => {
                    self.at += 1;
                    if let Some(end) = ends.iter().find(|end| **end == ")") {
                        if must_follow {
                            self.lost();
                        }
                        return Some(end);
                    }
                    self.lost();
                }
                ';' | '&' | '|' if !(c == '&' && self.peek_at(1) == Some('>')) => {
                    if let Some(end) = self.case_end(ends) {
                        return Some(end);
                    }
                    let operator = self.operator();
                    if may_begin {
                        self.lost();
                    }
                    if operator == "&"
                        && let Some(part) = self.parts.last_mut()
                    {
                        part.background = true;
                    }
                    must_follow = !matches!(operator, "&" | ";");
                    joint = operator.to_owned();
                    may_begin = true;
                }
                _ => {
                    let word = self.bare_word();
                    if let Some(end) = ends.iter().find(|end| **end == word && !word.is_empty()) {
                        if must_follow {
                            self.lost();
                        }
                        self.at += word.chars().count();
                        return Some(end);
                    }
                    if !may_begin {
                        self.lost();
                    }
                    let from = self.at;
                    self.deeper(|reader| reader.command(&joint));
                    if self.at == from {
                        self.give_up();
                    }
                    (any, may_begin, must_follow) = (true, false, false);
                }
            }
        }
    }

    fn case_end(&mut self, ends: &[&'static str]) -> Option<&'static str> {
        let end = ends.iter().find(|end| **end == ";;")?;
        let length = match (self.peek(), self.peek_at(1), self.peek_at(2)) {
            (Some(';'), Some(';'), Some('&')) => 3,
            (Some(';'), Some(';' | '&'), _) => 2,
            _ => return None,
        };
        self.at += length;
        Some(end)
    }

    fn operator(&mut self) -> &'static str {
        let (operator, length) = match (self.peek(), self.peek_at(1)) {
            (Some('&'), Some('&')) => ("&&", 2),
            (Some('|'), Some('|')) => ("||", 2),
            (Some('|'), Some('&')) => ("|&", 2),
            (Some('|'), _) => ("|", 1),
            (Some('&'), _) => ("&", 1),
            _ => (";", 1),
        };
        self.at += length;
        operator
    }

    fn command(&mut self, joint: &str) {
        let word = self.bare_word();
        let begin = self.at;
        match word {
            "!" | "coproc" => {
                self.plain = false;
                self.at += word.len();
                self.blanks();
                self.deeper(|reader| reader.command(joint));
                return;
            }
            "function" => return self.named_function(joint),
            _ if CLOSERS.contains(&word) => {
                self.lost();
                self.at += word.len();
                return;
            }
            "if" => self.branches(),
            "while" | "until" => {
                self.at += word.len();
                self.inside(word, "do");
                self.inside("do", "done");
            }
            "for" | "select" => self.for_loop(),
            "case" => self.cases(),
            "{" => {
                self.at += 1;
                self.inside("{", "}");
            }
            "[[" => self.condition(joint),
            _ if self.peek() == Some('(') && self.peek_at(1) == Some('(') && self.is_arithmetic(self.at) => {
                self.arithmetic();
            }
            _ if self.peek() == Some('(') => {
                self.at += 1;
                self.inside("(", ")");
            }
            _ => return self.simple(joint),
        }
        self.plain = false;
        self.redirections_behind(joint, begin);
    }

    fn simple(&mut self, joint: &str) {
        let (index, begin) = (self.parts.len(), self.at);
        let mut part = Part {
            joint: joint.to_owned(),
            ..Part::default()
        };
        loop {
            self.blanks();
            match self.peek() {
                None | Some('\n' | ';' | ')' | '|' | '#') => break,
                Some('&') if self.peek_at(1) != Some('>') => break,
                Some('(') => {
                    if self.function_follows(&part) {
                        let name = part.words.pop().unwrap_or_default();
                        return self.function(&name, joint);
                    }
                    self.lost();
                    self.at += 1;
                    break;
                }
                _ if self.peek() == Some('&') || self.redirects_here() => self.redirection(&mut part),
                _ => self.simple_word(&mut part),
            }
        }
        self.slice(begin, self.at).trim().clone_into(&mut part.text);
        self.end_simple(part, index);
    }

    fn simple_word(&mut self, part: &mut Part) {
        let Some(word) = self.word() else {
            return self.give_up();
        };
        if part.words.is_empty()
            && let Some((name, value)) = word.assignment()
        {
            let mut values = vec![value];
            if values[0].is_empty() && self.peek() == Some('(') {
                self.at += 1;
                values = self.array();
            }
            part.assignments.push(format!("{name}={}", values.join(" ")));
            return self.remember(name, values);
        }
        let (words, whole) = word.words();
        if !whole {
            self.lost();
        }
        for (text, kind) in words {
            let odd = kind != WordKind::Literal || !text.is_ascii();
            if part.words.is_empty() && odd {
                self.lost();
            }
            if kind == WordKind::Expanded && text.contains(['{', ',']) {
                self.plain = false;
            }
            part.words.push(text);
            part.kinds.push(kind);
        }
    }

    fn array(&mut self) -> Vec<String> {
        self.plain = false;
        let mut values = Vec::new();
        loop {
            self.gap();
            match self.word() {
                Some(word) => values.extend(word.words().0.into_iter().map(|(text, _)| text)),
                None => break,
            }
        }
        if self.next() != Some(')') {
            self.lost();
        }
        values
    }

    fn end_simple(&mut self, part: Part, index: usize) {
        let program = part.words.first().map(|word| base_name(word)).unwrap_or_default();
        if matches!(
            program.as_str(),
            "export" | "declare" | "local" | "readonly" | "typeset"
        ) {
            for word in part.words.iter().skip(1) {
                if let Some((name, value)) = word.split_once('=')
                    && is_name(name)
                {
                    self.remember(name.to_owned(), vec![value.to_owned()]);
                }
            }
        }
        let empty = part.words.is_empty()
            && part.assignments.is_empty()
            && part.writes.is_empty()
            && part.reads.is_empty();
        if empty {
            self.lost();
        }
        if !part.text.is_empty() {
            self.parts.insert(index.min(self.parts.len()), part);
        }
    }

    fn function_follows(&mut self, part: &Part) -> bool {
        let alone = part.words.len() == 1 && part.assignments.is_empty();
        let mut ahead = 1;
        while self.peek_at(ahead) == Some(' ') {
            ahead += 1;
        }
        let follows = alone && self.peek_at(ahead) == Some(')');
        if follows {
            self.at += ahead + 1;
        }
        follows
    }
}

/// Signs without width, signs that change the direction, and blanks that only look like one.
fn is_hidden(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{a0}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{180e}' | '\u{2000}'..='\u{200f}'
        | '\u{2028}'..='\u{202f}' | '\u{205f}'..='\u{206f}' | '\u{3000}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}
