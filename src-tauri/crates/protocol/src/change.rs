//! A change of a file as people and logs see it: the diff, and in words what a diff does not show.

use serde::{Deserialize, Serialize};

/// One changed file, with a unified diff (3 lines around) of at most 2 000 changed lines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
pub struct FileChange {
    pub path: String,
    pub kind: ChangeKind,
    pub added: u32,
    pub removed: u32,
    /// Absent for binary and very large files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub diff: Option<Diff>,
    /// Whether Paddock kept what was there before and can bring it back.
    pub undoable: bool,
    /// What the diff does not show, or not plainly.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "bindings", ts(as = "Option<Vec<ChangeNote>>", optional))]
    pub notes: Vec<ChangeNote>,
}

/// What of a change is said in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
#[serde(tag = "note", rename_all = "snake_case")]
pub enum ChangeNote {
    /// New lines that look like a key or a password, counted from 1; only before the change is made.
    PossibleKey {
        lines: Vec<u32>,
    },
    LineEnds {
        from: LineEnds,
        to: LineEnds,
    },
    /// How the text is stored, by name: "UTF-8".
    Encoding {
        from: String,
        to: String,
    },
    /// Whether the last line will have an end.
    LastLineEnd {
        ends: bool,
    },
}

/// How the lines of a text end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum LineEnds {
    Lf,
    CrLf,
    Mixed,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum ChangeKind {
    Created,
    Edited,
    Deleted,
    Moved { from: String },
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
pub struct Diff {
    pub hunks: Vec<Hunk>,
    /// Only white space or line ends differ.
    pub only_whitespace: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
pub struct Hunk {
    /// First line before and after, counted from 1.
    pub old_start: u32,
    pub new_start: u32,
    pub lines: Vec<DiffLine>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
pub struct DiffLine {
    pub mark: DiffMark,
    /// Without the line end.
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum DiffMark {
    Same,
    Added,
    Removed,
}
