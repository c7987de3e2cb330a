//! `cargo xtask fuzz`: the targets of `fuzz/` under libFuzzer, each for some seconds. Runs on the compiler of the
//! repository: the counters come from a pass of LLVM that stable Rust can switch on, so no nightly and no further program
//! is needed but a compiler for C++, which builds libFuzzer itself.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::process::Progress;
use crate::{process, system, workspace};

const SECONDS: u64 = 20;
const LINES_ON_FAILURE: usize = 40;
const TARGETS: [&str; 4] = ["command", "path", "log", "stream"];

/// What libFuzzer wants compiled in: which edges were taken, and what was compared.
const COUNTERS: &str = "--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1";

/// Runs every target for 20 seconds or as long as asked. An input that breaks one is kept and named.
pub fn fuzz(words: &[&str]) -> Result<()> {
    let seconds = match words {
        [] => SECONDS,
        [seconds] => seconds
            .parse()
            .with_context(|| format!("{seconds} is not a number of seconds"))?,
        _ => bail!("`fuzz` takes one number at most: the seconds for each target"),
    };
    if !system::finds("c++") {
        bail!("no compiler for C++ is installed, and libFuzzer is written in it: install g++ or clang");
    }
    let folder = workspace::root().join("fuzz");
    let built = workspace::target()?.join("fuzz");
    let mut progress = Progress::new(TARGETS.len() + 1);
    let host = host()?;
    progress.step("building the targets", "4 min the first time", || {
        process::show(
            workspace::cargo()
                .current_dir(&folder)
                .env("CARGO_TARGET_DIR", &built)
                .env("RUSTFLAGS", COUNTERS)
                .env_remove("CARGO_ENCODED_RUSTFLAGS")
                // With a target of its own, programs that run during the build are built without counters.
                .args(["build", "--quiet", "--release", "--bins", "--target", &host]),
        )
    })?;
    let programs = built.join(&host).join("release");
    let mut broken = Vec::new();
    for target in TARGETS {
        let what = format!("{target}, {seconds} s");
        let run = || run(target, seconds, &folder, &built, &programs);
        if let Err(error) = progress.step(&what, "", run) {
            println!("      {error:#}");
            broken.push(target);
        }
    }
    if broken.is_empty() {
        Ok(())
    } else {
        bail!("broken by an input that was found: {}", broken.join(", "))
    }
}

fn run(target: &str, seconds: u64, folder: &Path, built: &Path, programs: &Path) -> Result<()> {
    let crashes = folder.join("crashes");
    // What is found stays beside the build and makes the next run start further on.
    let found = built.join("found").join(target);
    for folder in [&crashes, &found] {
        std::fs::create_dir_all(folder)?;
    }
    let mut program = Command::new(programs.join(format!("{target}{}", std::env::consts::EXE_SUFFIX)));
    program
        .current_dir(folder)
        .env("RUST_BACKTRACE", "1")
        .arg(format!("-max_total_time={seconds}"))
        .args([
            "-max_len=4096",
            "-timeout=10",
            "-rss_limit_mb=2048",
            "-verbosity=0",
        ])
        .args(["-print_final_stats=1"])
        .arg(format!("-dict=dictionaries/{target}.txt"))
        .arg(format!("-artifact_prefix={}/{target}-", crashes.display()))
        .arg(&found)
        .arg(folder.join("corpus").join(target));
    let before = kept(&crashes, target)?;
    let output = program
        .output()
        .with_context(|| format!("{target} does not start"))?;
    let told = String::from_utf8_lossy(&output.stderr);
    if output.status.success() {
        let runs = told
            .lines()
            .find_map(|line| line.strip_prefix("stat::number_of_executed_units:"))
            .context("libFuzzer did not say what it ran")?;
        println!("      {} inputs", runs.trim());
        return Ok(());
    }
    for line in told
        .lines()
        .filter(|line| !line.starts_with("stat::"))
        .take(LINES_ON_FAILURE)
    {
        println!("      | {line}");
    }
    let new = kept(&crashes, target)?
        .into_iter()
        .find(|path| !before.contains(path));
    match new {
        Some(input) => bail!(
            "the input is kept as {}; once it is mended, move it into fuzz/corpus/{target}",
            input.display()
        ),
        None => bail!("the target ended without an input that explains it"),
    }
}

fn kept(crashes: &Path, target: &str) -> Result<Vec<PathBuf>> {
    let mut kept = Vec::new();
    for entry in std::fs::read_dir(crashes)? {
        let path = entry?.path();
        let is_own = path
            .file_name()
            .is_some_and(|name| name.to_string_lossy().starts_with(&format!("{target}-")));
        if is_own {
            kept.push(path);
        }
    }
    Ok(kept)
}

/// The machine that the compiler builds for when it is not told.
fn host() -> Result<String> {
    let told = process::read(Command::new("rustc").current_dir(workspace::root()).arg("-vV"))?;
    told.lines()
        .find_map(|line| line.strip_prefix("host: "))
        .map(str::to_owned)
        .context("rustc names no host")
}
