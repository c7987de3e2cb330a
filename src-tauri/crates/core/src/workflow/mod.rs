//! Workflows: procedures that a person starts from a form. From file to run there is one way: read → check the values →
//! look at what would happen → confirm → exactly that. The wall stands here because the model has no part in it: it is not
//! told of workflows, cannot start one, and cannot switch one on that lies in the project.

mod builtin;
mod file;
mod look;
pub mod parameters;
mod plan;
mod preview;
pub mod source;
pub mod template;

pub use plan::plan;
pub use preview::preview;

use builtin::Action;
use file::Definition;
use paddock_protocol::{
    ClientError, DefinitionSource, ErrorCode, ParameterProblem, SandboxSummary, WorkflowInfo,
};
use paddock_sandbox::{Confinement, ProjectRoot, StateDir};
use paddock_store::{Home, StoreError};
use paddock_tools::{Registry, ToolError};
use source::{Found, Sort};
use std::sync::Arc;

/// Where workflows are read, looked at and run.
#[derive(Clone)]
pub struct Place {
    pub home: Home,
    pub root: ProjectRoot,
    pub registry: Arc<Registry>,
    pub confinement: Arc<dyn Confinement>,
    pub state: StateDir,
    /// What confines commands here, for what a preview says of them.
    pub sandbox: SandboxSummary,
    /// Ids of the configured providers.
    pub providers: Vec<String>,
}

/// Why a preview has no effects.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    /// Single fields of the form.
    #[error("the values do not fit")]
    Parameters(Vec<ParameterProblem>),
    #[error("{0}")]
    Tool(#[from] ToolError),
}

/// One workflow with everything that is known of it.
struct Known {
    source: DefinitionSource,
    definition: Definition,
    action: Option<Action>,
    /// Text of its file; empty for a built-in one.
    text: String,
    is_on: bool,
}

impl Known {
    fn info(&self) -> WorkflowInfo {
        let definition = &self.definition;
        WorkflowInfo {
            name: definition.name.clone(),
            title: definition.title.clone(),
            description: definition.description.clone(),
            source: self.source.clone(),
            destructive: self.action.is_some() || definition.is_destructive(),
            parameters: definition.parameters.clone(),
            steps: definition.lines.clone(),
            problems: definition.problems.clone(),
        }
    }
}

/// The workflows of the project, of the person and built in. Blocking.
pub fn list(home: &Home, root: &ProjectRoot, registry: &Registry) -> Result<Vec<WorkflowInfo>, StoreError> {
    Ok(known(home, root, registry)?.iter().map(Known::info).collect())
}

fn known(home: &Home, root: &ProjectRoot, registry: &Registry) -> Result<Vec<Known>, StoreError> {
    let mut all: Vec<Known> = builtin::all(root, registry)
        .into_iter()
        .map(|(definition, action)| Known {
            source: DefinitionSource::BuiltIn,
            definition,
            action,
            text: String::new(),
            is_on: true,
        })
        .collect();
    for found in source::find(Sort::Workflow, home, root)? {
        let mut one = read(found, registry);
        let name = &one.definition.name;
        if all.iter().any(|other| other.definition.name == *name) {
            let problem = format!("Another workflow is called `{name}` already; choose another name.");
            one.definition.problems.push(problem);
        }
        all.push(one);
    }
    Ok(all)
}

fn read(found: Found, registry: &Registry) -> Known {
    let is_on = found.is_on();
    let (text, mut definition) = match &found.text {
        Ok(text) => (text.clone(), file::read(text, &found.stem, registry)),
        Err(why) => {
            let definition = Definition {
                name: found.stem.clone(),
                title: found.stem.clone(),
                problems: vec![why.clone()],
                ..Definition::default()
            };
            (String::new(), definition)
        }
    };
    definition.problems.extend(found.warnings);
    Known {
        source: found.source,
        definition,
        action: None,
        text,
        is_on,
    }
}

/// The workflow of this name, if it may run. The first of a name counts: built in, then of the person, then of the project.
fn runnable(place: &Place, name: &str) -> Result<Known, ClientError> {
    let all = known(&place.home, &place.root, &place.registry).map_err(|error| {
        ClientError::new(ErrorCode::Storage, error.to_string())
            .hint("Paddock's data folder must be readable.")
    })?;
    let one = all
        .into_iter()
        .find(|known| known.definition.name == name)
        .ok_or_else(|| {
            ClientError::new(ErrorCode::NotFound, format!("There is no workflow `{name}`."))
                .hint("Look at the list of workflows.")
        })?;
    if !one.is_on {
        return Err(ClientError::new(
            ErrorCode::NotNow,
            format!("`{name}` is a file of the project that you have not switched on."),
        )
        .hint("Read it first and accept it."));
    }
    match one.definition.problems.first() {
        Some(problem) => Err(ClientError::new(
            ErrorCode::BadRequest,
            format!("`{name}` cannot run. {problem}"),
        )
        .hint("Put its file right.")),
        None => Ok(one),
    }
}

/// What a session cannot be told as a problem of a field.
fn refused(error: ToolError) -> ClientError {
    let words = error.to_string();
    let words = words.trim_end_matches('.');
    ClientError::new(
        ErrorCode::BadRequest,
        format!("The preview could not be made: {words}."),
    )
    .hint("Change the values, or what it names.")
}

#[cfg(test)]
mod tests;
