//! Finding the one place that an edit means. Three tries, each a little more forgiving: exactly; with other line ends; with
//! other white space at the ends of lines and evenly shifted indentation. None of them ever chooses between two places.

use crate::text::LineEnd;
use similar::TextDiff;
use std::ops::Range;

/// Share of letters that two lines have in common when one is the other with a change.
const ALIKE: f32 = 0.75;
/// Longer lines are compared only whole: the comparison is quadratic.
const MAX_ALIKE: usize = 1_000;
/// Lines compared letter by letter when nothing else is near.
const MAX_COMPARED: usize = 4_000;

/// Text that replaces a range of bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Replacement {
    pub(crate) range: Range<usize>,
    pub(crate) text: String,
}

/// How the place was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    Exactly,
    /// But for line ends.
    LineEnds,
    /// But for white space at the beginning and end of lines.
    WhiteSpace,
}

/// What to replace, from the beginning of the file to its end.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Match {
    pub(crate) replacements: Vec<Replacement>,
    pub(crate) how: How,
}

/// Why there is no one place. Line numbers count from 1.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NoMatch {
    /// Nowhere; the nearest lines, when something is near.
    Nowhere { nearest: Option<Range<usize>> },
    /// At several places, which begin at these lines.
    Several { lines: Vec<usize> },
    /// In one place, but indented so differently that the new text cannot be shifted the same way.
    Uneven { lines: Range<usize> },
}

impl Match {
    /// The content with everything replaced.
    pub(crate) fn apply(&self, content: &str) -> String {
        let mut result = String::with_capacity(content.len());
        let mut at = 0;
        for replacement in &self.replacements {
            result.push_str(&content[at..replacement.range.start]);
            result.push_str(&replacement.text);
            at = replacement.range.end;
        }
        result.push_str(&content[at..]);
        result
    }
}

/// Finds `old` in `content` and makes `new` fit there. With `all`, exact places may be many.
pub(crate) fn find(content: &str, old: &str, new: &str, all: bool) -> Result<Match, NoMatch> {
    let ends = LineEnd::of(content);
    let text = ends.apply(new);
    let exact = places(content, old, all);
    if !exact.is_empty() && !exact.iter().any(|range| splits_line_end(content, range)) {
        return decide(content, exact, &text, How::Exactly, all);
    }
    let flat = Flat::of(content);
    let flat_old = old.replace("\r\n", "\n");
    let loose: Vec<_> = places(&flat.text, &flat_old, all)
        .into_iter()
        .map(|range| flat.back(range.start)..flat.back(range.end))
        .collect();
    if !loose.is_empty() {
        return decide(content, loose, &text, How::LineEnds, all);
    }
    by_lines(content, &flat_old, &new.replace("\r\n", "\n"), ends)
}

/// Finds whole lines in `content` and makes others fit there: exactly, or but for white space at the ends of lines and evenly
/// shifted indentation. At least one line is looked for.
pub(crate) fn find_lines(content: &str, old: &[&str], new: &[&str]) -> Result<Match, NoMatch> {
    let lines = lines_of(content);
    let text = |lines: &[&str]| lines.iter().flat_map(|line| [line, "\n"]).collect::<String>();
    let ends = LineEnd::of(content);
    let starts: Vec<usize> = (0..(lines.len() + 1).saturating_sub(old.len()))
        .filter(|start| {
            let there = lines[*start..].iter().map(|line| line.text);
            there.zip(old).all(|(line, wanted)| line == *wanted)
        })
        .collect();
    let mut found = match starts[..] {
        [] => by_lines(content, &text(old), &text(new), ends)?,
        [start] => Match {
            replacements: vec![Replacement {
                range: lines[start].range.start..lines[start + old.len() - 1].end,
                text: ends.apply(&text(new)),
            }],
            how: How::Exactly,
        },
        _ => {
            return Err(NoMatch::Several {
                lines: starts.iter().map(|start| start + 1).collect(),
            });
        }
    };
    if !content.ends_with('\n') {
        for last in found
            .replacements
            .iter_mut()
            .filter(|last| last.range.end == content.len())
        {
            let kept = last.text.trim_end_matches('\n').trim_end_matches('\r').len();
            last.text.truncate(kept);
        }
    }
    Ok(found)
}

/// Where `old` is: all places that do not overlap, or, to be sure that there is one only, all places.
fn places(content: &str, old: &str, all: bool) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = content[from..].find(old) {
        let start = from + at;
        found.push(start..start + old.len());
        let step = if all {
            old.len()
        } else {
            content[start..].chars().next().map_or(1, char::len_utf8)
        };
        from = start + step.max(1);
        if from > content.len() {
            break;
        }
    }
    found
}

fn decide(
    content: &str,
    places: Vec<Range<usize>>,
    text: &str,
    how: How,
    all: bool,
) -> Result<Match, NoMatch> {
    if places.len() > 1 && !all {
        return Err(NoMatch::Several {
            lines: places.iter().map(|range| line_of(content, range.start)).collect(),
        });
    }
    let replacements = places
        .into_iter()
        .map(|range| Replacement {
            range,
            text: text.to_owned(),
        })
        .collect();
    Ok(Match { replacements, how })
}

/// Whether a place begins or ends between the CR and the LF of one line end.
fn splits_line_end(content: &str, range: &Range<usize>) -> bool {
    [range.start, range.end]
        .iter()
        .any(|at| content[..*at].ends_with('\r') && content[*at..].starts_with('\n'))
}

fn line_of(content: &str, at: usize) -> usize {
    content[..at].matches('\n').count() + 1
}

/// Content with LF line ends, and the way back to the places in the original.
struct Flat {
    text: String,
    /// Places in `text` of line ends that lost their CR.
    cut: Vec<usize>,
}

impl Flat {
    fn of(content: &str) -> Self {
        let mut flat = Flat {
            text: String::with_capacity(content.len()),
            cut: Vec::new(),
        };
        for piece in content.split_inclusive('\n') {
            match piece.strip_suffix("\r\n") {
                Some(line) => {
                    flat.text.push_str(line);
                    flat.cut.push(flat.text.len());
                    flat.text.push('\n');
                }
                None => flat.text.push_str(piece),
            }
        }
        flat
    }

    fn back(&self, at: usize) -> usize {
        at + self.cut.partition_point(|cut| *cut < at)
    }
}

/// A line of the file: where it is, without and with its line end.
struct Line<'a> {
    text: &'a str,
    range: Range<usize>,
    end: usize,
}

fn lines_of(content: &str) -> Vec<Line<'_>> {
    let mut at = 0;
    content
        .split_inclusive('\n')
        .map(|piece| {
            let start = at;
            at += piece.len();
            let text = piece.strip_suffix('\n').unwrap_or(piece);
            let text = text.strip_suffix('\r').unwrap_or(text);
            Line {
                text,
                range: start..start + text.len(),
                end: at,
            }
        })
        .collect()
}

fn by_lines(content: &str, old: &str, new: &str, ends: LineEnd) -> Result<Match, NoMatch> {
    let lines = lines_of(content);
    let wanted: Vec<&str> = old.strip_suffix('\n').unwrap_or(old).split('\n').collect();
    if wanted.iter().all(|line| line.trim().is_empty()) {
        return Err(NoMatch::Nowhere { nearest: None });
    }
    let starts: Vec<usize> = (0..(lines.len() + 1).saturating_sub(wanted.len()))
        .filter(|start| {
            lines[*start..]
                .iter()
                .zip(&wanted)
                .all(|(line, wanted)| line.text.trim() == wanted.trim())
        })
        .collect();
    match starts[..] {
        [] => Err(NoMatch::Nowhere {
            nearest: nearest(&lines, &wanted),
        }),
        [start] => {
            let found = &lines[start..start + wanted.len()];
            let numbers = start + 1..start + 1 + wanted.len();
            let shifted = shift(found, &wanted, new).ok_or(NoMatch::Uneven { lines: numbers })?;
            let last = &found[found.len() - 1];
            let end = if old.ends_with('\n') {
                last.end
            } else {
                last.range.end
            };
            let replacement = Replacement {
                range: found[0].range.start..end,
                text: ends.apply(&shifted),
            };
            Ok(Match {
                replacements: vec![replacement],
                how: How::WhiteSpace,
            })
        }
        _ => Err(NoMatch::Several {
            lines: starts.iter().map(|start| start + 1).collect(),
        }),
    }
}

pub(crate) fn indentation(line: &str) -> &str {
    &line[..line.len() - line.trim_start().len()]
}

/// The new text, indented as the file is where the old text is indented otherwise: all lines by the same amount.
fn shift(found: &[Line], wanted: &[&str], new: &str) -> Option<String> {
    let pairs: Vec<(&str, &str)> = found
        .iter()
        .zip(wanted)
        .filter(|(_, wanted)| !wanted.trim().is_empty())
        .map(|(line, wanted)| (indentation(line.text), indentation(wanted)))
        .collect();
    let (file, given) = *pairs.first()?;
    if let Some(more) = file.strip_suffix(given) {
        let fits = pairs
            .iter()
            .all(|(file, given)| file.strip_prefix(more) == Some(given));
        return fits
            .then(|| each_line(new, |line| Some(format!("{more}{line}"))))
            .flatten();
    }
    let less = given.strip_suffix(file)?;
    let fits = pairs
        .iter()
        .all(|(file, given)| given.strip_prefix(less) == Some(file));
    fits.then(|| each_line(new, |line| line.strip_prefix(less).map(str::to_owned)))
        .flatten()
}

/// Changes every line that is not blank.
fn each_line(text: &str, change: impl Fn(&str) -> Option<String>) -> Option<String> {
    let lines: Option<Vec<String>> = text
        .split('\n')
        .map(|line| {
            if line.trim().is_empty() {
                Some(line.to_owned())
            } else {
                change(line)
            }
        })
        .collect();
    Some(lines?.join("\n"))
}

/// The lines most like the wanted ones: most equal lines, or else the one line that is most alike.
fn nearest(lines: &[Line], wanted: &[&str]) -> Option<Range<usize>> {
    let size = wanted.len().min(lines.len());
    let score = |start: usize| {
        let pairs = lines[start..].iter().zip(wanted);
        pairs
            .filter(|(line, wanted)| !wanted.trim().is_empty() && line.text.trim() == wanted.trim())
            .count()
    };
    let best = (0..=lines.len() - size)
        .map(|start| (score(start), start))
        .max_by_key(|(score, start)| (*score, std::cmp::Reverse(*start)))?;
    if best.0 > 0 {
        return Some(best.1 + 1..best.1 + 1 + size);
    }
    let (offset, longest) = wanted
        .iter()
        .enumerate()
        .max_by_key(|(_, line)| line.trim().len())?;
    let longest = longest.trim();
    let alike = |line: &Line| {
        let line = line.text.trim();
        if line.len().abs_diff(longest.len()) > longest.len().max(8) {
            0.0
        } else {
            TextDiff::from_chars(line, longest).ratio()
        }
    };
    let (ratio, at) = lines
        .iter()
        .take(MAX_COMPARED)
        .enumerate()
        .filter(|(_, line)| line.text.len() < 400 && longest.len() < 400)
        .map(|(at, line)| (alike(line), at))
        .max_by(|one, other| one.0.total_cmp(&other.0).then(other.1.cmp(&one.1)))?;
    let start = at.saturating_sub(offset);
    (ratio > 0.5).then(|| start + 1..(start + 1 + size).min(lines.len() + 1))
}

/// Whether one line is the other with a small change.
pub(crate) fn is_alike(line: &str, other: &str) -> bool {
    let are_short = line.len().max(other.len()) <= MAX_ALIKE;
    line == other || are_short && TextDiff::from_chars(line, other).ratio() >= ALIKE
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn edited(content: &str, old: &str, new: &str) -> Result<(String, How), NoMatch> {
        find(content, old, new, false).map(|found| (found.apply(content), found.how))
    }

    #[test]
    fn exact_text_is_replaced_exactly() {
        for (content, old, new, expected) in [
            ("a b c", "b", "x", "a x c"),
            ("a\nb\nc\n", "b\n", "", "a\nc\n"),
            ("a\r\nb\r\n", "b", "x\ny", "a\r\nx\r\ny\r\n"),
            ("a\nb\n", "b", "x\r\ny", "a\nx\ny\n"),
            ("one", "one", "x\r\ny", "x\r\ny"),
            ("é日é", "日", "🎉", "é🎉é"),
        ] {
            assert_eq!(
                edited(content, old, new),
                Ok((expected.to_owned(), How::Exactly)),
                "{content:?}"
            );
        }
    }

    #[test]
    fn other_line_ends_are_the_same_text() {
        let how = How::LineEnds;
        assert_eq!(
            edited("a\r\nb\r\nc\r\n", "a\nb\n", "x\ny\n"),
            Ok(("x\r\ny\r\nc\r\n".into(), how))
        );
        assert_eq!(edited("a\nb\nc\n", "b\r\nc", "x"), Ok(("a\nx\n".into(), how)));
        assert_eq!(
            edited("q\r\na\nb\r\n", "a\nb\n", "x\n"),
            Ok(("q\r\nx\r\n".into(), how))
        );
        assert_eq!(
            edited("a\r\nb\r\na\r\nb\r\n", "a\nb", "x"),
            Err(NoMatch::Several { lines: vec![1, 3] })
        );
    }

    #[test]
    fn evenly_shifted_lines_are_found_and_shifted_back() {
        let content = "fn a() {\n    if x {\n        y();  \n    }\n}\n";
        let how = How::WhiteSpace;
        assert_eq!(
            edited(
                content,
                "if x {\n    y();\n}\n",
                "if z {\n    y();\n\n    w();\n}\n"
            ),
            Ok((
                "fn a() {\n    if z {\n        y();\n\n        w();\n    }\n}\n".into(),
                how
            ))
        );
        assert_eq!(
            edited("a\n  b\n", "    a\n      b", "    c\n      d"),
            Ok(("c\n  d\n".into(), how)),
            "less indentation in the file"
        );
        assert_eq!(
            edited("\tx\r\n\ty\r\n", "x\ny\n", "x\nz\n"),
            Ok(("\tx\r\n\tz\r\n".into(), how))
        );
        assert_eq!(
            edited("  a\n\n  b", "a\n\nb\n", "c\n"),
            Ok(("  c\n".into(), how)),
            "no line end at the end"
        );
    }

    #[test]
    fn nothing_is_guessed() {
        assert_eq!(
            edited("x\ny\nx\n", "x", "z"),
            Err(NoMatch::Several { lines: vec![1, 3] })
        );
        assert_eq!(
            edited("aaa", "aa", "b"),
            Err(NoMatch::Several { lines: vec![1, 1] }),
            "overlapping places count"
        );
        assert_eq!(
            edited("日日日", "日日", "b"),
            Err(NoMatch::Several { lines: vec![1, 1] })
        );
        let twice = "if a {\n  x();\n}\n    x();\n";
        assert_eq!(
            edited(twice, "x();  \n", "y();\n"),
            Err(NoMatch::Several { lines: vec![2, 4] })
        );
        assert_eq!(
            edited("  a\n\tb\n", "a\nb\n", "c\n"),
            Err(NoMatch::Uneven { lines: 1..3 })
        );
        assert_eq!(
            edited("a\n  b\n", "  a\n    b\n", "  a\nb\n"),
            Err(NoMatch::Uneven { lines: 1..3 }),
            "a new line without the indentation that all others have"
        );
        assert_eq!(edited("a\n", " \n", "b"), Err(NoMatch::Nowhere { nearest: None }));
        assert_eq!(edited("", "a", "b"), Err(NoMatch::Nowhere { nearest: None }));
    }

    #[test]
    fn all_replaces_what_does_not_overlap() {
        let all = |content: &str, old: &str| find(content, old, "b", true).map(|found| found.apply(content));
        assert_eq!(all("a.a.a", "a"), Ok("b.b.b".into()));
        assert_eq!(all("aaaa", "aa"), Ok("bb".into()));
        assert_eq!(all("x\r\ny\r\nx\r\ny\r\n", "x\ny"), Ok("b\r\nb\r\n".into()));
        assert_eq!(
            all(" x\n  x\n", "x \n"),
            Err(NoMatch::Several { lines: vec![1, 2] })
        );
    }

    #[test]
    fn a_line_end_is_never_split() {
        let crlf = "a\r\nb\r\nc";
        assert_eq!(
            edited(crlf, "\nb", "\nx"),
            Ok(("a\r\nx\r\nc".into(), How::LineEnds))
        );
        assert_eq!(edited(crlf, "\nb", ""), Ok(("a\r\nc".into(), How::LineEnds)));
        assert_eq!(
            edited(crlf, "b\r", "x"),
            Ok(("a\r\nx\r\nc".into(), How::WhiteSpace))
        );
        assert_eq!(edited("a\nb", "\nb", ""), Ok(("a".into(), How::Exactly)));
    }

    #[test]
    fn the_nearest_lines_are_named() {
        let content = "one\ntwo\nthree\nfour\nfive\n";
        let nearest = |old| match edited(content, old, "x") {
            Err(NoMatch::Nowhere { nearest }) => nearest,
            other => panic!("{other:?}"),
        };
        assert_eq!(nearest("two\nthree!\nfour"), Some(2..5));
        assert_eq!(nearest("threee"), Some(3..4));
        assert_eq!(nearest("zzzzzzzz"), None);
        assert_eq!(
            nearest("a\nb\nc\nd\ne\nf\nfive\n"),
            Some(1..6),
            "longer than the file"
        );
    }

    fn lines() -> impl Strategy<Value = Vec<String>> {
        proptest::collection::vec("[ \t]{0,4}[ab日]{0,3}[ ]{0,1}", 1..12)
    }

    proptest! {
        /// Whatever is found, everything outside of it stays, byte for byte.
        #[test]
        fn nothing_outside_of_the_match_changes(file in lines(), old in lines(), new in lines(), crlf in any::<bool>(), all in any::<bool>()) {
            let content = file.join(if crlf { "\r\n" } else { "\n" });
            let old = old.join("\n");
            prop_assume!(!old.is_empty());
            if let Ok(found) = find(&content, &old, &new.join("\n"), all) {
                let mut at = 0;
                let mut kept = String::new();
                for replacement in &found.replacements {
                    prop_assert!(replacement.range.start >= at && replacement.range.end <= content.len());
                    let place = &content[replacement.range.clone()];
                    let same = |text: &str| text.split('\n').map(|line| line.trim().to_owned()).collect::<Vec<_>>();
                    prop_assert_eq!(same(place), same(&old), "a place says the same as the old text but for white space");
                    kept.push_str(&content[at..replacement.range.start]);
                    kept.push('\0');
                    at = replacement.range.end;
                }
                kept.push_str(&content[at..]);
                let marked = Match {
                    replacements: found.replacements.iter().map(|one| Replacement { text: "\0".into(), ..one.clone() }).collect(),
                    how: found.how,
                };
                prop_assert_eq!(marked.apply(&content), kept);
                prop_assert!(all || found.replacements.len() == 1);
            }
        }

        /// A part of the file that occurs once is replaced there and nowhere else.
        #[test]
        fn a_part_that_occurs_once_is_replaced_there(file in "[a-d\n ]{1,40}", from in 0usize..40, size in 1usize..10, new in "[x-z\n]{0,8}") {
            let from = from.min(file.len() - 1);
            let to = (from + size).min(file.len());
            let old = &file[from..to];
            let once = (0..file.len()).filter(|at| file[*at..].starts_with(old)).count() == 1;
            let result = edited(&file, old, &new);
            if once {
                prop_assert_eq!(result, Ok((format!("{}{new}{}", &file[..from], &file[to..]), How::Exactly)));
            } else {
                prop_assert!(matches!(result, Err(NoMatch::Several { .. })), "not several");
            }
        }

        /// An edit of a CRLF file is the edit of the LF file, with CRLF.
        #[test]
        fn line_ends_make_no_difference(file in lines(), old in lines(), new in lines()) {
            let old = old.join("\n");
            prop_assume!(!old.is_empty() && file.len() > 1);
            let lf = file.join("\n");
            let crlf = lf.replace('\n', "\r\n");
            let new = new.join("\n");
            let on_lf = find(&lf, &old, &new, false).map(|found| found.apply(&lf).replace('\n', "\r\n"));
            let on_crlf = find(&crlf, &old, &new, false).map(|found| found.apply(&crlf));
            prop_assert_eq!(on_lf, on_crlf);
        }
    }
}
