//! Why an edit found no one place, in words that let the model do better: the nearest lines, or all the places.

use crate::bounds;
use crate::matching::NoMatch;
use std::fmt::Write;
use std::ops::Range;

/// Lines of the file in an error.
const MAX_SHOWN: usize = 20;
const MAX_LINE: usize = 300;

/// What was looked for, in words.
pub(crate) struct Wanted<'a> {
    pub(crate) name: &'a str,
    /// What to do when it is in several places.
    pub(crate) one_place: &'a str,
    /// How a call with another text begins; one line, as it is written in a call, follows.
    pub(crate) call_again: Option<&'a str>,
}

/// Why a text was not found in one place. `hidden`: not even a hint of what is in the file may be given.
pub(crate) fn explain(
    wanted: &Wanted<'_>,
    path: &str,
    content: &str,
    none: &NoMatch,
    hidden: bool,
) -> String {
    let Wanted { name, one_place, .. } = wanted;
    match none {
        _ if hidden => {
            format!("{name} is not in `{path}` in one place; nothing was changed. Read the file first.")
        }
        NoMatch::Nowhere { nearest: None } => {
            format!(
                "{name} is not in `{path}`, nor anything like it; nothing was changed. Read the file first."
            )
        }
        NoMatch::Nowhere { nearest: Some(lines) } => format!(
            "{name} is not in `{path}`; nothing was changed. The nearest lines are:\n{}{}.",
            numbered(content, lines),
            remedy(wanted, content, lines)
        ),
        NoMatch::Uneven { lines } => format!(
            "{name} is indented otherwise than `{path}`, and not evenly, so nothing was changed. The lines are:\n{}Copy the indentation exactly.",
            numbered(content, lines)
        ),
        NoMatch::Several { lines } => {
            let mut shown: Vec<String> = lines.iter().take(MAX_SHOWN).map(usize::to_string).collect();
            if lines.len() > MAX_SHOWN {
                shown.push("…".to_owned());
            }
            format!(
                "{name} is in `{path}` {} times (lines {}); nothing was changed. {one_place}",
                lines.len(),
                shown.join(", ")
            )
        }
    }
}

/// Of one nearest line the call that would change it: quotation marks and backslashes are what goes wrong most.
fn remedy(wanted: &Wanted<'_>, content: &str, lines: &Range<usize>) -> String {
    let line = content.lines().nth(lines.start - 1);
    let one = line.filter(|line| lines.len() == 1 && line.len() <= MAX_LINE);
    match wanted.call_again.zip(one) {
        Some((call_again, line)) => format!("{call_again}{}", serde_json::json!(line)),
        None => "Copy the text exactly, without line numbers".to_owned(),
    }
}

fn numbered(content: &str, lines: &Range<usize>) -> String {
    let mut result = String::new();
    let shown = content
        .lines()
        .enumerate()
        .skip(lines.start - 1)
        .take(lines.len());
    for (index, line) in shown.take(MAX_SHOWN) {
        let _ = writeln!(result, "{}\t{}", index + 1, bounds::short_line(line, MAX_LINE));
    }
    if lines.len() > MAX_SHOWN {
        let _ = writeln!(result, "…");
    }
    result
}
