//! Finding the one place that an edit means. Three tries, each a little more forgiving: exactly; with other line ends; with
//! other white space at the ends of lines and evenly shifted indentation. None of them ever chooses between two places.

use crate::text::LineEnd;
use similar::TextDiff;
use std::ops::Range;

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
    if !exact.is_empty() {
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

fn indentation(line: &str) -> &str {
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
