use crate::desk::Desk;
use crate::plain;
use crate::random_logs::{Dice, session};
use paddock_protocol::*;
use paddock_store::index::Decisions;

const LOGS: u64 = 40;
const NOW: u64 = 1_700_600_000_000;

fn queries() -> Vec<MetricsQuery> {
    let all = MetricsQuery::default;
    vec![
        all(),
        MetricsQuery {
            project: Some("/a".into()),
            ..all()
        },
        MetricsQuery {
            session: Some(SessionId::new("s1")),
            ..all()
        },
        MetricsQuery {
            days: Some(3),
            ..all()
        },
        MetricsQuery {
            project: Some("/b".into()),
            session: Some(SessionId::new("s0")),
            days: Some(5),
        },
    ]
}

fn check(desk: &Desk, logs: &[Vec<Event>], seed: u64) {
    let begun: Vec<Vec<Event>> = logs.iter().filter(|log| !log.is_empty()).cloned().collect();
    for query in queries() {
        let figures = desk.metrics(&query, NOW);
        assert_eq!(
            figures,
            plain::metrics(&begun, &query, NOW),
            "seed {seed}, {query:?}"
        );
    }
    let mut lines: Vec<(DecisionLine, u64)> = Vec::new();
    for log in logs {
        let mut fold = Decisions::default();
        lines.extend(
            log.iter()
                .filter_map(|event| Some((fold.hear(event)?, event.seq))),
        );
    }
    lines.sort_by_key(|(line, seq)| std::cmp::Reverse((line.at, line.session.clone(), *seq)));
    let lines: Vec<DecisionLine> = lines.into_iter().map(|(line, _)| line).collect();
    assert_eq!(
        desk.decisions(&MetricsQuery::default(), NOW),
        lines,
        "seed {seed}"
    );
}

#[test]
fn the_index_says_what_the_logs_say_however_it_was_fed() {
    for seed in 1..=LOGS {
        let mut dice = Dice(seed * 7_919);
        let desk = Desk::new();
        let mut logs: Vec<Vec<Event>> = (0..4)
            .map(|n| session(&mut dice, &format!("s{n}"), None).events)
            .collect();
        logs.push(session(&mut dice, "s1.t1.i1.c1", Some(("s1", "t1.i1.c1"))).events);
        let mut written = vec![0; logs.len()];
        while written.iter().zip(&logs).any(|(done, log)| *done < log.len()) {
            for (done, log) in written.iter_mut().zip(&logs) {
                let until = (*done + dice.below(120) as usize).min(log.len());
                desk.write(&log[*done..until]);
                *done = until;
            }
            let so_far: Vec<Vec<Event>> = logs
                .iter()
                .zip(&written)
                .map(|(log, done)| log[..*done].to_vec())
                .collect();
            check(&desk, &so_far, seed);
        }
        assert!(desk.index().is_file());
        std::fs::remove_file(desk.index()).unwrap();
        check(&desk, &logs, seed);
    }
}
