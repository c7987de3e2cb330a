//! The parameters of a request that a model accepts, from what is known of it and what its refusals taught.

use super::quirks::Quirks;
use crate::ModelRequest;
use paddock_protocol::{Effort, ModelFacts};
use serde::Serialize;

/// The server refuses a lower bound of the answer.
const LEAST_OUTPUT: u32 = 16;
/// The words for efforts, in rising order.
pub(super) const EFFORTS: [&str; 5] = ["none", "minimal", "low", "medium", "high"];

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Reasoning {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effort: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<&'static str>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Parameters {
    pub reasoning: Option<Reasoning>,
    /// Whether sealed reasoning is asked for.
    pub sealed: bool,
    pub max_output: Option<u32>,
    /// Whether images are sent.
    pub images: bool,
}

impl Parameters {
    pub fn of(request: &ModelRequest, quirks: &Quirks) -> Self {
        let facts = &request.facts;
        let reasons = facts.reasoning != Some(false) && !quirks.no_reasoning;
        let reasoning = Reasoning {
            effort: request.effort.and_then(|effort| word(effort, facts, quirks)),
            summary: (!quirks.no_summary).then_some("auto"),
        };
        let most = [facts.output, quirks.output_limit].into_iter().flatten().min();
        let max_output = request.max_output.filter(|_| !quirks.no_limit);
        Self {
            reasoning: (reasons && reasoning != Reasoning::default()).then_some(reasoning),
            sealed: reasons && !quirks.no_sealed,
            max_output: max_output.map(|limit| limit.max(LEAST_OUTPUT).min(most.unwrap_or(u32::MAX))),
            images: facts.images != Some(false) && !quirks.no_images,
        }
    }
}

/// The wish in a word that the model is not known to refuse: the nearest, less rather than more.
fn word(effort: Effort, facts: &ModelFacts, quirks: &Quirks) -> Option<&'static str> {
    let known = |effort: &Effort| facts.efforts.is_empty() || facts.efforts.contains(effort);
    let efforts = [Effort::Minimal, Effort::Low, Effort::Medium, Effort::High];
    let below = efforts.iter().rev().filter(|other| **other <= effort);
    let above = efforts.iter().filter(|other| **other > effort);
    let ladder = below.chain(above).filter(|effort| known(effort));
    let mut words = ladder.flat_map(|effort| match effort {
        Effort::Minimal => &EFFORTS[..2],
        Effort::Low => &EFFORTS[2..3],
        Effort::Medium => &EFFORTS[3..4],
        Effort::High => &EFFORTS[4..],
    });
    words
        .find(|word| !quirks.refused_efforts.contains(*word))
        .copied()
}
