//! The demo from the start screen to its stop, by what a person does in the window; the folder and the log say what it did.

use std::fs;

use anyhow::{Context as _, Result};
use paddock_tests::desktop::Desktop;
use serde_json::json;

use crate::steps::{APPROVE, COUNTER, begin_demo, card, log, logged, of_type, project, reject};

const REASON: &str = "no comments in the program, please";

#[tokio::test]
async fn the_demo_by_clicks_reject_with_a_reason_approve_extend_and_stop() -> Result<()> {
    let desktop = Desktop::open(&[]).await?;
    let page = &desktop.page;
    page.find("[data-testid=start-demo]").await?;
    desktop.picture("demo-1-start").await?;
    begin_demo(&desktop).await?;

    // The proposed change is a card; nothing is written before a decision.
    let first = card(&desktop, 1).await?;
    page.find(APPROVE).await?;
    page.text_when(COUNTER, |text| text.contains("2 of 8")).await?;
    desktop.picture("demo-2-change-waits").await?;
    let program = project(&desktop)?.join("basket.sh");
    let before = fs::read_to_string(&program)?;
    assert_eq!(first["target"], "basket.sh");
    assert!(before.contains("total - discount"), "{before}");

    reject(&desktop, REASON).await?;
    card(&desktop, 2).await?;
    // The model heard it: its next words quote the reason.
    let heard = format!("I heard you: “{REASON}”");
    page.text_when("#app", |text| text.contains(&heard)).await?;
    page.text_when(COUNTER, |text| text.contains("3 of 8")).await?;
    assert_eq!(
        fs::read_to_string(&program)?,
        before,
        "a rejected change was written"
    );
    desktop.picture("demo-3-reason-heard").await?;

    page.click(APPROVE).await?;
    let command = card(&desktop, 3).await?;
    let after = fs::read_to_string(&program)?;
    assert!(after.contains("total * (100 - discount) / 100"), "{after}");
    assert_eq!(command["body"]["command"], "sh tests/run.sh");
    page.text_when(COUNTER, |text| text.contains("4 of 8")).await?;
    page.find(APPROVE).await?;
    desktop.picture("demo-4-command-waits").await?;

    page.click(APPROVE).await?;
    card(&desktop, 4).await?;
    page.text_when(COUNTER, |text| text.contains("5 of 8")).await?;
    page.find(APPROVE).await?;
    desktop.picture("demo-5-network-waits").await?;
    page.click("[data-testid=reject]:not(.waiting)").await?;

    page.find("[data-testid=limit-extend]").await?;
    page.text_when(COUNTER, |text| text.contains("8 of 8")).await?;
    desktop.picture("demo-6-limit").await?;
    page.click("[data-testid=limit-extend]").await?;
    page.text_when(COUNTER, |text| text.contains("of 18")).await?;

    // After the extension it goes on, to a second change; there it is stopped.
    let note = card(&desktop, 5).await?;
    let changelog = project(&desktop)?.join("CHANGELOG.md");
    assert_eq!(note["target"], "CHANGELOG.md");
    let unchanged = fs::read_to_string(&changelog)?;
    desktop.picture("demo-7-extended").await?;
    page.click("[data-testid=stop]").await?;
    page.gone(APPROVE).await?;
    let stopped = |events: &[serde_json::Value]| {
        of_type(events, "turn_ended").last().map(|msg| &msg["end"]) == Some(&json!("stopped"))
    };
    logged(&desktop, "the end of the turn", stopped).await?;
    desktop.picture("demo-8-stopped").await?;
    assert_eq!(fs::read_to_string(&changelog)?, unchanged);

    the_log_tells_the_same(&desktop)?;
    desktop.page.close().await
}

fn the_log_tells_the_same(desktop: &Desktop) -> Result<()> {
    let events = log(desktop)?;
    for (place, event) in events.iter().enumerate() {
        assert_eq!(event["seq"], place + 1);
    }
    let answers: Vec<_> = of_type(&events, "approval_resolved")
        .iter()
        .map(|msg| msg["outcome"]["decision"]["answer"].clone())
        .collect();
    assert_eq!(
        answers,
        [
            json!("reject"),
            json!("approve"),
            json!("approve"),
            json!("reject"),
            json!(null)
        ]
    );
    assert_eq!(
        of_type(&events, "approval_resolved")[0]["outcome"]["decision"]["reason"],
        REASON
    );
    let iterations: Vec<_> = of_type(&events, "iteration_started")
        .iter()
        .filter_map(|msg| msg["iteration"].as_u64())
        .collect();
    assert_eq!(iterations, (1..=iterations.len() as u64).collect::<Vec<_>>());
    assert!(iterations.len() > 8, "{iterations:?}");
    let command = of_type(&events, "item_completed")
        .into_iter()
        .find(|msg| msg["item"]["kind"]["target"] == "sh tests/run.sh")
        .context("the tests did not run")?;
    let output = &command["item"]["kind"]["output"];
    assert_eq!(
        (&output["ok"], &output["facts"]["sandbox"]),
        (&json!(true), &json!("full"))
    );
    Ok(())
}
