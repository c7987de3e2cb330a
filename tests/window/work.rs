//! The loop at work in the real window, with a model server of the test's own: tasks, calls side by side, sub-agents, a command
//! past its limit, background processes, the queue, the guard, the breaker, a question, a workflow.

use std::fs;
use std::path::PathBuf;

use anyhow::Result;
use paddock_protocol::{Limits, Millis, Settings};
use paddock_tests::desktop::Desktop;
use paddock_tests::model_server::{ModelServer, Piece, Received, calls, text};
use serde_json::{Value, json};

use crate::steps::{APPROVE, log_all, logged, of_type};

const COMPOSER: &str = "[data-testid=composer-input]";

/// A window on a project of its own, with this model chosen.
pub struct Work {
    pub desktop: Desktop,
    pub project: PathBuf,
}

impl Work {
    pub async fn open(server: &ModelServer, limits: Limits, files: &[(&str, &str)]) -> Result<Self> {
        Self::open_set(server, files, |settings| settings.limits = limits).await
    }

    /// The same with other settings as well.
    pub async fn open_set(
        server: &ModelServer,
        files: &[(&str, &str)],
        set: impl FnOnce(&mut Settings),
    ) -> Result<Self> {
        let (desktop, project) = Desktop::open_with_model(server.url(), files, set).await?;
        let work = Self { desktop, project };
        work.press("garden").await?;
        Ok(work)
    }

    /// Clicks the button that reads like this.
    pub async fn press(&self, words: &str) -> Result<()> {
        let script = "const [words] = arguments; \
            const fits = [...document.querySelectorAll('button, a, label, [role=menuitem], [role=tab], [role=option]')] \
              .filter((one) => one.offsetParent !== null && !one.disabled) \
              .find((one) => `${one.getAttribute('aria-label') ?? ''} ${one.innerText}`.includes(words)); \
            if (fits === undefined) return false; fits.click(); return true";
        for _ in 0..100 {
            if self.desktop.page.execute(script, &[json!(words)]).await? == json!(true) {
                return Ok(());
            }
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
        anyhow::bail!("no button reads \"{words}\"")
    }

    pub async fn say(&self, words: &str) -> Result<()> {
        self.desktop.page.fill(COMPOSER, words).await?;
        self.desktop.page.click("[data-testid=composer-send]").await
    }

    /// A new session, once nothing of the one before is seen.
    async fn begin_anew(&self, before: &str) -> Result<()> {
        self.desktop.page.click("[data-testid=new-session]").await?;
        let script = "return document.querySelector('main').innerText.includes(arguments[0])";
        for _ in 0..100 {
            if self.desktop.page.execute(script, &[json!(before)]).await? == json!(false) {
                return Ok(());
            }
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
        anyhow::bail!("the session before is still shown")
    }

    pub async fn shows(&self, words: &str) -> Result<()> {
        // What the driver calls an element's text leaves out names that are cut off at the edge.
        let script = "return document.querySelector('#app').innerText.includes(arguments[0])";
        for _ in 0..150 {
            if self.desktop.page.execute(script, &[json!(words)]).await? == json!(true) {
                return Ok(());
            }
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
        anyhow::bail!("the window does not show \"{words}\"")
    }

    /// A picture on which no button is cut off at the side.
    pub async fn picture(&self, name: &str) -> Result<()> {
        self.desktop.picture(name).await?;
        let script = "return [...document.querySelectorAll('button')] \
            .filter((one) => one.offsetParent !== null && one.getBoundingClientRect().right > innerWidth + 1) \
            .map((one) => one.innerText)";
        let cut = self.desktop.page.execute(script, &[]).await?;
        anyhow::ensure!(cut == json!([]), "cut off at the side in {name}: {cut}");
        Ok(())
    }

    pub async fn ended(&self, end: &str) -> Result<Vec<Value>> {
        let fits = |events: &[Value]| {
            of_type(events, "turn_ended")
                .last()
                .is_some_and(|msg| msg["end"] == end)
        };
        logged(&self.desktop, &format!("a turn that is {end}"), fits).await
    }
}

/// The task of a request: the first message of a person in it.
fn task(request: &Received) -> String {
    let messages = request.messages();
    let first = messages.iter().find(|message| message["role"] == "user");
    first
        .and_then(|m| m["content"].as_str())
        .unwrap_or_default()
        .to_owned()
}

fn plan(done: usize) -> Value {
    let state = |at: usize| match at {
        at if at < done => "done",
        at if at == done => "doing",
        _ => "open",
    };
    let tasks: Vec<Value> = ["Read the beds", "Ask a helper", "Say what grows"]
        .iter()
        .enumerate()
        .map(|(at, text)| json!({ "text": text, "state": state(at) }))
        .collect();
    json!({ "tasks": tasks })
}

fn gardener(request: &Received) -> Vec<Piece> {
    let task = task(request);
    match (task.starts_with("Look at bed"), request.results()) {
        (true, 0) => calls(&[("r", "read_file", json!({ "path": "north.md" }))]),
        (true, _) => text("Only beans grow there."),
        (false, 0) => calls(&[
            ("p", "update_plan", plan(0)),
            ("a", "read_file", json!({ "path": "north.md" })),
            ("b", "read_file", json!({ "path": "south.md" })),
            ("c", "search_files", json!({ "pattern": "beans" })),
        ]),
        (false, 4) => calls(&[
            ("p2", "update_plan", plan(1)),
            (
                "d",
                "delegate",
                json!({ "name": "beds", "task": "Look at bed one" }),
            ),
            (
                "e",
                "delegate",
                json!({ "name": "paths", "task": "Look at bed two" }),
            ),
        ]),
        (false, _) => text("Beans and roses grow."),
    }
}

#[tokio::test]
async fn tasks_calls_side_by_side_and_sub_agents_are_seen() -> Result<()> {
    let server = ModelServer::start(|_, request| gardener(request))?;
    let work = Work::open(
        &server,
        Limits::default(),
        &[("north.md", "beans\n"), ("south.md", "roses\n")],
    )
    .await?;
    work.say("What grows here?").await?;
    work.shows("Beans and roses grow.").await?;
    work.ended("completed").await?;
    let page = &work.desktop.page;
    work.picture("work-1-folded").await?;
    // The finished turn folds; opened, everything of it is there.
    page.execute(
        "document.querySelectorAll('[aria-expanded=false]').forEach((one) => { if (one.closest('main')) one.click() })",
        &[],
    )
    .await?;
    work.shows("beds").await?;
    work.shows("Tasks").await?;
    assert!(
        page.count(".bracket").await? >= 2,
        "calls that ran together share a bracket"
    );
    work.picture("work-2-open").await?;
    let sessions = log_all(&work.desktop)?;
    assert_eq!(sessions.len(), 3, "each sub-agent has a session of its own");
    work.press("Tasks").await?;
    work.shows("Say what grows").await?;
    work.picture("work-3-tasks").await
}

#[tokio::test]
async fn a_command_past_its_limit_goes_to_the_background_and_everything_is_stopped() -> Result<()> {
    let server = ModelServer::start(|_, request| match request.results() {
        0 => calls(&[(
            "c",
            "run_command",
            json!({ "command": "while true; do echo tick >> ticks; sleep 0.1; done" }),
        )]),
        _ => text("It waters in the background."),
    })?;
    let limits = Limits {
        command_time: Millis(1_500),
        ..Limits::default()
    };
    let work = Work::open(&server, limits, &[]).await?;
    let page = &work.desktop.page;
    work.say("Water the garden.").await?;
    page.click(APPROVE).await?;
    page.find("[data-testid=overdue-keep]").await?;
    work.picture("work-4-overdue").await?;
    page.click("[data-testid=overdue-background]").await?;
    work.ended("completed").await?;
    let size = || fs::metadata(work.project.join("ticks")).map_or(0, |file| file.len());
    let before = size();
    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    assert!(size() > before, "it goes on after the turn");
    work.press("Processes").await?;
    work.shows("while true").await?;
    work.picture("work-5-processes").await?;
    page.click("[data-testid=stop-menu]").await?;
    work.press("Stop everything").await?;
    page.click("[data-testid=stop-everything]").await?;
    let over = |events: &[Value]| !of_type(events, "process_ended").is_empty();
    logged(&work.desktop, "the end of the process", over).await?;
    let before = size();
    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    assert_eq!(size(), before, "nothing of it is left");
    work.picture("work-6-stopped").await
}

#[tokio::test]
async fn the_guard_the_breaker_and_a_question_ask_in_the_window() -> Result<()> {
    let server = ModelServer::start(|_, request| match (task(request).as_str(), request.results()) {
        ("Ask me.", 0) => calls(&[(
            "q",
            "ask_question",
            json!({ "question": "Which bed first?", "options": ["North", "South"] }),
        )]),
        ("Ask me.", _) => text("North it is."),
        ("Turn round.", _) => calls(&[("r", "read_file", json!({ "path": "north.md" }))]),
        (_, _) => calls(&[(
            "r",
            "read_file",
            json!({ "path": format!("none-{}.md", request.results()) }),
        )]),
    })?;
    let work = Work::open(&server, Limits::default(), &[("north.md", "beans\n")]).await?;
    let page = &work.desktop.page;
    work.say("Ask me.").await?;
    work.shows("Which bed first?").await?;
    work.picture("work-7-question").await?;
    work.press("North").await?;
    page.click("[data-testid=answer]:not(.waiting)").await?;
    work.shows("North it is.").await?;
    work.begin_anew("North it is.").await?;
    work.say("Turn round.").await?;
    work.shows("going in circles").await?;
    work.picture("work-8-guard").await?;
    page.click("[data-testid=stop]").await?;
    work.begin_anew("going in circles").await?;
    work.say("Find the beds.").await?;
    work.shows("3 times in a row").await?;
    work.picture("work-9-breaker").await
}

#[tokio::test]
async fn a_workflow_is_filled_in_previewed_run_and_undone() -> Result<()> {
    let server = ModelServer::start(|_, _| text("Noted."))?;
    let files = [("keep.md", "k"), ("old-1.tmp", "1"), ("old-2.tmp", "2")];
    let work = Work::open(&server, Limits::default(), &files).await?;
    let page = &work.desktop.page;
    work.press("Workflows").await?;
    work.press("Delete many files").await?;
    work.picture("work-10-form").await?;
    page.fill("[data-field=files]", "*.tmp").await?;
    page.click("[data-testid=workflow-preview]").await?;
    work.shows("old-2.tmp").await?;
    work.picture("work-11-preview").await?;
    let words = page.text("[data-testid=workflow-run]").await?;
    assert!(words.contains("2 files"), "the button says the number: {words}");
    assert!(
        work.project.join("old-1.tmp").exists(),
        "a preview changes nothing"
    );
    page.click("[data-testid=workflow-run]:not(.waiting)").await?;
    let over = |events: &[Value]| !of_type(events, "workflow_ended").is_empty();
    let events = logged(&work.desktop, "the end of the workflow", over).await?;
    assert_eq!(of_type(&events, "workflow_ended")[0]["end"], "completed");
    assert!(!work.project.join("old-1.tmp").exists() && work.project.join("keep.md").exists());
    assert!(server.received().is_empty(), "no model was asked");
    work.picture("work-12-done").await
}
