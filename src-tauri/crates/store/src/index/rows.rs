//! What one event changes in the tables of the index.

use super::decided::Decisions;
use paddock_protocol::*;
use rusqlite::{Connection, params};
use serde::{Deserialize, Serialize};

/// How the loop's sentence goes on after "did not end within N s".
const ENDED_AT_LIMIT: [&str; 2] = [
    ". Try a smaller step.",
    " and was ended. Try a smaller step, or run it in the background.",
];

/// What must be known of the events before, to write the rows of the next one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fold {
    model: String,
    turn: u32,
    began: u64,
    /// Turn, iteration and attempt of the newest request.
    request: (u32, u32, u32),
    decisions: Decisions,
}

/// Writes what the event tells. `session` is the key of its row.
pub fn write(rows: &Connection, session: i64, fold: &mut Fold, event: &Event) -> rusqlite::Result<()> {
    if let Some(line) = fold.decisions.hear(event) {
        let text =
            serde_json::to_string(&line).map_err(|e| rusqlite::Error::ToSqlConversionFailure(e.into()))?;
        rows.prepare_cached("INSERT OR REPLACE INTO decisions VALUES (?, ?, ?, ?, ?)")?
            .execute(params![
                session,
                number(event.seq),
                number(fold.began),
                number(line.at.0),
                text
            ])?;
    }
    match &event.msg {
        EventMsg::SessionCreated { config, .. } => {
            let root = config
                .parent
                .as_ref()
                .map_or(&event.session, |parent| &parent.session);
            fold.began = event.at.0;
            fold.model = name(&config.model);
            rows.prepare_cached("UPDATE sessions SET project = ?, root = ?, child = ? WHERE key = ?")?
                .execute(params![
                    config.project,
                    root.as_str(),
                    config.parent.is_some(),
                    session
                ])?;
        }
        EventMsg::SessionChanged { config } => fold.model = name(&config.model),
        EventMsg::ItemStarted { item }
        | EventMsg::ItemUpdated { item }
        | EventMsg::ItemCompleted { item } => {
            write_item(rows, session, fold, item)?;
        }
        EventMsg::ApprovalRequested { approval } if approval.origin.is_none() => {
            rows.prepare_cached(
                "INSERT OR REPLACE INTO approvals (session, approval, began, requested) VALUES (?, ?, ?, ?)",
            )?
            .execute(params![
                session,
                approval.id.as_str(),
                number(fold.began),
                number(approval.requested.0)
            ])?;
        }
        EventMsg::ApprovalResolved { approval, outcome } => {
            write_outcome(rows, session, event.at, approval, outcome)?
        }
        _ => write_turn(rows, session, fold, event)?,
    }
    Ok(())
}

fn write_turn(rows: &Connection, session: i64, fold: &mut Fold, event: &Event) -> rusqlite::Result<()> {
    match &event.msg {
        EventMsg::TurnStarted {
            turn, without_model, ..
        } => {
            fold.turn = turn.0;
            fold.began = event.at.0;
            rows.prepare_cached(
                "INSERT OR REPLACE INTO turns (session, turn, began, without_model) VALUES (?, ?, ?, ?)",
            )?
            .execute(params![session, turn.0, number(fold.began), without_model])?;
        }
        EventMsg::TurnChanged {
            turn,
            status: TurnStatus::Paused {
                cause: PauseCause::Limits { reached },
            },
        } if reached
            .iter()
            .any(|reached| reached.limit == LimitKind::Iterations) =>
        {
            rows.prepare_cached("UPDATE turns SET limit_hit = 1 WHERE session = ? AND turn = ?")?
                .execute(params![session, turn.0])?;
        }
        EventMsg::TurnEnded { turn, end } => {
            let end = match end {
                TurnEnd::Completed => "completed",
                TurnEnd::Stopped => "stopped",
                TurnEnd::Failed => "failed",
            };
            rows.prepare_cached("UPDATE turns SET end = ? WHERE session = ? AND turn = ?")?
                .execute(params![end, session, turn.0])?;
        }
        EventMsg::IterationStarted {
            turn,
            iteration,
            attempt,
            ..
        } => {
            fold.request = (turn.0, *iteration, *attempt);
            rows.prepare_cached(
                "INSERT OR REPLACE INTO requests (session, turn, iteration, attempt, began, at, model) VALUES (?, ?, ?, ?, ?, ?, ?)",
            )?
            .execute(params![session, turn.0, iteration, attempt, number(fold.began), number(event.at.0), fold.model])?;
        }
        EventMsg::IterationAnswered { usage, .. } | EventMsg::AttemptLost { usage, .. } => {
            let lost = matches!(event.msg, EventMsg::AttemptLost { .. });
            let (turn, iteration, attempt) = fold.request;
            rows.prepare_cached(
                "UPDATE requests SET input = ?, cached = ?, output = ?, reasoning = ?, estimated = ?,
                 cache_write = ?, cost = ?, unpriced = ?, lost = ?
                 WHERE session = ? AND turn = ? AND iteration = ? AND attempt = ?",
            )?
            .execute(params![
                usage.input,
                usage.cached,
                usage.output,
                usage.reasoning,
                usage.estimated,
                usage.cache_write,
                number(usage.cost.0),
                usage.unpriced,
                lost,
                session,
                turn,
                iteration,
                attempt
            ])?;
        }
        _ => {}
    }
    Ok(())
}

fn write_outcome(
    rows: &Connection,
    session: i64,
    at: Timestamp,
    approval: &ApprovalId,
    outcome: &ApprovalOutcome,
) -> rusqlite::Result<()> {
    let (words, edited, by_person, reason) = match outcome {
        ApprovalOutcome::Withdrawn { .. } => ("withdrawn", false, false, None),
        ApprovalOutcome::Decided { decision, by } => {
            let by_person = *by == DecidedBy::Person;
            match decision {
                Decision::Approve { .. } => ("approved", decision.changes_it(), by_person, None),
                Decision::Reject { reason, .. } => {
                    let reason = reason
                        .as_deref()
                        .map(str::trim)
                        .filter(|reason| !reason.is_empty());
                    ("rejected", false, by_person, reason.filter(|_| by_person))
                }
            }
        }
    };
    rows.prepare_cached(
        "UPDATE approvals SET outcome = ?, edited = ?, reason = ?,
         decided = CASE WHEN ? THEN max(0, ? - requested) END WHERE session = ? AND approval = ?",
    )?
    .execute(params![
        words,
        edited,
        reason,
        by_person,
        number(at.0),
        session,
        approval.as_str()
    ])
    .map(|_| ())
}

fn write_item(rows: &Connection, session: i64, fold: &Fold, item: &Item) -> rusqlite::Result<()> {
    let kind = match &item.kind {
        ItemKind::Retry { .. } => "retry",
        ItemKind::Malformed { .. } => "malformed",
        ItemKind::Guard { .. } => "guard",
        ItemKind::Breaker { .. } => "breaker",
        ItemKind::Call(call) => return write_call(rows, session, fold, item, call),
        ItemKind::TurnSummary { report } => {
            return rows
                .prepare_cached(
                    "UPDATE turns SET iterations = ?, active = ?, waiting = ? WHERE session = ? AND turn = ?",
                )?
                .execute(params![
                    report.iterations,
                    number(report.active.0),
                    number(report.waiting.0),
                    session,
                    item.turn.0
                ])
                .map(|_| ());
        }
        _ => return Ok(()),
    };
    rows.prepare_cached("INSERT OR IGNORE INTO notes VALUES (?, ?, ?, ?)")?
        .execute(params![session, item.id.0, number(fold.began), kind])
        .map(|_| ())
}

fn write_call(
    rows: &Connection,
    session: i64,
    fold: &Fold,
    item: &Item,
    call: &CallItem,
) -> rusqlite::Result<()> {
    if !fold.decisions.is_current(item) {
        // Of an older iteration nothing changes any more but its undo.
        return rows
            .prepare_cached("UPDATE calls SET undone = ? WHERE session = ? AND call = ?")?
            .execute(params![
                item.status == ItemStatus::Undone,
                session,
                call.call.as_str()
            ])
            .map(|_| ());
    }
    let Some(verdict) = &call.verdict else {
        return rows
            .prepare_cached("DELETE FROM calls WHERE session = ? AND call = ?")?
            .execute(params![session, call.call.as_str()])
            .map(|_| ());
    };
    let run = Run::of(item, call);
    let rule = matches!(verdict.by, DecidedBy::Rule { .. });
    let by_rule = rule && verdict.allowed && !fold.decisions.was_asked(&call.call);
    rows.prepare_cached("INSERT OR REPLACE INTO calls VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")?
        .execute(params![
            session,
            call.call.as_str(),
            number(fold.began),
            call.tool,
            run.ran,
            run.failed,
            run.timed_out,
            run.duration.map(|duration| number(duration.0)),
            by_rule,
            item.status == ItemStatus::Undone,
        ])
        .map(|_| ())
}

/// What became of a call, as far as figures care.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// It was let go and came to an end; what was stopped before it began did not run.
    pub ran: bool,
    pub failed: bool,
    pub timed_out: bool,
    /// Absent where the end says nothing about the tool: stopped by the person, or unknown.
    pub duration: Option<Millis>,
}

impl Run {
    pub fn of(item: &Item, call: &CallItem) -> Run {
        use ItemStatus::{Failed, OutcomeUnknown, Stopped, Undone};
        let allowed = call.verdict.as_ref().is_some_and(|verdict| verdict.allowed);
        let output = call.output.as_ref().filter(|_| item.status.is_final() && allowed);
        let Some(output) = output.filter(|_| item.status != Stopped || call.began.is_some()) else {
            return Run {
                ran: false,
                failed: false,
                timed_out: false,
                duration: None,
            };
        };
        Run {
            ran: true,
            failed: item.status == Failed || (item.status == Undone && !output.ok),
            timed_out: timed_out(item.status, call, output),
            duration: (!matches!(item.status, Stopped | OutcomeUnknown)).then_some(output.duration),
        }
    }
}

/// Whether the call was ended at its time limit. A command that set the limit itself says so in its facts; for all others
/// the sentence tells that the loop puts last, because there are no facts then: the loop ended the call, not the tool.
pub fn timed_out(status: ItemStatus, call: &CallItem, output: &CallOutput) -> bool {
    match &output.facts {
        Some(OutputFacts::Command { timed_out, .. }) => *timed_out,
        Some(_) => false,
        None => {
            let last = output.text.rsplit('\n').next().unwrap_or_default();
            let said = format!("Tool '{}' did not end within ", call.tool);
            let limit = last.strip_prefix(&said).and_then(|rest| rest.split_once(" s"));
            status == ItemStatus::Failed
                && limit.is_some_and(|(seconds, rest)| {
                    seconds.parse::<u64>().is_ok() && ENDED_AT_LIMIT.contains(&rest)
                })
        }
    }
}

fn name(model: &ModelChoice) -> String {
    format!("{}/{}", model.provider, model.model)
}

/// SQLite counts in i64; a moment or a duration beyond that is damage.
fn number(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}
