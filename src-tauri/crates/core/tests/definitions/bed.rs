//! A core on folders of its own, and a session whose events are heard.

use paddock_core::protocol::*;
use paddock_core::{HelperProgram, Paddock, SessionWish, demo_model};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use tokio::sync::mpsc::UnboundedReceiver;

pub struct Bed {
    place: tempfile::TempDir,
    pub paddock: Paddock,
}

pub struct Work {
    paddock: Paddock,
    pub session: SessionId,
    events: UnboundedReceiver<Event>,
    heard: Vec<EventMsg>,
}

pub fn values(pairs: &[(&str, ParameterValue)]) -> ParameterValues {
    pairs
        .iter()
        .map(|(name, value)| ((*name).to_owned(), value.clone()))
        .collect()
}

pub fn text(text: &str) -> ParameterValue {
    ParameterValue::Text(text.to_owned())
}

impl Bed {
    pub fn new(files: &[(&str, &str)]) -> Self {
        let place = tempfile::tempdir().unwrap();
        std::fs::create_dir(place.path().join("project")).unwrap();
        let paddock = Paddock::open(Some(place.path().join("home")), HelperProgram::current()).unwrap();
        let bed = Self { place, paddock };
        for (name, content) in files {
            bed.put(name, content);
        }
        bed
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.place.path().join("project").join(name)
    }

    fn project(&self) -> String {
        self.path("").to_string_lossy().into_owned()
    }

    pub fn put(&self, name: &str, content: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// Every file of the project with its content, `.git` apart.
    pub fn files(&self) -> BTreeMap<String, String> {
        fn walk(folder: &Path, prefix: &str, files: &mut BTreeMap<String, String>) {
            for entry in std::fs::read_dir(folder).unwrap() {
                let entry = entry.unwrap();
                let name = format!("{prefix}{}", entry.file_name().into_string().unwrap());
                if name == ".git" {
                } else if entry.file_type().unwrap().is_dir() {
                    walk(&entry.path(), &format!("{name}/"), files);
                } else {
                    files.insert(name, std::fs::read_to_string(entry.path()).unwrap());
                }
            }
        }
        let mut files = BTreeMap::new();
        walk(&self.path(""), "", &mut files);
        files
    }

    pub fn git(&self, arguments: &[&str]) -> String {
        let done = Command::new("git")
            .current_dir(self.path(""))
            .args(["-c", "user.name=Test", "-c", "user.email=test@example.invalid"])
            .args(arguments)
            .output()
            .unwrap();
        assert!(done.status.success());
        String::from_utf8(done.stdout).unwrap()
    }

    pub fn commit(&self) {
        self.git(&["init", "--quiet"]);
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message", "first"]);
    }

    pub async fn preview(&self, name: &str, values: &ParameterValues) -> WorkflowPreview {
        let request = Request::PreviewWorkflow {
            project: self.project(),
            name: name.to_owned(),
            values: values.clone(),
        };
        match self.paddock.request(request).await.unwrap() {
            Reply::Preview { preview } => preview,
            other => panic!("{other:?}"),
        }
    }

    /// Reads a file of the project and switches it on.
    pub async fn review(&self, path: &str) -> Result<Reply, ClientError> {
        let project = self.project();
        let read = Request::Definition {
            project: project.clone(),
            path: path.to_owned(),
        };
        let Reply::Text { text } = self.paddock.request(read).await? else {
            panic!()
        };
        let accept = Request::ReviewDefinition {
            project,
            path: path.to_owned(),
            hash: paddock_core::hash_of(text.as_bytes()),
            accept: true,
        };
        self.paddock.request(accept).await
    }

    pub async fn session(&self) -> Work {
        let wish = SessionWish {
            model: Some(demo_model()),
            ..SessionWish::default()
        };
        let session = self.paddock.create_session(&self.project(), wish).await.unwrap();
        let (_, events) = self.paddock.attach(&session).await.unwrap();
        Work {
            paddock: self.paddock.clone(),
            session,
            events,
            heard: Vec::new(),
        }
    }
}

impl Work {
    pub async fn run(&self, name: &str, values: &ParameterValues, token: &str) -> Result<Reply, ClientError> {
        let request = Request::RunWorkflow {
            session: self.session.clone(),
            name: name.to_owned(),
            values: values.clone(),
            token: token.to_owned(),
        };
        self.paddock.request(request).await
    }

    async fn hear<T>(&mut self, what: impl Fn(&EventMsg) -> Option<T>) -> T {
        loop {
            let next = tokio::time::timeout(Duration::from_secs(30), self.events.recv()).await;
            let msg = next.unwrap_or_else(|_| panic!("{:#?}", self.heard)).unwrap().msg;
            let found = what(&msg);
            self.heard.push(msg);
            if let Some(found) = found {
                return found;
            }
        }
    }

    pub async fn end(&mut self) -> WorkflowEnd {
        self.hear(|msg| match msg {
            EventMsg::WorkflowEnded { end } => Some(*end),
            _ => None,
        })
        .await
    }

    /// The completed call of a tool.
    pub fn first_call(&self, tool: &str) -> CallItem {
        let mut calls = self.heard.iter().filter_map(|msg| match msg {
            EventMsg::ItemCompleted { item } => match &item.kind {
                ItemKind::Call(call) if call.tool == tool => Some(call.as_ref().clone()),
                _ => None,
            },
            _ => None,
        });
        calls.next().unwrap()
    }

    /// Takes a call back; every file of it comes back.
    pub async fn undo(&mut self, call: &CallId) {
        let op = Op::Undo { call: call.clone() };
        self.paddock.submit(&self.session, op).await.unwrap();
        let files = self
            .hear(|msg| match msg {
                EventMsg::ItemCompleted { item } => match &item.kind {
                    ItemKind::Undo { files, .. } => Some(files.clone()),
                    _ => None,
                },
                _ => None,
            })
            .await;
        let back = |result| matches!(result, UndoResult::Restored | UndoResult::Removed);
        assert!(files.iter().all(|file| back(file.result)), "{files:?}");
    }
}
