//! All tools, in the order in which a model is told of them. The order never changes within a session, so that the
//! provider's prompt cache holds.

use crate::bulk::{DeleteFiles, DiscardChanges, RenameFiles};
use crate::typed::Erased;
use crate::{
    Tool, ToolKind, apply_patch::ApplyPatch, ask_question::AskQuestion, converse::Converse,
    delegate::Delegate, delete_file::DeleteFile, diagnostics::Diagnostics, edit_file::EditFile,
    fetch::FetchUrl, find_files::FindFiles, list_files::ListFiles, move_file::MoveFile, read_file::ReadFile,
    read_output::ReadOutput, remember::Remember, run_command::RunCommand, search_files::SearchFiles,
    stop_process::StopProcess, task_completion::TaskCompletion, update_plan::UpdatePlan,
    write_file::WriteFile,
};
use paddock_protocol::Role;
use serde_json::Value;
use std::sync::Arc;

/// Something a model may put before the name of a tool.
const PREFIXES: [&str; 5] = [
    "functions.",
    "functions:",
    "default_api:",
    "default_api.",
    "local:",
];

/// The tools by name.
#[derive(Clone)]
pub struct Registry {
    tools: Arc<[Arc<dyn Tool>]>,
    /// Those of workflows, of which no model hears.
    workflow_only: Arc<[Arc<dyn Tool>]>,
}

impl Default for Registry {
    fn default() -> Self {
        Self::new()
    }
}

impl Registry {
    pub fn new() -> Self {
        Self {
            tools: Arc::new([
                Erased::<ListFiles>::tool(),
                Erased::<FindFiles>::tool(),
                Erased::<SearchFiles>::tool(),
                Erased::<ReadFile>::tool(),
                Erased::<ReadOutput>::tool(),
                Erased::<WriteFile>::tool(),
                Erased::<EditFile>::tool(),
                Arc::new(RunCommand::new()),
                Erased::<AskQuestion>::tool(),
                Erased::<Converse>::tool(),
                Erased::<TaskCompletion>::tool(),
                Erased::<ApplyPatch>::tool(),
                Erased::<MoveFile>::tool(),
                Erased::<DeleteFile>::tool(),
                Erased::<StopProcess>::tool(),
                Arc::new(FetchUrl::new()),
                Arc::new(Diagnostics::new()),
                Erased::<UpdatePlan>::tool(),
                Erased::<Remember>::tool(),
                Erased::<Delegate>::tool(),
            ]),
            workflow_only: Arc::new([
                Erased::<DeleteFiles>::tool(),
                Erased::<RenameFiles>::tool(),
                Arc::new(DiscardChanges::new()),
            ]),
        }
    }

    /// The tool of exactly this name, those of workflows too.
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        let all = self.tools.iter().chain(self.workflow_only.iter());
        all.into_iter().find(|tool| tool.name() == name)
    }

    /// Names of the tools that only a workflow uses: they are in no list, and for a model there is no such tool.
    pub fn workflow_only(&self) -> Vec<&'static str> {
        self.workflow_only.iter().map(|tool| tool.name()).collect()
    }

    /// The tool a model means: exactly, or but for a known prefix and the case of letters. Never one of a workflow.
    pub fn resolve(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        let name = name.trim();
        let bare = PREFIXES
            .iter()
            .find_map(|prefix| name.strip_prefix(prefix))
            .unwrap_or(name);
        let exact = self.tools.iter().find(|tool| tool.name() == name);
        exact.or_else(|| {
            self.tools
                .iter()
                .find(|tool| tool.name().eq_ignore_ascii_case(bare))
        })
    }

    /// Whether a role has a tool: everything but writing in role Plan.
    pub fn is_offered(tool: &dyn Tool, role: Role) -> bool {
        role != Role::Plan || tool.kind() != ToolKind::Write
    }

    /// Name, description and schema of the arguments of every tool a role has, always in the same order.
    pub fn specs(&self, role: Role) -> Vec<(&'static str, &'static str, Value)> {
        self.tools
            .iter()
            .filter(|tool| Self::is_offered(&***tool, role))
            .map(|tool| (tool.name(), tool.description(), tool.schema()))
            .collect()
    }

    /// Names of the tools a role has.
    pub fn names(&self, role: Role) -> Vec<&'static str> {
        self.tools
            .iter()
            .filter(|tool| Self::is_offered(&***tool, role))
            .map(|tool| tool.name())
            .collect()
    }
}
