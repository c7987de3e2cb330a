//! What a model can really do: tiny requests, each answer judged by what came, not by what the server claims.
//!
//! The outcome decides in which format the model is asked to call tools. Deliberately absent: keeping it (the desk does).

use crate::session::words::larger_window;
use paddock_protocol::*;
use paddock_provider::{Answer, AnswerPart, CallArguments, Message, ModelRequest, Provider, ToolSpec};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Instant;

/// Enough for two calls with their reasoning, few enough for a slow machine.
const LONGEST_ANSWER: u32 = 600;
const TOOL: &str = "add_numbers";

/// What is asked for, and what has to come.
struct Task {
    link: &'static str,
    text: &'static str,
    calls: &'static [(i64, i64)],
    format: CallFormat,
}

const NATIVE: Task = Task {
    link: "native_call",
    text: "What is 17 + 25? Use the tool add_numbers.",
    calls: &[(17, 25)],
    format: CallFormat::Native,
};
const TWO: Task = Task {
    link: "two_calls",
    text: "I need two sums, 17 + 25 and 8 + 4. Call the tool add_numbers twice in this one answer, once for each.",
    calls: &[(17, 25), (8, 4)],
    format: CallFormat::Native,
};

struct Run<'a> {
    provider: &'a dyn Provider,
    local: bool,
    model: &'a ModelChoice,
    facts: ModelFacts,
    first_byte: Option<Millis>,
}

/// Asks the model up to four times. `facts` tells what is known of it; a minute on a slow machine.
pub async fn run(provider: &dyn Provider, local: bool, model: ModelChoice, facts: ModelFacts) -> ModelTest {
    let mut run = Run {
        provider,
        local,
        model: &model,
        facts,
        first_byte: None,
    };
    let mut links = Vec::new();
    let mut format = None;
    match run.call(&NATIVE).await {
        Err((error, took)) if is_fatal(&error) => {
            return ModelTest {
                links: failed(&error, took),
                format: None,
                facts: run.facts,
                first_byte: Millis(0),
                model,
            };
        }
        Err((error, took)) => {
            links.extend(reached(took));
            links.push(line(
                NATIVE.link,
                LinkState::Warning,
                error.message,
                error.hint,
                took,
            ));
        }
        Ok((right, took)) => {
            links.extend(reached(run.first_byte.unwrap_or(took)));
            links.push(run.native(right, took));
            if right == 1 {
                format = Some(CallFormat::Native);
                links.push(run.two().await);
            }
        }
    }
    if let Some(text) = run.text(format.is_some()).await {
        format = format.or(text.1);
        links.push(text.0);
    }
    ModelTest {
        links,
        format,
        first_byte: run.first_byte.unwrap_or(Millis(0)),
        facts: run.facts,
        model,
    }
}

/// The provider itself could not be made, for example because its key is missing.
pub fn unreachable(model: ModelChoice, error: &ModelError) -> ModelTest {
    ModelTest {
        links: failed(error, Millis(0)),
        format: None,
        facts: ModelFacts::default(),
        first_byte: Millis(0),
        model,
    }
}

impl Run<'_> {
    /// How many of the wanted calls came, and how long it took.
    async fn call(&mut self, task: &Task) -> Result<(usize, Millis), (ModelError, Millis)> {
        let request = ModelRequest {
            model: self.model.model.clone(),
            system: "You answer with calls of tools.".into(),
            messages: vec![Message::User {
                text: task.text.to_owned(),
                images: Vec::new(),
            }],
            tools: Arc::from([tool()]),
            format: task.format,
            facts: Arc::new(self.facts.clone()),
            effort: None,
            max_output: Some(LONGEST_ANSWER),
            silence: Millis::seconds(if self.local { 300 } else { 60 }),
            record: None,
            asked: None,
        };
        let begun = Instant::now();
        let mut first = None;
        let mut on_event = |_| {
            first.get_or_insert_with(|| Millis::from(begun.elapsed()));
        };
        let mut answered = self.provider.sample(&request, &mut on_event).await;
        // The server closed a connection of an earlier request: no fault of the model.
        if matches!(&answered, Err(error) if error.retry_after == Some(Millis(0))) {
            answered = self.provider.sample(&request, &mut on_event).await;
        }
        let took = Millis::from(begun.elapsed());
        self.first_byte = self.first_byte.or(first);
        match answered {
            Ok(answer) => Ok((right(&answer, task.calls), took)),
            Err(error) => Err((error, took)),
        }
    }

    fn native(&self, right: usize, took: Millis) -> LinkTest {
        match right {
            1 => line(NATIVE.link, LinkState::Good, "Calls tools by itself.", None, took),
            _ => line(
                NATIVE.link,
                LinkState::Warning,
                "Was offered a tool and did not call it, or with wrong arguments.",
                None,
                took,
            ),
        }
    }

    async fn two(&mut self) -> LinkTest {
        match self.call(&TWO).await {
            Ok((2, took)) => line(
                TWO.link,
                LinkState::Good,
                "Several calls in one answer.",
                None,
                took,
            ),
            Ok((_, took)) => line(
                TWO.link,
                LinkState::Warning,
                "One call at a time: work takes more iterations.",
                None,
                took,
            ),
            Err((error, took)) => line(TWO.link, LinkState::Warning, error.message, error.hint, took),
        }
    }

    /// Calls as text: the format that works, tried only where native calls do not.
    async fn text(&mut self, native: bool) -> Option<(LinkTest, Option<CallFormat>)> {
        let mut last = None;
        if native {
            let says = "Not needed: it calls tools by itself.";
            return Some((
                line("text_call", LinkState::NotTried, says, None, Millis(0)),
                None,
            ));
        }
        for (format, says) in [
            (CallFormat::Json, "Calls tools as JSON in its answer."),
            (CallFormat::Xml, "Calls tools as XML in its answer."),
        ] {
            let task = Task {
                link: "text_call",
                format,
                ..NATIVE
            };
            match self.call(&task).await {
                Ok((1, took)) => {
                    return Some((line("text_call", LinkState::Good, says, None, took), Some(format)));
                }
                Ok((_, took)) => {
                    last = Some(line(
                        "text_call",
                        LinkState::Bad,
                        "Does not call tools in any of the three ways.",
                        Some("Use a larger model, or one that was made for code and tools.".to_owned()),
                        took,
                    ));
                }
                Err((error, took)) => {
                    last = Some(line("text_call", LinkState::Bad, error.message, error.hint, took));
                }
            }
        }
        last.map(|line| (line, None))
    }
}

fn tool() -> ToolSpec {
    ToolSpec {
        name: TOOL.to_owned(),
        description: "Adds two whole numbers.".to_owned(),
        parameters: json!({
            "type": "object",
            "properties": { "a": { "type": "integer" }, "b": { "type": "integer" } },
            "required": ["a", "b"],
            "additionalProperties": false,
        }),
    }
}

/// How many of the wanted calls the answer holds, in any order; 0 when it holds others.
fn right(answer: &Answer, wanted: &[(i64, i64)]) -> usize {
    let mut left = wanted.to_vec();
    let calls = answer.parts.iter().filter_map(|part| match part {
        AnswerPart::Call(call) => Some(call),
        _ => None,
    });
    for call in calls {
        let numbers = match &call.arguments {
            CallArguments::Complete(arguments) if call.name == TOOL => numbers(arguments),
            _ => None,
        };
        let place = left
            .iter()
            .position(|(a, b)| numbers == Some((*a, *b)) || numbers == Some((*b, *a)));
        match place {
            Some(place) => {
                left.swap_remove(place);
            }
            None => return 0,
        }
    }
    wanted.len() - left.len()
}

fn numbers(arguments: &str) -> Option<(i64, i64)> {
    let value: Value = serde_json::from_str(arguments).ok()?;
    let number = |field: &str| {
        let value = value.get(field)?;
        value.as_i64().or_else(|| value.as_str()?.trim().parse().ok())
    };
    Some((number("a")?, number("b")?))
}

/// Whether further questions would fail in the same way.
fn is_fatal(error: &ModelError) -> bool {
    !matches!(
        error.kind,
        ModelErrorKind::BadRequest | ModelErrorKind::Protocol | ModelErrorKind::Blocked
    )
}

pub fn line(
    link: &str,
    state: LinkState,
    says: impl Into<String>,
    remedy: Option<String>,
    took: Millis,
) -> LinkTest {
    LinkTest {
        link: link.to_owned(),
        state,
        says: says.into(),
        remedy,
        took,
    }
}

fn reached(took: Millis) -> [LinkTest; 2] {
    [
        line("reachable", LinkState::Good, "The server answers.", None, took),
        line("key", LinkState::Good, "Accepted.", None, Millis(0)),
    ]
}

/// The lines when nothing could be asked: which of them failed says the kind of the error.
fn failed(error: &ModelError, took: Millis) -> Vec<LinkTest> {
    let bad = |link| {
        line(
            link,
            LinkState::Bad,
            error.message.clone(),
            error.hint.clone(),
            took,
        )
    };
    let good = |link| line(link, LinkState::Good, "The server answers.", None, Millis(0));
    let mut lines = match error.kind {
        ModelErrorKind::Auth => vec![good("reachable"), bad("key")],
        ModelErrorKind::NotFound | ModelErrorKind::Quota => vec![
            good("reachable"),
            line("key", LinkState::Good, "Accepted.", None, Millis(0)),
            bad("model"),
        ],
        _ => vec![bad("reachable")],
    };
    for link in ["key", "native_call", "two_calls", "text_call", "window"] {
        if !lines.iter().any(|line| line.link == link) {
            lines.push(line(link, LinkState::NotTried, "", None, Millis(0)));
        }
    }
    lines
}

/// The last links of a connection test: the key and the models, from the attempt to list them.
pub fn listed(result: Option<Result<Vec<ModelEntry>, ModelError>>, took: Millis) -> Vec<LinkTest> {
    let key = |state, says: &str| line("key", state, says, None, Millis(0));
    match result {
        None => vec![
            key(LinkState::NotTried, "Not tried."),
            line("model", LinkState::NotTried, "Not tried.", None, Millis(0)),
        ],
        Some(Ok(models)) if models.is_empty() => vec![
            key(LinkState::Good, "Accepted."),
            line(
                "model",
                LinkState::Warning,
                "The server offers no models.",
                Some("Load or pull a model there, or type its name.".to_owned()),
                took,
            ),
        ],
        Some(Ok(models)) => {
            let says = format!("{} models.", models.len());
            vec![
                key(LinkState::Good, "Accepted."),
                line("model", LinkState::Good, says, None, took),
            ]
        }
        Some(Err(error)) if error.kind == ModelErrorKind::Auth => vec![
            line("key", LinkState::Bad, error.message, error.hint, took),
            line("model", LinkState::NotTried, "Not tried.", None, Millis(0)),
        ],
        Some(Err(error)) => vec![
            key(LinkState::NotTried, "Not tried."),
            line("model", LinkState::Warning, error.message, error.hint, took),
        ],
    }
}

/// Whether the window has room for tools, and is what the server really gives. `served` = as the server tells it.
pub fn window(facts: &ModelFacts, served: Option<u32>, local: bool) -> LinkTest {
    let larger = larger_window(local);
    let (state, says, remedy) = match (facts.window, served) {
        (Some(set), Some(served)) if served < set => (
            LinkState::Warning,
            format!(
                "{set} tokens are set, but the server gives it {served}: what does not fit may be cut off without a word."
            ),
            Some(format!("{} Or set the window of the model to {served}.", larger)),
        ),
        (Some(tokens), _) if tokens >= LEAST_WINDOW => (LinkState::Good, format!("{tokens} tokens."), None),
        (Some(tokens), _) => (
            LinkState::Warning,
            format!("{tokens} tokens: small for work with tools, which needs {LEAST_WINDOW}."),
            Some(larger.to_owned()),
        ),
        (None, _) => (
            LinkState::Warning,
            "Not known.".to_owned(),
            Some("Enter the size of the window in the settings of the model.".to_owned()),
        ),
    };
    line("window", state, says, remedy, Millis(0))
}
