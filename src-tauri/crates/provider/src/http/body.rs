//! The bytes of an answer as they arrive.

use super::TransportError;
use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use paddock_protocol::Millis;
use std::time::Duration;

/// The rest of an answer. Dropping it closes the connection.
pub(crate) struct Body {
    stream: BoxStream<'static, Result<Bytes, TransportError>>,
    silence: Millis,
}

impl Body {
    pub(super) fn new(stream: BoxStream<'static, Result<Bytes, TransportError>>, silence: Millis) -> Self {
        Self { stream, silence }
    }

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
