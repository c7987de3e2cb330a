//! Deterministic simulation of session actors: a seeded scheduler drives a session and its sub-agents with a scripted
//! model, tools, processes, files, a clock, a person, another session on the same folder, late and doubled answers, and
//! deaths at any event; the invariants of ARCHITECTURE.md are checked at every event and effect.
//!
//! `PADDOCK_SCHEDULES=n` sets the number of schedules, `PADDOCK_FIRST=s` the first seed, `PADDOCK_FAILURES=f` after
//! how many different failures to end; `PADDOCK_SEED=s` replays one schedule and prints its events.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr
)]

mod actor;
mod checks;
mod coverage;
mod dice;
mod model;
mod person;
mod seat;
mod states;
mod tools;
mod wishes;
mod work;
mod world;

use coverage::Coverage;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use world::World;

const SCHEDULES: u64 = 20_000;
/// These showed faults that are too rare for a run of the tests; they mean something as long as the dice fall as they did.
const RARE: [u64; 1] = [861_979];
/// A sign of life of a long run.
const REPORT_EVERY: Duration = Duration::from_secs(10);

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

#[derive(Default)]
struct Sum {
    ends: BTreeMap<String, u64>,
    coverage: Coverage,
    /// What failed and where, with the first seed that showed it.
    failures: BTreeMap<String, (u64, String)>,
}

thread_local! {
    /// Place and words of the newest panic of this thread.
    static FAULT: RefCell<(String, String)> = RefCell::default();
}

/// Failures are gathered and told once, not printed as they come.
fn gather_panics() {
    std::panic::set_hook(Box::new(|info| {
        let place = info.location().map(ToString::to_string).unwrap_or_default();
        let words = info.payload_as_str().unwrap_or_default().to_owned();
        FAULT.set((place, words));
    }));
}

#[test]
fn every_schedule_keeps_the_invariants_and_ends_properly() {
    if let Some(seed) = number("PADDOCK_SEED") {
        let end = World::new(seed, true).run();
        println!("seed {seed} ends: {end}");
        return;
    }
    let schedules = number("PADDOCK_SCHEDULES").unwrap_or(SCHEDULES);
    let first = number("PADDOCK_FIRST").unwrap_or(0);
    let begun = Instant::now();
    gather_panics();
    let sum = run(first, schedules, begun);
    let _ = std::panic::take_hook();
    for (place, (seed, words)) in &sum.failures {
        println!("seed {seed} fails at {place}: {words}");
        println!("`cargo xtask simulate --seed {seed}` replays it");
    }
    assert!(
        sum.failures.is_empty(),
        "{} invariants were broken",
        sum.failures.len()
    );
    let rate = schedules as f64 / begun.elapsed().as_secs_f64();
    println!("{schedules} schedules, {rate:.0} a second: {:?}", sum.ends);
    if schedules >= SCHEDULES {
        let missing = sum.coverage.missing();
        assert!(missing.is_empty(), "no schedule reached {missing:?}");
    }
    for end in ["Completed", "Stopped", "Failed"] {
        assert!(
            sum.ends.contains_key(end),
            "no schedule ended as {end}: the simulation does not reach it"
        );
    }
}

#[test]
fn rare_faults_stay_mended() {
    for seed in RARE {
        World::new(seed, false).run();
    }
}

/// Runs the schedules of `count` seeds on all cores; failures are gathered with their seeds.
fn run(first: u64, count: u64, begun: Instant) -> Sum {
    let failures = number("PADDOCK_FAILURES").unwrap_or(1);
    let next = AtomicU64::new(first);
    let until = first + count;
    let sum = Mutex::new(Sum::default());
    let reported = Mutex::new(begun);
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                let mut own = Sum::default();
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= until {
                        break;
                    }
                    let schedule = || {
                        let mut world = World::new(seed, false);
                        let end = world.run();
                        (end, world.coverage)
                    };
                    match std::panic::catch_unwind(schedule) {
                        Ok((end, coverage)) => {
                            *own.ends.entry(end).or_default() += 1;
                            own.coverage.join(&coverage);
                        }
                        Err(_) => {
                            let (place, words) = FAULT.take();
                            let mut sum = sum.lock().unwrap();
                            let first = sum.failures.entry(place).or_insert((seed, words.clone()));
                            if seed < first.0 {
                                *first = (seed, words);
                            }
                            if sum.failures.len() as u64 >= failures {
                                next.store(until, Ordering::Relaxed);
                            }
                        }
                    }
                    progress(seed - first, count, begun, &reported);
                }
                let mut sum = sum.lock().unwrap();
                for (end, times) in own.ends {
                    *sum.ends.entry(end).or_default() += times;
                }
                sum.coverage.join(&own.coverage);
            });
        }
    });
    sum.into_inner().unwrap()
}

fn progress(done: u64, of: u64, begun: Instant, reported: &Mutex<Instant>) {
    if !done.is_multiple_of(256) {
        return;
    }
    let mut last = reported.lock().unwrap();
    if last.elapsed() >= REPORT_EVERY {
        *last = Instant::now();
        let rate = done as f64 / begun.elapsed().as_secs_f64();
        println!("{done} of {of} schedules, {rate:.0} a second");
    }
}
