//! What may run: a call that needs the person runs only with an approval that fits it exactly, once for each approval.

use super::Checks;
use crate::tools::{PROTECTED, argument};
use paddock_core::session::step::{SUB_AGENTS_AT_ONCE, SUB_AGENTS_PER_TURN};
use paddock_protocol::*;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Default)]
pub struct Rights {
    /// In the order in which they were asked.
    pub open: Vec<ApprovalId>,
    pub shown: BTreeMap<ApprovalId, ApprovalRequest>,
    resolved: BTreeSet<ApprovalId>,
    /// Approved by the person and not used yet: call and arguments.
    grants: BTreeMap<(CallId, String), Vec<Grant>>,
    edited: BTreeSet<String>,
    pub rules: Vec<Rule>,
}

struct Grant {
    /// The states of the files that were shown; none when the arguments were edited.
    base: Vec<FileBase>,
    protected: bool,
}

/// What the person is asked about, for the few tools of this world: written down anew, not taken from the policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Needed {
    Free,
    Asked,
    /// No rule and no setting goes in the person's place.
    AskedEachTime,
    Never,
}

fn needed(tool: &str, arguments: &str, config: &SessionConfig) -> Needed {
    let careful = config.autonomy == Autonomy::Careful;
    let plan = config.role == Role::Plan;
    match tool {
        "write_file" if plan => Needed::Never,
        "write_file" if argument(arguments, "path") == PROTECTED => Needed::AskedEachTime,
        "write_file" if careful => Needed::Asked,
        "write_file" => Needed::Free,
        "delete_files" if plan => Needed::Never,
        "delete_files" => Needed::AskedEachTime,
        "run_command" => match argument(arguments, "command")
            .split(' ')
            .next()
            .unwrap_or_default()
        {
            "sudo" => Needed::Never,
            "ls" if plan || !careful => Needed::Free,
            "ls" => Needed::Asked,
            _ if plan => Needed::Never,
            "make" if config.autonomy == Autonomy::HandsOff => Needed::Free,
            "make" => Needed::Asked,
            _ => Needed::AskedEachTime,
        },
        _ => Needed::Free,
    }
}

fn changes(tool: &str) -> bool {
    matches!(
        tool,
        "write_file" | "delete_files" | "run_command" | "stop_process"
    )
}

impl Checks {
    pub(super) fn approval_requested(&mut self, approval: &ApprovalRequest) {
        let again = self.rights.shown.insert(approval.id.clone(), approval.clone());
        assert!(again.is_none(), "an approval id was used twice");
        self.rights.open.push(approval.id.clone());
        assert!(approval.scopes.contains(&AnswerScope::Once));
        let (item, call) = self.call(&approval.call).expect("the call's item");
        if let Some(origin) = &approval.origin {
            let agent = call.sub_agent.as_ref().expect("a sub-agent");
            assert_eq!(
                (&agent.session, item.status),
                (&origin.session, ItemStatus::Running)
            );
            assert_eq!(approval.scopes, [AnswerScope::Once]);
            return;
        }
        assert_eq!(
            item.status,
            ItemStatus::Waiting,
            "an approval of a call that is {:?}",
            item.status
        );
        let written = call.arguments == approval.arguments && call.tool == approval.tool;
        let edited = self.rights.edited.contains(&approval.arguments);
        assert!(written || edited, "other arguments are shown than were asked for");
        let need = needed(&approval.tool, &approval.arguments, &self.config);
        let remembered = approval.rule.is_some() || approval.scopes.len() > 1;
        assert!(
            need != Needed::AskedEachTime || !remembered,
            "a rule is offered for {approval:?}"
        );
    }

    pub(super) fn approval_resolved(&mut self, id: &ApprovalId, outcome: &ApprovalOutcome) {
        assert!(
            self.rights.resolved.insert(id.clone()),
            "an approval was resolved twice"
        );
        let at = self.rights.open.iter().position(|open| open == id);
        self.rights.open.remove(at.expect("an approval that waits"));
        let ApprovalOutcome::Decided { decision, by } = outcome else {
            return;
        };
        let request = self.rights.shown[id].clone();
        if *by == DecidedBy::Person
            && let Some(step) = &self.step
        {
            let same = |said: &Decision| match (said, decision) {
                (
                    Decision::Approve {
                        scope,
                        edited_arguments,
                    },
                    Decision::Approve {
                        scope: taken,
                        edited_arguments: as_edited,
                    },
                ) => {
                    let edited = edited_arguments.as_ref().filter(|a| **a != request.arguments);
                    scope == taken && (edited == as_edited.as_ref() || edited_arguments == as_edited)
                }
                (said, taken) => said == taken,
            };
            let decided = step.decided.as_ref().is_some_and(same);
            assert!(decided, "nobody decided {id} as {decision:?}: {step:?}");
        }
        let Decision::Approve {
            scope,
            edited_arguments,
        } = decision
        else {
            return;
        };
        assert!(
            request.scopes.contains(scope),
            "approved in a scope that was not offered"
        );
        if *by != DecidedBy::Person || request.origin.is_some() {
            return;
        }
        let base = match edited_arguments {
            None => request.body.base(),
            Some(_) => Vec::new(),
        };
        let arguments = match edited_arguments {
            Some(edited) => {
                self.rights.edited.insert(edited.clone());
                edited.clone()
            }
            None => request.arguments.clone(),
        };
        let grant = Grant {
            base,
            protected: request.classes.contains(&RiskClass::Protected),
        };
        let key = (request.call, arguments);
        self.rights.grants.entry(key).or_default().push(grant);
    }

    pub(super) fn was_edited(&self, arguments: &str) -> bool {
        self.rights.edited.contains(arguments)
    }

    pub(super) fn rule_added(&mut self, rule: &Rule) {
        if self.step.is_some() {
            let decided = self.step.as_ref().and_then(|step| step.decided.as_ref());
            let Some(Decision::Approve { scope, .. }) = decided else {
                panic!("a rule that nobody made: {rule:?}");
            };
            let turn = self.turn.as_ref().expect("a turn").id;
            let expected = match scope {
                AnswerScope::Once => panic!("an approval for once became a rule"),
                AnswerScope::Turn => RuleScope::Turn { turn },
                AnswerScope::Session => RuleScope::Session,
                AnswerScope::Project => RuleScope::Project,
            };
            assert_eq!(rule.scope, expected);
            let offered = |request: &ApprovalRequest| request.rule.as_ref() == Some(&rule.shape);
            assert!(
                self.rights.shown.values().any(offered),
                "a rule that was not offered"
            );
        }
        self.rights.rules.push(rule.clone());
    }

    pub(super) fn may_run(
        &mut self,
        call: &CallId,
        tool: &str,
        arguments: &str,
        approved: &[FileBase],
        protected_granted: bool,
    ) {
        let (item, shown) = self.call(call).expect("the call's item");
        let verdict = shown.verdict.clone().expect("nothing runs without a verdict");
        let as_asked = shown.tool == tool && shown.arguments == arguments;
        let place = item.id.0 as usize;
        assert!(verdict.allowed);
        assert!(
            as_asked || verdict.edited_arguments.as_deref() == Some(arguments),
            "{call} runs as {arguments}, which is nowhere written"
        );
        assert!(self.has_tool(tool), "the role lacks {tool}");
        let taken = self.step.as_ref().is_some_and(|step| step.taken_by_other);
        assert!(
            !taken || !changes(tool) || self.config.role == Role::Plan,
            "{call} begins while another session changes the folder"
        );
        let need = needed(tool, arguments, &self.config);
        assert_ne!(
            need,
            Needed::Never,
            "{call} runs as {arguments}, which nothing may allow"
        );
        let key = (call.clone(), arguments.to_owned());
        let grant = match &verdict.by {
            DecidedBy::Person => self.rights.grants.get_mut(&key).and_then(Vec::pop),
            _ => None,
        };
        match &verdict.by {
            DecidedBy::Person => assert!(
                grant.is_some(),
                "{call} ran as {arguments}, which nobody approved"
            ),
            DecidedBy::Rule { rule } => {
                assert_ne!(need, Needed::AskedEachTime, "{call} ran by a rule");
                self.rule_fits(rule, arguments);
            }
            DecidedBy::Policy => assert_eq!(need, Needed::Free, "{call} ran unasked as {arguments}"),
            DecidedBy::Workflow { .. } => {
                let step = self.turn.as_ref().is_some_and(|turn| turn.without_model);
                assert!(step, "{call} ran by a workflow that does not go on");
                let protected = tool == "write_file" && argument(arguments, "path") == PROTECTED;
                assert!(!protected, "a preview stood for a protected place");
            }
        }
        let grant = grant.unwrap_or(Grant {
            base: Vec::new(),
            protected: false,
        });
        assert_eq!(approved, grant.base, "{call} holds for another state of its file");
        assert_eq!(
            protected_granted, grant.protected,
            "the way to protected places of {call}"
        );
        self.is_alone(place, tool);
    }

    fn rule_fits(&self, id: &RuleId, arguments: &str) {
        let rule = self.rights.rules.iter().find(|rule| rule.id == *id);
        let rule = rule.expect("a rule that is there");
        if let RuleScope::Turn { turn } = rule.scope {
            let now = self.turn.as_ref().expect("a turn").id;
            assert_eq!(turn, now, "a rule of another turn was used");
        }
        let covers = match &rule.shape {
            RuleShape::WritePath { path } => argument(arguments, "path") == *path,
            RuleShape::CommandPrefix { words } => {
                let command = argument(arguments, "command");
                let said: Vec<&str> = command.split(' ').collect();
                said.len() >= words.len() && words.iter().zip(said).all(|(word, said)| word == said)
            }
            _ => false,
        };
        assert!(covers, "{:?} does not cover {arguments}", rule.shape);
    }

    /// What changes something goes one after another, and changes of the same file in the order in which they were asked.
    fn is_alone(&self, place: usize, tool: &str) {
        if !changes(tool) {
            return;
        }
        let item = &self.items[place];
        for other in &self.items {
            let ItemKind::Call(call) = &other.kind else {
                continue;
            };
            let beside = other.id != item.id && other.turn == item.turn && changes(&call.tool);
            assert!(
                !beside || other.status != ItemStatus::Running,
                "{call:?} runs while {item:?} begins"
            );
            let ItemKind::Call(this) = &item.kind else {
                continue;
            };
            let earlier = beside && other.id < item.id && !call.target.is_empty();
            assert!(
                !earlier || other.status.is_final() || call.target != this.target,
                "{item:?} overtakes {call:?}"
            );
        }
    }

    pub(super) fn may_delegate(&mut self, call: &CallId, config: &SessionConfig) {
        assert!(self.config.parent.is_none(), "a sub-agent started a sub-agent");
        assert!(self.has_tool("delegate"), "the role lacks delegate");
        let (_, shown) = self.call(call).expect("the call's item");
        let agent = shown.sub_agent.clone().expect("a sub-agent");
        if agent.writes {
            assert_eq!(
                (self.config.role, config.role),
                (Role::Admin, Role::Act),
                "a sub-agent writes outside of Admin"
            );
        } else {
            assert_eq!(config.role, Role::Plan, "a sub-agent that only looks may write");
        }
        let taken = self.step.as_ref().is_some_and(|step| step.taken_by_other);
        assert!(
            !taken || !agent.writes,
            "a sub-agent writes while another session changes the folder"
        );
        let own = config.own_role.as_ref().expect("its tools");
        for tool in ["delegate", "ask_question", "converse", "update_plan"] {
            assert!(!own.has(tool), "a sub-agent has {tool}");
        }
        let mut running = 1;
        let mut promised = 0;
        for item in &self.items {
            if let (ItemKind::Call(other), ItemStatus::Running) = (&item.kind, item.status)
                && let Some(other) = other.sub_agent.as_ref().filter(|_| other.call != *call)
            {
                running += 1;
                promised += u64::from(other.token_limit.unwrap_or(0)).saturating_sub(other.usage.total());
            }
        }
        assert!(running <= SUB_AGENTS_AT_ONCE, "{running} sub-agents at once");
        let (limit, used) = (self.turn.as_ref().expect("a turn").token_limit, self.used);
        let turn = self.turn.as_mut().expect("a turn");
        turn.sub_agents += 1;
        assert!(
            turn.sub_agents <= SUB_AGENTS_PER_TURN,
            "{} sub-agents in a turn",
            turn.sub_agents
        );
        assert_eq!(config.limits.session_tokens, agent.token_limit);
        if let Some(limit) = limit {
            let share = agent.token_limit.expect("a share of the tokens");
            assert!(
                u64::from(share) <= limit.saturating_sub(used + promised),
                "{share} tokens are promised of {limit}, with {used} used and {promised} promised"
            );
        }
    }
}
