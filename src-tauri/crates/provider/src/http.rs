//! Requests on the wire and the limits of waiting for them.
//!
//! Two clients behind one door: a plain one for `http://` without a proxy, which costs next to nothing to build, and one with
//! TLS, the trust store of the system and its proxy variables, built when the first request needs it. The wall stands here so that
//! nothing else knows which. Deliberately absent: retries (the loop counts them), what an answer means.

use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use http::{HeaderMap, Method, Request};
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::{Client, connect::HttpConnector};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use paddock_protocol::Millis;
use std::error::Error;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const CONNECT_LIMIT: Duration = Duration::from_secs(10);
/// Servers close idle connections after a few seconds; a shorter life here avoids meeting one that is just being closed.
const POOL_IDLE: Duration = Duration::from_secs(4);
const AGENT: &str = concat!("paddock/", env!("CARGO_PKG_VERSION"));

pub(crate) struct Outgoing {
    pub method: Method,
    pub url: reqwest::Url,
    /// Whether the address is on this machine: such requests never go through a proxy.
    pub loopback: bool,
    pub headers: HeaderMap,
    pub body: Bytes,
}

pub(crate) struct Incoming {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Body,
}

/// The bytes of an answer as they arrive. Dropping it closes the connection.
pub(crate) struct Body {
    stream: BoxStream<'static, Result<Bytes, TransportError>>,
    silence: Millis,
}

/// Why no (further) byte came.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TransportError {
    #[error("connection refused")]
    Refused,
    #[error("name not found: {0}")]
    NameNotFound(String),
    #[error("no connection within {} s", CONNECT_LIMIT.as_secs())]
    ConnectTimeout,
    #[error("no byte within {} s", .0.0 / 1000)]
    Silence(Millis),
    #[error("certificate: {0}")]
    Certificate(String),
    #[error("proxy: {0}")]
    Proxy(String),
    #[error("connection: {0}")]
    Broken(String),
    #[error("the client could not be built: {0}")]
    Setup(String),
}

/// Sends requests; keeps connections open for a few seconds.
pub(crate) struct Http {
    plain: OnceLock<Client<HttpConnector, Full<Bytes>>>,
    /// A connection may be left from an earlier request.
    pooled: AtomicBool,
}

impl Http {
    pub fn new() -> Self {
        Self {
            plain: OnceLock::new(),
            pooled: AtomicBool::new(false),
        }
    }

    /// Sends and waits for the head of the answer. A request that met a pooled connection just closed by the server is sent
    /// once more at once: no byte of an answer came.
    pub async fn send(&self, request: &Outgoing, silence: Millis) -> Result<Incoming, TransportError> {
        let pooled = self.pooled.load(Ordering::Relaxed);
        let answer = match self.send_once(request, silence).await {
            Err(TransportError::Broken(_)) if pooled => self.send_once(request, silence).await,
            answer => answer,
        };
        self.pooled.store(answer.is_ok(), Ordering::Relaxed);
        answer
    }

    async fn send_once(&self, request: &Outgoing, silence: Millis) -> Result<Incoming, TransportError> {
        let head = async {
            if request.url.scheme() == "http" && (request.loopback || !proxy_configured()) {
                self.send_plain(request, silence).await
            } else {
                send_secure(request, silence).await
            }
        };
        tokio::time::timeout(silence.as_duration(), head)
            .await
            .unwrap_or(Err(TransportError::Silence(silence)))
    }

    async fn send_plain(&self, request: &Outgoing, silence: Millis) -> Result<Incoming, TransportError> {
        let client = self.plain.get_or_init(|| {
            let mut connector = HttpConnector::new();
            connector.set_connect_timeout(Some(CONNECT_LIMIT));
            connector.set_nodelay(true);
            Client::builder(TokioExecutor::new())
                .pool_idle_timeout(POOL_IDLE)
                .pool_timer(TokioTimer::new())
                .build(connector)
        });
        let mut message = Request::builder()
            .method(request.method.clone())
            .uri(request.url.as_str())
            .body(Full::new(request.body.clone()))
            .map_err(|error| TransportError::Setup(error.to_string()))?;
        *message.headers_mut() = request.headers.clone();
        message
            .headers_mut()
            .insert(http::header::USER_AGENT, http::HeaderValue::from_static(AGENT));
        let answer = client
            .request(message)
            .await
            .map_err(|error| transport_error(&error, error.is_connect()))?;
        let (head, body) = answer.into_parts();
        let stream = body
            .into_data_stream()
            .map(|piece| piece.map_err(|error| transport_error(&error, false)));
        Ok(Incoming {
            status: head.status.as_u16(),
            headers: head.headers,
            body: Body {
                stream: stream.boxed(),
                silence,
            },
        })
    }
}

impl Body {
    /// The next bytes, `None` at the end. Any byte counts against the silence, also one of a comment.
    pub async fn next(&mut self) -> Result<Option<Bytes>, TransportError> {
        match tokio::time::timeout(self.silence.as_duration(), self.stream.next()).await {
            Ok(piece) => piece.transpose(),
            Err(_) => Err(TransportError::Silence(self.silence)),
        }
    }

    /// Everything that follows, at most `cap` bytes; what came before a failure is kept.
    pub async fn rest(&mut self, cap: usize) -> Vec<u8> {
        let mut all = Vec::new();
        while all.len() < cap {
            match self.next().await {
                Ok(Some(bytes)) => all.extend_from_slice(&bytes),
                Ok(None) | Err(_) => break,
            }
        }
        all.truncate(cap);
        all
    }

    /// Reads on aside for a moment, so that the connection can be used again. Nothing waits for it.
    pub fn drain(mut self) {
        tokio::spawn(async move {
            self.silence = Millis(500);
            let _ = tokio::time::timeout(Duration::from_secs(1), self.rest(64 * 1024)).await;
        });
    }
}

async fn send_secure(request: &Outgoing, silence: Millis) -> Result<Incoming, TransportError> {
    let client = secure_client().await?;
    let answer = client
        .request(request.method.clone(), request.url.clone())
        .headers(request.headers.clone())
        .body(request.body.clone())
        .send()
        .await
        .map_err(|error| {
            // The address is known; its words must not be taken for a cause.
            let error = error.without_url();
            if error.is_timeout() && error.is_connect() {
                return TransportError::ConnectTimeout;
            }
            transport_error(&error, error.is_connect())
        })?;
    let status = answer.status().as_u16();
    let headers = answer.headers().clone();
    let stream = answer
        .bytes_stream()
        .map(|piece| piece.map_err(|error| transport_error(&error.without_url(), false)));
    Ok(Incoming {
        status,
        headers,
        body: Body {
            stream: stream.boxed(),
            silence,
        },
    })
}

/// Building reads the trust store of the system, which takes tens of milliseconds: off the async thread, once per process.
async fn secure_client() -> Result<&'static reqwest::Client, TransportError> {
    static CLIENT: OnceLock<reqwest::Client> = OnceLock::new();
    if let Some(client) = CLIENT.get() {
        return Ok(client);
    }
    let built = tokio::task::spawn_blocking(|| {
        reqwest::Client::builder()
            .user_agent(AGENT)
            .connect_timeout(CONNECT_LIMIT)
            .pool_idle_timeout(POOL_IDLE)
            .tcp_nodelay(true)
            .redirect(reqwest::redirect::Policy::none())
            .build()
    })
    .await
    .map_err(|error| TransportError::Setup(error.to_string()))?
    .map_err(|error| TransportError::Setup(chain(&error)))?;
    Ok(CLIENT.get_or_init(|| built))
}

fn proxy_configured() -> bool {
    ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"]
        .iter()
        .any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()))
}

/// Sorts a failure by the causes behind it.
fn transport_error(error: &(dyn Error + 'static), connecting: bool) -> TransportError {
    let words = chain(error);
    let lower = words.to_lowercase();
    let io_kind = io_kind(error);
    if lower.contains("certificate") || lower.contains("unknownissuer") {
        return TransportError::Certificate(words);
    }
    if lower.contains("proxy") || lower.contains("tunnel") {
        return TransportError::Proxy(words);
    }
    if connecting {
        if io_kind == Some(std::io::ErrorKind::ConnectionRefused) {
            return TransportError::Refused;
        }
        if io_kind == Some(std::io::ErrorKind::TimedOut) {
            return TransportError::ConnectTimeout;
        }
        if ["dns error", "failed to lookup", "name or service", "nodename"]
            .iter()
            .any(|text| lower.contains(text))
        {
            return TransportError::NameNotFound(words);
        }
    }
    TransportError::Broken(words)
}

fn io_kind(error: &(dyn Error + 'static)) -> Option<std::io::ErrorKind> {
    let mut cause = Some(error);
    let mut kind = None;
    while let Some(error) = cause {
        kind = error
            .downcast_ref::<std::io::Error>()
            .map(std::io::Error::kind)
            .or(kind);
        cause = error.source();
    }
    kind
}

/// The error and its causes in one line, each once.
fn chain(error: &(dyn Error + 'static)) -> String {
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
