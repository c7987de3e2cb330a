//! What goes wrong in a conversation, and how aimock is told of it.

use paddock_protocol::{Millis, ProviderKind};
use serde_json::{Value, json};

use super::script::Script;
use crate::dice::Dice;

#[derive(Clone, Debug)]
pub enum Fault {
    /// 429 with a wait that the server names.
    RateLimit { at: usize, wait: Millis },
    /// 529, or 503 as Google says it; also more often than the program tries.
    Overloaded { at: usize, times: usize },
    /// The answer ends with an error after some of its events.
    InStream { at: usize, times: usize, after: usize },
    /// The connection ends after some of the answer's events.
    Cut { at: usize, times: usize, after: usize },
    /// Words come late and at intervals.
    Slow,
    /// The server does not know the key for a while.
    Refused { at: usize, status: u16 },
    /// One answer of five is a rate limit, nonsense, an error or a dropped connection.
    Chaos,
}

/// One protocol's conversations.
pub const CONVERSATIONS: usize = 50;

impl Fault {
    /// The number decides the kind, the dice the rest.
    pub fn of(number: usize, answers: usize, dice: &mut Dice) -> Self {
        let at = dice.index(answers);
        let times = 1 + dice.index(2);
        let after = 1 + dice.index(6);
        match number {
            0..6 => Self::RateLimit {
                at,
                wait: Millis(1_000),
            },
            6..12 => Self::Overloaded { at, times },
            // One attempt, three more, and what the person asks for then.
            12..16 => Self::Overloaded { at, times: 5 },
            16..22 => Self::InStream { at, times, after },
            22..29 => Self::Cut { at, times, after },
            29..33 => Self::Slow,
            33..36 => Self::Refused {
                at,
                status: dice.one_of(&[401, 403]),
            },
            _ => Self::Chaos,
        }
    }

    /// The entries of aimock's file for this conversation: in the place of an answer first what goes wrong there.
    pub fn entries(&self, script: &Script, protocol: ProviderKind, dice: &mut Dice) -> Vec<Value> {
        let mut entries = Vec::new();
        for (number, answer) in script.answers.iter().enumerate() {
            let place = script.place(protocol, number);
            let response = answer.response(number);
            for time in 0..self.at_aimock(number) {
                let mut place = place.clone();
                place["sequenceIndex"] = time.into();
                entries.push(self.instead(&place, &response, protocol));
            }
            let mut entry = json!({ "match": place, "response": response, "chunkSize": 3 + dice.below(40) });
            match self {
                Self::Slow => {
                    entry["streamingProfile"] = json!({ "ttft": 300, "tps": 50, "jitter": 0.5 });
                    entry["chunkSize"] = 60.into();
                }
                Self::Chaos => {
                    entry["chaos"] = json!({
                        "rateLimitRate": 0.05, "malformedRate": 0.05, "disconnectRate": 0.05, "dropRate": 0.05,
                    });
                }
                _ => {}
            }
            entries.push(entry);
        }
        entries
    }

    /// How often aimock gives something else than this answer.
    fn at_aimock(&self, answer: usize) -> usize {
        match *self {
            Self::RateLimit { at, .. } | Self::Refused { at, .. } if at == answer => 1,
            Self::Overloaded { at, times } | Self::Cut { at, times, .. } if at == answer => times,
            _ => 0,
        }
    }

    fn instead(&self, place: &Value, response: &Value, protocol: ProviderKind) -> Value {
        let gemini = protocol == ProviderKind::Gemini;
        let error = |status: u16, kind: &str, words: &str| json!({ "match": place, "response": { "error": { "message": words, "type": kind }, "status": status } });
        match *self {
            Self::Cut { after, .. } => json!({
                "match": place, "response": response,
                // Without a pause between them aimock ends before the first is sent.
                "latency": 5, "chunkSize": 3, "truncateAfterChunks": after,
            }),
            Self::RateLimit { wait, .. } => {
                let kind = if gemini {
                    "RESOURCE_EXHAUSTED"
                } else {
                    "rate_limit_error"
                };
                let mut entry = error(429, kind, "Too many requests.");
                entry["response"]["retryAfter"] = wait.0.div_ceil(1_000).into();
                entry
            }
            Self::Refused { status, .. } => {
                let kind = if gemini {
                    "UNAUTHENTICATED"
                } else {
                    "authentication_error"
                };
                error(status, kind, "The key is not known.")
            }
            _ if gemini => error(503, "UNAVAILABLE", "The model is overloaded."),
            _ => error(529, "overloaded_error", "Overloaded."),
        }
    }
}

/// An event that says that the answer failed, in the words of each protocol.
pub fn error_event(protocol: ProviderKind) -> &'static str {
    match protocol {
        ProviderKind::Responses => {
            "event: error\ndata: {\"type\":\"error\",\"code\":\"server_error\",\"message\":\"The server had an error.\",\"param\":null}\n\n"
        }
        ProviderKind::Anthropic => {
            "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n"
        }
        ProviderKind::Gemini => {
            "data: {\"error\":{\"code\":503,\"message\":\"The model is overloaded.\",\"status\":\"UNAVAILABLE\"}}\n\n"
        }
        _ => {
            "data: {\"error\":{\"message\":\"The server had an error.\",\"type\":\"server_error\",\"code\":null}}\n\n"
        }
    }
}
