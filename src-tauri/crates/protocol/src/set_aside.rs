//! What was set aside after commands because it would have run later outside of the sandbox, as the person decides about it.

use crate::{FileChange, ProtectedPlace, Timestamp};
use serde::{Deserialize, Serialize};

/// Something that waits to be put back or thrown away.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
pub struct SetAsideEntry {
    pub id: String,
    /// Where it was, relative to the project.
    pub path: String,
    /// One sentence: why.
    pub reason: String,
    pub at: Timestamp,
}

/// All of an entry, as it would be put back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
pub struct SetAsideContent {
    pub entry: SetAsideEntry,
    /// Empty when nothing could be kept: then it can only be thrown away.
    pub files: Vec<SetAsideFile>,
    /// Names exactly what was shown.
    pub hash: String,
}

/// One file of it, against what lies there now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
pub struct SetAsideFile {
    pub change: FileChange,
    pub executable: bool,
    /// Why the place is protected; absent where it is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub place: Option<ProtectedPlace>,
}
