//! What has to be so after every conversation, whatever went wrong in it.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, Result, bail, ensure};
use paddock_protocol::*;
use paddock_tests::sessions::{calls, items, whole_events};
use serde_json::Value;

use super::fault::Fault;
use super::person::Heard;
use super::script::Script;

pub struct Seen<'a> {
    pub script: &'a Script,
    pub fault: &'a Fault,
    pub heard: &'a Heard,
    pub project: &'a Path,
    pub log: &'a Path,
    /// aimock's journal of this conversation.
    pub journal: &'a [Value],
}

pub fn check(seen: &Seen) -> Result<()> {
    files(seen).context("the files")?;
    let logged = log(seen).context("the log")?;
    said(seen, &logged).context("what was said")?;
    called(seen, &logged).context("the calls")?;
    sent(seen).context("what was sent")?;
    troubles(seen, &logged).context("the troubles")
}

fn files(seen: &Seen) -> Result<()> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(seen.project)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        found.insert(name, std::fs::read_to_string(entry.path())?);
    }
    let expected: BTreeMap<String, String> = seen
        .script
        .after
        .iter()
        .map(|(name, content)| ((*name).to_owned(), content.clone()))
        .collect();
    same(&found, &expected)
}

/// What the disk holds is what was heard, without gaps.
fn log(seen: &Seen) -> Result<Vec<Event>> {
    let logged = whole_events(&std::fs::read_to_string(seen.log)?);
    let mut number = 0;
    for event in logged.iter().filter(|event| event.msg.is_durable()) {
        number += 1;
        ensure!(event.seq == number, "a gap before {event:?}");
    }
    let first = seen.heard.events.first().context("nothing was heard")?.seq;
    let heard: Vec<&Event> = seen
        .heard
        .events
        .iter()
        .filter(|event| event.msg.is_durable())
        .collect();
    let kept: Vec<&Event> = logged
        .iter()
        .filter(|event| event.msg.is_durable() && event.seq >= first)
        .collect();
    same(&heard, &kept)?;
    Ok(logged)
}

/// Each text once, whole and in its order; what an attempt said that failed is not among them.
fn said(seen: &Seen, logged: &[Event]) -> Result<()> {
    let (mut texts, mut reasonings) = (Vec::new(), Vec::new());
    for item in items(logged) {
        match item.kind {
            ItemKind::AgentText { text } if item.status == ItemStatus::Done => texts.push(text),
            // One that the server keeps to itself has no words, but goes back to it.
            ItemKind::Reasoning { text, opaque } if item.status == ItemStatus::Done => {
                if !text.is_empty() {
                    reasonings.push(text);
                } else if opaque.is_none() {
                    bail!("reasoning of nothing");
                }
            }
            ItemKind::Malformed { reason, .. } => bail!("an answer could not be read: {reason}"),
            _ => {}
        }
    }
    let answers = &seen.script.answers;
    same(&texts, &answers.iter().map(|a| a.text.clone()).collect())?;
    let scripted: Vec<String> = answers.iter().filter_map(|a| a.reasoning.clone()).collect();
    same(&reasonings, &scripted)
}

/// Each call was run once, with its arguments, and has one result.
fn called(seen: &Seen, logged: &[Event]) -> Result<()> {
    let mut ran = Vec::new();
    for (item, call) in calls(logged) {
        let results = logged.iter().filter(
            |event| matches!(&event.msg, EventMsg::ItemCompleted { item: ended } if ended.id == item.id),
        );
        ensure!(results.count() == 1, "not one result: {call:#?}");
        match item.status {
            ItemStatus::Done => {
                let arguments: Value = serde_json::from_str(&call.arguments)?;
                ran.push((call.tool, arguments));
            }
            // It streamed in an attempt that failed.
            ItemStatus::Stopped => ensure!(call.began.is_none(), "a dropped call was run: {call:#?}"),
            status => bail!("{status:?}: {call:#?}"),
        }
    }
    let scripted = seen.script.answers.iter().flat_map(|answer| &answer.calls);
    let scripted = scripted
        .map(|call| (call.tool.to_owned(), call.arguments.clone()))
        .collect();
    same(&ran, &scripted)
}

/// The last request holds the whole conversation: each call, and after the calls of an answer their results in the same order.
fn sent(seen: &Seen) -> Result<()> {
    let messages = &seen.journal.last().context("nothing was sent")?["body"]["messages"];
    let messages = messages.as_array().context("a request without messages")?;
    let mut open: Vec<(String, String)> = Vec::new();
    let (mut asked, mut results) = (Vec::new(), Vec::new());
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let tasks = messages.iter().filter(|message| message["role"] == "user");
    let tasks: Vec<&Value> = tasks.map(|message| &message["content"]).collect();
    let given = tasks.iter().filter(|text| word(text).contains(&seen.script.task));
    ensure!(given.count() == 1, "the task was not sent once: {tasks:#?}");
    for message in messages {
        match message["role"].as_str() {
            Some("assistant") => {
                for call in message["tool_calls"].as_array().into_iter().flatten() {
                    let arguments: Value = serde_json::from_str(&word(&call["function"]["arguments"]))?;
                    asked.push((word(&call["function"]["name"]), arguments));
                    open.push((word(&call["id"]), word(&call["function"]["name"])));
                }
            }
            Some("tool") => {
                ensure!(!open.is_empty(), "a result that nobody asked for: {message:#?}");
                let (id, _) = open.remove(0);
                ensure!(
                    message["tool_call_id"] == id.as_str(),
                    "not in order: {messages:#?}"
                );
                results.push(word(&message["content"]));
            }
            _ => {}
        }
    }
    ensure!(open.is_empty(), "calls without results: {open:?}");
    let scripted: Vec<_> = seen.script.answers.iter().flat_map(|a| &a.calls).collect();
    same(
        &asked,
        &scripted
            .iter()
            .map(|call| (call.tool.to_owned(), call.arguments.clone()))
            .collect(),
    )?;
    same(&results.len(), &scripted.len())?;
    for (result, call) in results.iter().zip(scripted) {
        ensure!(
            result.contains(&call.result),
            "{:?} is not in the result {result:?}",
            call.result
        );
    }
    Ok(())
}

/// Every attempt that failed is told, and nothing was asked for more often than that.
fn troubles(seen: &Seen, logged: &[Event]) -> Result<()> {
    let failed = |entry: &&Value| {
        let response = &entry["response"];
        response["status"] != 200 || response["chaosAction"].is_string() || response["interrupted"] == true
    };
    let in_stream = match seen.fault {
        Fault::InStream { times, .. } => *times,
        _ => 0,
    };
    let failures = seen.journal.iter().filter(failed).count() + in_stream;
    same(&seen.journal.len(), &(seen.script.answers.len() + failures)).context("requests")?;
    let waits: Vec<(u64, Option<Millis>)> = logged
        .iter()
        .filter_map(|event| match &event.msg {
            EventMsg::ItemStarted { item } => match &item.kind {
                ItemKind::Retry { until, error, .. } => Some((until.since(event.at).0, error.retry_after)),
                _ => None,
            },
            _ => None,
        })
        .collect();
    let pauses = &seen.heard.pauses;
    // A request on a kept connection that breaks before the first byte is sent once more without a word.
    let first_byte_missing = |entry: &&Value| {
        entry["response"]["chaosAction"] == "disconnect"
            || entry["response"]["interrupted"] == true && matches!(seen.fault, Fault::Cut { after: 1, .. })
    };
    let silent = seen.journal.iter().filter(first_byte_missing).count();
    let told = waits.len() + pauses.len();
    ensure!(
        (failures - silent..=failures).contains(&told),
        "{told} attempts are told, {failures} failed, {silent} of them without a byte"
    );
    for error in pauses {
        let hint = error.hint.as_deref().unwrap_or_default();
        ensure!(
            error.message.len() > 10 && hint.len() > 10,
            "no words and no remedy: {error:#?}"
        );
    }
    match *seen.fault {
        Fault::RateLimit { wait, .. } => {
            ensure!(failures == 1 && waits[0].1 >= Some(wait), "{waits:?}");
        }
        Fault::Refused { status, .. } => {
            ensure!(
                pauses.len() == 1 && waits.is_empty(),
                "tried again by itself: {waits:?}"
            );
            same(&pauses[0].status, &Some(status))?;
        }
        Fault::Overloaded { times, .. } | Fault::Cut { times, .. } | Fault::InStream { times, .. } => {
            same(&failures, &times)?;
            same(&pauses.len(), &usize::from(times > 3))?;
        }
        Fault::Slow => same(&failures, &0)?,
        Fault::Chaos => {}
    }
    Ok(())
}

fn same<T: PartialEq + std::fmt::Debug>(found: &T, expected: &T) -> Result<()> {
    ensure!(found == expected, "{found:#?}\nis not\n{expected:#?}");
    Ok(())
}
