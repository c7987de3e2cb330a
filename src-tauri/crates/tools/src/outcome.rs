//! What a model is told of a command: its output, bounded, how it ended, and what was noticed.

use crate::gather::Gathered;
use crate::terminal::plain;
use crate::typed::{blocking, done};
use crate::{CallContext, bounds, place};
use paddock_protocol::{Access, CallOutput, Millis, OutputFacts, ProcessId};
use paddock_sandbox::{Blocked, CommandEnd, CommandExit, Limit, ProjectRoot};

/// Bytes of output shown to the model before and after what is left out.
const HEAD: usize = 16 * 1024;
const TAIL: usize = 44 * 1024;
/// Bytes of a text of which only the beginning is shown.
const BEGINNING: usize = 32 * 1024;
/// Refusals and files moved away that the model is told of, and bytes of each.
const MAX_NOTICES: usize = 8;
const MAX_NOTICE: usize = 400;

/// The result of a command that is over; `own_limit`: it was ended, because it took longer than the model allowed.
pub(crate) async fn report(
    output: &Gathered,
    end: &CommandEnd,
    own_limit: Option<Millis>,
    cx: &CallContext,
) -> CallOutput {
    let whole = plain(output.first());
    let mut rest = String::new();
    if whole.len() > HEAD + TAIL && keep(whole.clone(), cx).await {
        rest = format!("; read_output with call {} shows them", cx.call);
    }
    let (mut text, is_cut) = shown(&whole, &rest, HEAD, TAIL);
    let lost = output.beyond() + end.output_dropped;
    if lost > 0 {
        text.push_str(&format!(
            "[{} of output were too much and are lost]\n",
            bounds::size(lost)
        ));
    }
    let mut lines = notices(end);
    if let Some(limit) = own_limit {
        lines[0] = format!(
            "[did not end within {} s and was ended; up to {} s are possible]",
            limit.0 as f64 / 1000.0,
            cx.command_time.0 / 1000
        );
    }
    for line in lines {
        text.push_str(&line);
        text.push('\n');
    }
    let facts = OutputFacts::Command {
        sandbox: cx.sandbox.tier.clone(),
        timed_out: own_limit.is_some() || end.exit == CommandExit::TimedOut,
        denials: end.denials.iter().map(|denial| denial.sentence.clone()).collect(),
        quarantined: end.quarantined.iter().map(|file| file.path.clone()).collect(),
    };
    CallOutput {
        ok: end.exit.is_success() && own_limit.is_none(),
        text: bounds::start_of(&text, bounds::MAX_TEXT).to_owned(),
        duration: end.duration.into(),
        exit_code: match end.exit {
            CommandExit::Code(code) if own_limit.is_none() => Some(code),
            _ => None,
        },
        total_bytes: is_cut.then_some(whole.len() as u64),
        facts: Some(facts),
        timed_out: own_limit.is_some() || end.exit == CommandExit::TimedOut,
        refused: refused(end, &cx.root),
        ..CallOutput::default()
    }
}

/// What the sandbox refused and a person could allow.
fn refused(end: &CommandEnd, root: &ProjectRoot) -> Vec<Access> {
    let mut all = Vec::new();
    for blocked in &end.blocked {
        let access = match blocked {
            Blocked::Host { host, .. } => Some(Access::Network { host: host.clone() }),
            Blocked::Path { path, write } => root
                .never_granted(path, *write)
                .is_none()
                .then(|| place::access(path, path.is_dir(), *write, None))
                .flatten(),
        };
        all.extend(access.filter(|access| !all.contains(access)));
    }
    all
}

/// The beginning of a text that may be long, and its size in bytes when that is not all; the whole is kept then.
pub(crate) async fn beginning(whole: &str, cx: &CallContext) -> (String, Option<u64>) {
    if whole.len() <= BEGINNING {
        return (whole.to_owned(), None);
    }
    let rest = match keep(whole.to_owned(), cx).await {
        true => format!("; read_output with call {} shows them", cx.call),
        false => String::new(),
    };
    let (text, _) = shown(whole, &rest, BEGINNING, 0);
    (text, Some(whole.len() as u64))
}

/// Output of a command that goes on, bounded.
pub(crate) fn so_far(output: &Gathered) -> String {
    shown(&plain(output.first()), "", HEAD, TAIL).0
}

/// The result of a command that goes on as a background process.
pub(crate) fn goes_on(mut text: String, process: ProcessId) -> CallOutput {
    text.push_str(&format!(
        "[goes on in the background as {process}: read_output with call {process} shows its output, stop_process ends it]\n"
    ));
    CallOutput {
        facts: Some(OutputFacts::Background { process }),
        ..done(text)
    }
}

/// The output for the model, ending with a line end, and whether its middle was left out.
fn shown(whole: &str, rest: &str, head: usize, tail: usize) -> (String, bool) {
    let cut = bounds::shorten(whole, head, tail);
    let mut text = match &cut {
        None => whole.to_owned(),
        Some(cut) => {
            let lines = bounds::count(cut.lines, "line");
            let head_end = if cut.head.is_empty() || cut.head.ends_with('\n') {
                ""
            } else {
                "\n"
            };
            format!("{}{head_end}… {lines} not shown{rest} …\n{}", cut.head, cut.tail)
        }
    };
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    (text, cut.is_some())
}

/// Keeps the whole output; a disk that does not take it costs the output, not the call.
async fn keep(whole: String, cx: &CallContext) -> bool {
    let keep = cx.whole_output.clone();
    let kept = blocking(move |_| Ok(keep(whole.as_bytes()))).await;
    match kept {
        Ok(Ok(())) => true,
        Ok(Err(error)) => {
            tracing::warn!(%error, "a long output could not be kept");
            false
        }
        Err(_) => false,
    }
}

/// How a command ended and what was noticed, a line each; the first one is how.
pub(crate) fn notices(end: &CommandEnd) -> Vec<String> {
    let mut lines = vec![match end.exit {
        CommandExit::Code(code) => format!("[exit code {code}]"),
        CommandExit::Signal(signal) => format!("[ended by signal {signal}]"),
        CommandExit::TimedOut => "[took too long and was ended]".to_owned(),
        CommandExit::Stopped => "[was stopped]".to_owned(),
        CommandExit::LimitExceeded(Limit::Processes) => {
            "[started too many processes and was ended]".to_owned()
        }
        CommandExit::LimitExceeded(Limit::Memory) => "[used too much memory and was ended]".to_owned(),
        CommandExit::LimitExceeded(Limit::Disk) => "[wrote too much to the disk and was ended]".to_owned(),
    }];
    // Those of a command that was ended from outside are no news.
    if end.processes_ended > 0 && !matches!(end.exit, CommandExit::Stopped | CommandExit::TimedOut) {
        let left = if end.processes_ended == 1 {
            "1 process".to_owned()
        } else {
            format!("{} processes", end.processes_ended)
        };
        lines.push(format!(
            "[{left} left running: ended; nothing runs on after a command, but with `background` a command itself does]"
        ));
    }
    let notices = end
        .denials
        .iter()
        .map(|denial| format!("[sandbox: {}]", denial.sentence))
        .chain(
            end.quarantined
                .iter()
                .map(|file| format!("[moved away: {}: {}]", file.path, file.reason)),
        );
    let all = end.denials.len() + end.quarantined.len();
    lines.extend(
        notices
            .take(MAX_NOTICES)
            .map(|line| bounds::start_of(&line, MAX_NOTICE).to_owned()),
    );
    if all > MAX_NOTICES {
        lines.push(format!("[and {} more like these]", all - MAX_NOTICES));
    }
    lines
}
