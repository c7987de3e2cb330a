//! Where things are, and what Cargo says about the workspace.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};
use serde_json::Value;

use crate::process;

/// The desktop package: the only one that needs the system's web view to compile.
pub const DESKTOP: &str = "paddock-desktop";

/// The folder of the root manifest.
pub fn root() -> PathBuf {
    // Cargo names the checkout it runs in; the one this was compiled in may be another with the same target folder.
    let manifest = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    manifest
        .unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into())
        .ancestors()
        .nth(3)
        .unwrap_or(Path::new("."))
        .to_owned()
}

/// Where Cargo builds, as the environment and Cargo's own configuration say.
pub fn target() -> Result<PathBuf> {
    if let Some(folder) = std::env::var_os("CARGO_TARGET_DIR") {
        return Ok(root().join(folder));
    }
    let metadata = metadata()?;
    metadata["target_directory"]
        .as_str()
        .map(PathBuf::from)
        .context("cargo metadata names no target folder")
}

/// The path of a built program.
pub fn program(name: &str, release: bool) -> Result<PathBuf> {
    let folder = if release { "release" } else { "debug" };
    Ok(target()?
        .join(folder)
        .join(format!("{name}{}", std::env::consts::EXE_SUFFIX)))
}

/// The folder in the user's cache where slow, repeatable things are kept between runs.
pub fn cache() -> Result<PathBuf> {
    let base = match std::env::var_os("XDG_CACHE_HOME").filter(|folder| !folder.is_empty()) {
        Some(folder) => PathBuf::from(folder),
        None => PathBuf::from(std::env::var_os("HOME").context("HOME is not set")?).join(".cache"),
    };
    Ok(base.join("paddock-build"))
}

/// Cargo, as the one that runs this program, started in the root.
pub fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo")));
    command.current_dir(root());
    // What Cargo tells this program about its own package is nobody else's business.
    for (name, _) in std::env::vars_os() {
        if name
            .to_str()
            .is_some_and(|name| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_"))
        {
            command.env_remove(name);
        }
    }
    command
}

/// The members of the workspace with their manifests, as `cargo metadata` gives them.
pub fn metadata() -> Result<Value> {
    let text = process::read(cargo().args(["metadata", "--no-deps", "--format-version", "1"]))?;
    Ok(serde_json::from_str(&text)?)
}

/// Every file that is or could be committed, relative to the root, with `/` between folders.
pub fn files(root: &Path) -> Result<Vec<String>> {
    let mut git = Command::new("git");
    git.current_dir(root).args([
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
        "--deduplicate",
    ]);
    let list = process::read(&mut git).context("the files of the repository cannot be listed")?;
    let there = |file: &&str| !file.is_empty() && root.join(file).is_file();
    Ok(list.split('\0').filter(there).map(str::to_owned).collect())
}
