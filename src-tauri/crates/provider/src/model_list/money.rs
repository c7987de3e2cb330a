//! Prices as servers write them: dollars as text for one token, or as a number for a million.

use paddock_protocol::{Micros, ModelCost, Price};
use serde_json::Value;

/// Dollars for one token to millionths of a dollar for a million tokens.
const FOR_ONE: i32 = 12;
/// Dollars for a million tokens to millionths of a dollar.
const FOR_A_MILLION: i32 = 6;

/// The price in an entry of a list; unknown when there is none, it varies (below zero), or a fee for each request comes on top.
pub(super) fn cost(entry: &Value) -> ModelCost {
    let Some(pricing) = entry.get("pricing") else {
        return ModelCost::Unknown;
    };
    let amount = |fields: &[&str]| fields.iter().find_map(|field| micros(pricing.get(field)?));
    let (Some(input), Some(output)) = (amount(&["prompt", "input"]), amount(&["completion", "output"]))
    else {
        return ModelCost::Unknown;
    };
    let told_as_text = ["prompt", "input"].iter().any(|field| pricing[field].is_string());
    let nothing = input == Micros(0) && output == Micros(0);
    // A number of zero is what servers put where they tell no price.
    let free = told_as_text
        || entry["id"]
            .as_str()
            .is_some_and(|name| name.to_lowercase().ends_with("free"));
    let fee = amount(&["request"]).is_some_and(|fee| fee > Micros(0));
    if fee || (nothing && !free) {
        return ModelCost::Unknown;
    }
    ModelCost::PerMillion {
        price: Price {
            input,
            output,
            cached: amount(&["input_cache_read", "input_cache_reads", "cached_input"]),
            cache_write: amount(&["input_cache_write", "input_cache_writes"]),
            tiers: Vec::new(),
        },
    }
}

fn micros(value: &Value) -> Option<Micros> {
    match value {
        Value::String(text) => scaled(text, FOR_ONE).map(Micros),
        Value::Number(number) => scaled(&number.to_string(), FOR_A_MILLION).map(Micros),
        _ => None,
    }
}

/// A decimal number times a power of ten, rounded up; none when it is below zero, too large or no number.
fn scaled(text: &str, power: i32) -> Option<u64> {
    let (mantissa, exponent) = match text.trim().split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (text.trim(), 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits: String = [whole, fraction].concat();
    if digits.is_empty() || digits.len() > 30 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let number: u128 = digits.parse().ok()?;
    let shift = power
        .checked_add(exponent)?
        .checked_sub(i32::try_from(fraction.len()).ok()?)?;
    let factor = 10_u128.checked_pow(shift.unsigned_abs());
    let scaled = match (shift >= 0, factor) {
        (true, Some(factor)) => number.checked_mul(factor)?,
        (true, None) => return (number == 0).then_some(0),
        (false, Some(factor)) => number.div_ceil(factor),
        (false, None) => u128::from(number > 0),
    };
    u64::try_from(scaled).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn amounts_are_exact_and_rounded_up() {
        for (text, power, micros) in [
            ("0.00000125", FOR_ONE, Some(1_250_000)),
            ("0.000000075", FOR_ONE, Some(75_000)),
            ("1.5e-7", FOR_ONE, Some(150_000)),
            ("0", FOR_ONE, Some(0)),
            ("0.0000000000001", FOR_ONE, Some(1)),
            ("3", FOR_A_MILLION, Some(3_000_000)),
            ("0.18", FOR_A_MILLION, Some(180_000)),
            ("-1", FOR_ONE, None),
            ("", FOR_ONE, None),
            (".", FOR_ONE, None),
            ("free", FOR_ONE, None),
            ("1e400", FOR_ONE, None),
            ("1e-400", FOR_ONE, Some(1)),
            ("1e999999999999", FOR_ONE, None),
            ("99999999999999999999999999999", FOR_ONE, None),
        ] {
            assert_eq!(scaled(text, power), micros, "{text}");
        }
    }

    #[test]
    fn a_price_that_is_not_told_stays_unknown() {
        for entry in [
            json!({}),
            json!({"pricing": {"prompt": "-1", "completion": "-1"}}),
            json!({"pricing": {"prompt": "0.000001"}}),
            json!({"pricing": {"input": 0, "output": 0, "hourly": 2}}),
            json!({"pricing": {"prompt": "0.000001", "completion": "0.000001", "request": "0.005"}}),
        ] {
            assert_eq!(cost(&entry), ModelCost::Unknown, "{entry}");
        }
        let free =
            cost(&json!({"id": "a/b:free", "pricing": {"prompt": "0", "completion": "0", "request": "0"}}));
        assert_eq!(
            free,
            ModelCost::PerMillion {
                price: Price { ..Price::default() }
            }
        );
    }
}
