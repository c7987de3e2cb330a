//! Steps that several tests share: into the demo, through a card, and what the log of the session says about it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use paddock_tests::desktop::Desktop;
use serde_json::Value;

pub const APPROVE: &str = "[data-testid=approve-main]:not(.waiting)";
pub const COUNTER: &str = "[data-testid=iteration-counter]";

/// From the start screen into the demo and off, by two clicks.
pub async fn begin_demo(desktop: &Desktop) -> Result<()> {
    let page = &desktop.page;
    page.click("[data-testid=start-demo]").await?;
    page.click("[data-testid=demo-task]").await
}

/// Rejects the card that waits, with a reason.
pub async fn reject(desktop: &Desktop, reason: &str) -> Result<()> {
    let page = &desktop.page;
    page.click("[data-testid=reject-menu]:not(.waiting)").await?;
    page.click("[role=menuitem]").await?;
    page.fill("[data-testid=reject-reason]", reason).await?;
    page.click("[data-testid=reject-send]:not(.waiting)").await
}

/// The newest session of the person in this window's data folder: its events so far, as they are on disk.
pub fn log(desktop: &Desktop) -> Result<Vec<Value>> {
    log_in(&desktop.data())
}

/// The same for the data folder of a window that is closed.
pub fn log_in(data: &Path) -> Result<Vec<Value>> {
    let sessions = fs::read_dir(data.join("sessions"))?.collect::<Result<Vec<_>, _>>()?;
    // Ids grow with time; those of sub-agents are made from their parents'.
    let of_person = |session: &&fs::DirEntry| !session.file_name().to_string_lossy().contains('.');
    let newest = sessions
        .iter()
        .filter(of_person)
        .max_by_key(|session| session.file_name());
    let session = newest.context("there is no session")?;
    let text = fs::read_to_string(session.path().join("log.jsonl"))?;
    // The last line may be half written at this moment.
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    whole
        .lines()
        .map(|line| Ok(serde_json::from_str(line)?))
        .collect()
}

/// The logs of all sessions, those of sub-agents too.
pub fn log_all(desktop: &Desktop) -> Result<Vec<PathBuf>> {
    let sessions = fs::read_dir(desktop.data().join("sessions"))?;
    let logs = sessions.map(|session| Ok(session?.path().join("log.jsonl")));
    logs.collect()
}

/// The events of one type.
pub fn of_type<'a>(events: &'a [Value], name: &str) -> Vec<&'a Value> {
    events
        .iter()
        .map(|event| &event["msg"])
        .filter(|msg| msg["type"] == name)
        .collect()
}

/// Waits until the log fulfils a condition.
pub async fn logged(desktop: &Desktop, what: &str, fits: impl Fn(&[Value]) -> bool) -> Result<Vec<Value>> {
    within(Duration::from_secs(15), what, || {
        let events = log(desktop).ok()?;
        fits(&events).then_some(events)
    })
    .await
}

/// Waits until an approval with this number, counted from 1, was asked for.
pub async fn card(desktop: &Desktop, number: usize) -> Result<Value> {
    let asked = |events: &[Value]| of_type(events, "approval_requested").len() >= number;
    let events = logged(desktop, &format!("approval {number}"), asked).await?;
    Ok(of_type(&events, "approval_requested")[number - 1]["approval"].clone())
}

/// The folder that the session works in.
pub fn project(desktop: &Desktop) -> Result<PathBuf> {
    let events = log(desktop)?;
    let path = of_type(&events, "session_created")[0]["config"]["project"]
        .as_str()
        .context("the session has no project")?;
    Ok(PathBuf::from(path))
}

/// Tries until there is something, for this long.
pub async fn within<T>(patience: Duration, what: &str, mut attempt: impl FnMut() -> Option<T>) -> Result<T> {
    let deadline = Instant::now() + patience;
    loop {
        if let Some(value) = attempt() {
            return Ok(value);
        }
        if Instant::now() > deadline {
            bail!("waited {} s for {what}", patience.as_secs());
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
