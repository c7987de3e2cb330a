//! How long a server asks to wait, in all the forms in which servers say it.

use http::HeaderMap;
use paddock_protocol::Millis;
use serde_json::Value;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The wait that headers or body ask for. The most exact form wins; `now` is needed for dates.
pub(crate) fn retry_after(headers: &HeaderMap, body: &str, now: SystemTime) -> Option<Millis> {
    let header = |name: &str| {
        headers
            .get(name)
            .and_then(|value| value.to_str().ok())
            .map(str::trim)
    };
    if let Some(wait) = header("retry-after-ms").and_then(|text| number(text, 0.001)) {
        return Some(wait);
    }
    if let Some(text) = header("retry-after")
        && let Some(wait) = number(text, 1.0)
            .or_else(|| until_date(text, now))
            .or_else(|| units(text))
    {
        return Some(wait);
    }
    if let Some(wait) = retry_info(body) {
        return Some(wait);
    }
    let resets = headers
        .iter()
        .filter(|(name, _)| is_reset(name.as_str()))
        .filter_map(|(name, value)| reset(headers, name.as_str(), value.to_str().ok()?.trim(), now))
        .max();
    resets.or_else(|| in_words(body))
}

/// Whether a header says when a limit starts anew: `x-ratelimit-reset-requests`, `anthropic-ratelimit-tokens-reset`.
fn is_reset(name: &str) -> bool {
    name.starts_with("x-ratelimit-reset")
        || (name.starts_with("anthropic-ratelimit-") && name.ends_with("-reset"))
}

fn reset(headers: &HeaderMap, name: &str, text: &str, now: SystemTime) -> Option<Millis> {
    // A limit of which something remains is not the one that was hit.
    let remaining = name.replace("reset", "remaining");
    let spent = headers
        .get(&remaining)
        .and_then(|value| value.to_str().ok())
        .and_then(|text| text.trim().parse::<f64>().ok())
        .is_none_or(|left| left <= 0.0);
    if !spent {
        return None;
    }
    if let Ok(value) = text.parse::<f64>() {
        // Seconds from now, or a moment as seconds or milliseconds since 1970.
        return match value {
            value if value >= 1e11 => until(
                UNIX_EPOCH + Duration::try_from_secs_f64(value / 1000.0).ok()?,
                now,
            ),
            value if value >= 1e8 => until(UNIX_EPOCH + Duration::try_from_secs_f64(value).ok()?, now),
            _ => number(text, 1.0),
        };
    }
    units(text).or_else(|| until_date(text, now))
}

fn number(text: &str, seconds: f64) -> Option<Millis> {
    let value: f64 = text.parse().ok()?;
    Some(Duration::try_from_secs_f64(value * seconds).ok()?.into())
}

fn until(moment: SystemTime, now: SystemTime) -> Option<Millis> {
    Some(moment.duration_since(now).unwrap_or_default().into())
}

fn until_date(text: &str, now: SystemTime) -> Option<Millis> {
    httpdate::parse_http_date(text)
        .ok()
        .or_else(|| iso_date(text))
        .and_then(|moment| until(moment, now))
}

/// `2026-11-22T10:00:00Z`, with fractions and offsets.
fn iso_date(text: &str) -> Option<SystemTime> {
    let digits = |range: std::ops::Range<usize>| text.get(range)?.parse::<u64>().ok();
    let separators = [(4, '-'), (7, '-'), (10, 'T'), (13, ':'), (16, ':')];
    if !separators
        .iter()
        .all(|(at, separator)| text.get(*at..at + 1) == Some(separator.encode_utf8(&mut [0; 4])))
    {
        return None;
    }
    let (year, month, day) = (digits(0..4)?, digits(5..7)?, digits(8..10)?);
    let (hour, minute, second) = (digits(11..13)?, digits(14..16)?, digits(17..19)?);
    if !(1970..=9999).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    // Days since 1970 by the civil calendar, years counted from March.
    let (y, m) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let days = y * 365 + y / 4 - y / 100 + y / 400 + (m * 153 + 2) / 5 + day - 1 - 719_468;
    let rest = text[19..].trim_start_matches(|c: char| c == '.' || c.is_ascii_digit());
    let offset = match rest.as_bytes().first() {
        Some(sign @ (b'+' | b'-')) => {
            let hours: i64 = rest.get(1..3)?.parse().ok()?;
            let minutes: i64 = rest.get(rest.len() - 2..)?.parse().ok()?;
            (hours * 60 + minutes) * if *sign == b'-' { -60 } else { 60 }
        }
        _ => 0,
    };
    let seconds = (days * 86_400 + hour * 3_600 + minute * 60 + second).checked_add_signed(-offset)?;
    Some(UNIX_EPOCH + Duration::from_secs(seconds))
}

/// Gemini: `"retryDelay": "13.5s"` somewhere in `error.details`.
fn retry_info(body: &str) -> Option<Millis> {
    fn find(value: &Value) -> Option<&str> {
        match value {
            Value::Object(map) => match map.get("retryDelay") {
                Some(Value::String(delay)) => Some(delay),
                _ => map.values().find_map(find),
            },
            Value::Array(list) => list.iter().find_map(find),
            _ => None,
        }
    }
    if !body.contains("retryDelay") {
        return None;
    }
    find(&serde_json::from_str(body).ok()?).and_then(units)
}

/// `6m0s`, `1.57s`, `120ms`, `1h2m`.
fn units(text: &str) -> Option<Millis> {
    let mut seconds = 0.0;
    let mut rest = text.trim();
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let value: f64 = rest[..digits].parse().ok()?;
        let unit_end = rest[digits..]
            .find(|c: char| !c.is_ascii_alphabetic())
            .map_or(rest.len(), |end| digits + end);
        seconds += value
            * match &rest[digits..unit_end] {
                "ms" => 0.001,
                "s" => 1.0,
                "m" => 60.0,
                "h" => 3_600.0,
                "d" => 86_400.0,
                _ => return None,
            };
        rest = rest[unit_end..].trim_start();
    }
    Some(Duration::try_from_secs_f64(seconds).ok()?.into())
}

/// "try again in 2.3s", "retry after 20 seconds", "try again in 6m0s".
fn in_words(body: &str) -> Option<Millis> {
    let lower = body.to_lowercase();
    for words in ["try again in ", "retry in ", "retry after ", "wait "] {
        for (at, _) in lower.match_indices(words) {
            let rest = &lower[at + words.len()..];
            let digits = rest
                .find(|c: char| !c.is_ascii_digit() && c != '.')
                .unwrap_or(rest.len());
            let (value, unit) = (rest[..digits].trim_end_matches('.'), rest[digits..].trim_start());
            let word: String = unit.chars().take_while(char::is_ascii_alphabetic).collect();
            let scale = match word.as_str() {
                "seconds" | "second" | "sec" => Some(1.0),
                "minutes" | "minute" | "min" => Some(60.0),
                "hours" | "hour" => Some(3_600.0),
                "milliseconds" | "millisecond" => Some(0.001),
                _ => None,
            };
            if let Some(wait) = scale.and_then(|scale| number(value, scale)) {
                return Some(wait);
            }
            let compact: String = rest
                .chars()
                .take_while(|c| c.is_ascii_alphanumeric() || *c == '.')
                .collect();
            if let Some(wait) = units(compact.trim_end_matches('.')) {
                return Some(wait);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(headers: &[(&'static str, &str)], body: &str) -> Option<u64> {
        // 2026-11-22T10:00:00Z
        let now = UNIX_EPOCH + Duration::from_secs(1_795_341_600);
        let headers = headers
            .iter()
            .map(|(name, value)| (http::HeaderName::from_static(name), value.parse().unwrap()))
            .collect();
        retry_after(&headers, body, now).map(|wait| wait.0)
    }

    #[test]
    fn every_form_of_a_wait_is_read() {
        for (headers, body, millis) in [
            (&[("retry-after-ms", "1500")][..], "", 1500),
            (&[("retry-after-ms", "250"), ("retry-after", "9")], "", 250),
            (&[("retry-after", "20")], "", 20_000),
            (&[("retry-after", "0.5")], "", 500),
            (&[("retry-after", "Sun, 22 Nov 2026 10:00:30 GMT")], "", 30_000),
            (&[("retry-after", "Sun, 22 Nov 2026 09:00:00 GMT")], "", 0),
            (&[("x-ratelimit-reset-requests", "6m0s")], "", 360_000),
            (&[("x-ratelimit-reset-tokens", "1.57s")], "", 1_570),
            (&[("x-ratelimit-reset-tokens", "120ms")], "", 120),
            (&[("x-ratelimit-reset", "1795341612")], "", 12_000),
            (&[("x-ratelimit-reset", "1795341612500")], "", 12_500),
            (
                &[
                    ("x-ratelimit-reset-requests", "1s"),
                    ("x-ratelimit-remaining-requests", "0"),
                    ("x-ratelimit-reset-tokens", "60s"),
                    ("x-ratelimit-remaining-tokens", "5000"),
                ],
                "",
                1_000,
            ),
            (
                &[("anthropic-ratelimit-tokens-reset", "2026-11-22T10:01:00Z")],
                "",
                60_000,
            ),
            (
                &[("anthropic-ratelimit-tokens-reset", "2026-11-22T12:00:05.25+02:00")],
                "",
                5_000,
            ),
            (
                &[],
                "Rate limit reached. Please try again in 2.3s. Visit …",
                2_300,
            ),
            (&[], "try again in 6m0s.", 360_000),
            (&[], "Please retry after 20 seconds", 20_000),
            (
                &[],
                r#"[{"error":{"details":[{"@type":"x","retryDelay":"13.5s"}]}}]"#,
                13_500,
            ),
        ] {
            assert_eq!(wait(headers, body), Some(millis), "{headers:?} {body}");
        }
    }

    #[test]
    fn nonsense_is_no_wait() {
        for (headers, body) in [
            (&[][..], ""),
            (&[("retry-after", "soon")], ""),
            (&[("retry-after", "-3")], ""),
            (&[("retry-after", "inf")], ""),
            (&[], "please wait a bit"),
            (
                &[("anthropic-ratelimit-tokens-reset", "2026-99-22T10:01:00Z")],
                "",
            ),
        ] {
            assert_eq!(wait(headers, body), None, "{headers:?} {body}");
        }
    }
}
