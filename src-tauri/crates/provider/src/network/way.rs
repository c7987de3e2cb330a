//! The way to a target as it is set: one configuration, from the choice of the proxy to the handshake.

use super::certificate::{CertificateFacts, Distrust};
use super::failure::ProxyFailure;
use super::has_proxy_script;
use super::proxies::{Choice, Proxies};
use super::proxy::ProxyKind;
use super::trust::Trust;
use super::{Direct, LINK_LIMIT, LinkFailure, NetworkConfig, ProxyAddress, Roots, Target, Variables};
use super::{connect, resolve, tunnel};
use paddock_protocol::ClientError;
use std::time::SystemTime;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;
use tokio_native_tls::TlsStream;

/// A connection, whatever it is made of.
pub(crate) type Stream = Box<dyn Duplex>;

pub(crate) trait Duplex: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Duplex for S {}

/// One configuration of the network, with what was prepared for it.
pub(crate) struct Way {
    /// Settings that cannot be read lead nowhere but to this machine.
    proxies: Result<Proxies, ClientError>,
    trust: Trust,
    offline: bool,
}

impl Way {
    pub fn new(config: Result<NetworkConfig, ClientError>, variables: &Variables) -> Self {
        let variable = variables("SSL_CERT_FILE");
        match config {
            Ok(config) => Self {
                trust: Trust::new(config.certificate, variable),
                offline: config.offline,
                proxies: Ok(Proxies::new(config.proxy, variables)),
            },
            Err(error) => Self {
                trust: Trust::new(None, variable),
                offline: false,
                proxies: Err(error),
            },
        }
    }

    /// Why a target is reached directly, with what only the desktop can tell. Asks it, so this is for tests of the way.
    pub async fn direct(&self, why: Direct) -> Direct {
        let asks = matches!(&self.proxies, Ok(proxies) if proxies.asks_the_system());
        match why {
            Direct::NoProxy if asks && has_proxy_script().await => Direct::Script,
            why => why,
        }
    }

    pub async fn extra_certificates(&self) -> Result<Vec<CertificateFacts>, ClientError> {
        self.trust.extra().await
    }

    /// The certificates themselves, in DER.
    pub async fn extra_roots(&self) -> Result<Vec<Vec<u8>>, ClientError> {
        self.trust.extra_roots().await
    }

    pub fn has_extra_certificates(&self) -> bool {
        self.trust.has_files()
    }

    /// Direct or through a proxy. Fails when the target must not be asked, or when the setting that decides is unreadable.
    pub fn choose(&self, target: &Target) -> Result<Choice, LinkFailure> {
        if self.offline && !target.is_loopback() {
            return Err(LinkFailure::Offline);
        }
        match &self.proxies {
            Ok(proxies) => proxies.choose(target).map_err(|error| unreadable("proxy", error)),
            Err(_) if target.is_loopback() => Ok(Choice::Direct(Direct::Loopback)),
            Err(error) => Err(unreadable("proxy", error.clone())),
        }
    }

    /// A connection on which HTTP can be spoken with the target.
    pub async fn open(&self, target: &Target) -> Result<Stream, LinkFailure> {
        let choice = self.choose(target)?;
        let stream = self.socket(&choice, target).await?;
        if !target.secure {
            return Ok(stream);
        }
        match self.handshake(stream, &target.host, Roots::All).await? {
            Ok(stream) => Ok(Box::new(stream)),
            Err(error) => Err(self.distrust(&choice, target, &error).await),
        }
    }

    /// Everything before TLS: a stream to the target, or to a proxy that passes `http://` requests on itself.
    pub async fn socket(&self, choice: &Choice, target: &Target) -> Result<Stream, LinkFailure> {
        match choice {
            Choice::Direct(_) => {
                let addresses = resolve(&target.host, target.port).await?;
                Ok(Box::new(connect(&target.host, &addresses).await?))
            }
            Choice::Proxy { address, .. } => {
                let stream = self.reach(address).await?;
                match address.speaks_http() && !target.secure {
                    true => Ok(stream),
                    false => tunnel::open(stream, address, target).await,
                }
            }
        }
    }

    /// TLS with `host` over a stream. The outer error is one of the settings, the inner one of the handshake.
    pub async fn handshake<S: Duplex>(
        &self,
        stream: S,
        host: &str,
        roots: Roots,
    ) -> Result<Result<TlsStream<S>, TlsTrouble>, LinkFailure> {
        let connector = self
            .trust
            .connector(roots)
            .await
            .map_err(|error| unreadable("tls", error))?;
        Ok(match timeout(LINK_LIMIT, connector.connect(host, stream)).await {
            Ok(Ok(stream)) => Ok(stream),
            Ok(Err(error)) if was_closed(&error) => Err(TlsTrouble::Closed(chain(&error))),
            Ok(Err(error)) => Err(TlsTrouble::Refused(chain(&error))),
            Err(_) => Err(TlsTrouble::Slow),
        })
    }

    /// Why a handshake failed. Whether it is the certificate, and what it says, shows a second connection that accepts any
    /// certificate and is closed before a byte of a request.
    pub async fn distrust(&self, choice: &Choice, target: &Target, trouble: &TlsTrouble) -> LinkFailure {
        match self.socket(choice, target).await {
            Ok(stream) => self.distrust_of(stream, target, trouble).await,
            Err(failure) => failure,
        }
    }

    async fn distrust_of(&self, stream: Stream, target: &Target, trouble: &TlsTrouble) -> LinkFailure {
        let words = match trouble {
            TlsTrouble::Slow => {
                return LinkFailure::Slow {
                    at: target.to_string(),
                    link: "tls",
                };
            }
            TlsTrouble::Closed(words) => {
                return LinkFailure::Dropped {
                    at: target.to_string(),
                    why: words.clone(),
                };
            }
            TlsTrouble::Refused(words) => words.clone(),
        };
        match self.handshake(stream, &target.host, Roots::Unchecked).await {
            Ok(Ok(stream)) => LinkFailure::Certificate(Box::new(Distrust::new(
                &target.host,
                peer_facts(&stream),
                words,
                SystemTime::now(),
            ))),
            Ok(Err(_)) => LinkFailure::Tls {
                at: target.to_string(),
                why: words,
            },
            Err(failure) => failure,
        }
    }

    /// A connection to the proxy itself.
    pub async fn reach(&self, proxy: &ProxyAddress) -> Result<Stream, LinkFailure> {
        self.reach_plainly(proxy).await.map_err(|failure| match failure {
            LinkFailure::Settings { .. } => failure,
            failure => LinkFailure::Proxy {
                proxy: proxy.at(),
                why: ProxyFailure::Way(Box::new(failure)),
            },
        })
    }

    async fn reach_plainly(&self, proxy: &ProxyAddress) -> Result<Stream, LinkFailure> {
        let socket = async || {
            let addresses = resolve(&proxy.host, proxy.port).await?;
            connect(&proxy.host, &addresses).await
        };
        let stream = socket().await?;
        if proxy.kind != ProxyKind::Https {
            return Ok(Box::new(stream));
        }
        match self.handshake(stream, &proxy.host, Roots::All).await? {
            Ok(stream) => Ok(Box::new(stream)),
            Err(trouble) => {
                let itself = Target {
                    secure: true,
                    host: proxy.host.clone(),
                    port: proxy.port,
                };
                Err(self
                    .distrust_of(Box::new(socket().await?), &itself, &trouble)
                    .await)
            }
        }
    }
}

/// Why there is no TLS on a stream.
#[derive(Clone, Debug)]
pub(crate) enum TlsTrouble {
    Slow,
    /// The socket's words.
    Closed(String),
    /// The TLS library's words.
    Refused(String),
}

fn unreadable(link: &'static str, error: ClientError) -> LinkFailure {
    LinkFailure::Settings { link, error }
}

/// Whether the connection ended, which says nothing of certificates.
fn was_closed(error: &(dyn std::error::Error + 'static)) -> bool {
    use std::io::ErrorKind::*;
    let mut cause = Some(error);
    while let Some(error) = cause {
        let kind = error.downcast_ref::<std::io::Error>().map(std::io::Error::kind);
        if matches!(
            kind,
            Some(ConnectionReset | ConnectionAborted | BrokenPipe | UnexpectedEof | TimedOut)
        ) {
            return true;
        }
        cause = error.source();
    }
    // The words of OpenSSL for an end without a message.
    error.to_string().contains("unexpected EOF")
}

/// What the other side's certificate says.
pub(crate) fn peer_facts<S: Duplex>(stream: &TlsStream<S>) -> Option<CertificateFacts> {
    let certificate = stream.get_ref().peer_certificate().ok().flatten()?;
    CertificateFacts::read(&certificate.to_der().ok()?)
}

/// The error and its causes in one line, each once.
pub(crate) fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let words = error.to_string();
        if !text.contains(&words) {
            text.push_str(": ");
            text.push_str(&words);
        }
        cause = error.source();
    }
    text
}
