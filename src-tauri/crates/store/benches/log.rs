//! Speed of the log: 10,000 events appended and replayed. `cargo bench -p paddock-store`.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

use paddock_protocol::*;
use paddock_store::{Durability, Home, LogReader, LogWriter, before, settings};
use std::time::{Duration, Instant};

const EVENTS: u64 = 10_000;

fn event(session: &SessionId, seq: u64) -> Event {
    let item = Item {
        id: ItemId(seq as u32),
        turn: TurnId(1),
        iteration: 1,
        started: Timestamp(seq),
        ended: Some(Timestamp(seq + 1)),
        status: ItemStatus::Done,
        kind: ItemKind::AgentText {
            text: "Looks at the tests and runs them once more. ".repeat(6),
        },
    };
    Event {
        session: session.clone(),
        seq,
        at: Timestamp(seq),
        msg: EventMsg::ItemCompleted { item },
    }
}

fn report(what: &str, times: u64, took: Duration) {
    let each = took.as_secs_f64() * 1e6 / times as f64;
    println!(
        "{what:<44} {each:>10.1} µs each, {:>8.1} ms in all",
        took.as_secs_f64() * 1e3
    );
}

fn main() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("home");
    drop(Home::open(Some(path.clone())).unwrap());
    let begun = Instant::now();
    for _ in 0..1_000 {
        Home::open(Some(path.clone())).unwrap();
    }
    report("open the data folder", 1_000, begun.elapsed());

    let home = Home::open(Some(path)).unwrap();
    let session = SessionId::new("bench");
    let events: Vec<Event> = (1..=EVENTS).map(|seq| event(&session, seq)).collect();
    let mut writer = LogWriter::create(&home, &session).unwrap();
    let begun = Instant::now();
    for event in &events {
        writer.append(event, Durability::Written).unwrap();
    }
    report("append 10,000 events, written", EVENTS, begun.elapsed());
    println!(
        "{:<44} {:>10.1} KiB",
        "length of the log",
        writer.length() as f64 / 1024.0
    );
    let begun = Instant::now();
    let replay = LogReader::open(&home, &session).unwrap().replay().unwrap();
    report("replay 10,000 events", EVENTS, begun.elapsed());
    assert!(replay.damaged.is_empty() && replay.events == events);

    let begun = Instant::now();
    for event in &events[..200] {
        writer.append(event, Durability::Synced).unwrap();
    }
    report("append 200 events, synced", 200, begun.elapsed());
    drop(writer);
    let begun = Instant::now();
    LogWriter::open(&home, &session).unwrap();
    report("open the log to append", 1, begun.elapsed());

    let begun = Instant::now();
    for number in 0..50 {
        let call = TurnId(1).call(1, number);
        before::keep_before(&home, &session, &call, "src/a.rs", Some(&[b'x'; 8_192]), None).unwrap();
    }
    report("keep 8 KiB before a change, durable", 50, begun.elapsed());
    let begun = Instant::now();
    for _ in 0..50 {
        settings::save(&home, &Settings::default()).unwrap();
    }
    report("save the settings, durable", 50, begun.elapsed());
}
