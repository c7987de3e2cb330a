//! Commands on the real kernel: escapes that must fail, and ordinary work that must go on working. Everything runs as the
//! account of the test run; as root, everything runs once more as an ordinary account.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test that cannot go on may panic, and says what it could not try"
)]

#[cfg(target_os = "linux")]
mod battery;
#[cfg(target_os = "linux")]
mod bed;
#[cfg(target_os = "linux")]
mod bwrap;
#[cfg(target_os = "linux")]
mod ends;
#[cfg(target_os = "linux")]
mod escapes;
#[cfg(target_os = "linux")]
mod leftovers;
#[cfg(target_os = "linux")]
mod network;
#[cfg(target_os = "linux")]
mod proof;
#[cfg(target_os = "linux")]
mod reduced;
#[cfg(target_os = "linux")]
mod targets;
#[cfg(target_os = "linux")]
mod work;

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    paddock_sandbox::run_helper_if_asked();
    reduced::give_up_namespaces_if_asked();
    bed::act_as_app_if_asked();
    let groups: &[&[bed::Case]] = &[
        bwrap::CASES,
        escapes::CASES,
        ends::CASES,
        leftovers::CASES,
        network::CASES,
        proof::CASES,
        work::CASES,
    ];
    bed::run(groups, battery::all())
}

#[cfg(not(target_os = "linux"))]
fn main() -> std::process::ExitCode {
    libtest_mimic::run(&libtest_mimic::Arguments::from_args(), Vec::new()).exit_code()
}
