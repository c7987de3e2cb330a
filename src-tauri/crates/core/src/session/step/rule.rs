//! Rules: kept with a decision, taken back, loaded anew, and asked.

use super::Draft;
use super::ask::leads_here;
use super::judged::{Fence, fence};
use crate::session::input::Effect;
use paddock_policy::{Circumstances, Judgement, judge};
use paddock_protocol::*;

/// A rule for the project that the person made in passing falls asleep when it was not used for so long.
const SLEEPS_AFTER: RuleEnd = RuleEnd::Unused { days: 30 };

impl Draft<'_> {
    pub(super) fn judged(&self, access: &[Access], fence: Fence) -> Judgement {
        let config = &self.live.config;
        let circumstances = Circumstances {
            role: config.role,
            autonomy: config.autonomy,
            rules: &self.live.rules,
            turn: self.turn().map_or(TurnId(0), |turn| turn.turn),
            now: self.now,
            confined: fence.confined,
            network_asks: fence.network_asks,
        };
        judge(access, &circumstances)
    }

    /// Who let it go when the person was not asked; a rule that is kept is counted.
    pub(super) fn decided_by_rule(&mut self, rule: Option<RuleId>) -> DecidedBy {
        let Some(rule) = rule else {
            return DecidedBy::Policy;
        };
        let kept = |kept: &Rule| kept.id == rule && kept.scope.outlives_session();
        if self.live.rules.iter().any(kept) {
            self.effect(Effect::RuleUsed { rule: rule.clone() });
        }
        DecidedBy::Rule { rule }
    }

    /// Places outside that rules open for commands of this session.
    pub(super) fn standing_places(&self) -> Vec<Access> {
        let (now, turn) = (self.now, self.turn().map(|turn| turn.turn));
        let reads_only = self.live.config.role == Role::Plan;
        let in_force = |rule: &&Rule| {
            let of_this_turn = !matches!(rule.scope, RuleScope::Turn { turn: of } if Some(of) != turn);
            rule.answer == RuleAnswer::Allow && of_this_turn && !rule.has_ended(now) && !rule.is_asleep(now)
        };
        let rules = self.live.rules.iter().filter(in_force);
        rules
            .filter_map(|rule| match &rule.shape {
                RuleShape::Outside { path, write } => {
                    let write = *write && !reads_only;
                    let writes = write && !self.is_kept_from(path, true);
                    (!self.is_kept_from(path, false)).then(|| Access::Outside {
                        path: path.clone(),
                        write: writes,
                        through: None,
                    })
                }
                _ => None,
            })
            .collect()
    }

    /// Whether a rule forbids, or asks about, some of this place: then a command gets nothing of it unasked, for nobody sees
    /// which part it takes.
    fn is_kept_from(&self, place: &str, writing: bool) -> bool {
        let lies_in = |folder: &str, path: &str| {
            folder.trim_end_matches('/') == path.trim_end_matches('/')
                || folder.ends_with('/') && path.starts_with(folder)
        };
        self.live.rules.iter().any(|rule| match &rule.shape {
            RuleShape::Outside { path, write } => {
                rule.answer != RuleAnswer::Allow
                    && !rule.has_ended(self.now)
                    && (writing || !write)
                    && (lies_in(path, place) || lies_in(place, path))
            }
            _ => false,
        })
    }

    /// Keeps what the person approved for longer than once.
    pub(super) fn remember(&mut self, request: &ApprovalRequest, scope: AnswerScope, wish: Option<RuleWish>) {
        let scope = match scope {
            AnswerScope::Once | AnswerScope::OnceWithNetwork | AnswerScope::OnceUnconfined => return,
            AnswerScope::Turn => RuleScope::Turn { turn: request.turn },
            AnswerScope::Session => RuleScope::Session,
            AnswerScope::Project => RuleScope::Project,
        };
        let usual = if scope == RuleScope::Project {
            SLEEPS_AFTER
        } else {
            RuleEnd::Never
        };
        let (shape, end) = match (wish, request.rule.clone()) {
            (Some(wish), _) => (wish.shape, wish.end),
            (None, Some(shape)) => (shape, usual),
            (None, None) => return,
        };
        let rule = Rule {
            id: RuleId::new(format!("{}.{}", self.base.id, request.id)),
            shape,
            answer: RuleAnswer::Allow,
            scope,
            created: self.now,
            end,
            last_used: None,
            uses: 0,
        };
        self.emit(EventMsg::RuleAdded { rule: rule.clone() });
        if scope == RuleScope::Project {
            self.effect(Effect::KeepRule { rule });
        }
        self.judge_waiting();
    }

    /// The person allowed what a rule had allowed before it fell asleep: that was the one question, and it is awake again.
    pub(super) fn wake_rule(&mut self, request: &ApprovalRequest) {
        if leads_here(&request.body) {
            return;
        }
        let again = request.again.as_ref();
        let access = again.map_or(&request.access, |first| &first.refused);
        let judgement = self.judged(access, fence(&request.body));
        let asleep = |rule: &&Rule| {
            Some(&rule.id) == judgement.rule.as_ref()
                && rule.answer == RuleAnswer::Allow
                && rule.scope.outlives_session()
                && rule.is_asleep(self.now)
        };
        let Some(woken) = self.live.rules.iter().find(asleep).map(|rule| rule.id.clone()) else {
            return;
        };
        let mut rules: Vec<Rule> = (*self.live.rules).clone();
        rules.retain(|rule| rule.scope.outlives_session());
        for rule in rules.iter_mut().filter(|rule| rule.id == woken) {
            rule.last_used = Some(self.now);
            rule.uses = rule.uses.saturating_add(1);
        }
        self.emit(EventMsg::RulesLoaded { rules });
        self.effect(Effect::RuleUsed { rule: woken });
        self.judge_waiting();
    }

    pub(super) fn remove_rule(&mut self, id: &RuleId) {
        let Some(rule) = self.live.rules.iter().find(|rule| rule.id == *id).cloned() else {
            self.refuse(
                ErrorCode::NotFound,
                "This rule is not in force here.",
                "Look at the rules as they are now.",
            );
            return;
        };
        self.take_verdicts_back();
        self.emit(EventMsg::RuleRemoved { rule: id.clone() });
        if rule.scope.outlives_session() {
            self.effect(Effect::DropRule { rule: id.clone() });
        }
        self.judge_anew();
        self.advance_unless_interrupted();
    }

    /// Rules of the project or of all projects were changed elsewhere.
    pub(super) fn load_rules(&mut self, rules: Vec<Rule>) {
        let now: Vec<&Rule> = self
            .live
            .rules
            .iter()
            .filter(|rule| rule.scope.outlives_session())
            .collect();
        if now == rules.iter().collect::<Vec<_>>() {
            return;
        }
        self.take_verdicts_back();
        self.emit(EventMsg::RulesLoaded { rules });
        self.judge_anew();
        self.advance_unless_interrupted();
    }
}
