//! What waits is told by the system while the person looks elsewhere; a click leads to the card, and what is decided is
//! taken back.

use std::time::Duration;

use anyhow::{Context as _, Result};
use paddock_tests::desktop::{Desktop, ask};
use serde_json::{Value, json};

use crate::steps::{APPROVE, begin_demo, card, within};

const WAIT: Duration = Duration::from_secs(10);

/// The X window of the app.
fn window() -> Result<String> {
    let found = ask("xdotool", &["search", "--onlyvisible", "--name", "Paddock$"])?;
    Ok(found.lines().next().context("there is no window")?.to_owned())
}

fn focus(window: &str) -> Result<()> {
    ask("xdotool", &["windowfocus", window]).map(|_| ())
}

/// Away from the window, to the bare screen; the pointer must leave too, for the keys follow it there.
fn look_elsewhere() -> Result<()> {
    ask("xdotool", &["mousemove", "1260", "880"])?;
    let screen = ask("xwininfo", &["-root", "-int"])?;
    let id = screen.split_whitespace().find(|word| word.parse::<u32>().is_ok());
    focus(id.context("the screen has no number")?)
}

async fn displayed(number: &str) -> Result<()> {
    let right = || (ask("dunstctl", &["count", "displayed"]).ok()? == number).then_some(());
    within(WAIT, &format!("{number} notifications"), right).await
}

/// The newest notification that is no longer shown.
fn newest_closed() -> Result<Value> {
    let history: Value = serde_json::from_str(&ask("dunstctl", &["history"])?)?;
    Ok(history["data"][0][0].clone())
}

#[tokio::test]
async fn a_click_on_a_notification_leads_to_the_card_and_a_decision_takes_it_back() -> Result<()> {
    ask("dunstctl", &["close-all"])?;
    let desktop = Desktop::open(&[]).await?;
    let page = &desktop.page;
    page.find("[data-testid=start-demo]").await?;
    let own = window()?;
    focus(&own)?;
    begin_demo(&desktop).await?;
    card(&desktop, 1).await?;
    page.find(APPROVE).await?;

    // While it is seen there is nothing to tell.
    tokio::time::sleep(Duration::from_secs(4)).await;
    assert_eq!(ask("dunstctl", &["count", "displayed"])?, "0");
    let title = || (ask("xdotool", &["getwindowname", &own]).ok()? == "(1) orchard – Paddock").then_some(());
    within(WAIT, "the number in the title", title).await?;

    look_elsewhere()?;
    displayed("1").await?;
    page.execute("document.activeElement.blur()", &[]).await?;
    ask("dunstctl", &["action"])?;
    let front = || (ask("xdotool", &["getwindowfocus"]).ok()? == own).then_some(());
    within(WAIT, "the window to come to the front", front).await?;
    let script = "return document.activeElement.closest('[data-card], [role=feed]') !== null";
    let mut led = json!(false);
    for _ in 0..50 {
        led = page.execute(script, &[]).await?;
        if led == true {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(led, true, "the click did not lead to the card");
    displayed("0").await?;
    desktop.picture("notification-led-here").await?;

    // The next one is told as well, without what it would do, and a decision takes it back.
    look_elsewhere()?;
    page.click(APPROVE).await?;
    card(&desktop, 2).await?;
    displayed("1").await?;
    page.click(APPROVE).await?;
    card(&desktop, 3).await?;
    displayed("0").await?;
    let told = newest_closed()?;
    assert_eq!(told["appname"]["data"], "Paddock");
    assert_eq!(told["summary"]["data"], "Waiting for you in orchard");
    let body = told["body"]["data"].as_str().unwrap_or_default();
    assert!(body.ends_with(": wants to run a command"), "{body}");
    desktop.page.close().await
}
