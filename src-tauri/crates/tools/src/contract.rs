//! The contract between a tool and dispatch.

use crate::Processes;
use async_trait::async_trait;
use paddock_protocol::{
    Access, ApprovalBody, Attachment, CallId, CallOutput, DeltaChannel, FileBase, FileVersion, HostReach,
    Hunk, Limits, Millis, PlanTask, SandboxSummary, UndoFact, Verb,
};
use paddock_sandbox::{Confinement, Gate, PathGrant, ProjectRoot, RelativePath, StateDir};
use std::pin::Pin;
use std::sync::Arc;

/// A tool with its input type erased. Arguments are raw JSON text; they are checked against the schema here,
/// before anything else, and again whenever they were edited.
#[async_trait]
pub trait Tool: Send + Sync {
    fn name(&self) -> &'static str;
    /// Prose for the model, from the tool's `.md` file.
    fn description(&self) -> &'static str;
    /// JSON schema of the arguments, small: no `$schema`, no titles.
    fn schema(&self) -> serde_json::Value;
    fn kind(&self) -> ToolKind;

    /// Reads the arguments and says what the call would touch. Reads files for a preview, changes nothing.
    async fn prepare(&self, arguments: &str, cx: &CallContext) -> Result<Prepared, ToolError>;

    /// Does it. Never called for [`ToolKind::Breaking`] and [`ToolKind::Loop`]. Dropping the future ends the work; a running
    /// command is ended by the sandbox.
    async fn run(&self, arguments: &str, cx: &CallContext) -> Result<CallOutput, ToolError>;
}

/// What kind of use a tool is, for roles and for the order of calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolKind {
    /// Runs side by side with other reads.
    Read,
    /// Changes files; one after another.
    Write,
    /// Runs a command; one after another.
    Command,
    /// Ends the iteration at once; carried out by the loop itself.
    Breaking,
    /// Carried out by the loop itself, beside the others: the task list, sub-agents.
    Loop,
}

/// A call that was understood.
#[derive(Clone, Debug)]
pub struct Prepared {
    pub verb: Verb,
    pub target: String,
    /// Everything it would touch; an empty list touches nothing.
    pub access: Vec<Access>,
    pub body: ApprovalBody,
    pub undo: UndoFact,
    pub flow: Flow,
}

/// What the loop does with the call.
#[derive(Clone, Debug, PartialEq)]
pub enum Flow {
    Run,
    Ask {
        question: String,
        options: Vec<String>,
    },
    Finish {
        result: String,
    },
    Say {
        message: String,
    },
    /// Replaces the task list.
    Plan {
        tasks: Vec<PlanTask>,
    },
    /// Starts a sub-agent; `writes` = it asks for a role that may change files.
    Delegate {
        name: String,
        task: String,
        writes: bool,
    },
}

/// What a call may use. Made by dispatch for each call.
#[derive(Clone)]
pub struct CallContext {
    pub call: CallId,
    pub root: ProjectRoot,
    pub confinement: Arc<dyn Confinement>,
    /// Paddock's own folder for commands of this project.
    pub state: StateDir,
    pub sandbox: SandboxSummary,
    /// Role Plan: the project is read-only, also for commands.
    pub read_only: bool,
    /// How long a command may take before the loop asks the person; the tool does not end it then.
    pub command_time: Millis,
    /// File states that the person approved; a file that differs is not changed. Empty: nothing was approved by its state.
    pub approved: Vec<FileBase>,
    /// The person switched parts of the shown diff off.
    pub chosen: Option<Arc<ChosenHunks>>,
    /// The person approved access to protected places of this call.
    pub protected_granted: bool,
    /// Places outside of the project that this call may reach: approved for it, or by a rule. A folder ends in `/` in the
    /// access and is the folder itself here.
    pub outside: Vec<PathGrant>,
    /// Hosts that this call itself may connect to: approved for it, or by a rule.
    pub hosts: Vec<String>,
    /// Where the addresses of these hosts are as the person saw it when approving. `Unknown` when nobody saw it (a rule):
    /// then only public addresses are connected to, and those that the host itself names.
    pub shown_reach: HostReach,
    /// How this call itself reaches a page.
    pub route: FindRoute,
    /// Asked for each connection of a command; none: commands have no network.
    pub gate: Option<Gate>,
    pub live: LiveOutput,
    pub before: KeepBefore,
    pub after: KeepAfter,
    /// Takes the whole of an output that is too long for the model.
    pub whole_output: KeepOutput,
    pub earlier_output: ReadOutput,
    /// Files that the model knows: it does not replace others whole.
    pub knows: KnowsFile,
    pub key_lines: KeyLines,
    /// The model is a small one: it may not lose most of a file by writing it anew, a search that finds nothing goes by words, and
    /// what is read has no line numbers, which it would copy.
    pub careful: bool,
    /// Takes an image that the model is to see.
    pub show_image: ShowImage,
    /// The background processes of the session.
    pub processes: Processes,
    /// Told (`notify_one`) when the person lets the running command of this call go on in the background: the command is
    /// handed to `processes` and the call returns. When [`Processes::is_full`], nothing happens.
    pub to_background: Arc<tokio::sync::Notify>,
}

impl CallContext {
    /// A call to which nothing is granted and of which nothing is shown or kept: to look at calls, and to begin from.
    pub fn bare(
        call: CallId,
        root: ProjectRoot,
        confinement: Arc<dyn Confinement>,
        state: StateDir,
        sandbox: SandboxSummary,
    ) -> Self {
        let nowhere = || Err(std::io::ErrorKind::Unsupported.into());
        Self {
            call,
            root,
            confinement,
            state,
            sandbox,
            read_only: false,
            command_time: Limits::default().command_time,
            approved: Vec::new(),
            chosen: None,
            protected_granted: false,
            outside: Vec::new(),
            hosts: Vec::new(),
            shown_reach: HostReach::Unknown,
            route: Arc::new(|_| Box::pin(async { Ok(WebRoute::default()) })),
            gate: None,
            live: Arc::new(|_, _| {}),
            before: Arc::new(move |_, _| nowhere()),
            after: Arc::new(move |_, _| nowhere()),
            whole_output: Arc::new(move |_| nowhere()),
            earlier_output: Arc::new(|_| Ok(None)),
            knows: Arc::new(|_| true),
            key_lines: Arc::new(|_| Vec::new()),
            careful: false,
            show_image: Arc::new(|_, _, _| Ok(None)),
            processes: Processes::new(Arc::new(|_| {}), 0),
            to_background: Arc::default(),
        }
    }
}

/// What of a diff the person let through. The hunks are those that were shown, so that a place never stands for another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChosenHunks {
    pub shown: Vec<Hunk>,
    /// Places in `shown`, from 0, of what is not written.
    pub left_out: Vec<u32>,
}

/// How a page is reached, as the person set the network. The default: directly, trusting the system's certificates.
#[derive(Clone, Default)]
pub struct WebRoute {
    /// Through which a page on another machine is asked for.
    pub proxy: Option<WebProxy>,
    /// Certificates (DER) that are trusted beside those of the system.
    pub certificates: Vec<Vec<u8>>,
}

#[derive(Clone)]
pub struct WebProxy {
    /// Scheme, host and port, nothing else.
    pub address: String,
    /// User and password; never shown.
    pub login: Option<(String, String)>,
}

/// Finds the way to an address. An error is a sentence with what to do: nothing may be asked then.
pub type FindRoute =
    Arc<dyn Fn(String) -> Pin<Box<dyn Future<Output = Result<WebRoute, String>> + Send>> + Send + Sync>;

/// Keeps an image for the model: its name, its kind as `image/png`, its bytes. `None`: the model is known not to see.
pub type ShowImage = Arc<dyn Fn(&str, &str, &[u8]) -> std::io::Result<Option<Attachment>> + Send + Sync>;

/// Takes live output for display.
pub type LiveOutput = Arc<dyn Fn(DeltaChannel, &str) + Send + Sync>;

/// Keeps what a file held before it is changed (`None`: it was not there); the change happens only after `Ok`.
pub type KeepBefore = Arc<dyn Fn(&RelativePath, Option<&[u8]>) -> std::io::Result<()> + Send + Sync>;

/// Records what a change will leave in a file, right before it is made, so that an undo tells later changes from it.
pub type KeepAfter = Arc<dyn Fn(&RelativePath, FileVersion) -> std::io::Result<()> + Send + Sync>;

/// The whole output that was kept of an earlier call of this session; `None` when there is none.
pub type ReadOutput = Arc<dyn Fn(&CallId) -> std::io::Result<Option<String>> + Send + Sync>;

/// Whether the model has read or written this file of the project in this session.
pub type KnowsFile = Arc<dyn Fn(&RelativePath) -> bool + Send + Sync>;

/// The lines of a text that look like a key or a password, counted from 1.
pub type KeyLines = Arc<dyn Fn(&str) -> Vec<u32> + Send + Sync>;

/// Keeps a whole output on disk, readable on demand.
pub type KeepOutput = Arc<dyn Fn(&[u8]) -> std::io::Result<()> + Send + Sync>;

/// Two kinds of failure: one that the model is told, one that ends the turn.
#[derive(Debug, thiserror::Error)]
pub enum ToolError {
    /// The arguments do not fit; names the field and the expectation.
    #[error("{0}")]
    Arguments(String),
    /// It did not work; the model may try another way. No paths outside of the project, no environment values.
    #[error("{0}")]
    Model(String),
    /// The file is not as it was when the person approved the change.
    #[error("{path} changed after this was proposed")]
    ChangedSince { path: String },
    /// Paddock itself cannot go on (disk full, state lost).
    #[error("{0}")]
    Fatal(String),
}
