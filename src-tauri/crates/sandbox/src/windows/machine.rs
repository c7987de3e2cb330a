//! What holds commands on this Windows machine, found out by doing it once, and what a person may rely on then.

use std::io;
use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

use super::confined::{Confined, Level, take_out};
use super::job::can_keep_windows_apart;
use super::rights::read_list;
use crate::ProjectRoot;
use crate::around::on_own_thread;
use crate::command::trial::TrialFolder;
use crate::command::{
    CommandSpec, Confinement, OutputSink, RunningCommand, SandboxError, SandboxFacts, StateDir, Tier, Trial,
    TrialOutcome,
};

/// Tries to write, to delete and to give rights beside the project, to change a hook, to move git's folder away; and
/// leaves a process behind. For `cmd`, which starts faster than PowerShell; everything is on one line.
const TRIAL: &str = concat!(
    r"echo.>inside.txt",
    r"& echo.>..\outside\written.txt",
    r"& del /f /q ..\outside\kept.txt",
    r"& icacls ..\outside\guarded.txt /grant *S-1-1-0:F",
    r"& echo.>.git\hooks\pre-commit",
    r"& ren .git moved",
    r"& start /b ping -n 60 127.0.0.1",
    r"& exit /b 0",
);

/// Commands in jobs, with tokens that may change little, where Windows lets an ordinary account make them.
pub(crate) struct WindowsConfinement {
    facts: OnceLock<SandboxFacts>,
}

fn run(level: Level, spec: CommandSpec, output: OutputSink) -> Result<RunningCommand, SandboxError> {
    on_own_thread(
        spec,
        move |spec| Confined::start(level, spec, output),
        Confined::supervise,
    )
}

/// Runs a command that is not confined, but ends with everything that it started.
pub(crate) fn start_in_job(spec: CommandSpec, output: OutputSink) -> Result<RunningCommand, SandboxError> {
    run(Level::Job, spec, output)
}

impl WindowsConfinement {
    pub(crate) fn new() -> Self {
        Self {
            facts: OnceLock::new(),
        }
    }

    /// Runs one command for real, in a project of its own, and looks from outside at what it could do.
    fn probe() -> Result<Held, SandboxError> {
        let place = TrialFolder::make().map_err(SandboxError::State)?;
        let (project, outside) = (place.0.join("project"), place.0.join("outside"));
        prepare(&project, &outside).map_err(SandboxError::State)?;
        let guarded_before = read_list(&outside.join("guarded.txt")).map_err(SandboxError::State)?;
        let root =
            ProjectRoot::open(&project).map_err(|error| SandboxError::State(io::Error::other(error)))?;
        let shell =
            std::env::var("SystemRoot").unwrap_or_else(|_| r"C:\Windows".into()) + r"\System32\cmd.exe";
        let arguments = ["/d", "/c", TRIAL].map(str::to_owned).into();
        let state = StateDir::new(place.0.join("state"));
        let mut spec = CommandSpec::program(root, state, shell, arguments);
        spec.time_limit = Some(Duration::from_secs(20));
        let (sink, _output) = tokio::sync::mpsc::channel(64);
        let end = run(Level::Writes, spec, sink)?.wait_blocking();
        if !project.join("inside.txt").exists() {
            return Err(SandboxError::Setup {
                step: "trying the sandbox".into(),
                source: io::Error::other(format!("the trial ended with {:?}", end.exit)),
            });
        }
        let guarded = read_list(&outside.join("guarded.txt"));
        Ok(Held {
            writes: !outside.join("written.txt").exists(),
            removes: outside.join("kept.txt").exists() && guarded.is_ok_and(|list| list == guarded_before),
            protected: project.join(".git").exists() && end.quarantined.is_empty(),
            survivors: end.processes_ended > 0,
        })
    }
}

fn prepare(project: &Path, outside: &Path) -> io::Result<()> {
    for folder in ["hooks", "objects", "refs"] {
        std::fs::create_dir_all(project.join(".git").join(folder))?;
    }
    std::fs::write(project.join(".git").join("HEAD"), "ref: refs/heads/main\n")?;
    std::fs::create_dir(outside)?;
    for name in ["kept.txt", "guarded.txt"] {
        std::fs::write(outside.join(name), "before")?;
    }
    Ok(())
}

impl Confinement for WindowsConfinement {
    fn facts(&self) -> SandboxFacts {
        self.facts.get_or_init(|| facts(&Self::probe())).clone()
    }

    fn start(&self, spec: CommandSpec, output: OutputSink) -> Result<RunningCommand, SandboxError> {
        let level = match self.facts().tier {
            Tier::None => Level::Job,
            Tier::Reduced | Tier::Full => Level::Writes,
        };
        run(level, spec, output)
    }

    fn prove(&self, _state: &StateDir) -> Vec<Trial> {
        trials(&Self::probe())
    }
}

/// Takes out of a project's folder the entries for its commands, which stay there otherwise.
pub(crate) fn release(root: &ProjectRoot) -> io::Result<()> {
    take_out(root.path())
}

/// What the trial showed to hold.
#[derive(Debug, Clone, Copy)]
struct Held {
    writes: bool,
    removes: bool,
    protected: bool,
    survivors: bool,
}

/// What was tried: its key, whether it held, what was tried, what holds then, and what is so when it does not.
struct Claim {
    key: &'static str,
    holds: fn(&Held) -> bool,
    tried: &'static str,
    text: &'static str,
    gap: &'static str,
}

const CLAIMS: &[Claim] = &[
    Claim {
        key: "write_outside",
        holds: |held| held.writes,
        tried: "Writing a file beside the project.",
        text: "Only the project and private folders of its commands can be written, and what everyone may write.",
        gap: "A command can change files outside of the project.",
    },
    Claim {
        key: "remove_outside",
        holds: |held| held.removes,
        tried: "Deleting a file beside the project, and giving everyone rights on another.",
        text: "Files outside of the project can neither be deleted nor opened up to others.",
        gap: "A command can delete files outside of the project, or open them up to others.",
    },
    Claim {
        key: "git_hook",
        holds: |held| held.protected,
        tried: "Adding a hook to a repository, and moving git's folder away.",
        text: "Git's hooks and settings, and settings of editors and Paddock that exist, cannot be changed.",
        gap: "A command can change git's hooks and settings.",
    },
    Claim {
        key: "survivor",
        holds: |held| held.survivors,
        tried: "Leaving a process behind.",
        text: "When a command ends, is stopped, or Paddock dies, every process it started ends.",
        gap: "A command can leave processes behind.",
    },
];

/// What is so at this level, whatever holds.
const OPEN: &[&str] = &[
    "A command can read every file of this account, also passwords and keys, and those that Paddock keeps.",
    "What a command asks other programs to do for it (scheduled tasks, the desktop, services) is not held.",
    "A command can use the network and reach other programs of this machine; what looks like it asks first.",
    "How much of the disk a command fills is not limited.",
    "The entries that let commands change a project stay on its folder until they are taken out.",
];
const REMEDY: &str = "For a full sandbox keep the project in WSL 2 and run Paddock there, where commands are confined as on Linux.";

fn facts(probe: &Result<Held, SandboxError>) -> SandboxFacts {
    let mut holds: Vec<String> = vec![
        "Processes and memory of a command are limited.".into(),
        "Only listed environment values reach a command.".into(),
    ];
    let mut gaps: Vec<String> = Vec::new();
    if can_keep_windows_apart() {
        holds.push("A command reaches neither the clipboard nor windows of others.".into());
    } else {
        let gap = "A command can use the clipboard and reach windows of others, because Paddock was started in a job.";
        gaps.push(gap.into());
    }
    let is_held = match probe {
        Ok(held) => {
            for claim in CLAIMS {
                if (claim.holds)(held) {
                    holds.push(claim.text.into());
                } else {
                    gaps.push(claim.gap.into());
                }
            }
            CLAIMS.iter().all(|claim| (claim.holds)(held))
        }
        Err(error) => {
            gaps.push(format!("The sandbox does not work on this machine: {error}."));
            gaps.push("A command can change every file of this account.".into());
            false
        }
    };
    gaps.extend(OPEN.iter().map(|gap| (*gap).to_owned()));
    if is_held {
        holds.push("What a command leaves that would run later outside is moved away.".into());
    }
    SandboxFacts {
        tier: if is_held { Tier::Reduced } else { Tier::None },
        summary: if is_held {
            "Commands change only the project; reading and the network are open, so each one asks.".into()
        } else {
            "Commands are not confined on this machine; each one asks.".into()
        },
        holds,
        gaps,
        remedy: Some(REMEDY.into()),
    }
}

fn trials(probe: &Result<Held, SandboxError>) -> Vec<Trial> {
    let mut trials: Vec<Trial> = CLAIMS
        .iter()
        .map(|claim| {
            let (outcome, evidence) = match probe {
                Ok(held) if (claim.holds)(held) => (TrialOutcome::Held, claim.text.to_owned()),
                Ok(_) => (TrialOutcome::Broken, claim.gap.to_owned()),
                Err(error) => (TrialOutcome::NotTried, format!("The trial did not run: {error}.")),
            };
            Trial {
                key: claim.key,
                tried: claim.tried.into(),
                remedy: (outcome != TrialOutcome::Held).then(|| REMEDY.into()),
                outcome,
                evidence,
            }
        })
        .collect();
    for (key, tried) in [
        ("read_secret", "Reading a private file outside of the project."),
        ("connect", "Connecting to a server of this machine."),
    ] {
        trials.push(Trial {
            key,
            tried: tried.into(),
            outcome: TrialOutcome::Broken,
            evidence:
                "Nothing on Windows keeps a command of this account from it; it is known, so it is not tried."
                    .into(),
            remedy: Some(REMEDY.into()),
        });
    }
    trials
}
