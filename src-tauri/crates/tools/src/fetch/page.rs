//! What a server sent, as text for the model. What is no text is refused in words.

use super::html;
use super::request::Answer;
use crate::terminal::plain;
use crate::text::binary_kind;
use crate::{ToolError, bounds};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

/// Bytes at the beginning of a page in which its encoding may be named.
const HEAD: usize = 1024;
const TEXT_TYPES: &[&str] = &[
    "json",
    "xml",
    "javascript",
    "ecmascript",
    "yaml",
    "toml",
    "sql",
    "x-sh",
    "rtf",
];

/// An error for a type that is surely no text, before the body is read.
pub(super) fn check_type(content_type: &str, bytes: Option<u64>) -> Result<(), ToolError> {
    let essence = essence(content_type);
    let (kind, rest) = essence.split_once('/').unwrap_or((&essence, ""));
    let is_binary = match kind {
        "image" | "audio" | "video" | "font" | "model" => !rest.ends_with("+xml"),
        "application" => {
            !is_unsure(&essence) && !TEXT_TYPES.iter().any(|text| rest.contains(text)) && !is_html(&essence)
        }
        _ => false,
    };
    match is_binary {
        true => Err(no_text(bounds::start_of(&essence, 100), bytes)),
        false => Ok(()),
    }
}

/// The text of an answer: HTML as Markdown, anything else as it is.
pub(super) fn text(answer: &Answer) -> Result<String, ToolError> {
    let essence = essence(&answer.content_type);
    let size = answer.body.len() as u64;
    let text = decode(&answer.body, &answer.content_type);
    if text.contains('\0') || is_unsure(&essence) && binary_kind(&answer.body) != "a binary file" {
        return Err(no_text(binary_kind(&answer.body), Some(size)));
    }
    let begin = bounds::start_of(text.trim_start(), 20).to_ascii_lowercase();
    let looks_like_html = begin.starts_with("<!doctype html") || begin.starts_with("<html");
    let text = if is_html(&essence) || is_unsure(&essence) && looks_like_html {
        html::markdown(&text, &answer.url)
    } else {
        text
    };
    // A lone CR ends a line here; in a terminal it would wipe it out.
    Ok(plain(&text.replace("\r\n", "\n").replace('\r', "\n")))
}

fn no_text(kind: &str, bytes: Option<u64>) -> ToolError {
    let size = bytes.map_or(String::new(), |bytes| format!(" ({})", bounds::size(bytes)));
    ToolError::Model(format!("It is {kind}{size}, not text."))
}

/// The type without its parameters, lower case.
fn essence(content_type: &str) -> String {
    let essence = content_type.split(';').next().unwrap_or_default();
    essence.trim().to_ascii_lowercase()
}

fn is_html(essence: &str) -> bool {
    matches!(essence, "text/html" | "application/xhtml+xml")
}

/// Types that say nothing.
fn is_unsure(essence: &str) -> bool {
    matches!(
        essence,
        "" | "application/octet-stream" | "binary/octet-stream" | "application/x-download"
    )
}

/// Bytes as text: what is valid UTF-8 is that, whatever is said of it; else the encoding that is named, else the usual one.
fn decode(bytes: &[u8], content_type: &str) -> String {
    let named = named_encoding(content_type, bytes);
    let is_wide = named.is_some_and(|named| named == UTF_16LE || named == UTF_16BE);
    let is_utf8 = match std::str::from_utf8(bytes) {
        Ok(text) => !text.is_ascii(),
        // The last character may be cut.
        Err(error) => error.error_len().is_none() && !bytes[..error.valid_up_to()].is_ascii(),
    };
    let encoding = match named {
        _ if is_utf8 && !is_wide => UTF_8,
        Some(named) if named != UTF_8 => named,
        None | Some(_) if bytes.is_ascii() => UTF_8,
        None | Some(_) => WINDOWS_1252,
    };
    // A mark at the beginning wins over all.
    encoding.decode(bytes).0.into_owned()
}

fn named_encoding(content_type: &str, bytes: &[u8]) -> Option<&'static Encoding> {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(HEAD)]).to_ascii_lowercase();
    let in_type = content_type.to_ascii_lowercase();
    [in_type, head].iter().find_map(|text| {
        let (_, value) = text.split_once("charset=")?;
        let value = value.trim_start_matches(['"', '\'', ' ']);
        let end = value
            .find(|letter: char| !(letter.is_ascii_alphanumeric() || "-_:.".contains(letter)))
            .unwrap_or(value.len());
        Encoding::for_label(&value.as_bytes()[..end])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_encoding_is_the_one_that_fits() {
        for (bytes, content_type, expected) in [
            (&b"plain"[..], "text/plain", "plain"),
            ("é 日本".as_bytes(), "text/plain; charset=iso-8859-1", "é 日本"),
            (b"caf\xe9", "text/plain; charset=utf-8", "café"),
            (b"caf\xe9 \x80", "text/plain", "café €"),
            (b"\x93\xfa\x96\x7b", "text/html; charset=\"Shift_JIS\"", "日本"),
            (
                b"<meta charset='koi8-r'>\xc4\xc1",
                "text/html",
                "<meta charset='koi8-r'>да",
            ),
            (b"\xff\xfea\0\xe9\0", "text/plain", "aé"),
            (b"\xef\xbb\xbfx", "text/plain; charset=latin1", "x"),
            (b"\xc3\xa9 cut \xc3", "text/plain", "é cut \u{fffd}"),
            (b"x\xe9", "text/plain; charset=nonsense", "xé"),
        ] {
            assert_eq!(decode(bytes, content_type), expected, "{content_type} {bytes:?}");
        }
    }

    #[test]
    fn every_line_end_is_one() {
        let answer = Answer {
            url: "https://a.test/".parse().unwrap(),
            status: 200,
            content_type: "text/plain".to_owned(),
            body: b"one\rtwo\r\nthree\n".to_vec(),
            is_cut: false,
        };
        assert_eq!(text(&answer).unwrap(), "one\ntwo\nthree\n");
    }

    #[test]
    fn what_is_no_text_is_told_by_its_type() {
        for (content_type, is_text) in [
            ("text/html; charset=utf-8", true),
            ("application/json", true),
            ("application/ld+json", true),
            ("application/xhtml+xml", true),
            ("image/svg+xml", true),
            ("application/octet-stream", true),
            ("", true),
            ("image/png", false),
            ("application/pdf", false),
            ("application/zip", false),
            ("video/mp4", false),
            ("Font/Woff2", false),
        ] {
            assert_eq!(check_type(content_type, None).is_ok(), is_text, "{content_type}");
        }
        let refused = check_type("image/png", Some(1_200_000)).unwrap_err();
        assert_eq!(refused.to_string(), "It is image/png (1.2 MB), not text.");
    }
}
