//! The demo model: answers from a script, without network and key. Tools, approvals and limits around it are real.
//!
//! The script is data (`demo.json`); `README.md` beside it tells the story and by which words the script hears what happened.

mod engine;
mod sample;
mod script;

pub use sample::lay_out_sample_project;
pub use script::{Script, ScriptError};

use crate::reading::tokens;
use crate::{
    Answer, AnswerPart, AskedCall, CallArguments, Finish, Message, ModelEvent, ModelRequest, Provider,
};
use async_trait::async_trait;
use paddock_protocol::{
    FinishReason, Millis, ModelCost, ModelEntry, ModelError, ModelErrorKind, ModelFacts, ProviderId, Usage,
};
use std::sync::{Arc, LazyLock};

/// How fast a scripted model speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScriptPace {
    /// Before the first word.
    pub first_byte: Millis,
    /// Between two words.
    pub word: Millis,
}

impl ScriptPace {
    /// Like a quick real model.
    pub const LIVE: Self = Self {
        first_byte: Millis(500),
        word: Millis(28),
    };
    /// Everything at once, for tests.
    pub const INSTANT: Self = Self {
        first_byte: Millis(0),
        word: Millis(0),
    };
}

/// Plays a script.
pub struct ScriptedProvider {
    id: ProviderId,
    script: Option<Arc<Script>>,
    pace: ScriptPace,
}

static DEMO: LazyLock<Option<Arc<Script>>> =
    LazyLock::new(|| match Script::parse(include_str!("demo.json")) {
        Ok(script) => Some(Arc::new(script)),
        Err(error) => {
            tracing::error!(%error, "the demo has no script");
            None
        }
    });

impl ScriptedProvider {
    /// The demo that comes with Paddock, at the pace of a real model.
    pub fn demo(id: ProviderId) -> Self {
        Self {
            id,
            script: DEMO.clone(),
            pace: ScriptPace::LIVE,
        }
    }

    /// Any other script, for example of a test.
    pub fn new(id: ProviderId, script: Script) -> Self {
        Self {
            id,
            script: Some(Arc::new(script)),
            pace: ScriptPace::LIVE,
        }
    }

    pub fn pace(mut self, pace: ScriptPace) -> Self {
        self.pace = pace;
        self
    }

    async fn wait(&self, time: Millis) {
        if time.0 > 0 {
            tokio::time::sleep(time.as_duration()).await;
        }
    }

    async fn stream(
        &self,
        text: &str,
        event: fn(String) -> ModelEvent,
        on_event: &mut (dyn FnMut(ModelEvent) + Send),
    ) {
        for word in text.split_inclusive(' ') {
            self.wait(self.pace.word).await;
            on_event(event(word.to_string()));
        }
    }
}

#[async_trait]
impl Provider for ScriptedProvider {
    fn id(&self) -> &ProviderId {
        &self.id
    }

    async fn sample(
        &self,
        request: &ModelRequest,
        on_event: &mut (dyn FnMut(ModelEvent) + Send),
    ) -> Result<Answer, ModelError> {
        let turn = self
            .script
            .as_deref()
            .and_then(|script| engine::next_turn(script, &request.messages, !request.tools.is_empty()));
        let Some(turn) = turn else {
            return Err(ModelError::new(
                ModelErrorKind::BadRequest,
                "The script has no answer to this.",
            ));
        };
        self.wait(self.pace.first_byte).await;
        on_event(ModelEvent::FirstByte);
        let mut parts = Vec::new();
        if !turn.reasoning.is_empty() {
            self.stream(turn.reasoning, ModelEvent::Reasoning, on_event).await;
            parts.push(AnswerPart::Reasoning {
                text: turn.reasoning.to_string(),
                opaque: None,
            });
        }
        if !turn.say.is_empty() {
            self.stream(&turn.say, ModelEvent::Text, on_event).await;
            parts.push(AnswerPart::Text(turn.say.clone()));
        }
        // Ids count on, so that no two calls of a conversation share one.
        let before = request.messages.len();
        for (slot, (name, arguments)) in (0u32..).zip(&turn.calls) {
            on_event(ModelEvent::CallStarted {
                slot,
                name: name.clone(),
            });
            for text in arguments.split_inclusive(' ') {
                self.wait(self.pace.word).await;
                on_event(ModelEvent::CallArguments {
                    slot,
                    text: text.to_string(),
                });
            }
            parts.push(AnswerPart::Call(AskedCall {
                server_id: format!("script-{before}-{slot}"),
                name: name.clone(),
                arguments: CallArguments::Complete(arguments.clone()),
                terminate: false,
            }));
        }
        let output = turn.say.len()
            + turn
                .calls
                .iter()
                .map(|(_, arguments)| arguments.len())
                .sum::<usize>();
        Ok(Answer {
            finish: Finish(match turn.calls.is_empty() {
                true => FinishReason::Stop,
                false => FinishReason::Calls,
            }),
            usage: Usage {
                input: tokens(request.system.len() + size_of_messages(&request.messages)),
                cached: 0,
                output: tokens(output),
                reasoning: tokens(turn.reasoning.len()),
                estimated: true,
                ..Usage::default()
            },
            parts,
        })
    }

    async fn models(&self) -> Result<Vec<ModelEntry>, ModelError> {
        let entry = |script: &Arc<Script>| ModelEntry {
            model: script.model.clone(),
            facts: ModelFacts {
                cost: ModelCost::Free,
                native_calls: Some(true),
                ..ModelFacts::default()
            },
        };
        Ok(self.script.iter().map(entry).collect())
    }
}

fn size_of_messages(messages: &[Message]) -> usize {
    messages
        .iter()
        .map(|message| match message {
            Message::User { text, .. } => text.len(),
            Message::Results { results } => results.iter().map(|result| result.text.len()).sum(),
            Message::Agent { parts } => parts
                .iter()
                .map(|part| match part {
                    crate::AgentPart::Text { text } | crate::AgentPart::Reasoning { text, .. } => text.len(),
                    crate::AgentPart::Call { name, arguments, .. } => name.len() + arguments.len(),
                })
                .sum(),
        })
        .sum()
}
