//! The agent: sessions, their loop, context, dispatch. Nothing here knows a screen.

pub mod audit;
mod context;
mod desk;
pub mod join;
mod ledger;
pub mod metrics;
pub mod notices;
mod providers;
pub mod roles;
mod secrets;
mod self_test;
pub mod session;
mod undo;
pub mod workflow;

pub use desk::{Paddock, SessionWish, demo_model};
pub use providers::{DEMO, Providers};

// What the programs around the core need of the rooms behind it; they depend on this crate alone.
pub use paddock_policy::{Circumstances, Decision as Ruling, judge};
pub use paddock_provider::{BaseUrl, Secret};
pub use paddock_sandbox::{
    CommandEnd, CommandExit, CommandSpec, Confinement, HelperProgram, Network, OutputChunk, ProjectRoot,
    SandboxError, StateDir, Stream, run_helper_if_asked,
};
pub use paddock_store::{Home, LogEntry, LogReader, reviews::hash_of, sessions::list_sessions};
pub use paddock_tools::{CallContext, Flow, Registry, Tool, ToolError, ToolKind};

pub use paddock_protocol as protocol;
pub use paddock_provider as provider;
pub use paddock_tools as tools;

use paddock_protocol::{NetworkLevel, SandboxSummary};
use paddock_sandbox::Tier;

/// What confines commands here, in the words of the protocol. The first call tries it (tens of milliseconds, blocking).
pub fn sandbox_summary(confinement: &dyn Confinement) -> SandboxSummary {
    let facts = confinement.facts();
    let tier = match facts.tier {
        Tier::Full => "full",
        Tier::Reduced => "reduced",
        Tier::None => "none",
    };
    let network = match facts.tier {
        Tier::Full => NetworkLevel::Asks,
        Tier::Reduced => NetworkLevel::Off,
        Tier::None => NetworkLevel::Open,
    };
    SandboxSummary {
        confined: facts.is_confined(),
        tier: tier.to_owned(),
        network,
        read_only: false,
        gaps: facts.gaps,
    }
}
