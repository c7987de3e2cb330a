//! A file or a small folder, deleted so that it can be brought back.

use crate::folder::{self, Contents};
use crate::several::{self, Step};
use crate::typed::{Stop, TypedTool, done};
use crate::{CallContext, Flow, Prepared, ToolError, ToolKind, bounds, paths};
use paddock_protocol::{ApprovalBody, CallOutput, UndoFact, Verb};
use paddock_sandbox::RelativePath;
use schemars::JsonSchema;
use serde::Deserialize;

const TOO_MANY: &str = "For that there is the clean-up workflow, which the person can start.";

pub(crate) struct DeleteFile;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    path: String,
}

impl TypedTool for DeleteFile {
    type Input = Input;
    const NAME: &'static str = "delete_file";
    const DESCRIPTION: &'static str = include_str!("delete_file.md").trim_ascii();
    const KIND: ToolKind = ToolKind::Write;

    fn prepare(input: Input, cx: &CallContext) -> Result<Prepared, ToolError> {
        let (path, contents, steps) = plan(cx, &input)?;
        let mut access = paths::deletes(cx, &path);
        if contents.is_folder {
            access.extend(steps.iter().flat_map(|step| step.access(cx)));
        }
        Ok(Prepared {
            verb: Verb::Delete,
            target: path.to_string(),
            access,
            body: ApprovalBody::Delete {
                files: steps.iter().map(Step::change).collect(),
                base: several::base(&steps),
            },
            undo: if steps.is_empty() {
                UndoFact::NotCovered {
                    why: "An empty folder is not kept.".to_owned(),
                }
            } else {
                UndoFact::Covered
            },
            flow: Flow::Run,
        })
    }

    fn run(input: Input, cx: &CallContext, _: &Stop) -> Result<CallOutput, ToolError> {
        let (path, contents, steps) = plan(cx, &input)?;
        several::check_approved(cx, &steps)?;
        crate::change::changeable_root(cx, &path)?;
        let changes = several::carry_out(cx, &steps)?;
        let mut text = format!("Deleted {path}.");
        if contents.is_folder {
            let files = bounds::count(steps.len(), "file");
            text = if folder::remove_empty(cx, &contents.folders) {
                format!("Deleted {path} ({files}).")
            } else {
                format!("Deleted {files} in {path}; the folder stays, because something new came into it.")
            };
        }
        Ok(CallOutput {
            changes,
            ..done(text)
        })
    }
}

fn plan(cx: &CallContext, input: &Input) -> Result<(RelativePath, Contents, Vec<Step>), ToolError> {
    let path = paths::locate(cx, &input.path)?;
    let contents = folder::contents(cx, &path, TOO_MANY)?;
    let steps = contents
        .files
        .iter()
        .map(|(path, content)| Step::Remove {
            path: path.clone(),
            old: content.clone(),
        })
        .collect();
    Ok((path, contents, steps))
}
