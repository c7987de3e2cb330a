//! `cargo xtask check`: everything that can be said about the code without running it. All steps run, so that one call
//! shows every fault.

use anyhow::{Result, bail};

use crate::process::{self, Progress};
use crate::system::Purpose;
use crate::{bindings, cross, house, page, setup, states, workspace};

type Step = (&'static str, &'static str, fn() -> Result<()>);

const FAST: &[Step] = &[
    ("format of the Rust code", "", rustfmt),
    ("house rules", "", house_rules),
    (
        "the page's twins of the protocol",
        "1 min the first time",
        bindings::check,
    ),
    ("the table of states", "3 min the first time", states::check),
    ("lints of the Rust code", "4 min the first time", clippy),
    ("types of the page", "10 s", || {
        process::show(&mut page::script("check"))
    }),
    ("lints of the page", "20 s", || {
        process::show(&mut page::script("lint"))
    }),
    ("format of the page", "", || {
        process::show(&mut page::script("format:check"))
    }),
];

const CROSS: Step = (
    "types of the app for Windows and macOS",
    "6 min the first time",
    cross::check,
);

/// Runs all checks; `--fast` leaves out the types for the other two systems.
pub fn check(words: &[&str]) -> Result<()> {
    let steps: Vec<Step> = match words {
        [] => FAST.iter().copied().chain([CROSS]).collect(),
        ["--fast"] => FAST.to_vec(),
        _ => bail!("`check` takes --fast or nothing"),
    };
    let mut progress = Progress::new(steps.len() + 1);
    progress.step("looking for what the checks need", "", || {
        setup::system_packages(Purpose::Build)?;
        page::install()
    })?;
    let mut failed = Vec::new();
    for (what, usually, work) in steps {
        if let Err(error) = progress.step(what, usually, work) {
            println!("      {error:#}");
            failed.push(what);
        }
    }
    if !failed.is_empty() {
        bail!("These checks failed: {}.", failed.join(", "));
    }
    println!("\nAll checks passed.");
    Ok(())
}

fn rustfmt() -> Result<()> {
    process::show(workspace::cargo().args(["fmt", "--all", "--check"]))
}

fn clippy() -> Result<()> {
    let mut cargo = workspace::cargo();
    cargo.args(["clippy", "--workspace", "--all-targets"]);
    if cfg!(target_os = "linux") {
        cargo.args(["--features", "paddock-tests/window"]);
    }
    process::show(cargo.args(["--", "-D", "warnings", "-D", "clippy::too_many_lines"]))
}

fn house_rules() -> Result<()> {
    let faults = house::faults(&workspace::root())?;
    if !faults.is_empty() {
        bail!("{}", faults.join("\n      "));
    }
    Ok(())
}
