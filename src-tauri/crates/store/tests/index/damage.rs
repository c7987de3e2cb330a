use crate::desk::Desk;
use crate::random_logs::{Dice, session};
use paddock_protocol::*;
use std::fs;
use std::io::Write;

const NOW: u64 = 1_700_600_000_000;

fn filled() -> (Desk, Metrics) {
    let desk = Desk::new();
    let mut dice = Dice(42);
    for n in 0..5 {
        desk.write(&session(&mut dice, &format!("s{n}"), None).events);
    }
    let figures = desk.metrics(&MetricsQuery::default(), NOW);
    assert!(figures.turns > 3 && !figures.tools.is_empty());
    (desk, figures)
}

fn same(desk: &Desk, figures: &Metrics) {
    assert_eq!(desk.metrics(&MetricsQuery::default(), NOW), *figures);
}

#[test]
fn a_damaged_or_foreign_index_is_made_anew() {
    let (desk, figures) = filled();
    fs::write(
        desk.index(),
        b"this is not a database, and longer than a header of one would be",
    )
    .unwrap();
    same(&desk, &figures);
    let whole = fs::read(desk.index()).unwrap();
    assert!(whole.starts_with(b"SQLite format 3"), "it is kept again");

    // Pages in the middle overwritten.
    let mut broken = whole.clone();
    for byte in &mut broken[4_096..] {
        *byte = 0x5a;
    }
    fs::write(desk.index(), &broken).unwrap();
    same(&desk, &figures);

    let rows = rusqlite::Connection::open(desk.index()).unwrap();
    rows.execute_batch("DROP TABLE calls; CREATE TABLE calls (strange)")
        .unwrap();
    drop(rows);
    same(&desk, &figures);

    let rows = rusqlite::Connection::open(desk.index()).unwrap();
    rows.execute_batch("PRAGMA user_version = 99; CREATE TABLE \"of a \"\"newer\"\" Paddock\" (x)")
        .unwrap();
    drop(rows);
    same(&desk, &figures);
}

#[test]
fn an_index_that_another_program_holds_or_that_cannot_be_kept_costs_no_answer() {
    let (desk, figures) = filled();
    let mut more = session(&mut Dice(77), "s9", None);
    more.turn(false);
    desk.write(&more.events);
    let rows = rusqlite::Connection::open(desk.index()).unwrap();
    rows.execute_batch("BEGIN IMMEDIATE").unwrap();
    let held = desk.metrics(&MetricsQuery::default(), NOW);
    assert!(held.turns > figures.turns);
    drop(rows);
    same(&desk, &held);

    fs::remove_file(desk.index()).unwrap();
    fs::create_dir(desk.index()).unwrap();
    same(&desk, &held);
}

#[test]
fn gone_shortened_and_damaged_logs_are_followed() {
    let (desk, figures) = filled();
    paddock_store::sessions::delete_session(&desk.home, &SessionId::new("s1")).unwrap();
    let without = desk.metrics(&MetricsQuery::default(), NOW);
    assert!(without.turns < figures.turns);

    // The same id with another log, shorter than what was read of the first one.
    let log = desk.home.path().join("sessions/s2/log.jsonl");
    let text = fs::read_to_string(&log).unwrap();
    let one_line = text.split_inclusive('\n').next().unwrap();
    fs::write(&log, one_line).unwrap();
    let shorter = desk.metrics(&MetricsQuery::default(), NOW);
    assert!(shorter.turns < without.turns);

    // A line that is no event, and the beginning of one that is still being written.
    let whole = text.split_inclusive('\n').skip(1);
    let mut file = fs::File::options().append(true).open(&log).unwrap();
    file.write_all(b"{\"no\": \"event\"}\n").unwrap();
    whole.for_each(|line| file.write_all(line.as_bytes()).unwrap());
    file.write_all(b"{\"session\":\"s2\",\"se").unwrap();
    same(&desk, &without);
    same(&desk, &without);
    fs::create_dir(desk.home.path().join("sessions/stray")).unwrap();
    same(&desk, &without);
}
