//! Requests on the wire and the limits of waiting for them.
//!
//! One client, which opens its connections the way that the network settings say; a plain connection costs nothing to prepare,
//! TLS is prepared when the first request needs it. The wall stands here so that adapters know neither proxies nor sockets.
//! Deliberately absent: retries (the loop counts them), redirects (the key would go along), what an answer means.

mod body;
mod check;
mod connector;

pub use check::{test_connection, test_proxy};

pub(crate) use body::Body;

use crate::network::{Choice, LinkFailure, Network, Target, Way, chain, login_wanted};
use bytes::Bytes;
use connector::{Connector, Uses};
use futures_util::StreamExt;
use http::header::{HeaderMap, HeaderValue, PROXY_AUTHORIZATION, USER_AGENT};
use http::{Extensions, Method, Request};
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::{CaptureConnection, capture_connection};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use paddock_protocol::Millis;
use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use url::Url;

/// Servers close idle connections after a few seconds; a shorter life here avoids meeting one that is just being closed.
const POOL_IDLE: Duration = Duration::from_secs(4);
const AGENT: &str = concat!("paddock/", env!("CARGO_PKG_VERSION"));
const PROXY_WANTS_LOGIN: u16 = 407;

pub(crate) struct Outgoing {
    pub method: Method,
    pub url: Url,
    pub headers: HeaderMap,
    pub body: Bytes,
}

pub(crate) struct Incoming {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Body,
}

/// Why no (further) byte came.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TransportError {
    /// No connection.
    #[error("{0}")]
    Link(LinkFailure),
    #[error("no byte within {} s", .0.0 / 1000)]
    Silence(Millis),
    #[error("connection: {0}")]
    Broken(String),
    /// A connection kept from an earlier request was closed when a request with a body had been written to it and no byte of an
    /// answer had come. The server may have read it.
    #[error("kept connection: {0}")]
    Closed(String),
    #[error("the request could not be written: {0}")]
    Unwritable(String),
}

/// Sends requests; keeps connections open for a few seconds.
pub(crate) struct Http {
    network: Network,
    /// For the settings it was made with; others get a new one.
    client: Mutex<Option<(Arc<Way>, Pool)>>,
}

type Pool = Client<Connector, Full<Bytes>>;

impl Http {
    /// Costs nothing: connections are made by requests.
    pub fn new(network: Network) -> Self {
        Self {
            network,
            client: Mutex::new(None),
        }
    }

    /// Sends and waits for the head of the answer.
    ///
    /// A kept connection may just have been closed by the server. The HTTP client takes another one by itself only while no byte
    /// of the request was handed to the connection, so nothing is asked twice. From then on the server may have read it: a
    /// question without a body is asked once more at once, a request with one may cost money and is [`TransportError::Closed`],
    /// for the retries that are counted and shown.
    pub async fn send(&self, request: &Outgoing, silence: Millis) -> Result<Incoming, TransportError> {
        let both = async {
            match self.send_once(request, silence).await {
                Err((TransportError::Broken(_), Reused(true))) if request.body.is_empty() => {
                    self.send_once(request, silence).await
                }
                Err((TransportError::Broken(why), reused @ Reused(true))) => {
                    Err((TransportError::Closed(why), reused))
                }
                answer => answer,
            }
        };
        match tokio::time::timeout(silence.as_duration(), both).await {
            Ok(answer) => answer.map_err(|(error, _)| error),
            Err(_) => Err(TransportError::Silence(silence)),
        }
    }

    async fn send_once(
        &self,
        request: &Outgoing,
        silence: Millis,
    ) -> Result<Incoming, (TransportError, Reused)> {
        let fresh = |error| (error, Reused(false));
        let way = self.network.current();
        let (mut message, proxy) = prepared(request, &way).map_err(fresh)?;
        let connection = capture_connection(&mut message);
        let answer = self.pool(&way).request(message).await;
        let reused = reused(&connection);
        let answer = answer.map_err(|error| (transport_error(&error), reused))?;
        let (head, body) = answer.into_parts();
        if let (PROXY_WANTS_LOGIN, Some(Choice::Proxy { address, .. })) = (head.status.as_u16(), &proxy) {
            let why = login_wanted(address, &head.headers);
            let proxy = address.at();
            return Err((TransportError::Link(LinkFailure::Proxy { proxy, why }), reused));
        }
        let stream = body
            .into_data_stream()
            .map(|piece| piece.map_err(|error| TransportError::Broken(chain(&error))));
        Ok(Incoming {
            status: head.status.as_u16(),
            headers: head.headers,
            body: Body::new(stream.boxed(), silence),
        })
    }

    fn pool(&self, way: &Arc<Way>) -> Pool {
        let mut client = self.client.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((made_with, pool)) = client.as_ref()
            && Arc::ptr_eq(made_with, way)
        {
            return pool.clone();
        }
        let pool = Client::builder(TokioExecutor::new())
            .pool_idle_timeout(POOL_IDLE)
            .pool_timer(TokioTimer::new())
            .build(Connector::new(Arc::clone(way)));
        *client = Some((Arc::clone(way), pool.clone()));
        pool
    }
}

/// The message, and the proxy that passes it on itself when there is one. Its login goes into the headers of such messages;
/// others sign in when the connection is made.
fn prepared(request: &Outgoing, way: &Way) -> Result<(Request<Full<Bytes>>, Option<Choice>), TransportError> {
    let url = &request.url;
    let target = Target::new(url.scheme(), url.host_str().unwrap_or_default(), url.port())
        .ok_or_else(|| TransportError::Unwritable("the address names no host".into()))?;
    let choice = way.choose(&target).map_err(TransportError::Link)?;
    let mut message = Request::builder()
        .method(request.method.clone())
        .uri(url.as_str())
        .body(Full::new(request.body.clone()))
        .map_err(|error| TransportError::Unwritable(error.to_string()))?;
    let headers = message.headers_mut();
    *headers = request.headers.clone();
    headers.insert(USER_AGENT, HeaderValue::from_static(AGENT));
    let passes_on =
        matches!(&choice, Choice::Proxy { address, .. } if address.speaks_http() && !target.secure);
    if let Choice::Proxy { address, .. } = &choice
        && passes_on
        && let Some(login) = address.authorization()
    {
        headers.insert(PROXY_AUTHORIZATION, login);
    }
    Ok((message, passes_on.then_some(choice)))
}

/// Whether a request went over a connection that an earlier one had used.
#[derive(Clone, Copy)]
struct Reused(bool);

fn reused(connection: &CaptureConnection) -> Reused {
    let mut extensions = Extensions::new();
    if let Some(connected) = connection.connection_metadata().as_ref() {
        connected.get_extras(&mut extensions);
    }
    Reused(extensions.get::<Uses>().is_some_and(Uses::count))
}

/// A link that failed is somewhere among the causes.
fn transport_error(error: &(dyn Error + 'static)) -> TransportError {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(failure) = error.downcast_ref::<LinkFailure>() {
            return TransportError::Link(failure.clone());
        }
        cause = error.source();
    }
    TransportError::Broken(chain(error))
}
