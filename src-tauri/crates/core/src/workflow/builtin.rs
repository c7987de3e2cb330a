//! The workflows that come with Paddock. Those that delete, rename or discard look at the project when they are previewed
//! and carry exactly what they saw in the arguments of their calls; the others are files like anyone's.

use super::file::{self, Definition};
use super::look::{self, Chosen};
use super::{Place, Problem};
use paddock_protocol::{
    ParameterKind, ParameterProblem, ParameterValue, ParameterValues, WorkflowEffect, WorkflowEffectKind,
    WorkflowStep,
};
use paddock_sandbox::{ProjectRoot, RelativePath};
use paddock_tools::bulk::{self, Doomed, Git, RenameProblem};
use paddock_tools::{Registry, ToolError};
use serde_json::json;

/// What a built-in workflow does besides sending messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    Delete,
    CleanUp,
    Rename,
    Discard,
}

const FILES: &[(&str, Option<Action>)] = &[
    (include_str!("builtin/explain-folder.toml"), None),
    (include_str!("builtin/add-tests.toml"), None),
    (include_str!("builtin/bulk-rename.toml"), Some(Action::Rename)),
    (include_str!("builtin/clean-up.toml"), Some(Action::CleanUp)),
    (include_str!("builtin/bulk-delete.toml"), Some(Action::Delete)),
    (
        include_str!("builtin/discard-all-changes.toml"),
        Some(Action::Discard),
    ),
];

/// The git command that takes back what is staged and touches no file.
const UNSTAGE: &str = "git -c core.hooksPath=/dev/null -c core.fsmonitor=false reset --quiet";

/// All of them, with the choices that this project offers.
pub fn all(root: &ProjectRoot, registry: &Registry) -> Vec<(Definition, Option<Action>)> {
    FILES
        .iter()
        .map(|(text, action)| {
            let mut definition = file::read_own(text, registry);
            for parameter in &mut definition.parameters {
                if let (Some(Action::CleanUp), ParameterKind::Choices { options }) =
                    (action, &mut parameter.kind)
                {
                    *options = look::build_folders(root);
                }
            }
            (definition, *action)
        })
        .collect()
}

/// What a workflow would do, step by step, with everything it would touch.
#[derive(Debug, Default)]
pub struct Outlook {
    pub steps: Vec<WorkflowStep>,
    pub effects: Vec<WorkflowEffect>,
    /// Number of files.
    pub files: u32,
    pub confirm: String,
    /// What the effects depend on besides what they say.
    pub facts: Vec<String>,
}

impl Action {
    /// Looks at what would be done with these values.
    pub async fn outlook(self, place: &Place, values: &ParameterValues) -> Result<Outlook, Problem> {
        match self {
            Action::Delete => {
                let (root, chosen) = (place.root.clone(), Chosen::of(values)?);
                let looked = blocking(move || {
                    let paths = chosen.files(&root)?;
                    Ok(bulk::doomed(&root, &paths)?)
                });
                deletion(looked.await?)
            }
            Action::CleanUp => clean_up(place, values).await,
            Action::Rename => rename(place, values).await,
            Action::Discard => discard(place, values).await,
        }
    }
}

fn on(values: &ParameterValues, name: &str) -> bool {
    matches!(values.get(name), Some(ParameterValue::Switch(true)))
}

pub(super) fn wrong(parameter: &str, problem: impl Into<String>) -> Problem {
    Problem::Parameters(vec![ParameterProblem {
        parameter: parameter.to_owned(),
        problem: problem.into(),
    }])
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| {
        Err(Problem::Tool(ToolError::Fatal(
            "the look at the project broke off".to_owned(),
        )))
    })
}

fn deletion(doomed: Vec<Doomed>) -> Result<Outlook, Problem> {
    let files = doomed.iter().map(|one| one.files).sum();
    Ok(Outlook {
        steps: vec![call(
            "delete_files",
            json!({
                "paths": doomed.iter().map(|one| &one.path).collect::<Vec<_>>(),
                "identities": doomed.iter().map(|one| &one.identity).collect::<Vec<_>>(),
            }),
        )],
        effects: doomed.iter().map(deleted).collect(),
        files,
        confirm: format!("Delete {}", counted(files, "file")),
        facts: Vec::new(),
    })
}

fn call(tool: &str, arguments: serde_json::Value) -> WorkflowStep {
    WorkflowStep::Call {
        tool: tool.to_owned(),
        arguments: arguments.to_string(),
    }
}

fn deleted(one: &Doomed) -> WorkflowEffect {
    let folder = if one.is_folder { "/" } else { "" };
    let lost = one
        .lost
        .as_ref()
        .map(|why| format!("; {why}"))
        .unwrap_or_default();
    WorkflowEffect {
        kind: WorkflowEffectKind::Delete,
        target: format!("{}{folder}", one.path),
        detail: format!("{}{lost}", one.size()),
        undoable: one.lost.is_none(),
    }
}

/// `1 file`, `2 files`.
pub(super) fn counted(number: u32, word: &str) -> String {
    if number == 1 {
        format!("1 {word}")
    } else {
        format!("{number} {word}s")
    }
}

async fn clean_up(place: &Place, values: &ParameterValues) -> Result<Outlook, Problem> {
    let Some(ParameterValue::List(folders)) = values.get("folders") else {
        return Err(wrong("folders", "This is needed."));
    };
    let mut folders = folders.clone();
    folders.sort();
    folders.dedup();
    let has_repository = place
        .root
        .relative(".git")
        .is_ok_and(|path| place.root.exists(&path));
    if has_repository && !on(values, "tracked") {
        let tracked = git(place).with_tracked(&folders).await?;
        if !tracked.is_empty() {
            return Err(wrong(
                "folders",
                format!("These hold files under version control: {}.", tracked.join(", ")),
            ));
        }
    }
    let root = place.root.clone();
    let looked = blocking(move || {
        let paths: Vec<RelativePath> = folders
            .iter()
            .filter_map(|folder| root.relative(folder).ok())
            .collect();
        Ok(bulk::doomed(&root, &paths)?)
    });
    deletion(looked.await?)
}

fn git(place: &Place) -> Git {
    Git {
        root: place.root.clone(),
        confinement: place.confinement.clone(),
        state: place.state.clone(),
    }
}

async fn rename(place: &Place, values: &ParameterValues) -> Result<Outlook, Problem> {
    let (root, chosen) = (place.root.clone(), Chosen::of(values)?);
    let renaming = look::Renaming::of(values)?;
    let looked = blocking(move || {
        let pairs = renaming.pairs(&root, chosen.files(&root)?)?;
        bulk::renamed(&root, &pairs)?.map_err(|problems| names_problem(&problems))
    });
    let files = looked.await?;
    let number = u32::try_from(files.len()).unwrap_or(u32::MAX);
    Ok(Outlook {
        steps: vec![call(
            "rename_files",
            json!({
                "from": files.iter().map(|file| &file.from).collect::<Vec<_>>(),
                "to": files.iter().map(|file| &file.to).collect::<Vec<_>>(),
                "identities": files.iter().map(|file| &file.identity).collect::<Vec<_>>(),
            }),
        )],
        effects: files
            .iter()
            .map(|file| WorkflowEffect {
                kind: WorkflowEffectKind::Move,
                target: file.from.clone(),
                detail: match &file.lost {
                    None => file.to.clone(),
                    Some(_) => format!("{} (undo does not take it back: too much to keep)", file.to),
                },
                undoable: file.lost.is_none(),
            })
            .collect(),
        files: number,
        confirm: format!("Rename {}", counted(number, "file")),
        facts: Vec::new(),
    })
}

fn names_problem(problems: &[RenameProblem]) -> Problem {
    let shown: Vec<String> = problems.iter().take(5).map(ToString::to_string).collect();
    let more = problems.len().saturating_sub(shown.len());
    let mut text = shown.join(" ");
    if more > 0 {
        text.push_str(&format!(" And {more} more."));
    }
    wrong("replace", text)
}

async fn discard(place: &Place, values: &ParameterValues) -> Result<Outlook, Problem> {
    let found = bulk::discard(&git(place), on(values, "new_files")).await?;
    if found.files() == 0 && !found.staged {
        return Err(wrong("new_files", "Nothing differs from the last commit."));
    }
    let mut outlook = Outlook {
        files: u32::try_from(found.files()).unwrap_or(u32::MAX),
        confirm: found.words(),
        ..Outlook::default()
    };
    if found.files() > 0 {
        let programs = found.restore.iter().filter(|file| file.executable);
        outlook.steps.push(call(
            "discard_changes",
            json!({
                "restore": found.restore.iter().map(|file| &file.path).collect::<Vec<_>>(),
                "blobs": found.restore.iter().map(|file| &file.blob).collect::<Vec<_>>(),
                "restore_identities": found.restore.iter().map(|file| &file.identity).collect::<Vec<_>>(),
                "programs": programs.map(|file| &file.path).collect::<Vec<_>>(),
                "remove": found.remove.iter().map(|one| &one.path).collect::<Vec<_>>(),
                "remove_identities": found.remove.iter().map(|one| &one.identity).collect::<Vec<_>>(),
            }),
        ));
    }
    let effect = |target: &str, detail: String, undoable| WorkflowEffect {
        kind: WorkflowEffectKind::Restore,
        target: target.to_owned(),
        detail,
        undoable,
    };
    outlook.effects.extend(found.restore.iter().map(|file| {
        let detail = match (&file.lost, file.missing) {
            (Some(why), _) => why.clone(),
            (None, true) => "comes back".to_owned(),
            (None, false) => String::new(),
        };
        effect(&file.path, detail, file.lost.is_none())
    }));
    outlook.effects.extend(found.remove.iter().map(deleted));
    if found.staged {
        outlook
            .steps
            .push(call("run_command", json!({ "command": UNSTAGE })));
        outlook.effects.push(WorkflowEffect {
            kind: WorkflowEffectKind::Run,
            target: UNSTAGE.to_owned(),
            detail: "takes back what is staged; no file changes by it".to_owned(),
            undoable: false,
        });
    }
    outlook.effects.extend(
        found
            .left
            .iter()
            .map(|(path, why)| effect(path, format!("stays as it is: {why}"), true)),
    );
    Ok(outlook)
}
