//! The turn belongs to the core: a page that is loaded again, a page whose process dies and a window that is closed leave it
//! as it is.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result};
use paddock_tests::desktop::{Desktop, ask};
use serde_json::{Value, json};

use crate::steps::{APPROVE, COUNTER, begin_demo, card, log, log_in, of_type, project, within};

const WAIT: Duration = Duration::from_secs(10);

/// Opens the folder by its path, as a person does; its newest session comes with it.
async fn open_folder(desktop: &Desktop, folder: &Path) -> Result<()> {
    let page = &desktop.page;
    page.fill("[data-testid=open-path]", &folder.display().to_string())
        .await?;
    page.click("[data-testid=open-path-button]").await
}

fn pids(words: &[&str]) -> Result<Vec<String>> {
    Ok(ask("pgrep", words)?.lines().map(str::to_owned).collect())
}

/// The process that draws the page of the app.
fn page_process() -> Result<String> {
    let found = pids(&["-n", "WebKitWebProces"])?;
    found.into_iter().next().context("no page has a process")
}

#[tokio::test]
async fn a_page_that_loads_again_comes_back_to_the_session_as_it_is() -> Result<()> {
    let desktop = Desktop::open(&[]).await?;
    let page = &desktop.page;
    begin_demo(&desktop).await?;
    card(&desktop, 1).await?;
    page.find(APPROVE).await?;
    let before = log(&desktop)?;

    page.execute("document.body.id = 'before'; location.reload()", &[])
        .await?;
    page.gone("#before").await?;
    page.find(APPROVE).await?;
    assert_eq!(
        log(&desktop)?,
        before,
        "loading the page again changed the session"
    );
    page.click(APPROVE).await?;
    card(&desktop, 2).await?;
    page.text_when(COUNTER, |text| text.contains("3 of 8")).await?;
    let after = log(&desktop)?;
    assert_eq!(after[..before.len()], before);
    assert_eq!(of_type(&after, "iteration_started").len(), 3);
    desktop.page.close().await
}

#[tokio::test]
async fn a_page_whose_process_dies_is_loaded_again_and_the_turn_does_not_notice() -> Result<()> {
    let desktop = Desktop::open(&[]).await?;
    begin_demo(&desktop).await?;
    card(&desktop, 1).await?;
    desktop.page.find(APPROVE).await?;
    let before = log(&desktop)?;
    let dead = page_process()?;
    ask("kill", &["-KILL", &dead])?;
    let revived = || page_process().ok().filter(|pid| *pid != dead);
    within(WAIT, "a new process for the page", revived).await?;
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(log(&desktop)?, before);
    desktop.kill()?;
    Ok(())
}

#[tokio::test]
async fn a_window_that_is_closed_leaves_the_session_and_comes_back_as_large_as_it_was() -> Result<()> {
    let desktop = Desktop::open(&[]).await?;
    begin_demo(&desktop).await?;
    card(&desktop, 1).await?;
    desktop.page.find(APPROVE).await?;
    let folder = project(&desktop)?;
    let window = ask("xdotool", &["search", "--onlyvisible", "--name", "Paddock$"])?;
    ask("xdotool", &["windowsize", "--sync", &window, "1000", "700"])?;
    ask("xdotool", &["windowfocus", "--sync", &window])?;
    // The last item of the first menu is Quit.
    ask("xdotool", &["key", "--delay", "100", "F10", "Up", "Return"])?;
    let gone = || ask("xdotool", &["getwindowname", &window]).is_err().then_some(());
    within(WAIT, "the window to close", gone).await?;

    let data = desktop.data();
    let home = desktop.kill()?;
    let events = log_in(&data)?;
    let last: Vec<&Value> = events
        .iter()
        .rev()
        .take(2)
        .map(|event| &event["msg"]["type"])
        .collect();
    assert_eq!(last, [&json!("turn_changed"), &json!("approval_requested")]);

    let desktop = Desktop::open_in(home, &[]).await?;
    desktop.page.find("[data-testid=start-demo]").await?;
    let window = ask("xdotool", &["search", "--onlyvisible", "--name", "Paddock$"])?;
    let geometry = ask("xdotool", &["getwindowgeometry", &window])?;
    assert!(geometry.contains("1000x700"), "{geometry}");
    open_folder(&desktop, &folder).await?;
    desktop.page.click(APPROVE).await?;
    let written = || {
        std::fs::read_to_string(folder.join("basket.sh"))
            .ok()?
            .contains("total * discount / 100")
            .then_some(())
    };
    within(WAIT, "the approved change", written).await?;
    desktop.picture("after-the-restart").await?;
    desktop.page.close().await
}
