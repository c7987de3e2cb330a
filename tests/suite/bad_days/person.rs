//! Somebody who lets a session work: approves, does not like to wait, and tries again after a pause.

use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use paddock_core::{Paddock, SessionWish};
use paddock_protocol::*;

/// Silence of a session in which nothing is under way any more: it hangs.
const PATIENCE: Duration = Duration::from_secs(90);
/// Pauses after which the person gives up.
const PAUSES: usize = 12;

/// A session with all that was heard of it.
pub struct Heard {
    pub session: SessionId,
    pub events: Vec<Event>,
    /// Why the turn paused.
    pub pauses: Vec<ModelError>,
}

pub struct Wish<'a> {
    pub project: String,
    pub model: ModelChoice,
    pub task: &'a str,
    /// Whether a wait is waited for.
    pub patient: bool,
}

/// Gives the task and stays until the turn has ended.
pub async fn work(paddock: &Paddock, wish: Wish<'_>) -> Result<Heard> {
    let session_wish = SessionWish {
        model: Some(wish.model),
        ..SessionWish::default()
    };
    let session = paddock.create_session(&wish.project, session_wish).await?;
    let (_, mut events) = paddock.attach(&session).await?;
    let mut heard = Heard {
        session,
        events: Vec::new(),
        pauses: Vec::new(),
    };
    paddock
        .submit(&heard.session, Op::send(wish.task, SendMode::NextIteration))
        .await?;
    loop {
        let event = tokio::time::timeout(PATIENCE, events.recv()).await;
        let Ok(event) = event else {
            bail!("it hangs; the last events: {:#?}", last(&heard.events));
        };
        let event = event.context("the session ended by itself")?;
        heard.events.push(event.clone());
        match event.msg {
            EventMsg::ApprovalRequested { approval } => {
                let decision = Decision::approve(AnswerScope::Once);
                let approval = approval.id.clone();
                paddock
                    .submit(&heard.session, Op::Decide { approval, decision })
                    .await?;
            }
            EventMsg::TurnChanged { status, .. } => match status {
                TurnStatus::WaitingToRetry { .. } if !wish.patient => {
                    // The wait may just have ended.
                    let _ = paddock.submit(&heard.session, Op::RetryNow).await;
                }
                TurnStatus::Paused {
                    cause: PauseCause::Model { error },
                } => {
                    heard.pauses.push(error);
                    ensure!(
                        heard.pauses.len() <= PAUSES,
                        "it pauses again and again: {:#?}",
                        heard.pauses.last()
                    );
                    paddock.submit(&heard.session, Op::RetryNow).await?;
                }
                TurnStatus::Completed => return Ok(heard),
                status if status.is_final() || status.waits_for_person() && !asks(&status) => {
                    bail!("it ended as {status:?}: {:#?}", last(&heard.events));
                }
                _ => {}
            },
            _ => {}
        }
    }
}

fn asks(status: &TurnStatus) -> bool {
    matches!(status, TurnStatus::WaitingForApproval)
}

fn last(events: &[Event]) -> &[Event] {
    &events[events.len().saturating_sub(5)..]
}
