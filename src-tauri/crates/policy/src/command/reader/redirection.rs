//! Redirections and here-documents.

use super::Reader;
use crate::command::Part;
use crate::command::word::Word;

impl Reader<'_> {
    /// `<`, `>`, `2>`, `{name}>`; but not `<(` and `>(`, which are words.
    pub(super) fn redirects_here(&self) -> bool {
        let mut ahead = 0;
        while self.peek_at(ahead).is_some_and(|c| c.is_ascii_digit()) && ahead < 6 {
            ahead += 1;
        }
        match (self.peek_at(ahead), self.peek_at(ahead + 1)) {
            (Some('<' | '>'), Some('(')) => ahead > 0,
            (Some('<' | '>'), _) => true,
            _ => false,
        }
    }

    pub(super) fn redirection(&mut self, part: &mut Part) {
        while self.peek().is_some_and(|c| c.is_ascii_digit() || c == '&') {
            self.at += 1;
        }
        let operator = ["<<<", "<<-", "<<", "<>", "<&", "<", ">>", ">|", ">&", ">"]
            .into_iter()
            .find(|operator| {
                operator
                    .chars()
                    .enumerate()
                    .all(|(at, c)| self.peek_at(at) == Some(c))
            })
            .unwrap_or(">");
        self.at += operator.len();
        self.blanks();
        let Some(word) = self.word() else {
            return self.lost();
        };
        match operator {
            "<<" | "<<-" => self.here_document(&word, operator == "<<-", part),
            "<<<" => {
                self.plain = false;
                part.input = (!word.is_expanded()).then(|| word.text());
            }
            "<&" | ">&" if is_descriptor(&word.text()) => {}
            _ => {
                let (words, whole) = word.words();
                if words.len() != 1 || !whole {
                    self.lost();
                }
                let writes = operator.contains('>');
                let reads = operator.starts_with('<');
                for (text, _) in words {
                    if writes && !is_no_file(&text) {
                        part.writes.push(text.clone());
                    }
                    if reads {
                        part.reads.push(text);
                    }
                }
            }
        }
    }

    fn here_document(&mut self, delimiter: &Word, strip: bool, part: &mut Part) {
        self.plain = false;
        if self.unclosed {
            return self.lost();
        }
        let line_end = match self.bodies {
            Some((at, ..)) => at,
            None => {
                let mut at = self.at;
                while at < self.limit && self.chars.get(at).is_some_and(|(_, c)| *c != '\n') {
                    at += 1;
                }
                at
            }
        };
        let begin = self.bodies.map_or(line_end + 1, |(_, end, _)| end);
        let found = self.body_end(begin, &delimiter.text(), strip);
        let Some((end, after)) = found else {
            // Shells differ in what they make of it: its lines are read as commands.
            self.lost();
            self.unclosed = true;
            part.input = Some(self.slice(begin, self.limit).to_owned());
            return;
        };
        let body = self.slice(begin, end);
        let (at, limit) = (self.at, self.limit);
        let mut word = Word::default();
        if !delimiter.is_quoted() {
            self.at = begin;
            self.limit = end;
            self.double_quoted(&mut word, None);
            self.at = at;
            self.limit = limit;
        }
        part.input = (!word.is_expanded()).then(|| body.to_owned());
        self.bodies = Some((line_end, after, self.lists));
    }

    /// Where the body of a here-document ends, and where the line behind its end begins.
    fn body_end(&self, begin: usize, delimiter: &str, strip: bool) -> Option<(usize, usize)> {
        let mut from = begin;
        while from < self.limit {
            let mut to = from;
            while to < self.limit && self.chars.get(to).is_some_and(|(_, c)| *c != '\n') {
                to += 1;
            }
            let line = self.slice(from, to);
            let line = if strip {
                line.trim_start_matches('\t')
            } else {
                line
            };
            if line == delimiter {
                return Some((from, (to + 1).min(self.limit)));
            }
            from = to + 1;
        }
        None
    }
}

fn is_descriptor(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_digit() || c == '-')
}

fn is_no_file(path: &str) -> bool {
    matches!(path, "/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/tty") || path.starts_with("/dev/fd/")
}
