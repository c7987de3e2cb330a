//! Rules that cover so much that the person confirms them a second time.

use crate::open::runs;
use crate::program::base_name;
use crate::remember::WITH_SUBCOMMANDS;
use paddock_protocol::{RuleShape, WordShape};

/// What a wide rule would permit, one plain sentence each; empty for a narrow one.
pub fn is_wide(shape: &RuleShape) -> Vec<String> {
    match shape {
        RuleShape::Command { words } => wide_command(words),
        RuleShape::Host { host } => host
            .strip_prefix("*.")
            .map(|domain| {
                format!("Data may go to every host below {domain}, whoever runs it, without a question.")
            })
            .into_iter()
            .collect(),
        RuleShape::Outside { path, write } => wide_place(path, *write),
        RuleShape::WritePath { .. } | RuleShape::ExternalTool { .. } => Vec::new(),
    }
}

fn wide_command(words: &[WordShape]) -> Vec<String> {
    let mut wide = Vec::new();
    let name = match words.first() {
        Some(WordShape::Exact { text }) => text,
        Some(WordShape::OneOf { texts }) => {
            if texts.len() > 1 {
                wide.push(format!("It covers several programs: {}.", texts.join(", ")));
            }
            match texts.first() {
                Some(text) => text,
                None => return wide,
            }
        }
        _ => {
            wide.push("Every program may be run.".to_owned());
            return wide;
        }
    };
    let loose = |word: Option<&WordShape>| matches!(word, Some(WordShape::Any | WordShape::Rest));
    let program = base_name(name);
    if loose(words.get(1)) && WITH_SUBCOMMANDS.contains(&program.as_str()) {
        wide.push(format!(
            "Every subcommand of {name} may be run{}.",
            example(&program)
                .map(|e| format!(", also {e}"))
                .unwrap_or_default()
        ));
    }
    let runs_files = matches!(
        program.as_str(),
        "make" | "just" | "npm" | "pnpm" | "yarn" | "task" | "rake"
    );
    let second = words.get(1).and_then(|word| match word {
        WordShape::Exact { text } => Some(text.as_str()),
        _ => None,
    });
    if second.is_some_and(|second| runs(&program, second)) && loose(words.get(2)) {
        wide.push(format!("Every program may be run through {name}."));
    }
    if runs_files && matches!(second, Some("run" | "run-script")) && loose(words.get(2)) {
        wide.push(format!(
            "Every script that the project names may be run by {name}."
        ));
    }
    wide
}

fn example(program: &str) -> Option<&'static str> {
    Some(match program {
        "git" => "“git push” and “git config”",
        "npm" | "pnpm" | "yarn" => "“install” and “publish”",
        "cargo" => "“cargo install” and “cargo publish”",
        "docker" | "podman" => "“run” with folders of this machine",
        "kubectl" => "“kubectl delete”",
        "gh" => "“gh repo delete”",
        "terraform" => "“terraform destroy”",
        "pip" | "pip3" | "uv" | "poetry" | "go" | "bundle" | "composer" | "brew" => "installations",
        _ => return None,
    })
}

/// A folder to change, or one so near to the root of the drive that nobody knows what is in it.
fn wide_place(path: &str, write: bool) -> Vec<String> {
    let steps = path.split('/').filter(|step| !step.is_empty()).count();
    if !path.ends_with('/') || (!write && steps > 2) {
        return Vec::new();
    }
    let what = if write { "read and changed" } else { "read" };
    let mut wide = vec![format!(
        "Every file below {path} may be {what} without a question."
    )];
    if write {
        wide.push("Changes there cannot be undone by Paddock.".to_owned());
    }
    wide
}
