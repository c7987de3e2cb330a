//! What `paddock` costs without a window: its start, the way to the first request, its own work per iteration, its memory,
//! and the size of the first request, on a project of 200 files and against a server that answers at once.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

#[path = "../tests/program/bed.rs"]
#[allow(dead_code)]
mod bed;

use bed::{Bed, Ran, Reply, Server, call};
use serde_json::json;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const FILES: usize = 200;
const ITERATIONS: usize = 50;
const RUNS: usize = 10;

fn main() {
    let bed = Bed::new();
    for n in 0..FILES {
        let text = format!("fn number_{n}() -> usize {{\n    {n}\n}}\n").repeat(20);
        std::fs::create_dir_all(bed.project().join(format!("src/part{}", n % 10))).unwrap();
        std::fs::write(bed.project().join(format!("src/part{}/file{n}.rs", n % 10)), text).unwrap();
    }
    let versions = sorted((0..RUNS).map(|_| {
        let begun = Instant::now();
        bed.run(&["--version"]);
        begun.elapsed()
    }));
    show("--version", &versions);

    let runs: Vec<Measured> = (0..RUNS).map(|_| measured(&bed)).collect();
    show(
        "start to first request",
        &sorted(runs.iter().map(|run| run.first)),
    );
    show(
        "time per iteration, with the server",
        &sorted(runs.iter().map(|run| run.wall)),
    );
    if cfg!(target_os = "linux") {
        show(
            "own work per iteration (CPU)",
            &sorted(runs.iter().map(|run| run.cpu)),
        );
        let peak = runs.iter().map(|run| run.peak).max().unwrap_or_default();
        println!(
            "peak memory after {ITERATIONS} iterations: {:.1} MB",
            peak as f64 / 1e3
        );
    }
    println!("bytes of the first request: {}", runs[0].bytes);
}

struct Measured {
    first: Duration,
    wall: Duration,
    cpu: Duration,
    /// In kB.
    peak: u64,
    bytes: usize,
}

/// When a request came, how long the program had worked by then, and the most memory it had had.
type Seen = Vec<(Instant, Duration, u64)>;

fn measured(bed: &Bed) -> Measured {
    let mut script: Vec<Reply> = (0..ITERATIONS)
        .map(|n| {
            let path = format!("src/part{}/file{n}.rs", n % 10);
            call("read_file", json!({ "path": path }))
        })
        .collect();
    script.push(Reply::Text("Done."));
    let process: Arc<Mutex<Option<u32>>> = Arc::default();
    let seen: Arc<Mutex<Seen>> = Arc::default();
    let (of, kept) = (process.clone(), seen.clone());
    let server = Server::start_watched(script, move |_| {
        let now = Instant::now();
        let (cpu, peak) = of.lock().unwrap().map(usage).unwrap_or_default();
        kept.lock().unwrap().push((now, cpu, peak));
    });
    let most = (ITERATIONS + 1).to_string();
    let words = ["--max-iterations", &most, "--format", "jsonl", "read them all"];
    let begun = Instant::now();
    let child = {
        let mut process = process.lock().unwrap();
        let child = bed.command_at(&server, &words).spawn().unwrap();
        *process = Some(child.id());
        child
    };
    Ran::of(child.wait_with_output().unwrap()).exits(0);
    let seen = seen.lock().unwrap();
    let (first, last) = (seen[0], seen[ITERATIONS]);
    Measured {
        first: first.0 - begun,
        wall: (last.0 - first.0) / ITERATIONS as u32,
        cpu: last.1.saturating_sub(first.1) / ITERATIONS as u32,
        peak: last.2,
        bytes: server.bodies()[0].len(),
    }
}

/// Time on a processor of all threads so far, and the peak of resident memory in kB.
fn usage(process: u32) -> (Duration, u64) {
    let threads = std::fs::read_dir(format!("/proc/{process}/task"));
    let cpu = threads
        .into_iter()
        .flatten()
        .filter_map(|thread| std::fs::read_to_string(thread.ok()?.path().join("schedstat")).ok())
        .filter_map(|line| line.split(' ').next()?.parse::<u64>().ok())
        .sum();
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let peak = status.lines().find_map(|line| {
        line.strip_prefix("VmHWM:")?
            .trim()
            .strip_suffix(" kB")?
            .parse()
            .ok()
    });
    (Duration::from_nanos(cpu), peak.unwrap_or_default())
}

fn sorted(times: impl Iterator<Item = Duration>) -> Vec<Duration> {
    let mut times: Vec<Duration> = times.collect();
    times.sort();
    times
}

fn show(what: &str, times: &[Duration]) {
    println!(
        "{what}: least {:.2} ms, median {:.2} ms",
        times[0].as_secs_f64() * 1e3,
        times[times.len() / 2].as_secs_f64() * 1e3
    );
}
