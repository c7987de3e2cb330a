//! `paddock doctor`: what this machine gives Paddock, really tried, with what helps where something is missing.

use crate::arguments::{Arguments, Command, switch};
use crate::failure::Failure;
use crate::home;
use crate::view::{plain, style::Style};
use paddock_protocol::*;
use std::fmt::Write;

pub const DOCTOR: Command = Command {
    words: &["doctor"],
    about: "Try the sandbox on this machine, and look at keyring, storage and programs",
    operands: "",
    flags: &[switch("--json", "as one JSON array")],
    notes: "\
Each trial attempts a way out of the sandbox, in a project of its own, and looks from outside whether it was held.
Ends with 0 when all is well or only less comfortable, with 1 when something does not hold that has to.",
};

pub async fn show(arguments: &Arguments) -> Result<u8, Failure> {
    let paddock = home::paddock()?;
    let Reply::Health { items } = paddock.request(Request::Health).await? else {
        return Err(Failure::fault("The machine could not be looked at."));
    };
    let text = if arguments.has("--json") {
        serde_json::to_string(&items).unwrap_or_default() + "\n"
    } else {
        items
            .iter()
            .map(|item| {
                shown(
                    item,
                    Style {
                        colours: crate::output::Output::new().has_colours(),
                    },
                )
            })
            .collect()
    };
    let bad = items.iter().any(|item| item.state == HealthState::Bad);
    let printed = crate::output::print(&text);
    Ok(if bad { 1 } else { printed })
}

fn shown(item: &HealthItem, style: Style) -> String {
    let mut text = String::new();
    let mark = match item.state {
        HealthState::Good => style.good("✓"),
        HealthState::Warning => style.attention("!"),
        HealthState::Bad => style.bad("✕"),
    };
    let key = style.bold(&format!("{:<10}", item.key));
    let _ = writeln!(text, "{mark} {key} {}", plain::line(&item.says));
    for trial in &item.trials {
        let mark = match trial.outcome {
            TrialOutcome::Held => style.good("held      "),
            TrialOutcome::Broken => style.bad("NOT HELD  "),
            TrialOutcome::NotTried => style.dim("not tried "),
        };
        let _ = writeln!(text, "    {mark} {}", plain::line(&trial.tried));
        if trial.outcome != TrialOutcome::Held {
            let _ = writeln!(
                text,
                "               {}",
                style.dim(&plain::line(&trial.evidence))
            );
        }
        if let Some(remedy) = &trial.remedy {
            let _ = writeln!(text, "               {}", plain::line(remedy));
        }
    }
    if let Some(remedy) = &item.remedy {
        let _ = writeln!(text, "    {}", plain::line(remedy));
    }
    text
}
