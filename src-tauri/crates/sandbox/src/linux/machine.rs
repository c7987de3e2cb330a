//! What confines commands on this machine, found out by doing it once, and what a person may rely on then.

use std::io;
use std::sync::OnceLock;
use std::time::Duration;

use super::bwrap;
use super::confined::Confined;
use crate::ProjectRoot;
use crate::around::on_own_thread;
use crate::command::trial::TrialFolder;
use crate::command::{
    CommandSpec, Confinement, HelperProgram, OutputSink, RunningCommand, SandboxError, SandboxFacts,
    StateDir, Tier, Unconfined,
};

/// How commands are held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// In namespaces and mounts that the helper makes itself.
    Own,
    /// In the same ones, made by a program of the system that may.
    Bwrap {
        program: &'static str,
        /// Whether it can layer folders.
        layers: bool,
    },
    /// Without any, by Landlock and call filters.
    Reduced,
}

/// Commands in namespaces, where this machine lets an ordinary account make them.
pub(crate) struct LinuxConfinement {
    helper: HelperProgram,
    found: OnceLock<(Option<Way>, SandboxFacts)>,
}

impl LinuxConfinement {
    pub(crate) fn new(helper: HelperProgram) -> Self {
        Self {
            helper,
            found: OnceLock::new(),
        }
    }

    /// Runs one command for real, in a project of its own.
    fn probe(&self, way: Way) -> Result<(), SandboxError> {
        let place = TrialFolder::make().map_err(SandboxError::State)?;
        let project = place.0.join("project");
        std::fs::create_dir(&project).map_err(SandboxError::State)?;
        let root =
            ProjectRoot::open(&project).map_err(|error| SandboxError::State(io::Error::other(error)))?;
        // What is written beside must not come to be there, what is written inside must; and in namespaces the command
        // must be among its own.
        let alone = if way == Way::Reduced { "" } else { "[ $$ = 2 ] && " };
        let line = format!("{alone}: >inside && {{ (: >../beside) 2>/dev/null; exit 0; }}");
        let mut spec = CommandSpec::shell(root, StateDir::new(place.0.join("state")), line);
        spec.time_limit = Some(Duration::from_secs(10));
        let (sink, _output) = tokio::sync::mpsc::channel(16);
        let end = self.run(way, spec, sink)?.wait_blocking();
        if end.exit.is_success() && project.join("inside").exists() && !place.0.join("beside").exists() {
            return Ok(());
        }
        let source = io::Error::other(format!("the trial ended with {:?}", end.exit));
        Err(SandboxError::Setup {
            step: "trying the sandbox".into(),
            source,
        })
    }

    /// The best way that works here, and what it holds.
    fn found(&self) -> &(Option<Way>, SandboxFacts) {
        self.found.get_or_init(|| {
            let Err(why_not_own) = self.probe(Way::Own) else {
                return (Some(Way::Own), full());
            };
            if let Some(program) = bwrap::program() {
                let layers = bwrap::can_layer(program);
                let way = Way::Bwrap { program, layers };
                if self.probe(way).is_ok() {
                    return (Some(way), by_bwrap(layers));
                }
            }
            match self.probe(Way::Reduced) {
                Ok(()) => (Some(Way::Reduced), reduced(&why_not_own)),
                Err(_) => (None, none(&why_not_own)),
            }
        })
    }

    fn run(&self, way: Way, spec: CommandSpec, output: OutputSink) -> Result<RunningCommand, SandboxError> {
        let helper = self.helper.clone();
        let start = move |spec: CommandSpec| match way {
            // Some file systems cannot be layered.
            Way::Bwrap {
                program,
                layers: true,
            } => {
                let without = Way::Bwrap {
                    program,
                    layers: false,
                };
                Confined::start(&helper, way, spec.clone(), output.clone())
                    .or_else(|_| Confined::start(&helper, without, spec, output))
            }
            way => Confined::start(&helper, way, spec, output),
        };
        on_own_thread(spec, start, Confined::supervise)
    }
}

impl Confinement for LinuxConfinement {
    fn facts(&self) -> SandboxFacts {
        self.found().1.clone()
    }

    fn start(&self, spec: CommandSpec, output: OutputSink) -> Result<RunningCommand, SandboxError> {
        let (way, facts) = self.found();
        match way {
            None => Unconfined::new(facts.gaps.first().cloned().unwrap_or_default()).start(spec, output),
            Some(way) => self.run(*way, spec, output),
        }
    }
}

fn full() -> SandboxFacts {
    let texts = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect();
    SandboxFacts {
        tier: Tier::Full,
        summary: "Commands are confined to the project; each host they connect to is asked for.".into(),
        holds: texts(&[
            "Only the project can be changed; git's hooks and settings in it cannot.",
            "Of the home folder only toolchains and git's settings can be read.",
            "There is no network unless it is allowed, and no other program of this machine can be reached.",
            "When a command ends, is stopped, or Paddock dies, every process it started ends.",
            "Processes, memory and file sizes are limited.",
            "What a command leaves that would run later outside is moved away.",
        ]),
        gaps: texts(&[
            "A fault in the Linux kernel could be used to get out.",
            "What you run by hand later, like a changed build script, is not confined.",
            "Files with passwords are hidden from commands by their names; one that lies deep in node_modules, target and \
             the like, or in a project of many thousand folders, may not be found.",
        ]),
        remedy: None,
    }
}

/// The same walls, made by a program of the system; the little that differs is said.
fn by_bwrap(layers: bool) -> SandboxFacts {
    let mut facts = full();
    facts
        .summary
        .push_str(" The walls are made by the system's bubblewrap.");
    if !layers {
        facts.gaps.push(
            "This version of bubblewrap cannot layer folders: what you downloaded with cargo, npm and the like before is \
             not seen, so each project downloads it once more."
                .into(),
        );
    }
    facts
}

fn reduced(error: &SandboxError) -> SandboxFacts {
    let texts = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect();
    let mut gaps = vec![format!(
        "The whole sandbox does not work on this machine, so only a part of it holds: {error}."
    )];
    gaps.extend(GAPS_REDUCED.iter().map(|gap| (*gap).to_owned()));
    SandboxFacts {
        tier: Tier::Reduced,
        summary: "Commands can change files of the project only, network off; not everything else is held, so each \
                  one asks."
            .into(),
        holds: texts(&[
            "Only files of the project can be written, and outside of it only the system and toolchains be read.",
            "Without network there are no connections at all, to no program of this machine either.",
            "When a command ends, is stopped, or Paddock dies, every process it started ends.",
            "Processes, memory, file sizes and the disk are watched.",
            "What a command changed in git's hooks and settings is brought back when it ends.",
        ]),
        gaps,
        remedy: none(error).remedy,
    }
}

/// What the reduced tier does not hold.
const GAPS_REDUCED: &[&str] = &[
    "Mode, times and attributes of other files of this account can be changed.",
    "Files with passwords in the project can be read.",
    "Git's hooks and settings can be changed while a command runs; they are brought back after it, but not where Paddock \
     itself dies meanwhile.",
    "Size and times of files outside, other processes and the machine's open ports can be seen.",
    "With network allowed, also local sockets of this machine can be reached.",
    "Before Linux 6.12, other processes of this account can be ended.",
    "No own loopback, no terminals, no shared memory, and /tmp is not there: some programs do not work.",
    "Hosts cannot be asked about one by one: without network nothing is reachable.",
];

fn none(error: &SandboxError) -> SandboxFacts {
    let why = format!("The sandbox does not work on this machine: {error}.");
    let mut facts = Unconfined::new(why).facts();
    let restricted = std::fs::read_to_string("/proc/sys/kernel/apparmor_restrict_unprivileged_userns");
    facts.remedy = Some(if restricted.is_ok_and(|value| value.trim() == "1") {
        "This system lets only known programs confine commands: install Paddock from its package, which brings the \
         AppArmor profile that allows it."
            .into()
    } else {
        "Allow unprivileged user namespaces for this account; in a container, allow it a /proc of its own."
            .into()
    });
    facts
}
