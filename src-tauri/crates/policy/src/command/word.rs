//! Words: quotes, escapes, variables, substitutions and braces, down to the text that a program would be given.

use super::reader::Reader;
use super::{WordKind, parse_with};

/// Stands between two words that one expansion makes.
const SPLIT: char = '\0';
/// The most words that braces may make of one, and the longest word that they are opened in.
const MOST_BRACED: usize = 64;
const LONGEST_BRACED: usize = 2_000;
/// The longest value of a variable that is followed.
const LONGEST_VALUE: usize = 1_024;

/// Where a character of a word comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    Bare,
    Quoted,
    Value,
}

type Letters = Vec<(char, Origin)>;

/// A word as it was read.
#[derive(Default)]
pub(super) struct Word {
    letters: Letters,
    /// Something in it is not known before it runs.
    expanded: bool,
    quoted: bool,
}

impl Word {
    fn push(&mut self, c: char, origin: Origin) {
        self.letters.push((c, origin));
    }

    fn push_all(&mut self, text: &str, origin: Origin) {
        self.letters.extend(text.chars().map(|c| (c, origin)));
    }

    pub(super) fn is_quoted(&self) -> bool {
        self.quoted
    }

    pub(super) fn is_expanded(&self) -> bool {
        self.expanded
    }

    /// The whole as one text, nothing split.
    pub(super) fn text(&self) -> String {
        self.letters
            .iter()
            .map(|(c, _)| if *c == SPLIT { ' ' } else { *c })
            .collect()
    }

    /// `NAME=value`, when it would be one at the begin of a command: name, value, and whether the value is known.
    pub(super) fn assignment(&self) -> Option<(String, String)> {
        let at = self.letters.iter().position(|(c, _)| *c == '=')?;
        let (before, after) = self.letters.split_at(at);
        if before.iter().any(|(_, origin)| *origin != Origin::Bare) {
            return None;
        }
        let name: String = before.iter().map(|(c, _)| c).collect();
        let name = name.strip_suffix('+').unwrap_or(&name);
        let name = match name.split_once('[') {
            Some((name, index)) if index.ends_with(']') => name,
            _ => name,
        };
        let value = after
            .iter()
            .skip(1)
            .map(|(c, _)| if *c == SPLIT { ' ' } else { *c })
            .collect();
        is_name(name).then(|| (name.to_owned(), value))
    }

    /// The words that the shell makes of it.
    pub(super) fn words(self) -> (Vec<(String, WordKind)>, bool) {
        let (braced, whole) = braced(self.letters);
        let opened = braced.len() > 1;
        let words = braced
            .into_iter()
            .flat_map(|letters| split(&letters))
            .filter(|letters| !letters.is_empty() || self.quoted || !self.expanded)
            .map(|letters| {
                let kind = match letters.first() {
                    _ if self.expanded || opened => WordKind::Expanded,
                    Some(('~', Origin::Bare)) => WordKind::Pattern,
                    // `[` alone is a program.
                    _ if !matches!(letters.as_slice(), [('[', _)])
                        && letters.iter().any(|l| is_wildcard(*l)) =>
                    {
                        WordKind::Pattern
                    }
                    _ => WordKind::Literal,
                };
                (letters.iter().map(|(c, _)| c).collect(), kind)
            })
            .collect();
        (words, whole)
    }
}

fn is_wildcard((c, origin): (char, Origin)) -> bool {
    origin == Origin::Bare && matches!(c, '*' | '?' | '[')
}

pub(super) fn is_name(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn split(letters: &Letters) -> Vec<Letters> {
    letters.split(|(c, _)| *c == SPLIT).map(<[_]>::to_vec).collect()
}

/// Opens `a{b,c}d`; false when there is too much to open.
fn braced(letters: Letters) -> (Vec<Letters>, bool) {
    if !letters.contains(&('{', Origin::Bare)) {
        return (vec![letters], true);
    }
    if letters.len() > LONGEST_BRACED {
        return (vec![letters], false);
    }
    let mut done = Vec::new();
    let mut open = vec![(letters, 0)];
    while let Some((letters, from)) = open.pop() {
        if done.len() + open.len() > MOST_BRACED {
            done.push(letters);
            return (done, false);
        }
        match group(&letters, from) {
            None => done.push(letters),
            Some((begin, commas, end)) => {
                let cuts: Vec<usize> = std::iter::once(begin).chain(commas).chain([end]).collect();
                let made = cuts.windows(2).map(|cut| {
                    let [before, after] =
                        [letters.get(..begin), letters.get(end + 1..)].map(Option::unwrap_or_default);
                    let inner = letters.get(cut[0] + 1..cut[1]).unwrap_or_default();
                    ([before, inner, after].concat(), begin)
                });
                let made: Vec<(Letters, usize)> = made.collect();
                open.extend(made.into_iter().rev());
            }
        }
    }
    (done, true)
}

/// The first group with a comma at or after a place: its begin, its commas, its end.
fn group(letters: &Letters, from: usize) -> Option<(usize, Vec<usize>, usize)> {
    let mut open: Vec<(usize, Vec<usize>)> = Vec::new();
    let mut found: Option<(usize, Vec<usize>, usize)> = None;
    for (at, letter) in letters.iter().enumerate().skip(from) {
        match letter {
            ('{', Origin::Bare) => open.push((at, Vec::new())),
            (',', Origin::Bare) => {
                if let Some((_, commas)) = open.last_mut() {
                    commas.push(at);
                }
            }
            ('}', Origin::Bare) => {
                if let Some((begin, commas)) = open.pop()
                    && !commas.is_empty()
                    && found.as_ref().is_none_or(|(other, ..)| begin < *other)
                {
                    found = Some((begin, commas, at));
                }
            }
            _ => {}
        }
    }
    found
}

impl Reader<'_> {
    /// The next word; `None` when there is none here.
    pub(super) fn word(&mut self) -> Option<Word> {
        let mut word = Word::default();
        let begin = self.at;
        while let Some(c) = self.peek() {
            match c {
                '\'' => {
                    self.at += 1;
                    self.single_quoted(&mut word);
                }
                '"' => {
                    self.at += 1;
                    word.quoted = true;
                    self.double_quoted(&mut word, Some('"'));
                }
                '\\' => {
                    self.at += 1;
                    match self.next() {
                        Some('\n') => self.joined_line(),
                        Some(escaped) => {
                            word.quoted = true;
                            word.push(escaped, Origin::Quoted);
                        }
                        None => self.lost(),
                    }
                }
                '$' => self.dollar(&mut word, false),
                '`' => self.backticks(&mut word, false),
                '<' | '>' if self.peek_at(1) == Some('(') && self.at == begin => self.process(&mut word),
                ' ' | '\t' | '\n' | ';' | '&' | '|' | '<' | '>' | '(' | ')' => break,
                c => {
                    self.at += 1;
                    word.push(c, Origin::Bare);
                }
            }
        }
        (self.at > begin).then_some(word)
    }

    /// Behind a line that goes on: in the middle of a word or an operator the shell sees one where this reader saw two.
    pub(super) fn joined_line(&mut self) {
        let before = self.at.checked_sub(3).map_or("", |at| self.slice(at, at + 1));
        let glued = |c: char| !matches!(c, ' ' | '\t' | '\n');
        if before.chars().all(glued) && (before == "$" || self.peek().is_some_and(glued)) {
            self.lost();
        }
    }

    fn single_quoted(&mut self, word: &mut Word) {
        word.quoted = true;
        while let Some(c) = self.next() {
            if c == '\'' {
                return;
            }
            word.push(c, Origin::Quoted);
        }
        self.lost();
    }

    /// Up to the closing quote, or to the limit for the body of a here-document.
    pub(super) fn double_quoted(&mut self, word: &mut Word, close: Option<char>) {
        while let Some(c) = self.peek() {
            match c {
                c if Some(c) == close => {
                    self.at += 1;
                    return;
                }
                '\\' => {
                    self.at += 1;
                    match self.next() {
                        Some('\n') => self.joined_line(),
                        Some(escaped) => {
                            if !matches!(escaped, '"' | '\\' | '$' | '`') {
                                word.push('\\', Origin::Quoted);
                            }
                            word.push(escaped, Origin::Quoted);
                        }
                        None => self.lost(),
                    }
                }
                '$' => self.dollar(word, true),
                '`' => self.backticks(word, true),
                c => {
                    self.at += 1;
                    word.push(c, Origin::Quoted);
                }
            }
        }
        if close.is_some() {
            self.lost();
        }
    }

    fn dollar(&mut self, word: &mut Word, quoted: bool) {
        let begin = self.at;
        match (self.peek_at(1), self.peek_at(2)) {
            (Some('('), Some('(')) if self.is_arithmetic(begin + 1) => {
                self.at += 1;
                self.arithmetic();
            }
            (Some('('), _) => {
                self.at += 2;
                self.inside("$(", ")");
            }
            (Some('{'), _) => {
                self.at += 2;
                return self.parameter(word, quoted, begin);
            }
            (Some('\''), _) if !quoted => {
                self.at += 2;
                return self.escaped_quote(word);
            }
            (Some('"'), _) if !quoted => {
                self.at += 2;
                self.plain = false;
                word.quoted = true;
                return self.double_quoted(word, Some('"'));
            }
            (Some('['), _) => {
                self.lost();
                self.at += 2;
            }
            (Some(c), _) if c.is_ascii_alphabetic() || c == '_' => {
                self.at += 1;
                while self.peek().is_some_and(|c| c.is_ascii_alphanumeric() || c == '_') {
                    self.at += 1;
                }
                let name = self.slice(begin + 1, self.at).to_owned();
                return self.variable(word, &name, quoted);
            }
            (Some(c), _) if c.is_ascii_digit() || matches!(c, '@' | '*' | '#' | '?' | '-' | '$' | '!') => {
                self.at += 2;
                return self.variable(word, &c.to_string(), quoted);
            }
            _ => {
                self.at += 1;
                return word.push('$', Origin::Quoted);
            }
        }
        word.expanded = true;
        let text = self.slice(begin, self.at).to_owned();
        word.push_all(&text, Origin::Value);
    }

    /// A `$` or a backtick outside of words: only what it starts counts.
    pub(super) fn expansion(&mut self, word: &mut Word) {
        if self.peek() == Some('`') {
            self.backticks(word, true);
        } else {
            self.dollar(word, true);
        }
    }

    fn variable(&mut self, word: &mut Word, name: &str, quoted: bool) {
        word.expanded = true;
        if name == "IFS" && !quoted {
            return word.push(SPLIT, Origin::Value);
        }
        let Some(values) = self.values.get(name) else {
            return word.push_all(&format!("${name}"), Origin::Value);
        };
        let size: usize = values.iter().map(String::len).sum();
        if size > self.budget {
            return word.push_all(&format!("${name}"), Origin::Value);
        }
        self.budget -= size;
        for (at, value) in values.iter().enumerate() {
            if at > 0 {
                word.push(SPLIT, Origin::Value);
            }
            for c in value.chars() {
                let blank = !quoted && matches!(c, ' ' | '\t' | '\n');
                word.push(if blank { SPLIT } else { c }, Origin::Value);
            }
        }
    }

    /// `${…}`, behind its brace.
    fn parameter(&mut self, word: &mut Word, quoted: bool, begin: usize) {
        self.plain = false;
        word.expanded = true;
        let mut inner = Word::default();
        let from = self.at;
        let closed = self.deeper(|reader| {
            while let Some(c) = reader.peek() {
                match c {
                    '}' => {
                        reader.at += 1;
                        return true;
                    }
                    '\'' if !quoted => {
                        reader.at += 1;
                        reader.single_quoted(&mut inner);
                    }
                    '"' => {
                        reader.at += 1;
                        reader.double_quoted(&mut inner, Some('"'));
                    }
                    '\\' => reader.at += 2,
                    '$' => reader.dollar(&mut inner, true),
                    '`' => reader.backticks(&mut inner, true),
                    _ => reader.at += 1,
                }
            }
            false
        });
        if closed != Some(true) {
            return self.lost();
        }
        let body = self.slice(from, self.at - 1).to_owned();
        // The value itself would be read as a command once more.
        if body.ends_with("@P") {
            self.lost();
        }
        let name = body
            .strip_suffix("[@]")
            .or_else(|| body.strip_suffix("[*]"))
            .unwrap_or(&body);
        let bare_list = name != body && !self.values.contains_key(name);
        if (is_name(name) || name == "@" || name == "*" || name.parse::<u8>().is_ok()) && !bare_list {
            return self.variable(word, name, quoted && name == body);
        }
        let text = self.slice(begin, self.at).to_owned();
        word.push_all(&text, Origin::Value);
    }

    /// `$'…'`, behind its quote.
    fn escaped_quote(&mut self, word: &mut Word) {
        self.plain = false;
        word.quoted = true;
        while let Some(c) = self.next() {
            match c {
                '\'' => return,
                '\\' => {
                    let letter = self.escape();
                    word.letters.extend(letter.map(|c| (c, Origin::Quoted)));
                }
                c => word.push(c, Origin::Quoted),
            }
        }
        self.lost();
    }

    fn escape(&mut self) -> Option<char> {
        let c = self.next()?;
        let (radix, most) = match c {
            'x' => (16, 2),
            'u' => (16, 4),
            'U' => (16, 8),
            '0'..='7' => {
                self.at -= 1;
                (8, 3)
            }
            'n' => return Some('\n'),
            't' => return Some('\t'),
            'r' => return Some('\r'),
            'a' | 'b' | 'e' | 'E' | 'f' | 'v' | 'c' => {
                self.seen = false;
                return None;
            }
            c => return Some(c),
        };
        let begin = self.at;
        while self.at - begin < most && self.peek().is_some_and(|c| c.is_digit(radix)) {
            self.at += 1;
        }
        let code = u32::from_str_radix(self.slice(begin, self.at), radix).ok();
        code.and_then(char::from_u32).filter(|c| *c != SPLIT)
    }

    fn backticks(&mut self, word: &mut Word, quoted: bool) {
        self.plain = false;
        word.expanded = true;
        let begin = self.at;
        self.at += 1;
        let mut inner = String::new();
        loop {
            match self.next() {
                None => return self.lost(),
                Some('`') => break,
                Some('\\') => match self.next() {
                    None => return self.lost(),
                    Some(c) => {
                        let drops = matches!(c, '`' | '\\' | '$') || (quoted && c == '"');
                        if !drops {
                            inner.push('\\');
                        }
                        inner.push(c);
                    }
                },
                Some(c) => inner.push(c),
            }
        }
        let text = self.slice(begin, self.at).to_owned();
        word.push_all(&text, Origin::Value);
        let values = self.values.clone();
        let inside = self.deeper(|reader| parse_with(&inner, values, reader.depth));
        if let Some(line) = inside {
            self.adopt(line, "$(");
        }
    }

    /// `<(…)` and `>(…)`.
    fn process(&mut self, word: &mut Word) {
        let begin = self.at;
        self.at += 2;
        self.inside("<(", ")");
        word.expanded = true;
        let text = self.slice(begin, self.at).to_owned();
        word.push_all(&text, Origin::Value);
    }

    pub(super) fn remember(&mut self, name: String, values: Vec<String>) {
        let size: usize = values.iter().map(String::len).sum();
        if size <= LONGEST_VALUE && self.values.len() < 64 {
            self.values.insert(name, values);
        } else {
            self.values.remove(&name);
        }
    }
}
