//! The step: every rule of the agent, as a pure function of state and input. No clock, no I/O, no randomness.
//!
//! A step works on a copy of the live state: each event it emits is applied to that copy at once by the same function
//! that the actor and a replay use, so later rules of the same step see what the earlier ones did.

mod answer;
mod approval;
mod ask;
mod budget;
mod call;
mod check;
mod ended;
mod judged;
mod op;
mod process;
mod queue;
mod reopened;
mod rule;
mod setting;
mod sub_agent;
mod turn;
mod workflow;

pub use budget::tokens;
pub use sub_agent::{AT_ONCE as SUB_AGENTS_AT_ONCE, PER_TURN as SUB_AGENTS_PER_TURN};

use super::input::{Back, Effect, Input, Outcome, Stamped, Surroundings, Ticket, Timer};
use super::live_turn::LiveTurn;
use super::state::{Live, SessionState};
use paddock_protocol::*;
use std::sync::Arc;

pub fn step(state: &SessionState, stamped: Stamped, around: &Surroundings) -> Outcome {
    if let Some(outcome) = quick(state, &stamped) {
        return outcome;
    }
    let mut draft = Draft {
        base: state,
        around,
        live: state.live.clone(),
        now: stamped.now,
        entropy: stamped.entropy,
        fresh: Vec::new(),
        outcome: Outcome::default(),
    };
    match stamped.input {
        Input::Op(op) => draft.op(op),
        Input::Back(back) => draft.back(back),
        Input::Reopened => draft.reopened(),
    }
    draft.drop_idle_readings();
    draft.outcome
}

/// Streaming text changes nothing but the picture: no copy of the state is made for it.
fn quick(state: &SessionState, stamped: &Stamped) -> Option<Outcome> {
    let Input::Back(Back::CallLive { call, channel, text }) = &stamped.input else {
        return None;
    };
    let turn = state.live.turn.as_ref()?;
    let event = turn
        .call(call)
        .filter(|live| live.status == ItemStatus::Running)
        .and_then(|live| state.live.open_item(live.item))
        .map(|open| EventMsg::ItemDelta {
            item: open.item.id,
            channel: *channel,
            offset: open.length(*channel),
            text: text.clone(),
        });
    Some(Outcome {
        events: event.into_iter().collect(),
        effects: Vec::new(),
    })
}

struct Draft<'a> {
    base: &'a SessionState,
    around: &'a Surroundings,
    live: Live,
    now: Timestamp,
    entropy: u32,
    /// Items that this step started or changed, newest last.
    fresh: Vec<Arc<Item>>,
    outcome: Outcome,
}

impl Draft<'_> {
    fn emit(&mut self, msg: EventMsg) {
        self.live.apply(self.now, &msg);
        if let EventMsg::ItemStarted { item }
        | EventMsg::ItemUpdated { item }
        | EventMsg::ItemCompleted { item } = &msg
        {
            self.fresh.push(Arc::new(item.clone()));
        }
        self.outcome.events.push(msg);
    }

    /// Arguments are read once in a step, and only for calls that still wait for it.
    fn drop_idle_readings(&mut self) {
        let turn = self.live.turn.as_ref().filter(|turn| turn.is_live());
        let waits = |call: &CallId| {
            turn.and_then(|turn| turn.call(call))
                .is_some_and(|call| call.status == ItemStatus::Waiting && !call.judged)
        };
        let mut read: Vec<CallId> = Vec::new();
        self.outcome.effects.retain(|effect| match effect {
            Effect::Prepare { call, .. } if read.contains(call) || !waits(call) => false,
            Effect::Prepare { call, .. } => {
                read.push(call.clone());
                true
            }
            _ => true,
        });
    }

    fn effect(&mut self, effect: Effect) {
        self.outcome.effects.push(effect);
    }

    fn refuse(&mut self, code: ErrorCode, message: &str, hint: &str) {
        let error = ClientError::new(code, message).hint(hint);
        self.emit(EventMsg::OpRefused { error });
    }

    fn back(&mut self, back: Back) {
        match back {
            Back::ModelEvent { ticket, event } => self.model_event(ticket, event),
            Back::ModelAnswered {
                ticket,
                answer,
                first_byte,
                cut,
            } => self.model_answered(ticket, answer, first_byte, cut),
            Back::ModelFailed { ticket, error } => self.model_failed(ticket, error),
            Back::Prepared {
                call,
                arguments,
                result,
            } => self.prepared(&call, &arguments, result),
            Back::CallLive { .. } => {}
            Back::CallEnded { call, result } => self.call_ended(&call, result),
            Back::TimerFired(Timer::Retry(ticket)) => self.retry_due(ticket),
            Back::TimerFired(Timer::Call(call)) => self.call_timed_out(&call),
            Back::Undone { call, redo, files } => self.undone(&call, redo, files),
            Back::ProcessStarted { process } => self.process_started(process),
            Back::ProcessEnded { process, end } => self.process_ended(&process, end),
            Back::SubAgent { call, report } => self.sub_agent_reported(&call, report),
            Back::FolderFree => self.folder_free(),
            Back::CallAsks {
                call,
                number,
                access,
                body,
            } => self.call_asks(&call, number, access, *body),
        }
    }

    /// The turn that takes steps, if there is one.
    fn turn(&self) -> Option<&LiveTurn> {
        self.live.turn.as_ref().filter(|turn| turn.is_live())
    }

    fn ticket(&self) -> Option<Ticket> {
        self.turn().map(|t| Ticket {
            turn: t.turn,
            iteration: t.iteration,
            attempt: t.attempt,
        })
    }

    /// Whether `ticket` names the request that is on its way.
    fn is_current(&self, ticket: Ticket) -> bool {
        self.turn().is_some_and(|turn| turn.sampling) && self.ticket() == Some(ticket)
    }

    fn set_status(&mut self, status: TurnStatus) {
        let Some(turn) = &self.live.turn else { return };
        if turn.status != status {
            let turn = turn.turn;
            self.emit(EventMsg::TurnChanged { turn, status });
        }
    }

    /// The status while the turn works; a wish to pause shows.
    fn set_working(&mut self, status: TurnStatus) {
        if self.turn().is_some_and(|turn| turn.pausing) {
            self.set_status(TurnStatus::Pausing);
        } else {
            self.set_status(status);
        }
    }

    fn item(&self, id: ItemId) -> Option<Arc<Item>> {
        self.fresh
            .iter()
            .rev()
            .find(|item| item.id == id)
            .cloned()
            .or_else(|| self.base.item(id).cloned())
    }

    fn start_item(&mut self, status: ItemStatus, kind: ItemKind) -> ItemId {
        let (turn, iteration) = self
            .live
            .turn
            .as_ref()
            .map_or((TurnId(0), 0), |t| (t.turn, t.iteration));
        let id = ItemId(self.live.next_item);
        let item = Item {
            id,
            turn,
            iteration,
            started: self.now,
            ended: None,
            status,
            kind,
        };
        if status.is_final() {
            self.emit(EventMsg::ItemCompleted {
                item: Item {
                    ended: Some(self.now),
                    ..item
                },
            });
        } else {
            self.emit(EventMsg::ItemStarted { item });
        }
        id
    }

    fn note_item(&mut self, kind: ItemKind) -> ItemId {
        self.start_item(ItemStatus::Done, kind)
    }

    /// Changes an item; a final status completes it.
    fn change_item(&mut self, id: ItemId, status: ItemStatus, change: impl FnOnce(&mut ItemKind)) {
        let Some(item) = self.item(id) else { return };
        let mut item = (*item).clone();
        let was_final = item.status.is_final();
        item.status = status;
        change(&mut item.kind);
        if status.is_final() && !was_final {
            item.ended = Some(self.now);
            self.emit(EventMsg::ItemCompleted { item });
        } else {
            self.emit(EventMsg::ItemUpdated { item });
        }
    }

    fn change_call(&mut self, id: ItemId, status: ItemStatus, change: impl FnOnce(&mut CallItem)) {
        self.change_item(id, status, |kind| {
            if let ItemKind::Call(call) = kind {
                change(call);
            }
        });
    }

    fn call_item(&self, id: ItemId) -> Option<CallItem> {
        match &self.item(id)?.kind {
            ItemKind::Call(call) => Some((**call).clone()),
            _ => None,
        }
    }
}
