//! The running side of a sub-agent: its session is made, given its task, listened to, and closed when its turn has ended.
//! What it tells goes to the actor of the session that started it; nothing is decided here.

use super::executor::Workplace;
use super::input::{Back, SubReport};
use paddock_protocol::*;
use std::sync::Arc;
use tokio::sync::mpsc::UnboundedSender;

/// Ends the sub-agent's session when the call is dropped, in whatever way.
struct CloseOnDrop {
    place: Arc<Workplace>,
    session: SessionId,
}

impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        let Some(paddock) = self.place.desk.upgrade() else {
            return;
        };
        let session = self.session.clone();
        tokio::spawn(async move {
            let _ = paddock.submit(&session, Op::Stop).await;
            paddock.close(&session).await;
        });
    }
}

/// Runs the sub-agent to its end. Dropping the future stops it with everything it started.
pub async fn run(
    place: Arc<Workplace>,
    back: UnboundedSender<Back>,
    call: CallId,
    session: SessionId,
    config: SessionConfig,
    task: String,
) {
    let report = |report: SubReport| {
        let call = call.clone();
        let _ = back.send(Back::SubAgent { call, report });
    };
    if let Err(error) = follow(place, &session, config, task, &report).await {
        let text = format!("The sub-agent could not work: {}", error.message);
        report(SubReport::Ended { ok: false, text });
    }
}

async fn follow(
    place: Arc<Workplace>,
    session: &SessionId,
    config: SessionConfig,
    task: String,
    report: &(impl Fn(SubReport) + Sync),
) -> Result<(), ClientError> {
    let gone = || ClientError::new(ErrorCode::Internal, "Paddock is closing.");
    let paddock = place.desk.upgrade().ok_or_else(gone)?;
    paddock.begin_session(session.clone(), config).await?;
    let _close = CloseOnDrop {
        place: place.clone(),
        session: session.clone(),
    };
    let (_, mut events) = paddock.attach(session).await?;
    let send = Op::send(task, SendMode::NextIteration);
    paddock.submit(session, send).await?;
    drop(paddock);
    let mut heard = Hearing::default();
    while let Some(event) = events.recv().await {
        if let Some(told) = heard.hear(&event.msg) {
            let ended = matches!(told, SubReport::Ended { .. });
            report(told);
            if ended {
                return Ok(());
            }
        }
    }
    Err(gone())
}

/// What the events of a sub-agent's session mean to the call that started it: pure, and the only place that says so.
#[derive(Clone, Debug, Default)]
pub struct Hearing {
    text: String,
    result: Option<String>,
    error: Option<String>,
    iteration: u32,
    limit: u32,
}

impl Hearing {
    /// The report that this event makes; nothing more comes after [`SubReport::Ended`].
    pub fn hear(&mut self, msg: &EventMsg) -> Option<SubReport> {
        match msg {
            EventMsg::IterationStarted { iteration, limit, .. } => {
                self.iteration = *iteration;
                self.limit = *limit;
                Some(self.progress(TurnStatus::Thinking))
            }
            EventMsg::ItemCompleted { item } => {
                self.keep(&item.kind);
                None
            }
            EventMsg::TurnChanged { status, .. } if !status.is_final() => Some(self.progress(status.clone())),
            EventMsg::IterationAnswered { usage, .. } | EventMsg::AttemptLost { usage, .. } => {
                Some(SubReport::Used { usage: *usage })
            }
            EventMsg::ApprovalRequested { approval } => Some(SubReport::Asked {
                approval: approval.clone(),
            }),
            EventMsg::ApprovalResolved { approval, .. } => Some(SubReport::Resolved {
                approval: approval.clone(),
            }),
            EventMsg::TurnEnded { end, .. } => {
                let ok = *end == TurnEnd::Completed;
                let text = self.words(ok);
                Some(SubReport::Ended { ok, text })
            }
            _ => None,
        }
    }

    fn progress(&self, status: TurnStatus) -> SubReport {
        SubReport::Progress {
            status,
            iteration: self.iteration,
            iteration_limit: self.limit,
        }
    }

    fn keep(&mut self, kind: &ItemKind) {
        match kind {
            ItemKind::AgentText { text } if !text.trim().is_empty() => self.text.clone_from(text),
            ItemKind::Call(call) if call.verb == Verb::Finish => self.result = Some(call.target.clone()),
            ItemKind::Error { error } => self.error = Some(error.message.clone()),
            _ => {}
        }
    }

    /// Its last words, for the model that started it.
    fn words(&self, ok: bool) -> String {
        let said = self
            .result
            .as_ref()
            .filter(|result| !result.is_empty())
            .unwrap_or(&self.text);
        match (ok, &self.error) {
            (true, _) => said.clone(),
            (false, Some(error)) => format!("The sub-agent did not come to an end: {error}\n{said}"),
            (false, None) => format!("The sub-agent was ended before it was done.\n{said}"),
        }
    }
}
