//! The connection test: the way to a server link by link, by the code that requests use, and the first link that fails by name.

use super::{Http, Incoming, Outgoing, TransportError};
use crate::BaseUrl;
use crate::network::{
    CertificateFacts, Choice, Direct, HelloTap, LinkFailure, Network, ProxyAddress, Roots, Stream, Target,
    TlsTrouble, Way, connect, day, open_tunnel, peer_facts, resolve, version_in,
};
use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderMap, LOCATION};
use paddock_protocol::{LinkState, LinkTest, Millis, ProviderKind};
use std::net::{IpAddr, SocketAddr};
use std::sync::PoisonError;
use std::time::Instant;
use url::Url;

/// The links in their order; the caller goes on with `key` and `model`, which need a protocol.
const LINKS: [&str; 6] = ["address", "name", "tcp", "proxy", "tls", "http"];
/// Time for the answer to the request at the end.
const ANSWER_LIMIT: Millis = Millis::seconds(15);
/// Bytes of the answer that are looked at.
const LOOK: usize = 1024;

/// Tries the way to a model server that speaks this protocol, without a key. All six links are in the list: after the first that is bad, the others are
/// marked as not tried. Takes a minute at the worst; dropping the future ends it.
pub async fn test_connection(network: &Network, base_url: &BaseUrl, kind: ProviderKind) -> Vec<LinkTest> {
    let mut test = Test {
        links: Vec::new(),
        since: Instant::now(),
        kind,
    };
    // The first failure ends the test; it is in the list then.
    let _ = test.run(network, base_url).await;
    let state = LinkState::NotTried;
    for link in LINKS.iter().skip(test.links.len()) {
        test.add(link, state, "Not tried.".into(), None);
    }
    test.links
}

/// Whether the proxy for servers on other machines can be reached; `None` when none is used. It is not asked to connect anywhere.
pub async fn test_proxy(network: &Network) -> Option<LinkTest> {
    let mut test = Test {
        links: Vec::new(),
        since: Instant::now(),
        kind: ProviderKind::Chat,
    };
    let way = network.current();
    // Any server on another machine will do: the name is not looked up.
    let anyone = Target::new("https", "model-server.invalid", None)?;
    match way.choose(&anyone) {
        Ok(Choice::Direct(why)) => match way.direct(why).await {
            Direct::Script => test.no_proxy(Direct::Script),
            Direct::Loopback | Direct::Excepted | Direct::NoProxy => return None,
        },
        Err(LinkFailure::Offline) => return None,
        Ok(Choice::Proxy { address, origin }) => match way.reach(&address).await {
            Ok(_) => test.good("proxy", format!("{address} (from {origin}) answers.")),
            Err(failure) => {
                test.bad_at("proxy", &failure);
            }
        },
        Err(failure) => {
            test.bad_at("proxy", &failure);
        }
    }
    test.links.pop()
}

struct Test {
    links: Vec<LinkTest>,
    /// When the link that is being tried began.
    since: Instant,
    kind: ProviderKind,
}

/// A link is bad.
struct Bad;

impl Test {
    async fn run(&mut self, network: &Network, base_url: &BaseUrl) -> Result<(), Bad> {
        let way = network.current();
        let url = base_url.join(&format!("{}models", base_url.version(self.kind)));
        let target = Target::new(url.scheme(), url.host_str().unwrap_or_default(), url.port());
        let (target, choice) = self.address(&way, base_url, target)?;
        let stream = self.stream(&way, &choice, &target).await?;
        self.tls(&way, &choice, &target, stream).await?;
        self.http(network, base_url, url).await
    }

    fn address(
        &mut self,
        way: &Way,
        base_url: &BaseUrl,
        target: Option<Target>,
    ) -> Result<(Target, Choice), Bad> {
        let Some(target) = target else {
            self.add(
                "address",
                LinkState::Bad,
                format!("{base_url} names no server."),
                None,
            );
            return Err(Bad);
        };
        match way.choose(&target) {
            Ok(choice) => {
                let open = !target.secure && !target.is_loopback();
                if open {
                    let says =
                        format!("{base_url}: not encrypted, the key and all texts can be read on the way.");
                    self.add(
                        "address",
                        LinkState::Warning,
                        says,
                        Some("Use https:// where the server offers it.".into()),
                    );
                } else {
                    self.good("address", base_url.to_string());
                }
                Ok((target, choice))
            }
            Err(failure) => {
                if failure.link() != "address" {
                    self.good("address", base_url.to_string());
                }
                Err(self.bad(&failure))
            }
        }
    }

    /// Name, socket and proxy. With a proxy the first two are its own business, unless names are looked up here for it.
    async fn stream(&mut self, way: &Way, choice: &Choice, target: &Target) -> Result<Stream, Bad> {
        let (address, origin) = match choice {
            Choice::Proxy { address, origin } => (address, origin),
            Choice::Direct(why) => {
                let addresses = self.name(target).await?;
                let socket = match connect(&target.host, &addresses).await {
                    Ok(socket) => socket,
                    Err(failure) => return Err(self.bad(&failure)),
                };
                let peer = socket
                    .peer_addr()
                    .map_or_else(|_| target.to_string(), |peer| peer.to_string());
                self.good("tcp", format!("Connected to {peer}."));
                self.no_proxy(way.direct(*why).await);
                return Ok(Box::new(socket));
            }
        };
        if address.looks_names_up_here() {
            self.name(target).await?;
        } else {
            self.add(
                "name",
                LinkState::NotTried,
                "The proxy looks the name up.".into(),
                None,
            );
        }
        self.add("tcp", LinkState::NotTried, "The proxy connects.".into(), None);
        match self.through(way, address, target).await {
            Ok((stream, did)) => {
                self.good("proxy", format!("{address} (from {origin}) {did}."));
                Ok(stream)
            }
            Err(failure) => Err(self.bad(&failure)),
        }
    }

    fn no_proxy(&mut self, why: Direct) {
        let says = match why {
            Direct::Loopback => "Not used: the server is on this machine.",
            Direct::Excepted => "Not used: the host is listed as reached without proxy.",
            Direct::NoProxy => "None is set.",
            Direct::Script => {
                let says = "Not used: this system chooses proxies by a script (a PAC file), which Paddock does not run.";
                let remedy =
                    "If the connection fails, write the address of the proxy under Settings, Network.";
                return self.add("proxy", LinkState::Warning, says.into(), Some(remedy.into()));
            }
        };
        self.good("proxy", says.into());
    }

    async fn through(
        &self,
        way: &Way,
        proxy: &ProxyAddress,
        target: &Target,
    ) -> Result<(Stream, String), LinkFailure> {
        let stream = way.reach(proxy).await?;
        if proxy.speaks_http() && !target.secure {
            return Ok((stream, "answers".into()));
        }
        let stream = open_tunnel(stream, proxy, target).await?;
        Ok((stream, format!("connected to {target}")))
    }

    async fn name(&mut self, target: &Target) -> Result<Vec<SocketAddr>, Bad> {
        match resolve(&target.host, target.port).await {
            Ok(addresses) => {
                let shown: Vec<String> = addresses
                    .iter()
                    .take(4)
                    .map(|address| address.ip().to_string())
                    .collect();
                let says = match target.host.parse::<IpAddr>() {
                    Ok(_) => "None to look up: it is an address.".into(),
                    Err(_) => format!("{}: {}.", target.host, shown.join(", ")),
                };
                self.good("name", says);
                Ok(addresses)
            }
            Err(failure) => Err(self.bad(&failure)),
        }
    }

    /// The system's certificates first, to say whether the extra ones were needed.
    async fn tls(&mut self, way: &Way, choice: &Choice, target: &Target, stream: Stream) -> Result<(), Bad> {
        if !target.secure {
            self.good("tls", "Not used: the address begins with http://.".into());
            return Ok(());
        }
        let secured = match secured(way, target, stream, Roots::System).await {
            Err(Trouble::Handshake(_)) if way.has_extra_certificates() => {
                match way.socket(choice, target).await {
                    Ok(stream) => secured(way, target, stream, Roots::All)
                        .await
                        .map(|shown| (shown, "your extra certificate")),
                    Err(failure) => Err(Trouble::Link(failure)),
                }
            }
            other => other.map(|shown| (shown, "the system's certificates")),
        };
        match secured {
            Ok((shown, trusted_by)) => {
                self.good("tls", format!("{shown} Trusted by {trusted_by}."));
                Ok(())
            }
            Err(Trouble::Link(failure)) => Err(self.bad(&failure)),
            Err(Trouble::Handshake(trouble)) => {
                let failure = way.distrust(choice, target, &trouble).await;
                Err(self.bad_at("tls", &failure))
            }
        }
    }

    /// Any answer will do: without a key it may well be a refusal.
    async fn http(&mut self, network: &Network, base_url: &BaseUrl, url: Url) -> Result<(), Bad> {
        let request = Outgoing {
            method: http::Method::GET,
            headers: HeaderMap::new(),
            body: Bytes::new(),
            url,
        };
        let failure = match Http::new(network.clone()).send(&request, ANSWER_LIMIT).await {
            Ok(answer) => return self.answered(base_url, answer).await,
            Err(failure) => failure,
        };
        let (says, remedy) = match &failure {
            TransportError::Link(failure) => return Err(self.bad_at_own_link(failure)),
            TransportError::Silence(limit) => (
                format!("No answer within {} seconds.", limit.0 / 1000),
                "The server takes connections and does not answer: look at its own log.",
            ),
            TransportError::Broken(_) | TransportError::Closed(_) | TransportError::Unwritable(_) => (
                "The server closed the connection without an answer.".into(),
                "Check port and beginning of the address: http:// or https://.",
            ),
        };
        self.add("http", LinkState::Bad, says, Some(remedy.into()));
        Err(Bad)
    }

    async fn answered(&mut self, base_url: &BaseUrl, mut answer: Incoming) -> Result<(), Bad> {
        let header = |name| {
            answer
                .headers
                .get(name)
                .and_then(|value| value.to_str().ok())
                .unwrap_or_default()
        };
        let location = header(LOCATION).to_string();
        let page = header(CONTENT_TYPE).to_ascii_lowercase().starts_with("text/html");
        let start = answer.body.rest(LOOK).await;
        let page = page || start.trim_ascii_start().starts_with(b"<");
        let status = answer.status;
        let (state, says, remedy) = match status {
            300..=399 => (
                LinkState::Bad,
                format!("Answers with {status}: the server is at another address, {location}."),
                Some("Write the address of the server itself.".to_string()),
            ),
            _ if page => (
                LinkState::Bad,
                format!("Answers with {status} and a web page, not as a model server."),
                Some(base_url.elsewhere(self.kind).unwrap_or_else(|| {
                    "Check the address; a login page of the network may be in between.".into()
                })),
            ),
            500.. => (
                LinkState::Warning,
                format!("Answers with {status}: it has trouble of its own, or something in between has."),
                Some("Try again in a moment.".into()),
            ),
            _ => (LinkState::Good, format!("Answers with {status}."), None),
        };
        self.add("http", state, says, remedy);
        match state {
            LinkState::Bad => Err(Bad),
            _ => Ok(()),
        }
    }

    fn good(&mut self, link: &str, says: String) {
        self.add(link, LinkState::Good, says, None);
    }

    /// At the link that the failure names, which may be a later one than is tried now: those between were not.
    fn bad(&mut self, failure: &LinkFailure) -> Bad {
        let link = failure.link();
        while let Some(next) = LINKS.get(self.links.len()).filter(|next| **next != link) {
            self.add(next, LinkState::NotTried, "Not tried.".into(), None);
        }
        self.bad_at(link, failure)
    }

    fn bad_at(&mut self, link: &str, failure: &LinkFailure) -> Bad {
        self.add(link, LinkState::Bad, failure.says(), Some(failure.remedy()));
        Bad
    }

    /// A link that was good before failed at the request: it is the one to look at.
    fn bad_at_own_link(&mut self, failure: &LinkFailure) -> Bad {
        let took = millis(self.since);
        match self.links.iter_mut().find(|link| link.link == failure.link()) {
            Some(link) => {
                link.state = LinkState::Bad;
                link.says = failure.says();
                link.remedy = Some(failure.remedy());
                link.took = took;
                Bad
            }
            None => self.bad_at("http", failure),
        }
    }

    fn add(&mut self, link: &str, state: LinkState, says: String, remedy: Option<String>) {
        self.links.push(LinkTest {
            link: link.into(),
            state,
            says,
            remedy,
            took: millis(self.since),
        });
        self.since = Instant::now();
    }
}

fn millis(since: Instant) -> Millis {
    Millis(u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX))
}

enum Trouble {
    Handshake(TlsTrouble),
    Link(LinkFailure),
}

/// Version, issuer and expiry of what was agreed on.
async fn secured(way: &Way, target: &Target, stream: Stream, roots: Roots) -> Result<String, Trouble> {
    let (tap, heard) = HelloTap::new(stream);
    let stream = way
        .handshake(tap, &target.host, roots)
        .await
        .map_err(Trouble::Link)?
        .map_err(Trouble::Handshake)?;
    let version = version_in(&heard.lock().unwrap_or_else(PoisonError::into_inner)).unwrap_or("TLS");
    Ok(match peer_facts(&stream) {
        Some(CertificateFacts {
            issuer, valid_until, ..
        }) => {
            format!(
                "{version}, certificate by {issuer}, valid until {}.",
                day(valid_until)
            )
        }
        None => format!("{version}."),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_of_the_system_is_named_with_what_to_do() {
        let mut test = Test {
            links: Vec::new(),
            since: Instant::now(),
            kind: ProviderKind::Chat,
        };
        test.no_proxy(Direct::Script);
        let [link] = &test.links[..] else {
            panic!("{:?}", test.links);
        };
        assert_eq!((link.link.as_str(), link.state), ("proxy", LinkState::Warning));
        assert!(
            link.says.contains("PAC") && link.says.contains("does not run"),
            "{link:?}"
        );
        assert!(
            link.remedy
                .as_deref()
                .is_some_and(|remedy| remedy.contains("Settings, Network"))
        );
    }
}
