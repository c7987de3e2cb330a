//! How commands end: by themselves, by a stop, by the time limit, by limits, and with the app. Nothing may stay.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use paddock_sandbox::{Blocked, CommandExit, CommandSpec, Limit, PathGrant, Streams};

use crate::bed::{Bed, Case, is_running, marker, soon};

pub const CASES: &[Case] = &[
    ("end_exact_exit_codes", exit_codes),
    ("end_background_processes", background),
    ("end_survivors_in_other_sessions", survivors),
    ("end_stop", stop),
    ("end_stop_of_one_that_ignores_it", stop_ignored),
    ("end_time_limit", time_limit),
    ("end_drop", dropped),
    ("end_app_killed", app_killed),
    ("end_fork_bomb", fork_bomb),
    ("end_memory", memory),
    ("end_file_size", file_size),
    ("end_disk", disk),
    ("end_disk_of_others_does_not_count", disk_of_others),
    ("end_temporary_files_are_bounded", temporary_bound),
    ("end_output_limit", output_limit),
    ("end_order_of_joined_streams", joined),
    ("end_missing_program", missing_program),
    ("end_missing_folder", missing_folder),
    ("end_replaced_project", replaced),
    ("end_grants", grants),
    ("end_blocked_paths_are_named", blocked_paths),
    ("end_grants_that_are_never_given", never_granted),
    ("end_at_the_same_time", at_the_same_time),
];

fn exit_codes(bed: &Bed) {
    for code in [0, 1, 2, 42, 126, 127, 255] {
        assert_eq!(bed.run(&format!("exit {code}")).end.exit, CommandExit::Code(code));
    }
    assert_eq!(bed.run("kill -SEGV $$").end.exit, CommandExit::Signal(11));
    assert_eq!(
        bed.run("yes | head -n 1 >/dev/null; exit ${PIPESTATUS[0]}")
            .end
            .exit,
        CommandExit::Code(141)
    );
}

fn background(bed: &Bed) {
    let marker = marker();
    let outcome = bed.run(&format!("sleep {marker} & sleep {marker} & echo started"));
    assert_eq!(outcome.end.exit, CommandExit::Code(0));
    assert_eq!(outcome.end.processes_ended, 2);
    assert!(!is_running(&marker));
}

fn survivors(bed: &Bed) {
    let marker = marker();
    bed.run(&format!(
        "setsid -f sleep {marker}; (setsid setsid nohup sleep {marker} >/dev/null 2>&1 &); \
         trap '' TERM HUP INT; (trap '' TERM HUP INT; sleep {marker}) & disown; echo x"
    ));
    assert!(!is_running(&marker));
}

fn stop(bed: &Bed) {
    let marker = marker();
    let line = format!(
        "trap 'echo caught; exit 3' TERM; setsid -f sleep {marker}; echo ready; sleep {marker} & wait"
    );
    let (running, mut output) = bed.start(bed.spec(&line));
    let mut text = Vec::new();
    while let Some(chunk) = output.blocking_recv() {
        text.extend(chunk.bytes);
        if text.ends_with(b"ready\n") {
            break;
        }
    }
    assert!(soon(|| is_running(&marker)));
    let asked = Instant::now();
    running.stop();
    let end = running.wait_blocking();
    let took = asked.elapsed();
    assert_eq!(end.exit, CommandExit::Stopped);
    assert!(!is_running(&marker));
    assert!(took < Duration::from_millis(400), "{took:?}");
    while let Some(chunk) = output.blocking_recv() {
        text.extend(chunk.bytes);
    }
    assert!(text.ends_with(b"caught\n"), "asked before it was ended");
}

fn stop_ignored(bed: &Bed) {
    let marker = marker();
    let line = format!("trap '' TERM INT HUP; echo ready; sleep {marker}; sleep {marker}");
    let (running, mut output) = bed.start(bed.spec(&line));
    output.blocking_recv().unwrap();
    assert!(soon(|| is_running(&marker)));
    let asked = Instant::now();
    running.stop();
    assert_eq!(running.wait_blocking().exit, CommandExit::Stopped);
    assert!(
        asked.elapsed() < Duration::from_millis(1200),
        "{:?}",
        asked.elapsed()
    );
    assert!(!is_running(&marker));
}

fn time_limit(bed: &Bed) {
    let marker = marker();
    let mut spec = bed.spec(&format!("setsid -f sleep {marker}; sleep {marker}"));
    spec.time_limit = Some(Duration::from_millis(300));
    let outcome = bed.run_spec(spec);
    assert_eq!(outcome.end.exit, CommandExit::TimedOut);
    assert!(outcome.end.duration >= Duration::from_millis(300));
    assert!(!is_running(&marker));
}

fn dropped(bed: &Bed) {
    let marker = marker();
    let (running, output) = bed.start(bed.spec(&format!("sleep {marker}")));
    assert!(soon(|| is_running(&marker)));
    drop((running, output));
    assert!(soon(|| !is_running(&marker)));
}

/// Kills the program that runs commands, without any warning; the commands must go with it.
fn app_killed(bed: &Bed) {
    let marker = marker();
    let line = format!("trap '' TERM; setsid -f sleep {marker}; nohup sleep {marker} & sleep {marker}");
    let mut app = Command::new(std::env::current_exe().unwrap())
        .args([
            "--as-app",
            bed.project().to_str().unwrap(),
            bed.state().path().to_str().unwrap(),
            &line,
        ])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    assert!(soon(|| is_running(&format!("sleep\0{marker}"))));
    app.kill().unwrap();
    app.wait().unwrap();
    // The app's own command line held the marker too, so it is looked for after the app is gone.
    assert!(soon(|| !is_running(&marker)));
}

fn fork_bomb(bed: &Bed) {
    let marker = marker();
    let mut spec = bed.spec(&format!("for i in $(seq 3000); do sleep {marker} & done; wait"));
    spec.limits.processes = 200;
    let outcome = bed.run_spec(spec);
    let refused =
        outcome.stderr.contains("fork") || outcome.end.exit == CommandExit::LimitExceeded(Limit::Processes);
    assert!(refused, "{:?}", outcome.end);
    assert!(!is_running(&marker));
}

fn memory(bed: &Bed) {
    let mut spec =
        bed.spec("python3 -c 'b = [bytearray(1 << 20) for _ in range(4000)]; print(\"too much\")'");
    spec.limits.memory = 200 << 20;
    let outcome = bed.run_spec(spec);
    assert_eq!(
        outcome.end.exit,
        CommandExit::LimitExceeded(Limit::Memory),
        "{outcome:#?}"
    );
    let mut spec = bed.spec("python3 -c 'bytearray(1 << 30)'");
    spec.limits.process_memory = 200 << 20;
    assert!(bed.run_spec(spec).stderr.contains("MemoryError"));
}

fn file_size(bed: &Bed) {
    let mut spec = bed.spec("head -c 3000000 /dev/zero > big");
    spec.limits.file_size = 1_000_000;
    assert!(!bed.run_spec(spec).end.exit.is_success());
    assert_eq!(
        std::fs::metadata(bed.project().join("big")).unwrap().len(),
        1_000_000
    );
}

fn disk(bed: &Bed) {
    let mut spec = bed.spec("for i in $(seq 40); do head -c 20000000 /dev/zero > big$i; sleep 0.05; done");
    spec.limits.disk = 100_000_000;
    let outcome = bed.run_spec(spec);
    assert_eq!(
        outcome.end.exit,
        CommandExit::LimitExceeded(Limit::Disk),
        "{outcome:#?}"
    );
    assert!(!bed.has("big40"));
}

/// What another program writes at the same time is not the command's.
fn disk_of_others(bed: &Bed) {
    let mut spec = bed.spec("echo x > small; until [ -e go ]; do sleep 0.01; done; sleep 0.6");
    spec.limits.disk = 50_000_000;
    let (running, output) = bed.start(spec);
    drop(output);
    assert!(soon(|| bed.has("small")));
    std::fs::write(bed.outside().join("big"), vec![1; 120_000_000]).unwrap();
    bed.put("go", "");
    assert_eq!(running.wait_blocking().exit, CommandExit::Code(0));
}

/// Files in memory are no way around the limit of memory.
fn temporary_bound(bed: &Bed) {
    let mut spec = bed.spec("head -c 200000000 /dev/zero > /tmp/a; head -c 200000000 /dev/zero > /dev/shm/b; du -cm /tmp/a /dev/shm/b | tail -n 1");
    spec.limits.memory = 200 << 20;
    let outcome = bed.run_spec(spec);
    let used: u64 = outcome.stdout.split_whitespace().next().unwrap().parse().unwrap();
    assert!(used <= 101, "{outcome:#?}");
}

fn output_limit(bed: &Bed) {
    let mut spec = bed.spec("head -c 5000000 /dev/zero; echo end >&2");
    spec.output_limit = 1_000_000;
    let outcome = bed.run_spec(spec);
    assert!(outcome.end.exit.is_success());
    let delivered = (outcome.stdout.len() + outcome.stderr.len()) as u64;
    assert_eq!(delivered, 1_000_000);
    assert_eq!(outcome.end.output_dropped, 5_000_004 - 1_000_000);
}

fn joined(bed: &Bed) {
    let mut spec = bed.spec("for i in $(seq 500); do echo o$i; echo e$i >&2; done");
    spec.streams = Streams::Together;
    let expected: String = (1..=500)
        .map(|number| format!("o{number}\ne{number}\n"))
        .collect();
    assert_eq!(bed.run_spec(spec).stdout, expected);
}

fn missing_program(bed: &Bed) {
    let run = |program: &str| {
        bed.run_spec(CommandSpec::program(
            bed.root.clone(),
            bed.state(),
            program,
            vec!["a b".into()],
        ))
    };
    let outcome = run("no-such-program");
    assert_eq!(outcome.end.exit, CommandExit::Code(127));
    assert!(outcome.stderr.contains("no-such-program was not found"));
    bed.put("plain", "no program");
    assert_eq!(run("./plain").end.exit, CommandExit::Code(126));
    assert_eq!(run("echo").stdout, "a b\n");
}

fn missing_folder(bed: &Bed) {
    let mut spec = bed.spec("pwd");
    spec.folder = bed.root.relative("nowhere").unwrap();
    let (sink, _output) = tokio::sync::mpsc::channel(1);
    assert!(bed.confinement.start(spec, sink).is_err());
    bed.put("some/where/file", "");
    let mut spec = bed.spec("pwd; ls");
    spec.folder = bed.root.relative("some/where").unwrap();
    assert!(bed.run_spec(spec).stdout.ends_with("project/some/where\nfile\n"));
}

fn replaced(bed: &Bed) {
    let project = bed.project();
    std::fs::rename(&project, project.with_extension("old")).unwrap();
    std::fs::create_dir(&project).unwrap();
    let (sink, _output) = tokio::sync::mpsc::channel(1);
    let error = bed.confinement.start(bed.spec("pwd"), sink).unwrap_err();
    assert!(
        matches!(error, paddock_sandbox::SandboxError::ProjectReplaced),
        "{error:?}"
    );
}

fn grants(bed: &Bed) {
    let line = format!("cat {0}/secret; echo x > {0}/new", bed.outside().display());
    let mut spec = bed.spec(&line);
    spec.extra = vec![PathGrant {
        path: bed.outside(),
        writable: false,
    }];
    let outcome = bed.run_spec(spec);
    assert_eq!(outcome.stdout, "PLANTED-SECRET");
    assert!(!outcome.end.exit.is_success());
    let mut spec = bed.spec(&line);
    spec.extra = vec![PathGrant {
        path: bed.outside(),
        writable: true,
    }];
    assert!(bed.run_spec(spec).end.exit.is_success());
    assert!(bed.outside().join("new").exists());
}

/// What was missed is named, and a grant for just that makes the same command work.
fn blocked_paths(bed: &Bed) {
    bed.put("inner/file", "x");
    let place = |name: &str, write| Blocked::Path {
        path: bed.outside().join(name),
        write,
    };
    for (line, expected) in [
        ("cat ../outside/secret".to_owned(), vec![place("secret", false)]),
        (
            format!("cat {}/secret", bed.outside().display()),
            vec![place("secret", false)],
        ),
        (
            "python3 -c 'open(\"../outside/secret\")'".to_owned(),
            vec![place("secret", false)],
        ),
        ("echo x > ../outside/new".to_owned(), vec![place("new", true)]),
        (
            "cat /etc/shadow; cat /proc/1/environ; cat /root/.ssh/id_rsa".to_owned(),
            vec![],
        ),
        ("cat /no/such/file missing inner/missing".to_owned(), vec![]),
        ("cat ../outside/secret; true".to_owned(), vec![]),
    ] {
        let end = bed.run(&line).end;
        assert_eq!(end.blocked, expected, "{line}: {end:#?}");
        let mut spec = bed.spec(&line);
        for blocked in end.blocked {
            let Blocked::Path { path, write } = blocked else {
                continue;
            };
            spec.extra.push(PathGrant {
                path,
                writable: write,
            });
        }
        if !spec.extra.is_empty() {
            let again = bed.run_spec(spec);
            assert!(
                again.end.exit.is_success() && again.end.blocked.is_empty(),
                "{line}: {again:#?}"
            );
        }
    }
    let text = std::fs::read_to_string(bed.outside().join("new")).unwrap();
    assert_eq!(text, "x\n");
    // What was allowed and not used leaves nothing.
    let mut spec = bed.spec("true");
    spec.extra = vec![PathGrant {
        path: bed.outside().join("unused"),
        writable: true,
    }];
    assert!(bed.run_spec(spec).end.exit.is_success());
    assert!(!bed.outside().join("unused").exists());
}

/// What no answer opens is not opened by a mistake of a caller either: the command does not run.
fn never_granted(bed: &Bed) {
    for path in [
        "/",
        "/proc",
        "/sys/kernel",
        "/dev",
        "/etc/shadow",
        "/run",
        "/etc/ssh",
    ] {
        let mut spec = bed.spec("echo ran > ran");
        spec.extra = vec![PathGrant {
            path: path.into(),
            writable: false,
        }];
        let (sink, _output) = tokio::sync::mpsc::channel(1);
        assert!(bed.confinement.start(spec, sink).is_err(), "{path}");
        assert!(!bed.has("ran"), "{path}");
    }
}

fn at_the_same_time(bed: &Bed) {
    let started: Vec<_> = (0..4)
        .map(|number| bed.start(bed.spec(&format!("sleep 0.2; echo {number} > file{number}"))))
        .collect();
    for (running, mut output) in started {
        while output.blocking_recv().is_some() {}
        assert!(running.wait_blocking().exit.is_success());
    }
    assert!((0..4).all(|number| bed.has(&format!("file{number}"))));
}
