//! Small tasks done by a real model, from the words of a person to the result on disk. They need a server: the test says that it was
//! skipped unless `PADDOCK_REAL_MODEL_URL` names one (OpenAI-compatible, for example `http://127.0.0.1:8080/v1`).
//!
//! Further variables: `PADDOCK_REAL_MODEL` (default: the first that the server offers), `PADDOCK_REAL_CALLS` (native, json or xml;
//! default json, as small models need it) and `PADDOCK_REAL_TASKS` (only tasks whose names hold one of these, with commas between them). What each run did is kept in
//! `test-output/real`.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test fails by panicking, and this one prints a table"
)]

mod others;
mod tasks;
mod work;

use std::path::Path;
use std::time::Duration;

use others::OTHERS;
use paddock_core::provider::{BaseUrl, ChatProvider, Network, Provider as _, ServerConfig};
use paddock_protocol::ProviderId;
use tasks::{TASKS, Task};
use work::{Model, Outcome, work};

#[tokio::test]
async fn small_tasks_are_completed() {
    complete(&TASKS, 8).await;
}

#[tokio::test]
async fn other_small_tasks_are_completed() {
    complete(&OTHERS, 7).await;
}

/// Has the model do the tasks; fails when fewer than `enough` of them were completed, or that share of those asked for.
async fn complete(tasks: &'static [Task], enough: usize) {
    let Some(url) = variable("PADDOCK_REAL_MODEL_URL") else {
        println!("Skipped: PADDOCK_REAL_MODEL_URL names no server with a model.");
        return;
    };
    let model = Model {
        name: match variable("PADDOCK_REAL_MODEL") {
            Some(name) => name,
            None => first_model(&url).await,
        },
        calls: variable("PADDOCK_REAL_CALLS").unwrap_or_else(|| "json".to_owned()),
        url,
    };
    let only = variable("PADDOCK_REAL_TASKS").unwrap_or_default();
    println!("{} at {}, calls: {}\n", model.name, model.url, model.calls);
    println!(
        "{:26} {:>9} {:>10} {:>6} {:>10} {:>8}  why not",
        "task", "completed", "iterations", "calls", "first call", "time"
    );
    let wanted = |task: &&Task| only.split(',').any(|words| task.name.contains(words.trim()));
    let is_known = TASKS.iter().chain(&OTHERS).any(|task| wanted(&task));
    assert!(is_known, "no task is named {only:?}");
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("../test-output/real");
    let mut outcomes = Vec::new();
    for task in tasks.iter().filter(wanted) {
        let outcome = work(task, &model, &kept.join(task.name.replace(' ', "-"))).unwrap();
        print(&outcome);
        outcomes.push(outcome);
    }
    let completed = outcomes
        .iter()
        .filter(|outcome| outcome.failure.is_none())
        .count();
    println!("\ncompleted {completed} of {}", outcomes.len());
    assert!(
        completed * tasks.len() >= enough * outcomes.len(),
        "{completed} of {} tasks are too few",
        outcomes.len()
    );
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.trim().is_empty())
}

async fn first_model(url: &str) -> String {
    let server = ChatProvider::new(ServerConfig {
        id: ProviderId::new("real"),
        label: "The server".to_owned(),
        base_url: BaseUrl::parse(url).unwrap(),
        key: None,
        key_origin: String::new(),
        local: true,
        headers: Vec::new(),
        network: Network::default(),
    });
    let models = server.models().await.unwrap();
    match models.into_iter().next() {
        Some(first) => first.model,
        None => panic!("{url} offers no model"),
    }
}

fn print(outcome: &Outcome) {
    let seconds = |time: Duration| format!("{:.1} s", time.as_secs_f64());
    println!(
        "{:26} {:>9} {:>10} {:>6} {:>10} {:>8}  {}",
        outcome.task,
        if outcome.failure.is_none() { "yes" } else { "no" },
        outcome.iterations,
        outcome.calls,
        outcome.first_call.map_or("-".to_owned(), seconds),
        seconds(outcome.time),
        outcome.failure.as_deref().unwrap_or_default()
    );
}
