//! What the fence says of itself: everything held where it is, and the holes are seen where it is not.

use std::time::Instant;

use paddock_sandbox::{Confinement, Trial, TrialOutcome, Unconfined};

use crate::bed::{Bed, Case};

pub const CASES: &[Case] = &[
    ("proof_of_the_full_tier", full),
    ("proof_without_a_sandbox", none),
];

fn of(trials: &[Trial], outcome: TrialOutcome) -> Vec<&str> {
    trials
        .iter()
        .filter(|trial| trial.outcome == outcome)
        .map(|trial| trial.key)
        .collect()
}

fn full(bed: &Bed) {
    let began = Instant::now();
    let trials = bed.confinement.prove(&bed.state());
    println!("  (tried in {} ms)", began.elapsed().as_millis());
    assert_eq!(of(&trials, TrialOutcome::Broken), [""; 0], "{trials:#?}");
    assert_eq!(of(&trials, TrialOutcome::NotTried), [""; 0], "{trials:#?}");
    assert_eq!(trials.len(), 17);
    let left: Vec<_> = std::fs::read_dir(bed.state().path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert!(left.is_empty(), "the trials left {left:?}");
}

/// Every hole must be seen where nothing holds: so a trial that says that it held means something.
fn none(bed: &Bed) {
    let trials = Unconfined::new("No sandbox in this test.").prove(&bed.state());
    assert_eq!(
        of(&trials, TrialOutcome::Broken),
        [
            "write_outside",
            "write_climbing",
            "write_through_link",
            "read_secret",
            "read_own_data",
            "read_secret_file",
            "git_hook",
            "connect",
            "connect_unix",
            "other_processes",
            "survivor",
            "process_limit",
            "environment",
        ],
        "{trials:#?}"
    );
    assert_eq!(of(&trials, TrialOutcome::NotTried), ["ask_first"]);
}
