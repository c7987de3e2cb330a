//! One exchange while it goes on. It is told when this is dropped, so that a request that was given up is told too.

use crate::{Exchange, Recorder};

/// Bytes of a response that are kept.
const KEPT: usize = 1024 * 1024;

pub(crate) struct Recording {
    recorder: Option<Recorder>,
    exchange: Exchange,
}

impl Recording {
    /// `address` is only written when somebody listens.
    pub fn new(
        recorder: Option<&Recorder>,
        address: impl FnOnce() -> String,
        request: &bytes::Bytes,
    ) -> Self {
        let exchange = recorder.map(|_| Exchange {
            address: address(),
            request: request.clone(),
            ..Exchange::default()
        });
        Self {
            recorder: recorder.cloned(),
            exchange: exchange.unwrap_or_default(),
        }
    }

    pub fn status(&mut self, status: u16) {
        self.exchange.status = Some(status);
    }

    pub fn push(&mut self, bytes: &[u8]) {
        if self.recorder.is_some() {
            let kept = bytes.len().min(KEPT.saturating_sub(self.exchange.response.len()));
            self.exchange.response.extend_from_slice(&bytes[..kept]);
            self.exchange.cut += (bytes.len() - kept) as u64;
        }
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        if let Some(Recorder(tell)) = self.recorder.take() {
            tell(std::mem::take(&mut self.exchange));
        }
    }
}
