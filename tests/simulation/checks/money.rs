//! Caps on money and tokens: what was used is counted anew from the events, and no request passes a cap.

use super::Checks;
use paddock_core::session::input::Input;
use paddock_protocol::*;
use std::sync::Arc;

/// Answers are not bounded where a cap leaves room for so many tokens.
const LONG: u32 = 32_000;

#[derive(Default)]
pub struct Money {
    /// Of the session, with its sub-agents, and of its newest turn; in millionths of a dollar.
    session: u64,
    turn: u64,
    raised_session: Option<u64>,
    raised_turn: Option<u64>,
    raised_day: Option<u64>,
    /// The person agreed that a request costs so much.
    agreed: u64,
    /// The request that is on its way: what it was expected to use, and how it was set up then.
    asked: Option<(Usage, Arc<SessionConfig>)>,
    /// Spent today by the events of this step.
    in_step: u64,
}

impl Checks {
    pub(super) fn money_step(&mut self) {
        self.money.in_step = 0;
    }

    pub(super) fn money_event(&mut self, msg: &EventMsg) {
        match msg {
            EventMsg::TurnStarted { .. } => {
                self.money.turn = 0;
                self.money.raised_turn = None;
                self.money.agreed = 0;
            }
            EventMsg::IterationStarted {
                estimate, finishing, ..
            } => self.request_fits(estimate.as_ref().expect("an estimate"), *finishing),
            EventMsg::IterationAnswered { usage, .. } => {
                self.is_priced(usage);
                self.spent(usage, true);
                self.kept_to_the_caps(usage);
            }
            EventMsg::AttemptLost { usage, .. } => {
                self.is_priced(usage);
                self.spent(usage, true);
                self.used += usage.total();
            }
            EventMsg::SubAgentUsed { usage, .. } => self.spent(usage, false),
            EventMsg::LimitChanged { limit, allowed, .. } => match limit {
                LimitKind::TurnMoney => self.money.raised_turn = Some(*allowed),
                LimitKind::SessionMoney => self.money.raised_session = Some(*allowed),
                LimitKind::DayMoney => self.money.raised_day = Some(*allowed),
                _ => {}
            },
            EventMsg::SessionChanged { config } if config.budget != self.config.budget => {
                self.money.raised_session = None;
                self.money.raised_day = None;
            }
            EventMsg::CauseAllowed {
                cause: PauseCause::Expensive { estimate, .. },
                ..
            } => self.money.agreed = self.money.agreed.max(estimate.0),
            _ => {}
        }
    }

    fn spent(&mut self, usage: &Usage, here: bool) {
        self.money.session += usage.cost.0;
        self.money.turn += usage.cost.0;
        self.money.in_step += if here { usage.cost.0 } else { 0 };
    }

    /// Every cap on money: its kind, what is spent of it, what is allowed.
    fn caps(&self) -> Vec<(LimitKind, u64, u64)> {
        let budget = &self.config.budget;
        // A log that is read again does not tell what others had spent.
        let today = self
            .step
            .as_ref()
            .map(|step| step.spent_today + self.money.in_step);
        [
            (
                LimitKind::TurnMoney,
                budget.turn,
                self.money.raised_turn,
                self.money.turn,
            ),
            (
                LimitKind::SessionMoney,
                budget.session,
                self.money.raised_session,
                self.money.session,
            ),
            (
                LimitKind::DayMoney,
                budget.day.and(today).and(budget.day),
                self.money.raised_day,
                today.unwrap_or(0),
            ),
        ]
        .into_iter()
        .filter_map(|(kind, set, raised, spent)| Some((kind, spent, set?.0.max(raised.unwrap_or(0)))))
        .collect()
    }

    /// A sub-agent gets at most a quarter of the money that the caps leave.
    pub(super) fn money_is_shared(&self, share: Option<Micros>) {
        let caps = self.caps().into_iter();
        let left = caps
            .filter(|(kind, ..)| *kind != LimitKind::DayMoney)
            .map(|(_, spent, allowed)| allowed.saturating_sub(spent))
            .min();
        if let (Some(left), Some(share)) = (left, share) {
            assert!(
                share.0 * 4 <= left,
                "one of four sub-agents gets {} of {left}",
                share.0
            );
        }
    }

    fn request_fits(&mut self, estimate: &Usage, finishing: bool) {
        let config = Arc::new(self.config.clone());
        self.money.asked = Some((*estimate, config.clone()));
        let cap = self.turn.as_ref().and_then(|turn| turn.token_limit);
        let used = self.used + estimate.total();
        assert!(
            cap.is_none_or(|cap| used <= cap),
            "a request that uses up to {used} is sent past the token cap {cap:?}"
        );
        if config.facts.cost == ModelCost::Free {
            return;
        }
        let most = most(&config.facts.cost, estimate);
        for (kind, spent, allowed) in self.caps() {
            assert!(
                spent < allowed && spent + most <= allowed,
                "{kind:?}: a request for {most} is sent after {spent} of {allowed}"
            );
        }
        let left = self
            .caps()
            .iter()
            .map(|(_, spent, allowed)| allowed - spent)
            .min();
        let Some(left) =
            left.filter(|_| config.budget.ask_expensive && !finishing && config.parent.is_none())
        else {
            return;
        };
        let cost = estimate.cost.0;
        assert!(
            cost * 4 <= left || cost <= self.money.agreed + self.money.agreed / 4,
            "a request for {cost} of {left} is sent without a question"
        );
        self.see_if(cost * 4 > left, "money: a large request that was agreed to");
    }

    /// The longest answer that may come costs no more than what is left.
    pub fn answer_is_bounded(&mut self, longest: Option<u32>) {
        let Some((estimate, config)) = self.money.asked.clone() else {
            panic!("a request that did not begin");
        };
        self.see_if(longest.is_some(), "money: an answer is bounded");
        let whole = Usage {
            output: longest.or(config.facts.output).unwrap_or(LONG),
            ..estimate
        };
        let tokens = self.turn.as_ref().and_then(|turn| turn.token_limit);
        let used = self.used + whole.total();
        assert!(
            longest == Some(1) || tokens.is_none_or(|cap| used <= cap),
            "an answer of {longest:?} may pass the token cap"
        );
        if config.facts.cost == ModelCost::Free {
            return;
        }
        for (kind, spent, allowed) in self.caps() {
            assert!(
                longest == Some(1) || spent + most(&config.facts.cost, &whole) <= allowed + 1,
                "{kind:?}: an answer of {longest:?} may pass {allowed} after {spent}"
            );
        }
    }

    fn is_priced(&self, usage: &Usage) {
        let Some((_, config)) = &self.money.asked else {
            panic!("an answer to no request");
        };
        let bare = Usage {
            cost: Micros(0),
            unpriced: false,
            ..*usage
        };
        assert_eq!(
            config.facts.cost.price(bare),
            *usage,
            "a request has the price of its model"
        );
    }

    /// The model kept to what was expected, so no cap is passed; unless the person set another one meanwhile.
    fn kept_to_the_caps(&mut self, usage: &Usage) {
        let Some((estimate, config)) = self.money.asked.clone() else {
            return;
        };
        let answered = matches!(
            self.step.as_ref().map(|step| &step.input),
            Some(Input::Back(
                paddock_core::session::input::Back::ModelAnswered { .. }
            ))
        );
        let input = usage.input + usage.cached + usage.cache_write;
        assert!(
            !answered || input <= estimate.input + estimate.cached,
            "the model's server keeps to the estimate"
        );
        if config.budget != self.config.budget || config.facts.cost == ModelCost::Free {
            return;
        }
        for (kind, spent, allowed) in self.caps() {
            assert!(
                kind == LimitKind::DayMoney || spent <= allowed + 1,
                "{kind:?}: {spent} of {allowed} are spent"
            );
        }
    }
}

/// Without any help of the provider's cache.
fn most(cost: &ModelCost, usage: &Usage) -> u64 {
    match cost {
        ModelCost::PerMillion { price } => {
            let whole = Usage {
                input: usage.input + usage.cached,
                cached: 0,
                ..*usage
            };
            price.of(&whole).0
        }
        ModelCost::Unknown | ModelCost::Free => 0,
    }
}
