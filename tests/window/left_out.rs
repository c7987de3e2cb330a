//! One of two changes is switched off in the card, with the keyboard: the file on the disk holds the other one alone.

use anyhow::Result;
use paddock_protocol::Limits;
use paddock_tests::model_server::{ModelServer, calls, text};
use serde_json::json;
use std::fs;
use std::time::Duration;

use crate::steps::{APPROVE, card, of_type};
use crate::work::Work;

/// Thirty numbered lines, the third and the twenty-fifth as given.
fn beds(third: &str, late: &str) -> String {
    let line = |n: usize| match n {
        3 => format!("{third}\n"),
        25 => format!("{late}\n"),
        _ => format!("bed {n}\n"),
    };
    (1..=30).map(line).collect()
}

#[tokio::test]
async fn a_change_that_is_switched_off_is_not_written() -> Result<()> {
    let server = ModelServer::start(|_, request| match request.results() {
        0 => calls(&[(
            "c",
            "edit_file",
            json!({ "path": "beds.txt", "old_text": "empty", "new_text": "leeks", "all": true }),
        )]),
        _ => text("One bed is planted."),
    })?;
    let work = Work::open(
        &server,
        Limits::default(),
        &[("beds.txt", &beds("empty", "empty"))],
    )
    .await?;
    let page = &work.desktop.page;
    work.say("Plant the beds.").await?;
    card(&work.desktop, 1).await?;
    page.find("[data-testid=hunk-1]").await?;
    tokio::time::sleep(Duration::from_millis(900)).await;
    work.picture("left-out-1-all").await?;
    page.press("[data-testid=hunk-0]", " ").await?;
    work.shows("Write 1 of 2 changes").await?;
    tokio::time::sleep(Duration::from_millis(900)).await;
    work.picture("left-out-2-one").await?;
    page.click(APPROVE).await?;
    let events = work.ended("completed").await?;
    assert_eq!(
        fs::read_to_string(work.project.join("beds.txt"))?,
        beds("empty", "leeks")
    );
    let decided = &of_type(&events, "approval_resolved")[0]["outcome"]["decision"];
    assert_eq!(decided["left_out"], json!([0]), "{decided}");
    let received = server.received();
    let told = received
        .last()
        .map(|request| request.messages())
        .unwrap_or_default();
    let told = told.iter().rev().find_map(|message| {
        let result = message["role"] == "tool";
        message["content"].as_str().filter(|_| result)
    });
    assert!(
        told.is_some_and(|told| told.contains("change 1, near line 3:\n-empty\n+leeks")),
        "{told:?}"
    );
    work.shows("1 left out by you").await?;
    work.picture("left-out-3-done").await
}
