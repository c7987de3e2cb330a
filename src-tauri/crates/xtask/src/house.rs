//! The house rules that no compiler knows: which doors are open between the crates, how large a file may grow, who may
//! import the desktop's interface, and which words must not be left behind. `cargo xtask check` and a test of this
//! crate apply them to the repository.

use std::path::Path;

use anyhow::Result;
use serde_json::Value;

use crate::workspace;

/// The doors: each crate with the crates it may depend on. Any other edge is a fault.
const DOORS: &[(&str, &[&str])] = &[
    ("paddock-protocol", &[]),
    ("paddock-policy", &["paddock-protocol"]),
    ("paddock-sandbox", &["paddock-protocol"]),
    ("paddock-provider", &["paddock-protocol"]),
    ("paddock-store", &["paddock-protocol"]),
    ("paddock-tools", &["paddock-protocol", "paddock-sandbox"]),
    ("paddock-core", CORE_SEES),
    // What the programs tell about themselves; the core does not know of it.
    ("paddock-telemetry", &["paddock-core", "paddock-protocol"]),
    ("paddock-cli", CLIENT_SEES),
    ("paddock-host", CLIENT_SEES),
    ("paddock-desktop", CLIENT_SEES),
    ("paddock-tests", TESTS_SEE),
    ("xtask", &[]),
];

const CORE_SEES: &[&str] = &[
    "paddock-policy",
    "paddock-protocol",
    "paddock-provider",
    "paddock-sandbox",
    "paddock-store",
    "paddock-tools",
];
const CLIENT_SEES: &[&str] = &["paddock-core", "paddock-protocol", "paddock-telemetry"];
const TESTS_SEE: &[&str] = &[
    "paddock-core",
    "paddock-policy",
    "paddock-protocol",
    "paddock-provider",
    "paddock-sandbox",
    "paddock-store",
    "paddock-tools",
];

/// Packages that mark a room, by the start of their name, and the only crates that may name them.
const ROOMS: &[(&str, &[&str])] = &[
    ("tauri", &["paddock-desktop"]),
    ("notify-rust", &["paddock-desktop", "paddock-tests"]),
    ("keyring", &["paddock-store", "paddock-tests"]),
    ("rusqlite", &["paddock-store"]),
    // A test of the terminal program reads what a collector was sent.
    ("opentelemetry", &["paddock-telemetry", "paddock-cli"]),
    ("reqwest", &["paddock-provider", "paddock-tools", "paddock-tests"]),
];

/// Crates of plain data and pure rules: none of these packages may appear in them.
const PURE: &[&str] = &["paddock-protocol", "paddock-policy"];
const IMPURE: &[&str] = &["tokio", "reqwest", "rusqlite", "tauri", "async-trait"];

/// The most lines a file may have, by how its name ends; tests are apart.
const SIZES: &[(&str, usize)] = &[(".rs", 600), (".ts", 600), (".mjs", 600), (".svelte", 250)];

/// Words for unfinished work and switched-off tests, split so that this list does not find itself.
const MARKS: &[&str] = &[
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("XX", "X"),
    concat!("#[ign", "ore"),
    concat!("it.", "skip("),
    concat!("test.", "skip("),
    concat!("describe.", "skip("),
    concat!("it.", "only("),
    concat!("test.", "only("),
    concat!("describe.", "only("),
];

/// Names that say nothing about what a thing is.
const EMPTY_NAMES: &[&str] = &["manager", "service", "helper", "util", "helpers", "utils"];

/// There a helper is a thing: the process that builds a sandbox around a command and then becomes the command.
const HELPER_IS_A_THING: &str = "src-tauri/crates/sandbox/src/linux/helper.rs";

/// Every fault of the repository in this folder, one sentence each.
pub fn faults(root: &Path) -> Result<Vec<String>> {
    let mut faults = edges(&workspace::metadata()?);
    for file in workspace::files(root)? {
        let is_code = SIZES.iter().any(|(ending, _)| file.ends_with(ending));
        if is_code && !file.starts_with("ui/src/lib/protocol/") {
            let text = std::fs::read_to_string(root.join(&file))?;
            faults.extend(in_file(&file, &text));
        }
    }
    Ok(faults)
}

fn edges(metadata: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    for package in metadata["packages"].as_array().into_iter().flatten() {
        let name = package["name"].as_str().unwrap_or_default();
        let Some((_, doors)) = DOORS.iter().find(|(owner, _)| *owner == name) else {
            faults.push(format!("the crate {name} has no place in the table of doors"));
            continue;
        };
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            let to = dependency["name"].as_str().unwrap_or_default();
            if dependency["path"].is_string() && !doors.contains(&to) {
                faults.push(format!("{name} must not depend on {to}"));
            }
            let closed_room = ROOMS
                .iter()
                .any(|(room, owners)| to.starts_with(room) && !owners.contains(&name));
            let impure = PURE.contains(&name) && IMPURE.contains(&to) && dependency["kind"].is_null();
            if closed_room || impure {
                faults.push(format!("{name} must not use the package {to}"));
            }
        }
    }
    faults
}

fn in_file(file: &str, text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let mut fault = |what: String| faults.push(format!("{file}: {what}"));
    if let Some((_, most)) = SIZES.iter().find(|(ending, _)| file.ends_with(ending)) {
        let lines = lines_without_tests(text);
        if lines > *most && !is_test(file) {
            fault(format!("{lines} lines, and {most} is the most"));
        }
    }
    for mark in MARKS.iter().filter(|mark| text.contains(**mark)) {
        fault(format!("holds {mark}"));
    }
    if let Some(name) = empty_name(file, text) {
        fault(format!("the name {name} says nothing about what it is"));
    }
    if file.starts_with("ui/src/") && !is_test(file) {
        if text.contains("@tauri-apps") && !file.starts_with("ui/src/lib/host/") {
            fault("only ui/src/lib/host may import @tauri-apps".into());
        }
        let names_components = text.contains("$components") || text.contains("/components/");
        if names_components && file.starts_with("ui/src/lib/") {
            fault("ui/src/lib must not import components".into());
        }
    }
    faults
}

/// The lines before a Rust file's test module; all lines elsewhere.
fn lines_without_tests(text: &str) -> usize {
    let end = text.find("\n#[cfg(test)]\nmod ").unwrap_or(text.len());
    text[..end].lines().count()
}

fn is_test(file: &str) -> bool {
    let name = file.rsplit('/').next().unwrap_or(file);
    file.split('/')
        .any(|folder| folder == "tests" || folder == "benches")
        || name.ends_with(".test.ts")
        || name == "tests.rs"
        || name.ends_with("_tests.rs")
}

fn empty_name(file: &str, text: &str) -> Option<String> {
    let stem = file.rsplit('/').next()?.split('.').next()?;
    let last_word = stem.rsplit(['_', '-']).next()?.to_lowercase();
    if EMPTY_NAMES.contains(&last_word.as_str()) && file != HELPER_IS_A_THING {
        return Some(stem.to_owned());
    }
    let mut words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    while let Some(word) = words.next() {
        if matches!(word, "struct" | "trait" | "class" | "interface") {
            let name = words.next().unwrap_or_default();
            if ["Manager", "Service", "Helper", "Util", "Utils"]
                .iter()
                .any(|end| name.ends_with(end))
            {
                return Some(name.to_owned());
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_repository_keeps_the_house_rules() {
        assert_eq!(faults(&workspace::root()).unwrap(), Vec::<String>::new());
    }

    #[test]
    fn an_edge_against_the_direction_of_the_doors_is_a_fault() {
        let package = |name: &str, dependencies: Value| json!({ "name": name, "dependencies": dependencies });
        let metadata = json!({ "packages": [
            package("paddock-policy", json!([{ "name": "paddock-core", "path": "x" }, { "name": "tokio" }])),
            package("paddock-core", json!([{ "name": "paddock-policy", "path": "x" }, { "name": "tauri-plugin-dialog" }])),
            package("shed", json!([])),
        ]});
        assert_eq!(
            edges(&metadata),
            [
                "paddock-policy must not depend on paddock-core",
                "paddock-policy must not use the package tokio",
                "paddock-core must not use the package tauri-plugin-dialog",
                "the crate shed has no place in the table of doors",
            ]
        );
    }

    #[test]
    fn files_that_break_a_rule_are_named() {
        let long = "line\n".repeat(601);
        assert_eq!(
            in_file("src/a.rs", &long),
            ["src/a.rs: 601 lines, and 600 is the most"]
        );
        assert_eq!(
            in_file(
                "src/a.rs",
                &format!("fn a() {{}}\n#[cfg(test)]\nmod tests {{\n{long}}}")
            ),
            [""; 0]
        );
        assert_eq!(in_file("tests/suite/a.rs", &long), [""; 0]);
        assert_eq!(in_file("ui/src/A.svelte", &long).len(), 1);
        assert_eq!(in_file("src/a.rs", &format!("// {}: later", MARKS[0])).len(), 1);
        assert_eq!(in_file("src/key_manager.rs", "").len(), 1);
        assert_eq!(in_file("src/a.rs", concat!("pub struct Key", "Helper;")).len(), 1);
        let import = "import { invoke } from '@tauri-apps/api/core'";
        assert_eq!(
            in_file("ui/src/lib/a.ts", import),
            ["ui/src/lib/a.ts: only ui/src/lib/host may import @tauri-apps"]
        );
        assert_eq!(in_file("ui/src/lib/host/a.ts", import), [""; 0]);
        assert_eq!(
            in_file("ui/src/lib/a.ts", "import A from '$components/A.svelte'").len(),
            1
        );
    }
}
