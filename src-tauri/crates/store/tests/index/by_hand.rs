use crate::desk::*;
use paddock_protocol::*;

const DAY: u64 = 86_400_000;
/// 2024-03-01 10:00 UTC.
const MARCH: u64 = 1_709_287_200_000;

fn finish(log: &mut Log, item: ItemId, status: ItemStatus, call: &CallItem) {
    log.put(item, status, ItemKind::Call(Box::new(call.clone())));
}

/// A turn with every kind of call, then one that was stopped, then the day after one that failed.
fn orchard() -> Log {
    let mut log = Log::begin("one", MARCH, config("/orchard", "small", None));
    log.turn(false);
    log.request(1, 1);
    log.item(ItemKind::Retry {
        attempt: 1,
        of: 3,
        until: Timestamp(0),
        error: ModelError::new(ModelErrorKind::Network, "gone"),
    });
    log.request(1, 2);
    log.answered(usage(100, 300, 10));

    // Read: let go by the policy.
    let (item, mut read) = (log.new_item(), log.call(1, "read_file"));
    read.verdict = verdict(DecidedBy::Policy, true);
    read.began = Some(Timestamp(log.now));
    finish(&mut log, item, ItemStatus::Running, &read);
    read.output = output(true, 40, "text");
    finish(&mut log, item, ItemStatus::Done, &read);

    // Edit: asked, approved with an edit after 2 s, done, and undone in the next iteration.
    let (edited, mut edit) = (log.new_item(), log.call(2, "edit_file"));
    let approval = log.ask(&edit, 1);
    log.now += 2_000;
    log.decide(&approval, approve(Some("{\"x\":1}")));
    edit.verdict = verdict(DecidedBy::Person, true);
    edit.began = Some(Timestamp(log.now));
    finish(&mut log, edited, ItemStatus::Running, &edit);
    edit.output = output(true, 60, "edited");
    finish(&mut log, edited, ItemStatus::Done, &edit);

    // Command: a rule lets it go; the loop ends it at its limit.
    let (item, mut run) = (log.new_item(), log.call(3, "run_command"));
    run.verdict = verdict(
        DecidedBy::Rule {
            rule: RuleId::new("r1"),
        },
        true,
    );
    run.began = Some(Timestamp(log.now));
    finish(&mut log, item, ItemStatus::Running, &run);
    run.output = output(
        false,
        120_000,
        "half a line\nTool 'run_command' did not end within 120 s and was ended. Try a smaller step, or run it in the background.",
    );
    finish(&mut log, item, ItemStatus::Failed, &run);

    log.request(2, 1);
    log.answered(usage(50, 50, 20));
    let at = log.iteration;
    log.iteration = 1;
    finish(&mut log, edited, ItemStatus::Undone, &edit);
    log.iteration = at;

    // Rejected after 4 s with a reason; then one withdrawn.
    let (item, mut delete) = (log.new_item(), log.call(1, "delete_file"));
    let approval = log.ask(&delete, 1);
    log.now += 4_000;
    log.decide(&approval, reject(Some(" too much ")));
    delete.verdict = verdict(DecidedBy::Person, false);
    delete.output = output(false, 0, "rejected");
    finish(&mut log, item, ItemStatus::Rejected, &delete);
    let renewed = log.call(2, "edit_file");
    let approval = log.ask(&renewed, 1);
    log.resolve(
        &approval,
        ApprovalOutcome::Withdrawn {
            why: WithdrawReason::Renewed,
        },
    );
    log.status(TurnStatus::Paused {
        cause: PauseCause::Limits {
            reached: vec![LimitReached {
                limit: LimitKind::Iterations,
                used: 2,
                allowed: 2,
            }],
        },
    });
    log.end(TurnEnd::Completed, 5_000, 6_000);

    log.turn(false);
    log.request(1, 1);
    log.item(ItemKind::Guard {
        pattern: GuardPattern::SameCall,
        calls: Vec::new(),
        paused: false,
    });
    log.end(TurnEnd::Stopped, 1_000, 0);

    log.now += DAY;
    log.turn(false);
    log.request(1, 1);
    log.item(ItemKind::Malformed {
        attempt: 1,
        of: 3,
        reason: String::new(),
        raw: String::new(),
    });
    log.item(ItemKind::Breaker {
        tool: "edit_file".into(),
        calls: Vec::new(),
    });
    log.end(TurnEnd::Failed, 9_000, 0);
    log
}

fn sub_agent() -> Log {
    let parent = Some(("one", "t1.i1.c9"));
    let mut log = Log::begin("one.t1.i1.c9", MARCH + 1, config("/orchard", "small", parent));
    log.turn(false);
    log.request(1, 1);
    log.answered(usage(7, 0, 3));
    let (item, mut read) = (log.new_item(), log.call(1, "read_file"));
    read.verdict = verdict(DecidedBy::Policy, true);
    read.began = Some(Timestamp(log.now));
    read.output = output(true, 80, "text");
    finish(&mut log, item, ItemStatus::Done, &read);
    log.end(TurnEnd::Completed, 100, 0);
    log
}

fn spread(count: u32, median: u64, p90: u64, max: u64) -> Spread {
    Spread {
        count,
        median: Millis(median),
        p90: Millis(p90),
        max: Millis(max),
    }
}

fn tool(tool: &str, calls: u32, failed: u32, timed_out: u32, duration: Spread) -> ToolMetrics {
    ToolMetrics {
        tool: tool.into(),
        calls,
        failed,
        timed_out,
        duration,
    }
}

fn used(source: UsageSource, requests: u32, usage: Usage) -> SourceUsage {
    SourceUsage {
        source,
        model: "local/small".into(),
        requests,
        usage,
    }
}

#[test]
fn the_figures_are_those_worked_out_by_hand() {
    let desk = Desk::new();
    desk.write(&orchard().events);
    desk.write(&sub_agent().events);
    let expected = Metrics {
        turns: 3,
        completed: 1,
        stopped: 1,
        failed: 1,
        active: spread(3, 5_000, 9_000, 9_000),
        waiting: spread(3, 0, 6_000, 6_000),
        iterations: vec![
            IterationCount {
                iterations: 1,
                turns: 2,
            },
            IterationCount {
                iterations: 2,
                turns: 1,
            },
        ],
        limit_hits: 1,
        tools: vec![
            tool("read_file", 2, 0, 0, spread(2, 60, 80, 80)),
            tool("edit_file", 1, 0, 0, spread(1, 60, 60, 60)),
            tool("run_command", 1, 1, 1, spread(1, 120_000, 120_000, 120_000)),
        ],
        approvals: ApprovalMetrics {
            asked: 3,
            approved: 1,
            edited: 1,
            rejected: 1,
            withdrawn: 1,
            by_rule: 1,
            time_to_decide: spread(2, 3_000, 4_000, 4_000),
            reasons: vec![ReasonCount {
                reason: "too much".into(),
                count: 1,
            }],
        },
        retries: 1,
        malformed: 1,
        guard_hits: 1,
        breaker_hits: 1,
        undone_calls: 1,
        usage: vec![
            used(UsageSource::Main, 5, usage(150, 350, 30)),
            used(UsageSource::SubAgent, 1, usage(7, 0, 3)),
        ],
        cache_share: Some(350.0 / 507.0),
        days: vec![
            DayUsage {
                day: "2024-03-01".into(),
                turns: 2,
                usage: usage(157, 350, 33),
            },
            DayUsage {
                day: "2024-03-02".into(),
                turns: 1,
                usage: usage(0, 0, 0),
            },
        ],
    };
    assert_eq!(desk.metrics(&MetricsQuery::default(), MARCH + DAY), expected);
    let of_session = MetricsQuery {
        session: Some(SessionId::new("one")),
        ..MetricsQuery::default()
    };
    assert_eq!(
        desk.metrics(&of_session, MARCH + DAY),
        expected,
        "with its sub-agents"
    );
    let here = MetricsQuery {
        project: Some("/orchard".into()),
        ..MetricsQuery::default()
    };
    assert_eq!(desk.metrics(&here, MARCH + DAY), expected);
    let elsewhere = MetricsQuery {
        project: Some("/other".into()),
        ..MetricsQuery::default()
    };
    assert_eq!(desk.metrics(&elsewhere, MARCH + DAY), Metrics::default());
    let newest = MetricsQuery {
        days: Some(1),
        ..MetricsQuery::default()
    };
    let newest = desk.metrics(&newest, MARCH + DAY + DAY / 2);
    assert_eq!(
        (newest.turns, newest.failed, newest.malformed, newest.retries),
        (1, 1, 1, 0)
    );
    assert!(newest.tools.is_empty() && newest.approvals == ApprovalMetrics::default());
}

/// Tool, who decided, allowed, edited, rule, reason.
type Told<'a> = (&'a str, &'a str, bool, bool, &'a str, Option<&'a str>);

#[test]
fn the_decision_log_tells_each_decision_once() {
    let desk = Desk::new();
    desk.write(&orchard().events);
    desk.write(&sub_agent().events);
    let lines = desk.decisions(&MetricsQuery::default(), MARCH + DAY);
    let told: Vec<Told<'_>> = lines
        .iter()
        .map(|line| {
            let by = match &line.by {
                DecidedBy::Person => "person",
                DecidedBy::Rule { .. } => "rule",
                DecidedBy::Policy => "policy",
                DecidedBy::Workflow { .. } => "workflow",
            };
            (
                line.tool.as_str(),
                by,
                line.allowed,
                line.edited,
                line.rule.as_str(),
                line.reason.as_deref(),
            )
        })
        .collect();
    let asks = "Autonomy Careful: asks for every change";
    assert_eq!(
        told,
        [
            ("delete_file", "person", false, false, asks, Some(" too much ")),
            ("run_command", "rule", true, false, "Rule npm test: allows", None),
            ("edit_file", "person", true, true, asks, None),
            (
                "read_file",
                "policy",
                true,
                false,
                "Autonomy Careful: no question",
                None
            ),
            (
                "read_file",
                "policy",
                true,
                false,
                "Autonomy Careful: no question",
                None
            ),
        ]
    );
    let limited =
        paddock_store::index::decisions(&desk.home, &MetricsQuery::default(), 2, Timestamp(MARCH)).unwrap();
    assert_eq!(limited, lines[..2]);
}

#[test]
fn a_call_that_only_says_it_timed_out_did_not() {
    let log = Log::begin("one", 0, config("/orchard", "small", None));
    let timed_out = |tool: &str, status, text: &str| {
        let call = log.call(1, tool);
        paddock_store::index::timed_out(status, &call, &output(false, 0, text).unwrap())
    };
    let said = "Tool 'fetch' did not end within 60 s. Try a smaller step.";
    assert!(timed_out("fetch", ItemStatus::Failed, said));
    assert!(!timed_out("fetch", ItemStatus::Done, said));
    assert!(!timed_out("other", ItemStatus::Failed, said));
    let quoted = format!("Tool 'fetch' failed: it says\n{said}. 2 tries left. Try another way or ask.");
    assert!(!timed_out("fetch", ItemStatus::Failed, &quoted));
    let mut command = output(false, 0, said).unwrap();
    command.facts = Some(OutputFacts::Command {
        sandbox: "full".into(),
        timed_out: false,
        denials: Vec::new(),
        quarantined: Vec::new(),
    });
    assert!(!paddock_store::index::timed_out(
        ItemStatus::Failed,
        &log.call(1, "fetch"),
        &command
    ));
}
