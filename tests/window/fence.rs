//! The fence in the real window: a host asked for while the command runs, a second run with what was refused, the check,
//! and the pages on which all of it can be looked at.

use anyhow::Result;
use paddock_protocol::Limits;
use paddock_tests::model_server::{ModelServer, calls, text};
use serde_json::{Value, json};
use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;

use crate::steps::{APPROVE, card, logged, of_type};
use crate::work::Work;

fn web() -> Result<String> {
    // An address of this machine that commands do not take for their own.
    let listener = TcpListener::bind("127.0.0.2:0")?;
    let address = format!("http://{}/", listener.local_addr()?);
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = stream.read(&mut [0; 1024]);
            let _ = stream
                .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\nconnection: close\r\n\r\nharvested");
        }
    });
    Ok(address)
}

/// The card's buttons are ready, so the picture is of what a person would see.
async fn settled() {
    tokio::time::sleep(std::time::Duration::from_millis(900)).await;
}

#[tokio::test]
async fn what_the_fence_refuses_is_asked_for_exactly() -> Result<()> {
    let address = web()?;
    let server = ModelServer::start(move |_, request| {
        let said = request.messages();
        let place = said
            .iter()
            .find_map(|m| m["content"].as_str()?.strip_prefix("The prices are in "));
        let run = |line: String| calls(&[("c", "run_command", json!({ "command": line }))]);
        match request.results() {
            0 => run(format!("curl -sS {address}")),
            1 => run(format!("cat {}", place.unwrap_or_default())),
            _ => text("Both were looked at."),
        }
    })?;
    let work = Work::open(&server, Limits::default(), &[("beds.txt", "two beds\n")]).await?;
    let page = &work.desktop.page;
    let outside = work
        .project
        .parent()
        .map(|home| home.join("shared"))
        .unwrap_or_default();
    fs::create_dir_all(&outside)?;
    fs::write(outside.join("prices.txt"), "apples 3\n")?;
    work.say(&format!(
        "The prices are in {}",
        outside.join("prices.txt").display()
    ))
    .await?;
    page.click(APPROVE).await?;
    let asked = card(&work.desktop, 2).await?;
    assert_eq!(
        (&asked["ask"], &asked["body"]["reach"]),
        (&json!(1), &json!("loopback"))
    );
    work.shows("Connect to").await?;
    work.shows("running, waits for you").await?;
    settled().await;
    work.picture("fence-1-host").await?;
    page.click(APPROVE).await?;
    card(&work.desktop, 3).await?;
    work.shows("cat ").await?;
    page.click(APPROVE).await?;
    let again = card(&work.desktop, 4).await?;
    let path = outside.join("prices.txt").canonicalize()?;
    assert_eq!(
        again["again"]["refused"][0]["path"],
        json!(path.to_string_lossy())
    );
    work.shows("Blocked by the sandbox").await?;
    settled().await;
    work.picture("fence-2-second-run").await?;
    page.click(APPROVE).await?;
    let events = work.ended("completed").await?;
    let outputs: Vec<String> = of_type(&events, "item_completed")
        .iter()
        .filter_map(|msg| Some(msg["item"]["kind"]["output"]["text"].as_str()?.to_owned()))
        .collect();
    assert!(
        outputs[0].contains("harvested") && outputs[1].contains("apples 3"),
        "{outputs:?}"
    );
    work.press("Map").await?;
    page.find(".map svg").await?;
    work.picture("fence-3-map").await?;
    work.press("Sandbox on").await?;
    work.shows("What was tested").await?;
    work.picture("fence-4-health").await
}

#[tokio::test]
async fn a_turn_ends_when_its_check_passes() -> Result<()> {
    let server = ModelServer::start(|_, request| {
        let write = |path: &str| calls(&[("c", "write_file", json!({ "path": path, "content": "x\n" }))]);
        let told = request.messages().iter().any(|m| {
            m["content"]
                .as_str()
                .is_some_and(|t| t.contains("The check `test -f right`"))
        });
        match (request.results(), told) {
            (0, _) => write("wrong"),
            (1, false) => text("It is done."),
            (1, true) => write("right"),
            _ => text("Now it is."),
        }
    })?;
    let work = Work::open(&server, Limits::default(), &[]).await?;
    let page = &work.desktop.page;
    work.press("Done when").await?;
    page.fill("input[placeholder='npm test']", "test -f right")
        .await?;
    page.click(".panel .ways button:last-child").await?;
    work.shows("test -f right").await?;
    work.say("Make it right.").await?;
    page.click(APPROVE).await?;
    card(&work.desktop, 2).await?;
    work.shows("Check 1 of 3").await?;
    work.picture("fence-5-check").await?;
    page.click(APPROVE).await?;
    let events = work.ended("completed").await?;
    let checks: Vec<&Value> = of_type(&events, "item_completed")
        .into_iter()
        .filter(|msg| msg["item"]["kind"]["check"].is_object())
        .collect();
    assert_eq!(checks.len(), 2, "{checks:?}");
    let asked = |events: &[Value]| of_type(events, "approval_requested").len() == 2;
    logged(&work.desktop, "nobody was asked for the check", asked).await?;
    work.picture("fence-6-checked").await
}

#[tokio::test]
async fn a_rule_is_made_in_a_card_and_taken_back_in_the_settings() -> Result<()> {
    let server = ModelServer::start(|_, request| match request.results() {
        0 | 1 => calls(&[("c", "run_command", json!({ "command": "echo planted" }))]),
        _ => text("Said twice."),
    })?;
    let work = Work::open(&server, Limits::default(), &[]).await?;
    let page = &work.desktop.page;
    work.say("Say it twice.").await?;
    card(&work.desktop, 1).await?;
    page.click("[data-testid=remember]").await?;
    page.find("[data-testid=remember-keep]").await?;
    work.press("this project").await?;
    settled().await;
    work.picture("fence-7-remember").await?;
    page.click("[data-testid=remember-keep]:not(.waiting)").await?;
    let events = work.ended("completed").await?;
    assert_eq!(
        of_type(&events, "approval_requested").len(),
        1,
        "the rule covers the second"
    );
    let added = of_type(&events, "rule_added");
    assert_eq!(added[0]["rule"]["scope"], json!({ "scope": "project" }));
    let kept = || {
        let projects = fs::read_dir(work.desktop.data().join("projects")).ok();
        let mut files = projects.into_iter().flatten().flatten();
        files.any(|folder| {
            fs::read_to_string(folder.path().join("rules.json")).is_ok_and(|text| text.contains("planted"))
        })
    };
    assert!(kept(), "the rule is on disk");
    work.press("Settings").await?;
    work.press("Rules").await?;
    work.shows("echo planted").await?;
    work.picture("fence-8-rules").await?;
    work.press("echo planted").await?;
    page.find("[data-testid=remove-rule]").await?;
    // What is loaded above the button moves it, and with it what a click meets.
    settled().await;
    page.click("[data-testid=remove-rule]").await?;
    for _ in 0..100 {
        if !kept() {
            return work.picture("fence-9-removed").await;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    anyhow::bail!("the rule is still on disk")
}
