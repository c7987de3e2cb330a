//! Failures of the crates below, as errors of a client: what, why, and what to do.

use paddock_protocol::*;
use paddock_sandbox::OpenError;
use paddock_store::StoreError;

pub(super) fn refused(message: impl Into<String>) -> ClientError {
    ClientError::new(ErrorCode::FolderRefused, message)
}

pub(super) fn folder_error(error: &OpenError) -> ClientError {
    refused(error.to_string())
}

pub(super) fn storage(error: StoreError) -> ClientError {
    let (code, hint) = match &error {
        StoreError::InUse { .. } => (ErrorCode::Busy, "Close the other one, or wait until it is done."),
        StoreError::NotFound { .. } | StoreError::InvalidId { .. } => (ErrorCode::NotFound, ""),
        StoreError::DiskFull { .. } => (ErrorCode::Storage, "Make room on the disk and try again."),
        StoreError::Io { .. } => (
            ErrorCode::Storage,
            "Paddock's data folder must be writable for your account; PADDOCK_HOME can name another one.",
        ),
        _ => (ErrorCode::Storage, ""),
    };
    let said = ClientError::new(code, error.to_string());
    if hint.is_empty() { said } else { said.hint(hint) }
}

pub(super) fn model_error(error: ModelError) -> ClientError {
    let code = if error.kind == ModelErrorKind::Auth {
        ErrorCode::NoModel
    } else {
        ErrorCode::Model
    };
    ClientError {
        code,
        message: error.message,
        hint: error.hint,
        retry_after: error.retry_after,
    }
}
