//! Splits a shell command line into its parts, for display and for risk hints. It never runs anything, and it is
//! never the boundary: what it cannot split is marked so and asks.

/// A command line, split as far as it can be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandLine {
    pub parts: Vec<Part>,
    /// Whether the parts are the whole truth: no substitution, control flow, here-document or open quote.
    pub understood: bool,
}

/// One simple command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// How it is joined to the one before; empty for the first.
    pub joint: String,
    /// As written.
    pub text: String,
    /// Words after quote removal, redirections and leading assignments apart.
    pub words: Vec<String>,
    /// Targets of `>`, `>>`, `2>` and the like; `/dev/null` and descriptors are left out.
    pub writes: Vec<String>,
    /// Variables set for this part only: `NAME=value`.
    pub assignments: Vec<String>,
}

/// Words after which more commands follow in shell grammar.
const CONTROL_WORDS: &[&str] = &[
    "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "select",
    "function", "time", "coproc", "{", "}", "!", "[[", "]]",
];

pub fn parse_command(text: &str) -> CommandLine {
    let mut splitter = Splitter::default();
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map(|(_, c)| *c);
        match c {
            '\'' => splitter.single_quoted(&mut chars),
            '"' => splitter.double_quoted(&mut chars),
            '\\' => match chars.next() {
                Some((_, '\n')) => {}
                Some((_, escaped)) => splitter.push(escaped),
                None => splitter.unclear = true,
            },
            '$' if matches!(next, Some('(' | '{' | '\'' | '"')) => {
                splitter.unclear = true;
                splitter.push(c);
            }
            '$' => {
                splitter.variable = true;
                splitter.push(c);
            }
            '`' | '(' | ')' => {
                splitter.unclear = true;
                splitter.push(c);
            }
            '<' if matches!(next, Some('<' | '(')) => {
                splitter.unclear = true;
                splitter.push(c);
            }
            '>' | '<' => splitter.redirect(c, &mut chars),
            '&' if next == Some('>') => splitter.end_word(),
            '&' | '|' if next == Some(c) => {
                chars.next();
                splitter.end_part(text, at, at + 2, &format!("{c}{c}"));
            }
            '|' if next == Some('&') => {
                chars.next();
                splitter.end_part(text, at, at + 2, "|&");
            }
            '&' | '|' | ';' => splitter.end_part(text, at, at + 1, &c.to_string()),
            '\n' => splitter.end_part(text, at, at + 1, ";"),
            '#' if !splitter.in_word => while chars.next_if(|(_, c)| *c != '\n').is_some() {},
            c if c.is_whitespace() => splitter.end_word(),
            c => splitter.push(c),
        }
    }
    splitter.end_part(text, text.len(), text.len(), "");
    splitter.finish()
}

type Chars<'a> = std::iter::Peekable<std::str::CharIndices<'a>>;

#[derive(Default)]
struct Splitter {
    parts: Vec<Part>,
    current: Part,
    word: String,
    in_word: bool,
    redirecting: bool,
    /// The word being read holds an unquoted variable.
    variable: bool,
    begin: usize,
    joint: String,
    /// Something that cannot be split was met.
    unclear: bool,
}

impl Splitter {
    fn push(&mut self, c: char) {
        self.word.push(c);
        self.in_word = true;
    }

    fn single_quoted(&mut self, chars: &mut Chars<'_>) {
        self.in_word = true;
        for (_, c) in chars.by_ref() {
            if c == '\'' {
                return;
            }
            self.word.push(c);
        }
        self.unclear = true;
    }

    fn double_quoted(&mut self, chars: &mut Chars<'_>) {
        self.in_word = true;
        while let Some((_, c)) = chars.next() {
            match c {
                '"' => return,
                '\\' => {
                    if let Some((_, escaped)) = chars.next() {
                        if !matches!(escaped, '"' | '\\' | '$' | '`' | '\n') {
                            self.word.push('\\');
                        }
                        self.word.push(escaped);
                    }
                }
                '`' => self.unclear = true,
                '$' => {
                    if matches!(chars.peek(), Some((_, '(' | '{'))) {
                        self.unclear = true;
                    }
                    self.variable = true;
                    self.word.push(c);
                }
                c => self.word.push(c),
            }
        }
        self.unclear = true;
    }

    /// `>`, `>>`, `>|`, `>&1`, `2>`, `<`.
    fn redirect(&mut self, c: char, chars: &mut Chars<'_>) {
        if !self.word.is_empty() && self.word.chars().all(|c| c.is_ascii_digit()) {
            self.word.clear();
            self.in_word = false;
        }
        self.end_word();
        while chars.next_if(|(_, n)| matches!(n, '>' | '|' | '<')).is_some() {}
        if chars.next_if(|(_, n)| *n == '&').is_some() {
            while chars.next_if(|(_, n)| n.is_ascii_digit() || *n == '-').is_some() {}
            return;
        }
        self.redirecting = c == '>';
        if c == '<' {
            while chars.next_if(|(_, n)| *n == ' ').is_some() {}
            while chars
                .next_if(|(_, n)| !n.is_whitespace() && !matches!(n, ';' | '|' | '&'))
                .is_some()
            {}
        }
    }

    fn end_word(&mut self) {
        if !self.in_word {
            return;
        }
        let word = std::mem::take(&mut self.word);
        self.in_word = false;
        let first = self.current.words.is_empty();
        if std::mem::take(&mut self.redirecting) {
            if !matches!(word.as_str(), "/dev/null" | "/dev/stdout" | "/dev/stderr") {
                self.current.writes.push(word);
            }
        } else if first && is_assignment(&word) {
            self.current.assignments.push(word);
        } else {
            if first && (CONTROL_WORDS.contains(&word.as_str()) || self.variable) {
                self.unclear = true;
            }
            self.current.words.push(word);
        }
        self.variable = false;
    }

    fn end_part(&mut self, text: &str, end: usize, next: usize, joint: &str) {
        self.end_word();
        self.redirecting = false;
        let mut part = std::mem::take(&mut self.current);
        part.text = text.get(self.begin..end).unwrap_or_default().trim().to_owned();
        part.joint = std::mem::take(&mut self.joint);
        self.begin = next;
        let empty = part.text.is_empty() || part.text.starts_with('#');
        if empty {
            self.joint = part.joint;
            if joint != ";" && !joint.is_empty() {
                self.unclear = true;
            }
        } else {
            self.parts.push(part);
            self.joint = joint.to_owned();
        }
    }

    fn finish(self) -> CommandLine {
        let understood = !self.unclear && !self.failed() && !self.parts.is_empty();
        CommandLine {
            parts: self.parts,
            understood,
        }
    }

    fn failed(&self) -> bool {
        self.parts
            .iter()
            .any(|part| part.words.is_empty() && part.assignments.is_empty() && part.writes.is_empty())
    }
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<Vec<String>> {
        parse_command(text)
            .parts
            .into_iter()
            .map(|part| part.words)
            .collect()
    }

    #[test]
    fn splits_at_joints_and_keeps_quotes_together() {
        assert_eq!(
            words("npm run build | tee 'build log.txt' && echo \"a b\"; ls"),
            [
                vec!["npm", "run", "build"],
                vec!["tee", "build log.txt"],
                vec!["echo", "a b"],
                vec!["ls"]
            ]
        );
        let line = parse_command("a | b && c || d; e & f");
        assert_eq!(
            line.parts.iter().map(|p| p.joint.as_str()).collect::<Vec<_>>(),
            ["", "|", "&&", "||", ";", "&"]
        );
        assert!(line.understood);
    }

    #[test]
    fn redirections_are_writes_not_words() {
        let line = parse_command("make >build.log 2>&1 && cat <in.txt >> out.txt 2>/dev/null");
        assert!(line.understood);
        assert_eq!(line.parts[0].words, ["make"]);
        assert_eq!(line.parts[0].writes, ["build.log"]);
        assert_eq!(line.parts[1].words, ["cat"]);
        assert_eq!(line.parts[1].writes, ["out.txt"]);
    }

    #[test]
    fn what_cannot_be_split_says_so() {
        for text in [
            "echo $(curl evil)",
            "echo `id`",
            "for f in *; do rm $f; done",
            "cat <<EOF\nx\nEOF",
            "echo 'open",
            "echo \"open",
            "diff <(a) <(b)",
            "$CMD -rf x",
            "(cd x; ls)",
            "{ ls; }",
            "echo \"${IFS}\"",
            "ls \\",
            "",
            "| ls",
        ] {
            assert!(!parse_command(text).understood, "{text}");
        }
    }

    #[test]
    fn comments_and_assignments() {
        let line = parse_command("A=1 B=x make test # rm -rf /\n\nls");
        assert_eq!(line.parts[0].words, ["make", "test"]);
        assert_eq!(line.parts[0].assignments, ["A=1", "B=x"]);
        assert_eq!(line.parts[1].words, ["ls"]);
        assert!(line.understood);
    }
}
