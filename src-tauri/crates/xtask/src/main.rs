//! `cargo xtask`: everything a person or a build machine does with this repository, as one small program that compiles
//! in seconds. It runs other programs, says what they do and how long they take, and never needs one that is not there:
//! `setup` names or installs what is missing before anything is built.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a terminal program talks to its terminal"
)]

mod bench;
mod bindings;
mod breakages;
mod catalogue;
mod check;
mod cross;
mod fuzz;
mod house;
mod page;
mod process;
mod run;
mod setup;
mod simulate;
mod states;
mod system;
mod test;
mod window_session;
mod workspace;

use std::process::ExitCode;

use anyhow::{Result, bail};

const USAGE: &str = "\
cargo xtask COMMAND

  run [--release] [-- ARGS]   build everything and open the window on the demo; without a display, run the demo here
  setup [--tests] [--list]    install what is missing, or say what to install; --list only prints the package names
  test [PART ...] [-- FILTER] run the tests; parts: rust ui browser window (all when none is named), and
                              real: twenty small tasks with the model at PADDOCK_REAL_MODEL_URL
  check [--fast]              format, lints, house rules, types; --fast leaves out the types for Windows and macOS
  bench [FILTER]              measure
  fuzz [SECONDS]              run the fuzz targets, each for 20 seconds or as long as asked
  simulate [N | --seed S]     run N schedules of the simulation (1,000,000), or replay one
  breakages [FILTER]          break a copy of the rules, one line at a time, and see each breakage caught
  states                      write the table of states in ARCHITECTURE.md from what the rules do
  bindings                    write the page's TypeScript twins of the protocol
  catalogue                   write the catalogue of models anew; needs Python 3.11 with pip, npm and the network once";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match dispatch(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("\n{error:#}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(words: &[&str]) -> Result<()> {
    match words {
        ["run", rest @ ..] => run::run(rest),
        ["setup", rest @ ..] => setup::command(rest),
        ["test", rest @ ..] => test::test(rest),
        ["check", rest @ ..] => check::check(rest),
        ["bench", rest @ ..] => bench::bench(rest),
        ["fuzz", rest @ ..] => fuzz::fuzz(rest),
        ["simulate", rest @ ..] => simulate::simulate(rest),
        ["breakages", rest @ ..] => breakages::breakages(rest),
        ["states"] => states::write(),
        ["bindings"] => bindings::write(),
        ["catalogue"] => catalogue::write(),
        // Started by `test` and `bench` inside the session bus and the virtual display.
        ["window-session", job, rest @ ..] => window_session::inside(job, rest),
        ["help" | "--help" | "-h"] => {
            println!("{USAGE}");
            Ok(())
        }
        [] => bail!("Say what to do.\n\n{USAGE}"),
        _ => bail!("`cargo xtask {}` is not a command.\n\n{USAGE}", words.join(" ")),
    }
}
