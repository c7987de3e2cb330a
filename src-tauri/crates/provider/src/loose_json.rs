//! Reads one JSON value as small models write it, and says where it ends.
//!
//! Repairs touch what is outside of strings only: trailing commas, `//` comments, other quotation marks as delimiters, Python's
//! `True`, `False`, `None`; inside of strings raw line breaks and tabs become escapes. Values are never changed otherwise and a value
//! that does not end is never completed.

const DEPTH_LIMIT: usize = 64;

/// Why no value could be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum LooseError {
    #[error("the text ends in the middle of the object")]
    Truncated,
    /// `at` is the byte in the text.
    #[error("{reason} at byte {at}")]
    Invalid { reason: &'static str, at: usize },
}

/// Reads the value at the start of `text`. Returns it as strict JSON and the bytes that it took.
pub(crate) fn read_value(text: &str) -> Result<(String, usize), LooseError> {
    let mut strict = serde_json::Deserializer::from_str(text).into_iter::<serde::de::IgnoredAny>();
    if let Some(Ok(_)) = strict.next() {
        let end = strict.byte_offset();
        return Ok((text[..end].to_string(), end));
    }
    let mut reader = Reader {
        text,
        at: 0,
        out: String::new(),
    };
    reader.value(0)?;
    Ok((reader.out, reader.at))
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    out: String,
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    fn invalid<T>(&self, reason: &'static str) -> Result<T, LooseError> {
        Err(LooseError::Invalid { reason, at: self.at })
    }

    fn blanks(&mut self) {
        loop {
            let rest = &self.text[self.at..];
            let trimmed = rest.trim_start();
            self.at += rest.len() - trimmed.len();
            if !trimmed.starts_with("//") {
                // One half of a comment's mark at the end may become a whole one.
                self.at += usize::from(trimmed == "/");
                return;
            }
            self.at += trimmed.find('\n').unwrap_or(trimmed.len());
        }
    }

    fn value(&mut self, depth: usize) -> Result<(), LooseError> {
        if depth > DEPTH_LIMIT {
            return self.invalid("nested too deeply");
        }
        self.blanks();
        match self.peek() {
            None => Err(LooseError::Truncated),
            Some('{') => self.members('}', depth),
            Some('[') => self.members(']', depth),
            Some(c) if closing_quote(c).is_some() => self.string(),
            Some(c) if c == '-' || c.is_ascii_alphanumeric() => self.word(),
            Some(_) => self.invalid("expected a value"),
        }
    }

    /// An object or an array, up to `close`.
    fn members(&mut self, close: char, depth: usize) -> Result<(), LooseError> {
        let open = self.next();
        self.out.extend(open);
        let mut first = true;
        loop {
            self.blanks();
            match self.peek() {
                None => return Err(LooseError::Truncated),
                Some(c) if c == close => {
                    self.next();
                    self.out.push(close);
                    return Ok(());
                }
                Some(',') if !first => {
                    self.next();
                    self.blanks();
                    if self.peek() == Some(close) {
                        continue;
                    }
                    self.out.push(',');
                }
                Some(_) if first => {}
                Some(_) => return self.invalid("expected a comma or the end"),
            }
            first = false;
            if close == '}' {
                match self.peek() {
                    None => return Err(LooseError::Truncated),
                    Some(c) if closing_quote(c).is_some() => self.string()?,
                    Some(_) => return self.invalid("expected a key in quotation marks"),
                }
                self.blanks();
                match self.peek() {
                    None => return Err(LooseError::Truncated),
                    Some(':') => {
                        self.next();
                        self.out.push(':');
                    }
                    Some(_) => return self.invalid("expected a colon"),
                }
            }
            self.value(depth + 1)?;
        }
    }

    fn string(&mut self) -> Result<(), LooseError> {
        let Some(close) = self.next().and_then(closing_quote) else {
            return self.invalid("expected a string");
        };
        self.out.push('"');
        loop {
            match self.next() {
                None => return Err(LooseError::Truncated),
                Some(c) if c == close => {
                    self.out.push('"');
                    return Ok(());
                }
                Some('\\') => self.escape(close)?,
                Some('"') => self.out.push_str("\\\""),
                Some('\n') => self.out.push_str("\\n"),
                Some('\r') => self.out.push_str("\\r"),
                Some('\t') => self.out.push_str("\\t"),
                Some(c) if c.is_control() && (c as u32) < 0x20 => {
                    self.at -= c.len_utf8();
                    return self.invalid("a control character in a string");
                }
                Some(c) => self.out.push(c),
            }
        }
    }

    /// An escape in a string that ends with `close`.
    fn escape(&mut self, close: char) -> Result<(), LooseError> {
        match self.next() {
            None => Err(LooseError::Truncated),
            Some(c @ ('"' | '\\' | '/' | 'b' | 'f' | 'n' | 'r' | 't')) => {
                self.out.push('\\');
                self.out.push(c);
                Ok(())
            }
            Some('\'') if close == '\'' => {
                self.out.push('\'');
                Ok(())
            }
            Some('u') => {
                self.out.push_str("\\u");
                for _ in 0..4 {
                    match self.next() {
                        None => return Err(LooseError::Truncated),
                        Some(digit) if digit.is_ascii_hexdigit() => self.out.push(digit),
                        Some(c) => {
                            self.at -= c.len_utf8();
                            return self.invalid("an escape that JSON does not know");
                        }
                    }
                }
                Ok(())
            }
            Some(c) => {
                self.at -= c.len_utf8();
                self.invalid("an escape that JSON does not know (write a backslash as \\\\)")
            }
        }
    }

    /// A number or a literal.
    fn word(&mut self) -> Result<(), LooseError> {
        let rest = &self.text[self.at..];
        let end = rest
            .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.')))
            .unwrap_or(rest.len());
        let word = &rest[..end];
        if end == rest.len() {
            return Err(LooseError::Truncated);
        }
        let strict = match word {
            "True" => "true",
            "False" => "false",
            "None" => "null",
            word if serde_json::from_str::<serde::de::IgnoredAny>(word).is_ok() => word,
            _ => return self.invalid("expected a value"),
        };
        self.out.push_str(strict);
        self.at += end;
        Ok(())
    }
}

/// The mark that ends a string which begins with `open`.
pub(crate) fn closing_quote(open: char) -> Option<char> {
    match open {
        '"' => Some('"'),
        '\'' => Some('\''),
        '\u{201c}' | '\u{201e}' => Some('\u{201d}'),
        '\u{2018}' => Some('\u{2019}'),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allowed_repairs() {
        for (text, strict) in [
            (r#"{"a": 1} rest"#, r#"{"a": 1}"#),
            ("{'a': 'it\\'s', }", r#"{"a":"it's"}"#),
            (
                "{\"a\": True, \"b\": [None, False,],}",
                r#"{"a":true,"b":[null,false]}"#,
            ),
            ("{\"a\": 1, // one\n \"b\": 2}", r#"{"a":1,"b":2}"#),
            ("{\"a\": \"x\ny\tz\"}", r#"{"a":"x\ny\tz"}"#),
            ("{“a”: “b, \"c\"”}", r#"{"a":"b, \"c\""}"#),
            (
                "{'a': \"“quoted” // no comment, True\"}",
                r#"{"a":"“quoted” // no comment, True"}"#,
            ),
        ] {
            assert_eq!(read_value(text).unwrap().0, strict);
            serde_json::from_str::<serde_json::Value>(strict).unwrap();
        }
    }

    #[test]
    fn refused() {
        for text in [
            "{\"a\": \"x",
            "{\"a\"",
            "{\"a\": [1, 2",
            "{\"a\": 12",
            "{'a': Tru",
        ] {
            assert_eq!(read_value(text), Err(LooseError::Truncated), "{text}");
        }
        for text in [
            r#"{'p': 'C:\Users\me'}"#,
            r#"{"p": "it\'s"}"#,
            "{a: 1}",
            "{\"a\": 1 \"b\": 2}",
            "{\"a\": undefined}",
            "{,}",
        ] {
            assert!(
                matches!(read_value(text), Err(LooseError::Invalid { .. })),
                "{text}"
            );
        }
        assert!(matches!(
            read_value(&"[".repeat(100_000)),
            Err(LooseError::Invalid { .. })
        ));
    }
}
