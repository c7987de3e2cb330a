//! Through a proxy to a target: HTTP `CONNECT` and SOCKS 5.

use super::failure::ProxyFailure;
use super::proxy::ProxyKind;
use super::way::Stream;
use super::{LINK_LIMIT, LinkFailure, ProxyAddress, Target, resolve};
use http::header::{PROXY_AUTHENTICATE, PROXY_AUTHORIZATION};
use http::{HeaderMap, HeaderName, HeaderValue};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;
use tokio_socks::Error as SocksError;
use tokio_socks::tcp::Socks5Stream;

/// Bytes of a proxy's answer to `CONNECT`; more is no proxy.
const ANSWER_LIMIT: usize = 16 * 1024;
/// Characters of a proxy's own words.
const WORDS_LIMIT: usize = 120;

/// Asks the proxy at the other end of `stream` to connect. What comes back is a stream to the target.
pub(crate) async fn open(
    mut stream: Stream,
    proxy: &ProxyAddress,
    target: &Target,
) -> Result<Stream, LinkFailure> {
    let failed = |why| LinkFailure::Proxy {
        proxy: proxy.at(),
        why,
    };
    let slow = || {
        failed(ProxyFailure::Way(Box::new(LinkFailure::Slow {
            at: proxy.at(),
            link: "proxy",
        })))
    };
    match proxy.kind {
        ProxyKind::Http | ProxyKind::Https => {
            timeout(LINK_LIMIT, connect(&mut stream, proxy, target))
                .await
                .map_err(|_| slow())?
                .map_err(failed)?;
            Ok(stream)
        }
        ProxyKind::Socks => {
            let addresses = resolve(&target.host, target.port).await?;
            let address = addresses.first().copied().ok_or_else(slow)?;
            let opened = timeout(LINK_LIMIT, socks(stream, proxy, address)).await;
            opened
                .map_err(|_| slow())?
                .map_err(|error| failed(meaning(error, proxy, target)))
        }
        ProxyKind::SocksByName => {
            let name = (target.host.as_str(), target.port);
            let opened = timeout(LINK_LIMIT, socks(stream, proxy, name)).await;
            opened
                .map_err(|_| slow())?
                .map_err(|error| failed(meaning(error, proxy, target)))
        }
    }
}

async fn connect(stream: &mut Stream, proxy: &ProxyAddress, target: &Target) -> Result<(), ProxyFailure> {
    let broken = |error: std::io::Error| ProxyFailure::Language(error.to_string());
    let mut request = format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n").into_bytes();
    if let Some(value) = proxy.authorization() {
        request.extend_from_slice(format!("{PROXY_AUTHORIZATION}: ").as_bytes());
        request.extend_from_slice(value.as_bytes());
        request.extend_from_slice(b"\r\n");
    }
    request.extend_from_slice(b"\r\n");
    stream.write_all(&request).await.map_err(broken)?;
    stream.flush().await.map_err(broken)?;
    // Byte by byte at the end: what follows the head belongs to the target.
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        if head.len() > ANSWER_LIMIT {
            return Err(ProxyFailure::Language("an answer without end".into()));
        }
        match stream.read_u8().await {
            Ok(byte) => head.push(byte),
            Err(error) => return Err(broken(error)),
        }
    }
    let head = String::from_utf8_lossy(&head);
    let Some((status, words)) = status_line(&head) else {
        return Err(ProxyFailure::Language("an answer that is not HTTP".into()));
    };
    let words = proxy.mask_in(&words);
    match status {
        200..=299 => Ok(()),
        407 => Err(login_wanted(proxy, &headers(&head))),
        502..=504 => Err(ProxyFailure::Target {
            target: target.to_string(),
            words,
        }),
        _ => Err(ProxyFailure::Denied {
            target: target.to_string(),
            words,
        }),
    }
}

/// What a 407 means.
pub(crate) fn login_wanted(proxy: &ProxyAddress, headers: &HeaderMap) -> ProxyFailure {
    let mut offered: Vec<&str> = headers
        .get_all(PROXY_AUTHENTICATE)
        .iter()
        .filter_map(|value| value.to_str().ok()?.split([' ', ',']).next())
        .filter(|scheme| !scheme.is_empty() && scheme.len() < 20)
        .collect();
    offered.dedup();
    ProxyFailure::Login {
        given: proxy.login().is_some(),
        offered: offered.join(", "),
    }
}

fn status_line(head: &str) -> Option<(u16, String)> {
    let line = head.lines().next()?;
    let rest = line.strip_prefix("HTTP/1.").and_then(|rest| rest.get(2..))?;
    let status = rest.get(..3)?.parse().ok()?;
    let words = rest
        .chars()
        .filter(|c| !c.is_control())
        .take(WORDS_LIMIT)
        .collect();
    Some((status, words))
}

fn headers(head: &str) -> HeaderMap {
    let lines = head.lines().skip(1).filter_map(|line| line.split_once(':'));
    lines
        .filter_map(|(name, value)| {
            let name = HeaderName::from_bytes(name.trim().as_bytes()).ok()?;
            Some((name, HeaderValue::from_str(value.trim()).ok()?))
        })
        .fold(HeaderMap::new(), |mut map, (name, value)| {
            map.append(name, value);
            map
        })
}

async fn socks<'a, T>(stream: Stream, proxy: &ProxyAddress, target: T) -> Result<Stream, SocksError>
where
    T: tokio_socks::IntoTargetAddr<'a>,
{
    let opened = match proxy.login() {
        Some(login) => {
            Socks5Stream::connect_with_password_and_socket(
                stream,
                target,
                &login.user,
                login.password.expose(),
            )
            .await?
        }
        None => Socks5Stream::connect_with_socket(stream, target).await?,
    };
    Ok(opened.into_inner())
}

fn meaning(error: SocksError, proxy: &ProxyAddress, target: &Target) -> ProxyFailure {
    use SocksError::*;
    let target = target.to_string();
    let words = error.to_string();
    match error {
        NoAcceptableAuthMethods | PasswordAuthFailure(_) | InvalidAuthValues(_) => ProxyFailure::Login {
            given: proxy.login().is_some(),
            offered: String::new(),
        },
        ConnectionNotAllowedByRuleset => ProxyFailure::Denied { target, words },
        GeneralSocksServerFailure
        | NetworkUnreachable
        | HostUnreachable
        | ConnectionRefused
        | TtlExpired
        | AddressTypeNotSupported => ProxyFailure::Target { target, words },
        _ => ProxyFailure::Language(words),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_line_is_read_or_it_is_none() {
        assert_eq!(
            status_line("HTTP/1.0 403 Forbidden by policy\r\n"),
            Some((403, "403 Forbidden by policy".into()))
        );
        assert_eq!(status_line("HTTP/1.1 200\r\n"), Some((200, "200".into())));
        for other in ["", "SSH-2.0-OpenSSH", "HTTP/1.1 abc", "HTTP/1.1"] {
            assert_eq!(status_line(other), None, "{other}");
        }
    }

    #[test]
    fn the_ways_to_sign_in_are_listed() {
        let head =
            "HTTP/1.1 407 x\r\nProxy-Authenticate: Negotiate\r\nproxy-authenticate: NTLM realm=\"x\"\r\n\r\n";
        let proxy = ProxyAddress::parse("proxy:1").unwrap();
        let failure = LinkFailure::Proxy {
            proxy: proxy.at(),
            why: login_wanted(&proxy, &headers(head)),
        };
        assert!(
            failure.remedy().contains("Negotiate, NTLM"),
            "{}",
            failure.remedy()
        );
    }
}
