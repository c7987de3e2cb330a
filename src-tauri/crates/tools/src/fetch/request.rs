//! One GET, with redirects that stay on the host that was allowed. No cookies, no credentials, no compressed answers, and
//! never more than was asked to be read.

use super::address::{Addresses, Target};
use crate::{ToolError, WebProxy, WebRoute, bounds};
use paddock_protocol::HostReach;
use reqwest::header::{
    ACCEPT, ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderName, LOCATION,
};
use reqwest::{Certificate, Client, Proxy, Response, Url};
use std::error::Error;
use std::time::Duration;

const MAX_REDIRECTS: usize = 5;
const CONNECT_LIMIT: Duration = Duration::from_secs(10);
const AGENT: &str = concat!("paddock/", env!("CARGO_PKG_VERSION"));
const WANTED: &str = "text/html, text/markdown, text/plain, application/json, */*;q=0.5";

/// What a server answered.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) url: Url,
    pub(super) status: u16,
    pub(super) content_type: String,
    pub(super) body: Vec<u8>,
    /// There was more than was read.
    pub(super) is_cut: bool,
}

/// Fetches from exactly these addresses, at most so many bytes of the body.
pub(super) async fn get(
    target: &Target,
    at: Addresses,
    route: WebRoute,
    max_bytes: usize,
) -> Result<Answer, ToolError> {
    let client = client(target, at, route).await?;
    let mut url = target.url.clone();
    for _ in 0..=MAX_REDIRECTS {
        let answer = client
            .get(url.clone())
            .header(ACCEPT, WANTED)
            .header(ACCEPT_ENCODING, "identity")
            .send()
            .await
            .map_err(|error| failure(target, &error))?;
        match next(&url, &answer)? {
            Some(next) => url = next,
            None => return read(target, url, answer, max_bytes).await,
        }
    }
    Err(model(format!(
        "`{}` redirects more than {MAX_REDIRECTS} times.",
        target.host
    )))
}

/// A client that knows only these addresses for the host. Building one reads the trust store of the system, which takes
/// tens of milliseconds: off the async thread.
async fn client(target: &Target, at: Addresses, route: WebRoute) -> Result<Client, ToolError> {
    let host = target.url.host_str().unwrap_or_default().to_owned();
    let work = move || {
        let mut builder = Client::builder()
            .user_agent(AGENT)
            .connect_timeout(CONNECT_LIMIT)
            .redirect(reqwest::redirect::Policy::none())
            .referer(false)
            .tcp_nodelay(true)
            .no_proxy();
        // It would look the name up once more, and would not reach what is near to this machine.
        let is_far = matches!(at.reach, HostReach::Public | HostReach::Unknown);
        if let Some(proxy) = route.proxy.filter(|_| is_far) {
            builder = builder.proxy(proxy_of(&proxy)?);
        }
        for certificate in &route.certificates {
            builder = builder.add_root_certificate(Certificate::from_der(certificate)?);
        }
        if !at.all.is_empty() {
            builder = builder.resolve_to_addrs(&host, &at.all);
        }
        builder.build()
    };
    let built = tokio::task::spawn_blocking(work).await;
    built.ok().and_then(Result::ok).ok_or_else(|| {
        model("The certificates of this system could not be read, so nothing was fetched.".to_owned())
    })
}

fn proxy_of(proxy: &WebProxy) -> reqwest::Result<Proxy> {
    let made = Proxy::all(&proxy.address)?;
    Ok(match &proxy.login {
        Some((user, password)) => made.basic_auth(user, password),
        None => made,
    })
}

/// Where an answer redirects to, when that is the same host.
pub(super) fn next(url: &Url, answer: &Response) -> Result<Option<Url>, ToolError> {
    if !matches!(answer.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
        return Ok(None);
    }
    let Some(location) = text_of(answer.headers(), &LOCATION) else {
        return Ok(None);
    };
    let to = url
        .join(&location)
        .map_err(|_| model("It redirects to an address that cannot be read.".to_owned()))?;
    let shown = bounds::start_of(to.as_str(), super::MAX_URL_SHOWN);
    if url.scheme() == "https" && to.scheme() == "http" {
        return Err(model(format!(
            "It redirects from https to an unprotected address, which is not followed: {shown}"
        )));
    }
    let usual = |url: &Url| url.port().is_none();
    let is_same_server = url.scheme() == to.scheme() && url.port() == to.port()
        // The same server, now protected.
        || to.scheme() == "https" && usual(url) && usual(&to);
    let has_user = !to.username().is_empty() || to.password().is_some();
    if url.host() != to.host() || !is_same_server || has_user {
        return Err(model(format!(
            "It redirects elsewhere, which is not followed. Fetch that address if you need it: {shown}"
        )));
    }
    Ok(Some(to))
}

async fn read(
    target: &Target,
    url: Url,
    mut answer: Response,
    max_bytes: usize,
) -> Result<Answer, ToolError> {
    let encoding = text_of(answer.headers(), &CONTENT_ENCODING).unwrap_or_default();
    if !matches!(encoding.as_str(), "" | "identity") {
        return Err(model(format!(
            "`{}` sends this compressed although it was asked not to; it is not unpacked.",
            target.host
        )));
    }
    let content_type = text_of(answer.headers(), &CONTENT_TYPE).unwrap_or_default();
    super::page::check_type(&content_type, answer.content_length())?;
    let mut body = Vec::new();
    let mut is_cut = false;
    while let Some(piece) = answer.chunk().await.map_err(|error| failure(target, &error))? {
        let room = max_bytes - body.len();
        body.extend_from_slice(&piece[..piece.len().min(room)]);
        if piece.len() > room {
            is_cut = true;
            break;
        }
    }
    Ok(Answer {
        url,
        status: answer.status().as_u16(),
        content_type,
        body,
        is_cut,
    })
}

fn text_of(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    let value = headers.get(name)?;
    Some(String::from_utf8_lossy(value.as_bytes()).trim().to_owned())
}

/// A failure in words; the system's own name addresses and libraries.
fn failure(target: &Target, error: &reqwest::Error) -> ToolError {
    tracing::debug!(%error, "a fetch failed");
    let mut words = String::new();
    let mut cause: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(error) = cause {
        words.push_str(&error.to_string().to_lowercase());
        cause = error.source();
    }
    let host = &target.host;
    model(if words.contains("certificate") {
        format!("The certificate of `{host}` is not trusted by this system, so nothing was fetched.")
    } else if error.is_timeout() {
        format!(
            "`{host}` could not be reached within {} s.",
            CONNECT_LIMIT.as_secs()
        )
    } else if error.is_connect() {
        format!("`{host}` could not be reached on port {}.", target.port)
    } else {
        format!("The connection to `{host}` broke off.")
    })
}

fn model(text: String) -> ToolError {
    ToolError::Model(text)
}
