//! Changes of several files in one patch, all or nothing.

use crate::change::{self, Plan};
use crate::matching::How;
use crate::nearest::{self, Wanted};
use crate::patch::{self, Action, Hunk};
use crate::several::{self, Step};
use crate::text::{Text, binary_kind};
use crate::typed::{Stop, TypedTool, done};
use crate::{CallContext, Flow, Prepared, ToolError, ToolKind, paths};
use paddock_protocol::{CallOutput, UndoFact, Verb};
use paddock_sandbox::{PathError, RelativePath};
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeSet;

/// More are no change that a person could look through.
const MAX_FILES: usize = 100;

pub(crate) struct ApplyPatch;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    patch: String,
}

impl TypedTool for ApplyPatch {
    type Input = Input;
    const NAME: &'static str = "apply_patch";
    const DESCRIPTION: &'static str = include_str!("apply_patch.md").trim_ascii();
    const KIND: ToolKind = ToolKind::Write;

    fn prepare(input: Input, cx: &CallContext) -> Result<Prepared, ToolError> {
        let steps = plan(cx, &input.patch)?.steps;
        Ok(Prepared {
            verb: verb(&steps),
            target: target(&steps),
            access: steps.iter().flat_map(|step| step.access(cx)).collect(),
            body: several::body(cx, &steps),
            undo: UndoFact::Covered,
            flow: Flow::Run,
        })
    }

    fn run(input: Input, cx: &CallContext, _: &Stop) -> Result<CallOutput, ToolError> {
        let plan = plan(cx, &input.patch)?;
        several::check_approved(cx, &plan.steps)?;
        let changes = several::carry_out(cx, &plan.steps)?;
        let mut lines: Vec<String> = plan.steps.iter().map(Step::report).collect();
        if plan.loosely {
            lines.push(
                "The white space of some lines differed; the indentation of the files was kept.".to_owned(),
            );
        }
        Ok(CallOutput {
            changes,
            ..done(lines.join("\n"))
        })
    }
}

/// What a patch comes to on the files as they are.
struct Planned {
    steps: Vec<Step>,
    /// Some place was found but for white space.
    loosely: bool,
}

/// What a patch named so far, by path and, where the system has them, by device and number.
#[derive(Default)]
struct Seen {
    paths: BTreeSet<RelativePath>,
    files: BTreeSet<(u64, u64)>,
}

fn plan(cx: &CallContext, text: &str) -> Result<Planned, ToolError> {
    let files = patch::parse(text).map_err(ToolError::Arguments)?;
    if files.len() > MAX_FILES {
        return Err(ToolError::Arguments(format!(
            "`patch` changes {} files; {MAX_FILES} at once are possible",
            files.len()
        )));
    }
    let mut seen = Seen::default();
    let mut planned = Planned {
        steps: Vec::new(),
        loosely: false,
    };
    for file in &files {
        let path = named_once(cx, &mut seen, file.path)?;
        let step = match &file.action {
            Action::Add { content } => add(cx, path, content)?,
            Action::Delete => Step::Remove {
                old: existing(cx, &path, &mut seen)?,
                path,
            },
            Action::Update { move_to, hunks } => {
                let to = move_to.map(|to| named_once(cx, &mut seen, to)).transpose()?;
                let (old, new, loosely) = update(cx, &path, hunks, &mut seen)?;
                planned.loosely |= loosely;
                match to {
                    Some(to) if change::current(cx, &to)?.is_some() => return Err(exists(&to)),
                    Some(to) => Step::Move {
                        from: path,
                        to,
                        old,
                        new,
                    },
                    None => Step::Write(Plan {
                        path,
                        old: Some(old),
                        new,
                    }),
                }
            }
        };
        planned.steps.push(step);
    }
    Ok(planned)
}

fn named_once(cx: &CallContext, seen: &mut Seen, argument: &str) -> Result<RelativePath, ToolError> {
    let path = paths::locate(cx, argument)?;
    if path.is_root() {
        return Err(ToolError::Arguments(
            "`.` in `patch` is the project folder itself; name a file".to_owned(),
        ));
    }
    if !seen.paths.insert(path.clone()) {
        return Err(ToolError::Arguments(format!(
            "`{path}` is named twice in `patch`; put all changes of a file in one part"
        )));
    }
    Ok(path)
}

fn add(cx: &CallContext, path: RelativePath, content: &str) -> Result<Step, ToolError> {
    if change::current(cx, &path)?.is_some() {
        return Err(exists(&path));
    }
    Ok(Step::Write(Plan {
        path,
        old: None,
        new: content.as_bytes().to_vec(),
    }))
}

fn exists(path: &RelativePath) -> ToolError {
    ToolError::Model(format!(
        "`{path}` exists already; nothing was changed. Update it instead."
    ))
}

/// What a file holds that is there. A link is refused: it is not what a person sees in the diff.
fn existing(cx: &CallContext, path: &RelativePath, seen: &mut Seen) -> Result<Vec<u8>, ToolError> {
    several::no_link(cx, path)?;
    let found = cx.root.metadata(path).map_err(paths::failure)?;
    if found.inode != 0 && !seen.files.insert((found.device, found.inode)) {
        return Err(ToolError::Model(format!(
            "`{path}` is the same file as another one in `patch`; nothing was changed."
        )));
    }
    change::current(cx, path)?.ok_or_else(|| paths::failure(PathError::NotFound { path: path.clone() }))
}

/// Old and new content, and whether a place was found but for white space.
fn update(
    cx: &CallContext,
    path: &RelativePath,
    hunks: &[Hunk<'_>],
    seen: &mut Seen,
) -> Result<(Vec<u8>, Vec<u8>, bool), ToolError> {
    let old = existing(cx, path, seen)?;
    if hunks.is_empty() {
        return Ok((old.clone(), old, false));
    }
    let Some(text) = Text::decode(&old) else {
        return Err(ToolError::Model(format!(
            "`{path}` is {}, not text; nothing was changed.",
            binary_kind(&old)
        )));
    };
    let (content, loosely) = patched(cx, path, &text.content, hunks)?;
    let new = text.encode(&content).map_err(|letter| {
        ToolError::Model(format!(
            "`{path}` is not stored as UTF-8 and cannot hold “{letter}”; nothing was changed."
        ))
    })?;
    if new == old {
        return Err(ToolError::Model(format!(
            "The patch leaves `{path}` as it is; nothing was changed."
        )));
    }
    Ok((old, new, loosely))
}

fn patched(
    cx: &CallContext,
    path: &RelativePath,
    content: &str,
    hunks: &[Hunk<'_>],
) -> Result<(String, bool), ToolError> {
    let mut replacements = Vec::new();
    let mut loosely = false;
    for (index, hunk) in hunks.iter().enumerate() {
        if hunk.has_no_place(content) {
            return Err(ToolError::Model(format!(
                "Part {} of the patch for `{path}` only adds lines; nothing was changed. Add the unchanged lines around them.",
                index + 1
            )));
        }
        let found = hunk.locate(content).map_err(|none| {
            let wanted = Wanted {
                name: &format!("Part {} of the patch", index + 1),
                one_place: "Add unchanged lines around it, or a `@@` line with the line above where it belongs.",
                call_again: None,
            };
            let hidden = paths::is_hidden_secret(cx, path);
            ToolError::Model(nearest::explain(&wanted, path.as_str(), content, &none, hidden))
        })?;
        loosely |= found.how == How::WhiteSpace;
        replacements.extend(found.replacements);
    }
    replacements.sort_by_key(|replacement| replacement.range.start);
    let overlap = replacements
        .windows(2)
        .any(|pair| pair[1].range.start < pair[0].range.end || pair[0].range == pair[1].range);
    if overlap {
        return Err(ToolError::Model(format!(
            "Two parts of the patch change the same lines of `{path}`; nothing was changed. Make them one part."
        )));
    }
    let all = crate::matching::Match {
        replacements,
        how: How::Exactly,
    };
    Ok((all.apply(content), loosely))
}

fn verb(steps: &[Step]) -> Verb {
    let all = |test: fn(&Step) -> bool| steps.iter().all(test);
    if all(|step| matches!(step, Step::Write(plan) if plan.old.is_none())) {
        Verb::Create
    } else if all(|step| matches!(step, Step::Remove { .. })) {
        Verb::Delete
    } else if all(|step| matches!(step, Step::Move { .. })) {
        Verb::Move
    } else {
        Verb::Edit
    }
}

fn target(steps: &[Step]) -> String {
    let first = steps.first().map(|step| step.change().path).unwrap_or_default();
    match steps.len() {
        0 | 1 => first,
        many => format!("{first} and {} more", many - 1),
    }
}
