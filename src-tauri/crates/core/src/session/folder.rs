//! When a session must have its folder for itself. Pure, so that the actor and the simulation go by the same rule; how the
//! folder is locked against other programs is the store's.

use super::input::{Back, Input};
use super::live_turn::LiveTurn;
use super::state::Live;
use paddock_protocol::*;

/// Whether this input may let the session change its folder, so that the folder must be taken before it. A sub-agent works
/// in the folder of the turn that started it. An undo changes files in every role.
pub fn is_wanted(config: &SessionConfig, input: &Input) -> bool {
    if config.parent.is_some() {
        return false;
    }
    let role = match input {
        Input::Op(Op::Undo { .. } | Op::Redo { .. }) => return true,
        Input::Op(Op::SetRole { role }) => *role,
        Input::Op(Op::SetOwnRole { role }) => role.base,
        Input::Op(_) | Input::Back(Back::FolderFree) => config.role,
        _ => return false,
    };
    role != Role::Plan
}

/// Whether a turn of the session may change the folder now.
pub fn is_needed(live: &Live) -> bool {
    let works = |turn: &LiveTurn| turn.is_live() && turn.status != TurnStatus::Interrupted;
    live.turn.as_ref().is_some_and(works) && live.config.role != Role::Plan
}
