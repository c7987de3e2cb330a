//! The page's side: its packages, its build and its checks, through npm.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::{process, workspace};

/// The page's folder.
pub fn folder() -> PathBuf {
    workspace::root().join("ui")
}

/// A script of the page's package.json.
pub fn script(name: &str) -> Command {
    let mut command = npm();
    command.args(["run", "--silent", name]);
    command
}

/// Installs the page's packages when the lock file is not the one they were installed from.
pub fn install() -> Result<()> {
    install_in(&folder(), "the page's packages")
}

/// Installs the mock of model services that the headless tests talk to.
pub fn install_mock_server() -> Result<()> {
    install_in(
        &workspace::root().join("tests/aimock"),
        "a mock of model services",
    )
}

fn install_in(folder: &Path, what: &str) -> Result<()> {
    let lock = std::fs::read(folder.join("package-lock.json"))
        .with_context(|| format!("{} has no package-lock.json", folder.display()))?;
    let stamp = folder.join("node_modules/.installed-from");
    if std::fs::read(&stamp).is_ok_and(|installed| installed == lock) {
        return Ok(());
    }
    println!("      installing {what} with npm, usually 10 s");
    process::quiet(npm().current_dir(folder).args(["ci", "--no-fund", "--no-audit"]))?;
    std::fs::write(&stamp, lock)?;
    Ok(())
}

/// Builds the page into ui/dist, where the desktop app embeds it from.
pub fn build() -> Result<()> {
    install()?;
    process::quiet(&mut script("build"))
}

fn npm() -> Command {
    let mut command = Command::new(if cfg!(windows) { "npm.cmd" } else { "npm" });
    command.current_dir(folder());
    command
}
