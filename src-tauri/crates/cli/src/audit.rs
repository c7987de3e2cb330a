//! `paddock audit export`: every action in the records, a line each, for other programs and spreadsheets.

use crate::arguments::{Arguments, Command, PROJECT, choice, flag};
use crate::failure::{COMPLETED, Failure};
use crate::home;
use crate::output::Output;
use paddock_core::audit::{AuditLine, audit};
use paddock_protocol::{MetricsQuery, SessionId, Timestamp};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::time::{SystemTime, UNIX_EPOCH};

pub const EXPORT: Command = Command {
    words: &["audit", "export"],
    about: "Write out every action of the agent and every decision",
    operands: "",
    flags: &[
        crate::arguments::Flag {
            help: "only sessions of this folder (default: all)",
            ..PROJECT
        },
        flag("--session", "ID", "only this session, with its sub-agents"),
        flag("--days", "N", "only the last N days"),
        choice(
            "--format",
            "F",
            &["jsonl", "csv"],
            "one JSON object a line, or a table with a head (default: jsonl)",
        ),
        flag(
            "--out",
            "FILE",
            "into this new file instead of standard output; an existing one is not overwritten",
        ),
    ],
    notes: "\
Fields, the same in both formats (in JSON a field that says nothing is absent)
  time (UTC)  session  seq (number of the event in the session's log)  project  turn  iteration
  action      see below
  call tool target classes    the call: its id, tool, path or command, classes of risk
  allowed by rule edited reason    the verdict: by is person, policy, rule:ID or workflow:NAME;
              rule is the line of the trace that decided
  outcome duration_ms    how it ended: done, failed, timed_out, rejected, stopped, outcome_unknown …
  from to     a setting before and after
  detail      name=value pairs: exit_code, changed files, tokens, attempt

Actions
  session_created  turn_started  turn_paused  turn_interrupted  turn_ended  cause_allowed
  request_sent  request_answered  request_retried  request_failed  decision  call  undo  redo
  approval_requested  approval_withdrawn  rule_added  limit_reached  limit_extended  loop_guard
  tool_breaker  role_changed  autonomy_changed  model_changed  format_changed  fallback_changed
  limits_changed  process_started  process_ended  workflow_started  workflow_ended

No file contents, arguments or texts of the model are written; what looks like a key is [masked]. In a table no cell
begins a formula: such a text is set behind an apostrophe.",
};

pub fn export(arguments: &Arguments) -> Result<u8, Failure> {
    let folder = home::folder()?;
    let query = query(arguments)?;
    if let Some(session) = &query.session {
        let known = paddock_core::LogReader::open(&folder, session).is_ok();
        if !known {
            return Err(Failure::usage(format!(
                "There is no session '{session}'. See: paddock sessions"
            )));
        }
    }
    let mut place = Place::of(arguments)?;
    let table = arguments.value("--format") == Some("csv");
    if table {
        place.line(&AuditLine::COLUMNS.join(","));
    }
    let ended = audit(&folder, &query, now(), &mut |line| {
        place.line(&if table {
            line.csv()
        } else {
            serde_json::to_string(&line).unwrap_or_default()
        })
    });
    ended.map_err(|error| {
        Failure::fault(format!(
            "The records could not be read: {error}. What was written is not whole."
        ))
    })?;
    place.end()
}

/// What the flags of this and `paddock metrics` say about whose records are meant.
pub fn query(arguments: &Arguments) -> Result<MetricsQuery, Failure> {
    let project = match arguments.value("--project") {
        Some(project) => Some(project_path(project)?),
        None => None,
    };
    Ok(MetricsQuery {
        project,
        session: arguments.value("--session").map(SessionId::new),
        days: arguments.number("--days")?,
    })
}

/// The folder as its sessions name it. One that is gone still has its records.
fn project_path(project: &str) -> Result<String, Failure> {
    if std::fs::symlink_metadata(project).is_ok() {
        let root = home::paddock()?.open_root(project)?;
        return Ok(root.path().to_string_lossy().into_owned());
    }
    std::path::absolute(project)
        .map(|path| path.to_string_lossy().into_owned())
        .map_err(|error| Failure::usage(format!("'{project}' is no path ({error}).")))
}

fn now() -> Timestamp {
    let passed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(u64::try_from(passed.as_millis()).unwrap_or(u64::MAX))
}

/// Where the lines go.
enum Place {
    Printed(Output),
    Kept {
        file: BufWriter<File>,
        name: String,
        failed: Option<std::io::Error>,
    },
}

impl Place {
    fn of(arguments: &Arguments) -> Result<Place, Failure> {
        let Some(name) = arguments.value("--out") else {
            return Ok(Place::Printed(Output::new()));
        };
        let mut options = File::options();
        options.write(true).create_new(true);
        // It names what was done on this machine: for its owner only.
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(name).map_err(|error| match error.kind() {
            std::io::ErrorKind::AlreadyExists => Failure::usage(format!(
                "{name} is there already; name another file or remove it."
            )),
            _ => Failure::usage(format!("{name} cannot be written: {error}.")),
        })?;
        Ok(Place::Kept {
            file: BufWriter::new(file),
            name: name.to_owned(),
            failed: None,
        })
    }

    /// Whether further lines have a reader.
    fn line(&mut self, text: &str) -> bool {
        match self {
            Place::Printed(output) => {
                output.write(format!("{text}\n").as_bytes());
                !output.is_gone()
            }
            Place::Kept { file, failed, .. } => {
                *failed = writeln!(file, "{text}").err();
                failed.is_none()
            }
        }
    }

    fn end(self) -> Result<u8, Failure> {
        let Place::Kept {
            mut file,
            name,
            failed,
        } = self
        else {
            return Ok(COMPLETED);
        };
        let written = failed.map_or_else(|| file.flush().and_then(|()| file.get_ref().sync_all()), Err);
        written
            .map(|()| COMPLETED)
            .map_err(|error| Failure::fault(format!("{name} could not be written to its end: {error}.")))
    }
}
