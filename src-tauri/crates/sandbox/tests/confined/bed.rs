//! The test bed: a throw-away home, a project and a state folder, and the start of the cases, which need a main of their
//! own because the tests are the helper too.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output};
use std::sync::Arc;
use std::time::Duration;

use crate::battery::Escape;
use crate::targets::Targets;
use crate::{bwrap, reduced};
use libtest_mimic::{Arguments, Failed, Trial};
use paddock_sandbox::{
    CommandEnd, CommandExit, CommandSpec, Confinement, HelperProgram, OutputChunk, ProjectRoot,
    RunningCommand, StateDir, Stream, Unconfined, for_this_machine,
};

/// An account without rights that exists everywhere.
pub const NOBODY: u32 = 65_534;

/// A named test.
pub type Case = (&'static str, fn(&Bed));

/// Runs the cases as any test program does; where the test run is root's, every case once more as an ordinary account.
pub fn run(groups: &[&[Case]], escapes: impl Iterator<Item = Escape>) -> ExitCode {
    let mut trials = Vec::new();
    for escape in escapes {
        let name = format!("battery_{}", escape.name);
        let again = name.clone();
        trials.push(Trial::test(name, move || {
            escape.try_it();
            Ok(())
        }));
        if is_root() {
            let again = move || run_as_nobody(&again).map_err(Failed::from);
            trials.push(Trial::test(
                format!("ordinary_account::battery_{}", escape.name),
                again,
            ));
        }
    }
    for (name, case) in groups.iter().copied().flatten().copied() {
        trials.push(Trial::test(name, move || {
            case(&Bed::new());
            Ok(())
        }));
        if is_root() {
            let again = move || run_as_nobody(name).map_err(Failed::from);
            trials.push(Trial::test(format!("ordinary_account::{name}"), again));
        }
    }
    for (name, case) in reduced::cases() {
        let name = format!("reduced_{name}");
        if std::env::var_os(reduced::SWITCH).is_some() {
            trials.push(Trial::test(name, move || {
                case(&Bed::new());
                Ok(())
            }));
            continue;
        }
        if is_root() {
            let again = name.clone();
            let again = move || run_again(&again, NOBODY, true).map_err(Failed::from);
            trials.push(Trial::test(format!("ordinary_account::{name}"), again));
        }
        let again = name.clone();
        let again = move || run_again(&again, own_account(), true).map_err(Failed::from);
        trials.push(Trial::test(name, again));
    }
    trials.extend(bwrap::trials());
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// Runs one command and waits, when this process was started to be killed meanwhile.
pub fn act_as_app_if_asked() {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, flag, project, state, line] = arguments.as_slice()
        && flag == "--as-app"
    {
        let root = ProjectRoot::open(Path::new(project)).unwrap();
        let spec = CommandSpec::shell(root, StateDir::new(state), line.clone());
        let (sink, mut output) = tokio::sync::mpsc::channel(16);
        let running = for_this_machine(HelperProgram::current())
            .start(spec, sink)
            .unwrap();
        while output.blocking_recv().is_some() {}
        running.wait_blocking();
        std::process::exit(0);
    }
}

pub fn is_root() -> bool {
    own_account() == 0
}

pub fn own_account() -> u32 {
    std::os::unix::fs::MetadataExt::uid(&fs::metadata("/proc/self").unwrap())
}

fn run_as_nobody(case: &str) -> Result<(), String> {
    run_again(case, NOBODY, false)
}

/// Runs one case in a copy of this program as an account, maybe one that can make no namespaces; what it said where it
/// failed.
fn run_again(case: &str, account: u32, is_reduced: bool) -> Result<(), String> {
    let copy = copy_of_this_program(account, is_reduced.then_some(reduced::ALL));
    let output = copy.run(&[case, "--exact", "--nocapture"]);
    let said = String::from_utf8_lossy(&output.stdout);
    // A name that matches nothing would succeed too.
    if output.status.success() && said.contains("1 passed") {
        return Ok(());
    }
    Err(format!("{said}{}", String::from_utf8_lossy(&output.stderr)))
}

/// This program, where an account can reach it, with a home of that account.
pub struct OwnCopy {
    place: tempfile::TempDir,
    account: u32,
    /// Which namespaces it takes from itself.
    without: Option<&'static str>,
}

pub fn copy_of_this_program(account: u32, without: Option<&'static str>) -> OwnCopy {
    let place = tempfile::Builder::new()
        .prefix("paddock-nobody-")
        .tempdir()
        .unwrap();
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o777);
    fs::set_permissions(place.path(), open).unwrap();
    // The account cannot reach the build folder, so the program is copied to where it can. By another process: what this
    // one has open for writing, a command that starts at that moment in another thread would hold busy.
    let program = place.path().join("confined");
    let mut copy = Command::new("cp");
    copy.arg(std::env::current_exe().unwrap()).arg(&program);
    assert!(copy.status().unwrap().success());
    let home = place.path().join("home");
    fs::create_dir(&home).unwrap();
    if is_root() {
        std::os::unix::fs::chown(&home, Some(account), Some(account)).unwrap();
    }
    OwnCopy {
        place,
        account,
        without,
    }
}

impl OwnCopy {
    pub fn run(&self, arguments: &[&str]) -> Output {
        let place = self.place.path();
        let mut run = Command::new(place.join("confined"));
        if is_root() {
            run.uid(self.account).gid(self.account);
        }
        run.args(arguments)
            .env_clear()
            .envs([("PATH", "/usr/local/bin:/usr/bin:/bin"), ("LANG", "C.UTF-8")])
            .env("TMPDIR", place)
            .env("HOME", place.join("home"))
            .current_dir(place)
            .envs(self.without.map(|without| (reduced::SWITCH, without)))
            .output()
            .unwrap()
    }
}

/// One case's world.
pub struct Bed {
    place: tempfile::TempDir,
    pub confinement: Arc<dyn Confinement>,
    pub root: ProjectRoot,
    number: String,
    targets: Targets,
}

/// What a command did.
#[derive(Debug)]
pub struct Outcome {
    pub end: CommandEnd,
    pub stdout: String,
    pub stderr: String,
}

impl Bed {
    pub fn new() -> Self {
        Self::under(for_this_machine(HelperProgram::current()))
    }

    /// The same world, where nothing holds a command.
    pub fn without_sandbox() -> Self {
        Self::under(Arc::new(Unconfined::new("To see that an escape would be seen.")))
    }

    fn under(confinement: Arc<dyn Confinement>) -> Self {
        let place = tempfile::Builder::new().prefix("paddock-bed-").tempdir().unwrap();
        fs::create_dir(place.path().join("project")).unwrap();
        fs::create_dir(place.path().join("outside")).unwrap();
        fs::write(place.path().join("outside/secret"), "PLANTED-SECRET").unwrap();
        let root = ProjectRoot::open(&place.path().join("project")).unwrap();
        Self {
            confinement,
            root,
            place,
            number: marker(),
            targets: Targets::default(),
        }
    }

    /// A name that nothing else on this machine has.
    pub fn name(&self) -> String {
        format!("paddock-{}", self.number)
    }

    /// The number in it.
    pub fn number(&self) -> &str {
        &self.number
    }

    pub fn targets(&self) -> &Targets {
        &self.targets
    }

    /// Runs git outside, as the person does.
    pub fn git(&self, folder: &str, arguments: &[&str]) {
        let done = Command::new("git")
            .args(arguments)
            .current_dir(self.project().join(folder))
            .output()
            .unwrap();
        assert!(done.status.success(), "{arguments:?}: {done:?}");
    }

    pub fn project(&self) -> PathBuf {
        self.root.path().to_owned()
    }

    /// A folder beside the project that no command may reach.
    pub fn outside(&self) -> PathBuf {
        self.place.path().canonicalize().unwrap().join("outside")
    }

    pub fn state(&self) -> StateDir {
        StateDir::new(self.place.path().join("state"))
    }

    pub fn put(&self, path: &str, content: &str) {
        let path = self.project().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub fn has(&self, path: &str) -> bool {
        fs::symlink_metadata(self.project().join(path)).is_ok()
    }

    pub fn spec(&self, line: &str) -> CommandSpec {
        let mut spec = CommandSpec::shell(self.root.clone(), self.state(), line);
        spec.time_limit = Some(Duration::from_secs(60));
        spec
    }

    pub fn start(&self, spec: CommandSpec) -> (RunningCommand, tokio::sync::mpsc::Receiver<OutputChunk>) {
        let (sink, output) = tokio::sync::mpsc::channel(1024);
        (self.confinement.start(spec, sink).unwrap(), output)
    }

    /// Runs a command to its end.
    pub fn run_spec(&self, spec: CommandSpec) -> Outcome {
        let (running, mut output) = self.start(spec);
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        while let Some(chunk) = output.blocking_recv() {
            match chunk.stream {
                Stream::Stdout => stdout.extend(chunk.bytes),
                Stream::Stderr => stderr.extend(chunk.bytes),
            }
        }
        let end = running.wait_blocking();
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Outcome {
            end,
            stdout: text(stdout),
            stderr: text(stderr),
        }
    }

    pub fn run(&self, line: &str) -> Outcome {
        self.run_spec(self.spec(line))
    }

    /// Runs a command that must succeed; its output.
    pub fn works(&self, line: &str) -> String {
        let outcome = self.run(line);
        assert_eq!(outcome.end.exit, CommandExit::Code(0), "{line}: {outcome:#?}");
        outcome.stdout
    }

    /// Runs a command that must fail by itself; what it did.
    pub fn fails(&self, line: &str) -> Outcome {
        let outcome = self.run(line);
        assert!(
            matches!(outcome.end.exit, CommandExit::Code(code) if code != 0),
            "{line}: {outcome:#?}"
        );
        outcome
    }
}

/// Whether any process of the machine has this text in its command line.
pub fn is_running(marker: &str) -> bool {
    fs::read_dir("/proc").unwrap().flatten().any(|entry| {
        let is_process = entry
            .file_name()
            .to_string_lossy()
            .bytes()
            .all(|byte| byte.is_ascii_digit());
        is_process
            && fs::read(entry.path().join("cmdline"))
                .is_ok_and(|line| String::from_utf8_lossy(&line).contains(marker))
    })
}

/// Waits until something is so, for at most five seconds; whether it came.
pub fn soon(what: impl Fn() -> bool) -> bool {
    for _ in 0..1_000 {
        if what() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    what()
}

/// Whether a program can be run by this account.
pub fn has_program(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(name).exists())
}

/// The same, and says so where it cannot.
pub fn needs(name: &str) -> bool {
    let there = has_program(name);
    if !there {
        println!("  ({name} is not there for this account)");
    }
    there
}

/// A number that no other case uses, to find processes by.
pub fn marker() -> String {
    use std::sync::atomic::{AtomicU32, Ordering};
    static COUNT: AtomicU32 = AtomicU32::new(0);
    format!(
        "7{:06}{:03}",
        std::process::id() % 1_000_000,
        COUNT.fetch_add(1, Ordering::Relaxed)
    )
}

pub fn exists(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}
