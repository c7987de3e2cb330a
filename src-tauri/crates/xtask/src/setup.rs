//! `cargo xtask setup`: a missing package is found here, before a build, and named or installed; nobody reads a
//! linker error to learn it.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::system::{self, Packages, Purpose};
use crate::{process, workspace};

const OLDEST_NODE: (u32, u32) = (20, 19);

/// The command line's entrance.
pub fn command(words: &[&str]) -> Result<()> {
    let mut purpose = Purpose::Build;
    let mut list = false;
    for word in words {
        match *word {
            "--tests" => purpose = Purpose::Test,
            "--list" => list = true,
            other => bail!("`setup` does not know {other}; it takes --tests and --list"),
        }
    }
    if list {
        let packages = Packages::here().context("no known package manager (apt, dnf, pacman) is here")?;
        println!("{}", system::missing(purpose, packages).join(" "));
        return Ok(());
    }
    system_packages(purpose)?;
    crate::page::install()?;
    if purpose == Purpose::Test {
        mock_servers()?;
    }
    println!("Everything is there.");
    Ok(())
}

/// Installs the mocks of model services that the headless tests talk to. Tests of the second one, which needs Python, are skipped
/// where it cannot be installed.
pub fn mock_servers() -> Result<()> {
    crate::page::install_mock_server()?;
    let folder = workspace::root().join("tests/llm-mock-api");
    if let Err(error) = python_packages(&folder) {
        println!("      llm-mock-api is not installed, and the tests with it are skipped: {error:#}");
    }
    Ok(())
}

/// The packages of requirements.txt, in a folder of their own beside it; anew when the file is not the one they were installed from.
fn python_packages(folder: &Path) -> Result<()> {
    let wanted = std::fs::read(folder.join("requirements.txt")).context("requirements.txt is missing")?;
    let venv = folder.join("venv");
    let stamp = venv.join(".installed-from");
    if std::fs::read(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    println!("      installing a second mock of model services with pip, usually 30 s");
    let (python, programs) = if cfg!(windows) {
        ("python", "Scripts")
    } else {
        ("python3", "bin")
    };
    process::quiet(Command::new(python).args(["-m", "venv", "--clear"]).arg(&venv))?;
    let mut pip = Command::new(venv.join(programs).join(python));
    pip.current_dir(folder).args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--no-deps",
        "--requirement",
        "requirements.txt",
    ]);
    process::quiet(&mut pip)?;
    std::fs::write(&stamp, wanted)?;
    Ok(())
}

/// Installs what is missing where that needs no question (root on Debian or Ubuntu), else says what to install.
pub fn system_packages(purpose: Purpose) -> Result<()> {
    node()?;
    match std::env::consts::OS {
        "linux" => linux(purpose),
        "macos" if !process::succeeds(Command::new("xcode-select").arg("-p")) => {
            bail!(
                "The command line tools of Xcode are missing. Install them with:\n\n    xcode-select --install"
            )
        }
        _ => Ok(()),
    }
}

fn linux(purpose: Purpose) -> Result<()> {
    let Some(packages) = Packages::here() else {
        // Nothing to name packages by: the needs themselves are still checked.
        let missing = system::missing(purpose, Packages::Apt);
        if missing.is_empty() {
            return Ok(());
        }
        bail!(
            "Something is missing. These are Debian's names for it; install what your system calls them:\n\n    {}",
            missing.join(" ")
        );
    };
    let missing = system::missing(purpose, packages);
    if missing.is_empty() {
        return Ok(());
    }
    println!("      missing system packages: {}", missing.join(" "));
    if packages != Packages::Apt || !is_root() {
        bail!(
            "Install the missing packages with:\n\n    {}\n\nand start the same command again.",
            packages.command(&missing)
        );
    }
    println!("      installing them with apt-get, usually 1 min");
    process::quiet(Command::new("apt-get").arg("update"))?;
    process::quiet(
        Command::new("apt-get")
            .args(["install", "-y", "--no-install-recommends"])
            .args(&missing)
            .env("DEBIAN_FRONTEND", "noninteractive"),
    )?;
    let left = system::missing(purpose, packages);
    if !left.is_empty() {
        bail!(
            "These packages were installed, but what they should bring is still not found: {}",
            left.join(" ")
        );
    }
    Ok(())
}

fn is_root() -> bool {
    process::read(Command::new("id").arg("-u")).is_ok_and(|id| id == "0")
}

fn node() -> Result<()> {
    let (major, minor) = OLDEST_NODE;
    let remedy = format!(
        "Install Node {major}.{minor} or later from https://nodejs.org and start the same command again."
    );
    let version = process::read(Command::new("node").arg("--version"))
        .with_context(|| format!("Node is missing. {remedy}"))?;
    if !new_enough(&version) {
        bail!("Node {version} is too old. {remedy}");
    }
    Ok(())
}

fn new_enough(version: &str) -> bool {
    let mut numbers = version
        .trim_start_matches('v')
        .split('.')
        .map(|part| part.parse::<u32>().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) >= OLDEST_NODE
}

#[cfg(test)]
mod tests {
    use super::new_enough;

    #[test]
    fn node_must_be_20_19_or_later() {
        assert!(new_enough("v20.19.0") && new_enough("v22.1.0") && new_enough("v24.0.1"));
        assert!(!new_enough("v20.18.3") && !new_enough("v18.20.4") && !new_enough("nonsense"));
    }
}
