//! Follows one turn to its end: shows every event, answers what waits, and turns Ctrl+C into a stop.

use super::answers::{Answer, Answers};
use super::prompt::{Desk, Lines, Overdue, Question, Said};
use crate::failure::{COMPLETED, FAULT, Failure, MODEL_FAILED, NOBODY_TO_ASK, PAUSED};
use crate::jsonl;
use crate::output::Output;
use crate::view::text::TextView;
use crate::view::words;
use paddock_core::Paddock;
use paddock_protocol::*;
use tokio::sync::mpsc;

pub enum Show {
    Text(TextView),
    Jsonl,
}

/// How a run ended.
pub struct End {
    pub code: u8,
    /// What a person should know about it.
    pub sentence: Option<String>,
    /// The turn is over: to go on needs a new task.
    pub ended: bool,
}

/// What has to be done before the next event is looked at.
enum Next {
    GoOn,
    End(End),
    AskPerson,
}

pub struct Turn<'a> {
    pub paddock: &'a Paddock,
    pub session: SessionId,
    pub events: mpsc::UnboundedReceiver<Event>,
    pub interrupts: mpsc::Receiver<()>,
    pub answers: Answers,
    /// Approvals for the person, in the order in which they came.
    pub approvals: Vec<ApprovalRequest>,
    /// An approval for which nobody can be asked.
    pub unanswered: Option<ApprovalRequest>,
    pub question: Option<Question>,
    /// Commands that passed their time limit, in the order in which they did.
    pub overdue: Vec<Overdue>,
    /// A workflow goes on: the end of one turn is not the end of the run.
    pub workflow: bool,
    pub show: Show,
    pub output: Output,
}

impl Turn<'_> {
    /// Follows the turn that `op` begins or continues, ends the session's actor, and shows what came up to then.
    pub async fn finish(
        mut self,
        snapshot: &SessionSnapshot,
        op: Option<Op>,
        more_iterations: Option<u32>,
    ) -> Result<End, Failure> {
        let end = self.drive(snapshot, op, more_iterations).await;
        self.paddock.close(&self.session).await;
        while let Some(event) = self.events.recv().await {
            self.show(&event);
        }
        end
    }

    async fn drive(
        &mut self,
        snapshot: &SessionSnapshot,
        op: Option<Op>,
        more_iterations: Option<u32>,
    ) -> Result<End, Failure> {
        self.question = snapshot.items.iter().find_map(Question::of);
        if let Some(op) = op {
            self.submit(op).await?;
        }
        self.extend(snapshot, more_iterations).await?;
        for request in snapshot.approvals.clone() {
            self.meet(request).await?;
        }
        let mut lines = None;
        loop {
            let next = match self.events.try_recv() {
                Ok(event) => self.take(event).await?,
                Err(mpsc::error::TryRecvError::Disconnected) => {
                    return Err(Failure::fault(
                        "The session ended unexpectedly. Nothing is lost; open it again with --resume.",
                    ));
                }
                Err(mpsc::error::TryRecvError::Empty) if self.waits_for_person() => Next::AskPerson,
                Err(mpsc::error::TryRecvError::Empty) => self.wait().await?,
            };
            match next {
                Next::GoOn => {}
                Next::End(end) => return Ok(end),
                Next::AskPerson => {
                    let lines = lines.get_or_insert_with(Lines::new);
                    self.ask_person(lines).await?;
                }
            }
        }
    }

    async fn wait(&mut self) -> Result<Next, Failure> {
        tokio::select! {
            biased;
            Some(()) = self.interrupts.recv() => {
                self.stop().await?;
                Ok(Next::GoOn)
            }
            event = self.events.recv() => match event {
                Some(event) => self.take(event).await,
                None => Ok(Next::GoOn),
            },
        }
    }

    /// A turn that waits at a limit goes on only when the limit is raised.
    async fn extend(&mut self, snapshot: &SessionSnapshot, more: Option<u32>) -> Result<(), Failure> {
        let Some(turn) = &snapshot.turn else { return Ok(()) };
        let limits = &snapshot.config.limits;
        let ceiling = Limits::ceiling(snapshot.config.role).saturating_sub(turn.iteration_limit);
        if let TurnStatus::Paused {
            cause: PauseCause::Limits { reached },
        } = &turn.status
        {
            for reached in reached {
                let by = match reached.limit {
                    LimitKind::Iterations => more.unwrap_or(limits.iterations.min(ceiling).max(1)).into(),
                    LimitKind::ActiveTime => limits.active_time.unwrap_or(Millis::minutes(30)).0,
                    LimitKind::SessionTokens => limits.session_tokens.unwrap_or(1_000_000).into(),
                    // As much again as was allowed.
                    LimitKind::TurnMoney | LimitKind::SessionMoney | LimitKind::DayMoney => reached.allowed,
                };
                let limit = reached.limit;
                self.submit(Op::Extend { limit, by }).await?;
            }
        } else if let Some(by) = more.filter(|_| !turn.status.is_final()) {
            let limit = LimitKind::Iterations;
            self.submit(Op::Extend { limit, by: by.into() }).await?;
        }
        Ok(())
    }

    async fn submit(&self, op: Op) -> Result<(), Failure> {
        Ok(self.paddock.submit(&self.session, op).await?)
    }

    fn waits_for_person(&self) -> bool {
        !self.approvals.is_empty() || !self.overdue.is_empty()
    }

    fn show(&mut self, event: &Event) {
        match &mut self.show {
            Show::Text(view) => view.show(event, &mut self.output),
            Show::Jsonl => jsonl::print(event, &mut self.output),
        }
    }

    async fn take(&mut self, event: Event) -> Result<Next, Failure> {
        self.show(&event);
        if self.output.is_gone() {
            let _ = self.stop().await;
            return Ok(Next::End(End {
                sentence: Some("Nobody reads the output any more, so the turn was stopped.".to_owned()),
                ..End::stopped()
            }));
        }
        match event.msg {
            EventMsg::ApprovalRequested { approval } => {
                self.meet(*approval).await?;
                Ok(Next::GoOn)
            }
            EventMsg::ApprovalResolved { approval, .. } => {
                self.approvals.retain(|request| request.id != approval);
                self.unanswered.take_if(|request| request.id == approval);
                Ok(Next::GoOn)
            }
            EventMsg::ItemStarted { item }
            | EventMsg::ItemUpdated { item }
            | EventMsg::ItemCompleted { item } => {
                self.note_question(&item);
                self.note_overdue(&item).await?;
                Ok(Next::GoOn)
            }
            EventMsg::WorkflowStarted { .. } => {
                self.workflow = true;
                Ok(Next::GoOn)
            }
            EventMsg::WorkflowEnded { end } => {
                self.workflow = false;
                match end {
                    WorkflowEnd::Completed => self.meet_status(TurnStatus::Completed).await,
                    WorkflowEnd::Stopped => Ok(Next::End(End::stopped())),
                    WorkflowEnd::Failed => Ok(Next::End(End {
                        code: FAULT,
                        sentence: Some(
                            "A step of the workflow failed; the steps after it were not begun.".to_owned(),
                        ),
                        ended: true,
                    })),
                }
            }
            EventMsg::TurnChanged { status, .. } => self.meet_status(status).await,
            EventMsg::OpRefused { error } => {
                let ended = false;
                Ok(Next::End(End {
                    code: FAULT,
                    sentence: Some(error.to_string()),
                    ended,
                }))
            }
            _ => Ok(Next::GoOn),
        }
    }

    fn note_question(&mut self, item: &Item) {
        match Question::of(item) {
            Some(question) => self.question = Some(question),
            None => {
                if let (ItemKind::Call(call), Some(question)) = (&item.kind, &self.question)
                    && call.call == question.call
                {
                    self.question = None;
                }
            }
        }
    }

    /// Where nobody can be asked, a command that passed its limit is ended, and the model is told.
    async fn note_overdue(&mut self, item: &Item) -> Result<(), Failure> {
        let ItemKind::Call(call) = &item.kind else {
            return Ok(());
        };
        let known = self.overdue.iter().any(|overdue| overdue.call == call.call);
        match Overdue::of(item) {
            Some(overdue) if !known && self.answers.has_person() => self.overdue.push(overdue),
            Some(overdue) if !known => {
                let call = overdue.call;
                self.submit_unless_over(Op::EndCall { call }).await?;
            }
            Some(_) => {}
            None => self.overdue.retain(|overdue| overdue.call != call.call),
        }
        Ok(())
    }

    /// What was asked about may have ended meanwhile.
    async fn submit_unless_over(&self, op: Op) -> Result<(), Failure> {
        match self.paddock.submit(&self.session, op).await {
            Err(error) if matches!(error.code, ErrorCode::NotNow | ErrorCode::NotFound) => Ok(()),
            done => Ok(done?),
        }
    }

    /// An approval that waits. Where nobody can be asked, what runs beside it may end first.
    async fn meet(&mut self, request: ApprovalRequest) -> Result<(), Failure> {
        match self.answers.to_approval(&request) {
            Answer::Decide(decision) => self.decide(request.id, decision).await?,
            Answer::AskPerson => self.approvals.push(request),
            Answer::Nobody => self.unanswered = Some(request),
        }
        Ok(())
    }

    async fn decide(&mut self, approval: ApprovalId, decision: Decision) -> Result<(), Failure> {
        self.submit_unless_over(Op::Decide { approval, decision }).await
    }

    async fn meet_status(&mut self, status: TurnStatus) -> Result<Next, Failure> {
        let end = |code, sentence: Option<String>, ended| {
            Ok(Next::End(End {
                code,
                sentence,
                ended,
            }))
        };
        match status {
            TurnStatus::Completed if self.workflow => Ok(Next::GoOn),
            TurnStatus::Completed => end(COMPLETED, None, true),
            TurnStatus::Stopped | TurnStatus::Failed if self.workflow => Ok(Next::GoOn),
            TurnStatus::Stopped => Ok(Next::End(End::stopped())),
            TurnStatus::Failed => end(
                MODEL_FAILED,
                Some(
                    "The model's answers could not be used, so the turn ended. Try another model, or say the task \
                     in smaller steps."
                        .to_owned(),
                ),
                true,
            ),
            TurnStatus::Paused { cause } => {
                let code = match cause {
                    PauseCause::Model { .. } => MODEL_FAILED,
                    _ => PAUSED,
                };
                end(code, Some(words::pause(&cause)), false)
            }
            TurnStatus::WaitingForApproval => match &self.unanswered {
                Some(request) => {
                    let sentence = format!(
                        "An approval is needed and nobody can be asked here: {} {}. Go on with --resume in a \
                         terminal, or with --approve edits or all.",
                        words::verb(request.verb),
                        crate::view::plain::short(&request.target, 120)
                    );
                    end(NOBODY_TO_ASK, Some(sentence), false)
                }
                None => Ok(Next::GoOn),
            },
            TurnStatus::WaitingForAnswer => self.meet_question().await,
            _ => Ok(Next::GoOn),
        }
    }

    async fn meet_question(&mut self) -> Result<Next, Failure> {
        let Some(question) = self.question.clone() else {
            return Ok(Next::GoOn);
        };
        match self.answers.to_question() {
            Some(Answer::AskPerson) => Ok(Next::AskPerson),
            Some(_) => Ok(Next::End(End {
                code: NOBODY_TO_ASK,
                sentence: Some(format!(
                    "The agent asks, and nobody can answer here: {} Go on with --resume in a terminal; with \
                     --approve reads, edits, all or never it decides itself.",
                    crate::view::plain::short(&question.text, 300)
                )),
                ended: false,
            })),
            None => {
                let call = question.call;
                self.submit(Op::Answer { call, text: None }).await?;
                Ok(Next::GoOn)
            }
        }
    }

    async fn ask_person(&mut self, lines: &mut Lines) -> Result<(), Failure> {
        let Show::Text(view) = &mut self.show else {
            return Ok(());
        };
        let mut desk = Desk {
            lines,
            view,
            output: &mut self.output,
            interrupts: &mut self.interrupts,
        };
        if let Some(request) = self.approvals.first().cloned() {
            match desk.approval(&request).await {
                Said::Stop => self.stop().await,
                Said::Answer(decision) => {
                    self.approvals.remove(0);
                    self.decide(request.id, decision).await
                }
            }
        } else if !self.overdue.is_empty() {
            let overdue = self.overdue.remove(0);
            match desk.overdue(&overdue).await {
                Said::Stop => self.stop().await,
                Said::Answer(op) => self.submit_unless_over(op).await,
            }
        } else if let Some(question) = self.question.take() {
            match desk.question(&question).await {
                Said::Stop => self.stop().await,
                Said::Answer(text) => {
                    let call = question.call;
                    self.submit(Op::Answer { call, text }).await
                }
            }
        } else {
            Ok(())
        }
    }

    /// The person wants no more; the end comes as an event. A turn that has just ended needs no stop.
    async fn stop(&mut self) -> Result<(), Failure> {
        self.approvals.clear();
        self.question = None;
        self.overdue.clear();
        self.submit_unless_over(Op::Stop).await
    }
}
