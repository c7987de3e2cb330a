//! What a rule says in words, which rules may never exist, and which are so wide that they are confirmed twice.

mod refused;
mod wide;

pub use refused::refused_shape;
pub use wide::is_wide;

use paddock_protocol::{RuleShape, WordShape};

/// The rule in words: "npm test, any arguments".
pub fn in_words(shape: &RuleShape) -> String {
    match shape {
        RuleShape::Command { words } => command_in_words(words),
        RuleShape::WritePath { path } => match path.strip_suffix('/') {
            Some(folder) => format!("changes in {folder} and below"),
            None => format!("changes to {path}"),
        },
        RuleShape::Host { host } => match host.strip_prefix("*.") {
            Some(domain) => format!("connections to all hosts below {domain}"),
            None => format!("connections to {host}"),
        },
        RuleShape::Outside { path, write } => {
            let what = if *write { "reading and changing" } else { "reading" };
            match path.strip_suffix('/') {
                Some(folder) => format!("{what} {folder} and below"),
                None => format!("{what} {path}"),
            }
        }
        RuleShape::ExternalTool { server, tool } => format!("{tool} of {server}"),
    }
}

fn command_in_words(words: &[WordShape]) -> String {
    let mut text = String::new();
    for (at, word) in words.iter().enumerate() {
        let said = match word {
            WordShape::Exact { text } => shown(text),
            WordShape::OneOf { texts } => {
                let all: Vec<String> = texts.iter().map(|text| shown(text)).collect();
                format!("({})", all.join(" or "))
            }
            WordShape::Any => "(any word)".to_owned(),
            WordShape::Rest if at == 0 => "any command".to_owned(),
            WordShape::Rest => {
                text.push_str(", any arguments");
                continue;
            }
        };
        if at > 0 {
            text.push(' ');
        }
        text.push_str(&said);
    }
    text
}

/// A word as a person would write it: in quotes when it holds a blank or nothing.
fn shown(word: &str) -> String {
    if word.is_empty() || word.contains(char::is_whitespace) {
        format!("“{word}”")
    } else {
        word.to_owned()
    }
}
