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

/// Places outside of the project.
pub const OUTSIDE: &[&str] = &["/o/w/x", "/o/w/y"];

/// The folder that holds them.
pub const FOLDER: &str = "/o/w/";

/// Hosts that commands want, each with where it may turn out to lead.
pub const HOSTS: &[(&str, HostReach)] = &[
    ("a.example.org", HostReach::Unknown),
    ("b.example.org", HostReach::Unknown),
    ("a.example.org", HostReach::Private),
    ("b.example.org", HostReach::Loopback),
    ("127.0.0.1", HostReach::Loopback),
    ("localhost", HostReach::Loopback),
];

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
        notes: Vec::new(),
    }
}

/// A change in two places, of which one may be left out.
fn two_changes(path: &str) -> FileChange {
    let mut change = change(path, "a", "b");
    if let Some(diff) = &mut change.diff {
        let first = diff.hunks.first().cloned().expect("a hunk");
        diff.hunks.push(Hunk {
            old_start: 20,
            new_start: 20,
            ..first
        });
    }
    change
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
            let access = if path.starts_with('/') {
                outside(&path, false)
            } else {
                Access::Read { path: path.clone() }
            };
            CallPlan {
                access: vec![access],
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

pub fn outside(path: &str, write: bool) -> Access {
    Access::Outside {
        path: path.to_owned(),
        write,
        through: None,
    }
}

fn write_plan(path: &str, files: &Files) -> CallPlan {
    let access = if path.starts_with('/') {
        outside(path, true)
    } else if path == PROTECTED {
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
            change: two_changes(path),
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
                network: NetworkLevel::Asks,
                ..SandboxSummary::default()
            },
        },
        undo: UndoFact::NotCovered {
            why: "a command".into(),
        },
        flow: Flow::Run,
    }
}

/// What a command that failed was refused: a place that it was not let into, and now and then a host.
fn refused(dice: &mut Dice, reach: &[Access]) -> Vec<Access> {
    let mut refused = Vec::new();
    for _ in 0..1 + dice.below(2) {
        let (path, write) = (*dice.pick(OUTSIDE), dice.chance(50));
        let reaches = |access: &Access| matches!(access, Access::Outside { path: open, write: writes, .. } if (open == path || open == FOLDER) && (*writes || !write));
        // A rule may have opened it while the command ran.
        let late = dice.chance(40);
        if (late || !reach.iter().any(reaches)) && !refused.contains(&outside(path, write)) {
            refused.push(outside(path, write));
        }
    }
    if dice.chance(20) {
        refused.push(Access::Network {
            host: "a.example.org".into(),
        });
    }
    refused
}

/// What comes of a call that ran to its end.
pub fn outcome(
    dice: &mut Dice,
    tool: &str,
    arguments: &str,
    (approved, reach): (&[FileBase], &[Access]),
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
    let command = tool == "run_command";
    let ok = steady || dice.chance(if command { 65 } else { 85 });
    let refused = if command && !ok && dice.chance(50) {
        refused(dice, reach)
    } else {
        Vec::new()
    };
    Ok(CallOutput {
        ok,
        text: format!("result {which}"),
        exit_code: command.then_some(i32::from(!ok)),
        changes,
        refused,
        ..CallOutput::default()
    })
}
