//! What differs between two states of a file: the diff that people see, what it does not show in words, and the same change
//! with some of its hunks taken out. What is taken out is compared with what was shown, never counted off blindly.

use crate::bounds;
use crate::contract::{ChosenHunks, KeyLines};
use crate::text::{Encoding, LineEnd, Text};
use paddock_protocol::{ChangeKind, ChangeNote, Diff, DiffLine, DiffMark, FileChange, Hunk, LineEnds};
use similar::{Algorithm, ChangeTag, DiffOp, TextDiff};
use std::fmt::Write;
use std::time::Duration;

const CONTEXT_LINES: usize = 3;
const MAX_CHANGED_LINES: u32 = 2_000;
const MAX_DIFF_BYTES: usize = 256 * 1024;
/// A diff that is not done by then is coarser, not wrong.
const DIFF_TIME: Duration = Duration::from_millis(500);
/// Lines of what was left out that the model is told, and their letters.
const MAX_TOLD_LINES: usize = 24;
const MAX_TOLD_LINE: usize = 200;
/// Lines that look like keys are named up to so many.
const MAX_KEY_LINES: usize = 20;

type LineDiff<'a> = TextDiff<'a, 'a, str>;

/// A created or edited file with its diff; without one for binary content and for more than 2 000 changed lines.
pub fn file_change(path: &str, old: Option<&[u8]>, new: &[u8]) -> FileChange {
    let kind = if old.is_some() {
        ChangeKind::Edited
    } else {
        ChangeKind::Created
    };
    let texts = (Text::decode(old.unwrap_or_default()), Text::decode(new));
    let (added, removed, diff) = match &texts {
        (Some(old), Some(new)) => diff(&old.content, &new.content),
        _ => (0, 0, None),
    };
    let notes = match &texts {
        (Some(before), Some(after)) if old.is_some_and(|old| !old.is_empty()) => notes(before, after),
        _ => Vec::new(),
    };
    FileChange {
        path: path.to_owned(),
        kind,
        added,
        removed,
        diff,
        undoable: true,
        notes,
    }
}

/// New content with the old in the places that were switched off; none when the two differ in another way than was shown, or
/// when nothing or everything would be left.
pub(crate) fn without(old: &[u8], new: &[u8], chosen: &ChosenHunks) -> Option<Vec<u8>> {
    let (before, after) = (Text::decode(old)?, Text::decode(new)?);
    let diff = line_diff(&before.content, &after.content);
    let groups = diff.grouped_ops(CONTEXT_LINES);
    if hunks(&diff, &groups, &before.content, &after.content) != chosen.shown {
        return None;
    }
    let is_off = |hunk: usize| chosen.left_out.iter().any(|place| *place as usize == hunk);
    let off = (0..groups.len()).filter(|hunk| is_off(*hunk)).count();
    if off != chosen.left_out.len() || off == 0 || off == groups.len() {
        return None;
    }
    // Grouping takes lines around away and leaves every change whole and in its place.
    let mut hunk_of_change = groups
        .iter()
        .enumerate()
        .flat_map(|(hunk, ops)| ops.iter().filter(|op| is_change(op)).map(move |_| hunk));
    let mut content = String::with_capacity(before.content.len().max(after.content.len()));
    for op in diff.ops() {
        if is_change(op) && !is_off(hunk_of_change.next()?) {
            content.extend(op.new_range().filter_map(|line| diff.new_slice(line)));
        } else {
            content.extend(op.old_range().filter_map(|line| diff.old_slice(line)));
        }
    }
    Some(before.encode(&content).unwrap_or_else(|_| content.into_bytes()))
}

/// What the model is told of hunks that were left out.
pub(crate) fn told(chosen: &ChosenHunks) -> String {
    let of = bounds::count(chosen.shown.len(), "change");
    let mut told = format!(
        "\nThe user left out {} of the {of} you proposed; these lines stay as they were. Do not make them again unless the user asks. Left out:",
        chosen.left_out.len()
    );
    let mut room = MAX_TOLD_LINES;
    for place in &chosen.left_out {
        let Some(hunk) = chosen.shown.get(*place as usize) else {
            continue;
        };
        let _ = write!(told, "\nchange {}, near line {}:", place + 1, first_change(hunk));
        let changed = hunk.lines.iter().filter(|line| line.mark != DiffMark::Same);
        for line in changed {
            if room == 0 {
                told.push_str("\n…");
                return told;
            }
            room -= 1;
            let sign = match line.mark {
                DiffMark::Added => '+',
                _ => '-',
            };
            let _ = write!(told, "\n{sign}{}", bounds::short_line(&line.text, MAX_TOLD_LINE));
        }
    }
    told
}

/// The line of the old file at which a hunk first changes something.
fn first_change(hunk: &Hunk) -> u32 {
    let same = hunk.lines.iter().take_while(|line| line.mark == DiffMark::Same);
    hunk.old_start + u32::try_from(same.count()).unwrap_or(0)
}

/// The lines of the new content that are not in the old and look like keys, the first ones.
pub(crate) fn key_lines(old: Option<&[u8]>, new: &[u8], find: &KeyLines) -> Vec<u32> {
    let Some(after) = Text::decode(new) else {
        return Vec::new();
    };
    let mut found = find(&after.content);
    if found.is_empty() {
        return found;
    }
    if let Some(before) = Text::decode(old.unwrap_or_default()) {
        let diff = line_diff(&before.content, &after.content);
        let is_new = |line: &u32| {
            let at = (*line as usize).wrapping_sub(1);
            diff.ops()
                .iter()
                .any(|op| is_change(op) && op.new_range().contains(&at))
        };
        found.retain(is_new);
    }
    found.truncate(MAX_KEY_LINES);
    found
}

/// What changes of a text besides its lines.
fn notes(before: &Text, after: &Text) -> Vec<ChangeNote> {
    let mut notes = Vec::new();
    let ends = |text: &Text| match LineEnd::of(&text.content) {
        LineEnd::None => None,
        LineEnd::Lf => Some(LineEnds::Lf),
        LineEnd::CrLf => Some(LineEnds::CrLf),
        LineEnd::Mixed { .. } => Some(LineEnds::Mixed),
    };
    if let (Some(from), Some(to)) = (ends(before), ends(after))
        && from != to
    {
        notes.push(ChangeNote::LineEnds { from, to });
    }
    let stored = |text: &Text| match text.mark {
        true => format!("{} with a byte order mark", text.encoding.name()),
        false => text.encoding.name().to_owned(),
    };
    // Without other letters than those of ASCII the two are the same bytes.
    let same_bytes = before.encoding == Encoding::Latin1 && after.content.is_ascii() && !after.mark;
    if (before.encoding, before.mark) != (after.encoding, after.mark) && !same_bytes {
        notes.push(ChangeNote::Encoding {
            from: stored(before),
            to: stored(after),
        });
    }
    let closed = |text: &Text| text.content.ends_with('\n');
    if !after.content.is_empty() && closed(before) != closed(after) {
        notes.push(ChangeNote::LastLineEnd { ends: closed(after) });
    }
    notes
}

fn is_change(op: &DiffOp) -> bool {
    !matches!(op, DiffOp::Equal { .. })
}

fn line_diff<'a>(old: &'a str, new: &'a str) -> LineDiff<'a> {
    TextDiff::configure()
        .algorithm(Algorithm::Myers)
        .timeout(DIFF_TIME)
        .diff_lines(old, new)
}

fn diff(old: &str, new: &str) -> (u32, u32, Option<Diff>) {
    let diff = line_diff(old, new);
    let count = |range: fn(&DiffOp) -> usize| {
        let sum: usize = diff.ops().iter().filter(|op| is_change(op)).map(range).sum();
        u32::try_from(sum).unwrap_or(u32::MAX)
    };
    let (added, removed) = (count(|op| op.new_range().len()), count(|op| op.old_range().len()));
    if added.saturating_add(removed) > MAX_CHANGED_LINES {
        return (added, removed, None);
    }
    let hunks = hunks(&diff, &diff.grouped_ops(CONTEXT_LINES), old, new);
    let lines = hunks.iter().flat_map(|hunk| &hunk.lines);
    let bytes: usize = lines.map(|line| line.text.len()).sum();
    let only_whitespace = old != new && old.split_whitespace().eq(new.split_whitespace());
    let diff = (bytes <= MAX_DIFF_BYTES).then_some(Diff {
        hunks,
        only_whitespace,
    });
    (added, removed, diff)
}

fn hunks(diff: &LineDiff<'_>, groups: &[Vec<DiffOp>], old: &str, new: &str) -> Vec<Hunk> {
    groups
        .iter()
        .filter_map(|group| {
            let first = group.first()?;
            let changes = group.iter().flat_map(|op| diff.iter_changes(op));
            let lines = changes.map(|change| DiffLine {
                mark: match change.tag() {
                    ChangeTag::Equal => DiffMark::Same,
                    ChangeTag::Insert => DiffMark::Added,
                    ChangeTag::Delete => DiffMark::Removed,
                },
                text: change.value().trim_end_matches(['\n', '\r']).to_owned(),
            });
            Some(Hunk {
                old_start: line_number(first.old_range().start, old),
                new_start: line_number(first.new_range().start, new),
                lines: lines.collect(),
            })
        })
        .collect()
}

/// Counted from 1; 0 for a side without any line, as in every unified diff.
fn line_number(index: usize, side: &str) -> u32 {
    if side.is_empty() {
        0
    } else {
        u32::try_from(index + 1).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marks(change: &FileChange) -> Vec<String> {
        let hunks = &change.diff.as_ref().unwrap().hunks;
        let mark = |mark| match mark {
            DiffMark::Same => ' ',
            DiffMark::Added => '+',
            DiffMark::Removed => '-',
        };
        hunks
            .iter()
            .flat_map(|hunk| {
                let head = format!("@@ {} {}", hunk.old_start, hunk.new_start);
                std::iter::once(head).chain(
                    hunk.lines
                        .iter()
                        .map(|line| format!("{}{}", mark(line.mark), line.text)),
                )
            })
            .collect()
    }

    #[test]
    fn a_diff_has_three_lines_around_each_change() {
        let old: String = (1..=20).map(|n| format!("{n}\n")).collect();
        let new = old
            .replace("5\n6\n", "five\n6\n")
            .replace("\n18\n", "\n18\nnew\n");
        let change = file_change("a", Some(old.as_bytes()), new.as_bytes());
        assert_eq!(
            (change.added, change.removed, change.kind.clone()),
            (2, 1, ChangeKind::Edited)
        );
        assert_eq!(
            marks(&change),
            [
                "@@ 2 2", " 2", " 3", " 4", "-5", "+five", " 6", " 7", " 8", "@@ 16 16", " 16", " 17", " 18",
                "+new", " 19", " 20"
            ]
        );
        let created = file_change("a", None, b"x\ny");
        assert_eq!((created.kind.clone(), created.added), (ChangeKind::Created, 2));
        assert_eq!(marks(&created), ["@@ 0 1", "+x", "+y"]);
    }

    #[test]
    fn only_white_space_is_said_and_much_or_binary_has_no_diff() {
        let white = |old: &str, new: &str| {
            file_change("a", Some(old.as_bytes()), new.as_bytes())
                .diff
                .unwrap()
                .only_whitespace
        };
        assert!(
            white("a\nb\n", "a\r\nb\r\n")
                && white("a b", "a   b\n")
                && !white("a b", "ab")
                && !white("a", "a")
        );
        let many: String = (0..2_001).map(|n| format!("{n}\n")).collect();
        let change = file_change("a", None, many.as_bytes());
        assert_eq!((change.added, change.diff), (2_001, None));
        assert_eq!(file_change("a", Some(b"a\0b"), b"text").diff, None);
        assert_eq!(file_change("a", None, "x".repeat(300_000).as_bytes()).diff, None);
    }

    fn chosen(old: &str, new: &str, left_out: &[u32]) -> ChosenHunks {
        ChosenHunks {
            shown: file_change("a", Some(old.as_bytes()), new.as_bytes())
                .diff
                .unwrap()
                .hunks,
            left_out: left_out.to_vec(),
        }
    }

    fn left(old: &str, new: &str, left_out: &[u32]) -> Option<String> {
        without(old.as_bytes(), new.as_bytes(), &chosen(old, new, left_out))
            .map(|bytes| String::from_utf8(bytes).unwrap())
    }

    const OLD: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\n17\n18\n19\n20";
    const NEW: &str = "one\n2\n3\n4\n5\n6\n7\n8\n9\n11\n12\n13\n14\n15\n16\n17\n18\n19\n20\nmore\n";

    #[test]
    fn what_is_left_out_stays_as_it_was() {
        assert_eq!(left(OLD, NEW, &[0]).unwrap(), NEW.replacen("one", "1", 1));
        assert_eq!(
            left(OLD, NEW, &[1]).unwrap(),
            NEW.replacen("9\n11", "9\n10\n11", 1)
        );
        assert_eq!(left(OLD, NEW, &[0, 1]).unwrap(), OLD.to_owned() + "\nmore\n");
        assert_eq!(left(OLD, NEW, &[1, 2]).unwrap(), OLD.replacen('1', "one", 1));
        let windows = |text: &str| text.replace('\n', "\r\n");
        assert_eq!(
            left(&windows(OLD), &windows(NEW), &[0, 2]).unwrap(),
            windows(&OLD.replacen("10\n", "", 1))
        );
    }

    #[test]
    fn a_choice_is_refused_when_it_was_made_from_another_diff_or_leaves_nothing() {
        let shown = chosen(OLD, NEW, &[0]);
        let other = NEW.replace("more", "else");
        assert_eq!(without(OLD.as_bytes(), other.as_bytes(), &shown), None);
        let moved = OLD.replace("5\n", "");
        assert_eq!(without(moved.as_bytes(), NEW.as_bytes(), &shown), None);
        for wrong in [&[][..], &[0, 1, 2], &[3], &[0, 0], &[0, 7]] {
            assert_eq!(left(OLD, NEW, wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn the_encoding_stays_where_what_is_left_allows_it() {
        let latin = |text: &str| text.chars().map(|letter| letter as u8).collect::<Vec<u8>>();
        let old = OLD.replace("20", "caf\u{e9}");
        let new = NEW.replace("one", "\u{65e5}").replace("20", "caf\u{e9}");
        let shown = file_change("a", Some(&latin(&old)), new.as_bytes())
            .diff
            .unwrap()
            .hunks;
        let left_out = |left_out| ChosenHunks {
            shown: shown.clone(),
            left_out,
        };
        let without_letter = without(&latin(&old), new.as_bytes(), &left_out(vec![0])).unwrap();
        assert_eq!(without_letter, latin(&new.replacen('\u{65e5}', "1", 1)));
        let with_letter = without(&latin(&old), new.as_bytes(), &left_out(vec![2])).unwrap();
        assert!(with_letter.starts_with("\u{65e5}\n".as_bytes()));
    }

    #[test]
    fn the_model_is_told_the_lines_and_where_they_are() {
        let one = told(&chosen(OLD, NEW, &[1]));
        assert!(one.contains("left out 1 of the 3 changes"), "{one}");
        assert!(one.ends_with("change 2, near line 10:\n-10"), "{one}");
        let long: String = (0..200).map(|n| format!("x{n}\n")).collect();
        let much = told(&chosen(OLD, &(long + NEW), &[0]));
        assert!(much.lines().count() < 30 && much.ends_with('…'), "{much}");
    }

    #[test]
    fn what_a_diff_does_not_show_is_noted() {
        let notes = |old: &[u8], new: &[u8]| file_change("a", Some(old), new).notes;
        let line_ends = |from, to| ChangeNote::LineEnds { from, to };
        assert_eq!(
            notes(b"a\nb\n", b"a\r\nb\r\n"),
            [line_ends(LineEnds::Lf, LineEnds::CrLf)]
        );
        assert_eq!(
            notes(b"a\r\nb\r\n", b"a\r\nb\n"),
            [line_ends(LineEnds::CrLf, LineEnds::Mixed)]
        );
        assert_eq!(
            notes(b"a\nb", b"a\nb\n"),
            [ChangeNote::LastLineEnd { ends: true }]
        );
        assert_eq!(
            notes(b"a\nb\n", b"a\nb"),
            [ChangeNote::LastLineEnd { ends: false }]
        );
        let encoding = |from: &str, to: &str| ChangeNote::Encoding {
            from: from.to_owned(),
            to: to.to_owned(),
        };
        assert_eq!(
            notes(b"caf\xe9\n", "caf\u{e9} \u{65e5}\n".as_bytes()),
            [encoding("not UTF-8, read as Latin-1", "UTF-8")]
        );
        assert_eq!(
            notes(b"\xef\xbb\xbfa\n", b"b\n"),
            [encoding("UTF-8 with a byte order mark", "UTF-8")]
        );
        for (old, new) in [
            (&b"a\n"[..], &b"b\n"[..]),
            (b"caf\xe9\n", b"cafe\n"),
            (b"", b"a\r\n"),
            (b"a\n", b""),
        ] {
            assert_eq!(notes(old, new), [], "{old:?}");
        }
    }

    #[test]
    fn keys_are_looked_for_in_new_lines_alone() {
        let find: KeyLines = std::sync::Arc::new(|text| {
            let numbered = text.lines().zip(1..);
            numbered
                .filter(|(line, _)| line.contains("key"))
                .map(|(_, n)| n)
                .collect()
        });
        let lines = |old: Option<&[u8]>, new: &[u8]| key_lines(old, new, &find);
        assert_eq!(lines(Some(b"key\na\n"), b"key\na\nkey 2\n"), [3]);
        assert_eq!(lines(None, b"key\na\nkey\n"), [1, 3]);
        assert_eq!(lines(Some(b"key\na\n"), b"key\nb\n"), [] as [u32; 0]);
    }

    /// The shown hunks, carried out line by line as a person would read them.
    fn by_hand(old: &[String], hunks: &[Hunk], left_out: &[u32]) -> Vec<String> {
        let mut made = Vec::new();
        let mut at = 0;
        for (place, hunk) in (0..).zip(hunks) {
            let start = hunk.old_start.saturating_sub(1) as usize;
            made.extend_from_slice(&old[at..start]);
            at = start;
            for line in &hunk.lines {
                let off = left_out.contains(&place);
                let stays = match line.mark {
                    DiffMark::Same => true,
                    DiffMark::Removed => off,
                    DiffMark::Added => !off,
                };
                if stays {
                    made.push(line.text.clone());
                }
                at += usize::from(line.mark != DiffMark::Added);
            }
        }
        made.extend_from_slice(&old[at..]);
        made
    }

    proptest::proptest! {
        #[test]
        fn any_choice_comes_out_as_it_was_shown(
            old in proptest::collection::vec("[a-d]{1,2}", 1..60),
            edits in proptest::collection::vec((0..60_usize, 0..3_u8), 1..8),
            choice in 0..256_u32,
        ) {
            let mut new = old.clone();
            for (at, kind) in edits {
                let at = at % (new.len() + 1);
                match kind {
                    0 => new.insert(at, "new".to_owned()),
                    _ if at == new.len() => {}
                    1 => { new.remove(at); }
                    _ => new[at] = "other".to_owned(),
                }
            }
            let text = |lines: &[String]| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
            let (before, after) = (text(&old), text(&new));
            let shown = file_change("a", Some(before.as_bytes()), after.as_bytes()).diff.unwrap().hunks;
            let left_out: Vec<u32> = (0..shown.len() as u32).filter(|place| choice >> place & 1 == 1).collect();
            let made = without(before.as_bytes(), after.as_bytes(), &ChosenHunks { shown: shown.clone(), left_out: left_out.clone() });
            if left_out.is_empty() || left_out.len() == shown.len() {
                proptest::prop_assert_eq!(made, None);
            } else {
                proptest::prop_assert_eq!(made, Some(text(&by_hand(&old, &shown, &left_out)).into_bytes()));
            }
        }
    }
}
