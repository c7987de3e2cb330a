//! Rules: who makes them, what they cover, when they end. Read anew from what a rule says in words, for the few things of
//! this world; the policy is not asked.

use super::{Checks, Step};
use crate::tools::{PROTECTED, argument};
use paddock_core::session::input::Effect;
use paddock_protocol::*;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Default)]
pub struct Rules {
    pub kept: Vec<Rule>,
    /// Calls and questions that a rule decided in this step; whether it outlives the session.
    decided: BTreeSet<(RuleId, CallId, Option<u32>)>,
    /// Questions of running calls that were answered in this step without being shown.
    unseen: u32,
    /// How often this step counted a rule.
    counted: BTreeMap<RuleId, u32>,
    /// What is approved now is covered by rules that sleep, and by no other.
    must_wake: bool,
    woke: bool,
}

/// What a call would touch.
pub fn touched(tool: &str, arguments: &str) -> Option<Access> {
    let path = argument(arguments, "path");
    let outside = path.starts_with('/');
    Some(match tool {
        "run_command" => Access::Exec {
            command: argument(arguments, "command"),
        },
        "read_file" | "write_file" if outside => Access::Outside {
            path,
            write: tool == "write_file",
            through: None,
        },
        "write_file" if path != PROTECTED => Access::Write { path },
        _ => return None,
    })
}

/// The words of a command, quotes gone.
fn words_of(command: &str) -> Vec<String> {
    let (mut words, mut word, mut quoted) = (Vec::new(), String::new(), false);
    let mut letters = command.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\'' => quoted = !quoted,
            '\\' if !quoted => word.extend(letters.next()),
            ' ' if !quoted => words.push(std::mem::take(&mut word)),
            letter => word.push(letter),
        }
    }
    words.push(word);
    words
}

fn words_fit(shapes: &[WordShape], words: &[String]) -> bool {
    match (shapes, words) {
        ([], []) | ([WordShape::Rest], _) => true,
        ([first, shapes @ ..], [word, words @ ..]) => {
            let fits = match first {
                WordShape::Exact { text } => text == word,
                WordShape::OneOf { texts } => texts.iter().any(|text| text == word),
                WordShape::Any => true,
                WordShape::Rest => false,
            };
            fits && words_fit(shapes, words)
        }
        _ => false,
    }
}

fn host_fits(host: &str, asked: &str) -> bool {
    match host.strip_prefix('*') {
        Some(below) => asked.len() > below.len() && asked.ends_with(below),
        None => host == asked,
    }
}

fn lies_in(folder: &str, path: &str) -> bool {
    folder == path || folder.ends_with('/') && path.starts_with(folder)
}

/// Whether an allowing rule of this shape covers all of it.
fn covers(shape: &RuleShape, access: &Access) -> bool {
    match (shape, access) {
        (RuleShape::Command { words }, Access::Exec { command }) => {
            let plain = !command.contains('$') && !command.starts_with("rm ");
            plain && words_fit(words, &words_of(command))
        }
        (RuleShape::WritePath { path }, Access::Write { path: asked }) => lies_in(path, asked),
        (RuleShape::Host { host }, Access::Network { host: asked }) => host_fits(host, asked),
        (
            RuleShape::Outside { path, write },
            Access::Outside {
                path: asked,
                write: writes,
                ..
            },
        ) => lies_in(path, asked) && (*write || !writes),
        _ => false,
    }
}

/// Whether a rule that forbids or asks is about a part of it.
fn concerns(shape: &RuleShape, access: &Access) -> bool {
    match (shape, access) {
        (
            RuleShape::Outside { path, write },
            Access::Outside {
                path: asked,
                write: writes,
                ..
            },
        ) => (lies_in(path, asked) || lies_in(asked, path)) && (*writes || !write),
        (RuleShape::Command { words }, Access::Exec { command }) => words_fit(words, &words_of(command)),
        _ => covers(shape, access),
    }
}

/// Shapes that nobody may keep, of those that are tried here.
fn hands_over_too_much(shape: &RuleShape) -> bool {
    match shape {
        RuleShape::Command { words } => match words.first() {
            Some(WordShape::Exact { text }) => text == "sudo" || text == "rm" && words.len() != 2,
            _ => true,
        },
        RuleShape::WritePath { path } => path.starts_with(".git"),
        RuleShape::Host { host } => host == "*.org",
        RuleShape::Outside { path, .. } => path == "/" || path == "/o/",
        RuleShape::ExternalTool { .. } => false,
    }
}

impl Checks {
    fn applies(&self, rule: &Rule) -> bool {
        let turn = self.turn.as_ref().filter(|turn| turn.ended.is_none());
        let other_turn =
            matches!(rule.scope, RuleScope::Turn { turn: of } if turn.map(|turn| turn.id) != Some(of));
        let over = matches!(rule.end, RuleEnd::At { at } if self.now >= at);
        !other_turn && !over
    }

    fn is_awake(&self, rule: &Rule) -> bool {
        let RuleEnd::Unused { days } = rule.end else {
            return true;
        };
        let since = rule.last_used.unwrap_or(rule.created);
        self.now.0 - since.0 <= u64::from(days) * 24 * 3_600_000
    }

    fn is_restricted(&self, access: &Access) -> Option<&Rule> {
        let strict = |rule: &&Rule| {
            rule.answer != RuleAnswer::Allow && self.applies(rule) && concerns(&rule.shape, access)
        };
        self.rules
            .kept
            .iter()
            .filter(strict)
            .max_by_key(|rule| rule.answer)
    }

    /// Whether a rule in force lets this happen without a question.
    pub(super) fn ruled(&self, access: &Access) -> bool {
        let allows = |rule: &&Rule| {
            rule.answer == RuleAnswer::Allow
                && self.applies(rule)
                && self.is_awake(rule)
                && covers(&rule.shape, access)
        };
        self.rules.kept.iter().any(|rule| allows(&rule)) && self.is_restricted(access).is_none()
    }

    /// Whether a rule in force says that this never happens.
    pub(super) fn is_never(&self, access: &Access) -> bool {
        self.is_restricted(access)
            .is_some_and(|rule| rule.answer == RuleAnswer::Never)
    }

    /// A rule let something go or refused it: it is there, is awake, and is about just that.
    pub(super) fn ruled_by(
        &mut self,
        id: &RuleId,
        call: &CallId,
        ask: Option<u32>,
        allowed: bool,
        access: &[Access],
    ) {
        if self.step.is_none() {
            return;
        }
        let rule = self.rules.kept.iter().find(|rule| rule.id == *id);
        let rule = rule.expect("a rule that is there").clone();
        assert!(self.applies(&rule), "{rule:?} is not in force for {call}");
        let named = access
            .iter()
            .filter(|access| !matches!(access, Access::Read { .. }));
        if allowed {
            assert!(self.is_awake(&rule), "{rule:?} sleeps and lets {call} go");
            assert_eq!(rule.answer, RuleAnswer::Allow);
            for access in named {
                assert!(self.ruled(access), "no rule lets {call} go for {access:?}");
            }
        } else {
            assert_eq!(rule.answer, RuleAnswer::Never);
            assert!(named.clone().any(|access| concerns(&rule.shape, access)));
        }
        if rule.scope.outlives_session() {
            self.rules.decided.insert((id.clone(), call.clone(), ask));
        }
    }

    /// A question was answered by a rule before anybody saw it.
    pub(super) fn ruled_unseen(&mut self) {
        self.rules.unseen += 1;
    }

    pub(super) fn rule_event(&mut self, msg: &EventMsg) {
        match msg {
            EventMsg::RuleAdded { rule } => self.rule_added(rule),
            EventMsg::RuleRemoved { rule } => {
                let asked = matches!(self.op(), Some(Op::RemoveRule { rule: asked }) if asked == rule);
                assert!(
                    asked || self.step.is_none(),
                    "a rule that nobody took back is gone"
                );
                let before = self.rules.kept.len();
                self.rules.kept.retain(|kept| kept.id != *rule);
                assert_eq!(
                    self.rules.kept.len() + 1,
                    before,
                    "a rule that was not there is gone"
                );
            }
            EventMsg::RulesLoaded { rules } => {
                let asked = matches!(self.op(), Some(Op::LoadRules { rules: asked }) if asked == rules);
                assert!(
                    asked || self.step.is_none() || self.one_woke(rules),
                    "rules from nowhere"
                );
                self.rules.kept.retain(|rule| !rule.scope.outlives_session());
                self.rules.kept.extend(rules.iter().cloned());
            }
            EventMsg::TurnStarted { turn, .. } => {
                let of_another =
                    |rule: &Rule| matches!(rule.scope, RuleScope::Turn { turn: of } if of != *turn);
                self.rules.kept.retain(|rule| !of_another(rule));
            }
            _ => {}
        }
    }

    /// The person says yes once: a rule that would have, had it not fallen asleep, is awake from now on.
    pub(super) fn may_wake(&mut self, step: &Step) {
        self.rules.must_wake = false;
        let (Some(Op::Decide { approval, .. }), Some(decision)) = (step.op(), &step.decided) else {
            return;
        };
        let once = Decision::approve(AnswerScope::Once);
        let Some(request) = self.rights.shown.get(approval) else {
            return;
        };
        let own = request.origin.is_none() && !super::asks::shows_own_network(request);
        let again = request.again.as_ref();
        let access = again.map_or(&request.access, |first| &first.refused);
        let ([access], true) = (&access[..], own && *decision == once) else {
            return;
        };
        let covering: Vec<&Rule> = self
            .rules
            .kept
            .iter()
            .filter(|rule| {
                rule.answer == RuleAnswer::Allow && self.applies(rule) && covers(&rule.shape, access)
            })
            .collect();
        let sleeps = |rule: &&Rule| !self.is_awake(rule) && rule.scope.outlives_session();
        self.rules.must_wake =
            !covering.is_empty() && covering.iter().all(sleeps) && self.is_restricted(access).is_none();
    }

    /// The person approved what a sleeping rule covers: it is awake, and nothing else is another way.
    fn one_woke(&mut self, rules: &[Rule]) -> bool {
        let step = self.step.as_ref();
        let approved = step.and_then(|step| match (step.op(), &step.decided) {
            (Some(Op::Decide { approval, .. }), Some(Decision::Approve { .. })) => Some(approval),
            _ => None,
        });
        let Some(request) = approved.and_then(|approval| self.rights.shown.get(approval)) else {
            return false;
        };
        assert!(
            !super::asks::shows_own_network(request),
            "a rule for the name does not hold there"
        );
        let again = request.again.as_ref();
        let access = again.map_or(&request.access, |first| &first.refused).clone();
        let (call, ask) = (request.call.clone(), request.ask);
        let before = self.rules.kept.clone();
        let before: Vec<&Rule> = before
            .iter()
            .filter(|rule| rule.scope.outlives_session())
            .collect();
        let woken: Vec<&Rule> = rules.iter().filter(|rule| !before.contains(rule)).collect();
        let (&[woken], true) = (&woken[..], before.len() == rules.len()) else {
            return false;
        };
        let slept = before
            .iter()
            .find(|rule| rule.id == woken.id)
            .expect("a rule that was there");
        let again = Rule {
            last_used: Some(self.now),
            uses: slept.uses + 1,
            ..(*slept).clone()
        };
        let named = |access: &&Access| covers(&woken.shape, access);
        let right = again == *woken
            && !self.is_awake(slept)
            && self.applies(slept)
            && slept.answer == RuleAnswer::Allow
            && access.iter().any(|access| named(&access));
        self.rules.decided.insert((woken.id.clone(), call, ask));
        self.rules.woke = true;
        self.see("rule: was woken by an approval");
        right
    }

    fn rule_added(&mut self, rule: &Rule) {
        if let Some(step) = &self.step {
            let (
                Some(Decision::Approve {
                    scope, rule: wish, ..
                }),
                Some(Op::Decide { approval, .. }),
            ) = (&step.decided, step.op())
            else {
                panic!("a rule that nobody made: {rule:?}");
            };
            let turn = self.turn.as_ref().expect("a turn").id;
            let expected = match scope {
                AnswerScope::Once | AnswerScope::OnceWithNetwork | AnswerScope::OnceUnconfined => {
                    panic!("an approval for once became a rule")
                }
                AnswerScope::Turn => RuleScope::Turn { turn },
                AnswerScope::Session => RuleScope::Session,
                AnswerScope::Project => RuleScope::Project,
            };
            assert_eq!((rule.scope, rule.answer), (expected, RuleAnswer::Allow));
            let request = &self.rights.shown[approval];
            match wish {
                None => assert_eq!(
                    Some(&rule.shape),
                    request.rule.as_ref(),
                    "a rule that was not offered"
                ),
                Some(wish) => assert_eq!((&rule.shape, rule.end), (&wish.shape, wish.end)),
            }
            assert!(!hands_over_too_much(&rule.shape), "{rule:?} was kept");
            let again = request.again.as_ref();
            for access in again.map_or(&request.access, |first| &first.refused) {
                let read = matches!(access, Access::Read { .. });
                assert!(
                    read || covers(&rule.shape, access),
                    "{rule:?} does not cover {access:?}"
                );
            }
            let (wished, ends) = (wish.is_some(), rule.end != RuleEnd::Never);
            self.see_if(wished, "rule: a wish was kept");
            self.see_if(ends, "rule: with an end");
        }
        self.rules.kept.push(rule.clone());
    }

    pub(super) fn rule_effect(&mut self, effect: &Effect) {
        match effect {
            Effect::KeepRule { rule } => {
                assert_eq!(rule.scope, RuleScope::Project);
                assert!(self.rules.kept.contains(rule));
            }
            Effect::RuleUsed { rule } => *self.rules.counted.entry(rule.clone()).or_default() += 1,
            Effect::DropRule { rule } => {
                let asked = matches!(self.op(), Some(Op::RemoveRule { rule: asked }) if asked == rule);
                assert!(asked, "a rule that nobody took back is forgotten");
                assert!(self.rules.kept.iter().all(|kept| kept.id != *rule));
            }
            _ => {}
        }
    }

    /// A turn pauses at a limit that is its own and is really reached.
    pub(super) fn limits_are_reached(&self, reached: &[LimitReached]) {
        let turn = self.turn.as_ref().expect("a turn");
        assert!(!reached.is_empty());
        for limit in reached {
            let own = match limit.limit {
                // Reached before it is used up: the next request would pass it.
                LimitKind::TurnMoney | LimitKind::SessionMoney | LimitKind::DayMoney => continue,
                LimitKind::Iterations => Some(u64::from(turn.iteration_limit)),
                LimitKind::SessionTokens => turn.token_limit,
                LimitKind::ActiveTime => None,
            };
            let by_use = limit.limit != LimitKind::SessionTokens;
            assert!(!by_use || limit.used >= limit.allowed, "{limit:?} is not reached");
            if limit.limit == LimitKind::ActiveTime {
                continue;
            }
            assert_eq!(own, Some(limit.allowed), "a limit that nobody set: {limit:?}");
        }
    }

    /// A rule that outlives the session is counted once for each thing that it decided, and for nothing else.
    pub(super) fn uses_are_counted(&mut self) {
        let mut counted = std::mem::take(&mut self.rules.counted);
        for (rule, ..) in std::mem::take(&mut self.rules.decided) {
            let times = counted.get_mut(&rule).filter(|times| **times > 0);
            *times.unwrap_or_else(|| panic!("{rule} decided and was not counted")) -= 1;
        }
        let woke = std::mem::take(&mut self.rules.woke);
        let must_wake = std::mem::take(&mut self.rules.must_wake);
        assert!(woke || !must_wake, "a rule sleeps on though the person was asked");
        let unseen = std::mem::take(&mut self.rules.unseen);
        let left: u32 = counted.values().sum();
        assert!(
            left <= unseen,
            "rules were counted that decided nothing: {counted:?}"
        );
        let (mut ended, mut sleeps) = (false, false);
        for rule in &self.rules.kept {
            ended |= matches!(rule.end, RuleEnd::At { at } if self.now >= at);
            sleeps |= !self.is_awake(rule);
        }
        self.see_if(ended, "rule: has ended");
        self.see_if(sleeps, "rule: sleeps");
    }
}
