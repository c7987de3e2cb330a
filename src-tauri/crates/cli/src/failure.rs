//! Why the program ends with something else than success: one sentence with a remedy, and an exit code.

use paddock_protocol::{ClientError, ErrorCode};

pub const COMPLETED: u8 = 0;
/// Paddock, the disk or the machine failed.
pub const FAULT: u8 = 1;
pub const BAD_USAGE: u8 = 2;
/// A limit, a repetition or a tool that keeps failing.
pub const PAUSED: u8 = 3;
/// An approval or an answer was needed and nobody could be asked.
pub const NOBODY_TO_ASK: u8 = 4;
pub const MODEL_FAILED: u8 = 5;
pub const STOPPED: u8 = 130;

/// An end that is no success.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{sentence}")]
pub struct Failure {
    pub code: u8,
    pub sentence: String,
}

impl Failure {
    pub fn new(code: u8, sentence: impl Into<String>) -> Self {
        Self {
            code,
            sentence: sentence.into(),
        }
    }

    pub fn usage(sentence: impl Into<String>) -> Self {
        Self::new(BAD_USAGE, sentence)
    }

    pub fn fault(sentence: impl Into<String>) -> Self {
        Self::new(FAULT, sentence)
    }
}

impl From<ClientError> for Failure {
    fn from(error: ClientError) -> Self {
        use ErrorCode::*;
        let code = match error.code {
            BadRequest | FolderRefused | NotFound | NotNow | NoModel => BAD_USAGE,
            Model => MODEL_FAILED,
            Busy | FolderBusy | Keyring | Storage | Internal => FAULT,
        };
        Self::new(code, error.to_string())
    }
}
