//! Gives the HTTP client its connections, the way that the network settings say.

use crate::network::{Choice, LinkFailure, Stream, Target, Way};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use http::Uri;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::client::legacy::connect::{Connected, Connection};
use hyper_util::rt::TokioIo;
use std::io::{Error, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

#[derive(Clone)]
pub(super) struct Connector(Arc<Way>);

impl Connector {
    pub fn new(way: Arc<Way>) -> Self {
        Self(way)
    }
}

impl tower_service::Service<Uri> for Connector {
    type Response = Opened;
    type Error = LinkFailure;
    type Future = BoxFuture<'static, Result<Opened, LinkFailure>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), LinkFailure>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let way = Arc::clone(&self.0);
        async move {
            let host = uri.host().unwrap_or_default();
            let target =
                Target::new(uri.scheme_str().unwrap_or_default(), host, uri.port_u16()).ok_or_else(|| {
                    LinkFailure::Name {
                        host: String::new(),
                        why: "the address names no host".into(),
                    }
                })?;
            let passed_on = !target.secure
                && matches!(way.choose(&target)?, Choice::Proxy { address, .. } if address.speaks_http());
            Ok(Opened {
                stream: TokioIo::new(way.open(&target).await?),
                passed_on,
                uses: Uses::default(),
            })
        }
        .boxed()
    }
}

/// Marks a connection that has carried a request.
#[derive(Clone, Default)]
pub(super) struct Uses(Arc<AtomicBool>);

impl Uses {
    /// Counts a request; whether there was one before.
    pub fn count(&self) -> bool {
        self.0.swap(true, Ordering::Relaxed)
    }
}

/// A connection as the HTTP client wants it.
pub(super) struct Opened {
    stream: TokioIo<Stream>,
    /// At the other end is a proxy that passes requests on: they name the whole address.
    passed_on: bool,
    uses: Uses,
}

impl Connection for Opened {
    fn connected(&self) -> Connected {
        Connected::new().proxy(self.passed_on).extra(self.uses.clone())
    }
}

impl Read for Opened {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<Result<(), Error>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl Write for Opened {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<Result<usize, Error>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<(), Error>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<(), Error>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<Result<usize, Error>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, slices)
    }
}
