//! The same figures by looking through whole logs again for each of them.

use paddock_protocol::*;
use std::collections::{BTreeMap, BTreeSet};

/// The events of one turn of one session, items of older turns apart.
struct OneTurn<'a> {
    began: Timestamp,
    child: bool,
    events: Vec<&'a Event>,
    /// The model in force at each request.
    models: Vec<String>,
}

fn split(log: &[Event]) -> Vec<OneTurn<'_>> {
    let (mut turns, mut child, mut model): (Vec<OneTurn<'_>>, _, _) = (Vec::new(), false, String::new());
    for event in log {
        match &event.msg {
            EventMsg::SessionCreated { config, .. } | EventMsg::SessionChanged { config } => {
                child = config.parent.is_some();
                model = format!("{}/{}", config.model.provider, config.model.model);
            }
            EventMsg::TurnStarted { .. } => turns.push(OneTurn {
                began: event.at,
                child,
                events: Vec::new(),
                models: Vec::new(),
            }),
            _ => {}
        }
        if let Some(turn) = turns.last_mut() {
            turn.events.push(event);
            if matches!(event.msg, EventMsg::IterationStarted { .. }) {
                turn.models.push(model.clone());
            }
        }
    }
    turns
}

fn belongs(log: &[Event], query: &MetricsQuery) -> bool {
    let EventMsg::SessionCreated { config, .. } = &log[0].msg else {
        panic!("a log begins with its session");
    };
    let parent = config.parent.as_ref().map(|parent| &parent.session);
    query
        .project
        .as_ref()
        .is_none_or(|project| *project == config.project)
        && query
            .session
            .as_ref()
            .is_none_or(|session| *session == log[0].session || Some(session) == parent)
}

fn items<'a>(turn: &'a OneTurn<'_>) -> impl Iterator<Item = &'a Item> {
    turn.events.iter().filter_map(|event| match &event.msg {
        EventMsg::ItemStarted { item }
        | EventMsg::ItemUpdated { item }
        | EventMsg::ItemCompleted { item } => Some(item),
        _ => None,
    })
}

fn spread(mut values: Vec<u64>) -> Spread {
    values.sort_unstable();
    let n = values.len();
    if n == 0 {
        return Spread::default();
    }
    let median = if n % 2 == 1 {
        values[n / 2]
    } else {
        (values[n / 2 - 1] + values[n / 2]) / 2
    };
    // The least value that at least nine tenths do not exceed.
    let p90 = values
        .iter()
        .find(|v| values.iter().filter(|other| other <= v).count() * 10 >= n * 9);
    Spread {
        count: n as u32,
        median: Millis(median),
        p90: Millis(*p90.unwrap()),
        max: Millis(values[n - 1]),
    }
}

/// Days since 1970 to a date, by counting.
fn day(at: Timestamp) -> String {
    let leap = |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let (mut left, mut year) = (at.0 / 86_400_000, 1970);
    while left >= 365 + u64::from(leap(year)) {
        left -= 365 + u64::from(leap(year));
        year += 1;
    }
    let lengths = [
        31,
        28 + u64::from(leap(year)),
        31,
        30,
        31,
        30,
        31,
        31,
        30,
        31,
        30,
        31,
    ];
    let mut month = 0;
    while left >= lengths[month] {
        left -= lengths[month];
        month += 1;
    }
    format!("{year:04}-{:02}-{:02}", month + 1, left + 1)
}

pub fn metrics(logs: &[Vec<Event>], query: &MetricsQuery, now: u64) -> Metrics {
    let since = query.days.map_or(0, |days| now - u64::from(days) * 86_400_000);
    let turns: Vec<OneTurn<'_>> = logs
        .iter()
        .filter(|log| belongs(log, query))
        .flat_map(|log| split(log))
        .filter(|turn| turn.began.0 >= since)
        .collect();
    let main: Vec<&OneTurn<'_>> = turns.iter().filter(|turn| !turn.child).collect();
    let mut metrics = Metrics {
        turns: main.len() as u32,
        ..Metrics::default()
    };
    of_turns(&main, &mut metrics);
    let count = |is: fn(&ItemKind) -> bool| -> u32 {
        turns
            .iter()
            .map(|turn| {
                items(turn)
                    .filter(|item| is(&item.kind))
                    .map(|item| item.id)
                    .collect::<BTreeSet<_>>()
                    .len() as u32
            })
            .sum()
    };
    metrics.retries = count(|kind| matches!(kind, ItemKind::Retry { .. }));
    metrics.malformed = count(|kind| matches!(kind, ItemKind::Malformed { .. }));
    metrics.guard_hits = count(|kind| matches!(kind, ItemKind::Guard { .. }));
    metrics.breaker_hits = count(|kind| matches!(kind, ItemKind::Breaker { .. }));
    of_calls(&turns, &mut metrics);
    of_approvals(&turns, &mut metrics.approvals);
    of_usage(&turns, &mut metrics);
    metrics
}

fn of_turns(main: &[&OneTurn<'_>], metrics: &mut Metrics) {
    let mut reports = Vec::new();
    let mut histogram = BTreeMap::new();
    for turn in main {
        let without_model = matches!(
            turn.events[0].msg,
            EventMsg::TurnStarted {
                without_model: true,
                ..
            }
        );
        let hit = |event: &&&Event| {
            matches!(&event.msg, EventMsg::TurnChanged { status: TurnStatus::Paused { cause: PauseCause::Limits { reached } }, .. }
                if reached.iter().any(|reached| reached.limit == LimitKind::Iterations))
        };
        metrics.limit_hits += u32::from(turn.events.iter().any(|event| hit(&event)));
        for event in &turn.events {
            match &event.msg {
                EventMsg::TurnEnded {
                    end: TurnEnd::Completed,
                    ..
                } => metrics.completed += 1,
                EventMsg::TurnEnded {
                    end: TurnEnd::Stopped,
                    ..
                } => metrics.stopped += 1,
                EventMsg::TurnEnded {
                    end: TurnEnd::Failed, ..
                } => metrics.failed += 1,
                _ => {}
            }
        }
        let report = items(turn).find_map(|item| match &item.kind {
            ItemKind::TurnSummary { report } => Some(report.clone()),
            _ => None,
        });
        let ended = turn
            .events
            .iter()
            .any(|event| matches!(event.msg, EventMsg::TurnEnded { .. }));
        if let Some(report) = report.filter(|_| ended) {
            if !without_model {
                *histogram.entry(report.iterations).or_insert(0) += 1;
            }
            reports.push(report);
        }
    }
    metrics.active = spread(reports.iter().map(|report| report.active.0).collect());
    metrics.waiting = spread(reports.iter().map(|report| report.waiting.0).collect());
    metrics.iterations = histogram
        .into_iter()
        .map(|(iterations, turns)| IterationCount { iterations, turns })
        .collect();
}

fn of_calls(turns: &[OneTurn<'_>], metrics: &mut Metrics) {
    let mut tools: BTreeMap<String, (u32, u32, u32, Vec<u64>)> = BTreeMap::new();
    for turn in turns {
        let mut last: BTreeMap<CallId, (ItemStatus, CallItem)> = BTreeMap::new();
        for item in items(turn) {
            if let ItemKind::Call(call) = &item.kind {
                last.insert(call.call.clone(), (item.status, (**call).clone()));
            }
        }
        for (id, (status, call)) in last {
            let Some(verdict) = call.verdict else { continue };
            let asked = turn.events.iter().any(
                |event| matches!(&event.msg, EventMsg::ApprovalRequested { approval } if approval.call == id),
            );
            let by_rule = matches!(verdict.by, DecidedBy::Rule { .. }) && verdict.allowed && !asked;
            metrics.approvals.by_rule += u32::from(by_rule);
            metrics.undone_calls += u32::from(status == ItemStatus::Undone);
            if !verdict.allowed || (status == ItemStatus::Stopped && call.began.is_none()) {
                continue;
            }
            let Some(output) = call.output else { continue };
            let tool = tools.entry(call.tool).or_default();
            tool.0 += 1;
            tool.1 += u32::from(status == ItemStatus::Failed);
            tool.2 += u32::from(output.text.contains("did not end within"));
            if status != ItemStatus::Stopped && status != ItemStatus::OutcomeUnknown {
                tool.3.push(output.duration.0);
            }
        }
    }
    let mut tools: Vec<ToolMetrics> = tools
        .into_iter()
        .map(|(tool, (calls, failed, timed_out, durations))| ToolMetrics {
            tool,
            calls,
            failed,
            timed_out,
            duration: spread(durations),
        })
        .collect();
    tools.sort_by_key(|tool| (u32::MAX - tool.calls, tool.tool.clone()));
    metrics.tools = tools;
}

fn of_approvals(turns: &[OneTurn<'_>], metrics: &mut ApprovalMetrics) {
    let (mut times, mut reasons) = (Vec::new(), BTreeMap::<String, u32>::new());
    for turn in turns {
        for event in &turn.events {
            let EventMsg::ApprovalRequested { approval } = &event.msg else {
                continue;
            };
            metrics.asked += 1;
            let found = turn.events.iter().find_map(|event| match &event.msg {
                EventMsg::ApprovalResolved {
                    approval: id,
                    outcome,
                } if *id == approval.id => Some((event.at, outcome)),
                _ => None,
            });
            match found {
                None => {}
                Some((_, ApprovalOutcome::Withdrawn { .. })) => metrics.withdrawn += 1,
                Some((at, ApprovalOutcome::Decided { decision, by })) => {
                    if *by == DecidedBy::Person {
                        times.push(at.0 - approval.requested.0);
                    }
                    match decision {
                        Decision::Approve {
                            edited_arguments,
                            left_out,
                            ..
                        } => {
                            metrics.approved += 1;
                            metrics.edited += u32::from(edited_arguments.is_some() || !left_out.is_empty());
                        }
                        Decision::Reject { reason, .. } => {
                            metrics.rejected += 1;
                            if let Some(reason) = reason.clone().filter(|reason| !reason.is_empty()) {
                                *reasons.entry(reason).or_default() += 1;
                            }
                        }
                    }
                }
            }
        }
    }
    metrics.time_to_decide = spread(times);
    metrics.reasons = reasons
        .into_iter()
        .map(|(reason, count)| ReasonCount { reason, count })
        .collect();
    metrics
        .reasons
        .sort_by_key(|reason| (u32::MAX - reason.count, reason.reason.clone()));
}

fn of_usage(turns: &[OneTurn<'_>], metrics: &mut Metrics) {
    let mut all = Usage::default();
    let mut days: BTreeMap<String, DayUsage> = BTreeMap::new();
    let of_day = |day: String| DayUsage {
        day,
        turns: 0,
        usage: Usage::default(),
    };
    let mut sources: BTreeMap<(UsageSource, String), SourceUsage> = BTreeMap::new();
    for turn in turns {
        if !turn.child {
            let day = day(turn.began);
            days.entry(day.clone()).or_insert_with(|| of_day(day)).turns += 1;
        }
        let source = if turn.child {
            UsageSource::SubAgent
        } else {
            UsageSource::Main
        };
        let (mut sent, mut models) = (Timestamp(0), turn.models.iter());
        let mut model = String::new();
        for event in &turn.events {
            let mut usage = Usage::default();
            let mut requests = 0;
            match &event.msg {
                EventMsg::IterationStarted { .. } => {
                    model = models.next().unwrap().clone();
                    (sent, requests) = (event.at, 1);
                }
                EventMsg::IterationAnswered { usage: used, .. } => usage = *used,
                _ => continue,
            }
            all.add(&usage);
            let day = day(sent);
            days.entry(day.clone())
                .or_insert_with(|| of_day(day))
                .usage
                .add(&usage);
            let of = sources
                .entry((source, model.clone()))
                .or_insert_with(|| SourceUsage {
                    source,
                    model: model.clone(),
                    requests: 0,
                    usage: Usage::default(),
                });
            of.requests += requests;
            of.usage.add(&usage);
        }
    }
    let input = f64::from(all.input) + f64::from(all.cached);
    metrics.cache_share = (input > 0.0).then(|| f64::from(all.cached) / input);
    metrics.usage = sources.into_values().collect();
    metrics.days = days.into_values().collect();
}
