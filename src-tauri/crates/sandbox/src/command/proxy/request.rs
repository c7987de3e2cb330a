//! What a program asks of the proxy: the first bytes of a connection, read into a target or refused. Pure text. Everything
//! here was written by a command and is believed in nothing.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

const MAX_LINE_SHOWN: usize = 2048;
/// Headers between a client and its proxy; the server gets none of them.
const BETWEEN: &[&str] = &[
    "connection",
    "host",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "upgrade",
];

/// A request that the proxy understands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Request {
    /// Bytes both ways.
    Tunnel { host: String, port: u16 },
    /// One plain request, written anew for its server.
    Plain {
        host: String,
        port: u16,
        /// Method and address, for the person.
        shown: String,
        head: String,
    },
}

/// Reads the head of an HTTP request, without its empty line; none when it is not one for a proxy.
pub(super) fn read(head: &[u8]) -> Option<Request> {
    let text = std::str::from_utf8(head).ok()?;
    let mut lines = text.split("\r\n");
    let first = lines.next()?;
    if !first.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ') {
        return None;
    }
    let mut words = first.split(' ');
    let (method, address, version) = (words.next()?, words.next()?, words.next()?);
    if words.next().is_some() || !is_token(method) || !matches!(version, "HTTP/1.1" | "HTTP/1.0") {
        return None;
    }
    if method == "CONNECT" {
        let (host, port) = authority(address, None)?;
        return Some(Request::Tunnel { host, port });
    }
    let (scheme, rest) = address.split_once("://")?;
    if !scheme.eq_ignore_ascii_case("http") {
        return None;
    }
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (named, path) = rest.split_at(end);
    // Names and passwords in an address belong into a header, where programs put them.
    let named = named.rsplit_once('@').map_or(named, |(_, host)| host);
    let (host, port) = authority(named, Some(80))?;
    let path = path.split('#').next().unwrap_or_default();
    let path = if path.starts_with('/') {
        path.to_owned()
    } else {
        format!("/{path}")
    };
    let at = written(&host, port, 80);
    let mut shown = format!("{method} http://{at}{path}");
    shown.truncate(MAX_LINE_SHOWN);
    let mut head = format!("{method} {path} HTTP/1.1\r\nHost: {at}\r\n");
    for line in lines.filter(|line| !line.is_empty()) {
        let (name, value) = line.split_once(':')?;
        if !is_token(name) || value.bytes().any(|byte| byte.is_ascii_control() && byte != b'\t') {
            return None;
        }
        if !BETWEEN.iter().any(|between| name.eq_ignore_ascii_case(between)) {
            head.push_str(line);
            head.push_str("\r\n");
        }
    }
    // One request for each connection: the next one may be for another host, which has to be asked about.
    head.push_str("Connection: close\r\n\r\n");
    Some(Request::Plain {
        host,
        port,
        shown,
        head,
    })
}

/// Host and port as an address writes them.
pub(super) fn written(host: &str, port: u16, usual: u16) -> String {
    let host = if host.contains(':') {
        format!("[{host}]")
    } else {
        host.to_owned()
    };
    if port == usual {
        host
    } else {
        format!("{host}:{port}")
    }
}

fn authority(text: &str, usual: Option<u16>) -> Option<(String, u16)> {
    let (name, port) = if let Some(rest) = text.strip_prefix('[') {
        let (address, port) = rest.split_once(']')?;
        address.parse::<Ipv6Addr>().ok()?;
        (
            address,
            port.strip_prefix(':')
                .map(Some)
                .or_else(|| port.is_empty().then_some(None))?,
        )
    } else {
        match text.split_once(':') {
            Some((name, port)) => (name, Some(port)),
            None => (text, None),
        }
    };
    let port = match port {
        Some(port) if port.bytes().all(|byte| byte.is_ascii_digit()) => port.parse().ok()?,
        Some(_) => return None,
        None => usual?,
    };
    (port != 0).then_some((host(name)?, port))
}

/// A host in the one way it is written here; none for what is no host name or address. Numbers that only some programs take
/// for an address are none.
pub(super) fn host(text: &str) -> Option<String> {
    if let Ok(address) = text.parse::<Ipv6Addr>() {
        return Some(match address.to_ipv4_mapped() {
            Some(carried) => carried.to_string(),
            None => address.to_string(),
        });
    }
    let text = text.strip_suffix('.').unwrap_or(text).to_ascii_lowercase();
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && !label.starts_with('-')
            && label
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
    };
    if text.is_empty() || text.len() > 253 || !text.split('.').all(is_label) {
        return None;
    }
    let last = text.rsplit('.').next().unwrap_or_default();
    let is_number = last.bytes().all(|byte| byte.is_ascii_digit())
        || last
            .strip_prefix("0x")
            .is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_hexdigit()));
    if is_number {
        return text.parse::<Ipv4Addr>().ok().map(|address| address.to_string());
    }
    Some(text)
}

/// The address that a host is, when it is no name.
pub(super) fn literal(host: &str) -> Option<IpAddr> {
    host.parse().ok()
}

fn is_token(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tunnel(text: &str) -> Option<(String, u16)> {
        match read(format!("CONNECT {text} HTTP/1.1\r\nHost: elsewhere").as_bytes())? {
            Request::Tunnel { host, port } => Some((host, port)),
            Request::Plain { .. } => None,
        }
    }

    #[test]
    fn tunnels() {
        let is =
            |text: &str, host: &str, port| assert_eq!(tunnel(text), Some((host.to_owned(), port)), "{text}");
        is("example.com:443", "example.com", 443);
        is("EXAMPLE.com.:443", "example.com", 443);
        is("xn--bcher-kva.example:80", "xn--bcher-kva.example", 80);
        is("[::1]:443", "::1", 443);
        is("[::FFFF:127.0.0.1]:443", "127.0.0.1", 443);
        is("127.0.0.1:1", "127.0.0.1", 1);
        for text in [
            "example.com",
            "example.com:0",
            "example.com:65536",
            "example.com:+443",
            "example.com:443:1",
            "a b:1",
            ":443",
            "..:443",
            "a..b:443",
            "-a.b:443",
            "b\u{fc}cher.example:443",
            "127.1:80",
            "0x7f.0.0.1:80",
            "0x7f000001:80",
            "2130706433:80",
            "0177.0.0.1:80",
            "a.127:80",
            "[::1%lo]:80",
            "[::1]443",
            "[127.0.0.1]:80",
            "user@example.com:443",
            "example.com%00.evil:443",
            "http://example.com:443",
        ] {
            assert_eq!(tunnel(text), None, "{text}");
        }
        assert_eq!(tunnel(&format!("{}.com:443", "a".repeat(64))), None);
        assert_eq!(tunnel(&format!("{}com:443", "a.".repeat(130))), None);
    }

    #[test]
    fn a_plain_request_is_written_anew() {
        let head = "POST http://user:pass@Example.com:8080/a/b?c=d#e HTTP/1.1\r\nHost: other.example\r\nX: y\r\n\
            Proxy-Connection: keep-alive\r\nProxy-Authorization: secret\r\nConnection: keep-alive\r\nContent-Length: 3";
        let Some(Request::Plain {
            host,
            port,
            shown,
            head,
        }) = read(head.as_bytes())
        else {
            panic!("not read");
        };
        assert_eq!((host.as_str(), port), ("example.com", 8080));
        assert_eq!(shown, "POST http://example.com:8080/a/b?c=d");
        assert_eq!(
            head,
            "POST /a/b?c=d HTTP/1.1\r\nHost: example.com:8080\r\nX: y\r\nContent-Length: 3\r\nConnection: close\r\n\r\n"
        );
        let root = read(b"GET http://[::1]?x HTTP/1.0\r\n");
        assert!(
            matches!(root, Some(Request::Plain { head, port: 80, .. }) if head.starts_with("GET /?x HTTP/1.1\r\nHost: [::1]\r\n"))
        );
    }

    #[test]
    fn what_is_no_request_for_a_proxy_is_refused() {
        for head in [
            "GET / HTTP/1.1",
            "GET https://example.com/ HTTP/1.1",
            "GET ftp://example.com/ HTTP/1.1",
            "GET  http://example.com/ HTTP/1.1",
            "GET http://example.com/ HTTP/2",
            "GET http://example.com/\tx HTTP/1.1",
            "G(T http://example.com/ HTTP/1.1",
            "GET http://example.com/ HTTP/1.1\r\nno colon",
            "GET http://example.com/ HTTP/1.1\r\n folded: x",
            "GET http://example.com/ HTTP/1.1\r\nA: b\nC: d",
            "GET http://example.com/ HTTP/1.1\r\nA : b",
            "",
        ] {
            assert_eq!(read(head.as_bytes()), None, "{head}");
        }
    }
}
