//! The one patch format that is understood, read strictly: the envelope that models know from training. What a line means is
//! decided by its place and its first character, never guessed; an error names the line and what was expected.

use crate::matching::{self, Match, NoMatch, Replacement};
use std::ops::Range;

const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";
const END_OF_FILE: &str = "*** End of File";
/// Letters of a line shown in an error.
const MAX_SHOWN: usize = 80;

/// What a patch does to one file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FilePatch<'a> {
    pub(crate) path: &'a str,
    pub(crate) action: Action<'a>,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Action<'a> {
    Add {
        content: String,
    },
    Delete,
    Update {
        move_to: Option<&'a str>,
        hunks: Vec<Hunk<'a>>,
    },
}

/// One place of a file: its lines before and after.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Hunk<'a> {
    /// Lines above the place, for example those where a class and a function begin; they decide between equal places.
    pub(crate) headers: Vec<&'a str>,
    pub(crate) old: Vec<&'a str>,
    pub(crate) new: Vec<&'a str>,
    /// The place is the end of the file.
    pub(crate) at_end: bool,
    changes: bool,
}

/// Reads a whole patch.
pub(crate) fn parse(text: &str) -> Result<Vec<FilePatch<'_>>, String> {
    let mut lines = Lines::of(text);
    lines.expect(BEGIN)?;
    let mut files = Vec::new();
    loop {
        let Some(line) = lines.next() else {
            return Err(format!("`patch` does not end with `{END}`; nothing was changed"));
        };
        if line.trim_end() == END {
            break;
        }
        if line.trim().is_empty() {
            continue;
        }
        files.push(lines.file(line)?);
    }
    if let Some(line) = lines.find(|line| !line.trim().is_empty()) {
        return Err(lines.wrong("nothing after the end of the patch", line));
    }
    if files.is_empty() {
        return Err("`patch` changes no file".to_owned());
    }
    Ok(files)
}

struct Lines<'a> {
    lines: std::iter::Peekable<std::str::Lines<'a>>,
    /// Of the line that was taken last, from 1.
    number: usize,
}

impl<'a> Iterator for Lines<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        self.number += 1;
        self.lines.next()
    }
}

impl<'a> Lines<'a> {
    fn of(text: &'a str) -> Self {
        let trimmed = text.trim_start();
        Self {
            number: text[..text.len() - trimmed.len()].matches('\n').count(),
            lines: trimmed.lines().peekable(),
        }
    }

    fn expect(&mut self, wanted: &str) -> Result<(), String> {
        match self.next() {
            Some(line) if line.trim_end() == wanted => Ok(()),
            line => Err(self.wrong(&format!("`{wanted}`"), line.unwrap_or_default())),
        }
    }

    fn wrong(&self, expected: &str, line: &str) -> String {
        let shown: String = line.chars().take(MAX_SHOWN).collect();
        format!(
            "line {} of `patch`: expected {expected}, not `{shown}`",
            self.number
        )
    }

    fn file(&mut self, line: &'a str) -> Result<FilePatch<'a>, String> {
        let after = |start: &str| {
            line.strip_prefix(start)
                .map(str::trim)
                .filter(|path| !path.is_empty())
        };
        if let Some(path) = after("*** Add File:") {
            let content = self.added()?;
            return Ok(FilePatch {
                path,
                action: Action::Add { content },
            });
        }
        if let Some(path) = after("*** Delete File:") {
            return Ok(FilePatch {
                path,
                action: Action::Delete,
            });
        }
        if let Some(path) = after("*** Update File:") {
            let action = self.update(path)?;
            return Ok(FilePatch { path, action });
        }
        let expected =
            format!("`*** Update File: path`, `*** Add File: path`, `*** Delete File: path` or `{END}`");
        Err(self.wrong(&expected, line))
    }

    fn is_section(line: &str) -> bool {
        line.starts_with("*** ") && line.trim_end() != END_OF_FILE
    }

    fn added(&mut self) -> Result<String, String> {
        let mut content = String::new();
        while let Some(line) = self.lines.next_if(|line| !Self::is_section(line)) {
            self.number += 1;
            match line.strip_prefix('+') {
                Some(text) => {
                    content.push_str(text);
                    content.push('\n');
                }
                // An empty line before the next file is no line of this one.
                None if line.trim().is_empty()
                    && self.lines.peek().is_some_and(|next| Self::is_section(next)) => {}
                None => return Err(self.wrong("a line of the new file, which begins with `+`", line)),
            }
        }
        Ok(content)
    }

    fn update(&mut self, path: &str) -> Result<Action<'a>, String> {
        let move_to = self
            .lines
            .next_if(|line| line.starts_with("*** Move to:"))
            .inspect(|_| self.number += 1)
            .and_then(|line| line.strip_prefix("*** Move to:"))
            .map(str::trim);
        if move_to == Some("") {
            return Err(self.wrong("a path after `*** Move to:`", ""));
        }
        let mut hunks = Vec::new();
        while self.lines.peek().is_some_and(|line| !Self::is_section(line)) {
            if let Some(hunk) = self.hunk(hunks.is_empty())? {
                hunks.push(hunk);
            }
        }
        if hunks.is_empty() && move_to.is_none() {
            return Err(format!("`patch` changes nothing in `{path}`"));
        }
        Ok(Action::Update { move_to, hunks })
    }

    /// One hunk; none for empty lines between files. The first one of a file may begin without `@@`.
    fn hunk(&mut self, is_first: bool) -> Result<Option<Hunk<'a>>, String> {
        let mut hunk = Hunk::default();
        let begun_at = self.number + 1;
        let mut marked = false;
        while let Some(line) = self.lines.next_if(|line| line.starts_with("@@")) {
            self.number += 1;
            marked = true;
            hunk.headers.extend(header(line));
        }
        let mut empty_at_end = 0;
        while let Some(line) = self
            .lines
            .next_if(|line| !line.starts_with("@@") && !Self::is_section(line))
        {
            self.number += 1;
            if line.trim_end() == END_OF_FILE {
                hunk.at_end = true;
                break;
            }
            empty_at_end = if line.is_empty() { empty_at_end + 1 } else { 0 };
            match line.chars().next() {
                None => hunk.same(""),
                Some(' ') => hunk.same(&line[1..]),
                Some('-') => {
                    hunk.changes = true;
                    hunk.old.push(&line[1..]);
                }
                Some('+') => {
                    hunk.changes = true;
                    hunk.new.push(&line[1..]);
                }
                Some(_) => {
                    return Err(self.wrong("a line that begins with a space, `-`, `+` or `@@`", line));
                }
            }
        }
        // Empty lines at the end may as well stand between two parts of the patch; without them the place is the same.
        hunk.old.truncate(hunk.old.len() - empty_at_end);
        hunk.new.truncate(hunk.new.len() - empty_at_end);
        if !hunk.changes {
            let is_nothing = !marked && hunk.old.is_empty() && !hunk.at_end;
            return if is_nothing {
                Ok(None)
            } else {
                Err(format!("the part at line {begun_at} of `patch` changes nothing"))
            };
        }
        if !marked && !is_first {
            return Err(format!(
                "line {begun_at} of `patch`: a further part of a file begins with `@@`"
            ));
        }
        Ok(Some(hunk))
    }
}

impl<'a> Hunk<'a> {
    fn same(&mut self, line: &'a str) {
        self.old.push(line);
        self.new.push(line);
    }

    /// Its place in the content and what will be there. Headers decide only when there are several equal places.
    pub(crate) fn locate(&self, content: &str) -> Result<Match, NoMatch> {
        if self.old.is_empty() {
            return self.append(content);
        }
        if self.at_end {
            let start = start_of_last(content, self.old.len());
            return self.within(content, start..content.len());
        }
        let found = matching::find_lines(content, &self.old, &self.new);
        match found {
            Err(NoMatch::Several { lines }) => block(content, &self.headers)
                .and_then(|block| self.within(content, block).ok())
                .ok_or(NoMatch::Several { lines }),
            other => other,
        }
    }

    fn within(&self, content: &str, part: Range<usize>) -> Result<Match, NoMatch> {
        let lines_before = content[..part.start].matches('\n').count();
        match matching::find_lines(&content[part.clone()], &self.old, &self.new) {
            Ok(mut found) => {
                for replacement in &mut found.replacements {
                    let range = &replacement.range;
                    replacement.range = range.start + part.start..range.end + part.start;
                }
                Ok(found)
            }
            Err(NoMatch::Nowhere { nearest }) => Err(NoMatch::Nowhere {
                nearest: nearest.map(|lines| lines.start + lines_before..lines.end + lines_before),
            }),
            Err(NoMatch::Uneven { lines }) => Err(NoMatch::Uneven {
                lines: lines.start + lines_before..lines.end + lines_before,
            }),
            Err(several) => Err(several),
        }
    }

    /// Lines without any others around them have a place only in an empty file or at the end.
    pub(crate) fn has_no_place(&self, content: &str) -> bool {
        self.old.is_empty() && !self.at_end && !content.is_empty()
    }

    fn append(&self, content: &str) -> Result<Match, NoMatch> {
        if self.has_no_place(content) {
            return Err(NoMatch::Nowhere { nearest: None });
        }
        let ends = crate::text::LineEnd::of(content);
        let mut text = String::new();
        if !content.is_empty() && !content.ends_with('\n') {
            text.push('\n');
        }
        for line in &self.new {
            text.push_str(line);
            text.push('\n');
        }
        Ok(Match {
            replacements: vec![Replacement {
                range: content.len()..content.len(),
                text: ends.apply(&text),
            }],
            how: matching::How::Exactly,
        })
    }
}

/// The text of a `@@` line, without the line numbers that some add.
fn header(line: &str) -> Option<&str> {
    let mut text = line.trim_start_matches('@').trim();
    if text.starts_with('-')
        && let Some((numbers, rest)) = text.split_once("@@")
    {
        let is_numbers = |letter: char| letter.is_ascii_digit() || "-+, ".contains(letter);
        if numbers.chars().all(is_numbers) {
            text = rest.trim();
        }
    }
    let text = text.strip_suffix("@@").unwrap_or(text).trim();
    (!text.is_empty()).then_some(text)
}

/// Where the last so many lines begin.
fn start_of_last(content: &str, lines: usize) -> usize {
    let text = content.strip_suffix('\n').unwrap_or(content);
    text.rmatch_indices('\n')
        .nth(lines - 1)
        .map_or(0, |(at, _)| at + 1)
}

/// The part of the content that the headers name, one inside of the other: from the line of the last one to the next line
/// that is not indented deeper. None when a header is missing or in several places.
fn block(content: &str, headers: &[&str]) -> Option<Range<usize>> {
    if headers.is_empty() {
        return None;
    }
    let mut part = 0..content.len();
    for header in headers {
        part = block_of(content, part, header)?;
    }
    Some(part)
}

fn block_of(content: &str, part: Range<usize>, header: &str) -> Option<Range<usize>> {
    let mut at = part.start;
    let lines: Vec<(usize, &str)> = content[part.clone()]
        .split_inclusive('\n')
        .map(|line| {
            let start = at;
            at += line.len();
            (start, line)
        })
        .collect();
    let only = |test: &dyn Fn(&str) -> bool| {
        let mut found = (0..lines.len()).filter(|index| test(lines[*index].1.trim()));
        found.next().filter(|_| found.next().is_none())
    };
    let first = only(&|line| line == header).or_else(|| only(&|line| line.starts_with(header)))?;
    let depth = |line: &str| line.len() - line.trim_start().len();
    let own = depth(lines[first].1);
    let end = lines[first + 1..]
        .iter()
        .find(|(_, line)| !line.trim().is_empty() && depth(line) <= own)
        .map_or(part.end, |(start, line)| start + line.len());
    Some(lines[first].0..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patched(content: &str, patch: &str) -> Result<String, NoMatch> {
        let text = format!("*** Begin Patch\n*** Update File: a\n{patch}\n*** End Patch");
        let files = parse(&text).unwrap();
        let Action::Update { hunks, .. } = &files[0].action else {
            panic!("no update")
        };
        assert_eq!(hunks.len(), 1);
        hunks[0].locate(content).map(|found| found.apply(content))
    }

    #[test]
    fn a_patch_is_read() {
        let text = "\n*** Begin Patch\n*** Add File: new/a.txt\n+one\n+\n+ two\n\n*** Delete File: old.txt\n\
            *** Update File: b.rs\n*** Move to: c.rs\n@@ impl A\n@@ fn x() {\n same\n-old\n+new\n\n\
            *** Update File: d.rs\n-x\n+y\n@@ -1,2 +3,4 @@ fn z()\n a\n\n+b\n*** End of File\n*** End Patch\n";
        let files = parse(text).unwrap();
        assert_eq!(
            files,
            [
                FilePatch {
                    path: "new/a.txt",
                    action: Action::Add {
                        content: "one\n\n two\n".into()
                    }
                },
                FilePatch {
                    path: "old.txt",
                    action: Action::Delete
                },
                FilePatch {
                    path: "b.rs",
                    action: Action::Update {
                        move_to: Some("c.rs"),
                        hunks: vec![Hunk {
                            headers: vec!["impl A", "fn x() {"],
                            old: vec!["same", "old"],
                            new: vec!["same", "new"],
                            at_end: false,
                            changes: true,
                        }],
                    }
                },
                FilePatch {
                    path: "d.rs",
                    action: Action::Update {
                        move_to: None,
                        hunks: vec![
                            Hunk {
                                old: vec!["x"],
                                new: vec!["y"],
                                changes: true,
                                ..Hunk::default()
                            },
                            Hunk {
                                headers: vec!["fn z()"],
                                old: vec!["a", ""],
                                new: vec!["a", "", "b"],
                                at_end: true,
                                changes: true,
                            },
                        ],
                    }
                },
            ]
        );
        let moved = parse("*** Begin Patch\n*** Update File: a\n*** Move to: b\n*** End Patch").unwrap();
        assert!(matches!(&moved[0].action, Action::Update { move_to: Some("b"), hunks } if hunks.is_empty()));
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        for (text, expected) in [
            ("", "line 1 of `patch`: expected `*** Begin Patch`, not ``"),
            (
                "--- a\n+++ b\n",
                "line 1 of `patch`: expected `*** Begin Patch`, not `--- a`",
            ),
            ("*** Begin Patch\n*** End Patch", "`patch` changes no file"),
            (
                "*** Begin Patch\n*** Add File: a\n+x\n",
                "`patch` does not end with `*** End Patch`; nothing was changed",
            ),
            (
                "*** Begin Patch\n*** Add File: a\n+x\ny\n*** End Patch",
                "line 4 of `patch`: expected a line of the new file, which begins with `+`, not `y`",
            ),
            (
                "*** Begin Patch\n*** Rename File: a\n*** End Patch",
                "line 2 of `patch`: expected `*** Update File: path`, `*** Add File: path`, `*** Delete File: path` or `*** End Patch`, not `*** Rename File: a`",
            ),
            (
                "*** Begin Patch\n*** Delete File: a\n-x\n*** End Patch",
                "line 3 of `patch`: expected `*** Update File: path`, `*** Add File: path`, `*** Delete File: path` or `*** End Patch`, not `-x`",
            ),
            (
                "*** Begin Patch\n*** Update File: a\n*** End Patch",
                "`patch` changes nothing in `a`",
            ),
            (
                "*** Begin Patch\n*** Update File: a\n@@\n x\n*** End Patch",
                "the part at line 3 of `patch` changes nothing",
            ),
            (
                "*** Begin Patch\n*** Update File: a\n@@\n-x\n*** End of File\n+y\n*** End Patch",
                "line 6 of `patch`: a further part of a file begins with `@@`",
            ),
            (
                "*** Begin Patch\n*** Update File: a\n@@\nx\n*** End Patch",
                "line 4 of `patch`: expected a line that begins with a space, `-`, `+` or `@@`, not `x`",
            ),
            (
                "*** Begin Patch\n*** Delete File: a\n*** End Patch\nmore",
                "line 4 of `patch`: expected nothing after the end of the patch, not `more`",
            ),
            (
                "*** Begin Patch\n*** Update File:\n*** End Patch",
                "line 2 of `patch`: expected `*** Update File: path`, `*** Add File: path`, `*** Delete File: path` or `*** End Patch`, not `*** Update File:`",
            ),
        ] {
            assert_eq!(parse(text).unwrap_err(), expected, "{text:?}");
        }
    }

    #[test]
    fn places_are_whole_lines() {
        assert_eq!(patched("xfoo\nfoo\n", "-foo\n+bar"), Ok("xfoo\nbar\n".into()));
        assert_eq!(
            patched("a\r\nb\r\nc\r\n", " a\n-b\n+x\n+y"),
            Ok("a\r\nx\r\ny\r\nc\r\n".into())
        );
        assert_eq!(
            patched("a\nb", "-b\n+c"),
            Ok("a\nc".into()),
            "no line end at the end"
        );
        assert_eq!(patched("a\nb", " a\n-b"), Ok("a".into()));
        assert_eq!(patched("a\nb\nc\n", "-b"), Ok("a\nc\n".into()));
        assert_eq!(
            patched("    a\n    b\n", " a\n+x\n b"),
            Ok("    a\n    x\n    b\n".into())
        );
        assert_eq!(patched("", "+a"), Ok("a\n".into()));
        assert_eq!(patched("a", "@@\n+b\n*** End of File"), Ok("a\nb\n".into()));
        assert_eq!(
            patched("a\nb\na\n", "@@\n-a\n+x\n*** End of File"),
            Ok("a\nb\nx\n".into())
        );
        assert_eq!(
            patched("a\n", "@@ a\n+b"),
            Err(NoMatch::Nowhere { nearest: None })
        );
        assert_eq!(
            patched("a\nb\n", "@@\n-a\n+x\n*** End of File"),
            Err(NoMatch::Nowhere { nearest: None })
        );
    }

    #[test]
    fn a_header_decides_between_equal_places_and_nothing_else_does() {
        let two = "fn a() {\n    x = 1;\n}\n\nfn b() {\n    x = 1;\n}\n";
        assert_eq!(
            patched(two, "@@ fn b() {\n-    x = 1;\n+    x = 2;"),
            Ok("fn a() {\n    x = 1;\n}\n\nfn b() {\n    x = 2;\n}\n".into())
        );
        let several = Err(NoMatch::Several { lines: vec![2, 6] });
        assert_eq!(patched(two, "@@\n-    x = 1;\n+    x = 2;"), several);
        assert_eq!(
            patched(two, "@@ fn\n-    x = 1;\n+    x = 2;"),
            several,
            "two headers"
        );
        assert_eq!(
            patched(two, "@@ fn c\n-    x = 1;\n+    x = 2;"),
            several,
            "no such header"
        );
        let twice = "fn a() {\n    x = 1;\n    x = 1;\n}\n";
        assert_eq!(
            patched(twice, "@@ fn a\n-    x = 1;\n+    x = 2;"),
            Err(NoMatch::Several { lines: vec![2, 3] })
        );
        let nested =
            "class A:\n    def f(self):\n        return 1\n\nclass B:\n    def f(self):\n        return 1\n";
        assert_eq!(
            patched(
                nested,
                "@@ class B:\n@@ def f(self):\n-        return 1\n+        return 2"
            ),
            Ok(nested.replace(
                "class B:\n    def f(self):\n        return 1",
                "class B:\n    def f(self):\n        return 2"
            ))
        );
    }
}
