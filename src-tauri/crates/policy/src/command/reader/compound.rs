//! Loops, branches, groups, functions: what holds lists of commands.

use super::Reader;
use crate::command::Part;
use crate::command::word::{Word, is_name};

impl Reader<'_> {
    pub(super) fn branches(&mut self) {
        self.at += 2;
        self.inside("if", "then");
        loop {
            let end = self.deeper(|reader| reader.list("then", &["elif", "else", "fi"]));
            match end.flatten() {
                Some("elif") => self.inside("elif", "then"),
                Some("else") => return self.inside("else", "fi"),
                Some(_) => return,
                None => return self.lost(),
            }
        }
    }

    pub(super) fn for_loop(&mut self) {
        self.at += self.bare_word().len();
        self.blanks();
        if self.peek() == Some('(') && self.peek_at(1) == Some('(') {
            self.arithmetic();
        } else {
            let name = self.word().map(|word| word.text()).unwrap_or_default();
            self.gap();
            let mut values = Vec::new();
            if self.take_word("in") {
                loop {
                    self.blanks();
                    match self.word() {
                        Some(word) => values.extend(word.words().0.into_iter().map(|(text, _)| text)),
                        None => break,
                    }
                }
            }
            if !is_name(&name) {
                self.lost();
            }
            self.remember(name, values);
        }
        self.blanks();
        if self.peek() == Some(';') {
            self.at += 1;
        }
        self.gap();
        if self.take_word("do") {
            self.inside("do", "done");
        } else if self.take_word("{") {
            self.inside("{", "}");
        } else {
            self.lost();
        }
    }

    pub(super) fn cases(&mut self) {
        self.at += 4;
        self.gap();
        if self.word().is_none() {
            self.lost();
        }
        self.gap();
        if !self.take_word("in") {
            return self.lost();
        }
        loop {
            self.gap();
            if self.take_word("esac") {
                return;
            }
            if self.peek() == Some('(') {
                self.at += 1;
            }
            loop {
                self.blanks();
                match self.peek() {
                    Some(')') => break self.at += 1,
                    Some('|') => self.at += 1,
                    _ if self.word().is_some() => {}
                    _ => return self.lost(),
                }
            }
            let end = self.deeper(|reader| reader.list("case", &[";;", "esac"]));
            match end.flatten() {
                Some(";;") => {}
                Some(_) => return,
                None => return self.lost(),
            }
        }
    }

    /// `[[ … ]]`: it starts nothing but what stands in its words.
    pub(super) fn condition(&mut self, joint: &str) {
        let (index, begin) = (self.parts.len(), self.at);
        self.at += 2;
        loop {
            self.gap();
            if self.take_word("]]") {
                break;
            }
            if self.word().is_none() && self.next().is_none() {
                self.lost();
                break;
            }
        }
        let part = Part {
            joint: joint.to_owned(),
            text: self.slice(begin, self.at).to_owned(),
            words: vec!["[[".to_owned()],
            ..Part::default()
        };
        self.parts.insert(index.min(self.parts.len()), part);
    }

    /// Whether the two brackets here are arithmetic: the inner one closes right before the outer one.
    pub(in crate::command) fn is_arithmetic(&self, begin: usize) -> bool {
        let mut open = 0_usize;
        for at in begin + 1..self.limit {
            match self.chars.get(at).map(|(_, c)| *c) {
                Some('(') => open += 1,
                Some(')') => {
                    open -= 1;
                    if open == 0 {
                        return self.chars.get(at + 1).is_some_and(|(_, c)| *c == ')');
                    }
                }
                _ => {}
            }
        }
        false
    }

    /// `((…))`, with the substitutions in it.
    pub(in crate::command) fn arithmetic(&mut self) {
        self.plain = false;
        self.at += 2;
        let mut word = Word::default();
        let mut open = 2_usize;
        let done = self.deeper(|reader| {
            while open > 0 {
                match reader.peek() {
                    None => return false,
                    Some('$' | '`') => reader.expansion(&mut word),
                    Some(c) => {
                        reader.at += 1;
                        match c {
                            '(' => open += 1,
                            ')' => open -= 1,
                            '\'' | '"' | '\\' => reader.lost(),
                            _ => {}
                        }
                    }
                }
            }
            true
        });
        if done != Some(true) {
            self.lost();
        }
    }

    pub(super) fn named_function(&mut self, joint: &str) {
        self.plain = false;
        self.at += "function".len();
        self.blanks();
        let name = self.word().map(|word| word.text()).unwrap_or_default();
        self.blanks();
        if self.peek() == Some('(') {
            self.at += 1;
            self.blanks();
            if self.next() != Some(')') {
                self.lost();
            }
        }
        self.function(&name, joint);
    }

    pub(super) fn function(&mut self, name: &str, joint: &str) {
        self.plain = false;
        self.gap();
        let first = self.parts.len();
        self.deeper(|reader| reader.command(joint));
        let body = self.parts.get(first..).unwrap_or_default();
        let calls = |part: &&Part| part.words.first().is_some_and(|word| word == name);
        let twice = body.iter().filter(calls).count() > 1;
        let beside = body
            .iter()
            .filter(calls)
            .any(|part| part.background || part.joint == "|");
        self.multiplies |= twice && beside;
    }

    /// Redirections of a whole loop or group, as a part without words.
    pub(super) fn redirections_behind(&mut self, joint: &str, begin: usize) {
        let mut part = Part {
            joint: joint.to_owned(),
            ..Part::default()
        };
        loop {
            self.blanks();
            let both = self.peek() == Some('&') && self.peek_at(1) == Some('>');
            if !(both || self.redirects_here()) {
                break;
            }
            self.redirection(&mut part);
        }
        if !part.writes.is_empty() || !part.reads.is_empty() {
            self.slice(begin, self.at).trim().clone_into(&mut part.text);
            self.parts.push(part);
        }
    }
}
