//! Hosts that are reached without a proxy.

use super::Target;
use ipnet::IpNet;
use paddock_protocol::{ClientError, ErrorCode};
use std::net::IpAddr;

/// A list as in `NO_PROXY`, separated by commas or blanks: names (each with everything below it), `.suffix`, `*.suffix`,
/// addresses, networks (`10.0.0.0/8`), each with a port or without, and `*` for everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exceptions(Vec<Exception>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Exception {
    host: Host,
    port: Option<u16>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Host {
    All,
    Network(IpNet),
    /// Lower case, no dot in front or behind.
    Name(String),
}

impl Exceptions {
    /// An entry that is no host and no network is an error ([`ErrorCode::BadRequest`]) that names it.
    pub fn parse(list: &str) -> Result<Self, ClientError> {
        let entries = entries(list).map(|entry| read(entry).ok_or_else(|| unreadable(entry)));
        entries.collect::<Result<_, _>>().map(Self)
    }

    /// The same for a variable, which other programs read too: what cannot be read is left out, so that it goes through the
    /// proxy.
    pub(super) fn of_variable(list: &str) -> Self {
        Self(entries(list).filter_map(read).collect())
    }

    pub(super) fn contain(&self, target: &Target) -> bool {
        let address = target
            .host
            .parse::<IpAddr>()
            .map(|address| address.to_canonical());
        let name = target.host.trim_end_matches('.').to_ascii_lowercase();
        self.0.iter().any(|exception| {
            exception.port.is_none_or(|port| port == target.port)
                && match (&exception.host, &address) {
                    (Host::All, _) => true,
                    (Host::Network(network), Ok(address)) => network.contains(address),
                    (Host::Name(suffix), Err(_)) => {
                        let rest = name.strip_suffix(suffix.as_str());
                        rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
                    }
                    _ => false,
                }
        })
    }
}

fn entries(list: &str) -> impl Iterator<Item = &str> {
    list.split(|c: char| c == ',' || c == ';' || c.is_whitespace())
        .filter(|entry| !entry.is_empty())
}

fn read(entry: &str) -> Option<Exception> {
    let whole = |host| Some(Exception { host, port: None });
    if let Some(network) = network(entry) {
        return whole(Host::Network(network));
    }
    let (host, port) = match entry.rsplit_once(':') {
        Some((host, port)) => (host, Some(port.parse().ok()?)),
        None => (entry, None),
    };
    let host = if host == "*" {
        Host::All
    } else if let Some(network) = network(host) {
        Host::Network(network)
    } else {
        let name = host
            .trim_start_matches("*.")
            .trim_matches('.')
            .to_ascii_lowercase();
        let fits = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
        if name.is_empty() || !name.chars().all(fits) {
            return None;
        }
        Host::Name(name)
    };
    Some(Exception { host, port })
}

fn network(text: &str) -> Option<IpNet> {
    let inner = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let text = inner.unwrap_or(text);
    match text.parse::<IpAddr>() {
        Ok(address) => Some(IpNet::from(address.to_canonical())),
        Err(_) => text.parse().ok(),
    }
}

fn unreadable(entry: &str) -> ClientError {
    ClientError::new(
        ErrorCode::BadRequest,
        format!("\u{201c}{entry}\u{201d} in the list of hosts without proxy is no host and no network."),
    )
    .hint("Entries look like example.com, .example.com, 10.0.0.0/8, example.com:8080 or *.")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(host: &str, port: u16) -> Target {
        Target::new("https", host, Some(port)).unwrap()
    }

    #[test]
    fn a_list_excepts_what_it_says_and_no_more() {
        for (list, host, port, excepted) in [
            ("*", "anything.example", 443, true),
            ("", "example.com", 443, false),
            ("example.com", "example.com", 443, true),
            ("example.com", "API.Example.com.", 443, true),
            ("example.com", "notexample.com", 443, false),
            ("example.com", "example.com.evil.net", 443, false),
            (".example.com", "a.example.com", 443, true),
            ("*.example.com", "a.example.com", 443, true),
            ("one.net example.com", "example.com", 443, true),
            ("a.net, example.com ,b.net", "example.com", 443, true),
            ("example.com:8443", "example.com", 8443, true),
            ("example.com:8443", "example.com", 443, false),
            ("*:8443", "x.org", 8443, true),
            ("10.0.0.0/8", "10.200.3.4", 443, true),
            ("10.0.0.0/8", "11.0.0.1", 443, false),
            ("10.0.0.0/8", "10.example.com", 443, false),
            ("192.168.1.7", "192.168.1.7", 443, true),
            ("192.168.1.7:80", "192.168.1.7", 443, false),
            ("fd00::/8", "[fd00::12]", 443, true),
            ("[fd00::12]:80", "fd00::12", 80, true),
            ("fd00::12", "fd00::13", 443, false),
        ] {
            let except = Exceptions::parse(list).unwrap();
            assert_eq!(
                except.contain(&target(host, port)),
                excepted,
                "{list} {host}:{port}"
            );
        }
    }

    #[test]
    fn an_entry_that_is_no_host_is_named_in_settings_and_left_out_of_a_variable() {
        for entry in ["https://example.com", "10.0.0.0/99", "a:b:c", "example.com:http"] {
            let error = Exceptions::parse(&format!("a.net,{entry}")).unwrap_err();
            assert!(error.message.contains(entry), "{error}");
            let except = Exceptions::of_variable(&format!("a.net,{entry}"));
            assert!(except.contain(&target("a.net", 443)));
            assert!(!except.contain(&target("example.com", 443)));
        }
    }
}
