//! A file or a small folder at another place.

use crate::folder::{self, Contents};
use crate::several::{self, Step};
use crate::typed::{Stop, TypedTool, done};
use crate::{CallContext, Flow, Prepared, ToolError, ToolKind, bounds, change, paths};
use paddock_protocol::{CallOutput, UndoFact, Verb};
use paddock_sandbox::{PathError, RelativePath};
use schemars::JsonSchema;
use serde::Deserialize;

const TOO_MANY: &str = "Use run_command to move it.";

pub(crate) struct MoveFile;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    from: String,
    to: String,
}

impl TypedTool for MoveFile {
    type Input = Input;
    const NAME: &'static str = "move_file";
    const DESCRIPTION: &'static str = include_str!("move_file.md").trim_ascii();
    const KIND: ToolKind = ToolKind::Write;

    fn prepare(input: Input, cx: &CallContext) -> Result<Prepared, ToolError> {
        let plan = plan(cx, &input)?;
        Ok(Prepared {
            verb: Verb::Move,
            target: format!("{} to {}", plan.from, plan.to),
            access: [paths::writes(cx, &plan.from), paths::writes(cx, &plan.to)]
                .into_iter()
                .chain(plan.steps.iter().map(|step| step.access(cx)))
                .flatten()
                .fold(Vec::new(), |mut all, access| {
                    if !all.contains(&access) {
                        all.push(access);
                    }
                    all
                }),
            body: several::body(cx, &plan.steps),
            undo: UndoFact::Covered,
            flow: Flow::Run,
        })
    }

    fn run(input: Input, cx: &CallContext, _: &Stop) -> Result<CallOutput, ToolError> {
        let plan = plan(cx, &input)?;
        several::check_approved(cx, &plan.steps)?;
        change::changeable_root(cx, &plan.from)?;
        let changes = several::carry_out(cx, &plan.steps)?;
        let text = if plan.contents.is_folder {
            folder::make_all(cx, &plan.moved_folders());
            folder::remove_empty(cx, &plan.contents.folders);
            let files = bounds::count(plan.steps.len(), "file");
            format!("Moved {} to {} ({files}).", plan.from, plan.to)
        } else {
            format!("Moved {} to {}.", plan.from, plan.to)
        };
        Ok(CallOutput {
            changes,
            ..done(text)
        })
    }
}

struct Plan {
    from: RelativePath,
    to: RelativePath,
    contents: Contents,
    steps: Vec<Step>,
}

fn plan(cx: &CallContext, input: &Input) -> Result<Plan, ToolError> {
    let from = paths::locate(cx, &input.from)?;
    let to = paths::locate(cx, &input.to)?;
    if to.starts_with(&from) {
        return Err(ToolError::Model(format!(
            "`{to}` is `{from}` itself or lies in it; nothing was moved."
        )));
    }
    let contents = folder::contents(cx, &from, TOO_MANY)?;
    if cx.root.exists(&to) {
        return Err(paths::failure(PathError::AlreadyExists { path: to }));
    }
    // A place that cannot be reached is refused before anyone is asked.
    change::current(cx, &to)?;
    let steps = contents
        .files
        .iter()
        .map(|(path, content)| {
            Ok(Step::Move {
                from: path.clone(),
                to: below(&from, &to, path)?,
                old: content.clone(),
                new: content.clone(),
            })
        })
        .collect::<Result<_, ToolError>>()?;
    Ok(Plan {
        from,
        to,
        contents,
        steps,
    })
}

impl Plan {
    fn moved_folders(&self) -> Vec<RelativePath> {
        let folders = self.contents.folders.iter();
        folders
            .filter_map(|folder| below(&self.from, &self.to, folder).ok())
            .collect()
    }
}

/// Where something in the moved folder will be.
fn below(from: &RelativePath, to: &RelativePath, path: &RelativePath) -> Result<RelativePath, ToolError> {
    match path.as_str()[from.as_str().len()..].strip_prefix('/') {
        None => Ok(to.clone()),
        Some(rest) => to.join(rest).map_err(paths::failure),
    }
}
