//! Commands of the model, run by a shell or directly. What a command may reach is one `CommandSpec`; how the machine holds
//! it there differs by system and stands behind `Confinement`. A command never outlives its `RunningCommand`.

pub(crate) mod audit;
pub(crate) mod blocked;
pub(crate) mod denial;
#[cfg(unix)]
pub(crate) mod disk;
mod end;
pub(crate) mod environment;
mod gate;
mod gitconfig;
pub(crate) mod kept;
#[cfg(unix)]
pub(crate) mod proxy;
mod quarantine;
pub(crate) mod running;
pub(crate) mod slot;
mod spec;
pub(crate) mod trial;
mod unconfined;
pub(crate) mod worktree;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use blocked::Blocked;
pub use end::{CommandEnd, CommandExit, Denial, Limit, Quarantined};
pub use gate::{AddressReach, Admission, Gate, HostGate, HostTarget, address_reach};
pub use quarantine::{
    QuarantineError, SetAside, SetAsideContent, SetAsideFile, look_at_set_aside, put_back, set_aside,
    throw_away,
};
pub use running::{OutputChunk, OutputSink, RunningCommand, Stopper, Stream};
pub(crate) use slot::audit_after_crash;
pub use spec::{
    CommandLine, CommandSpec, HelperProgram, Network, PathGrant, ResourceLimits, SecretFiles, StateDir,
    Streams,
};
pub use trial::{Trial, TrialOutcome};
pub use unconfined::Unconfined;

/// How a machine holds commands in the project.
pub trait Confinement: Send + Sync {
    /// What holds here. The first call may try the mechanisms for real (tens of milliseconds) and remembers the result.
    fn facts(&self) -> SandboxFacts;

    /// Starts a command. Blocks until it runs (about 10 ms); call it from a blocking context.
    fn start(&self, spec: CommandSpec, output: OutputSink) -> Result<RunningCommand, SandboxError>;

    /// Really tries the fence on this machine, in a project of its own in a temporary folder, and says what held. Blocks for
    /// one or two seconds.
    fn prove(&self, state: &StateDir) -> Vec<Trial> {
        let remedy = self.facts().remedy;
        trial::prove(&|spec, output| self.start(spec, output), state, remedy.as_deref())
    }
}

/// How far commands are confined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tier {
    /// Nothing but a process group and the environment: every command must ask.
    None,
    /// Files are held by the kernel, but not everything else of the threat model; the gaps say what. Every command must ask.
    Reduced,
    /// Everything named in the threat model holds by the kernel.
    Full,
}

/// What a person may rely on, in words for the Health page and the approval card.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SandboxFacts {
    pub tier: Tier,
    /// One line: what is so on this machine.
    pub summary: String,
    /// What holds, one sentence each.
    pub holds: Vec<String>,
    /// What does not hold, one sentence each.
    pub gaps: Vec<String>,
    /// How to get a higher tier on this machine, when there is a way.
    pub remedy: Option<String>,
}

impl SandboxFacts {
    /// Whether commands are confined, so that running them without asking is defensible.
    pub fn is_confined(&self) -> bool {
        self.tier == Tier::Full
    }
}

/// Why a command could not be started.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    #[error("the working folder cannot be used: {0}")]
    Folder(#[source] crate::PathError),
    #[error("the project folder was replaced by another one since it was opened")]
    ProjectReplaced,
    #[error("Paddock's own folder for this project cannot be used: {0}")]
    State(#[source] std::io::Error),
    #[error("the command could not be started: {0}")]
    Start(#[source] std::io::Error),
    /// The sandbox could not be built; the command did not run.
    #[error("the sandbox could not be set up ({step}: {source}), so the command was not run")]
    Setup { step: String, source: std::io::Error },
}

/// The best confinement this machine offers. Cheap: nothing is tried before the first use.
pub fn for_this_machine(helper: HelperProgram) -> Arc<dyn Confinement> {
    #[cfg(target_os = "linux")]
    return Arc::new(crate::linux::LinuxConfinement::new(helper));
    #[cfg(target_os = "macos")]
    return Arc::new(crate::macos::MacConfinement::new(helper));
    #[cfg(windows)]
    {
        // Windows holds commands by what it gives every process; no helper has a part in it.
        let _ = helper;
        Arc::new(crate::windows::WindowsConfinement::new())
    }
}
