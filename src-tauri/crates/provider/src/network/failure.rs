//! A link of the way that failed: which one, what is so, what to do.

use super::certificate::Distrust;
use paddock_protocol::ClientError;

/// Why there is no connection.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum LinkFailure {
    #[error("offline by the settings")]
    Offline,
    /// A setting that cannot be read, and the link that it is for.
    #[error("{error}")]
    Settings { link: &'static str, error: ClientError },
    #[error("name {host}: {why}")]
    Name { host: String, why: String },
    #[error("{at}: connection refused")]
    Refused { at: String },
    #[error("{at}: {why}")]
    Unreachable { at: String, why: String },
    #[error("{at}: nothing within {} s", super::LINK_LIMIT.as_secs())]
    Slow { at: String, link: &'static str },
    #[error("certificate of {}: {}", .0.host, .0.words)]
    Certificate(Box<Distrust>),
    #[error("TLS with {at}: {why}")]
    Tls { at: String, why: String },
    /// Closed while TLS was being agreed on.
    #[error("TLS with {at}: {why}")]
    Dropped { at: String, why: String },
    #[error("proxy {proxy}: {why}")]
    Proxy { proxy: String, why: ProxyFailure },
}

/// What went wrong with a proxy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ProxyFailure {
    #[error("{0}")]
    Way(Box<LinkFailure>),
    /// It wants a login, or another one.
    #[error("sign-in {}, offered: {offered}", if *.given { "refused" } else { "wanted" })]
    Login {
        given: bool,
        /// Ways to sign in that it names, as they are called in HTTP; empty for SOCKS.
        offered: String,
    },
    /// It understood and did not do it.
    #[error("{words}")]
    Denied { target: String, words: String },
    /// It allowed the connection, and could not make it.
    #[error("{target} not reached: {words}")]
    Target { target: String, words: String },
    /// It does not speak what the address says.
    #[error("{0}")]
    Language(String),
}

impl LinkFailure {
    /// The link of the connection test: `address`, `name`, `tcp`, `proxy` or `tls`.
    pub fn link(&self) -> &'static str {
        match self {
            Self::Offline => "address",
            Self::Settings { link, .. } => link,
            Self::Proxy { .. } => "proxy",
            Self::Name { .. } => "name",
            Self::Slow { link, .. } => link,
            Self::Refused { .. } | Self::Unreachable { .. } => "tcp",
            Self::Certificate(_) | Self::Tls { .. } | Self::Dropped { .. } => "tls",
        }
    }

    /// Whether the same may go well in a moment.
    pub fn may_pass(&self) -> bool {
        match self {
            Self::Offline | Self::Settings { .. } | Self::Certificate(_) | Self::Tls { .. } => false,
            Self::Name { .. }
            | Self::Refused { .. }
            | Self::Unreachable { .. }
            | Self::Slow { .. }
            | Self::Dropped { .. } => true,
            Self::Proxy { why, .. } => match why {
                ProxyFailure::Way(failure) => failure.may_pass(),
                ProxyFailure::Target { .. } => true,
                ProxyFailure::Login { .. } | ProxyFailure::Denied { .. } | ProxyFailure::Language(_) => false,
            },
        }
    }

    /// What is so, one sentence.
    pub fn says(&self) -> String {
        match self {
            Self::Offline => "Paddock is set to stay offline: only servers on this machine are asked.".into(),
            Self::Settings { error, .. } => error.message.clone(),
            Self::Name { host, .. } => format!("No connection: the name {host} was not found."),
            Self::Refused { at } => format!("{at} refused the connection."),
            Self::Unreachable { at, .. } => format!("There is no way to {at} from this machine."),
            Self::Slow { at, link: "tls" } => format!(
                "{at} did not secure the connection within {} seconds.",
                super::LINK_LIMIT.as_secs()
            ),
            Self::Slow { at, .. } => format!(
                "No connection to {at} within {} seconds.",
                super::LINK_LIMIT.as_secs()
            ),
            Self::Certificate(distrust) => distrust.says(),
            Self::Tls { at, .. } => format!("{at} does not speak TLS as it should."),
            Self::Dropped { at, .. } => format!("{at} closed the connection before it was secured."),
            Self::Proxy { proxy, why } => why.says(proxy),
        }
    }

    /// What to do.
    pub fn remedy(&self) -> String {
        match self {
            Self::Offline => "Switch it off under Settings, Network, or choose a local model.".into(),
            Self::Settings { error, .. } => error
                .hint
                .clone()
                .unwrap_or_else(|| "Correct it under Settings, Network.".into()),
            Self::Name { .. } => {
                "Check the network and the address; a company network may want a proxy.".into()
            }
            Self::Refused { .. } => "Check the address, and whether the server is up.".into(),
            Self::Unreachable { .. } => "Check whether this machine has a network.".into(),
            Self::Slow { link: "tls", .. } => {
                "The server took the connection and did not speak TLS: check port and beginning of the address (http://, https://)."
                    .into()
            }
            Self::Slow { .. } => "Check the network, a proxy or firewall, and the address.".into(),
            Self::Certificate(distrust) => distrust.remedy(),
            Self::Dropped { .. } => {
                "Try again; if it stays so, a firewall may be in between, or the network may want a proxy.".into()
            }
            Self::Tls { .. } => {
                "Check the address: a server without TLS is written http://, and a firewall may be in between."
                    .into()
            }
            Self::Proxy { why, .. } => why.remedy(),
        }
    }
}

const EDIT: &str = "Correct the proxy under Settings, Network, or try without one.";

impl ProxyFailure {
    fn says(&self, proxy: &str) -> String {
        match self {
            Self::Way(failure) => match failure.as_ref() {
                LinkFailure::Name { .. } => {
                    format!("The proxy does not answer: the name of {proxy} was not found.")
                }
                LinkFailure::Refused { .. } => {
                    format!("The proxy does not answer: {proxy} refused the connection.")
                }
                LinkFailure::Certificate(_) | LinkFailure::Tls { .. } => {
                    format!(
                        "The connection to the proxy {proxy} is not safe. {}",
                        failure.says()
                    )
                }
                _ => format!("The proxy does not answer: {proxy}."),
            },
            Self::Login { given: true, .. } => {
                format!("The proxy {proxy} refused the user name or the password.")
            }
            Self::Login { given: false, .. } => {
                format!("The proxy {proxy} wants a user name and a password.")
            }
            Self::Denied { target, words } => {
                format!("The proxy {proxy} does not let requests to {target} pass: {words}.")
            }
            Self::Target { target, words } => format!("The proxy {proxy} did not reach {target}: {words}."),
            Self::Language(_) => format!("{proxy} does not answer as a proxy of this kind."),
        }
    }

    fn remedy(&self) -> String {
        match self {
            Self::Way(failure) => match failure.as_ref() {
                LinkFailure::Certificate(_) => failure.remedy(),
                _ => EDIT.into(),
            },
            Self::Login { offered, .. } => match offered.is_empty() || offered.to_lowercase().contains("basic") {
                true => "Write them into the address of the proxy: http://user:password@host:port, under Settings, Network."
                    .into(),
                false => format!(
                    "It takes {offered} only, which Paddock does not speak: a small local proxy such as Px or Cntlm signs in \
                     for it, and its address goes under Settings, Network."
                ),
            },
            Self::Denied { .. } => {
                "Ask those who run the proxy to allow this host, or list it as reached without proxy under Settings, Network."
                    .into()
            }
            Self::Target { .. } => "Check the address of the model server; the proxy itself answers.".into(),
            Self::Language(_) => {
                "Check host, port and the beginning of the proxy's address (http://, https://, socks5h://) under Settings, Network."
                    .into()
            }
        }
    }
}
