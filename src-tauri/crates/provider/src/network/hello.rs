//! Which version of TLS a server chose: read from its first message, because the TLS libraries of the systems do not all say.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Bytes of the server's first message that are kept; the version stands within the first 200.
const KEPT: usize = 1024;

/// A stream that remembers how the other side began.
pub(crate) struct HelloTap<S> {
    stream: S,
    seen: Arc<Mutex<Vec<u8>>>,
}

impl<S> HelloTap<S> {
    /// The stream, and what it will have heard.
    pub fn new(stream: S) -> (Self, Arc<Mutex<Vec<u8>>>) {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let tap = Self {
            stream,
            seen: Arc::clone(&seen),
        };
        (tap, seen)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for HelloTap<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let new = buffer.filled().get(before..).unwrap_or_default();
        let room = KEPT.saturating_sub(seen.len()).min(new.len());
        seen.extend_from_slice(new.get(..room).unwrap_or_default());
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for HelloTap<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

/// The version in a ServerHello (RFC 8446, 4.1.3), as people write it.
pub(crate) fn version_in(seen: &[u8]) -> Option<&'static str> {
    const HANDSHAKE: u8 = 22;
    const SERVER_HELLO: u8 = 2;
    const SUPPORTED_VERSIONS: u16 = 43;
    let mut rest = Reader(seen);
    (rest.take(1)? == [HANDSHAKE]).then_some(())?;
    rest.take(4)?;
    (rest.take(1)? == [SERVER_HELLO]).then_some(())?;
    rest.take(3)?;
    let mut version = rest.number()?;
    rest.take(32)?;
    let session = usize::from(*rest.take(1)?.first()?);
    rest.take(session + 3)?;
    let mut extensions = match rest.number() {
        Some(length) => Reader(rest.take(usize::from(length))?),
        None => Reader(&[]),
    };
    while let Some(kind) = extensions.number() {
        let length = extensions.number()?;
        let mut body = Reader(extensions.take(usize::from(length))?);
        if kind == SUPPORTED_VERSIONS {
            version = body.number()?;
        }
    }
    match version {
        0x0304 => Some("TLS 1.3"),
        0x0303 => Some("TLS 1.2"),
        0x0302 => Some("TLS 1.1"),
        0x0301 => Some("TLS 1.0"),
        _ => None,
    }
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn number(&mut self) -> Option<u16> {
        self.take(2)
            .and_then(|bytes| bytes.try_into().ok())
            .map(u16::from_be_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hello(extensions: &[u8]) -> Vec<u8> {
        let mut hello = vec![22, 3, 3, 0, 80, 2, 0, 0, 76, 3, 3];
        hello.extend([7; 32]);
        hello.extend([2, 9, 9, 0x13, 1, 0]);
        if !extensions.is_empty() {
            hello.extend((extensions.len() as u16).to_be_bytes());
            hello.extend(extensions);
        }
        hello
    }

    #[test]
    fn the_version_is_found_wherever_it_stands() {
        assert_eq!(version_in(&hello(&[])), Some("TLS 1.2"));
        let both = hello(&[0, 51, 0, 2, 8, 8, 0, 43, 0, 2, 3, 4]);
        assert_eq!(version_in(&both), Some("TLS 1.3"));
        for end in 0..both.len() {
            let cut = version_in(&both[..end]);
            assert!(cut.is_none() || cut == Some("TLS 1.2"), "{end}");
        }
        assert_eq!(version_in(b"HTTP/1.1 400 Bad Request\r\n"), None);
    }
}
