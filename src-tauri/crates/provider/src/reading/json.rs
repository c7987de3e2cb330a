//! JSON of a stream, read tolerantly.

use serde_json::Value;

/// Parses one document. A lone half of a surrogate pair, which JSON readers refuse, becomes U+FFFD; `true` says that this happened.
pub(crate) fn parse(data: &str) -> Result<(Value, bool), serde_json::Error> {
    match serde_json::from_str(data) {
        Ok(value) => Ok((value, false)),
        Err(error) => match replace_lone_surrogates(data) {
            Some(repaired) => Ok((serde_json::from_str(&repaired)?, true)),
            None => Err(error),
        },
    }
}

/// The text with escapes of lone surrogates replaced; `None` when there are none.
fn replace_lone_surrogates(data: &str) -> Option<String> {
    let bytes = data.as_bytes();
    let unit = |at: usize| -> Option<u16> {
        (bytes.get(at..at + 2)? == b"\\u").then_some(())?;
        u16::from_str_radix(data.get(at + 2..at + 6)?, 16).ok()
    };
    let mut out = String::new();
    let mut copied = 0;
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] != b'\\' {
            at += 1;
            continue;
        }
        match unit(at) {
            Some(0xD800..=0xDBFF) if matches!(unit(at + 6), Some(0xDC00..=0xDFFF)) => at += 12,
            Some(0xD800..=0xDFFF) => {
                out.push_str(&data[copied..at]);
                out.push_str("\\ufffd");
                at += 6;
                copied = at;
            }
            Some(_) => at += 6,
            None => at += 2,
        }
    }
    if copied == 0 {
        return None;
    }
    out.push_str(&data[copied..]);
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn lone_surrogates_are_replaced_and_pairs_kept() {
        let (value, repaired) = parse(r#"{"a":"x\ud83e","b":"\ud83e\udd8a","c":"\\ud83e"}"#).unwrap();
        assert!(repaired);
        assert_eq!(value, json!({"a": "x\u{fffd}", "b": "🦊", "c": "\\ud83e"}));
        assert!(parse(r#"{"a":"\ud83e"#).is_err());
        assert!(parse("{\"a\":").is_err());
    }
}
