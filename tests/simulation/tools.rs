//! The tools of the simulated world: what they are, what a call of each would touch, and what comes of it. Files are
//! shared by the session and its sub-agents; a change that was approved for another state of its file is not made.

use crate::dice::Dice;
use paddock_core::Flow;
use paddock_core::session::input::{CallFailure, CallPlan};
use paddock_core::tools::ToolKind;
use paddock_protocol::*;
use serde_json::Value;
use std::collections::BTreeMap;

pub const TOOLS: &[(&str, ToolKind)] = &[
    ("read_file", ToolKind::Read),
    ("write_file", ToolKind::Write),
    ("run_command", ToolKind::Command),
    ("stop_process", ToolKind::Command),
    ("ask_question", ToolKind::Breaking),
    ("task_completion", ToolKind::Breaking),
    ("converse", ToolKind::Breaking),
    ("update_plan", ToolKind::Loop),
    ("delegate", ToolKind::Loop),
];

pub const WORKFLOW_TOOLS: &[(&str, ToolKind)] = &[("delete_files", ToolKind::Write)];

pub const PROTECTED: &str = ".git/config";

/// What a file holds: how often it was changed, and its text.
#[derive(Clone, Debug, Default)]
pub struct Files(BTreeMap<String, (u64, String)>);

impl Files {
    pub fn version(&self, path: &str) -> FileVersion {
        match self.0.get(path) {
            None => FileVersion::Absent,
            Some((changes, _)) => FileVersion::Content {
                hash: changes.to_string(),
            },
        }
    }

    /// Writes and gives what was there before.
    pub fn write(&mut self, path: &str, text: &str) -> String {
        let file = self.0.entry(path.to_owned()).or_default();
        file.0 += 1;
        std::mem::replace(&mut file.1, text.to_owned())
    }
}

pub fn is_readable(arguments: &str) -> bool {
    serde_json::from_str::<Value>(arguments).is_ok_and(|value| value.is_object())
}

pub fn argument(arguments: &str, key: &str) -> String {
    serde_json::from_str::<Value>(arguments)
        .ok()
        .and_then(|value| value.get(key).and_then(Value::as_str).map(str::to_owned))
        .unwrap_or_default()
}

pub fn flag(arguments: &str, key: &str) -> bool {
    let value = serde_json::from_str::<Value>(arguments).ok();
    value.is_some_and(|value| value.get(key).and_then(Value::as_bool).unwrap_or_default())
}

fn change(path: &str, before: &str, after: &str) -> FileChange {
    let line = |mark, text: &str| DiffLine {
        mark,
        text: text.to_owned(),
    };
    FileChange {
        path: path.to_owned(),
        kind: ChangeKind::Edited,
        added: 1,
        removed: 1,
        diff: Some(Diff {
            hunks: vec![Hunk {
                old_start: 1,
                new_start: 1,
                lines: vec![line(DiffMark::Removed, before), line(DiffMark::Added, after)],
            }],
            only_whitespace: false,
        }),
        undoable: true,
    }
}

/// What the call would do, as the real tool of this name says it.
pub fn plan(tool: &str, arguments: &str, files: &Files) -> CallPlan {
    let bare = |verb, target: String| CallPlan {
        verb,
        target,
        access: Vec::new(),
        body: ApprovalBody::Other,
        undo: UndoFact::Nothing,
        flow: Flow::Run,
    };
    match tool {
        "read_file" => {
            let path = argument(arguments, "path");
            CallPlan {
                access: vec![Access::Read { path: path.clone() }],
                ..bare(Verb::Read, path)
            }
        }
        "write_file" => write_plan(&argument(arguments, "path"), files),
        "run_command" => command_plan(argument(arguments, "command")),
        "stop_process" => bare(Verb::End, argument(arguments, "process")),
        "delete_files" => {
            let path = argument(arguments, "path");
            CallPlan {
                access: vec![Access::Delete { path: path.clone() }],
                body: ApprovalBody::Delete {
                    files: vec![change(&path, "x", "")],
                    base: vec![FileBase {
                        path: path.clone(),
                        version: files.version(&path),
                        size: None,
                    }],
                },
                undo: UndoFact::Covered,
                ..bare(Verb::Delete, path)
            }
        }
        "ask_question" => CallPlan {
            flow: Flow::Ask {
                question: argument(arguments, "question"),
                options: Vec::new(),
            },
            ..bare(Verb::Ask, argument(arguments, "question"))
        },
        "task_completion" => CallPlan {
            flow: Flow::Finish {
                result: "all done".to_owned(),
            },
            ..bare(Verb::Finish, "all done".to_owned())
        },
        "update_plan" => CallPlan {
            flow: Flow::Plan {
                tasks: vec![PlanTask {
                    text: argument(arguments, "task"),
                    state: TaskState::Doing,
                }],
            },
            ..bare(Verb::Plan, String::new())
        },
        "delegate" => CallPlan {
            flow: Flow::Delegate {
                name: "scout".to_owned(),
                task: argument(arguments, "task"),
                writes: flag(arguments, "writes"),
            },
            ..bare(Verb::Delegate, argument(arguments, "task"))
        },
        _ => CallPlan {
            flow: Flow::Say {
                message: "well".to_owned(),
            },
            ..bare(Verb::Say, "well".to_owned())
        },
    }
}

fn write_plan(path: &str, files: &Files) -> CallPlan {
    let access = if path == PROTECTED {
        Access::Protected {
            path: path.to_owned(),
            write: true,
            place: ProtectedPlace::GitInternals,
        }
    } else {
        Access::Write {
            path: path.to_owned(),
        }
    };
    CallPlan {
        verb: Verb::Edit,
        target: path.to_owned(),
        access: vec![access],
        body: ApprovalBody::Change {
            change: change(path, "a", "b"),
            base: files.version(path),
        },
        undo: UndoFact::Covered,
        flow: Flow::Run,
    }
}

fn command_plan(command: String) -> CallPlan {
    CallPlan {
        verb: Verb::Run,
        target: command.clone(),
        access: vec![Access::Exec {
            command: command.clone(),
        }],
        body: ApprovalBody::Command {
            command,
            segments: Vec::new(),
            folder: ".".into(),
            time_limit: Millis::seconds(1),
            background: false,
            sandbox: SandboxSummary {
                confined: true,
                ..SandboxSummary::default()
            },
        },
        undo: UndoFact::NotCovered {
            why: "a command".into(),
        },
        flow: Flow::Run,
    }
}

/// What comes of a call that ran to its end.
pub fn outcome(
    dice: &mut Dice,
    tool: &str,
    arguments: &str,
    approved: &[FileBase],
    files: &mut Files,
    steady: bool,
) -> Result<CallOutput, CallFailure> {
    let path = argument(arguments, "path");
    let differs = |base: &&FileBase| base.version != files.version(&base.path);
    if let Some(base) = approved.iter().find(differs) {
        let path = base.path.clone();
        return Err(CallFailure::ChangedSince { path });
    }
    match dice.below(100) {
        0..=8 => return Err(CallFailure::Model("it broke".into())),
        9 => return Err(CallFailure::Fatal("disk full".into())),
        _ => {}
    }
    let changes = match tool {
        "write_file" => {
            let text = argument(arguments, "text");
            let before = files.write(&path, &text);
            vec![change(&path, &before, &text)]
        }
        "delete_files" => {
            let before = files.write(&path, "");
            vec![change(&path, &before, "")]
        }
        _ => Vec::new(),
    };
    let which = if steady { 0 } else { dice.below(4) };
    let ok = steady || dice.chance(85);
    Ok(CallOutput {
        ok,
        text: format!("result {which}"),
        exit_code: (tool == "run_command").then_some(i32::from(!ok)),
        changes,
        ..CallOutput::default()
    })
}
