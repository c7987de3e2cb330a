//! Commands on the real kernel: escapes that must fail, and ordinary work that must go on working. Everything runs as the
//! account of the test run; as root, everything runs once more as an ordinary account.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test that cannot go on may panic, and its runner prints"
)]

#[cfg(target_os = "linux")]
mod bed;
#[cfg(target_os = "linux")]
mod ends;
#[cfg(target_os = "linux")]
mod escapes;
#[cfg(target_os = "linux")]
mod leftovers;
#[cfg(target_os = "linux")]
mod work;

fn main() {
    paddock_sandbox::run_helper_if_asked();
    #[cfg(target_os = "linux")]
    bed::act_as_app_if_asked();
    #[cfg(target_os = "linux")]
    bed::run(&[escapes::CASES, ends::CASES, leftovers::CASES, work::CASES]);
}
