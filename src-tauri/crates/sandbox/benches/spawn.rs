//! What the sandbox adds to the start and end of a command: `true` by the shell, confined and not. Prints the least and the
//! median of the runs in microseconds; the aim is at most 4 ms added at the least and 8 ms at the median.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test that cannot go on may panic, and its runner prints"
)]

use std::process::Command;
use std::time::{Duration, Instant};

use paddock_sandbox::{CommandSpec, HelperProgram, ProjectRoot, StateDir, for_this_machine};

const RUNS: usize = 100;

fn main() {
    paddock_sandbox::run_helper_if_asked();
    let place = tempfile::tempdir().unwrap();
    let project = place.path().join("project");
    std::fs::create_dir(&project).unwrap();
    let root = ProjectRoot::open(&project).unwrap();
    let confinement = for_this_machine(HelperProgram::current());
    println!("{}", confinement.facts().summary);

    // The shell that lines of commands run in.
    let shell = if std::path::Path::new("/bin/bash").exists() {
        "/bin/bash"
    } else {
        "/bin/sh"
    };
    let plain = measured(|| {
        assert!(
            Command::new(shell)
                .args(["-c", "true"])
                .status()
                .unwrap()
                .success()
        );
    });
    let confined = measured(|| {
        let spec = CommandSpec::shell(root.clone(), StateDir::new(place.path().join("state")), "true");
        let (sink, mut output) = tokio::sync::mpsc::channel(8);
        let running = confinement.start(spec, sink).unwrap();
        while output.blocking_recv().is_some() {}
        assert!(running.wait_blocking().exit.is_success());
    });
    for (name, times) in [("without a sandbox", &plain), ("confined", &confined)] {
        println!(
            "{name}: least {} µs, median {} µs",
            times[0].as_micros(),
            times[RUNS / 2].as_micros()
        );
    }
    println!(
        "added: least {} µs, median {} µs",
        (confined[0] - plain[0]).as_micros(),
        (confined[RUNS / 2].saturating_sub(plain[RUNS / 2])).as_micros()
    );
}

fn measured(run: impl Fn()) -> Vec<Duration> {
    let mut times: Vec<Duration> = (0..RUNS)
        .map(|_| {
            let started = Instant::now();
            run();
            started.elapsed()
        })
        .collect();
    times.sort();
    times
}
