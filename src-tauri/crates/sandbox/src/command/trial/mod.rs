//! The fence, really tried: each way out is attempted by a command in a project of its own, and whether it was held is seen
//! from outside. What cannot be noticed here when it happens is not claimed to be held.

#[cfg(unix)]
mod attempts;
mod scene;

use serde::Serialize;

use super::{CommandSpec, OutputSink, RunningCommand, SandboxError, StateDir};
pub(crate) use scene::TrialFolder;

/// One thing that was tried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Trial {
    /// What is tried, for texts and tests; never changes its meaning.
    pub key: &'static str,
    /// What was tried, one sentence.
    pub tried: String,
    pub outcome: TrialOutcome,
    /// What was seen, one sentence.
    pub evidence: String,
    /// What helps where it did not hold.
    pub remedy: Option<String>,
}

/// How a trial went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TrialOutcome {
    /// It was held; or ordinary work went, where that was tried.
    Held,
    Broken,
    /// It could not be tried here; the evidence says why.
    NotTried,
}

/// How commands are started by what is tried.
pub(super) type Start<'a> = &'a dyn Fn(CommandSpec, OutputSink) -> Result<RunningCommand, SandboxError>;

/// Tries everything; see `Confinement::prove`. The remedy is that of the machine.
#[cfg(unix)]
pub(super) fn prove(start: Start<'_>, state: &StateDir, remedy: Option<&str>) -> Vec<Trial> {
    let mut trials = match scene::Scene::set(start, state) {
        Ok(scene) => attempts::all(&scene),
        Err(error) => vec![Trial {
            key: "scene",
            tried: "Making a project to try the fence in.".into(),
            outcome: TrialOutcome::NotTried,
            evidence: format!("It could not be made: {error}."),
            remedy: Some(
                "Make room in the folder for temporary files, and allow this account to write there.".into(),
            ),
        }],
    };
    for trial in &mut trials {
        if trial.outcome == TrialOutcome::Broken && trial.remedy.is_none() {
            trial.remedy = remedy.map(str::to_owned);
        }
    }
    trials
}

/// What is tried is written for a shell of Unix.
#[cfg(not(unix))]
pub(super) fn prove(_start: Start<'_>, _state: &StateDir, remedy: Option<&str>) -> Vec<Trial> {
    vec![Trial {
        key: "scene",
        tried: "Trying the fence of this system.".into(),
        outcome: TrialOutcome::NotTried,
        evidence: "What is tried is written for other systems; rely on nothing here.".into(),
        remedy: remedy.map(str::to_owned),
    }]
}
