//! Names to addresses, addresses to a socket: whichever family answers first.

use super::target::at;
use super::{LINK_LIMIT, LinkFailure};
use futures_util::FutureExt;
use futures_util::future::select_ok;
use std::io::{Error, ErrorKind};
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

/// How long the other family of addresses waits for the preferred one (RFC 8305).
const HEAD_START: Duration = Duration::from_millis(300);

/// The addresses of a host, in the order of the system's preference. Never empty.
pub(crate) async fn resolve(host: &str, port: u16) -> Result<Vec<SocketAddr>, LinkFailure> {
    if let Ok(address) = host.parse::<IpAddr>() {
        return Ok(vec![SocketAddr::new(address, port)]);
    }
    let failed = |why: String| LinkFailure::Name {
        host: host.to_string(),
        why,
    };
    let found = timeout(LINK_LIMIT, tokio::net::lookup_host((host, port)))
        .await
        .map_err(|_| failed(format!("no answer within {} s", LINK_LIMIT.as_secs())))?;
    let addresses: Vec<SocketAddr> = found.map_err(|error| failed(error.to_string()))?.collect();
    match addresses.is_empty() {
        true => Err(failed("no address".into())),
        false => Ok(addresses),
    }
}

/// A socket to one of the addresses of `host`.
pub(crate) async fn connect(host: &str, addresses: &[SocketAddr]) -> Result<TcpStream, LinkFailure> {
    let preferred = addresses.first().is_some_and(SocketAddr::is_ipv6);
    let (first, other): (Vec<_>, Vec<_>) = addresses
        .iter()
        .copied()
        .partition(|address| address.is_ipv6() == preferred);
    let socket = race(&first, &other).await.map_err(|error| {
        let at = at(host, addresses.first().map_or(0, SocketAddr::port));
        match error.kind() {
            ErrorKind::ConnectionRefused => LinkFailure::Refused { at },
            ErrorKind::TimedOut => LinkFailure::Slow { at, link: "tcp" },
            _ => LinkFailure::Unreachable {
                at,
                why: error.to_string(),
            },
        }
    })?;
    // Small requests leave at once; a socket that cannot do it is still a socket.
    let _ = socket.set_nodelay(true);
    Ok(socket)
}

async fn race(first: &[SocketAddr], other: &[SocketAddr]) -> Result<TcpStream, Error> {
    if other.is_empty() {
        return one_of(first).await;
    }
    let mut preferred = one_of(first).boxed();
    tokio::select! {
        result = &mut preferred => match result {
            Ok(socket) => Ok(socket),
            Err(error) => one_of(other).await.map_err(|_| error),
        },
        () = sleep(HEAD_START) => {
            let (socket, _) = select_ok([preferred, one_of(other).boxed()]).await?;
            Ok(socket)
        }
    }
}

/// One after the other, each with its share of the time.
async fn one_of(addresses: &[SocketAddr]) -> Result<TcpStream, Error> {
    let share = LINK_LIMIT / u32::try_from(addresses.len()).unwrap_or(1).max(1);
    let mut last = Error::from(ErrorKind::AddrNotAvailable);
    for address in addresses {
        last = match timeout(share, TcpStream::connect(address)).await {
            Ok(Ok(socket)) => return Ok(socket),
            Ok(Err(error)) => error,
            Err(_) => Error::from(ErrorKind::TimedOut),
        };
    }
    Err(last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::net::TcpListener;

    #[tokio::test]
    async fn the_family_that_answers_is_used() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let open = listener.local_addr().unwrap();
        let shut: SocketAddr = format!("[::1]:{}", open.port()).parse().unwrap();
        for addresses in [vec![shut, open], vec![open, shut], vec![open]] {
            let socket = connect("localhost", &addresses).await.unwrap();
            assert_eq!(socket.peer_addr().unwrap(), open);
        }
    }

    #[tokio::test]
    async fn what_failed_is_named() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let closed = listener.local_addr().unwrap();
        drop(listener);
        let refused = connect("127.0.0.1", &[closed]).await.unwrap_err();
        assert_eq!(
            refused,
            LinkFailure::Refused {
                at: closed.to_string()
            }
        );
        let unknown = resolve("no-such-host.invalid", 443).await.unwrap_err();
        assert_eq!(unknown.link(), "name");
        assert_eq!(
            resolve("10.1.2.3", 5).await.unwrap(),
            ["10.1.2.3:5".parse().unwrap()]
        );
    }
}
