//! Caps on tokens and money: what the next request is expected to use, whether a cap forbids it, how long its answer may be.
//!
//! Before each request, never after: what was sent cannot be taken back. The expectation goes from the server's own count of the
//! request before; the length of the answer is bounded so that it cannot pass the cap either.

use super::Draft;
use crate::session::live_turn::LiveTurn;
use paddock_protocol::*;

/// Tokens of an answer before the first one is known.
const FIRST_OUTPUT: u32 = 256;
/// Answers are not bounded where a cap leaves room for more than this and the model's own bound is not known.
const LONG_OUTPUT: u64 = 32_000;
/// A request that is expected to cost more than this part of what is left is asked for.
const LARGE_PART: u64 = 4;

/// A cap on money: what was spent of it and how much is allowed, in millionths of a dollar.
struct Cap {
    kind: LimitKind,
    spent: u64,
    allowed: u64,
}

impl Draft<'_> {
    /// What a request that is sent now would use.
    pub(super) fn expected(&self) -> Usage {
        let context = &self.live.context;
        let preamble = match context.known {
            0 => u64::from(self.around.preamble_bytes),
            _ => 0,
        };
        let added = tokens(context.added_bytes + self.waiting_bytes() + preamble);
        let (input, cached) = match context.is_cached {
            true => (added, context.known),
            false => (added.saturating_add(context.known), 0),
        };
        let output = match context.output {
            0 => FIRST_OUTPUT,
            output => output,
        };
        let usage = Usage {
            input,
            cached,
            output: output.min(self.live.config.facts.output.unwrap_or(u32::MAX)),
            estimated: true,
            ..Usage::default()
        };
        self.live.config.facts.cost.price(usage)
    }

    /// Messages of the person that go with the next request.
    fn waiting_bytes(&self) -> u64 {
        let texts = self.live.open.iter().filter_map(|open| match &open.item.kind {
            ItemKind::UserMessage { text, .. } => Some(text.len() as u64),
            _ => None,
        });
        texts.sum()
    }

    /// What the newest request used, with its cost.
    pub(super) fn priced(&self, usage: Usage) -> Usage {
        let bare = Usage {
            cost: Micros(0),
            unpriced: false,
            ..usage
        };
        self.live.asked.facts.cost.price(bare)
    }

    fn is_free(&self) -> bool {
        self.live.config.facts.cost == ModelCost::Free
    }

    fn money_caps(&self, turn: &LiveTurn) -> Vec<Cap> {
        let budget = &self.live.config.budget;
        let cap = |kind, set: Option<Micros>, raised: Option<u64>, spent: Micros| {
            set.map(|set| Cap {
                kind,
                spent: spent.0,
                allowed: set.0.max(raised.unwrap_or(0)),
            })
        };
        [
            cap(
                LimitKind::TurnMoney,
                budget.turn,
                turn.raised_money,
                turn.usage.cost,
            ),
            cap(
                LimitKind::SessionMoney,
                budget.session,
                self.live.raised_money,
                self.live.usage.cost,
            ),
            cap(
                LimitKind::DayMoney,
                budget.day,
                self.live.raised_day,
                self.spent_today(),
            ),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// All sessions today, this one at least with what it has used itself since the surroundings were looked at.
    fn spent_today(&self) -> Micros {
        let since = self.live.usage.cost.0.saturating_sub(self.base.live.usage.cost.0);
        Micros(self.around.spent_today.0.saturating_add(since))
    }

    /// What a request may cost at most: nothing of it is read from the provider's cache, or all of it is written there.
    fn most(&self, expected: &Usage) -> u64 {
        let input = expected.input.saturating_add(expected.cached);
        let read = Usage {
            input,
            cached: 0,
            ..*expected
        };
        let written = Usage {
            input: 0,
            cache_write: input,
            ..read
        };
        let cost = |usage: Usage| self.live.config.facts.cost.price(usage).cost.0;
        match self.live.config.facts.cost {
            ModelCost::PerMillion { .. } => cost(read).max(cost(written)),
            ModelCost::Unknown | ModelCost::Free => 0,
        }
    }

    /// What is held of the day for a request: with the longest answer where the caps bound it, else with the expected one.
    pub(super) fn held_for(&self, expected: &Usage, longest: Option<u32>) -> Micros {
        Micros(self.most(&Usage {
            output: longest.unwrap_or(expected.output),
            ..*expected
        }))
    }

    /// The caps that a request which is expected to use so much would pass.
    pub(super) fn caps_reached(&self, turn: &LiveTurn, expected: &Usage) -> Vec<LimitReached> {
        let mut reached = Vec::new();
        let used = self.live.usage.total();
        if let Some(allowed) = turn
            .token_limit
            .filter(|allowed| used.saturating_add(expected.total()) > *allowed)
        {
            reached.push(LimitReached {
                limit: LimitKind::SessionTokens,
                used,
                allowed,
            });
        }
        if !self.is_free() {
            let most = self.most(expected);
            let passed = |cap: &Cap| cap.spent >= cap.allowed || cap.spent.saturating_add(most) > cap.allowed;
            reached.extend(
                self.money_caps(turn)
                    .into_iter()
                    .filter(passed)
                    .map(|cap| LimitReached {
                        limit: cap.kind,
                        used: cap.spent,
                        allowed: cap.allowed,
                    }),
            );
        }
        reached
    }

    /// What is spent and allowed of a cap on money, when there is one.
    pub(super) fn money_cap(&self, turn: &LiveTurn, kind: LimitKind) -> Option<u64> {
        let cap = self.money_caps(turn).into_iter().find(|cap| cap.kind == kind)?;
        Some(cap.allowed.max(cap.spent))
    }

    /// What the tightest cap leaves, in millionths of a dollar; the day's is looked after by each session itself.
    pub(super) fn money_left(&self, turn: &LiveTurn) -> Option<u64> {
        let caps = self.money_caps(turn).into_iter();
        caps.filter(|cap| cap.kind != LimitKind::DayMoney)
            .map(|cap| cap.allowed.saturating_sub(cap.spent))
            .min()
    }

    /// The cause of asking before a request that takes a large part of what is left. Nobody sits before a sub-agent.
    pub(super) fn too_expensive(&self, turn: &LiveTurn, expected: &Usage) -> Option<PauseCause> {
        if !self.live.config.budget.ask_expensive || expected.cost.0 == 0 || self.is_sub_agent() {
            return None;
        }
        let left = |cap: &Cap| cap.allowed.saturating_sub(cap.spent);
        let left = self.money_caps(turn).iter().map(left).min()?;
        // What was agreed to grows a little with every iteration.
        let agreed = turn.agreed_cost.0.saturating_add(turn.agreed_cost.0 / LARGE_PART);
        let large = expected.cost.0.saturating_mul(LARGE_PART) > left && expected.cost.0 > agreed;
        large.then_some(PauseCause::Expensive {
            estimate: expected.cost,
            left: Micros(left),
        })
    }

    /// The longest answer that no cap forbids, in tokens; none where no cap is near.
    pub(super) fn longest_answer(&self, turn: &LiveTurn, expected: &Usage) -> Option<u32> {
        let input = expected.total() - u64::from(expected.output);
        let by_tokens = turn
            .token_limit
            .map(|allowed| allowed.saturating_sub(self.live.usage.total() + input));
        let by_money = match &self.live.config.facts.cost {
            ModelCost::PerMillion { .. } => self.affordable_answer(turn, expected),
            ModelCost::Unknown | ModelCost::Free => None,
        };
        let own = self.live.config.facts.output.map_or(LONG_OUTPUT, u64::from);
        let longest = by_tokens.into_iter().chain(by_money).min()?;
        (longest < own).then(|| u32::try_from(longest.max(1)).unwrap_or(u32::MAX))
    }

    fn affordable_answer(&self, turn: &LiveTurn, expected: &Usage) -> Option<u64> {
        let input = self.most(&Usage {
            output: 0,
            ..*expected
        });
        let whole = self.most(&Usage {
            output: 1_000_000,
            ..*expected
        });
        let per_million = whole.saturating_sub(input);
        if per_million == 0 {
            return None;
        }
        let left = |cap: &Cap| cap.allowed.saturating_sub(cap.spent).saturating_sub(input);
        let left = self.money_caps(turn).iter().map(left).min()?;
        u64::try_from(u128::from(left) * 1_000_000 / u128::from(per_million)).ok()
    }

    /// An attempt is given up that has used tokens.
    pub(super) fn note_lost(&mut self, usage: Usage) {
        let Some(turn) = self.turn().filter(|_| usage.total() > 0) else {
            return;
        };
        let (id, iteration) = (turn.turn, turn.iteration);
        let usage = self.priced(usage);
        self.emit(EventMsg::AttemptLost {
            turn: id,
            iteration,
            usage,
        });
    }

    /// The person stops an answer that streams: nobody tells what it has used, so it is estimated now. An answer that was
    /// complete at that moment and comes later is not counted a second time.
    pub(super) fn note_stopped_answer(&mut self) {
        let streamed: usize = self.live.open.iter().map(|open| open.text.len()).sum();
        if streamed == 0 {
            return;
        }
        let expected = self.turn().and_then(|turn| turn.expected).unwrap_or_default();
        self.note_lost(Usage {
            output: tokens(streamed as u64),
            ..expected
        });
    }
}

/// An estimate: 3.6 bytes per token, rounded up.
pub fn tokens(bytes: u64) -> u32 {
    u32::try_from((bytes * 5).div_ceil(18)).unwrap_or(u32::MAX)
}
