//! The agent: sessions, their loop, context, dispatch. Nothing here knows a screen.

mod context;
mod desk;
pub mod join;
pub mod notices;
mod providers;
pub mod session;
mod undo;

pub use desk::{Paddock, SessionWish, demo_model};
pub use providers::{DEMO, Providers};

use paddock_protocol::SandboxSummary;
use paddock_sandbox::{Confinement, Tier};

/// What confines commands here, in the words of the protocol. The first call tries it (tens of milliseconds, blocking).
pub fn sandbox_summary(confinement: &dyn Confinement) -> SandboxSummary {
    let facts = confinement.facts();
    let tier = match facts.tier {
        Tier::Full => "full",
        Tier::None => "none",
    };
    SandboxSummary {
        confined: facts.is_confined(),
        tier: tier.to_owned(),
        network: !facts.is_confined(),
        read_only: false,
        gaps: facts.gaps,
    }
}
