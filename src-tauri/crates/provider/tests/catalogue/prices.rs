//! Which model gets which price, and which gets none.

use paddock_protocol::{Effort, Micros, ModelCost, ModelFacts, Price, PriceTier, ProviderKind, Usage};
use paddock_provider::{catalogue_date, known_facts, merged, minimal_effort_word};

fn chat(place: &str, model: &str) -> ModelFacts {
    known_facts(place, ProviderKind::Chat, model)
}

fn price(facts: &ModelFacts) -> &Price {
    match &facts.cost {
        ModelCost::PerMillion { price } => price,
        other => panic!("no price: {other:?}"),
    }
}

#[test]
fn a_model_is_found_by_id_by_host_and_by_address() {
    let facts = chat("anthropic", "claude-sonnet-4-5");
    assert_eq!(facts.window, Some(200_000));
    assert_eq!(facts.output, Some(64_000));
    assert_eq!(
        (facts.native_calls, facts.images, facts.reasoning),
        (Some(true), Some(true), Some(true))
    );
    assert_eq!(facts.from, format!("catalogue of {}", catalogue_date()));
    assert_eq!(price(&facts).input, Micros(3_000_000));
    for place in [
        "api.anthropic.com",
        "https://api.anthropic.com/v1",
        "API.Anthropic.com:443",
    ] {
        assert_eq!(chat(place, "claude-sonnet-4-5"), facts, "{place}");
    }
}

#[test]
fn versions_and_prefixes_lead_to_the_same_price() {
    for (place, name, like) in [
        ("anthropic", "claude-sonnet-4-5-20250929", "claude-sonnet-4-5"),
        ("anthropic", "claude-sonnet-4-5@20250929", "claude-sonnet-4-5"),
        ("anthropic", "Claude-Opus-5-5-20261101", "claude-opus-5-5"),
        ("openai", "gpt-6.1-sol-2026-10-01", "gpt-6.1-sol"),
        ("openai", "openai/gpt-6.1-sol", "gpt-6.1-sol"),
        ("gemini", "models/gemini-2.5-pro", "gemini-2.5-pro"),
        ("gemini", "gemini-2.5-pro-preview-06-05", "gemini-2.5-pro"),
        ("groq", "openai/gpt-oss-120b", "groq/openai/gpt-oss-120b"),
    ] {
        let found = chat(place, name);
        assert_ne!(found.cost, ModelCost::Unknown, "{name}");
        assert_eq!(found.cost, chat(place, like).cost, "{name}");
    }
}

#[test]
fn a_name_that_only_begins_alike_has_no_price() {
    for (place, name) in [
        ("anthropic", "claude-opus-5-9"),
        ("anthropic", "claude-sonnet-4-5-turbo"),
        ("openai", "gpt-5.5-super"),
        ("openai", "gpt-9"),
        ("openai", "ft:gpt-4.1-mini-2025-04-14:acme::Bx1Yz2"),
        ("openai", ""),
        ("openrouter", "openrouter/auto"),
        ("openrouter", "claude-sonnet-4-5"),
    ] {
        let facts = chat(place, name);
        assert_eq!(facts.cost, ModelCost::Unknown, "{place} {name}");
    }
    assert_eq!(chat("openai", "gpt-9"), ModelFacts::default());
    let variant = chat("openrouter", "anthropic/claude-sonnet-5.5:nitro");
    assert_eq!(variant.cost, ModelCost::Unknown);
    assert_eq!(variant.images, Some(true));
}

#[test]
fn the_same_name_elsewhere_has_no_price() {
    let relay = chat("llm.example.com", "gpt-6.1-sol");
    assert_eq!(relay.cost, ModelCost::Unknown);
    assert_eq!(relay.window, Some(1_050_000));
    assert_eq!(relay.native_calls, Some(true));
    // Anyone may serve an open model, with any window.
    let open = chat("192.168.1.4:11434", "mistral-small-latest");
    assert_eq!((open.cost, open.window), (ModelCost::Unknown, None));
    for place in [
        "eu.api.openai.com",
        "api.openai.com.example.org",
        "openai.example.com",
    ] {
        assert_eq!(chat(place, "gpt-6.1-sol").cost, ModelCost::Unknown, "{place}");
    }
}

#[test]
fn a_model_on_this_machine_is_free_unless_it_cannot_be_there() {
    for place in [
        "ollama",
        "127.0.0.1:8110",
        "http://localhost:1234/v1",
        "[::1]:8080",
        "llama-cpp",
    ] {
        for name in [
            "qwen2.5-coder-1.5b",
            "gpt-oss:20b",
            "mistral-small",
            "gemma-3-4b",
            "deepseek-r1:7b",
            "gpt-2",
        ] {
            let facts = chat(place, name);
            assert_eq!(
                (facts.cost, facts.window),
                (ModelCost::Free, None),
                "{place} {name}"
            );
        }
        for name in [
            "gpt-6.1-sol",
            "openai/gpt-5.5",
            "claude-sonnet-5-5",
            "gemini-3.8-flash",
            "gpt-oss:120b-cloud",
        ] {
            assert_eq!(chat(place, name).cost, ModelCost::Unknown, "{place} {name}");
        }
    }
    assert_eq!(known_facts("", ProviderKind::Demo, "demo").cost, ModelCost::Free);
}

#[test]
fn cached_tokens_and_those_written_to_the_cache_have_their_own_price() {
    let facts = chat("anthropic", "claude-sonnet-5-5");
    let usage = Usage {
        input: 1_000,
        cached: 10_000,
        cache_write: 2_000,
        output: 100,
        reasoning: 50,
        ..Usage::default()
    };
    // 2,000 + 1,000 + 5,000 + 1,000 + 500 millionths.
    assert_eq!(facts.cost.price(usage).cost, Micros(9_500));
    // Where nothing is said of a cache, its tokens cost what others do.
    let facts = chat("groq", "llama-3.3-70b-versatile");
    assert_eq!(price(&facts).cached, None);
    assert_eq!(price(&facts).of(&usage), Micros(590 + 5_900 + 1_180 + 79 + 40));
}

#[test]
fn a_large_request_costs_what_its_tier_says() {
    let facts = chat("gemini", "gemini-2.5-pro");
    let tokens = |input| Usage {
        input,
        output: 1_000_000,
        ..Usage::default()
    };
    assert_eq!(price(&facts).of(&tokens(200_000)), Micros(250_000 + 10_000_000));
    assert_eq!(price(&facts).of(&tokens(200_001)), Micros(500_003 + 15_000_000));
}

#[test]
fn a_free_model_of_a_cloud_has_a_price_of_zero() {
    let facts = chat("openrouter", "openai/gpt-oss-20b:free");
    assert_eq!(
        facts.cost,
        ModelCost::PerMillion {
            price: Price::default()
        }
    );
    assert_ne!(chat("openrouter", "openai/gpt-oss-20b").cost, facts.cost);
}

#[test]
fn efforts_are_those_that_the_model_knows() {
    use Effort::{High, Low, Medium, Minimal};
    for (place, model, efforts, word) in [
        (
            "openai",
            "gpt-5",
            &[Minimal, Low, Medium, High][..],
            Some("minimal"),
        ),
        ("openai", "gpt-5.5", &[Minimal, Low, Medium, High], Some("none")),
        ("openai", "o3", &[Low, Medium, High], None),
        ("openai", "gpt-4.1", &[], None),
        ("anthropic", "claude-opus-5-5", &[Low, Medium, High], None),
        (
            "gemini",
            "gemini-3.5-flash",
            &[Minimal, Low, Medium, High],
            Some("minimal"),
        ),
        ("deepseek", "deepseek-v4-pro", &[Minimal, High], Some("none")),
        (
            "llm.example.com",
            "gpt-5",
            &[Minimal, Low, Medium, High],
            Some("minimal"),
        ),
        ("127.0.0.1:8080", "qwen3", &[], None),
    ] {
        assert_eq!(chat(place, model).efforts, efforts, "{model}");
        assert_eq!(minimal_effort_word(place, model), word, "{model}");
    }
    assert_eq!(chat("openai", "gpt-5").temperature, Some(false));
    assert_eq!(chat("openai", "gpt-6.1-sol").temperature, Some(false));
    assert_eq!(chat("openai", "gpt-4.1").temperature, Some(true));
}

#[test]
fn the_server_is_believed_before_the_catalogue() {
    let known = ModelFacts {
        window: Some(200_000),
        output: Some(64_000),
        cost: ModelCost::PerMillion {
            price: Price {
                input: Micros(3),
                ..Price::default()
            },
        },
        images: Some(true),
        efforts: vec![Effort::Minimal, Effort::Low],
        from: "catalogue of 2026-11-10".into(),
        ..ModelFacts::default()
    };
    let server = ModelFacts {
        window: Some(16_384),
        images: Some(false),
        efforts: vec![Effort::Low, Effort::High],
        from: "the server".into(),
        ..ModelFacts::default()
    };
    let both = merged(server.clone(), known.clone());
    assert_eq!((both.window, both.output), (Some(16_384), Some(16_384)));
    assert_eq!(both.images, Some(false));
    assert_eq!(both.cost, known.cost);
    assert_eq!(both.efforts, [Effort::Minimal, Effort::Low, Effort::High]);
    assert_eq!(both.from, "the server, catalogue of 2026-11-10");
    assert_eq!(merged(server.clone(), ModelFacts::default()), server);
    assert_eq!(merged(ModelFacts::default(), known.clone()), known);
}

#[test]
fn a_told_price_replaces_free_and_keeps_the_tiers_of_the_same_price() {
    let of = |input: u64, tiers: Vec<PriceTier>| ModelFacts {
        cost: ModelCost::PerMillion {
            price: Price {
                input: Micros(input),
                tiers,
                ..Price::default()
            },
        },
        ..ModelFacts::default()
    };
    let free = ModelFacts {
        cost: ModelCost::Free,
        ..ModelFacts::default()
    };
    assert_eq!(merged(of(5, Vec::new()), free).cost, of(5, Vec::new()).cost);
    let tier = vec![PriceTier {
        above: 10,
        input: Micros(9),
        ..PriceTier::default()
    }];
    assert_eq!(
        merged(of(5, Vec::new()), of(5, tier.clone())).cost,
        of(5, tier.clone()).cost
    );
    assert_eq!(
        merged(of(4, Vec::new()), of(5, tier)).cost,
        of(4, Vec::new()).cost
    );
}
