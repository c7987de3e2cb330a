//! A project in a temporary folder and everything a call may use, recorded.
#![allow(clippy::unwrap_used, dead_code)]

use paddock_protocol::*;
use paddock_sandbox::*;
use paddock_tools::*;
use serde_json::Value;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

pub type Shared<T> = Arc<Mutex<T>>;

pub struct Project {
    folder: tempfile::TempDir,
    pub registry: Registry,
    pub cx: CallContext,
    pub live: Shared<String>,
    /// Path and old content of each `before`, path and version of each `after`, in order.
    pub journal: Shared<Vec<(String, Option<Vec<u8>>)>>,
    pub after: Shared<Vec<(String, FileVersion)>>,
    pub outputs: Shared<HashMap<String, Vec<u8>>>,
    pub process_changes: Shared<Vec<ProcessChange>>,
}

impl Project {
    pub fn new(files: &[(&str, &str)]) -> Self {
        Self::confined(files, Arc::new(Unconfined::new("This is a test.")))
    }

    pub fn confined(files: &[(&str, &str)], confinement: Arc<dyn Confinement>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("project")).unwrap();
        let root = ProjectRoot::open(&folder.path().join("project")).unwrap();
        let (live, journal) = (Shared::<String>::default(), Shared::<Vec<_>>::default());
        let (after, outputs) = (Shared::<Vec<_>>::default(), Shared::<HashMap<_, _>>::default());
        let process_changes = Shared::<Vec<ProcessChange>>::default();
        let call = TurnId(1).call(2, 3);
        let sandbox = SandboxSummary {
            confined: true,
            tier: "full".into(),
            ..SandboxSummary::default()
        };
        let state = StateDir::new(folder.path().join("state"));
        let cx = CallContext {
            command_time: Millis::seconds(20),
            live: {
                let live = Arc::clone(&live);
                Arc::new(move |_, text| live.lock().unwrap().push_str(text))
            },
            before: {
                let journal = Arc::clone(&journal);
                Arc::new(move |path, old| {
                    journal
                        .lock()
                        .unwrap()
                        .push((path.to_string(), old.map(<[u8]>::to_vec)));
                    Ok(())
                })
            },
            after: {
                let after = Arc::clone(&after);
                Arc::new(move |path, version| {
                    after.lock().unwrap().push((path.to_string(), version));
                    Ok(())
                })
            },
            whole_output: {
                let outputs = Arc::clone(&outputs);
                let call = call.to_string();
                Arc::new(move |bytes| {
                    outputs.lock().unwrap().insert(call.clone(), bytes.to_vec());
                    Ok(())
                })
            },
            processes: {
                let changes = Arc::clone(&process_changes);
                Processes::new(Arc::new(move |change| changes.lock().unwrap().push(change)), 0)
            },
            earlier_output: {
                let outputs = Arc::clone(&outputs);
                Arc::new(move |call| {
                    let kept = outputs.lock().unwrap().get(call.as_str()).cloned();
                    Ok(kept.map(|bytes| String::from_utf8(bytes).unwrap()))
                })
            },
            ..CallContext::bare(call.clone(), root, confinement, state, sandbox)
        };
        let project = Self {
            folder,
            registry: Registry::new(),
            cx,
            live,
            journal,
            after,
            outputs,
            process_changes,
        };
        for (path, content) in files {
            project.put(path, content.as_bytes());
        }
        project
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("project").join(name)
    }

    pub fn outside(&self) -> &Path {
        self.folder.path()
    }

    pub fn put(&self, name: &str, bytes: &[u8]) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    pub fn get(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    pub fn text(&self, name: &str) -> String {
        String::from_utf8(self.get(name)).unwrap()
    }

    pub async fn prepare(&self, tool: &str, arguments: Value) -> Result<Prepared, ToolError> {
        self.registry
            .get(tool)
            .unwrap()
            .prepare(&arguments.to_string(), &self.cx)
            .await
    }

    pub async fn run(&self, tool: &str, arguments: Value) -> Result<CallOutput, ToolError> {
        self.registry
            .get(tool)
            .unwrap()
            .run(&arguments.to_string(), &self.cx)
            .await
    }

    /// The text of a call that works.
    pub async fn says(&self, tool: &str, arguments: Value) -> String {
        self.run(tool, arguments).await.unwrap().text
    }

    /// The text of a call that fails, which must not name any place outside of the project that the model did not name.
    pub async fn fails(&self, tool: &str, arguments: Value) -> String {
        let outside = self.folder.path().to_str().unwrap();
        let is_named = arguments.to_string().contains(outside);
        let text = self.run(tool, arguments).await.unwrap_err().to_string();
        assert!(is_named || !text.contains(outside), "{text}");
        text
    }
}
