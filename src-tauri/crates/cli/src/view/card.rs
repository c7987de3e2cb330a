//! An approval as text: what would happen, how it is confined, whether it can be taken back.

use super::{plain, style::Style, words};
use paddock_protocol::*;
use std::fmt::Write;

/// Lines of a diff that a card shows; the rest is counted.
const DIFF_LINES: usize = 200;

/// The card, ending in a line end.
pub fn approval(request: &ApprovalRequest, style: Style) -> String {
    let mut card = String::new();
    let title = format!(
        "Approval needed: {} {}",
        words::verb(request.verb),
        plain::short(&request.target, 200)
    );
    let title = match &request.origin {
        Some(origin) => format!("{title}  (main › {})", plain::short(&origin.name, 60)),
        None => title,
    };
    let _ = writeln!(card, "\n{}", style.attention(&style.bold(&title)));
    if request.renewed {
        card.push_str("  The file changed after the proposal; this is the renewed change.\n");
    }
    for place in request.access.iter().filter_map(outside) {
        let _ = writeln!(card, "  {place}");
    }
    if let Some(first) = &request.again {
        let exit = first
            .output
            .exit_code
            .map_or_else(String::new, |code| format!(" (exit {code})"));
        let _ = writeln!(
            card,
            "  It ran{exit}, and the sandbox refused this. Allowed, it would run a second time, with just this open."
        );
    }
    push_body(&mut card, request, style);
    let undo = match &request.undo {
        UndoFact::Nothing => "It changes nothing.".to_owned(),
        UndoFact::Covered => "It can be undone.".to_owned(),
        UndoFact::NotCovered { why } => format!("It cannot be undone by Paddock: {}", plain::line(why)),
    };
    let _ = writeln!(card, "  {undo}");
    if let Some(why) = request.trace.iter().find(|line| line.decides) {
        let says = plain::line(&why.says);
        let _ = writeln!(
            card,
            "  {}",
            style.dim(&format!("Why: {}: {says}", plain::line(&why.about)))
        );
    }
    card
}

fn push_body(card: &mut String, request: &ApprovalRequest, style: Style) {
    match &request.body {
        ApprovalBody::Command {
            command,
            segments,
            folder,
            time_limit,
            background,
            sandbox,
        } => {
            for line in plain::text(command).lines() {
                let _ = writeln!(card, "  {} {line}", style.bold("$"));
            }
            for segment in segments.iter().filter(|segment| !segment.notes.is_empty()) {
                let notes = plain::line(&segment.notes.join(", "));
                let _ = writeln!(card, "  {}: {notes}", plain::short(&segment.text, 80));
            }
            if folder != "." {
                let _ = writeln!(card, "  In {}", plain::line(folder));
            }
            let time = match background {
                true => "It goes on in the background.".to_owned(),
                false => format!("Time limit {}.", words::time(*time_limit)),
            };
            let _ = writeln!(card, "  {} {time}", confinement(sandbox));
            for gap in &sandbox.gaps {
                let _ = writeln!(card, "  {}", plain::line(gap));
            }
        }
        ApprovalBody::Change { change, .. } => push_change(card, change, style),
        ApprovalBody::Changes { changes: files, .. } | ApprovalBody::Delete { files, .. } => {
            files.iter().for_each(|file| push_change(card, file, style))
        }
        ApprovalBody::Connect {
            host,
            port,
            reach,
            request,
            command,
        } => {
            let whose = match reach {
                HostReach::Public | HostReach::Unknown => "",
                HostReach::Private => "  (in your own network)",
                HostReach::Loopback => "  (this machine)",
            };
            let _ = writeln!(
                card,
                "  Connect to {}, port {port}{whose}",
                style.bold(&plain::line(host))
            );
            if let Some(request) = request {
                let _ = writeln!(card, "  {}", plain::short(request, 500));
            }
            if let Some(command) = command {
                let _ = writeln!(
                    card,
                    "  For the command that runs: {}",
                    plain::short(command, 200)
                );
            }
        }
        ApprovalBody::Other => {
            let _ = writeln!(card, "  {}", plain::short(&request.arguments, 2_000));
        }
    }
}

/// A place outside of the project, as a sentence.
fn outside(access: &Access) -> Option<String> {
    let Access::Outside { path, write, through } = access else {
        return None;
    };
    let verb = if *write { "Change" } else { "Read" };
    let leaves = through.as_ref().map_or_else(String::new, |through| {
        format!(" (through {})", plain::line(through))
    });
    Some(format!(
        "{verb} outside of the project: {}{leaves}",
        plain::line(path)
    ))
}

fn confinement(sandbox: &SandboxSummary) -> String {
    if !sandbox.confined {
        return "Not confined: it can reach everything that you can.".to_owned();
    }
    let writes = if sandbox.read_only {
        "nothing can be written"
    } else {
        "writes only in the project"
    };
    let network = match sandbox.network {
        NetworkLevel::Off => "no network",
        NetworkLevel::Asks => "each host is asked for",
        NetworkLevel::Open => "with network",
    };
    format!("In the sandbox: {writes}, {network}.")
}

fn push_change(card: &mut String, change: &FileChange, style: Style) {
    let _ = writeln!(
        card,
        "  {} {}",
        plain::line(&change.path),
        style.dim(&format!("+{} −{}", change.added, change.removed))
    );
    let Some(diff) = &change.diff else {
        card.push_str("  (no preview: binary or very large)\n");
        return;
    };
    let all: usize = diff.hunks.iter().map(|hunk| hunk.lines.len()).sum();
    let mut shown = 0;
    for hunk in &diff.hunks {
        if shown >= DIFF_LINES {
            break;
        }
        let _ = writeln!(
            card,
            "  {}",
            style.dim(&format!("@@ line {} @@", hunk.new_start.max(1)))
        );
        for line in hunk.lines.iter().take(DIFF_LINES - shown) {
            shown += 1;
            let text = plain::line(&line.text);
            let _ = match line.mark {
                DiffMark::Same => writeln!(card, "    {text}"),
                DiffMark::Added => writeln!(card, "  {}", style.good(&format!("+ {text}"))),
                DiffMark::Removed => writeln!(card, "  {}", style.bad(&format!("- {text}"))),
            };
        }
    }
    if shown < all {
        let rest = words::count((all - shown) as u64, "further line");
        let _ = writeln!(card, "  … {rest}; the whole change is in the session");
    }
}
