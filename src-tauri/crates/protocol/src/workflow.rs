//! Workflows: procedures that the person starts from a form. The model is not told of them and cannot start one.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A workflow as a list and its form show it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
pub struct WorkflowInfo {
    /// Unique within its source; the word after `/` and on the command line.
    pub name: String,
    pub title: String,
    pub description: String,
    pub source: DefinitionSource,
    /// Deletes, moves or discards files: its preview must be confirmed with the number.
    pub destructive: bool,
    pub parameters: Vec<WorkflowParameter>,
    /// One line per step, with `{parameter}` as written.
    pub steps: Vec<WorkflowStepLine>,
    /// What is wrong with the file, one sentence each; such a workflow cannot run.
    pub problems: Vec<String>,
}

/// Where a workflow or a role of one's own comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
#[serde(tag = "from", rename_all = "snake_case")]
pub enum DefinitionSource {
    BuiltIn,
    /// A file of the person's own, for all projects.
    Person {
        path: String,
    },
    /// A file of the project. Off until the person has reviewed exactly this content.
    Project {
        path: String,
        /// Hex SHA-256 of the content.
        hash: String,
        reviewed: bool,
        /// It was reviewed before and changed since.
        changed: bool,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
pub struct WorkflowStepLine {
    pub kind: WorkflowStepKind,
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum WorkflowStepKind {
    Message,
    Command,
    Tool,
    Confirm,
    Ask,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
pub struct WorkflowParameter {
    pub name: String,
    pub label: String,
    #[serde(default)]
    pub help: String,
    pub kind: ParameterKind,
    #[serde(default)]
    pub required: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub default: Option<ParameterValue>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ParameterKind {
    Text {
        /// A regular expression that the whole text must match.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "bindings", ts(optional))]
        pattern: Option<String>,
    },
    LongText,
    Number {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "bindings", ts(optional))]
        min: Option<f64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "bindings", ts(optional))]
        max: Option<f64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "bindings", ts(optional))]
        unit: Option<String>,
    },
    Switch,
    Choice {
        options: Vec<String>,
    },
    Choices {
        options: Vec<String>,
    },
    /// A file or folder inside the project, relative.
    Path {
        folder: bool,
    },
    /// `YYYY-MM-DD`.
    Date,
    /// `provider/model` of a configured model.
    Model,
    /// The name of a key in the keyring, never its value.
    Secret,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
#[serde(untagged)]
pub enum ParameterValue {
    Switch(bool),
    Number(f64),
    Text(String),
    List(Vec<String>),
}

pub type ParameterValues = BTreeMap<String, ParameterValue>;

/// What a run would do. Only the run of exactly this preview can be started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
pub struct WorkflowPreview {
    pub name: String,
    pub title: String,
    /// What is wrong with single parameters; a preview with problems has no effects and cannot run.
    pub problems: Vec<ParameterProblem>,
    /// The first 500 effects.
    pub effects: Vec<WorkflowEffect>,
    /// Number of all effects on files.
    pub files: u32,
    /// The sentence on the button, with the number: "Delete 212 files".
    pub confirm: String,
    /// Steps that ask the model.
    pub model_steps: u32,
    /// Hosts that its commands would reach, as far as they can be read.
    pub hosts: Vec<String>,
    /// Names this preview; given back with the run, so that nothing else than what was shown is done.
    pub token: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
pub struct ParameterProblem {
    pub parameter: String,
    pub problem: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
pub struct WorkflowEffect {
    pub kind: WorkflowEffectKind,
    /// Path, command, message or question.
    pub target: String,
    /// Where a moved file goes; size in words; why it cannot be restored.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[cfg_attr(feature = "bindings", ts(as = "Option<String>", optional))]
    pub detail: String,
    /// Whether the undo can bring it back.
    pub undoable: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum WorkflowEffectKind {
    Delete,
    Move,
    Restore,
    Write,
    Run,
    Message,
    Ask,
}

/// A workflow whose parameters are filled in: what the session carries out, step by step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
pub struct WorkflowPlan {
    pub name: String,
    pub title: String,
    pub steps: Vec<WorkflowStep>,
}

/// One step. `{answer.NAME}` in a text stands for the answer to an earlier question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
#[serde(tag = "step", rename_all = "snake_case")]
pub enum WorkflowStep {
    /// A message to the agent: a whole turn.
    Message { text: String },
    /// One call without the model; its preview was confirmed by the person.
    Call {
        tool: String,
        /// Raw JSON text of an object.
        arguments: String,
    },
    /// The run goes on only after a yes.
    Confirm { question: String },
    Ask {
        name: String,
        question: String,
        options: Vec<String>,
    },
}

/// A workflow that goes on in a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
pub struct WorkflowRun {
    pub plan: WorkflowPlan,
    /// Steps that have begun.
    pub begun: u32,
    pub answers: BTreeMap<String, String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum WorkflowEnd {
    Completed,
    /// A step failed.
    Failed,
    /// The person stopped it or said no.
    Stopped,
}
