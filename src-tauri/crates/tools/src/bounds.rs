//! How much text goes to the model, and the words for what does not.

/// Most bytes of a result.
pub(crate) const MAX_TEXT: usize = 64 * 1024;

/// Most bytes of a replacement that is written out in an answer to the model.
pub(crate) const MAX_REPLACEMENT: usize = 2_000;

/// A size for people: `812 B`, `14.2 KB`, `3.0 MB`.
pub(crate) fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{:.1} KB", bytes as f64 / 1e3),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

/// `1 line`, `2 lines`.
pub(crate) fn count(number: usize, word: &str) -> String {
    if number == 1 {
        format!("1 {word}")
    } else {
        format!("{number} {word}s")
    }
}

/// The beginning of a text, at most so many bytes, never half a character.
pub(crate) fn start_of(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

/// The end of a text, at most so many bytes, never half a character.
pub(crate) fn end_of(text: &str, bytes: usize) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(bytes))..]
}

/// The beginning of a line, at most so many characters, saying how many are missing.
pub(crate) fn short_line(line: &str, characters: usize) -> String {
    match line.char_indices().nth(characters) {
        None => line.to_owned(),
        Some((at, _)) => {
            let more = line[at..].chars().count();
            format!("{}… ({} not shown)", &line[..at], count(more, "more character"))
        }
    }
}

/// A text of which the middle was left out.
pub(crate) struct Shortened<'a> {
    pub(crate) head: &'a str,
    pub(crate) tail: &'a str,
    /// Whole lines left out, at least 1; a line of which a part is shown counts.
    pub(crate) lines: usize,
}

/// Leaves the middle of a text out when it is longer than head and tail; cuts between lines where it can.
pub(crate) fn shorten(text: &str, head: usize, tail: usize) -> Option<Shortened<'_>> {
    if text.len() <= head + tail {
        return None;
    }
    let mut begin = start_of(text, head);
    if let Some(at) = begin.rfind('\n') {
        begin = &begin[..=at];
    }
    let mut end = end_of(text, tail);
    let at_line_start = text[..text.len() - end.len()].ends_with('\n');
    if !at_line_start && let Some(at) = end.find('\n').filter(|at| at + 1 < end.len()) {
        end = &end[at + 1..];
    }
    let between = &text[begin.len()..text.len() - end.len()];
    Some(Shortened {
        head: begin,
        tail: end,
        lines: between.lines().count().max(1),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lines_stay_whole() {
        let text: String = (1..=100).map(|n| format!("line {n}\n")).collect();
        let cut = shorten(&text, 30, 40).unwrap();
        assert_eq!(cut.head, "line 1\nline 2\nline 3\nline 4\n");
        assert_eq!(cut.tail, "line 97\nline 98\nline 99\nline 100\n");
        assert_eq!(cut.lines, 92);
        assert!(shorten("short", 3, 2).is_none());
        assert_eq!(short_line("日本語です", 2), "日本… (3 more characters not shown)");
        assert_eq!(
            (size(999), size(14_234), size(3_000_000)),
            ("999 B".into(), "14.2 KB".into(), "3.0 MB".into())
        );
    }

    proptest! {
        #[test]
        fn nothing_is_lost_or_doubled(text in "[a-c\\n日🎉]{0,200}", head in 0usize..50, tail in 0usize..50) {
            if let Some(cut) = shorten(&text, head, tail) {
                prop_assert!(cut.head.len() <= head && cut.tail.len() <= tail);
                prop_assert!(text.starts_with(cut.head) && text.ends_with(cut.tail));
                prop_assert!(cut.head.len() + cut.tail.len() < text.len());
            } else {
                prop_assert!(text.len() <= head + tail);
            }
        }
    }
}
