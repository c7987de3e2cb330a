//! `cargo xtask simulate`: many schedules of the simulation, optimised and with overflow checks; or one again, with its
//! events.

use anyhow::{Context as _, Result, bail};

use crate::{process, workspace};

const SCHEDULES: u64 = 1_000_000;

/// Optimised like a release, without its slow linking, and strict about numbers.
const PROFILE: &[&str] = &[
    "--config",
    "profile.simulation.inherits='release'",
    "--config",
    "profile.simulation.lto=false",
    "--config",
    "profile.simulation.codegen-units=16",
    "--config",
    "profile.simulation.overflow-checks=true",
    "--config",
    "profile.simulation.debug-assertions=true",
    "--profile",
    "simulation",
];

const TEST: &str = "every_schedule_keeps_the_invariants_and_ends_properly";

/// Runs a million schedules, or as many as asked; `--from` begins at another seed, `--seed` replays one.
pub fn simulate(words: &[&str]) -> Result<()> {
    let mut cargo = workspace::cargo();
    cargo.args([
        "test",
        "--quiet",
        "--package",
        "paddock-tests",
        "--test",
        "simulation",
    ]);
    cargo.args(PROFILE).args(["--", "--exact", TEST, "--nocapture"]);
    for name in ["PADDOCK_SEED", "PADDOCK_SCHEDULES", "PADDOCK_FIRST"] {
        cargo.env_remove(name);
    }
    match words {
        ["--seed", seed] => cargo.env("PADDOCK_SEED", number(seed)?.to_string()),
        [] => cargo.env("PADDOCK_SCHEDULES", SCHEDULES.to_string()),
        [count] => cargo.env("PADDOCK_SCHEDULES", number(count)?.to_string()),
        [count, "--from", first] => cargo
            .env("PADDOCK_SCHEDULES", number(count)?.to_string())
            .env("PADDOCK_FIRST", number(first)?.to_string()),
        _ => bail!("`simulate` takes a number of schedules, `N --from SEED` or `--seed SEED`"),
    };
    process::show(&mut cargo)
}

fn number(word: &str) -> Result<u64> {
    word.replace('_', "")
        .parse()
        .with_context(|| format!("{word} is not a number"))
}
