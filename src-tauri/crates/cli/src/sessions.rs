//! `paddock sessions`: what there is to go on with.

use crate::arguments::Arguments;
use crate::failure::Failure;
use crate::home;
use crate::view::{plain, words};
use paddock_protocol::{SessionSummary, Timestamp};
use std::time::{SystemTime, UNIX_EPOCH};

pub fn list(arguments: &Arguments) -> Result<u8, Failure> {
    let folder = home::folder()?;
    let project = match arguments.value("--project") {
        Some(project) => {
            let root = home::paddock()?.open_root(project)?;
            Some(root.path().to_string_lossy().into_owned())
        }
        None => None,
    };
    let sessions = paddock_core::list_sessions(&folder, project.as_deref())
        .map_err(|error| Failure::fault(format!("The sessions could not be listed: {error}.")))?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let now = Timestamp(u64::try_from(now.as_millis()).unwrap_or(u64::MAX));
    let text: String = if arguments.has("--json") {
        let lines = sessions
            .iter()
            .filter_map(|session| serde_json::to_string(session).ok());
        lines.map(|line| line + "\n").collect()
    } else if sessions.is_empty() {
        "No sessions yet. Begin one: paddock run \"explain how this project is built\"\n".to_owned()
    } else {
        sessions.iter().map(|session| line(session, now)).collect()
    };
    Ok(crate::output::print(&text))
}

fn line(session: &SessionSummary, now: Timestamp) -> String {
    format!(
        "{}  {:<11}  {:>7}  {}  {}\n",
        session.session,
        words::status(session.status.as_ref()),
        age(now.since(session.changed).0 / 60_000),
        plain::short(&session.title, 60),
        plain::line(&session.project)
    )
}

fn age(minutes: u64) -> String {
    match minutes {
        0 => "now".to_owned(),
        1..60 => format!("{minutes} min"),
        60..1_440 => format!("{} h", minutes / 60),
        _ => format!("{} d", minutes / 1_440),
    }
}
