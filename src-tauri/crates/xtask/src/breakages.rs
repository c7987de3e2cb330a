//! `cargo xtask breakages`: does the proof notice a fault? Each deliberate breakage of `tests/breakages/rules.toml` is made
//! in a copy of the crates, and the test that is named must fail there. A breakage that nobody notices, or whose place in
//! the code is gone, is a failure.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use toml::{Table, Value};

use crate::process::{self, Spoken};
use crate::workspace;

const LIST: &str = "tests/breakages/rules.toml";

/// The crates of the copy: the rules, and what they need to be tested.
const CRATES: &[&str] = &[
    "protocol", "policy", "sandbox", "tools", "provider", "store", "core",
];

/// Enough for each breakage to show; a whole run of the simulation has more.
const SCHEDULES: &str = "12000";
const SIMULATION: &str = "every_schedule_keeps_the_invariants_and_ends_properly";
/// A test that takes longer does not end: the breakage shows.
const PATIENCE: Duration = Duration::from_secs(240);

struct Breakage {
    name: String,
    file: String,
    find: String,
    replace: String,
    caught_by: String,
}

/// Tries every breakage, or those whose name holds the filter.
pub fn breakages(words: &[&str]) -> Result<()> {
    let filter = match words {
        [] => "",
        [filter] => filter,
        _ => bail!("`breakages` takes one filter at most"),
    };
    let root = workspace::root();
    let list = list(&fs::read_to_string(root.join(LIST))?)?;
    let chosen: Vec<&Breakage> = list.iter().filter(|one| one.name.contains(filter)).collect();
    if chosen.is_empty() {
        bail!("no breakage has {filter:?} in its name");
    }
    let copy = copy(&root)?;
    let tests: BTreeSet<&str> = chosen.iter().map(|one| one.caught_by.as_str()).collect();
    for test in tests {
        println!("whole: {test}, usually 3 min the first time …");
        if !matches!(run(&copy, test)?, Outcome::Passed) {
            bail!("{test} does not pass without any breakage");
        }
    }
    let mut missed = Vec::new();
    for (number, breakage) in chosen.iter().enumerate() {
        let begun = Instant::now();
        let said = tried(&copy, breakage)?;
        let after = Spoken(begun.elapsed());
        println!(
            "[{}/{}] {}: {said} after {after}",
            number + 1,
            chosen.len(),
            breakage.name
        );
        if !said.starts_with("caught") {
            missed.push(breakage.name.as_str());
        }
    }
    if !missed.is_empty() {
        bail!(
            "{} of {} are not caught: {}",
            missed.len(),
            chosen.len(),
            missed.join(", ")
        );
    }
    println!("\nAll {} breakages are caught.", chosen.len());
    Ok(())
}

fn list(text: &str) -> Result<Vec<Breakage>> {
    let table: Table = text.parse().with_context(|| format!("{LIST} cannot be read"))?;
    let entries = table.get("breakage").and_then(Value::as_array);
    let word = |entry: &Value, key: &str| {
        let text = entry.get(key).and_then(Value::as_str);
        text.map(str::to_owned)
            .with_context(|| format!("an entry of {LIST} has no {key}"))
    };
    entries
        .with_context(|| format!("{LIST} holds no [[breakage]]"))?
        .iter()
        .map(|entry| {
            Ok(Breakage {
                name: word(entry, "name")?,
                file: word(entry, "file")?,
                find: word(entry, "find")?,
                replace: word(entry, "replace")?,
                caught_by: word(entry, "caught_by")?,
            })
        })
        .collect()
}

/// A workspace of the needed crates in the target folder; files that are the same keep their time, so that little is built.
fn copy(root: &Path) -> Result<PathBuf> {
    let copy = workspace::target()?.join("breakages").join("tree");
    let mut kept = BTreeSet::new();
    for file in workspace::files(root)? {
        let of_crate = |name: &&&str| file.starts_with(&format!("src-tauri/crates/{name}/"));
        let of_tests = file.starts_with("tests/") && file.ends_with(".rs") || file == "tests/Cargo.toml";
        if CRATES.iter().any(|name| of_crate(&name)) || of_tests || file == "Cargo.lock" {
            put(&copy.join(&file), &fs::read(root.join(&file))?)?;
            kept.insert(copy.join(&file));
        }
    }
    put(&copy.join("Cargo.toml"), manifest(root)?.as_bytes())?;
    for crate_name in CRATES {
        drop_others(&copy.join("src-tauri/crates").join(crate_name), &kept)?;
    }
    drop_others(&copy.join("tests"), &kept)?;
    Ok(copy)
}

fn put(path: &Path, content: &[u8]) -> Result<()> {
    if fs::read(path).is_ok_and(|there| there == content) {
        return Ok(());
    }
    fs::create_dir_all(path.parent().context("a file lies in a folder")?)?;
    Ok(fs::write(path, content)?)
}

fn drop_others(folder: &Path, kept: &BTreeSet<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            drop_others(&path, kept)?;
        } else if !kept.contains(&path) {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

/// The root manifest without the desktop's package, which needs a web view.
fn manifest(root: &Path) -> Result<String> {
    let mut table: Table = fs::read_to_string(root.join("Cargo.toml"))?.parse()?;
    table.retain(|key, _| matches!(key, "workspace" | "profile"));
    let members = CRATES.iter().map(|name| format!("src-tauri/crates/{name}"));
    let members = members.chain(["tests".to_owned()]).map(Value::String).collect();
    if let Some(Value::Table(workspace)) = table.get_mut("workspace") {
        workspace.insert("members".to_owned(), Value::Array(members));
    }
    Ok(table.to_string())
}

fn tried(copy: &Path, breakage: &Breakage) -> Result<String> {
    let path = copy.join(&breakage.file);
    let whole = fs::read_to_string(&path).with_context(|| format!("{} is not there", breakage.file))?;
    let places = whole.matches(&breakage.find).count();
    if places != 1 {
        return Ok(format!("its text is {places} times in {}", breakage.file));
    }
    fs::write(&path, whole.replace(&breakage.find, &breakage.replace))?;
    let outcome = run(copy, &breakage.caught_by);
    fs::write(&path, whole)?;
    Ok(match outcome? {
        Outcome::Failed(words) => format!("caught by {} ({words})", breakage.caught_by),
        Outcome::Endless => format!("caught by {}, which does not end", breakage.caught_by),
        Outcome::NotBuilt => "does not compile".to_owned(),
        Outcome::Passed => "NOT caught".to_owned(),
    })
}

enum Outcome {
    Passed,
    /// With the words of the test.
    Failed(String),
    Endless,
    NotBuilt,
}

/// Builds the test that is named, then runs it: the simulation, or `CRATE TEST` of another crate.
fn run(copy: &Path, test: &str) -> Result<Outcome> {
    let (what, name): (Vec<&str>, &str) = match test.split_once(' ') {
        None if test == "simulation" => (
            vec!["--package", "paddock-tests", "--test", "simulation"],
            SIMULATION,
        ),
        Some((package, name)) => (vec!["--package", package, "--lib"], name),
        None => bail!("{test} is neither `simulation` nor `CRATE TEST`"),
    };
    let cargo = |rest: &[&str]| {
        let mut cargo = workspace::cargo();
        cargo
            .current_dir(copy)
            .env("CARGO_TARGET_DIR", copy.with_file_name("target"))
            .env("PADDOCK_SCHEDULES", SCHEDULES)
            .env_remove("PADDOCK_SEED")
            .env_remove("PADDOCK_FIRST")
            .args(["test", "--quiet"])
            .args(&what)
            .args(rest);
        cargo
    };
    if !process::succeeds(&mut cargo(&["--no-run"])) {
        return Ok(Outcome::NotBuilt);
    }
    within(&mut cargo(&["--", "--exact", name]), PATIENCE)
}

fn within(command: &mut Command, patience: Duration) -> Result<Outcome> {
    let quiet = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(quiet, 0);
    let mut child = quiet.spawn()?;
    let mut words = child.stdout.take();
    // Read beside, so that a full pipe stops nobody.
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        if let Some(words) = &mut words {
            let _ = std::io::Read::read_to_string(words, &mut text);
        }
        text
    });
    let begun = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if begun.elapsed() > patience {
            end(&mut child)?;
            return Ok(Outcome::Endless);
        }
        std::thread::sleep(Duration::from_millis(50));
    };
    let text = reader.join().unwrap_or_default();
    if status.success() && !text.contains("1 passed") {
        bail!("no test of that name was run");
    }
    Ok(if status.success() {
        Outcome::Passed
    } else {
        Outcome::Failed(complaint(&text))
    })
}

/// Ends cargo together with the test that it started.
fn end(child: &mut Child) -> Result<()> {
    #[cfg(unix)]
    Command::new("kill")
        .args(["-KILL", "--", &format!("-{}", child.id())])
        .status()?;
    #[cfg(not(unix))]
    child.kill()?;
    child.wait()?;
    Ok(())
}

/// The line that says what is wrong, cut to fit a terminal.
fn complaint(text: &str) -> String {
    let mut lines = text.lines();
    let told = lines.find_map(|line| match line.split_once(" fails at ") {
        Some((_, words)) => words.split_once(": ").map(|(_, words)| words),
        None => line.strip_prefix("assertion "),
    });
    told.unwrap_or("no words").chars().take(100).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn what_does_not_end_is_ended_with_what_it_started() {
        let mark = std::env::temp_dir().join(format!("paddock-endless-{}", std::process::id()));
        let words = format!("(sleep 1; touch {}) & wait", mark.display());
        let outcome = within(
            Command::new("sh").args(["-c", &words]),
            Duration::from_millis(100),
        );
        assert!(matches!(outcome, Ok(Outcome::Endless)));
        std::thread::sleep(Duration::from_millis(1500));
        assert!(!mark.exists(), "it went on");
    }

    #[test]
    fn every_breakage_still_has_its_one_place_in_the_code() {
        let root = workspace::root();
        let list = list(&fs::read_to_string(root.join(LIST)).unwrap()).unwrap();
        assert!(list.len() >= 20);
        for breakage in list {
            let code = fs::read_to_string(root.join(&breakage.file)).unwrap();
            let places = code.matches(&breakage.find).count();
            assert_eq!(places, 1, "{} of {}", breakage.name, breakage.file);
            assert_ne!(breakage.find, breakage.replace);
        }
    }
}
