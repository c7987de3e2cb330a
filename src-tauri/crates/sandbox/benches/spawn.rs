//! What the sandbox adds to the start and end of a command: `true` by the shell, confined and not, in an empty project and in one
//! with many files and packages, which is looked at before and after. Prints the least and the median of the runs in
//! microseconds; the aim is at most 4 ms added at the least and 8 ms at the median.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test that cannot go on may panic, and its runner prints"
)]

use std::path::Path;
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
    let shell = if Path::new("/bin/bash").exists() {
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
    report("without a sandbox", &plain, None);
    let confined = |root: &ProjectRoot| {
        measured(|| {
            let spec = CommandSpec::shell(root.clone(), StateDir::new(place.path().join("state")), "true");
            let (sink, mut output) = tokio::sync::mpsc::channel(8);
            let running = confinement.start(spec, sink).unwrap();
            while output.blocking_recv().is_some() {}
            assert!(running.wait_blocking().exit.is_success());
        })
    };
    report("confined", &confined(&root), Some(&plain));
    fill(&project);
    report(
        "confined, with 2,100 files of packages",
        &confined(&root),
        Some(&plain),
    );
}

/// Two hundred files of one's own, and three hundred packages.
fn fill(project: &Path) {
    let put = |folder: String, files: usize| {
        let folder = project.join(folder);
        std::fs::create_dir_all(&folder).unwrap();
        for file in 0..files {
            std::fs::write(folder.join(format!("file-{file}.js")), "x").unwrap();
        }
    };
    for folder in 0..20 {
        put(format!("src/part-{folder}"), 10);
    }
    for package in 0..300 {
        put(format!("node_modules/package-{package}"), 3);
        put(format!("node_modules/package-{package}/lib"), 4);
    }
}

fn report(name: &str, times: &[Duration], plain: Option<&[Duration]>) {
    let (least, median) = (times[0], times[RUNS / 2]);
    let added = plain.map(|plain| {
        let (least, median) = (
            least.saturating_sub(plain[0]),
            median.saturating_sub(plain[RUNS / 2]),
        );
        format!(
            "; added: least {} µs, median {} µs",
            least.as_micros(),
            median.as_micros()
        )
    });
    println!(
        "{name}: least {} µs, median {} µs{}",
        least.as_micros(),
        median.as_micros(),
        added.unwrap_or_default()
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
