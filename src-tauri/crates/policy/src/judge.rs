//! The decision. Order of evaluation: role → hard denials → protected → rules (strictest wins) → autonomy.

use crate::command::{CommandLine, Part, parse_command};
use crate::denial::hard_denial;
use crate::open::{Opened, opened, opened_part};
use crate::program::{deletes, is_safe, wants_network};
use crate::remember::{covers, misfit, scopes, suggestion, touches};
use crate::rule::in_words;
use paddock_protocol::{
    Access, AnswerScope, Autonomy, Millis, RiskClass, Role, Rule, RuleAnswer, RuleId, RuleScope, RuleShape,
    Segment, Timestamp, TraceLine, TurnId, WordShape,
};

/// Ordered: the strictest of several wins.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Decision {
    Allow,
    Ask,
    /// Why, in words for the model.
    Forbid(String),
}

/// What the decision depends on besides the call.
#[derive(Clone, Copy, Debug)]
pub struct Circumstances<'a> {
    pub role: Role,
    pub autonomy: Autonomy,
    pub rules: &'a [Rule],
    pub turn: TurnId,
    /// Commands are confined by the OS on this machine.
    pub confined: bool,
    /// A command reaches no host that is not asked for one by one, if any. Only then a rule may let a command go that looks
    /// as if it wanted the network.
    pub network_asks: bool,
    pub now: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    pub decision: Decision,
    /// Strictest last.
    pub classes: Vec<RiskClass>,
    pub trace: Vec<TraceLine>,
    /// The rule that decided, also one that refused or that asks; with [`Decision::Ask`] it may be one that would allow and
    /// has fallen asleep.
    pub rule: Option<RuleId>,
    /// Scopes in which an approval may hold, narrowest first.
    pub scopes: Vec<AnswerScope>,
    /// The rule that a wider scope makes, with its words.
    pub remembered: Option<(RuleShape, String)>,
    /// Parts of a command, for display.
    pub segments: Vec<Segment>,
}

pub fn judge(access: &[Access], cx: &Circumstances<'_>) -> Judgement {
    let line = access.iter().find_map(|a| match a {
        Access::Exec { command } => Some((parse_command(command), command.as_str())),
        _ => None,
    });
    let parsed = line.as_ref().map(|(line, _)| line);
    let opened = parsed.map(opened).unwrap_or_default();
    let classes = classes(access, &opened);
    let mut bench = Bench {
        cx,
        classes: &classes,
        opened: &opened,
        trace: Vec::new(),
        rule: None,
    };
    let decision = bench.decide(access, line.as_ref().map(|(line, text)| (line, *text)));
    let (trace, rule) = (bench.trace, bench.rule);
    let remembered = suggested(access, parsed, &classes, cx);
    let scopes = scopes(remembered.as_ref().map(|(shape, _)| shape));
    let segments = parsed.map(|line| segments(line, cx)).unwrap_or_default();
    Judgement {
        decision,
        classes,
        trace,
        rule,
        scopes,
        remembered,
        segments,
    }
}

/// The rule that may be offered: none for what is protected or deleted, nor for a command that wants more than itself.
fn suggested(
    access: &[Access],
    line: Option<&CommandLine>,
    classes: &[RiskClass],
    cx: &Circumstances<'_>,
) -> Option<(RuleShape, String)> {
    let strict = classes.iter().any(|class| match class {
        RiskClass::Protected | RiskClass::Delete => true,
        RiskClass::Network => line.is_some() && !cx.network_asks,
        _ => false,
    });
    if strict { None } else { suggestion(access, line) }
}

struct Bench<'a> {
    cx: &'a Circumstances<'a>,
    classes: &'a [RiskClass],
    /// What the command starts; empty for other calls.
    opened: &'a Opened,
    trace: Vec<TraceLine>,
    rule: Option<RuleId>,
}

impl Bench<'_> {
    fn note(&mut self, about: impl Into<String>, says: impl Into<String>, decides: bool) {
        self.trace.push(TraceLine {
            about: about.into(),
            says: says.into(),
            decides,
        });
    }

    fn decide(&mut self, access: &[Access], line: Option<(&CommandLine, &str)>) -> Decision {
        if let Some(forbidden) = self.by_role(access, line.map(|(line, _)| line)) {
            return forbidden;
        }
        if let Some((_, text)) = line
            && let Some(why) = hard_denial(self.opened, text)
        {
            self.note("Built-in refusals", format!("never: {why}"), true);
            return Decision::Forbid(format!("This command is never run: {why}."));
        }
        if self.classes.contains(&RiskClass::Protected) {
            self.note("Protected place", "always asks, never by rule", true);
            return Decision::Ask;
        }
        match self.by_rules(access, line.map(|(line, _)| line)) {
            Some(decision) => decision,
            None => self.by_autonomy(line.map(|(line, _)| line)),
        }
    }

    fn by_role(&mut self, access: &[Access], line: Option<&CommandLine>) -> Option<Decision> {
        let role = self.cx.role;
        if role != Role::Plan {
            self.note(format!("Role {role:?}"), "has this tool", false);
            return None;
        }
        let changes_outside = access
            .iter()
            .any(|a| matches!(a, Access::Outside { write: true, .. }));
        let looks = self.classes.iter().all(|class| match class {
            RiskClass::Read => true,
            RiskClass::Command => line.is_some_and(is_safe),
            RiskClass::Outside => !changes_outside,
            RiskClass::Network => line.is_none(),
            _ => false,
        });
        self.note("Role Plan", if looks { "may look" } else { "only looks" }, !looks);
        (!looks).then(|| {
            Decision::Forbid(
                "Not available in Plan: this role only looks. Describe the change instead; the user can switch to Act."
                    .to_owned(),
            )
        })
    }

    fn is_in_force(&self, rule: &Rule) -> bool {
        let in_scope = match rule.scope {
            RuleScope::Turn { turn } => turn == self.cx.turn,
            RuleScope::Session | RuleScope::Project | RuleScope::Everywhere => true,
        };
        in_scope && !rule.has_ended(self.cx.now)
    }

    /// Never → ask → allow. `None` when no rule matches everything that would be touched.
    fn by_rules(&mut self, access: &[Access], line: Option<&CommandLine>) -> Option<Decision> {
        let rules: Vec<&Rule> = self
            .cx
            .rules
            .iter()
            .filter(|rule| self.is_in_force(rule))
            .collect();
        let opened = self.opened;
        let holds = |rule: &&&Rule| {
            rule.answer != RuleAnswer::Allow && access.iter().any(|a| touches(&rule.shape, a, opened))
        };
        if let Some(rule) = rules.iter().filter(holds).max_by_key(|rule| rule.answer) {
            let never = rule.answer == RuleAnswer::Never;
            self.note(rule_name(rule), if never { "never" } else { "always asks" }, true);
            self.rule = Some(rule.id.clone());
            return Some(if never {
                Decision::Forbid("A rule of the user forbids this.".into())
            } else {
                Decision::Ask
            });
        }
        let allowing: Vec<&Rule> = rules
            .into_iter()
            .filter(|rule| rule.answer == RuleAnswer::Allow)
            .collect();
        match self.covering(access, line, &allowing) {
            None => {
                self.note_misfits(access, line, &allowing);
                None
            }
            Some(used) => self.allowed_by(&used),
        }
    }

    /// For each thing that is touched a rule that allows it, one that is awake if there is one; `None` when something is left.
    fn covering<'r>(
        &self,
        access: &[Access],
        line: Option<&CommandLine>,
        allowing: &[&'r Rule],
    ) -> Option<Vec<&'r Rule>> {
        let deletes = line.is_some() && self.classes.contains(&RiskClass::Delete);
        let connects = line.is_some() && self.classes.contains(&RiskClass::Network) && !self.cx.network_asks;
        let mut used = Vec::new();
        for a in access.iter().filter(|a| !matches!(a, Access::Read { .. })) {
            let is_command = matches!(a, Access::Exec { .. });
            if is_command && connects {
                return None;
            }
            let covering = allowing.iter().filter(|rule| {
                covers(&rule.shape, a, line) && (!(is_command && deletes) || may_delete(rule))
            });
            used.push(*covering.min_by_key(|rule| rule.is_asleep(self.cx.now))?);
        }
        (!used.is_empty()).then_some(used)
    }

    /// All that is touched is covered. A rule that has fallen asleep leaves it to the autonomy, which says how long it slept.
    fn allowed_by(&mut self, used: &[&Rule]) -> Option<Decision> {
        let asleep = used.iter().find(|rule| rule.is_asleep(self.cx.now));
        let deciding = asleep.or(used.first())?;
        self.rule = Some(deciding.id.clone());
        if asleep.is_none() {
            self.note(rule_name(deciding), "allows", true);
            return Some(Decision::Allow);
        }
        let before = deciding.last_used.unwrap_or(deciding.created);
        let says = format!("You allowed this before, {}", ago(before, self.cx.now));
        self.note(rule_name(deciding), says, false);
        None
    }

    /// Says of the rules that are about such a call why they do not cover it, the first ones only.
    fn note_misfits(&mut self, access: &[Access], line: Option<&CommandLine>, allowing: &[&Rule]) {
        const MOST: usize = 5;
        let about = |shape: &RuleShape, a: &Access| {
            matches!(
                (shape, a),
                (RuleShape::Command { .. }, Access::Exec { .. })
                    | (RuleShape::WritePath { .. }, Access::Write { .. })
                    | (RuleShape::Host { .. }, Access::Network { .. })
                    | (RuleShape::Outside { .. }, Access::Outside { .. })
                    | (RuleShape::ExternalTool { .. }, Access::External { .. })
            )
        };
        let mut left = MOST;
        for rule in allowing {
            let Some(a) = access.iter().find(|a| about(&rule.shape, a)) else {
                continue;
            };
            let says = match misfit(&rule.shape, a, line) {
                Some(why) => format!("no match: {why}"),
                None => "does not cover all that this call touches".to_owned(),
            };
            self.note(rule_name(rule), says, false);
            left -= 1;
            if left == 0 {
                return;
            }
        }
    }

    fn by_autonomy(&mut self, line: Option<&CommandLine>) -> Decision {
        if !self.cx.rules.is_empty() && self.rule.is_none() {
            self.note("Your rules", "none covers it", false);
        }
        let autonomy = self.cx.autonomy;
        let asks: Vec<&str> = self
            .classes
            .iter()
            .filter_map(|class| self.question(*class, line))
            .collect();
        let name = match autonomy {
            Autonomy::Careful => "Autonomy Careful",
            Autonomy::Balanced => "Autonomy Balanced",
            Autonomy::HandsOff => "Autonomy Hands-off",
        };
        match asks.last() {
            Some(why) => {
                self.note(name, format!("asks for {why}"), true);
                Decision::Ask
            }
            None => {
                // Nothing had to wake a sleeping rule.
                self.rule = None;
                self.note(name, "no question", true);
                Decision::Allow
            }
        }
    }

    /// What the autonomy asks about in this class, or nothing.
    fn question(&self, class: RiskClass, line: Option<&CommandLine>) -> Option<&'static str> {
        let careful = self.cx.autonomy == Autonomy::Careful;
        match class {
            RiskClass::Read => None,
            RiskClass::Write => careful.then_some("every change"),
            RiskClass::Command => match self.cx.autonomy {
                _ if self.cx.role == Role::Plan => None,
                Autonomy::Careful => Some("every command not covered by a rule"),
                Autonomy::Balanced if line.is_some_and(is_safe) && self.cx.confined => None,
                Autonomy::Balanced => Some("commands outside of the safe list"),
                Autonomy::HandsOff if self.cx.confined && self.opened.hidden.is_none() => None,
                Autonomy::HandsOff if self.cx.confined => Some("a command that cannot be checked in parts"),
                Autonomy::HandsOff => Some("commands, because nothing confines them on this machine"),
            },
            RiskClass::External => Some("tools of connected servers"),
            RiskClass::Network => Some("connections"),
            RiskClass::Outside => Some("places outside of the project"),
            RiskClass::Delete => Some("deletions"),
            RiskClass::Protected => Some("protected places"),
        }
    }
}

fn rule_name(rule: &Rule) -> String {
    let answer = match rule.answer {
        RuleAnswer::Allow => "",
        RuleAnswer::Ask => "ask: ",
        RuleAnswer::Never => "never: ",
    };
    format!("Rule “{answer}{}”", in_words(&rule.shape))
}

/// A deletion is remembered for exactly one command, and for this session at most.
fn may_delete(rule: &Rule) -> bool {
    let short = matches!(rule.scope, RuleScope::Turn { .. } | RuleScope::Session);
    let exact = |word: &WordShape| matches!(word, WordShape::Exact { .. });
    short && matches!(&rule.shape, RuleShape::Command { words } if words.iter().all(exact))
}

/// "5 weeks ago".
fn ago(before: Timestamp, now: Timestamp) -> String {
    let days = now.since(before).0 / Millis::minutes(24 * 60).0;
    let (count, unit) = match days {
        0 => return "today".to_owned(),
        1..14 => (days, "day"),
        _ => (days / 7, "week"),
    };
    format!("{count} {unit}{} ago", if count == 1 { "" } else { "s" })
}

fn classes(access: &[Access], opened: &Opened) -> Vec<RiskClass> {
    let mut classes: Vec<RiskClass> = access
        .iter()
        .map(|a| match a {
            Access::Read { .. } => RiskClass::Read,
            Access::Write { .. } => RiskClass::Write,
            Access::Delete { .. } => RiskClass::Delete,
            Access::Exec { .. } => RiskClass::Command,
            Access::Network { .. } => RiskClass::Network,
            Access::Outside { .. } => RiskClass::Outside,
            Access::Protected { .. } => RiskClass::Protected,
            Access::External { .. } => RiskClass::External,
        })
        .collect();
    if opened.all().any(deletes) {
        classes.push(RiskClass::Delete);
    }
    if opened.all().any(wants_network) {
        classes.push(RiskClass::Network);
    }
    classes.sort_unstable();
    classes.dedup();
    classes
}

/// The parts of the line with what is known of each, for display.
fn segments(line: &CommandLine, cx: &Circumstances<'_>) -> Vec<Segment> {
    line.parts
        .iter()
        .map(|part| {
            let inside = opened_part(part);
            let mut notes: Vec<String> = part.writes.iter().map(|path| format!("writes {path}")).collect();
            if inside.all().any(deletes) {
                notes.push("deletes".into());
            }
            if inside.all().any(wants_network) {
                notes.push("wants the network".into());
            }
            let others: Vec<String> = inside
                .all()
                .filter(|p| *p != part)
                .map(|p| p.words.join(" "))
                .collect();
            if !others.is_empty() {
                notes.push(format!("opens: {}", others.join(" · ")));
            }
            notes.extend(inside.hidden.map(|why| format!("cannot be read: {why}")));
            notes.extend(allowed_alone(part, line, cx));
            Segment {
                joint: part.joint.clone(),
                text: part.text.clone(),
                notes,
            }
        })
        .collect()
}

/// The rule that covers this part, were it the whole line.
fn allowed_alone(part: &Part, line: &CommandLine, cx: &Circumstances<'_>) -> Option<String> {
    if !cx.rules.iter().any(|rule| rule.answer == RuleAnswer::Allow) {
        return None;
    }
    let alone = CommandLine {
        parts: vec![part.clone()],
        understood: line.understood,
        seen: line.seen,
        multiplies: line.multiplies,
    };
    let exec = Access::Exec {
        command: part.text.clone(),
    };
    let bench = Bench {
        cx,
        classes: &[],
        opened: &Opened::default(),
        trace: Vec::new(),
        rule: None,
    };
    let rule = cx.rules.iter().find(|rule| {
        rule.answer == RuleAnswer::Allow
            && bench.is_in_force(rule)
            && !rule.is_asleep(cx.now)
            && covers(&rule.shape, &exec, Some(&alone))
    })?;
    Some(format!(
        "allowed by rule “{}” · {} uses",
        in_words(&rule.shape),
        rule.uses
    ))
}

#[cfg(test)]
mod corpus_tests;
#[cfg(test)]
mod rules_tests;
#[cfg(test)]
mod tests;
