//! Lists of models in the shapes that servers send.

use paddock_protocol::{Effort, Micros, ModelCost, ModelEntry, ModelFacts, ProviderKind};
use paddock_provider::*;
use std::path::Path;

fn body(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/lists")
        .join(format!("{name}.json"));
    std::fs::read_to_string(path).unwrap()
}

fn list(kind: ProviderKind, name: &str) -> Vec<ModelEntry> {
    read_model_list(kind, &body(name)).unwrap()
}

fn chat(name: &str) -> Vec<ModelEntry> {
    list(ProviderKind::Chat, name)
}

fn names(entries: &[ModelEntry]) -> Vec<&str> {
    entries.iter().map(|entry| entry.model.as_str()).collect()
}

fn facts<'a>(entries: &'a [ModelEntry], model: &str) -> &'a ModelFacts {
    &entries.iter().find(|entry| entry.model == model).unwrap().facts
}

#[test]
fn models_that_hold_no_conversation_are_left_out() {
    for (name, expected) in [
        (
            "openai",
            &[
                "ft:gpt-4.1-mini-2025-04-14:acme::Bx1Yz2",
                "gpt-5.5-2026-04-23",
                "gpt-6.1-sol",
            ][..],
        ),
        ("mistral", &["mistral-medium-2604"]),
        ("groq", &["openai/gpt-oss-120b"]),
        (
            "together",
            &["Qwen/Qwen3-Coder-480B-A35B-Instruct-FP8", "acme/dedicated-70b"],
        ),
        ("fireworks", &["accounts/fireworks/models/glm-5p3"]),
        ("lm-studio", &["qwen2-vl-7b-instruct", "qwen3-coder-30b"]),
        ("lm-studio-v1", &["google/gemma-3-4b", "qwen/qwen3.5-9b"]),
        ("ollama", &["gpt-oss:120b-cloud", "qwen2.5-coder:7b"]),
        ("vllm", &["Qwen/Qwen3-Coder-30B-A3B-Instruct"]),
        ("jan", &["Jan-v3-4b-base-instruct-Q4_K_XL"]),
        ("llama-server", &["qwen2.5-coder-1.5b"]),
    ] {
        assert_eq!(names(&chat(name)), expected, "{name}");
    }
    assert_eq!(names(&list(ProviderKind::Gemini, "gemini")), ["gemini-3.8-flash"]);
    assert!(!names(&chat("openrouter")).contains(&"google/gemini-3-pro-image"));
}

#[test]
fn the_window_is_the_served_one() {
    for (list, model, window) in [
        ("llama-server", "qwen2.5-coder-1.5b", Some(16_384)),
        ("vllm", "Qwen/Qwen3-Coder-30B-A3B-Instruct", Some(65_536)),
        ("lm-studio", "qwen3-coder-30b", Some(16_384)),
        ("lm-studio", "qwen2-vl-7b-instruct", None),
        ("lm-studio-v1", "qwen/qwen3.5-9b", Some(4_096)),
        ("lm-studio-v1", "google/gemma-3-4b", None),
        ("mistral", "mistral-medium-2604", Some(262_144)),
        ("groq", "openai/gpt-oss-120b", Some(131_072)),
        ("together", "acme/dedicated-70b", Some(131_072)),
        (
            "openrouter",
            "mistralai/mistral-small-24b-instruct-2501",
            Some(32_768),
        ),
        ("ollama", "qwen2.5-coder:7b", None),
    ] {
        assert_eq!(facts(&chat(list), model).window, window, "{list} {model}");
    }
    assert_eq!(facts(&chat("groq"), "openai/gpt-oss-120b").output, Some(65_536));
}

#[test]
fn abilities_are_what_the_server_says() {
    let entries = chat("openrouter");
    let sonnet = facts(&entries, "anthropic/claude-sonnet-5.5");
    assert_eq!(
        (sonnet.native_calls, sonnet.images, sonnet.reasoning),
        (Some(true), Some(true), Some(true))
    );
    assert_eq!(sonnet.temperature, Some(false));
    assert_eq!(sonnet.efforts, [Effort::Low, Effort::Medium, Effort::High]);
    assert_eq!(sonnet.output, Some(128_000));
    assert_eq!(sonnet.from, "the server");
    let small = facts(&entries, "mistralai/mistral-small-24b-instruct-2501");
    assert_eq!((small.native_calls, small.images), (Some(false), Some(false)));
    let entries = chat("mistral");
    let medium = facts(&entries, "mistral-medium-2604");
    assert_eq!(
        (medium.native_calls, medium.images, medium.reasoning),
        (Some(true), Some(true), Some(true))
    );
    let entries = chat("lm-studio");
    assert_eq!(facts(&entries, "qwen2-vl-7b-instruct").images, Some(true));
    let coder = facts(&entries, "qwen3-coder-30b");
    assert_eq!((coder.images, coder.native_calls), (Some(false), Some(true)));
    let entries = chat("lm-studio-v1");
    assert_eq!(facts(&entries, "google/gemma-3-4b").native_calls, None);
    assert_eq!(
        facts(&chat("llama-server"), "qwen2.5-coder-1.5b").images,
        Some(false)
    );
    let entries = chat("fireworks");
    let glm = facts(&entries, "accounts/fireworks/models/glm-5p3");
    assert_eq!((glm.native_calls, glm.images), (Some(true), Some(false)));
    assert_eq!(*facts(&chat("openai"), "gpt-6.1-sol"), ModelFacts::default());
}

#[test]
fn prices_are_exact_or_unknown() {
    let entries = chat("openrouter");
    let ModelCost::PerMillion { price } = &facts(&entries, "anthropic/claude-sonnet-5.5").cost else {
        panic!("no price");
    };
    assert_eq!(
        (price.input, price.output),
        (Micros(2_000_000), Micros(10_000_000))
    );
    assert_eq!(
        (price.cached, price.cache_write),
        (Some(Micros(100_000)), Some(Micros(2_500_000)))
    );
    let ModelCost::PerMillion { price } = &facts(&entries, "openai/gpt-oss-20b:free").cost else {
        panic!("no price");
    };
    assert_eq!((price.input, price.output), (Micros(0), Micros(0)));
    for model in ["openrouter/auto", "perplexity/sonar-pro"] {
        assert_eq!(facts(&entries, model).cost, ModelCost::Unknown, "{model}");
    }
    let entries = chat("together");
    let ModelCost::PerMillion { price } = &facts(&entries, "Qwen/Qwen3-Coder-480B-A35B-Instruct-FP8").cost
    else {
        panic!("no price");
    };
    assert_eq!(
        (price.input, price.output),
        (Micros(2_000_000), Micros(2_000_000))
    );
    assert_eq!(facts(&entries, "acme/dedicated-70b").cost, ModelCost::Unknown);
}

#[test]
fn anthropic_and_gemini_tell_windows_and_further_pages() {
    let entries = list(ProviderKind::Anthropic, "anthropic");
    let sonnet = facts(&entries, "claude-sonnet-5-5");
    assert_eq!((sonnet.window, sonnet.output), (Some(1_000_000), Some(128_000)));
    assert_eq!((sonnet.images, sonnet.reasoning), (Some(true), Some(true)));
    assert_eq!(sonnet.efforts, [Effort::Low, Effort::Medium, Effort::High]);
    assert_eq!(
        *facts(&entries, "claude-haiku-4-5-20251001"),
        ModelFacts::default()
    );
    let next = next_page(ProviderKind::Anthropic, &body("anthropic"));
    assert_eq!(next, Some(("after_id", "claude-haiku-4-5-20251001".into())));
    let last = body("anthropic").replace("\"has_more\": true", "\"has_more\": false");
    assert_eq!(next_page(ProviderKind::Anthropic, &last), None);

    let entries = list(ProviderKind::Gemini, "gemini");
    let flash = facts(&entries, "gemini-3.8-flash");
    assert_eq!(
        (flash.window, flash.output, flash.reasoning),
        (Some(1_048_576), Some(65_536), Some(true))
    );
    let next = next_page(ProviderKind::Gemini, &body("gemini"));
    assert_eq!(next, Some(("pageToken", "ChFtb2RlbHMvZ2VtaW5p".into())));
    assert_eq!(next_page(ProviderKind::Chat, &body("openai")), None);
    assert_eq!(page_size(ProviderKind::Anthropic), Some(("limit", "1000")));
    assert_eq!(page_size(ProviderKind::Chat), None);
}

#[test]
fn ollama_tells_trained_and_served_windows_apart() {
    let shown = read_ollama_show(&body("ollama-show")).unwrap();
    assert_eq!(
        (shown.facts.window, shown.largest_window),
        (Some(32_768), Some(131_072))
    );
    assert_eq!(
        (shown.facts.native_calls, shown.facts.images),
        (Some(true), Some(false))
    );
    assert_eq!(shown.facts.cost, ModelCost::Free);
    let plain = body("ollama-show").replace("num_ctx  ", "num_keep ");
    assert_eq!(read_ollama_show(&plain).unwrap().facts.window, None);
    let relayed = body("ollama-show").replacen('{', "{\"remote_host\": \"https://ollama.com:443\",", 1);
    assert_eq!(read_ollama_show(&relayed).unwrap().facts.cost, ModelCost::Unknown);
    assert_eq!(
        read_ollama_running(&body("ollama-ps")).unwrap(),
        [("qwen2.5-coder:7b".to_owned(), 4_096)]
    );
    assert_eq!(
        read_ollama_show(r#"{"error":"model 'x' not found"}"#),
        Err(ModelListError::NoList)
    );
    assert_eq!(ollama_show_request("a\"b").to_string(), r#"{"model":"a\"b"}"#);
}

#[test]
fn what_is_no_list_says_so_and_odd_entries_are_left_out() {
    let read = |body: &str| read_model_list(ProviderKind::Chat, body);
    assert!(matches!(read("<html>"), Err(ModelListError::Unreadable(_))));
    assert_eq!(read(r#"{"error":{"message":"no"}}"#), Err(ModelListError::NoList));
    assert_eq!(read("3"), Err(ModelListError::NoList));
    assert_eq!(read(r#"{"object":"list","data":null}"#), Ok(Vec::new()));
    let odd = read(
        r#"["b", {"id":"a"}, {"id":""}, {"id":"x\u001b[2J"}, {"id":5}, null, {"name":"a"}, {"id":" "}]"#,
    );
    assert_eq!(names(&odd.unwrap()), ["a", "b"]);
    let long = format!(r#"[{{"id":"{}"}}]"#, "x".repeat(301));
    assert_eq!(read(&long), Ok(Vec::new()));
    let huge =
        read(r#"[{"id":"m","context_length":99999999999,"pricing":{"prompt":"x","completion":null}}]"#)
            .unwrap();
    assert_eq!(
        (huge[0].facts.window, &huge[0].facts.cost),
        (Some(u32::MAX), &ModelCost::Unknown)
    );
    for kind in [ProviderKind::Anthropic, ProviderKind::Gemini] {
        assert_eq!(read_model_list(kind, "{}"), Err(ModelListError::NoList));
    }
}
