//! Running other programs: with their output shown, kept for the case of failure, or read.

use std::fmt;
use std::fs::File;
use std::io::{BufRead as _, BufReader, IsTerminal as _, Read, Write as _};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

use crate::workspace;

/// A sign of life is printed this often while a program runs unseen.
const SIGN_OF_LIFE: Duration = Duration::from_secs(20);
/// How much of a failed program's unseen output is shown.
const LINES_ON_FAILURE: usize = 60;

/// A duration as a person says it: "0.4 s", "12 s", "3 min 05 s".
pub struct Spoken(pub Duration);

impl fmt::Display for Spoken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0.as_secs();
        match seconds {
            0..10 => write!(f, "{:.1} s", self.0.as_secs_f64()),
            10..60 => write!(f, "{seconds} s"),
            _ => write!(f, "{} min {:02} s", seconds / 60, seconds % 60),
        }
    }
}

/// Numbered steps of one job, each announced before it starts and timed when it is done.
pub struct Progress {
    total: usize,
    current: usize,
}

impl Progress {
    /// A job of this many steps.
    pub fn new(total: usize) -> Self {
        Self { total, current: 0 }
    }

    /// Runs one step. `usually` warns about a long one: what it takes on a machine with two cores.
    pub fn step<T>(&mut self, what: &str, usually: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
        self.current += 1;
        let hint = if usually.is_empty() {
            String::new()
        } else {
            format!(", usually {usually}")
        };
        println!("[{}/{}] {what}{hint} …", self.current, self.total);
        let started = Instant::now();
        let result = work();
        let word = if result.is_ok() { "done" } else { "FAILED" };
        println!("      {word} after {}", Spoken(started.elapsed()));
        result
    }
}

/// Runs a program with its output shown; anything but success is an error.
pub fn show(command: &mut Command) -> Result<()> {
    let status = command
        .status()
        .with_context(|| format!("{} does not start", name_of(command)))?;
    succeed(command, status)
}

/// Runs a program unseen, with a sign of life now and then; its last lines are shown if it fails.
pub fn quiet(command: &mut Command) -> Result<()> {
    let folder = workspace::target()?.join("xtask");
    std::fs::create_dir_all(&folder)?;
    let path = folder.join(format!("{}-{}.log", name_of(command), std::process::id()));
    let log = File::create(&path)?;
    command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
    let mut child = command
        .spawn()
        .with_context(|| format!("{} does not start", name_of(command)))?;
    let started = Instant::now();
    let mut next_sign = SIGN_OF_LIFE;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        std::thread::sleep(Duration::from_millis(50));
        if started.elapsed() > next_sign {
            println!(
                "      still running {} ({})",
                name_of(command),
                Spoken(started.elapsed())
            );
            next_sign += SIGN_OF_LIFE;
        }
    };
    if !status.success() {
        print_end_of(&path)?;
    }
    let _ = std::fs::remove_file(&path);
    succeed(command, status)
}

/// What a program prints, without the last line break. Anything but success is an error that holds its complaint.
pub fn read(command: &mut Command) -> Result<String> {
    let output = command
        .output()
        .with_context(|| format!("{} does not start", name_of(command)))?;
    if !output.status.success() {
        bail!(
            "{} failed: {}",
            name_of(command),
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
}

/// Whether a program ends well; its output is thrown away, and one that is not there did not end well.
pub fn succeeds(command: &mut Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|s| s.success())
}

/// Runs a program with its output shown and hands every line, without colours, to a reader as well.
pub fn relay(command: &mut Command, mut on_line: impl FnMut(&str)) -> Result<bool> {
    if std::io::stdout().is_terminal() {
        command.env("CARGO_TERM_COLOR", "always").env("FORCE_COLOR", "1");
    }
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command
        .spawn()
        .with_context(|| format!("{} does not start", name_of(command)))?;
    let (send, receive) = mpsc::channel();
    let pipes: [Option<Box<dyn Read + Send>>; 2] = [
        child.stdout.take().map(|p| Box::new(p) as _),
        child.stderr.take().map(|p| Box::new(p) as _),
    ];
    for pipe in pipes.into_iter().flatten() {
        let send = send.clone();
        std::thread::spawn(move || {
            let mut lines = BufReader::new(pipe);
            let mut line = Vec::new();
            while lines.read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
                let text = String::from_utf8_lossy(&line).trim_end().to_owned();
                line.clear();
                if send.send(text).is_err() {
                    break;
                }
            }
        });
    }
    drop(send);
    let mut status = None;
    loop {
        match receive.recv_timeout(Duration::from_millis(200)) {
            Ok(line) => {
                println!("{line}");
                std::io::stdout().flush()?;
                on_line(&plain(&line));
            }
            Err(mpsc::RecvTimeoutError::Disconnected) => break,
            // A process left behind may hold the pipe: once the program has ended and is silent, that is all.
            Err(mpsc::RecvTimeoutError::Timeout) if status.is_some() => break,
            Err(mpsc::RecvTimeoutError::Timeout) => status = child.try_wait()?,
        }
    }
    Ok(child.wait()?.success())
}

/// A line without terminal colours.
pub fn plain(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        if character == '\u{1b}' {
            for inside in characters.by_ref() {
                if inside.is_ascii_alphabetic() {
                    break;
                }
            }
        } else {
            text.push(character);
        }
    }
    text
}

fn print_end_of(path: &Path) -> Result<()> {
    let text = String::from_utf8_lossy(&std::fs::read(path)?).into_owned();
    let lines: Vec<&str> = text.lines().collect();
    for line in &lines[lines.len().saturating_sub(LINES_ON_FAILURE)..] {
        println!("      | {line}");
    }
    Ok(())
}

fn succeed(command: &Command, status: ExitStatus) -> Result<()> {
    if status.success() {
        return Ok(());
    }
    let arguments: Vec<_> = command
        .get_args()
        .map(|argument| argument.to_string_lossy())
        .collect();
    bail!("`{} {}` failed ({status})", name_of(command), arguments.join(" "))
}

fn name_of(command: &Command) -> String {
    Path::new(command.get_program())
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_taken_out_of_a_line() {
        assert_eq!(
            plain("\u{1b}[1m\u{1b}[32m 2 passed\u{1b}[0m (2)"),
            " 2 passed (2)"
        );
    }

    #[test]
    fn durations_are_spoken() {
        let spoken = |millis| Spoken(Duration::from_millis(millis)).to_string();
        assert_eq!(
            (spoken(420), spoken(12_900), spoken(185_000)),
            ("0.4 s".into(), "12 s".into(), "3 min 05 s".into())
        );
    }
}
