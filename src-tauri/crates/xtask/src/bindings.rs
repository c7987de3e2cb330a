//! The page's TypeScript twins of the protocol types: written by the protocol crate itself, committed, and compared
//! with a fresh export by `check`, so that neither side can drift from the other.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use crate::{process, workspace};

/// Writes the twins anew into the page's sources; what the protocol no longer has goes away.
pub fn write() -> Result<()> {
    let fresh = export()?;
    let committed = committed();
    for name in read_all(&committed)?
        .keys()
        .filter(|name| !fresh.contains_key(*name))
    {
        std::fs::remove_file(committed.join(name))?;
    }
    for (name, text) in &fresh {
        let path = committed.join(name);
        std::fs::create_dir_all(path.parent().context("a twin has no folder")?)?;
        std::fs::write(path, text)?;
    }
    println!("{} files in ui/src/lib/protocol are current.", fresh.len());
    Ok(())
}

/// Fails when the committed twins are not what the protocol crate exports now.
pub fn check() -> Result<()> {
    let stale = differences(&export()?, &read_all(&committed())?);
    if !stale.is_empty() {
        bail!(
            "These files in ui/src/lib/protocol are not current: {}.\nRun `cargo xtask bindings` and commit.",
            stale.join(", ")
        );
    }
    Ok(())
}

fn committed() -> PathBuf {
    workspace::root().join("ui/src/lib/protocol")
}

fn export() -> Result<BTreeMap<String, String>> {
    let folder = workspace::target()?.join("xtask/bindings");
    if folder.exists() {
        std::fs::remove_dir_all(&folder)?;
    }
    std::fs::create_dir_all(&folder)?;
    process::quiet(
        workspace::cargo()
            .args([
                "test",
                "--package",
                "paddock-protocol",
                "--features",
                "bindings",
                "--lib",
                "export",
            ])
            .env("TS_RS_EXPORT_DIR", &folder),
    )?;
    let mut twins = read_all(&folder)?;
    if twins.is_empty() {
        bail!("the protocol crate exported no TypeScript");
    }
    twins.insert("index.ts".to_owned(), index(&twins));
    Ok(twins)
}

/// One file that hands all twins on.
fn index(twins: &BTreeMap<String, String>) -> String {
    let names = twins.keys().filter_map(|file| file.strip_suffix(".ts"));
    let lines: String = names
        .map(|name| format!("export type * from \"./{name}\";\n"))
        .collect();
    format!("// Generated from the protocol crate; never edited.\n{lines}")
}

fn differences(fresh: &BTreeMap<String, String>, committed: &BTreeMap<String, String>) -> Vec<String> {
    let mut names: Vec<&String> = fresh.keys().chain(committed.keys()).collect();
    names.sort();
    names.dedup();
    names
        .into_iter()
        .filter(|name| fresh.get(*name) != committed.get(*name))
        .cloned()
        .collect()
}

fn read_all(folder: &Path) -> Result<BTreeMap<String, String>> {
    let mut files = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        if !next.exists() {
            continue;
        }
        for entry in std::fs::read_dir(&next)? {
            let path = entry?.path();
            if path.is_dir() {
                open.push(path);
            } else {
                let name = path.strip_prefix(folder)?.to_string_lossy().replace('\\', "/");
                files.insert(name, std::fs::read_to_string(&path)?.replace("\r\n", "\n"));
            }
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_index_names_every_twin() {
        let twins = ["Access.ts", "Item.ts"]
            .map(|name| (name.to_owned(), String::new()))
            .into();
        let lines = "export type * from \"./Access\";\nexport type * from \"./Item\";\n";
        assert!(index(&twins).ends_with(lines));
    }

    #[test]
    fn a_changed_a_new_and_a_left_over_file_are_stale() {
        let files =
            |list: &[(&str, &str)]| list.iter().map(|(n, t)| (n.to_string(), t.to_string())).collect();
        let fresh = files(&[("Same.ts", "1"), ("Changed.ts", "2"), ("New.ts", "3")]);
        let committed = files(&[("Same.ts", "1"), ("Changed.ts", "1"), ("Old.ts", "4")]);
        assert_eq!(
            differences(&fresh, &committed),
            ["Changed.ts", "New.ts", "Old.ts"]
        );
    }
}
