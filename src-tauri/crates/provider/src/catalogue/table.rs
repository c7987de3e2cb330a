//! The catalogue's data, read once, when it is first asked.
//!
//! The file beside the sources is written by `cargo xtask catalogue`; its short fields are described at [`Row`].

use super::names::{self, Cut};
use paddock_protocol::{Effort, Micros, ModelCost, ModelFacts, Price, PriceTier};
use serde::Deserialize;
use std::collections::HashMap;
use std::sync::LazyLock;

static DATA: &str = include_str!("../../data/catalogue.json");

/// All that is known, by provider.
#[derive(Default)]
pub(super) struct Catalogue {
    pub date: String,
    tables: HashMap<String, Table>,
}

/// One provider's models.
#[derive(Default)]
pub(super) struct Table {
    rows: Vec<Row>,
    /// Names and aliases in lower case.
    exact: HashMap<String, usize>,
    /// Names that go on with a version.
    starts: HashMap<String, usize>,
}

/// One model. Money in millionths of a dollar for a million tokens: input, output, cached, cache write.
#[derive(Deserialize)]
pub(super) struct Row {
    #[serde(skip)]
    name: String,
    #[serde(rename = "as", default)]
    aliases: Vec<String>,
    #[serde(default)]
    starts: Vec<String>,
    window: Option<u32>,
    output: Option<u32>,
    price: Option<Money>,
    /// From more tokens of input than the first number on.
    #[serde(default)]
    tiers: Vec<Tier>,
    /// `c`alls tools, sees `i`mages, `r`easons, takes a `t`emperature.
    #[serde(default)]
    can: String,
    #[serde(default)]
    cannot: String,
    /// `n`one or m`i`nimal, `l`ow, `m`edium, `h`igh.
    #[serde(default)]
    efforts: String,
}

type Money = (u64, u64, Option<u64>, Option<u64>);
type Tier = (u32, u64, u64, Option<u64>, Option<u64>);

#[derive(Deserialize)]
struct File {
    date: String,
    providers: HashMap<String, HashMap<String, Row>>,
}

/// The catalogue. Reading it takes about a millisecond, the first time that it is asked.
pub(super) fn catalogue() -> &'static Catalogue {
    static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(|| match read(DATA) {
        Ok(catalogue) => catalogue,
        Err(error) => {
            tracing::error!(%error, "the catalogue of models is not readable");
            Catalogue::default()
        }
    });
    &CATALOGUE
}

fn read(data: &str) -> Result<Catalogue, serde_json::Error> {
    let file: File = serde_json::from_str(data)?;
    let tables = file.providers.into_iter();
    Ok(Catalogue {
        date: file.date,
        tables: tables
            .map(|(provider, rows)| (provider, Table::new(rows)))
            .collect(),
    })
}

impl Catalogue {
    pub fn table(&self, provider: &str) -> Option<&Table> {
        self.tables.get(provider)
    }
}

impl Table {
    fn new(rows: HashMap<String, Row>) -> Self {
        let mut rows: Vec<Row> = rows.into_iter().map(|(name, row)| Row { name, ..row }).collect();
        rows.sort_by(|a, b| a.name.cmp(&b.name));
        let mut table = Self::default();
        for (number, row) in rows.iter().enumerate() {
            table.exact.insert(row.name.to_lowercase(), number);
        }
        for (number, row) in rows.iter().enumerate() {
            for alias in &row.aliases {
                table.exact.entry(alias.to_lowercase()).or_insert(number);
            }
            for start in &row.starts {
                table.starts.entry(start.to_lowercase()).or_insert(number);
            }
        }
        table.rows = rows;
        table
    }

    /// The row of a model: its exact name first, then the name with less and less of a version at its end.
    pub fn find(&self, name: &str) -> Option<&Row> {
        let mut rest = name;
        let mut perhaps = false;
        loop {
            let exact = self.exact.get(rest).filter(|_| !perhaps);
            if let Some(number) = exact.or_else(|| self.starts.get(rest)) {
                return self.rows.get(*number);
            }
            let (shorter, cut) = names::without_version(rest)?;
            perhaps |= cut == Cut::Perhaps;
            rest = shorter;
        }
    }

    /// The row whose name after the maker's is this one.
    pub fn named_by_any_maker(&self, name: &str) -> Option<&Row> {
        let own = |row: &&Row| {
            row.name
                .rsplit('/')
                .next()
                .is_some_and(|own| own.eq_ignore_ascii_case(name))
        };
        self.rows.iter().find(own)
    }

    #[cfg(test)]
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }
}

impl Row {
    /// What is known, with the price.
    pub fn facts(&self, date: &str) -> ModelFacts {
        let known = |letter: char| match (self.can.contains(letter), self.cannot.contains(letter)) {
            (false, false) => None,
            (can, _) => Some(can),
        };
        ModelFacts {
            window: self.window,
            // Some sources give the output of a newer model than the window.
            output: match (self.output, self.window) {
                (Some(output), Some(window)) => Some(output.min(window)),
                (output, _) => output,
            },
            cost: self.cost(),
            native_calls: known('c'),
            images: known('i'),
            reasoning: known('r'),
            temperature: known('t'),
            efforts: self.efforts(),
            from: format!("catalogue of {date}"),
        }
    }

    fn cost(&self) -> ModelCost {
        let Some((input, output, cached, cache_write)) = self.price else {
            return ModelCost::Unknown;
        };
        let tier = |&(above, input, output, cached, cache_write): &Tier| PriceTier {
            above,
            input: Micros(input),
            output: Micros(output),
            cached: cached.map(Micros),
            cache_write: cache_write.map(Micros),
        };
        ModelCost::PerMillion {
            price: Price {
                input: Micros(input),
                output: Micros(output),
                cached: cached.map(Micros),
                cache_write: cache_write.map(Micros),
                tiers: self.tiers.iter().map(tier).collect(),
            },
        }
    }

    fn efforts(&self) -> Vec<Effort> {
        let effort = |letter| match letter {
            'n' | 'i' => Some(Effort::Minimal),
            'l' => Some(Effort::Low),
            'm' => Some(Effort::Medium),
            'h' => Some(Effort::High),
            _ => None,
        };
        self.efforts.chars().filter_map(effort).collect()
    }

    /// How the API is told [`Effort::Minimal`].
    pub fn minimal_effort(&self) -> Option<&'static str> {
        self.efforts.chars().find_map(|letter| match letter {
            'n' => Some("none"),
            'i' => Some("minimal"),
            _ => None,
        })
    }

    #[cfg(test)]
    pub fn name(&self) -> &str {
        &self.name
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn the_whole_file_is_read_and_every_price_makes_sense() {
        let began = Instant::now();
        let catalogue = read(DATA).unwrap();
        println!("{} bytes read in {:?}", DATA.len(), began.elapsed());
        assert_eq!(catalogue.tables.len(), 11);
        assert!(DATA.len() < 250_000);
        for (provider, table) in &catalogue.tables {
            assert!(!table.rows.is_empty(), "{provider}");
            for row in table.rows() {
                let name = row.name();
                assert!(row.window.is_none_or(|window| window >= 256), "{provider} {name}");
                assert!(row.tiers.is_empty() || row.price.is_some(), "{provider} {name}");
                assert!(
                    row.tiers.windows(2).all(|pair| pair[0].0 < pair[1].0),
                    "{provider} {name}"
                );
                let Some((input, output, cached, _)) = row.price else {
                    continue;
                };
                assert!(
                    cached.is_none_or(|cached| cached <= 2 * input),
                    "{provider} {name}"
                );
                assert!(output.max(input) <= 1_000_000_000, "{provider} {name}");
                assert!(
                    input > 0 || output > 0 || name.contains("free") || name.contains("labs"),
                    "{provider} {name}"
                );
            }
        }
    }
}
