//! Hosts that a running command asks for: each question gets one answer, from the person or from a rule for that host, or
//! its call ends first.

use super::{Checks, Step};
use paddock_core::session::input::{Back, Input};
use paddock_protocol::*;
use std::collections::BTreeMap;

#[derive(Default)]
pub struct Asks {
    /// By call and number, until the call ends.
    known: BTreeMap<(CallId, u32), Ask>,
    /// Decided by a rule in this step.
    by_rule: BTreeMap<(CallId, u32), bool>,
}

/// A name of somebody else that leads to this machine or its network.
fn leads_here(host: &str, reach: HostReach) -> bool {
    let plain = host == "localhost" || host.starts_with("127.");
    !plain && matches!(reach, HostReach::Private | HostReach::Loopback)
}

pub fn shows_own_network(request: &ApprovalRequest) -> bool {
    matches!(&request.body, ApprovalBody::Connect { host, reach, .. } if leads_here(host, *reach))
}

#[derive(Clone)]
struct Ask {
    host: String,
    reach: HostReach,
    answered: bool,
}

impl Ask {
    fn leads_here(&self) -> bool {
        leads_here(&self.host, self.reach)
    }

    fn access(&self) -> Access {
        Access::Network {
            host: self.host.clone(),
        }
    }
}

impl Checks {
    pub(super) fn ask_comes(&mut self, step: &Step) {
        if let Input::Back(Back::CallAsks {
            call, number, body, ..
        }) = &step.input
            && let ApprovalBody::Connect { host, reach, .. } = &**body
        {
            let ask = Ask {
                host: host.clone(),
                reach: *reach,
                answered: false,
            };
            self.asks.known.insert((call.clone(), *number), ask);
        }
    }

    fn runs(&self, call: &CallId) -> bool {
        self.call(call)
            .is_some_and(|(item, _)| item.status == ItemStatus::Running)
    }

    pub(super) fn ask_is_shown(&mut self, approval: &ApprovalRequest, number: u32) {
        assert!(
            self.runs(&approval.call),
            "a question of a call that does not run"
        );
        if self.step.is_none() {
            return;
        }
        let key = (approval.call.clone(), number);
        let ask = self
            .asks
            .known
            .get(&key)
            .expect("a question that was asked")
            .clone();
        assert!(!ask.answered, "a question is shown after its answer");
        assert_eq!(approval.access, [ask.access()], "another host is shown");
        let same = matches!(&approval.body, ApprovalBody::Connect { host, reach, .. } if *host == ask.host && *reach == ask.reach);
        assert!(same, "another host is shown than was asked for");
        let (here, ruled) = (ask.leads_here(), self.ruled(&ask.access()));
        if here {
            assert_eq!(approval.scopes, [AnswerScope::Once]);
            assert!(approval.rule.is_none(), "a rule for a name that leads here");
            self.see_if(ruled, "ask: a name that leads here, with a rule for the name");
        } else {
            assert!(!ruled, "{} is asked for though a rule covers it", ask.host);
        }
        let of_check = self
            .call(&approval.call)
            .is_some_and(|(_, call)| call.check.is_some());
        self.see_if(of_check, "check: asks for a host");
        self.see_if(self.config.parent.is_some(), "ask: of a sub-agent");
    }

    /// A rule decided what was shown.
    pub(super) fn ask_is_ruled(&mut self, request: &ApprovalRequest, number: u32, allowed: bool) {
        if self.step.is_none() {
            return;
        }
        let key = (request.call.clone(), number);
        let ask = self.asks.known.get(&key).expect("a question that was asked");
        assert!(
            !allowed || !ask.leads_here(),
            "a rule opened {} though it leads here",
            ask.host
        );
        self.see_if(allowed, "ask: allowed by a rule while it waited");
        self.see_if(!allowed, "ask: refused by a rule");
        self.asks.by_rule.insert(key, allowed);
    }

    pub(super) fn ask_is_withdrawn(&mut self, why: WithdrawReason) {
        if self.step.is_none() {
            return;
        }
        let reopened = matches!(self.step.as_ref().map(|step| &step.input), Some(Input::Reopened));
        self.see_if(reopened, "ask: found open after a death");
        self.see_if(why == WithdrawReason::Stopped, "ask: withdrawn by a stop");
        self.see_if(why == WithdrawReason::CallEnded, "ask: withdrawn with its call");
    }

    fn decided_now(&self, key: &(CallId, u32)) -> Option<bool> {
        let step = self.step.as_ref()?;
        let (Some(Op::Decide { approval, .. }), Some(decision)) = (step.op(), &step.decided) else {
            return None;
        };
        let shown = self.rights.shown.get(approval)?;
        let this = shown.origin.is_none() && shown.call == key.0 && shown.ask == Some(key.1);
        this.then_some(matches!(decision, Decision::Approve { .. }))
    }

    pub(super) fn ask_is_answered(&mut self, call: &CallId, number: u32, allowed: bool) {
        let key = (call.clone(), number);
        let ask = self
            .asks
            .known
            .get(&key)
            .expect("a question that was asked")
            .clone();
        assert!(!ask.answered, "{call} gets a second answer for {}", ask.host);
        if let Some(said) = self.decided_now(&key) {
            assert_eq!(said, allowed, "another answer than the person gave");
            self.see_if(allowed, "ask: allowed by the person");
            self.see_if(!allowed, "ask: refused by the person");
        } else if let Some(ruled) = self.asks.by_rule.get(&key) {
            assert_eq!(*ruled, allowed, "another answer than the rule gave");
        } else if allowed {
            assert!(
                !ask.leads_here() && self.ruled(&ask.access()),
                "{call} reaches {} ({:?}), which nobody allowed",
                ask.host,
                ask.reach
            );
            self.ruled_unseen();
            self.see("ask: allowed by a rule at once");
        } else {
            let (over, never) = (!self.runs(call), self.is_never(&ask.access()));
            assert!(over || never, "{} is refused and nobody was asked", ask.host);
            self.see_if(over, "ask: of a call that no longer runs");
            self.see_if(!over && never, "ask: refused by a rule");
        }
        if let Some(ask) = self.asks.known.get_mut(&key) {
            ask.answered = true;
        }
    }

    /// What has no answer is shown and its call runs; what is shown has none.
    pub(super) fn asks_are_open(&mut self) {
        let shown: Vec<(CallId, u32)> = self
            .rights
            .open
            .iter()
            .map(|id| &self.rights.shown[id])
            .filter(|request| request.origin.is_none())
            .filter_map(|request| Some((request.call.clone(), request.ask?)))
            .collect();
        for (call, _) in &shown {
            assert!(self.runs(call), "a question of {call} waits and it does not run");
        }
        let mut known = std::mem::take(&mut self.asks.known);
        known.retain(|(call, _), _| self.runs(call));
        for (key, ask) in &known {
            let times = shown.iter().filter(|shown| *shown == key).count();
            assert_eq!(times, usize::from(!ask.answered), "{} of {}", ask.host, key.0);
        }
        assert!(shown.iter().all(|key| known.contains_key(key)));
        self.asks.known = known;
        self.asks.by_rule.clear();
    }
}
