//! Random but well-formed logs: turns, requests with retries, calls let go, asked, edited, rejected, undone; sub-agents.

use crate::desk::*;
use paddock_protocol::*;

pub struct Dice(pub u64);

impl Dice {
    pub fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % n
    }

    pub fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    fn pick<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.below(words.len() as u64) as usize]
    }
}

const TOOLS: [&str; 4] = ["read_file", "edit_file", "run_command", "search_files"];

pub fn session(dice: &mut Dice, id: &str, parent: Option<(&str, &str)>) -> Log {
    let project = dice.pick(&["/a", "/b"]);
    let begun = 1_700_000_000_000 + dice.below(400_000_000);
    let mut log = Log::begin(id, begun, config(project, dice.pick(&["small", "large"]), parent));
    for _ in 0..dice.below(5) {
        turn(dice, &mut log, project, parent);
        log.now += dice.below(200_000_000);
    }
    log
}

fn turn(dice: &mut Dice, log: &mut Log, project: &str, parent: Option<(&str, &str)>) {
    let without_model = dice.one_in(8);
    log.turn(without_model);
    if without_model {
        calls(dice, log);
    }
    for iteration in 1..=dice.below(5) as u32 {
        if dice.one_in(6) {
            let config = config(project, dice.pick(&["small", "large", "other"]), parent);
            log.push(EventMsg::SessionChanged { config });
        }
        request(dice, log, iteration);
        calls(dice, log);
        log.now += dice.below(10_000);
    }
    if dice.one_in(4) {
        let limit = if dice.one_in(2) {
            LimitKind::Iterations
        } else {
            LimitKind::ActiveTime
        };
        let reached = vec![LimitReached {
            limit,
            used: 1,
            allowed: 1,
        }];
        log.status(TurnStatus::Paused {
            cause: PauseCause::Limits { reached },
        });
    }
    let end = match dice.below(4) {
        0 => TurnEnd::Stopped,
        1 => TurnEnd::Failed,
        2 => TurnEnd::Completed,
        _ => return log.status(TurnStatus::Interrupted),
    };
    let (active, waiting) = (dice.below(90_000), dice.below(50_000));
    log.end(end, active, waiting);
}

fn request(dice: &mut Dice, log: &mut Log, iteration: u32) {
    log.request(iteration, 1);
    let mut attempt = 1;
    while dice.one_in(5) {
        let id = log.new_item();
        let retry = ItemKind::Retry {
            attempt,
            of: 3,
            until: Timestamp(log.now),
            error: ModelError::new(ModelErrorKind::Network, "gone"),
        };
        log.put(id, ItemStatus::Running, retry.clone());
        log.now += dice.below(3_000);
        log.put(id, ItemStatus::Done, retry);
        attempt += 1;
        log.request(iteration, attempt);
    }
    if !dice.one_in(9) {
        let mut used = usage(
            dice.below(900) as u32,
            dice.below(900) as u32,
            dice.below(90) as u32,
        );
        used.reasoning = dice.below(50) as u32;
        used.estimated = dice.one_in(7);
        log.answered(used);
    }
    match dice.below(9) {
        0 => drop(log.item(ItemKind::Guard {
            pattern: GuardPattern::Rotation,
            calls: Vec::new(),
            paused: true,
        })),
        1 => drop(log.item(ItemKind::Breaker {
            tool: "edit_file".into(),
            calls: Vec::new(),
        })),
        2 => drop(log.item(ItemKind::Malformed {
            attempt: 1,
            of: 3,
            reason: String::new(),
            raw: String::new(),
        })),
        _ => {}
    }
}

fn calls(dice: &mut Dice, log: &mut Log) {
    for number in 1..=dice.below(4) as u32 {
        let item = log.new_item();
        let mut call = log.call(number, dice.pick(&TOOLS));
        let put = |log: &mut Log, status, call: &CallItem| {
            log.put(item, status, ItemKind::Call(Box::new(call.clone())))
        };
        put(log, ItemStatus::Waiting, &call);
        if dice.one_in(10) {
            put(log, ItemStatus::Stopped, &call);
            continue;
        }
        if !judge(dice, log, &mut call) {
            call.output = output(false, 0, "not run");
            put(log, ItemStatus::Rejected, &call);
            continue;
        }
        if dice.one_in(12) {
            call.output = output(false, dice.below(100), "stopped before it began");
            put(log, ItemStatus::Stopped, &call);
            continue;
        }
        call.began = Some(Timestamp(log.now));
        put(log, ItemStatus::Running, &call);
        log.now += dice.below(5_000);
        let duration = dice.below(60_000);
        let (status, text) = match dice.below(8) {
            0 => (ItemStatus::Failed, "Tool failed".to_owned()),
            1 => (
                ItemStatus::Failed,
                format!(
                    "Tool '{}' did not end within 60 s. Try a smaller step.",
                    call.tool
                ),
            ),
            2 => (ItemStatus::Stopped, "stopped".to_owned()),
            3 => (ItemStatus::OutcomeUnknown, "unknown".to_owned()),
            _ => (ItemStatus::Done, "done".to_owned()),
        };
        call.output = output(status == ItemStatus::Done, duration, &text);
        put(log, status, &call);
        if status == ItemStatus::Done && dice.one_in(5) {
            put(log, ItemStatus::Undone, &call);
            if dice.one_in(2) {
                put(log, ItemStatus::Done, &call);
            }
        }
    }
}

/// Whether the call may run.
fn judge(dice: &mut Dice, log: &mut Log, call: &mut CallItem) -> bool {
    let rule = DecidedBy::Rule {
        rule: RuleId::new("r"),
    };
    let mut renewals = 1;
    loop {
        let (by, allowed) = match dice.below(6) {
            0 => (DecidedBy::Policy, true),
            1 => (DecidedBy::Policy, false),
            2 => (rule.clone(), true),
            _ => {
                let approval = log.ask(call, renewals);
                renewals += 1;
                log.now += dice.below(40_000);
                match dice.below(5) {
                    0 => {
                        let why = WithdrawReason::Renewed;
                        log.resolve(&approval, ApprovalOutcome::Withdrawn { why });
                        continue;
                    }
                    1 => {
                        let reason = dice.pick(&["", "no", "too much", "not there"]);
                        log.decide(&approval, reject(Some(reason)));
                        (DecidedBy::Person, false)
                    }
                    2 => {
                        let decision = approve(None);
                        log.resolve(
                            &approval,
                            ApprovalOutcome::Decided {
                                decision,
                                by: rule.clone(),
                            },
                        );
                        (rule.clone(), true)
                    }
                    edited => {
                        log.decide(&approval, approve((edited == 3).then_some("{}")));
                        (DecidedBy::Person, true)
                    }
                }
            }
        };
        call.verdict = verdict(by, allowed);
        return allowed;
    }
}
