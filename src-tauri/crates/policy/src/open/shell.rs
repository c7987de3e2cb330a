//! Shells: `sh -c`, a script, or whatever comes in.

use super::{Inside, text};
use crate::command::{Part, Values, WordKind, parse_with};

pub(super) fn shell(part: &Part, depth: u8) -> Inside {
    const VALUES: &[&str] = &["-o", "-O", "+O", "+o", "--rcfile", "--init-file"];
    let mut at = 1;
    while let Some(word) = part.words.get(at) {
        let letters = word.strip_prefix('-').filter(|letters| !letters.starts_with('-'));
        if letters.is_some_and(|letters| letters.contains('c')) || word == "--command" {
            let mut behind = at + 1;
            while part
                .words
                .get(behind)
                .is_some_and(|word| word.starts_with('-') && word.len() > 1)
            {
                behind += 1;
            }
            if part.kind(behind) == WordKind::Expanded {
                return Inside::hidden("it runs a text that is put together first");
            }
            let Some(line) = part.words.get(behind) else {
                return Inside::hidden("it reads commands from its input");
            };
            return Inside::line(parse_with(line, positional(part, behind + 1), depth + 1));
        }
        if letters.is_some_and(|letters| letters.contains('s')) {
            break;
        }
        if !word.starts_with(['-', '+']) {
            // A script.
            let reads = word.starts_with("/dev/")
                || word.starts_with("/proc/")
                || part.kind(at) == WordKind::Expanded;
            return if reads {
                Inside::hidden("it runs what it reads")
            } else {
                Inside::default()
            };
        }
        if word == "--version" || word == "--help" {
            return Inside::default();
        }
        at += if VALUES.contains(&word.as_str()) { 2 } else { 1 };
    }
    match &part.input {
        Some(input) => text(input, depth),
        None => Inside::hidden("it reads commands from its input"),
    }
}

/// `$0`, `$1` … of a text that a shell is given.
fn positional(part: &Part, from: usize) -> Values {
    let given = part.words.get(from..).unwrap_or_default();
    let mut values: Values = given
        .iter()
        .take(10)
        .enumerate()
        .map(|(number, word)| (number.to_string(), vec![word.clone()]))
        .collect();
    if given.len() > 1 {
        for all in ["@", "*"] {
            values.insert(all.to_owned(), given.iter().skip(1).take(40).cloned().collect());
        }
    }
    values
}
