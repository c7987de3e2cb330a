//! Where a fetch may connect to. The name is looked up here, once, and only the addresses that were looked at are connected
//! to, so that a name cannot lead elsewhere a moment later.

use crate::ToolError;
use paddock_protocol::HostReach;
use paddock_sandbox::{AddressReach, address_reach};
use reqwest::Url;
use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;

const MAX_URL: usize = 4096;

/// Looks a name up; blocks.
pub(super) type LookUp = Arc<dyn Fn(&str) -> io::Result<Vec<IpAddr>> + Send + Sync>;

/// An address that can be fetched.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub(super) url: Url,
    /// Lower case, ASCII, no brackets.
    pub(super) host: String,
    pub(super) port: u16,
}

/// Where a host really leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Addresses {
    /// None: this machine cannot look the name up, and only a proxy can connect.
    pub(super) all: Vec<SocketAddr>,
    /// The widest of them.
    pub(super) reach: HostReach,
}

/// Looks names up as the system does.
pub(super) fn system_look_up() -> LookUp {
    Arc::new(|host| {
        let found = (host, 0).to_socket_addrs()?;
        Ok(found.map(|address| address.ip()).collect())
    })
}

impl Target {
    /// Reads an argument; nothing is looked up.
    pub(super) fn parse(url: &str) -> Result<Self, ToolError> {
        let wrong = |what: &str| ToolError::Arguments(format!("`url` {what}"));
        if url.len() > MAX_URL {
            return Err(wrong("is longer than 4096 bytes"));
        }
        let mut url = Url::parse(url.trim()).map_err(|error| wrong(&format!("cannot be read: {error}")))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(wrong("must begin with https:// or http://"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(wrong("must not contain a user name or password"));
        }
        url.set_fragment(None);
        let host = url.host_str().unwrap_or_default();
        let host = host
            .trim_end_matches('.')
            .trim_matches(['[', ']'])
            .to_ascii_lowercase();
        let port = url.port_or_known_default();
        match port {
            Some(port) if !host.is_empty() => Ok(Self { url, host, port }),
            _ => Err(wrong("names no host")),
        }
    }

    /// The host as an address, when it is written as one.
    fn literal(&self) -> Option<IpAddr> {
        self.host.parse().ok()
    }

    /// The reach that the host itself tells, without being looked up.
    pub(super) fn evident_reach(&self) -> HostReach {
        if self.host == "localhost" || self.host.ends_with(".localhost") {
            return HostReach::Loopback;
        }
        let reach = self.literal().and_then(address_reach);
        reach.map_or(HostReach::Unknown, reach_of)
    }

    /// Whether anyone may be asked about it at all.
    pub(super) fn check(&self) -> Result<(), ToolError> {
        match self.literal() {
            Some(address) if address_reach(address).is_none() => Err(never(&self.host)),
            _ => Ok(()),
        }
    }

    /// Where it leads, within so much time. `has_proxy`: a name that only the proxy knows is no error.
    pub(super) async fn look_up(
        &self,
        look_up: &LookUp,
        limit: Duration,
        has_proxy: bool,
    ) -> Result<Addresses, ToolError> {
        let found = match self.literal() {
            Some(address) => vec![address],
            None => {
                let (look_up, host) = (Arc::clone(look_up), self.host.clone());
                let work = tokio::task::spawn_blocking(move || look_up(&host));
                let found = tokio::time::timeout(limit, work).await;
                found
                    .ok()
                    .and_then(Result::ok)
                    .and_then(Result::ok)
                    .unwrap_or_default()
            }
        };
        if found.is_empty() && has_proxy {
            return Ok(Addresses {
                all: Vec::new(),
                reach: HostReach::Unknown,
            });
        }
        if found.is_empty() {
            return Err(ToolError::Model(format!(
                "No address was found for `{}`.",
                self.host
            )));
        }
        let known = found
            .iter()
            .filter_map(|address| Some((*address, address_reach(*address)?)));
        let (all, reaches): (Vec<IpAddr>, Vec<AddressReach>) = known.unzip();
        let widest = reaches.into_iter().max().ok_or_else(|| never(&self.host))?;
        Ok(Addresses {
            all: all
                .into_iter()
                .map(|address| SocketAddr::new(address, self.port))
                .collect(),
            reach: reach_of(widest),
        })
    }

    /// An error unless all addresses are public, or just as far as the host itself or the person's approval says.
    pub(super) fn permit(&self, found: &Addresses, shown: HostReach) -> Result<(), ToolError> {
        let known = [HostReach::Public, self.evident_reach(), shown];
        let other = found
            .all
            .iter()
            .filter_map(|address| address_reach(address.ip()))
            .map(reach_of)
            .find(|reach| !known.contains(reach));
        let place = match other {
            None => return Ok(()),
            Some(HostReach::Loopback) => "this machine itself",
            Some(_) => "a private network",
        };
        Err(ToolError::Model(format!(
            "`{}` leads to {place}, which nobody knew when it was allowed, so nothing was fetched. Ask for it again.",
            self.host
        )))
    }
}

fn never(host: &str) -> ToolError {
    ToolError::Model(format!(
        "`{host}` leads to a link-local, cloud metadata or reserved address; those are never connected to."
    ))
}

fn reach_of(reach: AddressReach) -> HostReach {
    match reach {
        AddressReach::Public => HostReach::Public,
        AddressReach::Private => HostReach::Private,
        AddressReach::Loopback => HostReach::Loopback,
    }
}
