//! The way from this machine to a model server: proxy, name, socket, TLS.
//!
//! The wall stands here so that requests and the connection test go the same way by the same code: a test that found its own way
//! would tell a different story. Each step fails as the link that it is, with what to do. A faulty setting stops requests to
//! other machines; nothing ever goes out directly because a proxy could not be understood. Deliberately absent: HTTP itself.

mod certificate;
mod connect;
mod exceptions;
mod failure;
mod hello;
mod proxies;
mod proxy;
mod script;
mod system;
mod target;
mod trust;
mod tunnel;
mod way;

pub use certificate::CertificateFacts;
pub use exceptions::Exceptions;
pub use proxy::{ProxyAddress, ProxyLogin};

pub(crate) use certificate::day;
pub(crate) use connect::{connect, resolve};
pub(crate) use failure::LinkFailure;
pub(crate) use hello::{HelloTap, version_in};
pub(crate) use proxies::{Choice, Direct};
pub(crate) use script::is_set as has_proxy_script;
pub(crate) use target::Target;
pub(crate) use trust::Roots;
pub(crate) use tunnel::{login_wanted, open as open_tunnel};
pub(crate) use way::{Stream, TlsTrouble, Way, chain, peer_facts};

use paddock_protocol::{ClientError, ErrorCode, NetworkSettings, ProxySetting};
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;
use url::Url;

/// Time for each step of the way: the name, the socket, the proxy's answer, TLS.
pub(crate) const LINK_LIMIT: Duration = Duration::from_secs(10);

/// How model servers on other machines are reached.
#[derive(Clone, Debug, Default)]
pub struct NetworkConfig {
    pub proxy: ProxyChoice,
    /// File with certificates that are trusted beside those of the system: PEM with one or many, or a single binary one.
    pub certificate: Option<PathBuf>,
    /// Only servers on this machine are asked.
    pub offline: bool,
}

#[derive(Clone, Debug, Default)]
pub enum ProxyChoice {
    /// `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY`; where none is set, the settings of Windows and macOS.
    #[default]
    System,
    None,
    Own {
        address: ProxyAddress,
        except: Exceptions,
    },
}

impl NetworkConfig {
    /// Reads the settings. Errors say which one is wrong, why, and how it should look.
    pub fn of(settings: &NetworkSettings) -> Result<Self, ClientError> {
        Ok(Self {
            proxy: match &settings.proxy {
                ProxySetting::System => ProxyChoice::System,
                ProxySetting::None => ProxyChoice::None,
                ProxySetting::Own { address, except, .. } => ProxyChoice::Own {
                    address: ProxyAddress::parse(address)?,
                    except: Exceptions::parse(except)?,
                },
            },
            certificate: settings
                .certificate
                .as_deref()
                .filter(|file| !file.trim().is_empty())
                .map(PathBuf::from),
            offline: settings.offline,
        })
    }

    /// With this login at the person's own proxy, where none is in its address.
    pub fn signed_in(mut self, login: Option<ProxyLogin>) -> Self {
        if let (ProxyChoice::Own { address, .. }, Some(login)) = (&mut self.proxy, login)
            && address.login().is_none()
        {
            *address = address.clone().with_login(Some(login));
        }
        self
    }

    /// Reads the extra certificate file and gives what is in it; nothing when none is set. Errors say what is wrong with it.
    pub async fn certificates(&self) -> Result<Vec<CertificateFacts>, ClientError> {
        trust::Trust::new(self.certificate.clone(), None).extra().await
    }
}

/// The way to one address.
#[derive(Clone, Debug)]
pub struct Route {
    pub proxy: Option<ProxyAddress>,
    /// Certificates (DER) that are trusted beside those of the system.
    pub certificates: Vec<Vec<u8>>,
}

/// Looks an environment variable up.
pub type Variables = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// The network as it is set now, shared by everything that sends. A change takes effect with the next request.
#[derive(Clone)]
pub struct Network {
    way: Arc<RwLock<Arc<Way>>>,
    variables: Variables,
}

impl Network {
    pub fn new(config: NetworkConfig) -> Self {
        Self::with_variables(config, Arc::new(|name| std::env::var(name).ok()))
    }

    /// With other environment variables than those of the process.
    pub fn with_variables(config: NetworkConfig, variables: Variables) -> Self {
        Self {
            way: Arc::new(RwLock::new(Arc::new(Way::new(Ok(config), &variables)))),
            variables,
        }
    }

    pub fn change(&self, config: NetworkConfig) {
        self.set(Ok(config));
    }

    /// Takes the settings, and the login of the person's own proxy. Those that cannot be read are an error here and of every request to another machine, until better
    /// ones come: a proxy that was asked for is never left out in silence.
    pub fn apply(&self, settings: &NetworkSettings, login: Option<ProxyLogin>) -> Result<(), ClientError> {
        let config = NetworkConfig::of(settings).map(|config| config.signed_in(login));
        let result = config.as_ref().map(|_| ()).map_err(Clone::clone);
        self.set(config);
        result
    }

    /// What is in the extra certificate files, the one of the settings and the one of `SSL_CERT_FILE`. Reads them.
    pub async fn extra_certificates(&self) -> Result<Vec<CertificateFacts>, ClientError> {
        self.current().extra_certificates().await
    }

    /// How an address on the web is reached, for whoever asks for it by other means. Errors say why it must not be asked.
    pub async fn route(&self, address: &str) -> Result<Route, ClientError> {
        let way = self.current();
        let refused =
            |message: &str, hint: String| ClientError::new(ErrorCode::BadRequest, message).hint(hint);
        let told = |failure: LinkFailure| match failure {
            LinkFailure::Offline => refused(
                "Paddock is set to stay offline, so nothing on another machine is asked for.",
                "The person can switch it off under Settings, Network.".into(),
            ),
            failure => refused(&failure.says(), failure.remedy()),
        };
        let url = Url::parse(address).ok();
        let target = url
            .as_ref()
            .and_then(|url| Target::new(url.scheme(), url.host_str()?, url.port()));
        let target = target.ok_or_else(|| {
            refused(
                "The address names no host.",
                "Write it as https://example.com/.".into(),
            )
        })?;
        Ok(Route {
            proxy: match way.choose(&target).map_err(told)? {
                Choice::Direct(_) => None,
                Choice::Proxy { address, .. } => Some(address),
            },
            certificates: way.extra_roots().await?,
        })
    }

    pub(crate) fn current(&self) -> Arc<Way> {
        Arc::clone(&self.way.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn set(&self, config: Result<NetworkConfig, ClientError>) {
        let way = Arc::new(Way::new(config, &self.variables));
        *self.way.write().unwrap_or_else(PoisonError::into_inner) = way;
    }
}

impl Default for Network {
    fn default() -> Self {
        Self::new(NetworkConfig::default())
    }
}

impl std::fmt::Debug for Network {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Network")
    }
}
