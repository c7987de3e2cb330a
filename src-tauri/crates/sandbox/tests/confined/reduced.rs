//! The tier between: the same program where no namespaces can be made. That is arranged by a call filter over a copy of this
//! program, as a container has it, so the choice of the tier is tried too. What does not hold there is listed by name, and
//! exactly that.

use paddock_sandbox::{Tier, TrialOutcome};

use crate::bed::{Bed, Case};
use crate::{battery, ends, work};

/// The name of the variable that makes a copy of this program take namespaces from itself: `ALL`, or only those it would
/// make in the way it does, `OWN`, so that other programs can still make them.
pub const SWITCH: &str = "PADDOCK_TEST_WITHOUT_NAMESPACES";
pub const ALL: &str = "all";
pub const OWN: &str = "own";

/// Cases of other groups that hold here too.
const SHARED: &[&str] = &[
    "end_exact_exit_codes",
    "end_background_processes",
    "end_survivors_in_other_sessions",
    "end_stop",
    "end_stop_of_one_that_ignores_it",
    "end_time_limit",
    "end_drop",
    "end_app_killed",
    "end_fork_bomb",
    "end_memory",
    "end_file_size",
    "end_disk",
    "end_output_limit",
    "end_order_of_joined_streams",
    "end_missing_program",
    "end_missing_folder",
    "end_replaced_project",
    "end_grants",
    "work_git",
    "work_compiler_and_make",
    "work_cargo",
    "work_pipes_and_substitutions",
    "work_background_jobs",
    "work_large_output",
    "work_links_modes_and_times",
    "work_file_watching",
    "work_archives",
];

const CASES: &[Case] = &[
    ("facts", facts),
    ("battery", battery),
    ("proof", proof),
    ("look_only", look_only),
    ("hosts_cannot_be_asked_about", hosts),
    ("contents_are_brought_back", brought_back),
];

/// Every case of this tier, by the name without `reduced_`.
pub fn cases() -> impl Iterator<Item = Case> {
    let shared = ends::CASES
        .iter()
        .chain(work::CASES)
        .filter(|(name, _)| SHARED.contains(name));
    CASES.iter().chain(shared).copied()
}

/// Makes no namespaces possible for this process and what it starts, when it was asked to.
pub fn give_up_namespaces_if_asked() {
    use seccompiler::{
        BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
        SeccompRule,
    };
    let calls = match std::env::var(SWITCH).as_deref() {
        Ok(ALL) => vec![
            (libc::SYS_unshare, libc::CLONE_NEWUSER),
            (libc::SYS_clone, libc::CLONE_NEWUSER),
        ],
        // The helper takes all of them with one call of this kind, bubblewrap with one of another kind.
        Ok(OWN) => vec![(libc::SYS_unshare, libc::CLONE_NEWUSER | libc::CLONE_NEWPID)],
        _ => return,
    };
    let refused = |flags: i32| {
        let flags = u64::from(flags.unsigned_abs());
        let compare = SeccompCmpOp::MaskedEq(flags);
        let set = SeccompCondition::new(0, SeccompCmpArgLen::Dword, compare, flags);
        vec![SeccompRule::new(vec![set.unwrap()]).unwrap()]
    };
    let rules = calls.into_iter().map(|(call, flags)| (call, refused(flags)));
    let filter = SeccompFilter::new(
        rules.collect(),
        SeccompAction::Allow,
        SeccompAction::Errno(libc::EPERM.unsigned_abs()),
        std::env::consts::ARCH.try_into().unwrap(),
    );
    let program: BpfProgram = filter.unwrap().try_into().unwrap();
    seccompiler::apply_filter_all_threads(&program).unwrap();
}

fn facts(bed: &Bed) {
    let facts = bed.confinement.facts();
    assert_eq!(facts.tier, Tier::Reduced, "{facts:#?}");
    assert!(!facts.is_confined() && facts.gaps.len() > 3 && facts.remedy.is_some());
}

/// What leads out here, and nothing else may.
fn battery(_: &Bed) {
    let found: Vec<&str> = battery::all()
        .filter(|escape| escape.leads_out(&Bed::new()))
        .map(|escape| escape.name)
        .collect();
    assert_eq!(found, KNOWN);
}

const KNOWN: &[&str] = &[
    "change_mode",
    "change_mode_through_link",
    "change_times",
    "change_attributes",
    "read_facts",
    "read_a_secret_file_of_the_project",
    "read_a_secret_file_by_a_hard_link",
    "ports_of_the_machine",
    "see_its_line",
    "see_it_in_the_list",
];

fn proof(bed: &Bed) {
    let trials = bed.confinement.prove(&bed.state());
    let broken: Vec<_> = trials
        .iter()
        .filter(|trial| trial.outcome == TrialOutcome::Broken)
        .map(|trial| trial.key)
        .collect();
    assert_eq!(broken, ["read_secret_file", "other_processes"], "{trials:#?}");
}

fn look_only(bed: &Bed) {
    bed.put("file", "kept");
    let mut spec =
        bed.spec("echo x > new; echo x > file; rm file; mkdir folder; cat file; echo x > \"$TMPDIR\"/t");
    spec.root = bed.root.read_only();
    let outcome = bed.run_spec(spec);
    assert!(
        outcome.end.exit.is_success() && outcome.stdout == "kept",
        "{outcome:#?}"
    );
    assert!(bed.has("file") && !bed.has("new") && !bed.has("folder"));
}

fn hosts(bed: &Bed) {
    let mut spec = bed.spec("echo \"proxy:$http_proxy\"; curl -sS https://example.invalid/x");
    spec.network = paddock_sandbox::Network::Asks;
    let outcome = bed.run_spec(spec);
    assert_eq!(outcome.stdout, "proxy:\n");
    assert!(!outcome.end.exit.is_success());
}

fn brought_back(bed: &Bed) {
    bed.git(".", &["init", "-q"]);
    bed.put(".git/hooks/pre-push", "mine");
    let outcome = bed.run(
        "echo evil > .git/hooks/pre-push; echo evil > .git/hooks/pre-commit; git config core.fsmonitor ./evil; echo evil > .envrc",
    );
    let mut moved: Vec<_> = outcome
        .end
        .quarantined
        .iter()
        .map(|moved| moved.path.as_str())
        .collect();
    moved.sort_unstable();
    assert_eq!(
        moved,
        [
            ".envrc",
            ".git/config",
            ".git/hooks/pre-commit",
            ".git/hooks/pre-push"
        ],
        "{outcome:#?}"
    );
    let read = |path: &str| std::fs::read_to_string(bed.project().join(path)).unwrap_or_default();
    assert_eq!(read(".git/hooks/pre-push"), "mine");
    assert!(!read(".git/config").contains("evil") && read(".git/config").contains("[core]"));
    assert!(!bed.has(".git/hooks/pre-commit") && !bed.has(".envrc"));
    bed.works("git status");
}
