//! The decision. Order of evaluation: role → hard denials → protected → rules (strictest wins) → autonomy.

use crate::command::{CommandLine, parse_command};
use crate::program::{deletes, hard_denial, is_safe, opened, wants_network};
use crate::remember::{covers, suggestion};
use paddock_protocol::{
    Access, AnswerScope, Autonomy, RiskClass, Role, Rule, RuleAnswer, RuleId, RuleScope, RuleShape, Segment,
    TraceLine, TurnId,
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
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    pub decision: Decision,
    /// Strictest last.
    pub classes: Vec<RiskClass>,
    pub trace: Vec<TraceLine>,
    /// The rule that allowed it.
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
    let classes = classes(access, parsed);
    let mut bench = Bench {
        cx,
        classes: &classes,
        trace: Vec::new(),
        rule: None,
    };
    let decision = bench.decide(access, line.as_ref().map(|(line, text)| (line, *text)));
    let (trace, rule) = (bench.trace, bench.rule);
    let strict = classes
        .iter()
        .any(|c| matches!(c, RiskClass::Protected | RiskClass::Delete | RiskClass::Outside));
    let remembered = if strict { None } else { suggestion(access, parsed) };
    let mut scopes = vec![AnswerScope::Once];
    if remembered.is_some() {
        scopes.extend([AnswerScope::Turn, AnswerScope::Session, AnswerScope::Project]);
    }
    let segments = parsed.map(segments).unwrap_or_default();
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

struct Bench<'a> {
    cx: &'a Circumstances<'a>,
    classes: &'a [RiskClass],
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
        if let Some(forbidden) = self.by_role(line.map(|(line, _)| line)) {
            return forbidden;
        }
        if let Some((line, text)) = line
            && let Some(why) = hard_denial(line, text)
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

    fn by_role(&mut self, line: Option<&CommandLine>) -> Option<Decision> {
        let role = self.cx.role;
        if role != Role::Plan {
            self.note(format!("Role {role:?}"), "has this tool", false);
            return None;
        }
        let looks = self.classes.iter().all(|class| match class {
            RiskClass::Read => true,
            RiskClass::Command => line.is_some_and(is_safe),
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

    /// Never → ask → allow. `None` when no rule matches everything that would be touched.
    fn by_rules(&mut self, access: &[Access], line: Option<&CommandLine>) -> Option<Decision> {
        let turn = self.cx.turn;
        let in_force = |rule: &&Rule| match rule.scope {
            RuleScope::Turn { turn: only } => only == turn,
            RuleScope::Session | RuleScope::Project => true,
        };
        let rules: Vec<&Rule> = self.cx.rules.iter().filter(in_force).collect();
        let strictest = access
            .iter()
            .flat_map(|a| rules.iter().filter(move |rule| covers(&rule.shape, a, line)))
            .filter(|rule| rule.answer != RuleAnswer::Allow)
            .max_by_key(|rule| rule.answer);
        if let Some(rule) = strictest {
            let never = rule.answer == RuleAnswer::Never;
            self.note(rule_name(rule), if never { "never" } else { "always asks" }, true);
            return Some(if never {
                Decision::Forbid("A rule of the user forbids this.".into())
            } else {
                Decision::Ask
            });
        }
        let hinted = [RiskClass::Delete, RiskClass::Network, RiskClass::Outside];
        if self.classes.iter().any(|class| hinted.contains(class)) && line.is_some() {
            return None;
        }
        let mut allowing = None;
        for a in access.iter().filter(|a| !matches!(a, Access::Read { .. })) {
            let rule = rules
                .iter()
                .find(|rule| rule.answer == RuleAnswer::Allow && covers(&rule.shape, a, line))?;
            allowing = Some((rule.id.clone(), rule_name(rule)));
        }
        let (id, name) = allowing?;
        self.note(name, "allows", true);
        self.rule = Some(id);
        Some(Decision::Allow)
    }

    fn by_autonomy(&mut self, line: Option<&CommandLine>) -> Decision {
        if !self.cx.rules.is_empty() {
            self.note("Your rules", "none matches", false);
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
                Autonomy::HandsOff if self.cx.confined && line.is_some_and(|line| line.understood) => None,
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
    match &rule.shape {
        RuleShape::CommandPrefix { words } => format!("Rule “{} …”", words.join(" ")),
        RuleShape::WritePath { path } => format!("Rule “changes to {path}”"),
        RuleShape::Host { host } => format!("Rule “{host}”"),
        RuleShape::ExternalTool { server, tool } => format!("Rule “{tool} of {server}”"),
    }
}

fn classes(access: &[Access], line: Option<&CommandLine>) -> Vec<RiskClass> {
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
    if let Some(line) = line {
        let parts = opened(line);
        if parts.iter().any(deletes) {
            classes.push(RiskClass::Delete);
        }
        if parts.iter().any(wants_network) {
            classes.push(RiskClass::Network);
        }
    }
    classes.sort_unstable();
    classes.dedup();
    classes
}

fn segments(line: &CommandLine) -> Vec<Segment> {
    line.parts
        .iter()
        .map(|part| {
            let inside = opened(&CommandLine {
                parts: vec![part.clone()],
                understood: line.understood,
            });
            let mut notes: Vec<String> = part.writes.iter().map(|path| format!("writes {path}")).collect();
            if inside.iter().any(deletes) {
                notes.push("deletes".into());
            }
            if inside.iter().any(wants_network) {
                notes.push("wants the network".into());
            }
            if inside.len() > 1 {
                notes.push(format!(
                    "opens: {}",
                    inside
                        .iter()
                        .skip(1)
                        .map(|p| p.words.join(" "))
                        .collect::<Vec<_>>()
                        .join(" · ")
                ));
            }
            Segment {
                joint: part.joint.clone(),
                text: part.text.clone(),
                notes,
            }
        })
        .collect()
}

#[cfg(test)]
mod tests;
