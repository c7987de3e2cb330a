//! Whole outputs of calls whose text for the model was cut.

use crate::{Home, StoreError, disk};
use paddock_protocol::{CallId, SessionId};

/// Keeps the whole output of a call. It is worth less than the log, so it is not synced.
pub fn keep_output(home: &Home, session: &SessionId, call: &CallId, bytes: &[u8]) -> Result<(), StoreError> {
    disk::replace(&home.output(session, call)?, bytes, disk::Replace::Derived)
}

/// The whole output of a call; bytes that are no UTF-8 are replaced. [`StoreError::NotFound`] when none was kept.
pub fn read_output(home: &Home, session: &SessionId, call: &CallId) -> Result<String, StoreError> {
    let bytes = disk::read(&home.output(session, call)?)?.ok_or_else(|| StoreError::NotFound {
        what: format!("kept output of call {call}"),
    })?;
    Ok(String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}
