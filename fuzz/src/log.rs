//! Logs of sessions: whatever bytes a crash, a disk or an editor left behind, reading never fails, tells every whole line
//! either as an event or as damaged, and loses nothing before the damage.

use std::cell::OnceCell;
use std::io::Write as _;

use paddock_protocol::{Event, SessionId};
use paddock_store::{Durability, Home, LogEntry, LogReader, LogWriter};

/// What the log held before the bytes came.
const BEFORE: &str = r#"{"session":"s","seq":1,"at":1700000000001,"msg":{"type":"turn_started","turn":1,"iteration_limit":25}}
{"session":"s","seq":2,"at":1700000000002,"msg":{"type":"turn_changed","turn":1,"status":{"state":"thinking"}}}
{"session":"s","seq":3,"at":1700000000003,"msg":{"type":"turn_started","turn":2,"iteration_limit":5}}
"#;

struct Place {
    _folder: tempfile::TempDir,
    home: Home,
    session: SessionId,
    before: Vec<Event>,
}

thread_local! {
    static PLACE: OnceCell<Place> = const { OnceCell::new() };
}

impl Place {
    fn new() -> Self {
        // Opening a torn log waits for the disk; in memory it does not.
        let folder = tempfile::tempdir_in("/dev/shm")
            .or_else(|_| tempfile::tempdir())
            .unwrap_or_else(|error| panic!("no folder for logs: {error}"));
        let home = Home::open(Some(folder.path().join("home"))).unwrap_or_else(|error| panic!("{error}"));
        let event = |line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}"));
        let place = Self {
            _folder: folder,
            home,
            session: SessionId::new("s"),
            before: BEFORE.lines().map(event).collect(),
        };
        drop(LogWriter::create(&place.home, &place.session).unwrap_or_else(|error| panic!("{error}")));
        place
    }

    fn file(&self) -> std::path::PathBuf {
        self.home.path().join("sessions").join("s").join("log.jsonl")
    }

    fn entries(&self) -> Vec<LogEntry> {
        LogReader::open(&self.home, &self.session)
            .and_then(Iterator::collect)
            .unwrap_or_else(|error| panic!("the log cannot be read: {error}"))
    }
}

/// Reads, repairs and continues a log that ends in the bytes; the first byte says whether whole lines stand before them.
pub fn log(bytes: &[u8]) {
    let (kept, bytes) = match bytes.split_first() {
        Some((first, rest)) if first % 2 == 1 => (BEFORE, rest),
        Some((_, rest)) => ("", rest),
        None => ("", bytes),
    };
    PLACE.with(|place| {
        let place = place.get_or_init(Place::new);
        std::fs::File::create(place.file())
            .and_then(|mut file| file.write_all(&[kept.as_bytes(), bytes].concat()))
            .unwrap_or_else(|error| panic!("{error}"));
        let found = place.entries();
        let lines = kept.lines().count() + bytes.iter().filter(|byte| **byte == b'\n').count();
        assert_eq!(found.len(), lines, "each whole line is an event or damaged");
        let known = if kept.is_empty() { &[][..] } else { &place.before };
        for (entry, event) in found.iter().zip(known) {
            assert!(
                matches!(entry, LogEntry::Event(found) if **found == *event),
                "{entry:?}"
            );
        }
        let (mut writer, torn) =
            LogWriter::open(&place.home, &place.session).unwrap_or_else(|error| panic!("{error}"));
        let ends_whole = bytes.is_empty() || bytes.ends_with(b"\n");
        assert_eq!(torn.is_none(), ends_whole);
        assert_eq!(
            place.entries(),
            found,
            "cutting the torn end off changed what is before it"
        );
        writer
            .append(&place.before[0], Durability::Written)
            .unwrap_or_else(|error| panic!("{error}"));
        drop(writer);
        let after = place.entries();
        assert_eq!(after[..found.len()], found[..]);
        assert_eq!(
            after[found.len()..],
            [LogEntry::Event(Box::new(place.before[0].clone()))]
        );
    });
}
