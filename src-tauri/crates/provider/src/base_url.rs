//! The address of a model server as a person types it, checked before anything is sent.

use paddock_protocol::{ClientError, ErrorCode, ProviderKind};
use std::fmt;
use std::net::IpAddr;
use url::Url;

/// Address to which the paths of the protocol are appended, for example `http://127.0.0.1:11434/v1`. No slash at the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaseUrl {
    url: Url,
    text: String,
}

/// Paths of whole endpoints, which people copy from examples.
const ENDPOINTS: [&str; 4] = ["/chat/completions", "/completions", "/responses", "/messages"];

impl BaseUrl {
    /// Reads an address. Errors say what is wrong and how the address should look ([`ErrorCode::BadRequest`]).
    pub fn parse(typed: &str) -> Result<Self, ClientError> {
        let typed = typed.trim();
        let wrong =
            |message: String, hint: String| Err(ClientError::new(ErrorCode::BadRequest, message).hint(hint));
        if typed.is_empty() {
            return wrong(
                "The address of the model server is empty.".into(),
                EXAMPLES.into(),
            );
        }
        if typed.chars().any(|c| c.is_whitespace() || c.is_control()) {
            return wrong(
                "The address of the model server contains blanks.".into(),
                EXAMPLES.into(),
            );
        }
        let scheme_end = typed.find("://");
        let Some(scheme_end) = scheme_end else {
            let scheme = if looks_local(typed) { "http" } else { "https" };
            return wrong(
                format!("The address {typed} does not say how to connect."),
                format!("Write {scheme}://{typed}"),
            );
        };
        let scheme = typed[..scheme_end].to_ascii_lowercase();
        if scheme != "http" && scheme != "https" {
            return wrong(
                format!("A model server cannot be reached by {scheme}."),
                format!("Write http:// or https:// before the name of the server. {EXAMPLES}"),
            );
        }
        let mut url = match Url::parse(typed) {
            Ok(url) => url,
            Err(error) => {
                return wrong(format!("This is not an address: {error}."), EXAMPLES.into());
            }
        };
        if url.host_str().is_none_or(str::is_empty) {
            return wrong(format!("The address {typed} names no server."), EXAMPLES.into());
        }
        if !url.username().is_empty() || url.password().is_some() {
            return wrong(
                "The address of the model server contains a user name or a password.".into(),
                "Leave them out; the key has its own field.".into(),
            );
        }
        if url.query().is_some() || url.fragment().is_some() {
            return wrong(
                "The address of the model server contains a question mark or a hash sign.".into(),
                format!("Leave out everything from there on. {EXAMPLES}"),
            );
        }
        let path = url.path().trim_end_matches('/').to_string();
        // Of one model, as Gemini has them: `/models/name:generateContent`.
        let of_model = path.split_once("/models/").filter(|(_, rest)| rest.contains(':'));
        let of_model = of_model.map(|(before, _)| &path[before.len()..]);
        let of_protocol = ENDPOINTS.into_iter().find(|endpoint| path.ends_with(endpoint));
        if let Some(endpoint) = of_protocol.or(of_model) {
            url.set_path(&path[..path.len() - endpoint.len()]);
            return wrong(
                format!("The address ends with {endpoint}, which Paddock adds itself."),
                format!("Write {}", url.as_str().trim_end_matches('/')),
            );
        }
        url.set_path(&path);
        let text = url.as_str().trim_end_matches('/').to_string();
        Ok(Self { url, text })
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Name and port of the server, as written.
    pub fn host(&self) -> String {
        let host = self.url.host_str().unwrap_or_default();
        match self.url.port() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_string(),
        }
    }

    /// Whether the server is on this machine.
    pub fn is_loopback(&self) -> bool {
        let host = self.url.host_str().unwrap_or_default();
        let address = host
            .trim_start_matches('[')
            .trim_end_matches(']')
            .parse::<IpAddr>();
        match address {
            Ok(address) => address.to_canonical().is_loopback(),
            Err(_) => host == "localhost" || host.ends_with(".localhost"),
        }
    }

    /// Whether the connection is encrypted.
    pub fn is_secure(&self) -> bool {
        self.url.scheme() == "https"
    }

    /// Whether the address has a path such as `/v1`.
    pub fn has_path(&self) -> bool {
        self.url.path().len() > 1
    }

    /// What a protocol adds to this address before its own paths; empty where the address holds the version.
    pub(crate) fn version(&self, kind: ProviderKind) -> &'static str {
        let last = self.text.rsplit('/').next().unwrap_or_default();
        let ends_with_version = last
            .strip_prefix('v')
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        match kind {
            ProviderKind::Anthropic if !(self.has_path() && ends_with_version) => "v1/",
            ProviderKind::Gemini if !self.has_path() => "v1beta/",
            _ => "",
        }
    }

    /// Where the model server may be, when none was found at an address without a path.
    pub(crate) fn elsewhere(&self, kind: ProviderKind) -> Option<String> {
        if self.has_path() {
            return None;
        }
        Some(match self.version(kind).trim_end_matches('/') {
            "" => format!("The address often ends with /v1: {self}/v1"),
            version => format!(
                "It was looked for at {self}/{version}; write the whole address when it is elsewhere."
            ),
        })
    }

    /// The address of a path below this one; what follows a question mark in it is its query.
    pub(crate) fn join(&self, path: &str) -> Url {
        let (path, query) = match path.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (path, None),
        };
        let mut url = self.url.clone();
        url.set_path(&format!("{}/{path}", self.url.path().trim_end_matches('/')));
        url.set_query(query);
        url
    }

    /// The address of a path beside the protocol: without `/v1` at the end.
    pub(crate) fn beside(&self, path: &str) -> Url {
        let mut url = self.url.clone();
        let before = self.url.path().trim_end_matches('/');
        let before = before.strip_suffix("/v1").unwrap_or(before);
        url.set_path(&format!("{before}/{path}"));
        url
    }
}

const EXAMPLES: &str = "It looks like https://api.openai.com/v1 or http://127.0.0.1:11434/v1";

fn looks_local(typed: &str) -> bool {
    typed.starts_with("localhost")
        || typed.starts_with(|c: char| c.is_ascii_digit())
        || typed.starts_with('[')
}

impl fmt::Display for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_normalised() {
        for (typed, text) in [
            (" http://127.0.0.1:11434/v1/ ", "http://127.0.0.1:11434/v1"),
            ("https://api.openai.com/v1", "https://api.openai.com/v1"),
            ("HTTP://LocalHost:8080", "http://localhost:8080"),
            ("https://openrouter.ai/api/v1//", "https://openrouter.ai/api/v1"),
        ] {
            assert_eq!(BaseUrl::parse(typed).unwrap().as_str(), text);
        }
        let base = BaseUrl::parse("http://localhost:8080").unwrap();
        assert_eq!(base.join("models").as_str(), "http://localhost:8080/models");
        let base = BaseUrl::parse("https://h/a/v1/").unwrap();
        assert_eq!(
            base.join("chat/completions").as_str(),
            "https://h/a/v1/chat/completions"
        );
        assert_eq!(
            base.join("models/m%3Fx:stream?alt=sse&pageToken=a%2B").as_str(),
            "https://h/a/v1/models/m%3Fx:stream?alt=sse&pageToken=a%2B"
        );
    }

    #[test]
    fn what_is_wrong_is_named_with_a_remedy() {
        for (typed, message, hint) in [
            ("", "is empty", "https://api.openai.com/v1"),
            ("http://a b/v1", "contains blanks", "looks like"),
            (
                "localhost:11434/v1",
                "does not say how",
                "Write http://localhost:11434/v1",
            ),
            (
                "api.openai.com/v1",
                "does not say how",
                "Write https://api.openai.com/v1",
            ),
            ("ftp://x/v1", "by ftp", "http:// or https://"),
            ("https://", "not an address", "looks like"),
            ("https://me:pw@x/v1", "password", "own field"),
            ("https://x/v1?key=1", "question mark", "Leave out"),
            (
                "https://x/v1beta/models/m:generateContent",
                "/models/m:generateContent",
                "Write https://x/v1beta",
            ),
            (
                "https://x/v1/chat/completions/",
                "/chat/completions",
                "Write https://x/v1",
            ),
            ("http://x:99999/v1", "not an address", "looks like"),
        ] {
            let error = BaseUrl::parse(typed).unwrap_err();
            assert_eq!(error.code, ErrorCode::BadRequest);
            assert!(error.message.contains(message), "{typed}: {}", error.message);
            assert!(
                error.hint.as_deref().unwrap().contains(hint),
                "{typed}: {:?}",
                error.hint
            );
            assert!(!error.to_string().contains("pw@"));
        }
    }

    #[test]
    fn the_version_is_added_where_a_protocol_wants_it_and_hinted_where_the_person_writes_it() {
        use ProviderKind::{Anthropic, Chat, Gemini, Responses};
        for (kind, typed, version) in [
            (Anthropic, "https://api.anthropic.com", "v1/"),
            (Anthropic, "https://api.anthropic.com/v1", ""),
            (Anthropic, "https://api.example.com/anthropic", "v1/"),
            (Anthropic, "https://proxy.example.com/api/v2/", ""),
            (Anthropic, "http://v1", "v1/"),
            (Gemini, "https://generativelanguage.googleapis.com", "v1beta/"),
            (Gemini, "https://gateway.example.com/gemini/v1", ""),
            (Chat, "http://127.0.0.1:8080", ""),
        ] {
            assert_eq!(BaseUrl::parse(typed).unwrap().version(kind), version, "{typed}");
        }
        let hint = |kind, typed| BaseUrl::parse(typed).unwrap().elsewhere(kind);
        for kind in [Chat, Responses] {
            assert!(hint(kind, "http://h:1").unwrap().ends_with("http://h:1/v1"));
        }
        assert!(
            hint(Anthropic, "http://h:1")
                .unwrap()
                .contains("looked for at http://h:1/v1;")
        );
        assert!(
            hint(Gemini, "http://h:1")
                .unwrap()
                .contains("looked for at http://h:1/v1beta;")
        );
        assert_eq!(hint(Chat, "http://h:1/v1"), None);
    }

    #[test]
    fn servers_on_this_machine_are_known() {
        for (typed, loopback) in [
            ("http://localhost:1/v1", true),
            ("http://127.3.2.1/v1", true),
            ("http://[::1]:8080", true),
            ("http://ollama.localhost", true),
            ("http://192.168.1.4:11434", false),
            ("https://localhost.example.com", false),
        ] {
            assert_eq!(BaseUrl::parse(typed).unwrap().is_loopback(), loopback, "{typed}");
        }
    }
}
