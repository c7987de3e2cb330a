//! The log under damage: torn ends, damaged middles, second writers, full of odd text.
#![allow(clippy::unwrap_used)]

use paddock_protocol::*;
use paddock_store::*;
use std::fs;
use std::path::PathBuf;

struct Place {
    _folder: tempfile::TempDir,
    home: Home,
    session: SessionId,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::open(Some(folder.path().join("home"))).unwrap();
        Self {
            _folder: folder,
            home,
            session: SessionId::new("0198c1b2-session"),
        }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.home
            .path()
            .join("sessions")
            .join(self.session.as_str())
            .join(name)
    }

    fn event(&self, seq: u64, text: &str) -> Event {
        let item = Item {
            id: ItemId(seq as u32),
            turn: TurnId(1),
            iteration: 1,
            started: Timestamp(1),
            ended: None,
            status: ItemStatus::Done,
            kind: ItemKind::AgentText {
                text: text.to_owned(),
            },
        };
        Event {
            session: self.session.clone(),
            seq,
            at: Timestamp(1_700_000_000_000 + seq),
            msg: EventMsg::ItemCompleted { item },
        }
    }

    /// A log of these texts, closed.
    fn written(&self, texts: &[&str]) -> Vec<Event> {
        let mut writer = LogWriter::create(&self.home, &self.session).unwrap();
        let events: Vec<Event> = texts
            .iter()
            .zip(1..)
            .map(|(text, seq)| self.event(seq, text))
            .collect();
        for event in &events {
            writer.append(event, Durability::Written).unwrap();
        }
        events
    }

    fn replay(&self) -> Replay {
        LogReader::open(&self.home, &self.session)
            .unwrap()
            .replay()
            .unwrap()
    }
}

const TEXTS: [&str; 3] = [
    "one",
    "two\nlines \u{2028} \u{0} \"quoted\"",
    "é 日本 🎉 \u{fffd}",
];

#[test]
fn what_was_appended_is_replayed() {
    let place = Place::new();
    let events = place.written(&TEXTS);
    assert_eq!(
        place.replay(),
        Replay {
            events,
            damaged: Vec::new()
        }
    );
    assert_eq!(
        fs::read(place.file("log.jsonl"))
            .unwrap()
            .iter()
            .filter(|byte| **byte == b'\n')
            .count(),
        3
    );
}

#[test]
fn a_line_torn_at_any_byte_costs_that_line_only() {
    let place = Place::new();
    let mut events = place.written(&TEXTS);
    let whole = fs::read(place.file("log.jsonl")).unwrap();
    let last = events.pop().unwrap();
    let begin = whole[..whole.len() - 1]
        .iter()
        .rposition(|byte| *byte == b'\n')
        .unwrap()
        + 1;
    for cut in begin..whole.len() {
        fs::write(place.file("log.jsonl"), &whole[..cut]).unwrap();
        assert_eq!(
            place.replay().events,
            events,
            "a reader leaves the torn line out, cut at {cut}"
        );
        let (mut writer, torn) = LogWriter::open(&place.home, &place.session).unwrap();
        let length = (cut - begin) as u64;
        assert_eq!(
            torn,
            (length > 0).then_some(TornLine {
                offset: begin as u64,
                length
            })
        );
        writer.append(&last, Durability::Synced).unwrap();
        assert_eq!(writer.length(), whole.len() as u64);
        drop(writer);
        assert_eq!(fs::read(place.file("log.jsonl")).unwrap(), whole, "cut at {cut}");
    }
    let kept = fs::read(place.file("log.torn")).unwrap();
    assert!(kept.ends_with(&[&whole[begin..whole.len() - 1], b"\n"].concat()));
}

#[test]
fn a_torn_line_longer_than_one_block_is_found() {
    let place = Place::new();
    let events = place.written(&["short"]);
    let mut bytes = fs::read(place.file("log.jsonl")).unwrap();
    let whole = bytes.len();
    bytes.resize(whole + 300_000, 0);
    fs::write(place.file("log.jsonl"), &bytes).unwrap();
    let (_, torn) = LogWriter::open(&place.home, &place.session).unwrap();
    assert_eq!(
        torn,
        Some(TornLine {
            offset: whole as u64,
            length: 300_000
        })
    );
    assert_eq!(place.replay().events, events);
    fs::write(place.file("log.jsonl"), vec![b'x'; 200_000]).unwrap();
    let (writer, torn) = LogWriter::open(&place.home, &place.session).unwrap();
    assert_eq!((writer.length(), torn.unwrap().length), (0, 200_000));
}

#[test]
fn a_damaged_middle_is_counted_and_stays() {
    let place = Place::new();
    let events = place.written(&TEXTS);
    let text = fs::read(place.file("log.jsonl")).unwrap();
    let mut lines: Vec<Vec<u8>> = text
        .split_inclusive(|byte| *byte == b'\n')
        .map(<[u8]>::to_vec)
        .collect();
    lines[1] = b"\xff\xfe{\"not\": an event\n".to_vec();
    lines.insert(2, b"\n".to_vec());
    lines.insert(3, b"{\"type\":\"from_the_future\"}\n".to_vec());
    let damaged = lines.concat();
    fs::write(place.file("log.jsonl"), &damaged).unwrap();
    let replay = place.replay();
    assert_eq!(replay.events, [events[0].clone(), events[2].clone()]);
    let places: Vec<_> = replay
        .damaged
        .iter()
        .map(|line| (line.line, line.offset, line.length))
        .collect();
    let first = lines[0].len() as u64;
    assert_eq!(places, [(2, first, 18), (3, first + 19, 0), (4, first + 20, 26)]);
    let (_, torn) = LogWriter::open(&place.home, &place.session).unwrap();
    assert_eq!(torn, None);
    assert_eq!(
        fs::read(place.file("log.jsonl")).unwrap(),
        damaged,
        "nothing in the middle is rewritten"
    );
}

#[test]
fn there_is_one_writer() {
    let place = Place::new();
    let mut writer = LogWriter::create(&place.home, &place.session).unwrap();
    assert!(matches!(
        LogWriter::open(&place.home, &place.session),
        Err(StoreError::InUse { .. })
    ));
    assert!(matches!(
        LogWriter::create(&place.home, &place.session),
        Err(StoreError::InUse { .. })
    ));
    assert!(matches!(
        sessions::delete_session(&place.home, &place.session),
        Err(StoreError::InUse { .. })
    ));
    writer
        .append(&place.event(1, "seen by a reader at once"), Durability::Written)
        .unwrap();
    assert_eq!(place.replay().events.len(), 1);
    drop(writer);
    assert!(matches!(
        LogWriter::create(&place.home, &place.session),
        Err(StoreError::AlreadyExists { .. })
    ));
    LogWriter::open(&place.home, &place.session).unwrap();
    let other = SessionId::new("other");
    assert!(matches!(
        LogWriter::open(&place.home, &other),
        Err(StoreError::NotFound { .. })
    ));
    assert!(matches!(
        LogReader::open(&place.home, &other),
        Err(StoreError::NotFound { .. })
    ));
}

/// The lock is one between processes: this test starts itself again as the second one.
#[test]
fn a_second_process_is_refused() {
    if let Ok(home) = std::env::var("PADDOCK_TEST_SECOND_WRITER") {
        let home = Home::open(Some(home.into())).unwrap();
        let refused = LogWriter::open(&home, &SessionId::new("0198c1b2-session"));
        assert!(matches!(refused, Err(StoreError::InUse { .. })), "{refused:?}");
        return;
    }
    let place = Place::new();
    let _writer = LogWriter::create(&place.home, &place.session).unwrap();
    let second = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "a_second_process_is_refused", "--nocapture"])
        .env("PADDOCK_TEST_SECOND_WRITER", place.home.path())
        .output()
        .unwrap();
    assert!(
        second.status.success(),
        "{}",
        String::from_utf8_lossy(&second.stdout)
    );
    assert!(String::from_utf8_lossy(&second.stdout).contains("1 passed"));
}

/// A disk that is full: an append that fails leaves the log as it was, and the next one works.
#[cfg(target_os = "linux")]
#[test]
fn a_failed_append_leaves_no_half_line() {
    if std::env::var_os("PADDOCK_TEST_SMALL_FILES").is_none() {
        let limited = std::process::Command::new("sh")
            .args([
                "-c",
                "ulimit -f 8; trap '' XFSZ; exec \"$0\" --exact a_failed_append_leaves_no_half_line",
            ])
            .arg(std::env::current_exe().unwrap())
            .env("PADDOCK_TEST_SMALL_FILES", "1")
            .output()
            .unwrap();
        assert!(
            limited.status.success(),
            "{}",
            String::from_utf8_lossy(&limited.stdout)
        );
        return;
    }
    let place = Place::new();
    let mut writer = LogWriter::create(&place.home, &place.session).unwrap();
    let first = place.event(1, "fits");
    writer.append(&first, Durability::Written).unwrap();
    let failed = writer.append(&place.event(2, &"x".repeat(20_000)), Durability::Written);
    assert!(failed.is_err());
    assert_eq!(
        writer.length(),
        fs::metadata(place.file("log.jsonl")).unwrap().len()
    );
    let third = place.event(2, "fits too");
    writer.append(&third, Durability::Synced).unwrap();
    assert_eq!(
        place.replay(),
        Replay {
            events: vec![first, third],
            damaged: Vec::new()
        }
    );
}
