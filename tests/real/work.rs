//! One task, done by `paddock run` in folders of its own, and what came of it.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use paddock_protocol::{Event, EventMsg, ItemKind, Timestamp, Verb};
use paddock_tests::sessions::{Bed, calls, items, whole_events};

use crate::tasks::Task;

/// A small model on a slow machine may take minutes; one that takes longer is no use to anyone.
const LIMIT: Duration = Duration::from_secs(15 * 60);

/// The server and model of a test, and how the model is asked to call tools.
pub struct Model {
    pub url: String,
    pub name: String,
    pub calls: String,
}

/// What a task came to.
pub struct Outcome {
    pub task: &'static str,
    /// Why it was not completed.
    pub failure: Option<String>,
    pub iterations: u32,
    pub calls: usize,
    /// From the beginning of the turn.
    pub first_call: Option<Duration>,
    pub time: Duration,
}

/// The folder of a task after the work, for its check.
pub struct Done<'a> {
    bed: &'a Bed,
    /// What the person reads at the end.
    pub answer: String,
    /// Commands of the model that succeeded.
    pub commands: Vec<String>,
}

impl Done<'_> {
    pub fn path(&self, name: &str) -> PathBuf {
        self.bed.project().join(name)
    }

    /// What a program prints. The model may have written it, so it runs in the sandbox.
    pub fn runs(&self, words: &[&str]) -> Result<String> {
        let project = self.bed.project();
        let start = ["sandbox", "exec", "--timeout", "60", "--project"];
        let mut command = self.bed.command(&start)?;
        let output = command.arg(&project).arg("--").args(words).output()?;
        let (out, err) = (
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr),
        );
        let last = err.trim().lines().last().unwrap_or_default();
        ensure!(output.status.success(), "`{}` fails: {last}", words.join(" "));
        Ok(out.into_owned())
    }
}

/// Has the model do a task; what it did is kept in `keep`.
pub fn work(task: &'static Task, model: &Model, keep: &Path) -> Result<Outcome> {
    let bed = Bed::new()?;
    for (name, content) in task.files {
        bed.put(name, content)?;
    }
    let begun = Instant::now();
    let lines = bed.path("events.jsonl");
    let child = bed
        .command(&["run", "--format", "jsonl", "--approve", "all", "--calls"])?
        .args([&model.calls, "--base-url", &model.url, "--model", &model.name])
        .arg(task.words)
        .stdout(File::create(&lines)?)
        .stderr(File::create(bed.path("errors.txt"))?)
        .spawn()?;
    let code = ended(child, begun + LIMIT)?;
    let time = begun.elapsed();
    let events = whole_events(&fs::read_to_string(&lines)?);
    let done = Done {
        bed: &bed,
        answer: answer(&events),
        commands: commands(&events),
    };
    let failure = match (code, (task.check)(&done)) {
        (Some(0), Ok(())) => None,
        (Some(0), Err(why)) => Some(format!("{why:#}")),
        (None, _) => Some(format!("not done after {} s", LIMIT.as_secs())),
        (Some(code), result) => {
            let sentence = fs::read_to_string(bed.path("errors.txt"))?;
            let sentence = sentence.lines().next().unwrap_or_default().to_owned();
            let result = if result.is_ok() {
                "the result is right"
            } else {
                "the result is not there"
            };
            Some(format!("ended with {code}, {result}: {sentence}"))
        }
    };
    keep_all(&bed, keep)?;
    Ok(Outcome {
        task: task.name,
        failure,
        iterations: iterations(&events),
        calls: calls(&events).len(),
        first_call: first_call(&events),
        time,
    })
}

/// The exit code; none when the program had to be ended.
fn ended(mut child: Child, deadline: Instant) -> Result<Option<i32>> {
    while Instant::now() < deadline {
        if let Some(status) = child.try_wait()? {
            return Ok(status.code());
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    child.kill()?;
    child.wait()?;
    Ok(None)
}

fn iterations(events: &[Event]) -> u32 {
    let numbers = events.iter().filter_map(|event| match event.msg {
        EventMsg::IterationStarted { iteration, .. } => Some(iteration),
        _ => None,
    });
    numbers.max().unwrap_or(0)
}

fn first_call(events: &[Event]) -> Option<Duration> {
    let at = |wanted: fn(&EventMsg) -> bool| -> Option<Timestamp> {
        Some(events.iter().find(|event| wanted(&event.msg))?.at)
    };
    let begun = at(|msg| matches!(msg, EventMsg::TurnStarted { .. }))?;
    let called = at(|msg| match msg {
        EventMsg::ItemStarted { item } => matches!(item.kind, ItemKind::Call(_)),
        _ => false,
    })?;
    Some(Duration::from_millis(called.0.saturating_sub(begun.0)))
}

/// The texts of the last iteration, and the words with which a call ended the turn.
fn answer(events: &[Event]) -> String {
    let last = iterations(events);
    let items = items(events);
    let texts = items
        .iter()
        .filter(|item| item.iteration == last)
        .filter_map(|item| match &item.kind {
            ItemKind::AgentText { text } => Some(text.clone()),
            ItemKind::Call(call) if matches!(call.verb, Verb::Finish | Verb::Say) => {
                Some(call.target.clone())
            }
            _ => None,
        });
    texts.collect::<Vec<_>>().join("\n")
}

fn commands(events: &[Event]) -> Vec<String> {
    let calls = calls(events).into_iter().map(|(_, call)| call);
    calls
        .filter(|call| call.verb == Verb::Run && call.output.as_ref().is_some_and(|output| output.ok))
        .map(|call| call.target)
        .collect()
}

/// Keeps what the program printed and every exchange with the model, for a look at what went wrong.
fn keep_all(bed: &Bed, keep: &Path) -> Result<()> {
    if keep.exists() {
        fs::remove_dir_all(keep)?;
    }
    for name in ["events.jsonl", "errors.txt", "project", "home/sessions"] {
        copy(&bed.path(name), &keep.join(name)).with_context(|| format!("{name} could not be kept"))?;
    }
    Ok(())
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    if from.is_symlink() {
        return Ok(());
    }
    if !from.is_dir() {
        fs::create_dir_all(to.parent().context("a file has a folder")?)?;
        fs::copy(from, to)?;
        return Ok(());
    }
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let name = entry?.file_name();
        copy(&from.join(&name), &to.join(&name))?;
    }
    Ok(())
}
