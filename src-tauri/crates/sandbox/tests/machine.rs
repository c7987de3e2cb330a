//! What the confinement of this machine says of itself, and whether it is so; the same on every system. What Linux holds
//! beyond that is tried apart.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test that cannot go on may panic, and says what it could not try"
)]

use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::time::{Duration, Instant};

use libtest_mimic::{Arguments, Trial};
use paddock_sandbox::{
    CommandEnd, CommandExit, CommandSpec, Confinement, HelperProgram, ProjectRoot, SandboxFacts, StateDir,
    Stream, Tier, TrialOutcome, for_this_machine, release_project,
};

/// A named test.
type Case = (&'static str, fn(&Bed));

fn main() -> ExitCode {
    paddock_sandbox::run_helper_if_asked();
    let cases: &[Case] = &[
        ("what_is_claimed_was_tried", what_is_claimed_was_tried),
        ("ordinary_work_goes", ordinary_work_goes),
        ("streams_and_codes_arrive", streams_and_codes_arrive),
        ("nothing_outside_changes", nothing_outside_changes),
        (
            "a_read_only_project_stays_as_it_is",
            a_read_only_project_stays_as_it_is,
        ),
        ("an_end_is_an_end", an_end_is_an_end),
        ("programs_are_started_directly", programs_are_started_directly),
        ("a_project_can_be_given_back", a_project_can_be_given_back),
    ];
    let trials = cases.iter().map(|(name, case)| {
        let case = *case;
        Trial::test(*name, move || {
            case(&Bed::new());
            Ok(())
        })
    });
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit_code()
}

/// A project of its own, and a place beside it.
struct Bed {
    _place: tempfile::TempDir,
    project: PathBuf,
    outside: PathBuf,
    state: PathBuf,
    confinement: Arc<dyn Confinement>,
}

struct Ran {
    end: CommandEnd,
    output: String,
    errors: String,
}

impl Bed {
    fn new() -> Self {
        let place = tempfile::tempdir().unwrap();
        let base = place.path().canonicalize().unwrap();
        let [project, outside, state] = ["project", "outside", "state"].map(|name| base.join(name));
        for folder in [&project, &outside] {
            std::fs::create_dir(folder).unwrap();
        }
        Self {
            _place: place,
            project,
            outside,
            state,
            confinement: for_this_machine(HelperProgram::current()),
        }
    }

    fn facts(&self) -> SandboxFacts {
        self.confinement.facts()
    }

    fn spec(&self, line: &str) -> CommandSpec {
        let root = ProjectRoot::open(&self.project).unwrap();
        let mut spec = CommandSpec::shell(root, StateDir::new(&self.state), line);
        spec.time_limit = Some(Duration::from_secs(60));
        spec
    }

    fn run(&self, spec: CommandSpec) -> Ran {
        let (sink, mut chunks) = tokio::sync::mpsc::channel(256);
        let running = self.confinement.start(spec, sink).unwrap();
        let (mut output, mut errors) = (Vec::new(), Vec::new());
        while let Some(chunk) = chunks.blocking_recv() {
            let into = match chunk.stream {
                Stream::Stdout => &mut output,
                Stream::Stderr => &mut errors,
            };
            into.extend(chunk.bytes);
        }
        Ran {
            end: running.wait_blocking(),
            output: String::from_utf8_lossy(&output).trim().to_owned(),
            errors: String::from_utf8_lossy(&errors).trim().to_owned(),
        }
    }

    fn shell(&self, line: &str) -> Ran {
        self.run(self.spec(line))
    }
}

/// One line for both kinds of shells.
fn line(unix: &str, windows: &str) -> String {
    if cfg!(windows) { windows } else { unix }.to_owned()
}

fn what_is_claimed_was_tried(bed: &Bed) {
    let facts = bed.facts();
    let trials = bed.confinement.prove(&StateDir::new(&bed.state));
    println!("  {}: {facts:#?}", std::env::consts::OS);
    let broken: Vec<&str> = trials
        .iter()
        .filter(|trial| trial.outcome == TrialOutcome::Broken)
        .map(|trial| trial.key)
        .collect();
    match facts.tier {
        Tier::Full => assert!(broken.is_empty(), "{trials:#?}"),
        Tier::Reduced => assert!(!facts.gaps.is_empty() && facts.remedy.is_some()),
        Tier::None => assert!(facts.remedy.is_some()),
    }
    if cfg!(windows) {
        assert_eq!(facts.tier, Tier::Reduced, "{facts:#?}");
        assert_eq!(broken, ["read_secret", "connect"], "{trials:#?}");
    } else if cfg!(target_os = "macos") {
        assert_eq!(facts.tier, Tier::Full, "{facts:#?}");
    }
}

fn ordinary_work_goes(bed: &Bed) {
    let has_git = Command::new("git")
        .arg("--version")
        .output()
        .is_ok_and(|done| done.status.success());
    let mut lines = vec![
        line(
            "mkdir -p a/b && echo one > a/b/c && mv a d && cat d/b/c",
            "mkdir a/b >$null; 'one' > a/b/c; mv a d; cat d/b/c",
        ),
        line(
            "echo one > \"$TMPDIR/x\" && cat \"$TMPDIR/x\"",
            "'one' > $env:TEMP/x; cat $env:TEMP/x",
        ),
        line(
            "mkdir -p \"$HOME/.cache/t\" && echo one > \"$HOME/.cache/t/x\" && cat \"$HOME/.cache/t/x\"",
            "'one' > $env:LOCALAPPDATA/x; cat $env:LOCALAPPDATA/x",
        ),
        line(
            "printf 'one\\ntwo\\n' | grep one",
            "'one','two' | Select-String one -Raw",
        ),
        line(
            "(sleep 0.1; echo one) & wait",
            "$job = Start-Job { 'one' }; Receive-Job $job -Wait",
        ),
    ];
    if cfg!(windows) {
        // The shell that comes with Windows knows neither of both.
        lines.truncate(3);
    }
    for line in &lines {
        let ran = bed.shell(line);
        assert_eq!(
            ran.end.exit,
            CommandExit::Code(0),
            "{line}: {} {}",
            ran.output,
            ran.errors
        );
        assert_eq!(ran.output, "one", "{line}");
    }
    if !has_git {
        println!("  git is not here, so it was not tried");
        return;
    }
    let work = "git init -q .; git add -A; git -c user.name=me -c user.email=me@example.invalid commit -qm first; git log --format=%s";
    let ran = bed.shell(work);
    assert_eq!(
        ran.end.exit,
        CommandExit::Code(0),
        "{} {}",
        ran.output,
        ran.errors
    );
    assert_eq!(ran.output, "first", "{}", ran.errors);
    assert_eq!(
        bed.shell("git checkout -q -b next; git branch --show-current")
            .output,
        "next"
    );
}

fn streams_and_codes_arrive(bed: &Bed) {
    let ran = bed.shell(&line(
        "echo out; echo err >&2; exit 7",
        "'out'; [Console]::Error.WriteLine('err'); exit 7",
    ));
    assert_eq!(ran.end.exit, CommandExit::Code(7));
    assert_eq!((ran.output.as_str(), ran.errors.as_str()), ("out", "err"));
}

fn nothing_outside_changes(bed: &Bed) {
    if bed.facts().tier == Tier::None {
        println!("  nothing is confined here");
        return;
    }
    let kept = bed.outside.join("kept");
    std::fs::write(&kept, "before").unwrap();
    let hooks = bed.project.join(".git/hooks");
    for folder in [
        &hooks,
        &bed.project.join(".git/objects"),
        &bed.project.join(".git/refs"),
    ] {
        std::fs::create_dir_all(folder).unwrap();
    }
    std::fs::write(bed.project.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    std::fs::write(bed.project.join(".git/config"), "[core]\n").unwrap();
    for attempt in [
        line("echo x > ../outside/new", "'x' > ../outside/new"),
        line("echo x > ../outside/kept", "'x' > ../outside/kept"),
        line("rm -f ../outside/kept", "rm -force ../outside/kept"),
        line("mv ../outside ../moved", "mv ../outside ../moved"),
        line(
            "ln -s ../outside link; echo x > link/new",
            "cmd /c mklink /j link ..\\outside; 'x' > link/new",
        ),
        line(
            "ln ../outside/kept hard; echo x > hard",
            "cmd /c mklink /h hard ..\\outside\\kept; 'x' > hard",
        ),
        line("echo x > .git/hooks/pre-commit", "'x' > .git/hooks/pre-commit"),
        line("echo x >> .git/config", "'x' >> .git/config"),
        line("mv .git git; mv .git/hooks git", "mv .git git; mv .git/hooks git"),
        line(
            "chmod 777 ../outside/kept",
            "icacls ../outside/kept /grant '*S-1-1-0:F'",
        ),
    ] {
        let ran = bed.shell(&attempt);
        println!(
            "  {attempt}: {:?} {}",
            ran.end.exit,
            ran.errors.lines().next().unwrap_or_default()
        );
        assert_eq!(std::fs::read_to_string(&kept).unwrap(), "before", "{attempt}");
        assert_eq!(std::fs::read_dir(&bed.outside).unwrap().count(), 1, "{attempt}");
        assert_eq!(std::fs::read_dir(&hooks).unwrap().count(), 0, "{attempt}");
        let config = std::fs::read_to_string(bed.project.join(".git/config")).unwrap();
        assert_eq!(config, "[core]\n", "{attempt}");
    }
}

fn a_read_only_project_stays_as_it_is(bed: &Bed) {
    if bed.facts().tier == Tier::None {
        println!("  nothing is confined here");
        return;
    }
    std::fs::write(bed.project.join("kept"), "before").unwrap();
    for attempt in ["echo x > kept", "echo x > new", "rm kept", "mkdir folder"] {
        let mut spec = bed.spec(attempt);
        spec.root = spec.root.read_only();
        bed.run(spec);
        assert_eq!(
            std::fs::read_to_string(bed.project.join("kept")).unwrap(),
            "before",
            "{attempt}"
        );
        assert_eq!(std::fs::read_dir(&bed.project).unwrap().count(), 1, "{attempt}");
    }
}

fn an_end_is_an_end(bed: &Bed) {
    let mut spec = bed.spec(&line("sleep 30 & sleep 30", "Start-Sleep 30"));
    spec.time_limit = Some(Duration::from_millis(700));
    let began = Instant::now();
    assert_eq!(bed.run(spec).end.exit, CommandExit::TimedOut);
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());

    let (sink, _chunks) = tokio::sync::mpsc::channel(256);
    let running = bed
        .confinement
        .start(bed.spec(&line("sleep 30", "Start-Sleep 30")), sink)
        .unwrap();
    running.stop();
    assert_eq!(running.wait_blocking().exit, CommandExit::Stopped);
}

fn programs_are_started_directly(bed: &Bed) {
    let (program, arguments) = if cfg!(windows) {
        ("cmd", vec!["/d".to_owned(), "/c".into(), "echo one".into()])
    } else {
        ("printf", vec!["%s".to_owned(), "one".into()])
    };
    let root = ProjectRoot::open(&bed.project).unwrap();
    let ran = bed.run(CommandSpec::program(
        root,
        StateDir::new(&bed.state),
        program,
        arguments,
    ));
    assert_eq!(ran.output, "one", "{}", ran.errors);
}

fn a_project_can_be_given_back(bed: &Bed) {
    assert_eq!(bed.shell("echo one").output, "one");
    let root = ProjectRoot::open(&bed.project).unwrap();
    release_project(&root).unwrap();
    assert_eq!(bed.shell("echo two").output, "two");
}
