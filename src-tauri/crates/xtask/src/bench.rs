//! `cargo xtask bench`: runs the benchmark programs of every package that has some, optimised. Those of the window run in a
//! display and a session bus of their own, where such can be had.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Result, bail};

use crate::system::{self, Packages, Purpose};
use crate::workspace::{self, DESKTOP};
use crate::{page, process, window_session};

/// Programs with this feature of their package measure the built app.
const WINDOW: &str = "window";

/// A benchmark program, with the features of its package that it needs.
struct Program {
    package: String,
    name: String,
    features: Vec<String>,
}

impl Program {
    fn command(&self) -> Command {
        let mut cargo = workspace::cargo();
        cargo.args(["bench", "--quiet", "--package", &self.package]);
        for feature in &self.features {
            cargo.args(["--features", &format!("{}/{feature}", self.package)]);
        }
        cargo.args(["--bench", &self.name]);
        cargo
    }

    fn is_of_window(&self) -> bool {
        self.features.iter().any(|feature| feature == WINDOW)
    }
}

/// Runs all benchmarks, or those whose name holds the filter.
pub fn bench(words: &[&str]) -> Result<()> {
    let filter = match words {
        [] => "",
        [filter] => filter,
        _ => bail!("`bench` takes one filter at most"),
    };
    let programs = programs(filter)?;
    if programs.is_empty() {
        bail!("no benchmark has {filter:?} in its name");
    }
    for program in programs {
        println!("{}: {}", program.package, program.name);
        match program.is_of_window().then(no_window).flatten() {
            Some(why) => println!("skipped: {why}"),
            None if program.is_of_window() => outside(&program)?,
            None => process::show(&mut program.command())?,
        }
    }
    Ok(())
}

/// Why no window can be opened here by itself.
fn no_window() -> Option<String> {
    if !cfg!(target_os = "linux") {
        return Some("the window is driven from outside on Linux only".into());
    }
    let missing = system::missing(Purpose::Test, Packages::here().unwrap_or(Packages::Apt));
    (!missing.is_empty()).then(|| {
        let names = missing.join(" ");
        format!("missing here: {names}. `cargo xtask setup --tests` installs what the window needs")
    })
}

fn outside(program: &Program) -> Result<()> {
    page::build()?;
    // Built before the display is up, so that nothing there waits for a compiler.
    process::show(workspace::cargo().args([
        "build",
        "--quiet",
        "--release",
        "--package",
        DESKTOP,
        "--bins",
    ]))?;
    process::show(program.command().arg("--no-run"))?;
    process::show(window_session::outside(window_session::BENCH)?.arg(&program.name))
}

/// The benchmark of this name, inside the session.
pub fn in_window(words: &[&str], variables: &[(&str, PathBuf)]) -> Result<()> {
    let desktop = workspace::program(DESKTOP, true)?;
    for program in programs(words.first().unwrap_or(&""))? {
        let mut cargo = program.command();
        cargo.envs(variables.iter().cloned());
        process::show(cargo.env("PADDOCK_DESKTOP", &desktop))?;
    }
    Ok(())
}

fn programs(filter: &str) -> Result<Vec<Program>> {
    let metadata = workspace::metadata()?;
    let mut found = Vec::new();
    for package in metadata["packages"].as_array().into_iter().flatten() {
        for target in package["targets"].as_array().into_iter().flatten() {
            let words = |value: &serde_json::Value| -> Vec<String> {
                let words = value.as_array().into_iter().flatten();
                words.filter_map(|word| Some(word.as_str()?.to_owned())).collect()
            };
            let is_bench = words(&target["kind"]).iter().any(|kind| kind == "bench");
            let (Some(package), Some(name)) = (package["name"].as_str(), target["name"].as_str()) else {
                continue;
            };
            if is_bench && name.contains(filter) {
                found.push(Program {
                    package: package.to_owned(),
                    name: name.to_owned(),
                    features: words(&target["required-features"]),
                });
            }
        }
    }
    Ok(found)
}
