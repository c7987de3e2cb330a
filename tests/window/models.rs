//! A model that costs money, and a session with a budget of a few cents: the turn pauses before the request that would pass it,
//! says so, and goes on as soon as the person raises it in the strip.

use anyhow::Result;
use paddock_protocol::{Budget, Micros, ModelCost, ModelOverride, Price};
use paddock_tests::desktop::own_model;
use paddock_tests::model_server::{ModelServer, Piece, bytes, call_delta, delta, stream_head};
use serde_json::{Value, json};

use crate::steps::of_type;
use crate::work::Work;

/// An answer with the server's own count: 10,000 tokens in and 100 out, which cost 3.15 cents.
fn counted(part: &Value, finish: &str) -> Vec<Piece> {
    let usage = json!({ "prompt_tokens": 10_000, "completion_tokens": 100, "total_tokens": 10_100 });
    let count = json!({ "choices": [], "usage": usage });
    let body = [
        delta(part, None),
        delta(&json!({}), Some(finish)),
        format!("data: {count}\n\ndata: [DONE]\n\n"),
    ];
    vec![stream_head(), bytes(body.concat()), Piece::Cut]
}

fn gardener(results: usize) -> Vec<Piece> {
    match results {
        0 => counted(
            &call_delta(0, "r", "read_file", r#"{"path":"north.md"}"#),
            "tool_calls",
        ),
        _ => counted(&json!({ "content": "Beans grow there." }), "stop"),
    }
}

#[tokio::test]
async fn a_turn_pauses_at_the_budget_and_goes_on_when_it_is_raised() -> Result<()> {
    let server = ModelServer::start(|_, request| gardener(request.results()))?;
    let work = Work::open_set(&server, &[("north.md", "beans\n")], |settings| {
        let price = Price {
            input: Micros(3_000_000),
            output: Micros(15_000_000),
            ..Price::default()
        };
        settings.overrides = vec![ModelOverride {
            model: own_model(),
            window: Some(128_000),
            output: None,
            cost: Some(ModelCost::PerMillion { price }),
            images: None,
        }];
        settings.budget = Budget {
            session: Some(Micros(50_000)),
            ask_expensive: false,
            ..Budget::default()
        };
    })
    .await?;
    let asked = || {
        let received = server.received();
        received
            .iter()
            .filter(|request| !request.messages().is_empty())
            .count()
    };
    work.say("What grows in the north?").await?;
    work.shows("Paused: this session has used $0.03 of $0.05.")
        .await?;
    assert_eq!(asked(), 1, "the request that would pass the budget is not sent");
    work.picture("models-1-paused").await?;
    let page = &work.desktop.page;
    page.click("[data-testid=budget]").await?;
    page.text_when("[data-testid=raise]", |text| text == "Raise to $1.00")
        .await?;
    work.picture("models-2-budget").await?;
    page.click("[data-testid=raise]").await?;
    work.shows("Beans grow there.").await?;
    let events = work.ended("completed").await?;
    assert_eq!(asked(), 2);
    assert_eq!(
        of_type(&events, "turn_ended").len(),
        1,
        "it is still the same turn"
    );
    page.text_when("[data-testid=budget]", |text| text.contains("$0.06 of $1.00"))
        .await?;
    work.picture("models-3-raised").await
}
