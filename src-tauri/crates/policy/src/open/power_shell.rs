//! PowerShell: a text behind `-Command`, or one in Base64.

use super::{Inside, rest_as_text, text};
use crate::base64::decoded;
use crate::command::Part;

pub(super) fn power_shell(part: &Part, depth: u8) -> Inside {
    for (at, word) in part.words.iter().enumerate().skip(1) {
        let option = word.trim_start_matches(['-', '/']).to_lowercase();
        if !word.starts_with(['-', '/']) || option.is_empty() {
            let is_file = word.to_lowercase().ends_with(".ps1");
            return if is_file {
                Inside::default()
            } else {
                rest_as_text(part, Some(at), depth)
            };
        }
        let next = part.words.get(at + 1).map(String::as_str);
        if option == "file" || option == "f" || option == "version" || option == "help" {
            return Inside::default();
        }
        if option.len() > 1 && "command".starts_with(&option) || option == "c" {
            return rest_as_text(part, Some(at + 1), depth);
        }
        if option == "ec" || "encodedcommand".starts_with(&option) {
            return match next.and_then(encoded) {
                Some(line) => Inside {
                    hidden: Some("it runs an encoded text"),
                    ..text(&line, depth)
                },
                None => Inside::hidden("it runs an encoded text"),
            };
        }
        if matches!(
            option.as_str(),
            "executionpolicy"
                | "ep"
                | "ex"
                | "windowstyle"
                | "w"
                | "outputformat"
                | "inputformat"
                | "workingdirectory"
                | "wd"
                | "configurationname"
        ) {
            // Its value comes next and is no command.
            return power_shell(&without(part, at), depth);
        }
    }
    Inside::hidden("it reads commands from its input")
}

/// The part without an option and its value.
fn without(part: &Part, at: usize) -> Part {
    let words = part
        .words
        .iter()
        .enumerate()
        .filter(|(i, _)| *i != at && *i != at + 1);
    Part {
        words: words.map(|(_, word)| word.clone()).collect(),
        ..part.clone()
    }
}

/// Base64 of UTF-16, little end first.
fn encoded(text: &str) -> Option<String> {
    let bytes = decoded(text)?;
    let pairs = bytes
        .chunks_exact(2)
        .map(|pair| u16::from_le_bytes([pair[0], pair[1]]));
    String::from_utf16(&pairs.collect::<Vec<u16>>())
        .ok()
        .filter(|text| !text.is_empty())
}
