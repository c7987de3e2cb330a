//! `cargo xtask states`: the table of states in ARCHITECTURE.md. The simulation makes it, from what the rules really do.

use anyhow::{Result, bail};

use crate::{process, workspace};

const TEST: &str = "states::the_table_of_states_is_what_the_rules_do";

/// Writes the table.
pub fn write() -> Result<()> {
    table(true)
}

/// Fails when the table is not what the rules do now.
pub fn check() -> Result<()> {
    table(false)
}

fn table(write: bool) -> Result<()> {
    let mut cargo = workspace::cargo();
    cargo.args([
        "test",
        "--quiet",
        "--package",
        "paddock-tests",
        "--test",
        "simulation",
    ]);
    cargo.args(["--", "--exact", TEST]).env_remove("PADDOCK_STATES");
    if write {
        cargo.env("PADDOCK_STATES", "write");
    }
    let words = process::read(&mut cargo)?;
    if !words.contains("1 passed") {
        bail!("the simulation has no test {TEST}");
    }
    Ok(())
}
