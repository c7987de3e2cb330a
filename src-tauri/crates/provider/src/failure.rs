//! Failed requests in words that fit a person.
//!
//! One place decides from status, code and text what a failure is, because the same status means several things (429: too fast or no
//! money; 400: too long, a refused parameter, a broken history). Keys never get into a text.

use crate::http::TransportError;
use crate::network::LinkFailure;
use crate::retry_after::retry_after;
use crate::{BaseUrl, Secret};
use http::HeaderMap;
use paddock_protocol::{Millis, ModelError, ModelErrorKind, ProviderKind};
use serde_json::Value;
use std::time::SystemTime;

/// Characters of a server's own words that are kept.
const DETAILS_LIMIT: usize = 2_000;

/// Who was asked, for the texts.
#[derive(Clone, Debug)]
pub(crate) struct Origin {
    pub label: String,
    pub kind: ProviderKind,
    pub base_url: BaseUrl,
    pub key: Option<Secret>,
    /// Where the key came from, for example "from the keyring".
    pub key_origin: String,
    pub local: bool,
}

/// What a server says about a failure, from any of the shapes in use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ServerWords {
    pub message: String,
    /// Code and type, lower case, separated by blanks.
    pub codes: String,
    /// HTTP status named in the body.
    pub status: Option<u16>,
}

impl ServerWords {
    /// Reads `{error:{message}}`, `{error:"text"}`, `{message}`, `{detail:[…]}`, `[{error:{…}}]` and plain text.
    pub fn read(body: &str) -> Self {
        match serde_json::from_str::<Value>(body.trim()) {
            Ok(value) => Self::of(&value),
            Err(_) => Self {
                message: body.trim().to_string(),
                ..Self::default()
            },
        }
    }

    pub fn of(value: &Value) -> Self {
        let value = match value {
            Value::Array(list) => list.first().unwrap_or(value),
            value => value,
        };
        let error = value
            .get("error")
            .filter(|error| !error.is_null())
            .unwrap_or(value);
        let message = ["message", "detail", "error", "msg", "error_description"]
            .iter()
            .find_map(|field| error.get(field).map(text_of).filter(|text| !text.is_empty()))
            .or_else(|| value.get("message").map(text_of))
            .unwrap_or_else(|| text_of(error));
        let details = error.get("details").and_then(Value::as_array);
        let codes = [
            error.get("code"),
            error.get("type"),
            error.get("status"),
            value.get("type"),
        ]
        .into_iter()
        .flatten()
        .chain(details.into_iter().flatten().flat_map(detail_codes))
        .map(text_of)
        .collect::<Vec<_>>()
        .join(" ")
        .to_lowercase();
        let status = [error.get("code"), error.get("status"), value.get("status")]
            .into_iter()
            .flatten()
            .filter_map(|code| code.as_u64().or_else(|| code.as_str()?.parse().ok()))
            .find_map(|code| u16::try_from(code).ok().filter(|code| (400..600).contains(code)));
        Self {
            message,
            codes,
            status,
        }
    }
}

/// Of Google's `details`: the reason of an `ErrorInfo`, the quotas of a `QuotaFailure`.
fn detail_codes(detail: &Value) -> impl Iterator<Item = &Value> {
    let violations = detail.get("violations").and_then(Value::as_array);
    let quotas = violations.into_iter().flatten();
    let quotas = quotas.filter_map(|violation| violation.get("quotaId"));
    detail.get("reason").into_iter().chain(quotas)
}

fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.trim().to_string(),
        Value::Array(list) => list
            .iter()
            .map(|entry| match entry.get("msg").or_else(|| entry.get("message")) {
                Some(text) => text_of(text),
                None => text_of(entry),
            })
            .collect::<Vec<_>>()
            .join("; "),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

impl Origin {
    /// An answer with an error status.
    pub fn status_error(&self, status: u16, headers: &HeaderMap, body: &str) -> ModelError {
        let words = ServerWords::read(body);
        let mut error = self.error(status, &words, body);
        error.status = Some(status);
        if error.retryable {
            error.retry_after = retry_after(headers, body, SystemTime::now());
        }
        error
    }

    /// An error inside of an answer that began well.
    pub fn stream_error(&self, value: &Value) -> ModelError {
        let words = ServerWords::of(value);
        let status = words.status.unwrap_or_else(|| status_of_codes(&words.codes));
        let body = value.to_string();
        let mut error = self.error(status, &words, &body);
        if error.retryable {
            error.retry_after = retry_after(&HeaderMap::new(), &body, SystemTime::now());
        }
        error
    }

    /// The connection failed.
    pub fn transport_error(&self, failure: &TransportError) -> ModelError {
        use ModelErrorKind::*;
        let host = self.base_url.host();
        let (kind, message, hint, retryable) = match failure {
            TransportError::Link(LinkFailure::Refused { .. }) if self.base_url.is_loopback() => (
                Network,
                format!(
                    "Nothing answers at {}: is the local server running?",
                    self.base_url
                ),
                format!("Start {} and try again, or correct the address.", self.label),
                true,
            ),
            TransportError::Link(failure) => (Network, failure.says(), failure.remedy(), failure.may_pass()),
            TransportError::Silence(limit) => (
                Timeout,
                format!(
                    "{} sent nothing for {} seconds.",
                    self.label,
                    limit.0.div_ceil(1000)
                ),
                if self.local {
                    "A long prompt can take a local model minutes; the limit can be raised.".into()
                } else {
                    "Try again, or raise the limit.".into()
                },
                true,
            ),
            TransportError::Broken(_) => (
                Network,
                format!("The connection to {host} broke off."),
                "Try again.".into(),
                true,
            ),
            TransportError::Closed(_) => (
                Network,
                format!("{host} closed a connection that was still open from before."),
                "Try again.".into(),
                true,
            ),
            TransportError::Unwritable(_) => (
                BadRequest,
                format!("The request to {host} could not be written."),
                "Check the address.".into(),
                false,
            ),
        };
        let mut error = ModelError::new(kind, message);
        error.hint = Some(hint);
        error.details = self.details(&failure.to_string());
        error.retryable = retryable;
        // The next attempt has a new connection; there is nothing to wait for.
        error.retry_after = matches!(failure, TransportError::Closed(_)).then_some(Millis(0));
        error
    }

    /// The answer is not what the protocol says, or ended too early.
    pub fn protocol_error(&self, message: impl Into<String>, raw: &str) -> ModelError {
        let mut error = ModelError::new(ModelErrorKind::Protocol, message);
        error.hint = Some("Try again, or choose another model.".into());
        error.details = self.details(raw);
        error
    }

    /// A web page instead of an answer.
    pub fn web_page(&self, status: u16, body: &str) -> ModelError {
        let mut error = ModelError::new(
            ModelErrorKind::NotFound,
            format!(
                "{} answers with a web page, not as a model server.",
                self.base_url
            ),
        );
        let elsewhere = self.base_url.elsewhere(self.kind);
        error.hint = Some(
            elsewhere
                .unwrap_or_else(|| "Check the address; a proxy or a login page may be in between.".into()),
        );
        error.status = Some(status);
        let start: String = body.chars().take(200).collect();
        error.details = self.details(&format!("{} {status} {start}", self.base_url.host()));
        error
    }

    /// The server is somewhere else. Redirects are not followed: the key would go along.
    pub fn redirect(&self, status: u16, location: &str) -> ModelError {
        let mut error = ModelError::new(
            ModelErrorKind::NotFound,
            format!("{} sends the request on to another address.", self.base_url),
        );
        error.hint =
            Some("Write the address of the server itself; the details show where it points to.".into());
        error.status = Some(status);
        error.details = self.details(location);
        error
    }

    /// Masked and capped; `None` when there is nothing to show.
    pub fn details(&self, raw: &str) -> Option<String> {
        let raw = raw.trim();
        if raw.is_empty() {
            return None;
        }
        let masked = match &self.key {
            Some(key) => key.mask_in(raw),
            None => raw.to_string(),
        };
        Some(masked.chars().take(DETAILS_LIMIT).collect())
    }

    fn error(&self, status: u16, words: &ServerWords, body: &str) -> ModelError {
        let (kind, retryable) = kind_of(status, words);
        let (message, hint) = self.wording(kind, status, words);
        let mut error = ModelError::new(kind, message);
        error.hint = Some(hint);
        error.retryable = retryable;
        let raw = if words.message.is_empty() {
            body
        } else {
            &words.message
        };
        error.details = self.details(raw);
        error
    }

    fn wording(&self, kind: ModelErrorKind, status: u16, words: &ServerWords) -> (String, String) {
        use ModelErrorKind::*;
        let label = &self.label;
        match kind {
            Auth => match &self.key {
                None => (
                    format!("{label} wants a key and none is set."),
                    format!("Add the key of {label}: in Settings, or with --key-env."),
                ),
                Some(key) => (
                    format!(
                        "{label} refused the key{}{}.",
                        match key.ends_with() {
                            Some(end) => format!(" ending in {end}"),
                            None => String::new(),
                        },
                        match self.key_origin.trim() {
                            "" => String::new(),
                            origin => format!(" ({origin})"),
                        }
                    ),
                    "It may be wrong, expired or without access to this model: change it.".into(),
                ),
            },
            Quota if is_daily_quota(words) => (
                format!("The quota of this day is used up at {label}."),
                "It begins anew each day; look at the limits there, or choose another model.".into(),
            ),
            Quota => (
                format!("The account at {label} has no credit left."),
                "Check billing and limits there, or choose another model.".into(),
            ),
            RateLimit => (
                format!("{label} asks to wait: too many requests."),
                "Wait, or choose another model.".into(),
            ),
            Overloaded => (
                format!("The model is busy: {label} answered with {status}."),
                "Try again in a moment, or choose another model.".into(),
            ),
            Overflow => (
                "The request is too long for this model.".into(),
                "Shorten the conversation and try again, or choose a model with a larger window.".into(),
            ),
            NotFound if is_model_missing(words) => (
                format!("{label} does not know this model."),
                "Choose one of the models that it offers.".into(),
            ),
            NotFound => match self.base_url.elsewhere(self.kind) {
                Some(elsewhere) => (
                    format!("There is no model server at {}.", self.base_url),
                    elsewhere,
                ),
                None => (
                    format!(
                        "There is no model server at {}, or it does not know the model.",
                        self.base_url
                    ),
                    "Check the address and the name of the model.".into(),
                ),
            },
            Blocked => (
                format!("{label} blocked the content of this request."),
                "Say it differently, or choose another model.".into(),
            ),
            Timeout => (
                format!("{label} did not answer in time ({status})."),
                "Try again in a moment.".into(),
            ),
            Network | Protocol | Cancelled | BadRequest => (
                format!("{label} did not accept the request ({status})."),
                "The details show the reason; another model may work.".into(),
            ),
        }
    }
}

fn kind_of(status: u16, words: &ServerWords) -> (ModelErrorKind, bool) {
    use ModelErrorKind::*;
    let text = format!("{} {}", words.codes, words.message).to_lowercase();
    let has = |needles: &[&str]| needles.iter().any(|needle| text.contains(needle));
    if status != 429 && is_overflow(&text) {
        return (Overflow, false);
    }
    let billing = [
        "insufficient_quota",
        "billing_hard_limit_reached",
        "billing_not_active",
        "billing_error",
        "billing_disabled",
        "insufficient_balance",
    ];
    match status {
        401 => (Auth, false),
        402 => (Quota, false),
        403 if has(&["content_filter", "content_policy", "moderation"]) => (Blocked, false),
        403 if billing.iter().any(|code| words.codes.contains(code)) => (Quota, false),
        403 => (Auth, false),
        404 => (NotFound, false),
        405 => (NotFound, false),
        413 => (Overflow, false),
        408 | 504 => (Timeout, true),
        429 if billing.iter().any(|code| words.codes.contains(code)) => (Quota, false),
        429 if is_daily_quota(words) => (Quota, false),
        429 => (RateLimit, true),
        409 | 425 => (Overloaded, true),
        500.. if has(&["jinja", "must alternate", "chat template", "parse error at"]) => (BadRequest, false),
        500.. => (Overloaded, true),
        _ if has(&["content_filter", "content_policy", "content management policy"]) => (Blocked, false),
        _ if billing.iter().any(|code| words.codes.contains(code)) => (Quota, false),
        _ if has(&[
            "invalid_api_key",
            "api_key_invalid",
            "incorrect api key",
            "api key not valid",
            "invalid api key",
        ]) =>
        {
            (Auth, false)
        }
        400 if has(&["credit balance is too low"]) => (Quota, false),
        _ if is_model_missing(words) => (NotFound, false),
        _ => (BadRequest, false),
    }
}

/// The status that a code in a stream stands for. Nothing known = a passing trouble of the server.
fn status_of_codes(codes: &str) -> u16 {
    let table = [
        ("rate_limit", 429),
        ("too_many_requests", 429),
        ("resource_exhausted", 429),
        ("insufficient_quota", 402),
        ("billing_error", 402),
        ("authentication", 401),
        ("invalid_api_key", 401),
        ("permission", 403),
        ("not_found", 404),
        ("invalid_request", 400),
        ("invalid_prompt", 400),
        ("invalid_argument", 400),
        ("bad_request", 400),
        ("badrequest", 400),
        ("content_filter", 400),
        ("timeout", 504),
        ("overloaded", 529),
    ];
    table
        .iter()
        .find(|(code, _)| codes.contains(code))
        .map_or(500, |(_, status)| *status)
}

/// Whether the quota of a whole day is used up: waiting for a moment does not help.
fn is_daily_quota(words: &ServerWords) -> bool {
    words.codes.contains("perday")
}

fn is_model_missing(words: &ServerWords) -> bool {
    let text = words.message.to_lowercase();
    words.codes.contains("model_not_found")
        || (text.contains("model")
            && [
                "not found",
                "does not exist",
                "not exist",
                "no such model",
                "unknown model",
                "not a valid model",
                "invalid model",
                "no endpoints found",
            ]
            .iter()
            .any(|phrase| text.contains(phrase)))
}

/// Whether a text (lower case) says that the request does not fit into the model's window.
fn is_overflow(text: &str) -> bool {
    let rate = [
        "rate limit",
        "rate_limit",
        "throttl",
        "too many requests",
        "per minute",
    ];
    let is_429 = text
        .split(|c: char| !c.is_ascii_alphanumeric())
        .any(|word| word == "429");
    if is_429 || rate.iter().any(|words| text.contains(words)) {
        return false;
    }
    let plain = [
        "context_length_exceeded",
        "exceed_context_size_error",
        "maximum context length",
        "prompt is too long",
        "input is too long",
        "input too long",
        "maximum input length",
        "maximum allowed input length",
        "maximum number of input token",
        "max input token",
        "maximum input token",
        "max number of input token",
        "reduce the length of the messages",
        "total tokens exceeds",
        "model_context_window_exceeded",
        "request_too_large",
        "exceed context limit",
    ];
    plain.iter().any(|words| text.contains(words))
        || ["context window", "context length", "context size"]
            .iter()
            .any(|start| within(text, start, "exceed", 40))
        || ["exceed the", "exceeds the"].iter().any(|start| {
            within(text, start, "context", 32) // "exceeds the available / maximum … context"
        })
        || within(text, "input length", " exceeds", usize::MAX)
        || within(text, "input token count", "exceeds", usize::MAX)
}

/// Whether `end` follows `start` with at most `gap` bytes in between.
fn within(text: &str, start: &str, end: &str, gap: usize) -> bool {
    text.match_indices(start).any(|(at, _)| {
        let rest = &text[at + start.len()..];
        rest.find(end).is_some_and(|found| found <= gap)
    })
}
