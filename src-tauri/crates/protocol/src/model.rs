//! What is known of models and their servers: abilities, prices, tests; and what was spent.

use crate::*;
use serde::{Deserialize, Serialize};

/// Money in millionths of a US dollar. Estimates from a price list, never an invoice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
#[serde(transparent)]
pub struct Micros(#[cfg_attr(feature = "bindings", ts(type = "number"))] pub u64);

/// What a million tokens cost.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
pub struct Price {
    pub input: Micros,
    pub output: Micros,
    /// Input read from the provider's cache; absent = as other input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub cached: Option<Micros>,
    /// Input written to the provider's cache; absent = as other input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub cache_write: Option<Micros>,
    /// Other prices for requests whose whole input is larger, in rising order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tiers: Vec<PriceTier>,
}

/// Prices of a request with more than `above` tokens of input.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
pub struct PriceTier {
    pub above: u32,
    pub input: Micros,
    pub output: Micros,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub cached: Option<Micros>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub cache_write: Option<Micros>,
}

/// What using a model costs. Unknown is never taken for free.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
#[serde(tag = "cost", rename_all = "snake_case")]
pub enum ModelCost {
    #[default]
    Unknown,
    /// Runs on the person's own machine.
    Free,
    PerMillion {
        price: Price,
    },
}

/// What is known of one model. Absent = not known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
#[serde(default)]
pub struct ModelFacts {
    /// Context window in tokens, input and output together.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub window: Option<u32>,
    /// Largest answer in tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub output: Option<u32>,
    pub cost: ModelCost,
    /// Whether it calls tools by the provider's own function calling.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub native_calls: Option<bool>,
    /// Whether it sees images.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub images: Option<bool>,
    /// Whether it reasons before it answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub reasoning: Option<bool>,
    /// Whether a temperature may be set.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub temperature: Option<bool>,
    /// Efforts that it knows, in rising order; empty = not adjustable or not known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub efforts: Vec<Effort>,
    /// Where it comes from, for the person: "catalogue of 2026-11-20", "the server", "your settings".
    #[serde(skip_serializing_if = "String::is_empty")]
    pub from: String,
}

/// A window below this, in tokens, leaves little room for tools, a file and an answer.
pub const LEAST_WINDOW: u32 = 16_384;

/// How long a model may reason before it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum Effort {
    /// No reasoning where the model allows that, else as little as it can.
    Minimal,
    Low,
    Medium,
    High,
}

/// A model that a server offers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
pub struct ModelEntry {
    /// The name as the server knows it.
    pub model: String,
    pub facts: ModelFacts,
}

/// What the person knows better than catalogue and server; only what is set counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
pub struct ModelOverride {
    pub model: ModelChoice,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub window: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub output: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub cost: Option<ModelCost>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub images: Option<bool>,
}

/// A provider that is set up with one click.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
pub struct ProviderPreset {
    /// Stable name, also the id of the provider made from it: "openai", "ollama", …
    pub id: String,
    pub kind: ProviderKind,
    pub label: String,
    pub base_url: String,
    pub needs_key: bool,
    /// Page on which a key is made; empty for servers on this machine.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub key_page: String,
    /// Whether it is a server on this machine.
    pub local: bool,
    /// Environment variables that usually hold its key.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variables: Vec<String>,
}

/// A model server found running on this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
pub struct FoundServer {
    pub preset: ProviderPreset,
    pub models: Vec<ModelEntry>,
}

/// One link of the way to a model, tried.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
pub struct LinkTest {
    /// `address`, `name`, `proxy`, `tcp`, `tls`, `http`, `key`, `model`, `native_call`, `two_calls`, `text_call`, `window`.
    pub link: String,
    pub state: LinkState,
    /// One line: what is so.
    pub says: String,
    /// What to do, when there is something to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub remedy: Option<String>,
    pub took: Millis,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum LinkState {
    Good,
    Warning,
    Bad,
    /// An earlier link failed.
    NotTried,
}

/// What the self-test of a model found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
pub struct ModelTest {
    pub model: ModelChoice,
    /// In the order in which they were tried.
    pub links: Vec<LinkTest>,
    /// The format in which the model calls tools best; absent when none worked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub format: Option<CallFormat>,
    pub facts: ModelFacts,
    /// Until the first byte of the first answer.
    pub first_byte: Millis,
}

/// Bounds on money. `None` = no bound.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
#[serde(default)]
pub struct Budget {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub turn: Option<Micros>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub session: Option<Micros>,
    /// All sessions of this account since midnight, local time.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub day: Option<Micros>,
    /// Pause before a request that is expected to cost more than a quarter of what is left.
    pub ask_expensive: bool,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            turn: None,
            session: None,
            day: None,
            ask_expensive: true,
        }
    }
}

/// An image that goes with a message. Its bytes are kept in the session's folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
pub struct Attachment {
    /// SHA-256 of the bytes, in hex.
    pub id: String,
    /// File name, for the person.
    pub name: String,
    /// `image/png`, `image/jpeg`, `image/gif` or `image/webp`.
    pub media_type: String,
    pub bytes: u32,
}

impl Attachment {
    /// The largest image that models take, in bytes.
    pub const LARGEST: usize = 5 * 1024 * 1024;

    /// What kind of image the bytes are, by their beginning; `None` for anything that models do not take.
    pub fn media_type_of(bytes: &[u8]) -> Option<&'static str> {
        match bytes {
            [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some("image/png"),
            [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
            [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
            _ => None,
        }
    }
}

/// The way from this machine to model servers. Servers on this machine are never reached through a proxy.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
#[serde(default)]
pub struct NetworkSettings {
    pub proxy: ProxySetting,
    /// PEM file with further certificates to trust.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub certificate: Option<String>,
    /// Only servers on this machine are asked.
    pub offline: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
#[serde(tag = "proxy", rename_all = "snake_case")]
pub enum ProxySetting {
    /// As the environment says.
    #[default]
    System,
    None,
    Own {
        /// `http://`, `https://`, `socks5://` or `socks5h://`. A login in it goes to the keyring and out of the address when it is
        /// saved.
        address: String,
        /// Hosts reached directly, separated by commas, as in NO_PROXY.
        #[serde(default)]
        except: String,
        /// A login is kept in the keyring. Only Paddock says so; what a client sends here does not count.
        #[serde(default)]
        login: bool,
    },
}

impl Price {
    /// Cost of a request's tokens, rounded up to a whole millionth.
    pub fn of(&self, usage: &Usage) -> Micros {
        let whole = u64::from(usage.input) + u64::from(usage.cached) + u64::from(usage.cache_write);
        let tier = self.tiers.iter().rev().find(|tier| whole > u64::from(tier.above));
        let (input, output, cached, cache_write) = match tier {
            Some(tier) => (tier.input, tier.output, tier.cached, tier.cache_write),
            None => (self.input, self.output, self.cached, self.cache_write),
        };
        let parts = [
            (usage.input, input),
            (usage.cached, cached.unwrap_or(input)),
            (usage.cache_write, cache_write.unwrap_or(input)),
            (usage.output, output),
            (usage.reasoning, output),
        ];
        let sum: u128 = parts
            .iter()
            .map(|(tokens, price)| u128::from(*tokens) * u128::from(price.0))
            .sum();
        Micros(u64::try_from(sum.div_ceil(1_000_000)).unwrap_or(u64::MAX))
    }
}

impl ModelCost {
    /// The usage with its cost; `unpriced` where none is known.
    pub fn price(&self, usage: Usage) -> Usage {
        match self {
            ModelCost::Unknown => Usage {
                unpriced: usage.total() > 0,
                ..usage
            },
            ModelCost::Free => usage,
            ModelCost::PerMillion { price } => Usage {
                cost: price.of(&usage),
                ..usage
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn price() -> Price {
        Price {
            input: Micros(3_000_000),
            output: Micros(15_000_000),
            cached: Some(Micros(300_000)),
            cache_write: Some(Micros(3_750_000)),
            tiers: vec![PriceTier {
                above: 200_000,
                input: Micros(6_000_000),
                output: Micros(22_500_000),
                ..PriceTier::default()
            }],
        }
    }

    #[test]
    fn each_part_has_its_price_and_the_sum_is_rounded_up() {
        let usage = Usage {
            input: 1_000,
            cached: 10_000,
            cache_write: 2_000,
            output: 100,
            reasoning: 50,
            ..Usage::default()
        };
        // 3,000 + 3,000 + 7,500 + 1,500 + 750 millionths.
        assert_eq!(price().of(&usage), Micros(15_750));
        let one = Usage {
            cached: 1,
            ..Usage::default()
        };
        assert_eq!(price().of(&one), Micros(1));
    }

    #[test]
    fn a_large_request_has_the_prices_of_its_tier() {
        let usage = Usage {
            input: 100_000,
            cached: 150_000,
            ..Usage::default()
        };
        assert_eq!(price().of(&usage), Micros(1_500_000));
    }

    #[test]
    fn an_unknown_price_is_not_zero() {
        let usage = Usage {
            input: 10,
            ..Usage::default()
        };
        let unknown = ModelCost::Unknown.price(usage);
        assert!(unknown.unpriced && unknown.cost == Micros(0));
        let free = ModelCost::Free.price(usage);
        assert!(!free.unpriced && free.cost == Micros(0));
    }
}
