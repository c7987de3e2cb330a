//! Speed of the index: 100 sessions with 1,000 events each read for the first time, then a question after one new turn.
//! `cargo bench -p paddock-store --bench index`.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

#[path = "../tests/index/desk.rs"]
#[allow(dead_code)]
mod desk;

use desk::{Desk, Log, config, output, usage, verdict};
use paddock_protocol::*;
use std::time::Instant;

const SESSIONS: u64 = 100;
const EVENTS: usize = 1_000;
const BEGUN: u64 = 1_700_000_000_000;

fn turn(log: &mut Log) {
    log.turn(false);
    for iteration in 1..=4 {
        log.request(iteration, 1);
        log.answered(usage(900, 8_000, 120));
        for number in 1..=3 {
            let (item, mut call) = (
                log.new_item(),
                log.call(
                    number,
                    ["read_file", "edit_file", "run_command"][number as usize - 1],
                ),
            );
            log.put(item, ItemStatus::Waiting, ItemKind::Call(Box::new(call.clone())));
            if number == 2 {
                let approval = log.ask(&call, 1);
                log.decide(&approval, desk::approve(None));
                call.verdict = verdict(DecidedBy::Person, true);
            } else {
                call.verdict = verdict(DecidedBy::Policy, true);
            }
            call.began = Some(Timestamp(log.now));
            log.put(item, ItemStatus::Running, ItemKind::Call(Box::new(call.clone())));
            call.output = output(
                true,
                40 + u64::from(iteration),
                &"a line of some output\n".repeat(60),
            );
            log.put(item, ItemStatus::Done, ItemKind::Call(Box::new(call)));
        }
        log.now += 30_000;
    }
    log.end(TurnEnd::Completed, 60_000, 20_000);
}

fn timed<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let begun = Instant::now();
    let result = work();
    println!("{what:<56} {:>9.2} ms", begun.elapsed().as_secs_f64() * 1e3);
    result
}

fn main() {
    let desk = Desk::new();
    let mut logs: Vec<Log> = Vec::new();
    for number in 0..SESSIONS {
        let mut log = Log::begin(
            &format!("s{number}"),
            BEGUN + number * 3_600_000,
            config("/orchard", "small", None),
        );
        while log.events.len() < EVENTS {
            turn(&mut log);
        }
        desk.write(&log.events);
        logs.push(log);
    }
    let events: usize = logs.iter().map(|log| log.events.len()).sum();
    println!("{SESSIONS} sessions, {events} events");
    let all = MetricsQuery::default();
    let now = BEGUN + 40 * 86_400_000;
    let first = timed("first reading of all logs and a question", || {
        desk.metrics(&all, now)
    });
    timed("the same question again", || desk.metrics(&all, now));
    for log in logs.iter_mut().take(3) {
        let from = log.events.len();
        turn(log);
        desk.write(&log.events[from..]);
        timed("a question after one new turn", || desk.metrics(&all, now));
    }
    let last = MetricsQuery {
        days: Some(37),
        ..all.clone()
    };
    timed("figures of the last days", || desk.metrics(&last, now));
    let lines = timed("decision log, newest 200", || {
        paddock_store::index::decisions(&desk.home, &all, 200, Timestamp(now)).unwrap()
    });
    assert_eq!(lines.len(), 200);
    assert_eq!(desk.metrics(&all, now).turns, first.turns + 3);
    println!(
        "{:<56} {:>9.2} MiB",
        "size of the index",
        std::fs::metadata(desk.index()).unwrap().len() as f64 / 1024.0 / 1024.0
    );
}
