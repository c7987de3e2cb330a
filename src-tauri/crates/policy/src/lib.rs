//! What may happen without asking: (access, role, autonomy, rules) → decision, with the reasons.
//!
//! Pure, so that every decision can be tested, explained and made again. The wall stands here because approvals are no
//! boundary: the sandbox is; a policy only says when a person wants to be asked. Fails closed: what cannot be understood asks.

mod base64;
mod command;
mod denial;
mod judge;
mod open;
mod options;
mod program;
mod remember;
mod rule;

pub mod secrets;

pub use command::{CommandLine, Part, WordKind, parse_command};
pub use judge::{Circumstances, Decision, Judgement, judge};
pub use program::safe_list;
pub use remember::{Misfit, covers_command, nearly_covers, rule_fits};
pub use rule::{in_words, is_wide, refused_shape};
