//! What may run: a call that needs the person runs only with an approval that fits it exactly, once for each approval.

use super::Checks;
use super::again::beyond;
use crate::tools::{PROTECTED, argument};
use paddock_core::session::step::{SUB_AGENTS_AT_ONCE, SUB_AGENTS_PER_TURN};
use paddock_core::tools::ChosenHunks;
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
    /// Calls of which the person left a part out at some time.
    picked: BTreeSet<CallId>,
}

struct Grant {
    /// The states of the files that were shown; none when the arguments were edited.
    base: Vec<FileBase>,
    protected: bool,
    left_out: Vec<u32>,
    approval: ApprovalId,
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
        "read_file" if argument(arguments, "path").starts_with('/') => Needed::Asked,
        "write_file" if plan => Needed::Never,
        "write_file" if argument(arguments, "path").starts_with('/') => Needed::Asked,
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
            "make" | "echo" if config.autonomy == Autonomy::HandsOff => Needed::Free,
            "make" | "curl" => Needed::Asked,
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
        if let Some(number) = approval.ask {
            self.ask_is_shown(approval, number);
            return;
        }
        assert_eq!(approval.again, call.again, "another first run is shown");
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
        let beyond_once = |scope: &&AnswerScope| **scope != AnswerScope::Once && !scope.opens_more();
        let remembered = approval.rule.is_some() || approval.scopes.iter().find(beyond_once).is_some();
        self.openings_are_right(approval);
        let place = matches!(approval.rule, Some(RuleShape::Outside { .. })) && approval.again.is_some();
        let again = approval.again.as_ref();
        let covered = again.is_some_and(|first| first.refused.iter().all(|place| self.ruled(place)));
        self.see_if(covered, "again: a rule covers the place");
        assert!(
            need != Needed::AskedEachTime || !remembered || place,
            "a rule is offered for {approval:?}"
        );
    }

    /// More than a command would get is offered only to a person who sits before it and gave no free hand.
    fn openings_are_right(&mut self, approval: &ApprovalRequest) {
        let opens = approval.scopes.iter().any(|scope| scope.opens_more());
        if opens {
            let command = matches!(&approval.body, ApprovalBody::Command { sandbox, .. } if sandbox.confined);
            assert!(command, "more is offered for what is no confined command");
            assert!(
                self.config.role != Role::Plan && self.config.parent.is_none(),
                "more is offered where nobody may"
            );
        }
        let free = self.config.autonomy == Autonomy::HandsOff;
        self.see_if(opens, "approval: a run with more is offered");
        assert!(!(opens && free), "more is offered in Hands-off");
    }

    /// A run gets more than its call asked for only when a person decided just that for just this call.
    pub(super) fn may_open(&mut self, id: &CallId, opened: Option<AnswerScope>) {
        let (_, call) = self.call(id).expect("the call's item");
        let decided = call
            .verdict
            .as_ref()
            .filter(|verdict| verdict.by == DecidedBy::Person);
        let scope = decided.and_then(|verdict| verdict.scope);
        let wanted = scope.filter(|scope| scope.opens_more());
        assert_eq!(opened, wanted, "{id} runs with more, or less, than was decided");
        self.see_if(opened.is_some(), "run: with more, once");
    }

    pub(super) fn approval_resolved(&mut self, id: &ApprovalId, outcome: &ApprovalOutcome) {
        assert!(
            self.rights.resolved.insert(id.clone()),
            "an approval was resolved twice"
        );
        let at = self.rights.open.iter().position(|open| open == id);
        self.rights.open.remove(at.expect("an approval that waits"));
        let request = self.rights.shown[id].clone();
        let own_ask = request.ask.filter(|_| request.origin.is_none());
        let (decision, by) = match outcome {
            ApprovalOutcome::Decided { decision, by } => (decision, by),
            ApprovalOutcome::Withdrawn { why } => {
                if own_ask.is_some() {
                    self.ask_is_withdrawn(*why);
                }
                return;
            }
        };
        let approves = matches!(decision, Decision::Approve { .. });
        if let DecidedBy::Rule { rule } = by {
            self.ruled_by(rule, &request.call, own_ask, approves, &request.access);
        }
        if let Some(number) = own_ask.filter(|_| *by != DecidedBy::Person) {
            self.ask_is_ruled(&request, number, approves);
        }
        if *by == DecidedBy::Person
            && let Some(step) = &self.step
        {
            let same = |said: &Decision| match (said, decision) {
                (
                    Decision::Approve {
                        scope,
                        edited_arguments,
                        left_out,
                        rule,
                    },
                    Decision::Approve {
                        scope: taken,
                        edited_arguments: as_edited,
                        left_out: as_left_out,
                        rule: kept,
                    },
                ) => {
                    let edited = edited_arguments.as_ref().filter(|a| **a != request.arguments);
                    scope == taken
                        && rule == kept
                        && left_out == as_left_out
                        && (edited == as_edited.as_ref() || edited_arguments == as_edited)
                }
                (said, taken) => said == taken,
            };
            let decided = step.decided.as_ref().is_some_and(same);
            assert!(decided, "nobody decided {id} as {decision:?}: {step:?}");
        }
        let Decision::Approve {
            scope,
            edited_arguments,
            left_out,
            ..
        } = decision
        else {
            return;
        };
        assert!(
            request.scopes.contains(scope),
            "approved in a scope that was not offered"
        );
        if !left_out.is_empty() {
            let whole = *scope == AnswerScope::Once && edited_arguments.is_none();
            let (hunks, most) = (request.body.hunks().len(), left_out.last().copied());
            let some_stay = left_out.len() < hunks && most.is_some_and(|last| (last as usize) < hunks);
            assert!(whole && some_stay, "{left_out:?} was left out of {request:?}");
            assert_eq!(*by, DecidedBy::Person);
        }
        if *by != DecidedBy::Person || request.origin.is_some() || own_ask.is_some() {
            return;
        }
        if !left_out.is_empty() {
            self.rights.picked.insert(request.call.clone());
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
            left_out: left_out.clone(),
            approval: id.clone(),
        };
        let key = (request.call, arguments);
        self.rights.grants.entry(key).or_default().push(grant);
    }

    pub(super) fn was_edited(&self, arguments: &str) -> bool {
        self.rights.edited.contains(arguments)
    }

    /// What the person left out is left out, and the whole never runs after that unless they said so. To be asked before
    /// [`Self::may_run`], which uses the grant up.
    pub(super) fn holds_to_the_choice(&mut self, id: &CallId, arguments: &str, chosen: Option<&ChosenHunks>) {
        let (_, call) = self.call(id).expect("the call's item");
        let verdict = call.verdict.clone().expect("a verdict");
        let by_person = verdict.by == DecidedBy::Person;
        let picked = self.rights.picked.contains(id);
        assert!(!picked || by_person, "{id} was let go whole by {:?}", verdict.by);
        let key = (id.clone(), arguments.to_owned());
        let grant = self.rights.grants.get(&key).and_then(|grants| grants.last());
        let grant = grant.filter(|_| by_person);
        let left_out = grant.map(|grant| grant.left_out.clone()).unwrap_or_default();
        let ran = chosen.map(|chosen| chosen.left_out.clone()).unwrap_or_default();
        assert_eq!(ran, left_out, "{id} runs with other parts than were chosen");
        assert_eq!(
            verdict.left_out, left_out,
            "the verdict of {id} says something else"
        );
        if let (Some(chosen), Some(grant)) = (chosen, grant) {
            let shown = self.rights.shown[&grant.approval].body.hunks();
            assert_eq!(chosen.shown, shown, "{id} runs by another diff than was shown");
        }
        self.see_if(picked && ran.is_empty(), "run: whole after a choice");
        self.see_if(!ran.is_empty(), "run: with a part left out");
    }

    pub(super) fn may_run(
        &mut self,
        call: &CallId,
        (tool, arguments): (&str, &str),
        (approved, protected_granted): (&[FileBase], bool),
        reach: &[Access],
    ) {
        let (item, shown) = self.call(call).expect("the call's item");
        let verdict = shown.verdict.clone().expect("nothing runs without a verdict");
        let as_asked = shown.tool == tool && shown.arguments == arguments;
        let place = item.id.0 as usize;
        let check = shown.check.is_some();
        assert!(verdict.allowed);
        assert!(
            as_asked || verdict.edited_arguments.as_deref() == Some(arguments),
            "{call} runs as {arguments}, which is nowhere written"
        );
        assert!(check || self.has_tool(tool), "the role lacks {tool}");
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
            // The person set the command of the check.
            DecidedBy::Person => assert!(
                grant.is_some() || check,
                "{call} ran as {arguments}, which nobody approved"
            ),
            DecidedBy::Rule { rule } => {
                assert_ne!(need, Needed::AskedEachTime, "{call} ran by a rule");
                let there = self.rules.kept.iter().any(|kept| kept.id == *rule);
                assert!(there, "{call} ran by a rule that was taken back");
            }
            DecidedBy::Policy => assert_eq!(need, Needed::Free, "{call} ran unasked as {arguments}"),
            DecidedBy::Workflow { .. } => {
                let step = self.turn.as_ref().is_some_and(|turn| turn.without_model);
                assert!(step, "{call} ran by a workflow that does not go on");
                let protected = tool == "write_file" && argument(arguments, "path") == PROTECTED;
                assert!(!protected, "a preview stood for a protected place");
            }
        }
        let request = grant
            .as_ref()
            .map(|grant| self.rights.shown[&grant.approval].clone());
        let (base, protected) = grant.map_or((Vec::new(), false), |grant| (grant.base, grant.protected));
        assert_eq!(approved, base, "{call} holds for another state of its file");
        assert_eq!(
            protected_granted, protected,
            "the way to protected places of {call}"
        );
        let granted = request.as_ref().map(|request| beyond(&request.access));
        self.reach_is_right(call, (tool, arguments), reach, granted.as_deref());
        self.second_run(call, request.as_ref());
        self.is_alone(place, tool);
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
        self.money_is_shared(agent.cost_limit);
        if let Some(limit) = limit {
            let share = agent.token_limit.expect("a share of the tokens");
            assert!(
                u64::from(share) <= limit.saturating_sub(used + promised),
                "{share} tokens are promised of {limit}, with {used} used and {promised} promised"
            );
        }
    }
}
