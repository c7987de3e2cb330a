//! Finds the next step of a script by playing the conversation so far once more.
//!
//! The engine keeps nothing between requests: what was said and what came back is all in the request. So a session can be resumed,
//! extended or steered, and the script finds its place again.

use super::script::{Condition, Rule, Script, Step};
use crate::{AgentPart, CallResult, Message};
use std::collections::BTreeSet;

/// What is to be said now.
#[derive(Debug)]
pub(super) struct Turn<'a> {
    pub reasoning: &'a str,
    /// Placeholders filled in.
    pub say: String,
    /// Name and JSON text of the arguments.
    pub calls: Vec<(String, String)>,
}

/// What came since the last answer.
#[derive(Default)]
struct Inbox<'a> {
    results: Vec<&'a CallResult>,
    /// Messages of the person.
    said: Vec<&'a str>,
    /// Messages of the loop.
    notices: Vec<&'a str>,
}

#[derive(Clone, Default)]
struct Progress<'a> {
    step: Option<&'a Step>,
    facts: BTreeSet<&'a str>,
}

/// The step that follows, and what it refers to.
struct Choice<'a> {
    step: &'a Step,
    fact: Option<&'a str>,
    unset: Option<&'a str>,
    acknowledge: bool,
}

/// The answer to a conversation. `None` only for a script that was not checked.
pub(super) fn next_turn<'a>(
    script: &'a Script,
    messages: &[Message],
    tools_offered: bool,
) -> Option<Turn<'a>> {
    let mut progress = Progress::default();
    let mut inbox = Inbox::default();
    for message in messages {
        match message {
            // What the loop adds and what the person wrote meanwhile come as paragraphs of one message.
            Message::User { text, .. } => {
                for paragraph in text
                    .split("\n\n")
                    .filter(|paragraph| !paragraph.trim().is_empty())
                {
                    if is_notice(script, paragraph) {
                        inbox.notices.push(paragraph);
                    } else {
                        inbox.said.push(paragraph.trim());
                    }
                }
            }
            Message::Results { results } => inbox.results.extend(results),
            Message::Agent { parts } => {
                if script.replay(&mut progress, &inbox, parts) {
                    inbox = Inbox::default();
                }
            }
        }
    }
    let choice = match tools_offered {
        true => script.choose(&progress, &inbox)?,
        false => Choice {
            step: script.steps.get(&script.finish_up)?,
            fact: None,
            unset: None,
            acknowledge: false,
        },
    };
    progress.remember(&choice);
    Some(script.turn(&choice, &progress, &inbox))
}

impl<'a> Progress<'a> {
    fn remember(&mut self, choice: &Choice<'a>) {
        self.step = Some(choice.step);
        self.facts.extend(choice.fact);
        if let Some(fact) = choice.unset {
            self.facts.remove(fact);
        }
    }
}

impl Script {
    /// Follows what was really said. False = it was nothing of the script (an answer cut by Stop, for example).
    fn replay<'a>(&'a self, progress: &mut Progress<'a>, inbox: &Inbox<'_>, parts: &[AgentPart]) -> bool {
        if let Some(choice) = self.choose(progress, inbox)
            && choice.step.was_said(parts, false)
        {
            progress.remember(&choice);
            return true;
        }
        match self.steps.values().find(|step| step.was_said(parts, true)) {
            Some(step) => {
                progress.step = Some(step);
                true
            }
            None => false,
        }
    }

    fn choose<'a>(&'a self, progress: &Progress<'a>, inbox: &Inbox<'_>) -> Option<Choice<'a>> {
        let choice = |name: &String| {
            Some(Choice {
                step: self.steps.get(name)?,
                fact: None,
                unset: None,
                acknowledge: false,
            })
        };
        match progress.step {
            None => choice(&self.first),
            Some(step) if step.end => {
                let said = inbox.said.join("\n").to_lowercase();
                let follow_up = self
                    .follow_ups
                    .iter()
                    .find(|follow_up| contains_any(&said, &follow_up.contains));
                choice(follow_up.map_or(&self.follow_up, |follow_up| &follow_up.go))
            }
            Some(step) => {
                let rule = step
                    .then
                    .iter()
                    .find(|rule| self.holds(&rule.when, progress, inbox))?;
                let Rule { fact, unset, go, .. } = rule;
                Some(Choice {
                    step: self.steps.get(go)?,
                    fact: fact.as_deref(),
                    unset: unset.as_deref(),
                    acknowledge: !inbox.said.is_empty(),
                })
            }
        }
    }

    fn holds(&self, when: &Condition, progress: &Progress<'_>, inbox: &Inbox<'_>) -> bool {
        let is = |wanted: Option<bool>, found: bool| wanted.is_none_or(|wanted| wanted == found);
        let rejected = self.rejected(inbox);
        let texts = || {
            let results = inbox.results.iter().map(|result| result.text.as_str());
            results.chain(inbox.said.iter().copied()).map(str::to_lowercase)
        };
        let hinted = || {
            let notices = inbox.notices.iter().map(|text| text.to_lowercase());
            notices
                .chain(texts())
                .any(|text| contains_any(&text, &self.hints))
        };
        let edited = || {
            inbox
                .results
                .iter()
                .any(|result| result.ok && contains_any(&result.text.to_lowercase(), &self.edits))
        };
        is(when.rejected, rejected.is_some())
            && is(
                when.reasoned,
                rejected.is_some_and(|result| reason_of(&result.text).is_some()),
            )
            && is(
                when.ok,
                !inbox.results.is_empty() && inbox.results.iter().all(|result| result.ok),
            )
            && (when.edited.is_none() || is(when.edited, edited()))
            && (when.hint.is_none() || is(when.hint, hinted()))
            && when
                .fact
                .as_deref()
                .is_none_or(|fact| progress.facts.contains(fact))
            && (when.contains.is_empty() || texts().any(|text| contains_any(&text, &when.contains)))
    }

    fn rejected<'i>(&self, inbox: &Inbox<'i>) -> Option<&'i CallResult> {
        let is_rejection =
            |result: &&CallResult| !result.ok && contains_any(&result.text.to_lowercase(), &self.rejections);
        inbox.results.iter().copied().find(is_rejection)
    }

    fn turn<'a>(&'a self, choice: &Choice<'a>, progress: &Progress<'_>, inbox: &Inbox<'_>) -> Turn<'a> {
        let reason = self.rejected(inbox).and_then(|result| reason_of(&result.text));
        let said = inbox.said.join(" ");
        let fill = |text: &str| {
            text.replace("{done}", &self.report(progress, true))
                .replace("{open}", &self.report(progress, false))
                .replace("{reason}", reason.as_deref().unwrap_or_default())
                .replace("{said}", &said)
        };
        let mut say = fill(&choice.step.say);
        if choice.acknowledge {
            say = format!("{} {say}", fill(&self.acknowledge));
        }
        let calls = choice
            .step
            .calls
            .iter()
            .map(|call| {
                let mut arguments = call.arguments.clone();
                for_each_text(&mut arguments, &fill);
                (call.name.clone(), arguments.to_string())
            })
            .collect();
        Turn {
            reasoning: &choice.step.reasoning,
            say: say.trim().to_string(),
            calls,
        }
    }

    /// The goals that were reached, or those that were not, as a list.
    fn report(&self, progress: &Progress<'_>, done: bool) -> String {
        let lines: Vec<&str> = self
            .goals
            .iter()
            .filter(|goal| progress.facts.contains(goal.fact.as_str()) == done)
            .filter_map(|goal| {
                if done {
                    Some(goal.done.as_str())
                } else {
                    goal.open.as_deref()
                }
            })
            .collect();
        if lines.is_empty() {
            return String::new();
        }
        let title = if done { "Done" } else { "Open" };
        format!("\n\n{title}:\n- {}", lines.join("\n- "))
    }
}

impl Step {
    /// Whether an answer is this step. `strictly` compares arguments and text, otherwise what kind of answer it was is enough:
    /// arguments may have been edited.
    fn was_said(&self, parts: &[AgentPart], strictly: bool) -> bool {
        let asked: Vec<(&str, &str)> = parts
            .iter()
            .filter_map(|part| match part {
                AgentPart::Call { name, arguments, .. } => Some((name.as_str(), arguments.as_str())),
                _ => None,
            })
            .collect();
        let text_fits = || {
            let fixed = self.say.split('{').next().unwrap_or_default().trim();
            let said: String = parts
                .iter()
                .filter_map(|part| match part {
                    AgentPart::Text { text } => Some(text.as_str()),
                    _ => None,
                })
                .collect();
            !fixed.is_empty() && said.contains(fixed)
        };
        match (asked.first(), self.calls.first()) {
            (None, None) => text_fits(),
            (Some((name, arguments)), Some(call)) => {
                *name == call.name
                    && (!strictly
                        || (text_fits()
                            && serde_json::from_str::<serde_json::Value>(arguments)
                                .is_ok_and(|arguments| arguments == call.arguments)))
            }
            _ => false,
        }
    }
}

/// Whether a paragraph comes from the loop and not from the person.
fn is_notice(script: &Script, paragraph: &str) -> bool {
    let lower = paragraph.to_lowercase();
    contains_any(&lower, &script.notices) || contains_any(&lower, &script.hints)
}

fn contains_any(lower: &str, words: &[String]) -> bool {
    words.iter().any(|word| lower.contains(&word.to_lowercase()))
}

/// The reason in the text of a rejection: after "says:" or "reason:", or between typographic quotation marks.
fn reason_of(text: &str) -> Option<String> {
    let lower = text.to_lowercase();
    let after = ["says:", "reason:"]
        .iter()
        .find_map(|words| lower.find(words).map(|at| at + words.len()))
        .and_then(|at| text.get(at..))
        .and_then(|rest| rest.trim_start().lines().next());
    let quoted = || {
        let start = text.find('“')? + '“'.len_utf8();
        text[start..].find('”').map(|end| &text[start..start + end])
    };
    let reason = after.or_else(quoted)?;
    let reason = reason.trim().trim_matches(['"', '“', '”', '\'']).trim();
    (!reason.is_empty()).then(|| reason.to_string())
}

fn for_each_text(value: &mut serde_json::Value, change: &dyn Fn(&str) -> String) {
    match value {
        serde_json::Value::String(text) => {
            let changed = change(text);
            if changed != *text {
                *text = changed.trim().to_string();
            }
        }
        serde_json::Value::Object(map) => map.values_mut().for_each(|value| for_each_text(value, change)),
        serde_json::Value::Array(list) => list.iter_mut().for_each(|value| for_each_text(value, change)),
        _ => {}
    }
}
