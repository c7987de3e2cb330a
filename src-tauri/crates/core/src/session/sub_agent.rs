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
    let send = Op::Send {
        text: task,
        mode: SendMode::NextIteration,
    };
    paddock.submit(session, send).await?;
    drop(paddock);
    let mut last = LastWords::default();
    while let Some(event) = events.recv().await {
        last.hear(&event.msg);
        match event.msg {
            EventMsg::IterationStarted { iteration, limit, .. } => report(SubReport::Progress {
                status: TurnStatus::Thinking,
                iteration,
                iteration_limit: limit,
            }),
            EventMsg::TurnChanged { status, .. } if !status.is_final() => report(SubReport::Progress {
                status,
                iteration: last.iteration,
                iteration_limit: last.limit,
            }),
            EventMsg::IterationAnswered { usage, .. } => report(SubReport::Used { usage }),
            EventMsg::ApprovalRequested { approval } => report(SubReport::Asked { approval }),
            EventMsg::ApprovalResolved { approval, .. } => report(SubReport::Resolved { approval }),
            EventMsg::TurnEnded { end, .. } => {
                let ok = end == TurnEnd::Completed;
                report(SubReport::Ended {
                    ok,
                    text: last.words(ok),
                });
                return Ok(());
            }
            _ => {}
        }
    }
    Err(gone())
}

/// What the sub-agent said last, and where it stands.
#[derive(Default)]
struct LastWords {
    text: String,
    result: Option<String>,
    error: Option<String>,
    iteration: u32,
    limit: u32,
}

impl LastWords {
    fn hear(&mut self, msg: &EventMsg) {
        match msg {
            EventMsg::IterationStarted { iteration, limit, .. } => {
                self.iteration = *iteration;
                self.limit = *limit;
            }
            EventMsg::ItemCompleted { item } => match &item.kind {
                ItemKind::AgentText { text } if !text.trim().is_empty() => self.text.clone_from(text),
                ItemKind::Call(call) if call.verb == Verb::Finish => self.result = Some(call.target.clone()),
                ItemKind::Error { error } => self.error = Some(error.message.clone()),
                _ => {}
            },
            _ => {}
        }
    }

    fn words(self, ok: bool) -> String {
        let said = self
            .result
            .filter(|result| !result.is_empty())
            .unwrap_or(self.text);
        match (ok, self.error) {
            (true, _) => said,
            (false, Some(error)) => format!("The sub-agent did not come to an end: {error}\n{said}"),
            (false, None) => format!("The sub-agent was ended before it was done.\n{said}"),
        }
    }
}
