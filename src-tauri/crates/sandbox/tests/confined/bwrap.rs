//! The same walls made by the system's bubblewrap: every case of the other groups once more, in a copy of this program whose
//! own way to make namespaces is refused by a call filter. What does not hold there is listed by name.

use std::process::Output;

use libtest_mimic::{Failed, Trial};
use paddock_sandbox::Tier;

use crate::bed::{Bed, Case, NOBODY, copy_of_this_program, is_root, needs, own_account};
use crate::reduced;

pub const CASES: &[Case] = &[("facts_by_bwrap", facts)];

/// What an older bubblewrap, which cannot layer folders, does not give.
const WITHOUT_LAYERS: &[&str] = &["work_caches_are_kept"];

/// All cases as an ordinary account; as root those that only root could break.
pub fn trials() -> Vec<Trial> {
    if std::env::var_os(reduced::SWITCH).is_some() {
        return Vec::new();
    }
    let mut trials = vec![Trial::test("bwrap_everything", || {
        everything(if is_root() { NOBODY } else { own_account() }, "")
    })];
    if is_root() {
        for group in ["escape_", "battery_setting", "proof"] {
            let name = format!("bwrap_as_root_{}", group.trim_end_matches('_'));
            trials.push(Trial::test(name, move || everything(own_account(), group)));
        }
    }
    trials
}

/// Runs the cases whose name has this in it; those that are known not to hold must fail.
fn everything(account: u32, names: &str) -> Result<(), Failed> {
    if !needs("bwrap") {
        return Ok(());
    }
    let copy = copy_of_this_program(account, Some(reduced::OWN));
    let run = |arguments: &[&str]| copy.run(arguments);
    let facts = run(&["facts_by_bwrap", "--exact", "--nocapture"]);
    if !facts.status.success() {
        return Err(said(&facts).into());
    }
    let has_layers = said(&facts).contains("layers: true");
    let known: &[&str] = if has_layers { &[] } else { WITHOUT_LAYERS };
    let mut arguments = vec![names, "--test-threads", "2"];
    let others = ["ordinary_account", "reduced_", "facts_by_bwrap"];
    arguments.extend(others.iter().chain(known).flat_map(|name| ["--skip", name]));
    let all = run(&arguments);
    if !all.status.success() || said(&all).contains(" 0 passed") {
        return Err(said(&all).into());
    }
    for name in known.iter().filter(|name| name.contains(names)) {
        let still = run(&[name, "--exact"]);
        if still.status.success() {
            return Err(format!("{name} holds now").into());
        }
    }
    Ok(())
}

fn said(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + &text(&output.stderr)
}

/// In the copy: that it is this way which is tried there.
fn facts(bed: &Bed) {
    let facts = bed.confinement.facts();
    if std::env::var(reduced::SWITCH).as_deref() != Ok(reduced::OWN) {
        assert!(!facts.summary.contains("bubblewrap"), "{facts:#?}");
        return;
    }
    assert_eq!(facts.tier, Tier::Full, "{facts:#?}");
    assert!(facts.summary.contains("bubblewrap"), "{facts:#?}");
    println!("layers: {}", !facts.gaps.iter().any(|gap| gap.contains("layer")));
}
