//! Which pages may connect. Any page that a browser shows can try to; only pages of this machine may.

use tokio_tungstenite::tungstenite::handshake::server::{ErrorResponse, Request, Response};
use tokio_tungstenite::tungstenite::http::StatusCode;

/// Lets the handshake go on, or refuses it with 403.
#[expect(clippy::result_large_err, reason = "the handshake's own type of answer")]
pub fn check(request: &Request, response: Response) -> Result<Response, ErrorResponse> {
    let origins: Vec<_> = request.headers().get_all("origin").iter().collect();
    let allowed = match origins.as_slice() {
        // Not a browser.
        [] => true,
        [origin] => origin.to_str().is_ok_and(is_local),
        _ => false,
    };
    if allowed {
        return Ok(response);
    }
    let mut refusal = ErrorResponse::new(Some("This page may not connect.".to_owned()));
    *refusal.status_mut() = StatusCode::FORBIDDEN;
    Err(refusal)
}

fn is_local(origin: &str) -> bool {
    let Some(host) = origin.strip_prefix("http://") else {
        return false;
    };
    let (name, port) = host.split_once(':').unwrap_or((host, "80"));
    matches!(name, "localhost" | "127.0.0.1") && port.parse::<u16>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::is_local;

    #[test]
    fn only_pages_of_this_machine_may_connect() {
        for origin in ["http://localhost", "http://localhost:5173", "http://127.0.0.1:80"] {
            assert!(is_local(origin), "{origin}");
        }
        for origin in [
            "null",
            "https://localhost",
            "http://localhost.evil.example",
            "http://127.0.0.1.evil.example:80",
            "http://localhost:80@evil.example",
            "http://evil.example",
            "file://",
            "",
        ] {
            assert!(!is_local(origin), "{origin}");
        }
    }
}
