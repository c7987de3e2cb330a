//! A server before aimock that lets an answer end with an error in its stream, which aimock cannot do. It hands on everything else as it is.

use paddock_protocol::ProviderKind;
use paddock_tests::model_server::{ModelServer, Piece, Received, bytes, status};

use super::fault::{Fault, error_event};
use crate::mocks::plain_http;

/// Its requests are those of one conversation; `fault` says which of them fail.
pub fn relay(to: &str, fault: &Fault, protocol: ProviderKind) -> std::io::Result<ModelServer> {
    let (to, fault) = (to.to_owned(), fault.clone());
    ModelServer::start(move |number, request| {
        let whole = match plain_http(&to, &asked(request)) {
            Ok(whole) => whole,
            Err(error) => return status("502 Bad Gateway", "", &error.to_string()),
        };
        let Fault::InStream { at, times, after } = fault else {
            return vec![bytes(whole), Piece::Cut];
        };
        if !(at..at + times).contains(&number) {
            return vec![bytes(whole), Piece::Cut];
        }
        let mut kept = events_of(&whole, after).to_vec();
        kept.extend_from_slice(error_event(protocol).as_bytes());
        vec![bytes(kept), Piece::Cut]
    })
}

/// The request as it came, in words that make the server close the connection after its answer.
fn asked(request: &Received) -> String {
    let head = request.head.replacen("HTTP/1.1", "HTTP/1.0", 1);
    format!("{head}\r\nconnection: close\r\n\r\n{}", request.body)
}

/// The head and this many events.
fn events_of(whole: &[u8], number: usize) -> &[u8] {
    let text = String::from_utf8_lossy(whole);
    let head = text.find("\r\n\r\n").map_or(0, |end| end + 4);
    let ends = text[head..].match_indices("\n\n").map(|(at, _)| head + at + 2);
    &whole[..ends.take(number).last().unwrap_or(head)]
}
