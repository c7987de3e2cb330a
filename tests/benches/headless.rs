//! What `paddock run` costs by itself: a project of 200 files, and a server on this machine that answers at once. Prints what
//! was measured beside what is aimed at. The program is built optimised first, unless PADDOCK_BIN names one.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark that cannot go on may panic, and prints"
)]

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use paddock_tests::model_server::{ModelServer, calls, text};
use paddock_tests::sessions::{Bed, Ran};
use serde_json::json;

const FILES: usize = 200;
const STARTS: usize = 20;
const LOOPS: usize = 5;
const ITERATIONS: usize = 100;

fn main() {
    if std::env::var_os("PADDOCK_BIN").is_none() {
        build();
    }
    let bed = Bed::new().unwrap();
    for number in 0..FILES {
        let content = format!("fn number_{number}() -> usize {{\n    {number}\n}}\n\n").repeat(20);
        bed.put(&file(number), &content).unwrap();
    }
    let starts: Vec<(Duration, usize)> = (0..STARTS).map(|_| start(&bed)).collect();
    let loops: Vec<Loop> = (0..LOOPS).map(|_| iterate(&bed)).collect();

    println!("{:34} {:>10} {:>10}   aim", "", "least", "median");
    let milliseconds =
        |times: &mut dyn Iterator<Item = Duration>| times.map(|time| time.as_secs_f64() * 1e3).collect();
    line(
        "start to first request, ms",
        milliseconds(&mut starts.iter().map(|start| start.0)),
        50.0,
    );
    let work = |part: fn(&Loop) -> Duration| milliseconds(&mut loops.iter().map(part));
    line("own CPU per iteration, ms", work(|run| run.cpu), 1.0);
    line("  in the first ten", work(|run| run.first_cpu), f64::INFINITY);
    line("  in the last ten", work(|run| run.last_cpu), f64::INFINITY);
    line("answer to next request, ms", work(|run| run.gap), f64::INFINITY);
    line(
        "peak memory, MB",
        loops.iter().map(|run| run.peak as f64 / 1e3).collect(),
        18.0,
    );
    line(
        "bytes of the first request",
        starts.iter().map(|start| start.1 as f64).collect(),
        8_000.0,
    );
}

fn line(what: &str, mut values: Vec<f64>, aim: f64) {
    values.sort_by(f64::total_cmp);
    let median = values[values.len() / 2];
    let aim = match aim {
        aim if aim.is_infinite() => String::new(),
        aim if median < aim => format!("< {aim}"),
        aim => format!("< {aim}  MISSED"),
    };
    println!("{what:34} {:10.2} {median:10.2}   {aim}", values[0]);
}

/// Builds the program into the folder from which this one runs.
fn build() {
    let own = std::env::current_exe().unwrap();
    let profile = own.ancestors().nth(2).unwrap();
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
    cargo
        .args([
            "build",
            "--quiet",
            "--release",
            "--package",
            "paddock-cli",
            "--target-dir",
        ])
        .arg(profile.parent().unwrap())
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")));
    assert!(cargo.status().unwrap().success(), "paddock could not be built");
    assert_eq!(
        profile.file_name().unwrap(),
        "release",
        "this is a benchmark: run it with `cargo xtask bench headless`"
    );
}

fn file(number: usize) -> String {
    format!("src/part{}/file{number}.rs", number % 10)
}

/// Time from the start of the program to the arrival of its first request, and the size of that.
fn start(bed: &Bed) -> (Duration, usize) {
    let server = ModelServer::scripted(vec![text("Done.")]).unwrap();
    let mut command = bed.run_command(&server.url(), &["say done"]).unwrap();
    let begun = Instant::now();
    Ran::of(command.output().unwrap()).exits(0);
    let first = server.received().swap_remove(0);
    (first.at - begun, first.body.len())
}

/// Means over the iterations of one run.
struct Loop {
    cpu: Duration,
    first_cpu: Duration,
    last_cpu: Duration,
    /// From the last byte of an answer to the arrival of the next request.
    gap: Duration,
    /// In kB.
    peak: u64,
}

/// One request of a run: when it came and was answered, what the program had used by then.
struct Seen {
    came: Instant,
    answered: Instant,
    cpu: Duration,
    peak: u64,
}

fn iterate(bed: &Bed) -> Loop {
    let process: Arc<Mutex<u32>> = Arc::default();
    let seen: Arc<Mutex<Vec<Seen>>> = Arc::default();
    let (of, all) = (process.clone(), seen.clone());
    let server = ModelServer::start(move |number, request| {
        let (cpu, peak) = usage(*of.lock().unwrap());
        let answer = match number {
            ITERATIONS => text("Done."),
            number => calls(&[(
                &format!("c{number}"),
                "read_file",
                json!({ "path": file(number) }),
            )]),
        };
        let answered = Instant::now();
        all.lock().unwrap().push(Seen {
            came: request.at,
            answered,
            cpu,
            peak,
        });
        answer
    })
    .unwrap();
    let most = (ITERATIONS + 1).to_string();
    let mut command = bed
        .run_command(&server.url(), &["--max-iterations", &most, "read them all"])
        .unwrap();
    let child = {
        let mut process = process.lock().unwrap();
        let child = command.stdout(Stdio::null()).spawn().unwrap();
        *process = child.id();
        child
    };
    Ran::of(child.wait_with_output().unwrap()).exits(0);
    let seen = seen.lock().unwrap();
    assert_eq!(seen.len(), ITERATIONS + 1);
    let cpu = |from: usize, to: usize| (seen[to].cpu - seen[from].cpu) / u32::try_from(to - from).unwrap();
    let gaps: Duration = seen.windows(2).map(|pair| pair[1].came - pair[0].answered).sum();
    Loop {
        cpu: cpu(0, ITERATIONS),
        first_cpu: cpu(0, 10),
        last_cpu: cpu(ITERATIONS - 10, ITERATIONS),
        gap: gaps / u32::try_from(ITERATIONS).unwrap(),
        peak: seen[ITERATIONS].peak,
    }
}

/// Processor time of all threads, and the peak of resident memory in kB. Nothing where there is no /proc.
fn usage(process: u32) -> (Duration, u64) {
    let threads = std::fs::read_dir(format!("/proc/{process}/task"));
    let nanoseconds = threads
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
    (Duration::from_nanos(nanoseconds), peak.unwrap_or_default())
}
