//! Runs of the built program `paddock` in folders of their own, and what their logs say.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::io::{Error, Result};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use paddock_protocol::{CallItem, Event, EventMsg, Item, ItemId, ItemKind};
use tempfile::TempDir;

use crate::model_server::ModelServer;

/// The program that was built with these tests, or the one that PADDOCK_BIN names.
pub fn paddock() -> Result<PathBuf> {
    if let Some(program) = std::env::var_os("PADDOCK_BIN") {
        return Ok(program.into());
    }
    let own = std::env::current_exe()?;
    let built = own.parent().and_then(Path::parent).unwrap_or(Path::new("."));
    let program = built.join(format!("paddock{}", std::env::consts::EXE_SUFFIX));
    if program.is_file() {
        return Ok(program);
    }
    Err(Error::other(format!(
        "{} is missing. Build it with `cargo build -p paddock-cli`, or let PADDOCK_BIN name it.",
        program.display()
    )))
}

/// Folders of a test: the project, a data folder, a home folder and a folder for temporary files.
pub struct Bed {
    place: TempDir,
}

impl Bed {
    pub fn new() -> Result<Self> {
        let place = tempfile::Builder::new().prefix("paddock-suite-").tempdir()?;
        for folder in ["project", "tmp", "person"] {
            std::fs::create_dir(place.path().join(folder))?;
        }
        Ok(Self { place })
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    pub fn project(&self) -> PathBuf {
        self.path("project")
    }

    pub fn put(&self, name: &str, content: &str) -> Result<()> {
        let path = self.project().join(name);
        std::fs::create_dir_all(path.parent().unwrap_or(&path))?;
        std::fs::write(path, content)
    }

    /// A file of the project; empty when it is not there.
    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.project().join(name)).unwrap_or_default()
    }

    /// The program with these arguments, in the folders of the bed, without a terminal.
    pub fn command(&self, words: &[&str]) -> Result<Command> {
        let mut command = Command::new(paddock()?);
        command
            .args(words)
            .env("PADDOCK_HOME", self.path("home"))
            .env("HOME", self.path("person"))
            .env("TMPDIR", self.path("tmp"))
            .env_remove("PADDOCK_LOG")
            .current_dir(self.project())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        Ok(command)
    }

    /// `paddock run --format jsonl` against a server.
    pub fn run_command(&self, url: &str, words: &[&str]) -> Result<Command> {
        let start = ["run", "--base-url", url, "--model", "m", "--format", "jsonl"];
        self.command(&[&start[..], words].concat())
    }

    pub fn run_at(&self, server: &ModelServer, words: &[&str]) -> Result<Ran> {
        self.run_command(&server.url(), words)?.output().map(Ran::of)
    }

    /// The only session's id and log, also when the last line is torn.
    pub fn log(&self) -> Result<(String, Vec<Event>)> {
        let sessions = self.path("home/sessions");
        let folder = std::fs::read_dir(sessions)?
            .next()
            .ok_or_else(|| Error::other("there is no session"))??;
        let text = std::fs::read_to_string(folder.path().join("log.jsonl"))?;
        Ok((
            folder.file_name().to_string_lossy().into_owned(),
            whole_events(&text),
        ))
    }

    /// Every file below the bed that holds these words.
    pub fn files_with(&self, words: &str) -> Result<Vec<PathBuf>> {
        let mut found = Vec::new();
        let mut open = vec![self.place.path().to_owned()];
        while let Some(folder) = open.pop() {
            for entry in std::fs::read_dir(folder)? {
                let path = entry?.path();
                if path.is_symlink() {
                    continue;
                }
                if path.is_dir() {
                    open.push(path);
                } else if contains(&std::fs::read(&path)?, words.as_bytes()) {
                    found.push(path);
                }
            }
        }
        Ok(found)
    }
}

fn contains(content: &[u8], words: &[u8]) -> bool {
    content.windows(words.len()).any(|window| window == words)
}

/// What a run came to.
#[derive(Debug)]
pub struct Ran {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Ran {
    pub fn of(output: Output) -> Self {
        Self {
            code: output.status.code(),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Panics unless the run ended with this exit code.
    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{}\n{}", self.out, self.err);
        self
    }

    pub fn events(&self) -> Vec<Event> {
        whole_events(&self.out)
    }
}

/// The events of a text of lines; a torn last line is left out, any other that is none panics.
#[track_caller]
pub fn whole_events(text: &str) -> Vec<Event> {
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    whole
        .lines()
        .map(|line| match serde_json::from_str(line) {
            Ok(event) => event,
            Err(error) => panic!("{error}: {line}"),
        })
        .collect()
}

/// Panics unless durable events are numbered 1, 2, 3 … and the others repeat the last number.
#[track_caller]
pub fn assert_gapless(events: &[Event]) {
    let mut last = 0;
    for event in events {
        assert_eq!(event.seq, last + u64::from(event.msg.is_durable()), "{event:?}");
        last = event.seq;
    }
}

/// Each item as its last event left it, in the order of their ids.
pub fn items(events: &[Event]) -> Vec<Item> {
    let mut items: HashMap<ItemId, Item> = HashMap::new();
    for event in events {
        if let EventMsg::ItemStarted { item }
        | EventMsg::ItemUpdated { item }
        | EventMsg::ItemCompleted { item } = &event.msg
        {
            items.insert(item.id, item.clone());
        }
    }
    let mut items: Vec<Item> = items.into_values().collect();
    items.sort_by_key(|item| item.id);
    items
}

/// The calls among the items.
pub fn calls(events: &[Event]) -> Vec<(Item, CallItem)> {
    items(events)
        .into_iter()
        .filter_map(|item| match item.kind.clone() {
            ItemKind::Call(call) => Some((item, *call)),
            _ => None,
        })
        .collect()
}

/// Waits until something is so, for at most 30 s; whether it came.
pub fn soon(mut what: impl FnMut() -> bool) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(30) {
        if what() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    what()
}

/// Waits for a program's end; it is ended after 60 s.
pub fn finished(mut child: Child) -> Result<Ran> {
    if !soon(|| child.try_wait().is_ok_and(|status| status.is_some())) {
        child.kill()?;
    }
    child.wait_with_output().map(Ran::of)
}

/// Whether a program of this name is on the search path.
pub fn finds(program: impl AsRef<OsStr>) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program.as_ref()).is_file())
}
