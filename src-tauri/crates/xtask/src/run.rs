//! `cargo xtask run`: from a fresh clone to the open window on the demo.

use std::io::IsTerminal;
use std::process::Command;

use anyhow::{Result, bail};

use crate::process::{self, Progress};
use crate::system::Purpose;
use crate::workspace::{self, DESKTOP};
use crate::{page, setup};

/// Builds everything and opens the window on a fresh copy of the sample project; in the terminal without a display.
pub fn run(words: &[&str]) -> Result<()> {
    let (own, passed) = match words.iter().position(|word| *word == "--") {
        Some(at) => (&words[..at], &words[at + 1..]),
        None => (words, &words[words.len()..]),
    };
    let release = match own {
        [] => false,
        ["--release"] => true,
        _ => bail!("`run` takes --release, and after -- the arguments for Paddock"),
    };
    if has_display() {
        window(release, passed)
    } else {
        terminal(release, passed)
    }
}

fn window(release: bool, passed: &[&str]) -> Result<()> {
    let mut progress = Progress::new(4);
    progress.step("looking for system packages", "", || {
        setup::system_packages(Purpose::Build)
    })?;
    progress.step("building the page", "10 s", page::build)?;
    let usually = if release {
        "10 min the first time"
    } else {
        "4 min the first time"
    };
    progress.step("building the window", usually, || build(DESKTOP, release))?;
    progress.step("Paddock is open; close its window to come back here", "", || {
        let arguments = if passed.is_empty() { &["--demo"] } else { passed };
        process::show(Command::new(workspace::program(DESKTOP, release)?).args(arguments))
    })
}

fn terminal(release: bool, passed: &[&str]) -> Result<()> {
    println!("There is no display here, so the demo runs in this terminal.");
    let mut progress = Progress::new(2);
    progress.step("building the terminal program", "2 min the first time", || {
        build("paddock-cli", release)
    })?;
    progress.step("running the demo", "", || {
        let asked = ["run", "--provider", "demo"];
        // Nobody can answer without a terminal: the demo then goes its straight way to the end.
        let unasked = [&asked[..], &["--approve", "all", "--max-iterations", "25"]].concat();
        let arguments = match passed {
            [] if std::io::stdin().is_terminal() => &asked[..],
            [] => &unasked,
            passed => passed,
        };
        process::show(Command::new(workspace::program("paddock", release)?).args(arguments))
    })
}

fn build(package: &str, release: bool) -> Result<()> {
    let mut cargo = workspace::cargo();
    cargo.args(["build", "--package", package, "--bins"]);
    if release {
        cargo.arg("--release");
    }
    process::show(&mut cargo)
}

fn has_display() -> bool {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    !cfg!(target_os = "linux") || set("DISPLAY") || set("WAYLAND_DISPLAY")
}
