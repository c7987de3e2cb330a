//! `cargo xtask test`: all tests in four parts, with the number of tests and the time of each at the end. A part in
//! which nothing ran counts as failed. A fifth part, `real`, needs a server with a model and runs only when it is named.

use std::fmt;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

use crate::process::{self, Progress, Spoken};
use crate::system::{self, Purpose};
use crate::workspace::{self, DESKTOP};
use crate::{page, setup, window_session};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Rust,
    Ui,
    Browser,
    Window,
    Real,
}

const ALL: [Part; 4] = [Part::Rust, Part::Ui, Part::Browser, Part::Window];

/// What a part's own summary lines said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    pub passed: u32,
    pub failed: u32,
}

/// Runs the named parts, or all of them; every part runs even when an earlier one failed.
pub fn test(words: &[&str]) -> Result<()> {
    let (words, filter) = match words.iter().position(|word| *word == "--") {
        Some(at) => (&words[..at], &words[at + 1..]),
        None => (words, &words[words.len()..]),
    };
    let parts = chosen(words)?;
    let mut progress = Progress::new(parts.len() + 1);
    progress.step("looking for system packages", "", || prepare(&parts))?;
    let mut results = Vec::new();
    for part in parts {
        let started = Instant::now();
        let mut count = Count::default();
        let (what, usually) = part.announcement();
        let outcome = progress.step(what, usually, || part.run(filter, &mut count));
        if let Err(error) = &outcome {
            println!("      {error:#}");
        }
        let good = outcome.is_ok() && count.failed == 0 && count.passed > 0;
        results.push(PartResult {
            part,
            count,
            good,
            time: started.elapsed(),
        });
    }
    close(&results)
}

struct PartResult {
    part: Part,
    count: Count,
    good: bool,
    time: Duration,
}

impl fmt::Display for PartResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = match (self.good, self.count) {
            (true, _) => "ok",
            (false, Count { passed: 0, failed: 0 }) => "FAILED: no test ran",
            (false, _) => "FAILED",
        };
        let (name, Count { passed, failed }) = (format!("{:?}", self.part).to_lowercase(), self.count);
        write!(
            f,
            "{name:8} {passed:5} passed {failed:4} failed {:>12}  {verdict}",
            Spoken(self.time).to_string()
        )
    }
}

fn close(results: &[PartResult]) -> Result<()> {
    println!();
    for result in results {
        println!("{result}");
    }
    let passed: u32 = results.iter().map(|result| result.count.passed).sum();
    let failed: u32 = results.iter().map(|result| result.count.failed).sum();
    let time: Duration = results.iter().map(|result| result.time).sum();
    println!(
        "{:8} {passed:5} passed {failed:4} failed {:>12}",
        "total",
        Spoken(time).to_string()
    );
    if let Some(bad) = results.iter().find(|result| !result.good) {
        bail!("The {:?} tests failed.", bad.part);
    }
    Ok(())
}

fn chosen(words: &[&str]) -> Result<Vec<Part>> {
    if words.is_empty() {
        let here = |part: &Part| cfg!(target_os = "linux") || matches!(part, Part::Rust | Part::Ui);
        return Ok(ALL.into_iter().filter(here).collect());
    }
    let named = |word: &&str| match *word {
        "rust" => Ok(Part::Rust),
        "ui" => Ok(Part::Ui),
        "browser" => Ok(Part::Browser),
        "window" => Ok(Part::Window),
        "real" => Ok(Part::Real),
        other => bail!("`{other}` is no part of the tests; there are rust, ui, browser, window and real"),
    };
    words.iter().map(named).collect()
}

fn prepare(parts: &[Part]) -> Result<()> {
    let purpose = if parts.contains(&Part::Browser) || parts.contains(&Part::Window) {
        Purpose::Test
    } else {
        Purpose::Build
    };
    setup::system_packages(purpose)
}

impl Part {
    fn announcement(self) -> (&'static str, &'static str) {
        match self {
            Self::Rust => ("Rust tests", "3 min the first time"),
            Self::Ui => ("unit tests of the page", "15 s"),
            Self::Browser => ("the page in a browser", "30 s"),
            Self::Window => ("the built app in a real window", "5 min the first time"),
            Self::Real => ("small tasks done by a real model", "10 min"),
        }
    }

    fn run(self, filter: &[&str], count: &mut Count) -> Result<()> {
        match self {
            Self::Rust => rust(filter, count),
            Self::Ui => {
                page::install()?;
                counted(page::script("test").arg("--").args(filter), vitest_line, count)
            }
            Self::Browser => browser(filter, count),
            Self::Window => window(filter, count),
            Self::Real => real(filter, count),
        }
    }
}

/// The selection of packages is always the same one, so that nothing is compiled twice.
const WITHOUT_WINDOW: [&str; 3] = ["--workspace", "--exclude", DESKTOP];

/// Test programs with a main of their own that nextest cannot list; its configuration leaves them out.
const OWN_MAIN: [&str; 1] = ["command"];

fn rust(filter: &[&str], count: &mut Count) -> Result<()> {
    setup::mock_servers()?;
    let mut outcome = cargo_tests(&[&WITHOUT_WINDOW[..], filter].concat(), count);
    for program in OWN_MAIN
        .iter()
        .filter(|program| filter.is_empty() || filter.contains(program))
    {
        let mut cargo = workspace::cargo();
        cargo.arg("test").args(WITHOUT_WINDOW).args(["--test", program]);
        outcome = counted(&mut cargo, own_main_line, count).and(outcome);
    }
    outcome
}

/// Runs Rust tests under nextest where it is installed (it times and isolates each), else under Cargo's own runner.
fn cargo_tests(selection: &[&str], count: &mut Count) -> Result<()> {
    let mut cargo = workspace::cargo();
    if process::succeeds(workspace::cargo().args(["nextest", "--version"])) {
        cargo
            .args(["nextest", "run", "--no-fail-fast", "--status-level", "slow"])
            .args(selection);
        counted(&mut cargo, nextest_line, count)
    } else {
        cargo
            .args(["test", "--no-fail-fast", "--lib", "--bins", "--tests"])
            .args(selection);
        counted(&mut cargo, cargo_test_line, count)
    }
}

fn browser(filter: &[&str], count: &mut Count) -> Result<()> {
    page::install()?;
    let browser = system::BROWSERS
        .iter()
        .find(|name| system::finds(name))
        .context("no browser is installed")?;
    let folder = workspace::root().join("tests/ui/browser");
    let mut tests = Vec::new();
    for entry in std::fs::read_dir(&folder).context("tests/ui/browser is missing")? {
        let path = entry?.path();
        let name = path.to_string_lossy();
        if name.ends_with(".test.mjs") && filter.iter().all(|word| name.contains(word)) {
            tests.push(path);
        }
    }
    tests.sort();
    let mut node = Command::new("node");
    node.current_dir(workspace::root())
        .args(["--test", "--test-concurrency=1", "--test-reporter=spec"])
        .args(&tests);
    node.env("PADDOCK_BROWSER", browser).env(
        "PADDOCK_TEST_OUTPUT",
        workspace::root().join("test-output/browser"),
    );
    counted(&mut node, node_line, count)
}

fn window(filter: &[&str], count: &mut Count) -> Result<()> {
    page::build()?;
    process::show(workspace::cargo().args(["build", "--package", DESKTOP, "--bins"]))?;
    // Built before the display is up, so that nothing there waits for a compiler.
    process::show(
        workspace::cargo()
            .args(["test", "--no-run"])
            .args(WINDOW)
            .args(KEYRING),
    )?;
    let mut session = window_session::outside(window_session::TEST)?;
    counted(session.args(filter), any_cargo_line, count)
}

const WINDOW: [&str; 6] = [
    "--package",
    "paddock-tests",
    "--features",
    "paddock-tests/window",
    "--test",
    "window",
];
const KEYRING: [&str; 6] = [
    "--package",
    "paddock-store",
    "--features",
    "paddock-store/keyring-service",
    "--test",
    "keyring",
];

/// Cargo's own runner, because it lets the table through line by line. The filter is the part of a task's name.
fn real(filter: &[&str], count: &mut Count) -> Result<()> {
    if std::env::var_os(REAL_MODEL).is_none() {
        bail!("{REAL_MODEL} names no server. Give one, for example {REAL_MODEL}=http://127.0.0.1:8080/v1");
    }
    process::show(workspace::cargo().args(["build", "--quiet", "--package", "paddock-cli"]))?;
    let mut cargo = workspace::cargo();
    cargo
        .args(["test", "--quiet", "--package", "paddock-tests", "--test", "real"])
        .args(["--", "--nocapture", "--test-threads=1"]);
    if let Some(tasks) = filter.first() {
        cargo.env("PADDOCK_REAL_TASKS", tasks);
    }
    counted(&mut cargo, cargo_test_line, count)
}

/// Names the server of the part `real`.
const REAL_MODEL: &str = "PADDOCK_REAL_MODEL_URL";

/// The tests that run inside the session: the window, the keyring that is there, and a system that has none.
pub fn window_tests(filter: &[&str], variables: &[(&str, PathBuf)]) -> Result<()> {
    let desktop = workspace::program(DESKTOP, false)?;
    let mut with_daemons = one_at_a_time(&[&WINDOW[..], &KEYRING, filter].concat());
    with_daemons
        .envs(variables.iter().cloned())
        .env("PADDOCK_DESKTOP", desktop);
    let mut without = one_at_a_time(&[&KEYRING[..], filter].concat());
    without
        .env("PADDOCK_TEST_NO_KEYRING", "1")
        .env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent");
    let both = (process::show(&mut with_daemons), process::show(&mut without));
    both.0.and(both.1)
}

fn one_at_a_time(selection: &[&str]) -> Command {
    let mut cargo = workspace::cargo();
    if process::succeeds(workspace::cargo().args(["nextest", "--version"])) {
        cargo
            .args([
                "nextest",
                "run",
                "--no-fail-fast",
                "--no-tests=pass",
                "--test-threads",
                "1",
            ])
            .args(selection);
    } else {
        cargo
            .arg("test")
            .args(selection)
            .args(["--", "--test-threads", "1"]);
    }
    cargo
}

fn counted(command: &mut Command, read: fn(&str) -> Option<Count>, count: &mut Count) -> Result<()> {
    let good = process::relay(command, |line| {
        if let Some(more) = read(line) {
            count.passed += more.passed;
            count.failed += more.failed;
        }
    })?;
    if good {
        Ok(())
    } else {
        bail!("the test program reported a failure")
    }
}

/// The number directly before a word, as in "12 passed".
fn before(line: &str, word: &str) -> u32 {
    let words: Vec<&str> = line
        .split([' ', ',', ';', ':', '(', ')', '|'])
        .filter(|part| !part.is_empty())
        .collect();
    let number = words
        .windows(2)
        .find(|pair| pair[1] == word)
        .and_then(|pair| pair[0].parse().ok());
    number.unwrap_or(0)
}

fn nextest_line(line: &str) -> Option<Count> {
    let summary = line.trim_start().starts_with("Summary [");
    let failed = before(line, "failed") + before(line, "timed out") + before(line, "timed");
    summary.then(|| Count {
        passed: before(line, "passed"),
        failed,
    })
}

fn cargo_test_line(line: &str) -> Option<Count> {
    let result = line.starts_with("test result:");
    result.then(|| Count {
        passed: before(line, "passed"),
        failed: before(line, "failed"),
    })
}

fn own_main_line(line: &str) -> Option<Count> {
    line.ends_with(" ... ok")
        .then_some(Count { passed: 1, failed: 0 })
}

fn any_cargo_line(line: &str) -> Option<Count> {
    nextest_line(line).or_else(|| cargo_test_line(line))
}

fn vitest_line(line: &str) -> Option<Count> {
    let summary = line.trim_start().starts_with("Tests ");
    summary.then(|| Count {
        passed: before(line, "passed"),
        failed: before(line, "failed"),
    })
}

fn node_line(line: &str) -> Option<Count> {
    let number = |name: &str| {
        line.trim_start_matches(['ℹ', '#', ' '])
            .strip_prefix(name)?
            .trim()
            .parse()
            .ok()
    };
    if let Some(passed) = number("pass ") {
        return Some(Count { passed, failed: 0 });
    }
    number("fail ").map(|failed| Count { passed: 0, failed })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(passed: u32, failed: u32) -> Option<Count> {
        Some(Count { passed, failed })
    }

    #[test]
    fn each_runners_summary_is_read() {
        let nextest =
            "     Summary [   5.006s] 312 tests run: 310 passed (1 slow), 1 failed, 1 timed out, 0 skipped";
        assert_eq!(nextest_line(nextest), count(310, 2));
        assert_eq!(
            nextest_line("     Summary [   0.020s] 2 tests run: 2 passed, 0 skipped"),
            count(2, 0)
        );
        let cargo = "test result: FAILED. 11 passed; 3 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s";
        assert_eq!(cargo_test_line(cargo), count(11, 3));
        assert_eq!(
            vitest_line("      Tests  1 failed | 56 passed (57)"),
            count(56, 1)
        );
        assert_eq!(vitest_line(" Test Files  1 passed (1)"), None);
        assert_eq!(node_line("ℹ pass 7"), count(7, 0));
        assert_eq!(node_line("# fail 2"), count(0, 2));
        assert_eq!(node_line("ℹ passage 7"), None);
    }

    #[test]
    fn a_part_in_which_nothing_ran_is_a_failure() {
        let empty = PartResult {
            part: Part::Ui,
            count: Count::default(),
            good: false,
            time: Duration::ZERO,
        };
        assert!(empty.to_string().ends_with("FAILED: no test ran"));
        assert!(close(&[empty]).is_err());
    }
}
