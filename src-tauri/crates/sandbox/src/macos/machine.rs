//! What confines commands on this Mac, found out by doing it once, and what a person may rely on then.

use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::OnceLock;
use std::time::Duration;

use super::confined::Confined;
use super::processes::can_tell;
use crate::ProjectRoot;
use crate::around::on_own_thread;
use crate::command::trial::TrialFolder;
use crate::command::{
    CommandEnd, CommandSpec, Confinement, HelperProgram, OutputSink, RunningCommand, SandboxError,
    SandboxFacts, StateDir, Tier, Unconfined,
};

/// Tries, one after the other, what must not work: to write outside, to read there, to reach a server of this machine,
/// to make Paddock's folder, to change an existing setting; and leaves a process in a group of its own behind. What did
/// work is told by a file beside the others.
const TRIAL: &str = r#"
echo >inside
{ echo >"$OUTSIDE/written"; } 2>/dev/null
{ read -r secret <"$OUTSIDE/secret" && echo >read; } 2>/dev/null
( exec 3<>"/dev/tcp/127.0.0.1/$PORT" ) 2>/dev/null
{ mkdir .paddock; } 2>/dev/null
{ echo >.vscode/tasks.json; } 2>/dev/null
set -m
sleep 60 >/dev/null 2>&1 </dev/null &
exit 0
"#;

/// Commands under Seatbelt profiles, where this system still lays them on.
pub(crate) struct MacConfinement {
    helper: HelperProgram,
    facts: OnceLock<SandboxFacts>,
}

impl MacConfinement {
    pub(crate) fn new(helper: HelperProgram) -> Self {
        Self {
            helper,
            facts: OnceLock::new(),
        }
    }

    fn run(&self, spec: CommandSpec, output: OutputSink) -> Result<RunningCommand, SandboxError> {
        let helper = self.helper.clone();
        on_own_thread(
            spec,
            move |spec| Confined::start(&helper, spec, output),
            Confined::supervise,
        )
    }

    /// Runs one command for real, in a project of its own, and looks from outside at what it could do.
    fn probe(&self) -> Result<Held, SandboxError> {
        let place = TrialFolder::make().map_err(SandboxError::State)?;
        let project = place.0.join("project");
        let outside = place.0.join("outside");
        let settings = project.join(".vscode/tasks.json");
        let prepare = || -> io::Result<TcpListener> {
            std::fs::create_dir_all(project.join(".vscode"))?;
            std::fs::create_dir(&outside)?;
            std::fs::write(&settings, "before")?;
            std::fs::write(outside.join("secret"), "secret\n")?;
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
            listener.set_nonblocking(true)?;
            Ok(listener)
        };
        let listener = prepare().map_err(SandboxError::State)?;
        let port = listener.local_addr().map_err(SandboxError::State)?.port();
        let root =
            ProjectRoot::open(&project).map_err(|error| SandboxError::State(io::Error::other(error)))?;
        let mut spec = CommandSpec::shell(root, StateDir::new(place.0.join("state")), TRIAL);
        spec.time_limit = Some(Duration::from_secs(10));
        spec.environment = vec![
            ("OUTSIDE".into(), outside.to_string_lossy().into_owned()),
            ("PORT".into(), port.to_string()),
        ];
        let (sink, _output) = tokio::sync::mpsc::channel(16);
        let end = self.run(spec, sink)?.wait_blocking();
        if !end.exit.is_success() || !project.join("inside").exists() {
            return Err(SandboxError::Setup {
                step: "trying the sandbox".into(),
                source: io::Error::other(format!("the trial ended with {:?}", end.exit)),
            });
        }
        Ok(Held {
            writes: !outside.join("written").exists(),
            reads: !project.join("read").exists(),
            network: listener.accept().is_err(),
            protected: std::fs::read_to_string(&settings).is_ok_and(|text| text == "before")
                && !was_left(&end, ".paddock"),
            survivors: can_tell() && end.processes_ended > 0,
        })
    }
}

/// Whether a command could make something that was moved away after it.
fn was_left(end: &CommandEnd, path: &str) -> bool {
    end.quarantined.iter().any(|moved| moved.path == path)
}

impl Confinement for MacConfinement {
    fn facts(&self) -> SandboxFacts {
        self.facts.get_or_init(|| facts(self.probe())).clone()
    }

    fn start(&self, spec: CommandSpec, output: OutputSink) -> Result<RunningCommand, SandboxError> {
        let facts = self.facts();
        if facts.tier == Tier::None {
            return Unconfined::new(facts.gaps.first().cloned().unwrap_or_default()).start(spec, output);
        }
        self.run(spec, output)
    }
}

/// What the trial showed to hold.
#[derive(Debug, Clone, Copy)]
struct Held {
    writes: bool,
    reads: bool,
    network: bool,
    protected: bool,
    survivors: bool,
}

/// What holds when the trial showed it, and what is so when it did not.
const CLAIMS: &[(fn(&Held) -> bool, &str, &str)] = &[
    (
        |held| held.writes,
        "Only the project and private folders of its commands can be changed.",
        "A command can change files outside of the project.",
    ),
    (
        |held| held.protected,
        "Git's hooks and settings, settings of editors and Paddock's own folder in the project cannot be changed.",
        "A command can change settings in the project that run later outside of the sandbox.",
    ),
    (
        |held| held.reads,
        "Of the home folder only toolchains and git's settings can be read; keychains cannot be asked.",
        "A command can read every file of this account.",
    ),
    (
        |held| held.network,
        "There is no network unless it is allowed, and no other program of this machine can be reached.",
        "A command can reach servers of this machine and the network.",
    ),
    (
        |held| held.survivors,
        "When a command ends, is stopped, or Paddock dies, every process it started is found and ended.",
        "A command can leave processes behind that begin a session of their own.",
    ),
];

fn facts(probe: Result<Held, SandboxError>) -> SandboxFacts {
    let held = match probe {
        Ok(held) if held.writes => held,
        other => return none(&other.err()),
    };
    let is_full = CLAIMS.iter().all(|(holds, _, _)| holds(&held));
    let mut holds: Vec<String> = Vec::new();
    let mut gaps: Vec<String> = Vec::new();
    for (is_held, held_text, gap) in CLAIMS {
        if is_held(&held) {
            holds.push((*held_text).into());
        } else {
            gaps.push((*gap).into());
        }
    }
    holds.push("What a command leaves that would run later outside is moved away.".into());
    for gap in [
        "Without network a command cannot reach servers that it started itself, because a Mac has no separate loopback.",
        "While a command may ask for hosts, other programs of this account could use its proxy, which asks all the same.",
        "Memory, the disk and the number of processes are looked at five times a second; what is faster is ended late.",
        "The system's way to confine commands (sandbox-exec) is marked as outdated by Apple, though still in use.",
        "A fault in the system could be used to get out; what you run by hand later is not confined.",
    ] {
        gaps.push(gap.into());
    }
    SandboxFacts {
        tier: if is_full { Tier::Full } else { Tier::Reduced },
        summary: if is_full {
            "Commands are confined to the project; each host they connect to is asked for.".into()
        } else {
            "Commands are confined in part on this machine; each one asks.".into()
        },
        holds,
        gaps,
        remedy: (!is_full).then(|| "Update macOS and Paddock, then look again.".into()),
    }
}

fn none(error: &Option<SandboxError>) -> SandboxFacts {
    let why = match error {
        Some(error) => format!("The sandbox does not work on this machine: {error}."),
        None => "The sandbox of this machine did not hold when it was tried.".into(),
    };
    let mut facts = Unconfined::new(why).facts();
    facts.remedy = Some(
        "Start Paddock itself outside of any sandbox and see that /usr/bin/sandbox-exec is there; then look again."
            .into(),
    );
    facts
}
