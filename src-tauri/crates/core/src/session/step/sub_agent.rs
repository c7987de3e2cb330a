//! Sub-agents: each works in a session of its own for one call of this turn. Here are its caps, its share of the budget,
//! its approvals in the queue of this turn, and its end.

use super::Draft;
use crate::session::input::{Effect, SubReport};
use crate::session::live_turn::LiveCall;
use crate::session::words;
use paddock_protocol::*;

/// Sub-agents that work at the same time.
pub const AT_ONCE: usize = 4;
/// Sub-agents of one turn.
pub const PER_TURN: u32 = 12;
/// Tools that would need the person, or would start a further depth.
const ABSENT: [&str; 5] = ["ask_question", "converse", "delegate", "remember", "update_plan"];

impl Draft<'_> {
    pub(super) fn is_sub_agent(&self) -> bool {
        self.live.config.parent.is_some()
    }

    pub(super) fn running_sub_agents(&self) -> usize {
        let calls = self.turn().map(|turn| turn.calls.as_slice()).unwrap_or_default();
        calls
            .iter()
            .filter(|call| call.status == ItemStatus::Running && call.sub_agent.is_some())
            .count()
    }

    /// Why this turn may not start the sub-agent, in words for the model.
    pub(super) fn delegate_refusal(&self, writes: bool) -> Option<String> {
        let started = self.turn().map_or(0, |turn| turn.sub_agents);
        if writes && self.live.config.role != Role::Admin {
            return Some(words::DELEGATE_READ_ONLY.to_owned());
        }
        (started >= PER_TURN).then(|| words::too_many_sub_agents(PER_TURN))
    }

    /// What a sub-agent that is about to start looks like in the row of its call.
    pub(super) fn new_sub_agent(&self, live: &LiveCall, name: &str, task: &str, writes: bool) -> SubAgent {
        SubAgent {
            session: SessionId::new(format!("{}.{}", self.base.id, live.call)),
            name: name.to_owned(),
            task: task.to_owned(),
            writes,
            status: TurnStatus::Starting,
            iteration: 0,
            iteration_limit: self.live.config.limits.iterations.min(Limits::ceiling(Role::Act)),
            usage: Usage::default(),
            token_limit: None,
            cost_limit: None,
        }
    }

    /// A quarter of the tokens that are neither used nor promised to another sub-agent.
    fn token_share(&self) -> Option<u32> {
        let turn = self.turn()?;
        let limit = turn.token_limit?;
        let promised: u64 = turn
            .calls
            .iter()
            .filter(|call| call.status == ItemStatus::Running)
            .filter_map(|call| call.sub_agent)
            .map(|agent| agent.token_limit.unwrap_or(0).saturating_sub(agent.used))
            .sum();
        let free = limit.saturating_sub(self.live.usage.total() + promised);
        Some(u32::try_from(free / AT_ONCE as u64).unwrap_or(u32::MAX))
    }

    /// The same of the money that the caps leave.
    fn cost_share(&self) -> Option<Micros> {
        let turn = self.turn()?;
        let running = turn
            .calls
            .iter()
            .filter(|call| call.status == ItemStatus::Running);
        let promised: u64 = running
            .filter_map(|call| call.sub_agent)
            .map(|agent| agent.promised.0)
            .sum();
        let left = self.money_left(turn)?.saturating_sub(promised);
        Some(Micros(left / AT_ONCE as u64))
    }

    pub(super) fn start_sub_agent(&mut self, live: &LiveCall) {
        let (token_limit, cost_limit) = (self.token_share(), self.cost_share());
        let now = self.now;
        self.change_call(live.item, ItemStatus::Running, |call| {
            call.began = Some(now);
            if let Some(agent) = &mut call.sub_agent {
                agent.token_limit = token_limit;
                agent.cost_limit = cost_limit;
            }
        });
        let Some(agent) = self.call_item(live.item).and_then(|call| call.sub_agent) else {
            return;
        };
        let config = self.sub_agent_config(live, &agent);
        self.effect(Effect::Delegate {
            call: live.call.clone(),
            session: agent.session,
            config: Box::new(config),
            task: agent.task,
        });
    }

    fn sub_agent_config(&self, live: &LiveCall, agent: &SubAgent) -> SessionConfig {
        let config = &*self.live.config;
        let small = config.small.as_ref();
        let role = if agent.writes { Role::Act } else { Role::Plan };
        let offered = |tool: &&String| {
            !ABSENT.contains(&tool.as_str()) && config.own_role.as_ref().is_none_or(|own| own.has(tool))
        };
        let tools = self.around.tools.keys().filter(offered).cloned().collect();
        SessionConfig {
            title: agent.name.clone(),
            role,
            limits: Limits {
                iterations: agent.iteration_limit,
                session_tokens: agent.token_limit,
                ..config.limits.clone()
            },
            own_role: Some(OwnRole {
                name: agent.name.clone(),
                base: role,
                tools: Some(tools),
                prompt: words::SUB_AGENT_PROMPT.to_owned(),
                model: None,
                limits: None,
            }),
            done_when: None,
            budget: Budget {
                turn: None,
                session: agent.cost_limit,
                day: config.budget.day,
                ask_expensive: false,
            },
            model: small.map_or_else(|| config.model.clone(), |small| small.model.clone()),
            format: small.map_or(config.format, |small| small.known.format),
            facts: small.map_or_else(|| config.facts.clone(), |small| small.known.facts.clone()),
            parent: Some(ParentCall {
                session: self.base.id.clone(),
                call: live.call.clone(),
            }),
            ..config.clone()
        }
    }

    pub(super) fn sub_agent_reported(&mut self, id: &CallId, report: SubReport) {
        let Some(live) = self
            .turn()
            .and_then(|turn| turn.call(id))
            .filter(|call| call.sub_agent.is_some())
            .cloned()
        else {
            return;
        };
        if live.status != ItemStatus::Running {
            // What it used was on its way when its call was ended. After the turn's end nobody takes it: the turn's account is
            // closed then, and the tokens stand in the sub-agent's own session and in the sum of the day.
            if let SubReport::Used { usage } = report {
                self.emit(EventMsg::SubAgentUsed {
                    call: id.clone(),
                    usage,
                });
            }
            return;
        }
        match report {
            SubReport::Progress {
                status,
                iteration,
                iteration_limit,
            } => {
                self.change_sub_agent(&live, |agent| {
                    agent.status = status;
                    agent.iteration = iteration;
                    agent.iteration_limit = iteration_limit;
                });
                self.advance();
            }
            SubReport::Used { usage } => {
                self.emit(EventMsg::SubAgentUsed {
                    call: id.clone(),
                    usage,
                });
                self.change_sub_agent(&live, |agent| agent.usage.add(&usage));
            }
            SubReport::Asked { approval } => self.sub_agent_asked(&live, *approval),
            SubReport::Resolved { approval } => {
                self.withdraw_nested(&live, |nested| nested.approval == approval);
                self.advance();
            }
            SubReport::Ended { ok, text } => {
                self.withdraw_nested(&live, |_| true);
                let status = if ok { ItemStatus::Done } else { ItemStatus::Failed };
                let ended = if ok {
                    TurnStatus::Completed
                } else {
                    TurnStatus::Failed
                };
                self.finish_call(&live, status, |call| {
                    if let Some(agent) = &mut call.sub_agent {
                        agent.status = ended;
                    }
                    call.output = Some(CallOutput {
                        ok,
                        text,
                        ..CallOutput::default()
                    });
                });
                self.advance();
            }
        }
    }

    fn change_sub_agent(&mut self, live: &LiveCall, change: impl FnOnce(&mut SubAgent)) {
        self.change_call(live.item, ItemStatus::Running, |call| {
            if let Some(agent) = &mut call.sub_agent {
                change(agent);
            }
        });
    }

    fn sub_agent_asked(&mut self, live: &LiveCall, there: ApprovalRequest) {
        let Some(agent) = self.call_item(live.item).and_then(|call| call.sub_agent) else {
            return;
        };
        let id = live.call.nested(&there.id);
        if self.live.approvals.iter().any(|waiting| waiting.id == id) {
            return;
        }
        let (turn, iteration) = self.turn().map_or((TurnId(0), 0), |t| (t.turn, t.iteration));
        let approval = ApprovalRequest {
            id,
            call: live.call.clone(),
            item: live.item,
            turn,
            iteration,
            requested: self.now,
            scopes: vec![AnswerScope::Once],
            rule: None,
            remembered_as: None,
            origin: Some(ApprovalOrigin {
                name: agent.name,
                session: agent.session,
                approval: there.id.clone(),
            }),
            ..there
        };
        self.emit(EventMsg::ApprovalRequested {
            approval: Box::new(approval),
        });
        self.advance();
    }

    /// Approvals of this sub-agent that nobody waits for any longer.
    pub(super) fn withdraw_nested(&mut self, live: &LiveCall, which: impl Fn(&ApprovalOrigin) -> bool) {
        for waiting in self.live.approvals.clone() {
            let nested = waiting.origin.as_ref().filter(|_| waiting.call == live.call);
            if nested.is_some_and(&which) {
                self.emit(EventMsg::ApprovalResolved {
                    approval: waiting.id.clone(),
                    outcome: ApprovalOutcome::Withdrawn {
                        why: WithdrawReason::SubAgentEnded,
                    },
                });
            }
        }
    }

    /// The decision belongs to a sub-agent: it is noted here and carried out there.
    pub(super) fn decide_there(
        &mut self,
        request: &ApprovalRequest,
        origin: &ApprovalOrigin,
        decision: Decision,
    ) {
        if let Decision::Approve {
            scope,
            edited_arguments,
            left_out,
            rule,
        } = &decision
        {
            // What is refused there must not be taken here: nobody would answer it any more.
            let edits_question = request.ask.is_some() && edited_arguments.is_some();
            if !request.scopes.contains(scope) || rule.is_some() || edits_question {
                self.refuse_scope();
                return;
            }
            let alone = edited_arguments.is_none();
            if !left_out.is_empty() && !self.may_leave_out(request, *scope, left_out, alone) {
                return;
            }
        }
        self.resolve(&request.id, decision.clone());
        self.effect(Effect::DecideThere {
            call: request.call.clone(),
            session: origin.session.clone(),
            approval: origin.approval.clone(),
            decision,
        });
        self.advance();
    }

    /// The role no longer allows sub-agents that write.
    pub(super) fn end_writing_sub_agents(&mut self) {
        let calls = self.turn().map(|turn| turn.calls.clone()).unwrap_or_default();
        for live in calls {
            let writes = live.sub_agent.is_some_and(|agent| agent.writes);
            if writes && !live.is_final() {
                self.withdraw_nested(&live, |_| true);
                if live.status == ItemStatus::Running {
                    self.effect(Effect::CancelCall {
                        call: live.call.clone(),
                    });
                }
                self.close_call(&live, ItemStatus::Stopped, words::ROLE_ENDED_SUB_AGENT);
            }
        }
    }
}
