//! JSON of a stream, read tolerantly.

use super::halves;
use serde_json::Value;

/// Parses one document. A lone half of a surrogate pair, which JSON readers refuse, becomes a stand-in (see [`halves`]); `true`
/// says that this happened.
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
    // Of a document that holds such characters itself nothing can be told apart.
    let stands_in = !data.contains(halves::is_half);
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
            Some(half @ 0xD800..=0xDFFF) => {
                out.push_str(&data[copied..at]);
                out.push(match stands_in {
                    true => halves::of_unit(half),
                    false => char::REPLACEMENT_CHARACTER,
                });
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
        assert_eq!(value, json!({"a": "x\u{10f83e}", "b": "🦊", "c": "\\ud83e"}));
        assert!(parse(r#"{"a":"\ud83e"#).is_err());
        assert!(parse("{\"a\":").is_err());
    }

    #[test]
    fn a_document_with_the_stand_ins_themselves_loses_only_the_halves() {
        let (value, repaired) = parse("{\"a\":\"\u{10f83e}\",\"b\":\"\\ud83e\"}").unwrap();
        assert!(repaired);
        assert_eq!(value["b"], "\u{fffd}");
    }
}
