//! Caps on money over several sessions: what one has on its way, another reckons with. And what a view that begins anew is told.

use crate::bed::{Bed, Work};
use paddock_core::SessionWish;
use paddock_protocol::*;
use paddock_tests::model_server::{ModelServer, text, wait};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

fn dear(budget: Budget) -> SessionWish {
    SessionWish {
        budget: Some(budget),
        ..SessionWish::default()
    }
}

/// A model whose input costs so much for a million tokens.
async fn priced(bed: &Bed, dollars: u64) {
    let price = Price {
        input: Micros(dollars * 1_000_000),
        output: Micros(dollars * 1_000_000),
        ..Price::default()
    };
    bed.correct(ModelOverride {
        model: crate::bed::model_of("main"),
        window: None,
        output: Some(1_000),
        cost: Some(ModelCost::PerMillion { price }),
        images: None,
    })
    .await;
}

async fn paused(work: &mut Work) -> PauseCause {
    work.hear("a pause", |msg| match msg {
        EventMsg::TurnChanged {
            status: TurnStatus::Paused { cause },
            ..
        } => Some(cause.clone()),
        _ => None,
    })
    .await
}

#[tokio::test]
async fn two_sessions_at_once_do_not_pass_the_cap_of_the_day() {
    let open = Arc::new(AtomicBool::new(false));
    let may_answer = open.clone();
    let server = ModelServer::start(move |_, _| {
        while !may_answer.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(10));
        }
        let mut answer = text("Hello.");
        answer.insert(0, wait(1));
        answer
    })
    .unwrap();
    let bed = Bed::new(&[("main", &server)]);
    // A first request is reckoned with about 2,500 tokens: one fits, two do not.
    priced(&bed, 100).await;
    let budget = Budget {
        day: Some(Micros(400_000)),
        ask_expensive: false,
        ..Budget::default()
    };
    let mut one = bed.session(dear(budget.clone())).await;
    // The folder belongs to the first.
    let mut other = bed
        .session(SessionWish {
            role: Some(Role::Plan),
            ..dear(budget)
        })
        .await;
    one.say("Hello").await;
    one.status(TurnStatus::Thinking).await;
    other.say("Hello").await;
    let PauseCause::Limits { reached } = paused(&mut other).await else {
        panic!("another cause");
    };
    assert_eq!(reached[0].limit, LimitKind::DayMoney);
    assert!(
        reached[0].used > 0,
        "what the other session has on its way counts as used: {reached:?}"
    );
    assert!(server.wait_for(1));
    assert_eq!(server.received().len(), 1);
    open.store(true, Ordering::Relaxed);
    one.status(TurnStatus::Completed).await;
    // The answer was cheaper than was held, and nothing is held any longer.
    let limit = LimitKind::DayMoney;
    other.submit(Op::Extend { limit, by: 1 }).await;
    other.status(TurnStatus::Completed).await;
    assert_eq!(server.received().len(), 2);
}

#[tokio::test]
async fn a_view_that_begins_anew_knows_what_was_raised_and_what_is_on_its_way() {
    let open = Arc::new(AtomicBool::new(false));
    let may_answer = open.clone();
    let server = ModelServer::start(move |_, _| {
        while !may_answer.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(10));
        }
        text("Hello.")
    })
    .unwrap();
    let bed = Bed::new(&[("main", &server)]);
    priced(&bed, 100).await;
    let budget = Budget {
        turn: Some(Micros(100_000)),
        session: Some(Micros(100_000)),
        day: None,
        ask_expensive: false,
    };
    let mut work = bed.session(dear(budget)).await;
    work.say("Hello").await;
    paused(&mut work).await;
    assert_eq!(work.snapshot().await.raised, RaisedCaps::default());
    for limit in [
        LimitKind::TurnMoney,
        LimitKind::SessionMoney,
        LimitKind::SessionTokens,
    ] {
        work.submit(Op::Extend { limit, by: 2_000_000 }).await;
    }
    work.status(TurnStatus::Thinking).await;
    let shown = work.snapshot().await;
    assert_eq!(
        shown.raised,
        RaisedCaps {
            tokens: Some(3_000_000),
            turn: Some(Micros(2_100_000)),
            session: Some(Micros(2_100_000)),
            day: None,
        }
    );
    let estimate = shown.estimate.unwrap();
    assert!(estimate.cost.0 > 100_000 && estimate.estimated, "{estimate:?}");
    open.store(true, Ordering::Relaxed);
    work.status(TurnStatus::Completed).await;
    assert_eq!(work.snapshot().await.estimate, None);
    work.submit(Op::SetBudget {
        budget: Budget::default(),
    })
    .await;
    let raised = work.snapshot().await.raised;
    assert_eq!((raised.session, raised.tokens), (None, Some(3_000_000)));
}

#[tokio::test]
async fn a_message_does_not_agree_to_an_expensive_request() {
    let server = ModelServer::scripted(vec![text("Hello.")]).unwrap();
    let bed = Bed::new(&[("main", &server)]);
    priced(&bed, 100).await;
    let budget = Budget {
        session: Some(Micros(800_000)),
        ..Budget::default()
    };
    let mut work = bed.session(dear(budget)).await;
    work.say("Hello").await;
    assert!(matches!(paused(&mut work).await, PauseCause::Expensive { .. }));
    work.say("And be brief.").await;
    let status = work.snapshot().await.turn.unwrap().status;
    assert!(
        matches!(
            status,
            TurnStatus::Paused {
                cause: PauseCause::Expensive { .. }
            }
        ),
        "{status:?}"
    );
    assert_eq!(server.received().len(), 0);
    work.submit(Op::Continue {
        note: None,
        allow_cause: false,
    })
    .await;
    work.status(TurnStatus::Completed).await;
    assert!(server.received()[0].body.contains("And be brief."));
}
