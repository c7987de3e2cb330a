//! What is known of models without asking their server: windows, prices, abilities, efforts.
//!
//! The wall stands here so that one place decides whether a name may be given a price. A price belongs to a model at one provider: the
//! same name on this machine costs nothing, and behind an address that nobody here knows its price is unknown, never zero.
//! Deliberately absent: what the person corrected and what the server says; both go before this ([`merged`]).

mod names;
mod table;

use crate::BaseUrl;
use crate::presets::{cloud_named, is_local_preset};
use paddock_protocol::{ModelCost, ModelFacts, Price, ProviderKind};
use table::{Catalogue, Row, catalogue};

/// Makers who serve their models themselves, in the order in which a name at an unknown address is looked for.
const MAKERS: [&str; 6] = ["openai", "anthropic", "gemini", "xai", "deepseek", "mistral"];
/// Those whose models run only on their own servers, but for names with a word of [`OPEN`].
const CLOSED_MAKERS: [&str; 4] = ["openai", "anthropic", "gemini", "xai"];
const OPEN: [&str; 2] = ["gpt-oss", "gemma"];

/// Where a model is asked.
enum Place {
    Cloud(&'static str),
    ThisMachine,
    Elsewhere,
}

/// What the catalogue knows of a model. `preset_or_host` is the host of the provider's address (best: it is what is paid), that
/// address itself, or the id of a preset. Nothing known = empty facts with an unknown price.
pub fn known_facts(preset_or_host: &str, kind: ProviderKind, model: &str) -> ModelFacts {
    if kind == ProviderKind::Demo {
        return free();
    }
    let catalogue = catalogue();
    let name = model.trim().to_lowercase();
    match place(preset_or_host) {
        Place::Cloud(provider) => at_cloud(catalogue, provider, &name),
        Place::ThisMachine if is_relayed(&name) => ModelFacts::default(),
        Place::ThisMachine if closed(catalogue, &name).is_none() => free(),
        Place::ThisMachine | Place::Elsewhere => by_name(catalogue, &name),
    }
}

/// The word with which the model's API is told [`paddock_protocol::Effort::Minimal`]: `none` or `minimal`. None where it knows
/// neither, or nothing is known.
pub fn minimal_effort_word(preset_or_host: &str, model: &str) -> Option<&'static str> {
    let name = model.trim().to_lowercase();
    let row = match place(preset_or_host) {
        Place::Cloud(provider) => find(catalogue(), provider, &name),
        Place::ThisMachine | Place::Elsewhere => of_any_maker(catalogue(), &name),
    };
    row?.minimal_effort()
}

/// The day of the catalogue's prices, for example "2026-11-10".
pub fn catalogue_date() -> &'static str {
    &catalogue().date
}

/// What the server says, and where it says nothing, what was known before.
pub fn merged(server: ModelFacts, known: ModelFacts) -> ModelFacts {
    let from = match (is_empty(&server), is_empty(&known)) {
        (false, false) if server.from != known.from && !known.from.is_empty() && !server.from.is_empty() => {
            format!("{}, {}", server.from, known.from)
        }
        (true, false) => known.from.clone(),
        _ => server.from.clone(),
    };
    let window = server.window.or(known.window);
    let output = server.output.or(known.output);
    let mut efforts = server.efforts;
    efforts.extend(known.efforts);
    efforts.sort_unstable();
    efforts.dedup();
    ModelFacts {
        window,
        output: output.map(|output| output.min(window.unwrap_or(u32::MAX))),
        cost: merged_cost(server.cost, known.cost),
        native_calls: server.native_calls.or(known.native_calls),
        images: server.images.or(known.images),
        reasoning: server.reasoning.or(known.reasoning),
        temperature: server.temperature.or(known.temperature),
        efforts,
        from,
    }
}

/// Servers tell the base price and leave out what large requests cost more: where the base is the same, the rest is added.
fn merged_cost(server: ModelCost, known: ModelCost) -> ModelCost {
    match (server, known) {
        (ModelCost::Unknown, known) => known,
        (ModelCost::PerMillion { price: said }, ModelCost::PerMillion { price: known })
            if said.tiers.is_empty() && (said.input, said.output) == (known.input, known.output) =>
        {
            ModelCost::PerMillion {
                price: Price {
                    cached: said.cached.or(known.cached),
                    cache_write: said.cache_write.or(known.cache_write),
                    ..known
                },
            }
        }
        (server, _) => server,
    }
}

fn is_empty(facts: &ModelFacts) -> bool {
    let from = facts.from.clone();
    *facts
        == ModelFacts {
            from,
            ..ModelFacts::default()
        }
}

fn place(preset_or_host: &str) -> Place {
    let text = preset_or_host.trim().to_lowercase();
    if is_local_preset(&text) {
        return Place::ThisMachine;
    }
    if let Some(cloud) = cloud_named(&text) {
        return Place::Cloud(cloud);
    }
    let address = if text.contains("://") {
        text
    } else {
        format!("http://{text}")
    };
    if BaseUrl::parse(&address).is_ok_and(|address| address.is_loopback()) {
        return Place::ThisMachine;
    }
    let host = url::Url::parse(&address).ok();
    let host = host.as_ref().and_then(url::Url::host_str);
    host.and_then(cloud_named).map_or(Place::Elsewhere, Place::Cloud)
}

fn free() -> ModelFacts {
    ModelFacts {
        cost: ModelCost::Free,
        from: "this machine".into(),
        ..ModelFacts::default()
    }
}

/// Ollama passes models of these names on to its cloud.
fn is_relayed(name: &str) -> bool {
    name.ends_with("-cloud") || name.ends_with(":cloud")
}

fn find<'a>(catalogue: &'a Catalogue, provider: &str, name: &str) -> Option<&'a Row> {
    let table = catalogue.table(provider)?;
    table
        .find(name)
        .or_else(|| table.find(names::without_prefix(provider, name)?))
}

/// The row of a model that runs only on its maker's servers.
fn closed<'a>(catalogue: &'a Catalogue, name: &str) -> Option<&'a Row> {
    let open = OPEN.iter().any(|open| name.contains(open));
    let mut makers = CLOSED_MAKERS.iter().filter(|_| !open);
    makers.find_map(|maker| find(catalogue, maker, name))
}

fn of_any_maker<'a>(catalogue: &'a Catalogue, name: &str) -> Option<&'a Row> {
    MAKERS.iter().find_map(|maker| find(catalogue, maker, name))
}

fn at_cloud(catalogue: &Catalogue, provider: &str, name: &str) -> ModelFacts {
    if let Some(row) = find(catalogue, provider, name) {
        return row.facts(&catalogue.date);
    }
    // A variant after a colon is the same model under other conditions.
    let variant_of = name
        .rsplit_once(':')
        .and_then(|(base, _)| find(catalogue, provider, base));
    variant_of.map_or_else(ModelFacts::default, |row| {
        without_price(row.facts(&catalogue.date))
    })
}

/// A name at an address that nobody here knows. The maker's window holds for a relay of the maker's own API; of a model that
/// anyone may serve, only the abilities are known.
fn by_name(catalogue: &Catalogue, name: &str) -> ModelFacts {
    if let Some(row) = closed(catalogue, name) {
        return without_price(row.facts(&catalogue.date));
    }
    let own = name.rsplit('/').next().unwrap_or(name);
    let open =
        of_any_maker(catalogue, name).or_else(|| catalogue.table("openrouter")?.named_by_any_maker(own));
    open.map_or_else(ModelFacts::default, |row| {
        let facts = row.facts(&catalogue.date);
        ModelFacts {
            images: facts.images,
            reasoning: facts.reasoning,
            from: facts.from,
            ..ModelFacts::default()
        }
    })
}

fn without_price(facts: ModelFacts) -> ModelFacts {
    ModelFacts {
        cost: ModelCost::Unknown,
        ..facts
    }
}
