//! Text in files: its encoding and line ends, so that what is not changed stays as it was, byte for byte.

/// How text is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    Utf8,
    Utf16Le,
    Utf16Be,
    /// Any 8-bit encoding: bytes that are no UTF-8 are taken for Latin-1, which gives every byte back as it was.
    Latin1,
}

impl Encoding {
    /// Its name for people and models.
    pub fn name(self) -> &'static str {
        match self {
            Encoding::Utf8 => "UTF-8",
            Encoding::Utf16Le => "UTF-16 LE",
            Encoding::Utf16Be => "UTF-16 BE",
            Encoding::Latin1 => "not UTF-8, read as Latin-1",
        }
    }
}

/// What stands between two parts of a text, such as functions: two empty lines where it has such a place, else one.
pub(crate) fn gap(text: &str) -> &'static str {
    if text.contains("\n\n\n") { "\n\n\n" } else { "\n\n" }
}

/// How lines end in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineEnd {
    /// One line only.
    None,
    Lf,
    CrLf,
    /// Both; `crlf` when CRLF is the more frequent one.
    Mixed {
        crlf: bool,
    },
}

impl LineEnd {
    /// The line ends of a text.
    pub fn of(text: &str) -> LineEnd {
        let all = text.matches('\n').count();
        let crlf = text.matches("\r\n").count();
        match (all, crlf) {
            (0, _) => LineEnd::None,
            (_, 0) => LineEnd::Lf,
            (all, crlf) if all == crlf => LineEnd::CrLf,
            (all, crlf) => LineEnd::Mixed { crlf: crlf * 2 > all },
        }
    }

    /// A text with these line ends; with `None` as it is.
    pub fn apply(self, text: &str) -> String {
        match self {
            LineEnd::None => text.to_owned(),
            LineEnd::Lf | LineEnd::Mixed { crlf: false } => text.replace("\r\n", "\n"),
            LineEnd::CrLf | LineEnd::Mixed { crlf: true } => text.replace("\r\n", "\n").replace('\n', "\r\n"),
        }
    }
}

/// The content of a text file without its byte order mark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    pub content: String,
    pub encoding: Encoding,
    /// Whether it began with a byte order mark.
    pub mark: bool,
}

impl Text {
    /// Reads bytes as text; none for binary content.
    pub fn decode(bytes: &[u8]) -> Option<Text> {
        let text = |content, encoding, mark| {
            Some(Text {
                content,
                encoding,
                mark,
            })
        };
        if let Some(rest) = bytes.strip_prefix(b"\xef\xbb\xbf") {
            return text(
                std::str::from_utf8(rest)
                    .ok()
                    .filter(|rest| !rest.contains('\0'))?
                    .to_owned(),
                Encoding::Utf8,
                true,
            );
        }
        if let Some(rest) = bytes.strip_prefix(b"\xff\xfe") {
            return text(utf16(rest, u16::from_le_bytes)?, Encoding::Utf16Le, true);
        }
        if let Some(rest) = bytes.strip_prefix(b"\xfe\xff") {
            return text(utf16(rest, u16::from_be_bytes)?, Encoding::Utf16Be, true);
        }
        if bytes.contains(&0) {
            return None;
        }
        match std::str::from_utf8(bytes) {
            Ok(content) => text(content.to_owned(), Encoding::Utf8, false),
            Err(_) if looks_like_latin1(bytes) => text(
                bytes.iter().map(|byte| char::from(*byte)).collect(),
                Encoding::Latin1,
                false,
            ),
            Err(_) => None,
        }
    }

    /// The bytes of new content in the encoding of this text, or the first character that it cannot hold.
    pub fn encode(&self, content: &str) -> Result<Vec<u8>, char> {
        Ok(match self.encoding {
            Encoding::Utf8 if self.mark => [b"\xef\xbb\xbf", content.as_bytes()].concat(),
            Encoding::Utf8 => content.as_bytes().to_vec(),
            Encoding::Utf16Le => units("\u{feff}", content).flat_map(u16::to_le_bytes).collect(),
            Encoding::Utf16Be => units("\u{feff}", content).flat_map(u16::to_be_bytes).collect(),
            Encoding::Latin1 => content
                .chars()
                .map(|letter| u8::try_from(letter).map_err(|_| letter))
                .collect::<Result<_, _>>()?,
        })
    }
}

fn units<'a>(mark: &'a str, content: &'a str) -> impl Iterator<Item = u16> + 'a {
    mark.encode_utf16().chain(content.encode_utf16())
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Option<String> {
    let (pairs, []) = bytes.as_chunks::<2>() else {
        return None;
    };
    let content: String = char::decode_utf16(pairs.iter().map(|pair| unit(*pair)))
        .collect::<Result<_, _>>()
        .ok()?;
    (!content.contains('\0')).then_some(content)
}

/// Text of an 8-bit encoding has few control characters and mostly plain letters.
fn looks_like_latin1(bytes: &[u8]) -> bool {
    let control = |byte: &&u8| **byte < 32 && !matches!(**byte, b'\t' | b'\n' | b'\r' | 0x0c | 0x1b);
    let high = bytes.iter().filter(|byte| **byte >= 128).count();
    !bytes.iter().any(|byte| control(&byte)) && high * 10 <= bytes.len() * 6
}

/// What binary content is, by its first bytes: "a PNG image".
pub(crate) fn binary_kind(bytes: &[u8]) -> &'static str {
    let kinds: &[(&[u8], &str)] = &[
        (b"\x89PNG", "a PNG image"),
        (b"\xff\xd8\xff", "a JPEG image"),
        (b"GIF8", "a GIF image"),
        (b"RIFF", "an image, sound or video"),
        (b"%PDF", "a PDF document"),
        (b"PK\x03\x04", "a ZIP archive or office document"),
        (b"\x1f\x8b", "a gzip archive"),
        (b"BZh", "a bzip2 archive"),
        (b"\xfd7zXZ", "an xz archive"),
        (b"(\xb5/\xfd", "a zstd archive"),
        (b"\x7fELF", "a program"),
        (b"MZ", "a Windows program"),
        (b"\xcf\xfa\xed\xfe", "a macOS program"),
        (b"\0asm", "a WebAssembly module"),
        (b"SQLite format 3", "an SQLite database"),
        (b"wOF2", "a font"),
        (b"\0\x01\0\0", "a font"),
    ];
    kinds
        .iter()
        .find(|(start, _)| bytes.starts_with(start))
        .map_or("a binary file", |(_, kind)| kind)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn utf16_bytes(text: &str) -> Vec<u8> {
        units("\u{feff}", text).flat_map(u16::to_le_bytes).collect()
    }

    #[test]
    fn encodings_are_told_apart() {
        let cases = [
            (&b""[..], Some((Encoding::Utf8, false, ""))),
            ("é 日本".as_bytes(), Some((Encoding::Utf8, false, "é 日本"))),
            (b"\xef\xbb\xbfa", Some((Encoding::Utf8, true, "a"))),
            (b"\xff\xfea\0\xe9\0", Some((Encoding::Utf16Le, true, "aé"))),
            (b"\xfe\xff\0a", Some((Encoding::Utf16Be, true, "a"))),
            (b"caf\xe9 cr\xe8me", Some((Encoding::Latin1, false, "café crème"))),
            (b"a\0b", None),
            (b"\xff\xfea", None),
            (b"\xff\xfe\x00\xd8a\0", None),
            (b"\x01\x02\xff\xff", None),
            (b"\x89PNG\r\n\x1a\n", None),
            (b"\xef\xbb\xbf\xff", None),
        ];
        for (bytes, expected) in cases {
            let found = Text::decode(bytes);
            let found = found
                .as_ref()
                .map(|text| (text.encoding, text.mark, text.content.as_str()));
            assert_eq!(found, expected, "{bytes:?}");
        }
        let latin = Text::decode(b"caf\xe9").unwrap();
        assert_eq!(latin.encode("日"), Err('日'));
        assert_eq!(binary_kind(b"\x89PNG\r\n"), "a PNG image");
    }

    #[test]
    fn line_ends_are_told_apart_and_applied() {
        assert_eq!(LineEnd::of("a"), LineEnd::None);
        assert_eq!(LineEnd::of("a\nb\n"), LineEnd::Lf);
        assert_eq!(LineEnd::of("a\r\nb\r\n"), LineEnd::CrLf);
        assert_eq!(LineEnd::of("a\r\nb\nc\r\n"), LineEnd::Mixed { crlf: true });
        assert_eq!(LineEnd::CrLf.apply("a\nb\r\nc"), "a\r\nb\r\nc");
        assert_eq!(LineEnd::Lf.apply("a\nb\r\nc"), "a\nb\nc");
    }

    proptest! {
        #[test]
        fn decoding_and_encoding_gives_every_byte_back(bytes in proptest::collection::vec(any::<u8>(), 0..64), wide in any::<bool>()) {
            let bytes = if wide { utf16_bytes(&String::from_utf8_lossy(&bytes)) } else { bytes };
            if let Some(text) = Text::decode(&bytes) {
                prop_assert_eq!(text.encode(&text.content), Ok(bytes));
            }
        }
    }
}
