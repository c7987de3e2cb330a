//! Whom a connection is for.

use std::fmt;
use std::net::IpAddr;

/// A server as an address names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    /// Whether TLS is spoken with it.
    pub secure: bool,
    /// Without the brackets of IPv6.
    pub host: String,
    pub port: u16,
}

impl Target {
    /// `None` without a host.
    pub fn new(scheme: &str, host: &str, port: Option<u16>) -> Option<Self> {
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let secure = scheme == "https";
        (!host.is_empty()).then(|| Self {
            secure,
            host: host.to_string(),
            port: port.unwrap_or(if secure { 443 } else { 80 }),
        })
    }

    pub fn is_loopback(&self) -> bool {
        is_loopback_host(&self.host)
    }
}

/// Host and port, as in an address.
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&at(&self.host, self.port))
    }
}

pub(super) fn at(host: &str, port: u16) -> String {
    match host.contains(':') {
        true => format!("[{host}]:{port}"),
        false => format!("{host}:{port}"),
    }
}

/// Whether a host, with or without brackets, is this machine.
fn is_loopback_host(host: &str) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    match host.parse::<IpAddr>() {
        Ok(address) => address.to_canonical().is_loopback(),
        Err(_) => {
            let name = host.trim_end_matches('.').to_ascii_lowercase();
            name == "localhost" || name.ends_with(".localhost")
        }
    }
}
