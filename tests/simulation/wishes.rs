//! Rules as the person wishes them in an approval, takes back, or changes elsewhere: those that fit, and those that do not.

use crate::dice::Dice;
use crate::tools::{FOLDER, HOSTS, OUTSIDE};
use crate::world::{DAY, MAIN, World};
use paddock_core::session::input::Input;
use paddock_protocol::*;

fn exact(text: &str) -> WordShape {
    WordShape::Exact {
        text: text.to_owned(),
    }
}

fn command(words: &[&str], last: Option<WordShape>) -> RuleShape {
    let words = words.iter().map(|word| exact(word)).chain(last).collect();
    RuleShape::Command { words }
}

/// A shape that may be kept.
fn shape(dice: &mut Dice) -> RuleShape {
    match dice.below(12) {
        0 => command(&["make"], Some(WordShape::Rest)),
        1 => command(&["make", "a"], None),
        2 => command(&["make"], Some(WordShape::Any)),
        3 => RuleShape::Command {
            words: vec![
                exact("make"),
                WordShape::OneOf {
                    texts: vec!["a".into(), "check".into()],
                },
            ],
        },
        4 => command(&["curl"], Some(WordShape::Rest)),
        5 => RuleShape::WritePath { path: "f1".into() },
        6 | 7 => RuleShape::Host {
            host: (*dice.pick(&["a.example.org", "*.example.org", "localhost", "127.0.0.1"])).to_owned(),
        },
        8 | 9 => RuleShape::Outside {
            path: FOLDER.into(),
            write: dice.chance(50),
        },
        _ => RuleShape::Outside {
            path: (*dice.pick(OUTSIDE)).to_owned(),
            write: dice.chance(50),
        },
    }
}

/// A shape that must never be kept, though it would cover what is asked about.
fn forbidden(dice: &mut Dice, asked: &[Access]) -> RuleShape {
    match asked.first() {
        Some(Access::Exec { .. }) if dice.chance(70) => {
            return RuleShape::Command {
                words: vec![WordShape::Any, WordShape::Rest],
            };
        }
        Some(Access::Outside { .. }) if dice.chance(70) => {
            return RuleShape::Outside {
                path: (*dice.pick(&["/", "/o/"])).to_owned(),
                write: true,
            };
        }
        _ => {}
    }
    match dice.below(6) {
        0 => RuleShape::Command {
            words: vec![WordShape::Rest],
        },
        1 => command(&["sudo"], Some(WordShape::Rest)),
        2 => command(&["rm"], Some(WordShape::Rest)),
        3 => RuleShape::Host { host: "*.org".into() },
        4 => RuleShape::Outside {
            path: "/".into(),
            write: false,
        },
        _ => RuleShape::WritePath { path: ".git/".into() },
    }
}

/// What would cover the things that are asked about.
fn fitting(dice: &mut Dice, access: &[Access]) -> Option<RuleShape> {
    Some(match access.first()? {
        Access::Exec { command: line } => {
            let words: Vec<&str> = line.split(' ').collect();
            let known = 1 + dice.below(words.len());
            command(&words[..known], Some(WordShape::Rest))
        }
        Access::Write { path } => RuleShape::WritePath { path: path.clone() },
        Access::Network { host } => RuleShape::Host {
            host: if dice.chance(40) {
                "*.example.org".into()
            } else {
                host.clone()
            },
        },
        Access::Outside { path, write, .. } => RuleShape::Outside {
            path: if dice.chance(50) {
                FOLDER.into()
            } else {
                path.clone()
            },
            write: *write || dice.chance(30),
        },
        _ => return None,
    })
}

impl World {
    fn end_of_rule(&mut self) -> RuleEnd {
        match self.dice.below(4) {
            0 => RuleEnd::Unused { days: 1 },
            1 | 2 => RuleEnd::At {
                at: self.now.plus(Millis(self.dice.next() % 12_000)),
            },
            _ => RuleEnd::Never,
        }
    }

    pub(crate) fn wish(&mut self, request: &ApprovalRequest) -> RuleWish {
        let asked = request
            .again
            .as_ref()
            .map_or(&request.access, |first| &first.refused);
        let shape = match self.dice.below(10) {
            0 | 1 => forbidden(&mut self.dice, asked),
            2 => shape(&mut self.dice),
            _ => fitting(&mut self.dice, asked).unwrap_or_else(|| shape(&mut self.dice)),
        };
        let end = self.end_of_rule();
        RuleWish { shape, end }
    }

    /// A rule that let a call go which has not begun.
    pub(crate) fn rule_in_use(&self) -> Option<RuleId> {
        let items = self.seats[MAIN].state.items.iter().rev().take(8);
        items
            .filter(|item| item.status == ItemStatus::Waiting)
            .find_map(|item| {
                let ItemKind::Call(call) = &item.kind else {
                    return None;
                };
                match &call.verdict.as_ref()?.by {
                    DecidedBy::Rule { rule } => Some(rule.clone()),
                    _ => None,
                }
            })
    }

    pub(crate) fn some_rule(&mut self) -> RuleId {
        let rules = self.seats[MAIN].state.live.rules.clone();
        if rules.is_empty() || self.dice.chance(10) {
            return RuleId::new("nobody's");
        }
        self.dice.pick(&rules).id.clone()
    }

    /// The rules that outlive the session are others now: every session hears of it.
    pub(crate) fn rules_are_loaded(&mut self) {
        let live = &self.seats[MAIN].state.live;
        let mut rules: Vec<Rule> = live
            .rules
            .iter()
            .filter(|rule| rule.scope.outlives_session())
            .cloned()
            .collect();
        if !rules.is_empty() && self.dice.chance(30) {
            rules.remove(self.dice.below(rules.len()));
        }
        for rule in &mut rules {
            if self.dice.chance(30) {
                (rule.uses, rule.last_used) = (rule.uses + 1, Some(self.now));
            }
        }
        for _ in 0..self.dice.below(4) {
            rules.push(self.rule_from_elsewhere());
        }
        for place in 0..self.seats.len() {
            let deaths = self.deaths;
            if !self.seats[place].closed {
                let rules = rules.clone();
                self.input(place, Input::Op(Op::LoadRules { rules }));
            }
            if self.deaths != deaths {
                return;
            }
        }
    }

    fn rule_from_elsewhere(&mut self) -> Rule {
        self.rules_made += 1;
        let answer = match self.dice.below(10) {
            0 => RuleAnswer::Never,
            1 => RuleAnswer::Ask,
            _ => RuleAnswer::Allow,
        };
        let scope = *self.dice.pick(&[RuleScope::Project, RuleScope::Everywhere]);
        // Some sleep, and some fall asleep soon.
        let age = match self.dice.below(3) {
            0 => Millis(0),
            1 => Millis(DAY.0 - self.dice.next() % 9_000),
            _ => Millis(3 * DAY.0),
        };
        Rule {
            id: RuleId::new(format!("kept.{}", self.rules_made)),
            shape: shape(&mut self.dice),
            answer,
            scope,
            created: Timestamp(self.now.0 - age.0),
            end: self.end_of_rule(),
            last_used: None,
            uses: 0,
        }
    }

    /// A command that runs wants a connection that it has not asked for yet.
    pub(crate) fn wanted_host(&mut self, asked: &[(String, HostReach)]) -> Option<(String, HostReach)> {
        let (host, reach) = *self.dice.pick(HOSTS);
        let wanted = (host.to_owned(), reach);
        (!asked.contains(&wanted)).then_some(wanted)
    }
}
