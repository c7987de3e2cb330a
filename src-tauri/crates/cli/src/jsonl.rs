#![doc = include_str!("jsonl.md")]

use crate::failure::Failure;
use crate::output::Output;
use paddock_core::{Home, LogEntry, LogReader};
use paddock_protocol::{Event, SessionId};

/// Prints one event as one line.
pub fn print(event: &Event, output: &mut Output) {
    if let Ok(mut line) = serde_json::to_vec(event) {
        line.push(b'\n');
        output.write(&line);
    }
}

/// The durable events of a session in its log, numbered after `after` up to and including `upto`.
pub fn logged(home: &Home, session: &SessionId, after: u64, upto: u64) -> Result<Vec<Event>, Failure> {
    let reader = LogReader::open(home, session)
        .map_err(|_| Failure::usage(format!("There is no session '{session}'. See: paddock sessions")))?;
    let mut events = Vec::new();
    for entry in reader {
        let entry = entry.map_err(|error| {
            Failure::fault(format!(
                "The session could not be read: {error}. Its file is kept as it is."
            ))
        })?;
        if let LogEntry::Event(event) = entry
            && event.seq > after
            && event.seq <= upto
        {
            events.push(*event);
        }
    }
    Ok(events)
}
