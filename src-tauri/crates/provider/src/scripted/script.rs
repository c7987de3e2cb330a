//! The script as data: steps, and rules that lead from one to the next.

use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// A scripted conversation.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// Name of the model that it plays.
    pub(super) model: String,
    /// Step that answers the first message.
    pub(super) first: String,
    /// Step for a request without tools.
    pub(super) finish_up: String,
    /// Step that answers a message after the end, when no follow-up fits.
    pub(super) follow_up: String,
    #[serde(default)]
    pub(super) follow_ups: Vec<FollowUp>,
    /// What is said before a step when the person wrote something meanwhile.
    pub(super) acknowledge: String,
    /// Words by which a hint about repetition is known.
    pub(super) hints: Vec<String>,
    /// Words by which a notice of the loop is told from a message of the person.
    pub(super) notices: Vec<String>,
    /// Words by which a rejection is known among failures.
    pub(super) rejections: Vec<String>,
    /// Words by which a call that the person edited is known.
    pub(super) edits: Vec<String>,
    #[serde(default)]
    pub(super) goals: Vec<Goal>,
    pub(super) steps: BTreeMap<String, Step>,
}

/// Something to report at the end, as done or as open.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Goal {
    pub fact: String,
    pub done: String,
    #[serde(default)]
    pub open: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FollowUp {
    pub contains: Vec<String>,
    pub go: String,
}

/// One answer of the model.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Step {
    /// Takes calls and rules from another step, where this one has none.
    pub like: Option<String>,
    pub reasoning: String,
    pub say: String,
    pub calls: Vec<ScriptedCall>,
    /// Tried in order.
    pub then: Vec<Rule>,
    /// The next message of the person begins something new.
    pub end: bool,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ScriptedCall {
    pub name: String,
    /// `{"unix": …, "windows": …}` stands for the value of this system.
    pub arguments: Value,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rule {
    #[serde(default)]
    pub when: Condition,
    /// Remembered from here on.
    #[serde(default)]
    pub fact: Option<String>,
    /// No longer true.
    #[serde(default)]
    pub unset: Option<String>,
    pub go: String,
}

/// All that is given must hold.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Condition {
    pub rejected: Option<bool>,
    /// The rejection had a reason.
    pub reasoned: Option<bool>,
    pub edited: Option<bool>,
    /// All calls went well.
    pub ok: Option<bool>,
    pub hint: Option<bool>,
    pub fact: Option<String>,
    /// One of these is in a result or in what the person wrote; case does not matter.
    pub contains: Vec<String>,
}

/// Why a script cannot be played.
#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    #[error("the script is not readable: {0}")]
    Json(#[from] serde_json::Error),
    #[error("the script has no step {0}")]
    NoStep(String),
    #[error("step {0} neither ends nor leads on in every case")]
    DeadEnd(String),
}

impl Script {
    /// Reads a script and checks that every way leads somewhere.
    pub fn parse(json: &str) -> Result<Self, ScriptError> {
        let mut script: Script = serde_json::from_str(json)?;
        let bases = script.steps.clone();
        for step in script.steps.values_mut() {
            if let Some(like) = &step.like {
                let base = bases.get(like).ok_or_else(|| ScriptError::NoStep(like.clone()))?;
                if step.calls.is_empty() {
                    step.calls.clone_from(&base.calls);
                }
                if step.then.is_empty() {
                    step.then.clone_from(&base.then);
                }
            }
            for call in &mut step.calls {
                for_this_system(&mut call.arguments);
            }
        }
        script.check()?;
        Ok(script)
    }

    fn check(&self) -> Result<(), ScriptError> {
        let ends = [&self.first, &self.finish_up, &self.follow_up];
        let rules = self
            .steps
            .values()
            .flat_map(|step| step.then.iter().map(|rule| &rule.go));
        let follow_ups = self.follow_ups.iter().map(|follow_up| &follow_up.go);
        for name in ends.into_iter().chain(rules).chain(follow_ups) {
            if !self.steps.contains_key(name) {
                return Err(ScriptError::NoStep(name.clone()));
            }
        }
        let is_always = |condition: &Condition| {
            let Condition {
                rejected,
                reasoned,
                edited,
                ok,
                hint,
                fact,
                contains,
            } = condition;
            [rejected, reasoned, edited, ok, hint]
                .iter()
                .all(|given| given.is_none())
                && fact.is_none()
                && contains.is_empty()
        };
        for (name, step) in &self.steps {
            if !step.end && !step.then.last().is_some_and(|rule| is_always(&rule.when)) {
                return Err(ScriptError::DeadEnd(name.clone()));
            }
        }
        Ok(())
    }
}

fn for_this_system(value: &mut Value) {
    match value {
        Value::Object(map) => {
            let system = if cfg!(windows) { "windows" } else { "unix" };
            if map.len() == 2 && map.contains_key("unix") && map.contains_key("windows") {
                *value = map.remove(system).unwrap_or_default();
            } else {
                map.values_mut().for_each(for_this_system);
            }
        }
        Value::Array(list) => list.iter_mut().for_each(for_this_system),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_demo_has_a_script_without_dead_ends() {
        Script::parse(include_str!("demo.json")).unwrap();
    }
}
