//! Which call may run when, and how it begins.

use super::Draft;
use super::sub_agent::AT_ONCE;
use crate::session::input::{Effect, Timer};
use crate::session::live_turn::LiveCall;
use crate::session::words;
use paddock_protocol::*;
use paddock_tools::ToolKind;

const ASK: &str = "ask_question";

impl Draft<'_> {
    pub(super) fn is_question(&self, call: &LiveCall) -> bool {
        call.tool == ASK
    }

    pub(super) fn kind(&self, call: &LiveCall) -> ToolKind {
        self.around.kind(&call.tool).unwrap_or(ToolKind::Command)
    }

    pub(super) fn live_call(&self, call: &CallId) -> Option<LiveCall> {
        self.turn()?.call(call).cloned()
    }

    fn earlier_open<'s>(&'s self, live: &'s LiveCall) -> impl Iterator<Item = &'s LiveCall> {
        let calls = self.turn().map(|turn| turn.calls.as_slice()).unwrap_or_default();
        calls
            .iter()
            .take_while(move |call| call.call != live.call)
            .filter(|call| !call.is_final())
    }

    /// Whether an earlier change of the same file, or of one not known yet, is still open.
    pub(super) fn follows_open_write(&self, live: &LiveCall, target: &str) -> bool {
        self.earlier_open(live).any(|call| {
            self.kind(call) == ToolKind::Write && (call.target == target || call.target.is_empty())
        })
    }

    /// Reads calls again that waited for an earlier change, or whose file changed since they were approved.
    fn prepare_deferred(&mut self) {
        let calls = self.turn().map(|turn| turn.calls.clone()).unwrap_or_default();
        for live in calls {
            let deferred = live.status == ItemStatus::Waiting && !live.judged && !live.target.is_empty();
            if deferred && !self.follows_open_write(&live, &live.target) {
                self.prepare_call(&live);
            }
        }
    }

    /// Starts every call whose place has come. Reads go side by side; what changes something goes in order.
    pub(super) fn run_calls(&mut self) {
        self.prepare_deferred();
        let calls = self.turn().map(|turn| turn.calls.clone()).unwrap_or_default();
        for live in calls {
            let Some(live) = self.live_call(&live.call) else {
                return;
            };
            if live.status != ItemStatus::Waiting || !live.allowed {
                continue;
            }
            let after = self
                .earlier_open(&live)
                .find(|call| self.comes_first(call, &live));
            match after.map(|call| call.call.clone()) {
                None if self.kind(&live) == ToolKind::Loop && self.running_sub_agents() >= AT_ONCE => {}
                None if self.kind(&live) == ToolKind::Write && self.is_changing() => {}
                None => self.run_call(&live),
                Some(after) if live.after.as_ref() != Some(&after) => {
                    self.change_call(live.item, ItemStatus::Waiting, |call| call.after = Some(after));
                }
                Some(_) => {}
            }
        }
    }

    /// Whether a change is being made: a later call may have begun while this one waited for the person.
    fn is_changing(&self) -> bool {
        let calls = self.turn().map(|turn| turn.calls.as_slice()).unwrap_or_default();
        calls
            .iter()
            .any(|call| call.status == ItemStatus::Running && self.kind(call) == ToolKind::Write)
    }

    /// Whether `earlier`, which is still open, must end before `live` may begin.
    fn comes_first(&self, earlier: &LiveCall, live: &LiveCall) -> bool {
        let kind = self.kind(earlier);
        if kind == ToolKind::Breaking {
            return true;
        }
        match self.kind(live) {
            ToolKind::Breaking => true,
            ToolKind::Loop => false,
            ToolKind::Read => kind == ToolKind::Write && earlier.judged && earlier.target == live.target,
            ToolKind::Command => !matches!(kind, ToolKind::Read | ToolKind::Loop),
            ToolKind::Write => match kind {
                ToolKind::Command => true,
                ToolKind::Write => {
                    earlier.status == ItemStatus::Running || earlier.target == live.target || !earlier.judged
                }
                _ => false,
            },
        }
    }

    fn run_call(&mut self, live: &LiveCall) {
        let Some(call) = self.call_item(live.item) else {
            return;
        };
        let arguments = call
            .verdict
            .as_ref()
            .and_then(|v| v.edited_arguments.clone())
            .unwrap_or_else(|| call.arguments.clone());
        if self.kind(live) == ToolKind::Breaking {
            self.break_loop(live);
            return;
        }
        if live.sub_agent.is_some() {
            self.start_sub_agent(live);
            return;
        }
        let limits = &self.live.config.limits;
        let (now, time) = match self.kind(live) {
            ToolKind::Command => (self.now, limits.command_time),
            _ => (self.now, limits.tool_time),
        };
        self.change_call(live.item, ItemStatus::Running, |call| call.began = Some(now));
        let granted = live.granted.as_ref();
        let opened = call.verdict.as_ref().and_then(|verdict| verdict.scope);
        let mut reach = call.verdict.map(|verdict| verdict.reach).unwrap_or_default();
        if call.classes.contains(&RiskClass::Command) {
            reach.extend(self.standing_places());
        }
        self.effect(Effect::Run {
            call: live.call.clone(),
            tool: call.tool,
            arguments,
            approved: granted
                .filter(|granted| granted.edited.is_none())
                .map(|granted| granted.base.clone())
                .unwrap_or_default(),
            chosen: granted.and_then(|granted| granted.chosen.clone()),
            protected_granted: call.classes.contains(&RiskClass::Protected) && granted.is_some(),
            reach,
            shown_reach: granted.map_or(HostReach::Unknown, |granted| granted.shown_reach),
            opened: opened.filter(|scope| scope.opens_more()),
        });
        // What a workflow does at once for many files takes its time; the person started it and can end it.
        if self.kind(live) == ToolKind::Command || !self.is_workflow_turn() {
            self.effect(Effect::StartTimer {
                timer: Timer::Call(live.call.clone()),
                at: now.plus(time),
            });
        }
    }

    /// `task_completion`, `converse`, `ask_question`: the loop itself carries them out; what was asked after them is not run.
    fn break_loop(&mut self, live: &LiveCall) {
        for later in self.turn().map(|turn| turn.calls.clone()).unwrap_or_default() {
            let after = later.item > live.item && !later.is_final();
            if after {
                self.withdraw(&later, WithdrawReason::CallEnded);
                self.close_call(&later, ItemStatus::Stopped, words::NOT_REACHED);
            }
        }
        if self.is_question(live) {
            let now = self.now;
            self.change_call(live.item, ItemStatus::Running, |call| call.began = Some(now));
            self.set_status(TurnStatus::WaitingForAnswer);
            return;
        }
        self.finish_call(live, ItemStatus::Done, |call| {
            call.output = Some(CallOutput {
                ok: true,
                text: "Shown to the user.".into(),
                ..CallOutput::default()
            });
        });
        if self.turn().is_some_and(|turn| !turn.unused.is_empty()) {
            self.iteration_done();
            return;
        }
        self.complete_turn();
    }
}
