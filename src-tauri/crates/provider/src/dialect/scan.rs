//! A call while its object still streams: its tool as soon as that is written, its arguments as they come.
//!
//! Each character is looked at once. What is found here is for display only; whether something is a call, the complete object decides.

use super::call::known_name;
use crate::loose_json::closing_quote;

/// What became known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Glimpse {
    Started(String),
    /// More of the arguments of the call that started last.
    Arguments(String),
}

#[derive(Debug, Default)]
pub(super) struct CallScanner {
    levels: Vec<Level>,
    token: Token,
    call: CallSoFar,
    first_name: Option<String>,
    glimpses: Vec<Glimpse>,
    is_complete: bool,
}

/// An open object or list.
#[derive(Debug)]
struct Level {
    is_object: bool,
    /// Its keys are those of a call.
    is_call: bool,
    key: String,
    /// The next string is a key.
    before_key: bool,
}

#[derive(Debug, Default)]
enum Token {
    #[default]
    None,
    /// A slash that may begin a comment.
    Slash,
    Comment,
    Text {
        close: char,
        escaped: bool,
        content: String,
    },
}

#[derive(Debug, Default)]
struct CallSoFar {
    name: String,
    server: String,
    /// The key of the name cannot be that of some other object.
    is_marked: bool,
    arguments: Arguments,
    is_announced: bool,
    unreported: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Arguments {
    #[default]
    Ahead,
    /// Inside of the value; the number of levels outside of it.
    Open(usize),
    Complete,
}

impl CallScanner {
    /// The value has ended.
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// The tool of the first call that was seen to begin.
    pub fn first_name(&self) -> Option<&str> {
        self.first_name.as_deref()
    }

    /// Takes more text; the first begins with a bracket.
    pub fn push(&mut self, text: &str, tools: &[&str]) -> Vec<Glimpse> {
        for c in text.chars() {
            if self.is_complete {
                break;
            }
            self.character(c, tools);
        }
        self.report(tools);
        std::mem::take(&mut self.glimpses)
    }

    fn character(&mut self, c: char, tools: &[&str]) {
        if matches!(self.call.arguments, Arguments::Open(_)) {
            self.call.unreported.push(c);
        }
        match &mut self.token {
            Token::Text {
                close,
                escaped,
                content,
            } => {
                if *escaped || c == '\\' {
                    *escaped = !*escaped;
                    content.push(c);
                } else if c == *close {
                    let content = std::mem::take(content);
                    self.token = Token::None;
                    self.string(content, tools);
                } else {
                    content.push(c);
                }
            }
            Token::Comment => {
                if c == '\n' {
                    self.token = Token::None;
                }
            }
            Token::Slash if c == '/' => self.token = Token::Comment,
            Token::None | Token::Slash => {
                self.token = Token::None;
                self.mark(c, tools);
            }
        }
    }

    /// A character outside of strings and comments.
    fn mark(&mut self, c: char, tools: &[&str]) {
        match c {
            '/' => self.token = Token::Slash,
            '{' | '[' => self.open(c),
            '}' | ']' => self.close(tools),
            ',' => {
                if let Some(level) = self.levels.last_mut() {
                    level.before_key = level.is_object;
                }
            }
            c => {
                if let Some(close) = closing_quote(c) {
                    self.begin_arguments(c);
                    self.token = Token::Text {
                        close,
                        escaped: false,
                        content: String::new(),
                    };
                }
            }
        }
    }

    fn open(&mut self, c: char) {
        self.begin_arguments(c);
        let is_object = c == '{';
        let starts_call = is_object
            && match self.levels.as_slice() {
                [] => true,
                [list] => !list.is_object,
                _ => false,
            };
        if starts_call {
            self.call = CallSoFar::default();
        }
        let in_call = self.levels.last().is_some_and(|level| level.is_call);
        let wrapped = is_object && in_call && self.levels.last().is_some_and(|level| level.key == "function");
        self.levels.push(Level {
            is_object,
            is_call: starts_call || wrapped,
            key: String::new(),
            before_key: is_object,
        });
    }

    fn close(&mut self, tools: &[&str]) {
        self.levels.pop();
        if self.call.arguments == Arguments::Open(self.levels.len()) {
            self.call.arguments = Arguments::Complete;
        }
        self.report(tools);
        self.is_complete = self.levels.is_empty();
    }

    /// The value that begins with this character may be the arguments.
    fn begin_arguments(&mut self, c: char) {
        let outside = self.levels.len();
        let Some(level) = self
            .levels
            .last()
            .filter(|level| level.is_call && !level.before_key)
        else {
            return;
        };
        let is_theirs = matches!(level.key.as_str(), "parameters" | "arguments" | "input");
        if is_theirs && self.call.arguments == Arguments::Ahead && c != '[' {
            self.call.arguments = Arguments::Open(outside);
            self.call.unreported.push(c);
        }
    }

    fn string(&mut self, content: String, tools: &[&str]) {
        if self.call.arguments == Arguments::Open(self.levels.len()) {
            self.call.arguments = Arguments::Complete;
            return;
        }
        let Some(level) = self.levels.last_mut() else {
            return;
        };
        if level.before_key {
            level.before_key = false;
            level.key = content;
            return;
        }
        if !level.is_call {
            return;
        }
        match level.key.as_str() {
            "tool" | "tool_name" => {
                self.call.name = content;
                self.call.is_marked = true;
            }
            "name" if self.call.name.is_empty() => self.call.name = content,
            "server_name" => self.call.server = content,
            _ => return,
        }
        self.report(tools);
    }

    fn report(&mut self, tools: &[&str]) {
        let call = &mut self.call;
        if !call.is_announced
            && (call.is_marked || call.arguments != Arguments::Ahead)
            && let Some(name) = known_name(&call.server, &call.name, tools)
        {
            call.is_announced = true;
            self.first_name.get_or_insert_with(|| name.to_owned());
            self.glimpses.push(Glimpse::Started(name.to_owned()));
        }
        if call.is_announced && !call.unreported.is_empty() {
            let text = std::mem::take(&mut call.unreported);
            self.glimpses.push(Glimpse::Arguments(text));
        }
    }
}
