//! What the flags of `run` ask for, checked before anything is opened.

use super::turn::End;
use crate::arguments::Arguments;
use crate::failure::Failure;
use paddock_protocol::*;

/// Task of the demo when none is given.
pub const DEMO_TASK: &str = "Customers say that the discount is too small. Find the bug and fix it.";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Text,
    Jsonl,
}

/// Who decides about what needs an approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Approve {
    Ask,
    Reads,
    Edits,
    All,
    Never,
}

impl Approve {
    pub fn word(self) -> &'static str {
        match self {
            Approve::Ask => "ask",
            Approve::Reads => "reads",
            Approve::Edits => "edits",
            Approve::All => "all",
            Approve::Never => "never",
        }
    }
}

pub struct Wish {
    /// Absent for the demo and for going on with a session.
    pub task: Option<String>,
    pub approve: Approve,
    pub role: Option<Role>,
    pub profile: Option<LimitProfile>,
    /// How the model is asked to call tools.
    pub calls: Option<CallFormat>,
    pub max_iterations: Option<u32>,
    /// The command that has to succeed before the work is done.
    pub done_when: Option<String>,
    /// How long the model may reason.
    pub effort: Option<Effort>,
    /// What the session may cost.
    pub max_cost: Option<Micros>,
    pub format: Format,
    pub resume: Option<SessionId>,
}

impl Wish {
    pub fn read(arguments: &Arguments) -> Result<Self, Failure> {
        let role = match arguments.value("--role") {
            Some("plan") => Some(Role::Plan),
            Some("act") => Some(Role::Act),
            Some("admin") => Some(Role::Admin),
            _ => None,
        };
        let approve = match arguments.value("--approve") {
            Some("reads") => Approve::Reads,
            Some("edits") => Approve::Edits,
            Some("all") => Approve::All,
            Some("never") => Approve::Never,
            _ => Approve::Ask,
        };
        let format = match arguments.value("--format") {
            Some("jsonl") => Format::Jsonl,
            _ => Format::Text,
        };
        let profile = match arguments.value("--profile") {
            Some("quick") => Some(LimitProfile::Quick),
            Some("production") => Some(LimitProfile::Production),
            Some("complex") => Some(LimitProfile::Complex),
            Some("development") => Some(LimitProfile::Development),
            Some(_) => Some(LimitProfile::Standard),
            None => None,
        };
        let calls = match arguments.value("--calls") {
            Some("native") => Some(CallFormat::Native),
            Some("json") => Some(CallFormat::Json),
            Some("xml") => Some(CallFormat::Xml),
            _ => None,
        };
        let max_iterations = arguments.number("--max-iterations")?;
        let ceiling = Limits::ceiling(role.unwrap_or_default());
        if max_iterations.is_some_and(|most| most > ceiling) {
            return Err(Failure::usage(format!(
                "--max-iterations can be at most {ceiling} in this role. Give a smaller number."
            )));
        }
        let resume = arguments.value("--resume").map(SessionId::new);
        if resume.is_some() && arguments.has("--project") {
            return Err(Failure::usage(
                "A session keeps its folder. Leave out --project, or begin a new session without --resume.",
            ));
        }
        Ok(Self {
            task: task(arguments)?,
            approve,
            role,
            profile,
            calls,
            max_iterations,
            done_when: arguments.value("--done-when").map(str::to_owned),
            effort: match arguments.value("--effort") {
                Some("minimal") => Some(Effort::Minimal),
                Some("low") => Some(Effort::Low),
                Some("medium") => Some(Effort::Medium),
                Some("high") => Some(Effort::High),
                _ => None,
            },
            max_cost: max_cost(arguments)?,
            format,
            resume,
        })
    }

    /// Limits that differ from the settings.
    pub fn limits(&self, settings: &Settings) -> Option<Limits> {
        let base = match self.profile {
            Some(profile) => Limits::of(profile),
            None => settings.limits.clone(),
        };
        let iterations = self.max_iterations.unwrap_or(base.iterations);
        let differs = self.profile.is_some() || self.max_iterations.is_some();
        differs.then_some(Limits { iterations, ..base })
    }

    /// Iterations that a paused turn gets more.
    pub fn more_iterations(&self) -> Option<u32> {
        self.resume.as_ref().and(self.max_iterations)
    }
}

fn max_cost(arguments: &Arguments) -> Result<Option<Micros>, Failure> {
    let Some(text) = arguments.value("--max-cost") else {
        return Ok(None);
    };
    let dollars = text.trim().trim_start_matches('$').parse::<f64>();
    match dollars {
        Ok(dollars) if dollars > 0.0 && dollars <= 1_000_000.0 => {
            Ok(Some(Micros((dollars * 1e6).round() as u64)))
        }
        _ => Err(Failure::usage(format!(
            "--max-cost is '{text}'. Give an amount in dollars above zero, for example 2.50."
        ))),
    }
}

fn task(arguments: &Arguments) -> Result<Option<String>, Failure> {
    let words: Vec<&String> = arguments.operands.iter().chain(&arguments.after).collect();
    match words.as_slice() {
        [] => Ok(None),
        [task] if task.trim().is_empty() => Err(Failure::usage(
            "The task is empty. Say in one sentence what should be done: paddock run \"fix the failing test\"",
        )),
        [task] => Ok(Some((*task).clone())),
        _ => Err(Failure::usage(
            "The task has to be one argument. Put it in quotes: paddock run \"fix the failing test\"",
        )),
    }
}

pub fn no_task() -> Failure {
    Failure::usage("There is no task. Say what should be done: paddock run \"fix the failing test\"")
}

/// What makes an opened session go on; nothing when only the limit has to be raised.
pub fn resuming(snapshot: &SessionSnapshot, wish: &Wish) -> Result<Option<Op>, Failure> {
    let status = snapshot.turn.as_ref().map(|turn| &turn.status);
    match (status, wish.task.clone()) {
        (
            Some(TurnStatus::Paused {
                cause: PauseCause::Limits { .. },
            }),
            note,
        ) => Ok(note.map(|text| Op::send(text, SendMode::NextIteration))),
        (Some(TurnStatus::Paused { .. } | TurnStatus::Interrupted), note) => Ok(Some(Op::Continue {
            note,
            allow_cause: false,
        })),
        (_, Some(text)) => Ok(Some(Op::send(text, SendMode::NextIteration))),
        (_, None) => Err(Failure::usage(
            "The last turn of this session has ended. Say what should be done next: \
             paddock run --resume SESSION \"and now the documentation\"",
        )),
    }
}

/// The command that goes on with the session.
pub fn resume_line(session: &SessionId, arguments: &Arguments, end: &End) -> String {
    let mut line = format!("paddock run --resume {session}");
    if arguments.has("--base-url") {
        for flag in ["--provider", "--base-url", "--protocol", "--model", "--key-env"] {
            if let Some(value) = arguments.value(flag) {
                line.push_str(&format!(" {flag} {}", quoted(value)));
            }
        }
    }
    if end.ended {
        line.push_str(" \"…\"");
    }
    line
}

fn quoted(value: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@%+=,".contains(c);
    if !value.is_empty() && value.chars().all(plain) {
        return value.to_owned();
    }
    format!("'{}'", value.replace('\'', "'\\''"))
}
