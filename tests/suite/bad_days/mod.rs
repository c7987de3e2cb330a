//! Two hundred conversations on bad days: fifty in each protocol, several at a time, each with something that goes wrong. However it goes
//! wrong, the turn ends properly, nothing is said or done twice, and nothing is lost.
//!
//! The conversations and their faults come from seeds that are always the same and are printed where one fails; `PADDOCK_SEED=s`
//! tries others. Which requests aimock's chaos hits depends on their order too.

mod checks;
mod fault;
mod person;
mod relay;
mod script;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result, ensure};
use paddock_core::{HelperProgram, Paddock};
use paddock_protocol::*;
use paddock_tests::model_server::ModelServer;
use paddock_tests::sessions;
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::dice::{Dice, given_seed};
use crate::mocks::Mock;
use checks::{Seen, check};
use fault::{CONVERSATIONS, Fault};
use person::{Heard, Wish, work};
use script::Script;

/// Sessions that work at the same time.
const AT_ONCE: usize = 6;

struct Conversation {
    name: String,
    seed: u64,
    script: Script,
    fault: Fault,
    entries: Vec<Value>,
    project: PathBuf,
}

impl Conversation {
    fn of(protocol: ProviderKind, number: usize, place: &Path) -> Result<Self> {
        let seed = given_seed().unwrap_or(5) * 10_000 + protocol as u64 * 1_000 + number as u64;
        let mut dice = Dice::seeded(seed);
        let name = format!("c{number}");
        let script = Script::of(&name, &mut dice);
        let fault = Fault::of(number, script.answers.len(), &mut dice);
        let entries = fault.entries(&script, protocol, &mut dice);
        let project = place.join(&name);
        std::fs::create_dir(&project)?;
        for (file, content) in &script.before {
            std::fs::write(project.join(file), content)?;
        }
        Ok(Self {
            name,
            seed,
            script,
            fault,
            entries,
            project,
        })
    }

    /// A provider of its own, whose requests aimock knows by a header.
    fn provider(&self, protocol: ProviderKind, server: &str) -> ProviderConfig {
        let path = match protocol {
            ProviderKind::Anthropic => "",
            ProviderKind::Gemini => "/v1beta",
            _ => "/v1",
        };
        ProviderConfig {
            id: ProviderId::new(self.name.as_str()),
            kind: protocol,
            label: "The mock".to_owned(),
            base_url: format!("{server}{path}"),
            needs_key: false,
            window: None,
            headers: vec![HeaderLine {
                name: "x-test-id".to_owned(),
                value: self.name.clone(),
            }],
        }
    }

    async fn hold(&self, paddock: &Paddock) -> Result<Heard> {
        let wish = Wish {
            project: self.project.to_string_lossy().into_owned(),
            model: ModelChoice {
                provider: ProviderId::new(self.name.as_str()),
                model: "m".to_owned(),
            },
            task: &self.script.task,
            patient: matches!(self.fault, Fault::RateLimit { .. }),
        };
        work(paddock, wish).await
    }
}

/// Writes the file of aimock.
fn write_entries(conversations: &[Conversation], file: &Path) -> Result<()> {
    let entries: Vec<&Value> = conversations.iter().flat_map(|c| &c.entries).collect();
    Ok(std::fs::write(file, json!({ "fixtures": entries }).to_string())?)
}

async fn conversations(protocol: ProviderKind) -> Result<()> {
    let place = tempfile::Builder::new().prefix("paddock-suite-").tempdir()?;
    let home = place.path().join("home");
    let all: Result<Vec<_>> = (0..CONVERSATIONS)
        .map(|number| Conversation::of(protocol, number, place.path()))
        .collect();
    let all = Arc::new(all?);
    let file = place.path().join("conversations.json");
    write_entries(&all, &file)?;
    let aimock = Mock::aimock(&file, all[0].seed, &[]);

    let mut relays: Vec<ModelServer> = Vec::new();
    let mut providers = Vec::new();
    for conversation in all.iter() {
        let server = if matches!(conversation.fault, Fault::InStream { .. }) {
            relays.push(relay::relay(&aimock.url, &conversation.fault, protocol)?);
            relays
                .last()
                .map(|relay| relay.url().trim_end_matches("/v1").to_owned())
        } else {
            None
        };
        providers.push(conversation.provider(protocol, server.as_deref().unwrap_or(&aimock.url)));
    }
    let paddock = open(&home)?;
    paddock.providers().configure(providers);

    let heard = hold_all(&paddock, &all).await;
    let mut failures = Vec::new();
    let mut shown = Vec::new();
    for (conversation, heard) in all.iter().zip(&heard) {
        let journal: Vec<Value> =
            serde_json::from_str(&aimock.get(&format!("/__aimock/journal?testId={}", conversation.name))?)?;
        let checked = match heard {
            Err(error) => Err(anyhow::anyhow!("{error:#}")),
            Ok(heard) => {
                shown.push(paddock.attach(&heard.session).await?.0);
                check(&Seen {
                    script: &conversation.script,
                    fault: &conversation.fault,
                    heard,
                    project: &conversation.project,
                    log: &home
                        .join("sessions")
                        .join(heard.session.to_string())
                        .join("log.jsonl"),
                    journal: &journal,
                })
            }
        };
        if let Err(error) = checked {
            let (name, seed, fault) = (&conversation.name, conversation.seed, &conversation.fault);
            failures.push(format!(
                "{name} (seed {seed}, {fault:?}): {error:#}\n{}",
                told(&journal)
            ));
        }
    }
    paddock.close_all().await;
    drop(paddock);
    // What is read back from the disk is what was there before.
    let again = open(&home)?;
    for before in &shown {
        let after = again.attach(&before.session).await?.0;
        ensure!(after == *before, "{after:#?}\nis not\n{before:#?}");
    }
    let failed = failures.len();
    println!(
        "{protocol:?}: {CONVERSATIONS} conversations, seeds from {}",
        all[0].seed
    );
    ensure!(
        failures.is_empty(),
        "{failed} of {CONVERSATIONS} failed.\n\n{}",
        failures.join("\n\n")
    );
    Ok(())
}

fn open(home: &Path) -> Result<Paddock> {
    Ok(Paddock::open(
        Some(home.to_owned()),
        HelperProgram::at(sessions::paddock()?),
    )?)
}

async fn hold_all(paddock: &Paddock, all: &Arc<Vec<Conversation>>) -> Vec<Result<Heard>> {
    let seats = Arc::new(Semaphore::new(AT_ONCE));
    let mut working = JoinSet::new();
    for number in 0..all.len() {
        let (paddock, all, seats) = (paddock.clone(), all.clone(), seats.clone());
        working.spawn(async move {
            let _seat = seats.acquire().await;
            (number, all[number].hold(&paddock).await)
        });
    }
    let mut heard: Vec<(usize, Result<Heard>)> = Vec::new();
    while let Some(ended) = working.join_next().await {
        heard.push(ended.context("a conversation panicked").unwrap());
    }
    heard.sort_by_key(|(number, _)| *number);
    heard.into_iter().map(|(_, heard)| heard).collect()
}

/// The answers of aimock in a line.
fn told(journal: &[Value]) -> String {
    let answers = journal.iter().map(|entry| {
        let response = &entry["response"];
        let chaos = response["chaosAction"].as_str().unwrap_or_default();
        let cut = if response["interrupted"] == true {
            "cut"
        } else {
            ""
        };
        format!("{}{chaos}{cut}", response["status"])
    });
    format!("aimock answered: {}", answers.collect::<Vec<_>>().join(" "))
}

#[tokio::test]
async fn fifty_in_chat_completions() {
    conversations(ProviderKind::Chat).await.unwrap();
}

#[tokio::test]
async fn fifty_in_responses() {
    conversations(ProviderKind::Responses).await.unwrap();
}

#[tokio::test]
async fn fifty_in_anthropic_messages() {
    conversations(ProviderKind::Anthropic).await.unwrap();
}

#[tokio::test]
async fn fifty_in_gemini() {
    conversations(ProviderKind::Gemini).await.unwrap();
}
