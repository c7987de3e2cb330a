//! What a session does, for whoever traces the program: spans and events with the fields session, turn, iteration, call
//! and tool. Never arguments, targets, texts or contents.

use super::input::Ticket;
use paddock_protocol::*;
use tracing::{Span, debug, info, info_span};

/// Around the work on one request.
pub fn request(session: &SessionId, ticket: Ticket, model: &ModelChoice) -> Span {
    let (turn, iteration) = (ticket.turn.0, ticket.iteration);
    info_span!("request", %session, turn, iteration, attempt = ticket.attempt, provider = %model.provider, model = %model.model)
}

/// Around the reading or running of one call. Its id names turn and iteration too; they have fields of their own for filters.
pub fn call(session: &SessionId, call: &CallId, tool: &str) -> Span {
    let (turn, iteration) = places(call);
    info_span!("call", %session, turn, iteration, %call, tool)
}

/// One durable event.
pub fn happened(event: &Event) {
    let session = &event.session;
    match &event.msg {
        EventMsg::TurnStarted { turn, .. } => info!(%session, turn = turn.0, "turn started"),
        EventMsg::TurnChanged { turn, status } => {
            debug!(%session, turn = turn.0, state = state(status), "turn changed")
        }
        EventMsg::TurnEnded { turn, end } => info!(%session, turn = turn.0, ?end, "turn ended"),
        EventMsg::IterationStarted {
            turn,
            iteration,
            attempt,
            limit,
            ..
        } => {
            debug!(%session, turn = turn.0, iteration, attempt, limit, "iteration started");
        }
        EventMsg::IterationAnswered {
            turn,
            iteration,
            usage,
            first_byte,
            ..
        } => debug!(
            %session,
            turn = turn.0,
            iteration,
            input = usage.input,
            cached = usage.cached,
            output = usage.output,
            reasoning = usage.reasoning,
            first_byte_ms = first_byte.0,
            "iteration answered"
        ),
        EventMsg::ApprovalRequested { approval } => {
            debug!(%session, turn = approval.turn.0, iteration = approval.iteration, call = %approval.call, tool = approval.tool, "approval requested");
        }
        EventMsg::ApprovalResolved { approval, .. } => debug!(%session, %approval, "approval resolved"),
        EventMsg::ItemCompleted { item } => completed(session, item),
        _ => {}
    }
}

fn completed(session: &SessionId, item: &Item) {
    let (turn, iteration, status) = (item.turn.0, item.iteration, item.status);
    match &item.kind {
        ItemKind::Call(call) => {
            // Before it was judged, the name is a text of the model.
            let tool = call.verdict.as_ref().map_or("unknown", |_| call.tool.as_str());
            let ms = call.output.as_ref().map_or(0, |output| output.duration.0);
            info!(%session, turn, iteration, call = %call.call, tool, ?status, ms, "call ended");
        }
        ItemKind::Retry { attempt, error, .. } => {
            info!(%session, turn, iteration, attempt, kind = ?error.kind, "retried")
        }
        ItemKind::Error { error } => info!(%session, turn, iteration, kind = ?error.kind, "request failed"),
        ItemKind::Guard { pattern, paused, .. } => {
            info!(%session, turn, iteration, ?pattern, paused, "loop guard")
        }
        ItemKind::Breaker { tool, .. } => info!(%session, turn, iteration, tool, "tool breaker"),
        _ => {}
    }
}

fn state(status: &TurnStatus) -> &'static str {
    match status {
        TurnStatus::Starting => "starting",
        TurnStatus::Thinking => "thinking",
        TurnStatus::UsingTools => "using_tools",
        TurnStatus::WaitingForApproval => "waiting_for_approval",
        TurnStatus::WaitingForAnswer => "waiting_for_answer",
        TurnStatus::WaitingToRetry { .. } => "waiting_to_retry",
        TurnStatus::MakingRoom => "making_room",
        TurnStatus::Pausing => "pausing",
        TurnStatus::Paused { .. } => "paused",
        TurnStatus::FinishingUp => "finishing_up",
        TurnStatus::Completed => "completed",
        TurnStatus::Stopped => "stopped",
        TurnStatus::Failed => "failed",
        TurnStatus::Interrupted => "interrupted",
    }
}

/// Turn and iteration of a call id such as `t2.i5.c1`; zero where it names none.
fn places(call: &CallId) -> (u32, u32) {
    let mut parts = call.as_str().split('.');
    let mut number = |mark: char| {
        parts
            .next()
            .and_then(|part| part.strip_prefix(mark)?.parse().ok())
            .unwrap_or(0)
    };
    (number('t'), number('i'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_id_names_its_turn_and_iteration() {
        assert_eq!(places(&TurnId(12).call(5, 3)), (12, 5));
        assert_eq!(places(&CallId::new("odd")), (0, 0));
    }
}
