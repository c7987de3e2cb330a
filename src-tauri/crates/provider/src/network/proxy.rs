//! The address of a proxy as a person or a variable gives it. The password in it is never shown.

use super::target::at;
use crate::Secret;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::HeaderValue;
use paddock_protocol::{ClientError, ErrorCode};
use percent_encoding::percent_decode_str;
use std::fmt;
use url::Url;

const EXAMPLES: &str = "It looks like http://proxy.example.com:3128 or socks5h://127.0.0.1:1080";

/// A proxy: how it is spoken with, where it is, and how to sign in.
#[derive(Clone)]
pub struct ProxyAddress {
    pub(super) kind: ProxyKind,
    pub(super) host: String,
    pub(super) port: u16,
    login: Option<ProxyLogin>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProxyKind {
    Http,
    /// HTTP spoken through TLS with the proxy.
    Https,
    /// SOCKS 5, names are looked up here.
    Socks,
    /// SOCKS 5, names are looked up by the proxy.
    SocksByName,
}

/// What a proxy is told to let requests pass.
#[derive(Clone, Debug)]
pub struct ProxyLogin {
    pub user: String,
    pub password: Secret,
}

impl ProxyLogin {
    /// Reads `user:password`, as it is kept in the keyring; the first colon ends the user.
    pub fn of_pair(pair: &str) -> Self {
        let (user, password) = pair.split_once(':').unwrap_or((pair, ""));
        Self {
            user: user.to_owned(),
            password: Secret::new(password),
        }
    }

    /// `user:password`, to be kept in the keyring.
    pub fn pair(&self) -> String {
        format!("{}:{}", self.user, self.password.expose())
    }
}

impl ProxyAddress {
    /// Reads `http://`, `https://`, `socks5://` and `socks5h://`, with `user:password@` or without; nothing in front means
    /// `http://`. Errors say what is wrong and how it should look ([`ErrorCode::BadRequest`]), never with the password.
    pub fn parse(typed: &str) -> Result<Self, ClientError> {
        let typed = typed.trim();
        let wrong = |message: String| {
            Err(ClientError::new(ErrorCode::BadRequest, message).hint(format!("{EXAMPLES}.")))
        };
        if typed.is_empty() {
            return wrong("The address of the proxy is empty.".into());
        }
        if typed.chars().any(|c| c.is_whitespace() || c.is_control()) {
            return wrong("The address of the proxy contains blanks.".into());
        }
        let whole = match typed.contains("://") {
            true => typed.to_string(),
            false => format!("http://{typed}"),
        };
        let url = match Url::parse(&whole) {
            Ok(url) => url,
            Err(error) => return wrong(format!("The address of the proxy is not an address: {error}.")),
        };
        let (kind, port) = match url.scheme() {
            "http" => (ProxyKind::Http, 80),
            "https" => (ProxyKind::Https, 443),
            "socks5" => (ProxyKind::Socks, 1080),
            "socks5h" | "socks" => (ProxyKind::SocksByName, 1080),
            other => return wrong(format!("Paddock does not speak {other} with a proxy.")),
        };
        let host = url.host_str().unwrap_or_default();
        let host = host.trim_start_matches('[').trim_end_matches(']');
        if host.is_empty() {
            return wrong("The address of the proxy names no host.".into());
        }
        if !matches!(url.path(), "" | "/") || url.query().is_some() || url.fragment().is_some() {
            return wrong("The address of the proxy goes on after the port.".into());
        }
        let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
        let login = (!url.username().is_empty() || url.password().is_some()).then(|| ProxyLogin {
            user: decoded(url.username()),
            password: Secret::new(decoded(url.password().unwrap_or_default())),
        });
        Ok(Self {
            kind,
            host: host.to_string(),
            port: url.port().unwrap_or(port),
            login,
        })
    }

    /// An address as it was typed, without the login in it.
    pub fn without_login(typed: &str) -> String {
        let typed = typed.trim();
        let (scheme, rest) = match typed.find("://") {
            Some(end) => typed.split_at(end + 3),
            None => ("", typed),
        };
        let rest = rest.rsplit_once('@').map_or(rest, |(_, rest)| rest);
        format!("{scheme}{rest}")
    }

    /// The same proxy with this login in place of the one in the address.
    pub fn with_login(mut self, login: Option<ProxyLogin>) -> Self {
        self.login = login;
        self
    }

    /// The login that the address held, so that it can be kept where secrets are kept.
    pub fn login(&self) -> Option<&ProxyLogin> {
        self.login.as_ref()
    }

    /// Host and port.
    pub(crate) fn at(&self) -> String {
        at(&self.host, self.port)
    }

    pub(crate) fn looks_names_up_here(&self) -> bool {
        self.kind == ProxyKind::Socks
    }

    /// Whether HTTP is spoken with it.
    pub(crate) fn speaks_http(&self) -> bool {
        matches!(self.kind, ProxyKind::Http | ProxyKind::Https)
    }

    /// The header that signs in at a proxy that speaks HTTP.
    pub(crate) fn authorization(&self) -> Option<HeaderValue> {
        let login = self.login.as_ref()?;
        let pair = format!("{}:{}", login.user, login.password.expose());
        let mut value = HeaderValue::from_str(&format!("Basic {}", STANDARD.encode(pair))).ok()?;
        value.set_sensitive(true);
        Some(value)
    }

    /// The text without the password, should the proxy have repeated it.
    pub(crate) fn mask_in(&self, text: &str) -> String {
        match &self.login {
            Some(login) => login.password.mask_in(text),
            None => text.to_string(),
        }
    }
}

/// The address without user and password.
impl fmt::Display for ProxyAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = match self.kind {
            ProxyKind::Http => "http",
            ProxyKind::Https => "https",
            ProxyKind::Socks => "socks5",
            ProxyKind::SocksByName => "socks5h",
        };
        write!(f, "{scheme}://{}", self.at())
    }
}

impl fmt::Debug for ProxyAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ProxyAddress({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_proxies_are_read() {
        for (typed, shown) in [
            ("proxy.example.com:3128", "http://proxy.example.com:3128"),
            (" http://proxy.example.com/ ", "http://proxy.example.com:80"),
            ("https://proxy.example.com", "https://proxy.example.com:443"),
            ("socks5://[::1]:9050", "socks5://[::1]:9050"),
            ("SOCKS5H://proxy", "socks5h://proxy:1080"),
            ("socks://proxy", "socks5h://proxy:1080"),
            ("http://anna:geheim@proxy:8080", "http://proxy:8080"),
        ] {
            let address = ProxyAddress::parse(typed).unwrap();
            assert_eq!(address.to_string(), shown, "{typed}");
            assert!(!format!("{address:?}").contains("geheim"));
        }
    }

    #[test]
    fn a_login_is_decoded_and_sent_as_the_protocol_says() {
        let address = ProxyAddress::parse("http://Aladdin:open%20ses%40me@proxy:8080").unwrap();
        assert_eq!(address.login().unwrap().user, "Aladdin");
        let header = address.authorization().unwrap();
        assert_eq!(header.to_str().unwrap(), "Basic QWxhZGRpbjpvcGVuIHNlc0BtZQ==");
        assert!(header.is_sensitive());
        assert_eq!(address.mask_in("no open ses@me here"), "no … here");
        assert!(address.with_login(None).authorization().is_none());
    }

    #[test]
    fn a_login_is_taken_out_of_an_address_and_kept_as_a_pair() {
        for (typed, without) in [
            ("http://anna:ge%40h:eim@proxy:8080", "http://proxy:8080"),
            (" anna:geheim@proxy:3128 ", "proxy:3128"),
            ("socks5h://a@b@[::1]:1080/", "socks5h://[::1]:1080/"),
            ("proxy:3128", "proxy:3128"),
        ] {
            let address = ProxyAddress::parse(typed).unwrap();
            assert_eq!(ProxyAddress::without_login(typed), without);
            let bare = ProxyAddress::parse(without).unwrap();
            assert_eq!(bare.to_string(), address.to_string());
            assert!(bare.login().is_none());
            let Some(login) = address.login() else { continue };
            let read = ProxyLogin::of_pair(&login.pair());
            assert_eq!(
                (&read.user, read.password.expose()),
                (&login.user, login.password.expose())
            );
        }
    }

    #[test]
    fn what_is_wrong_with_an_address_is_named_without_the_password() {
        for (typed, message) in [
            ("", "is empty"),
            ("http://pro xy:1", "contains blanks"),
            ("socks4://proxy:1080", "does not speak socks4"),
            ("http://a:geheim@proxy:99999", "not an address"),
            ("http://a:geheim@proxy:80/path", "goes on after the port"),
            ("http://", "not an address"),
            ("socks5://", "names no host"),
        ] {
            let error = ProxyAddress::parse(typed).unwrap_err();
            assert!(error.message.contains(message), "{typed}: {error}");
            assert!(error.to_string().contains("http://proxy.example.com:3128"));
            assert!(!error.to_string().contains("geheim"));
        }
    }
}
