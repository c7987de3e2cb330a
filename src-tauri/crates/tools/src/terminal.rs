//! What a terminal would have left on the screen, as plain text: control codes mean nothing to a model and can mislead a
//! person who reads them.

/// Plain text of output: without colours, titles and links, with rewritten lines as they last were.
pub(crate) fn plain(output: &str) -> String {
    let mut result = String::with_capacity(output.len());
    let mut line_start = 0;
    let mut letters = output.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\u{1b}' => skip_escape(&mut letters),
            '\u{9b}' => skip_control_sequence(&mut letters),
            '\n' => {
                result.push('\n');
                line_start = result.len();
            }
            '\r' => {
                // Before a line end it is part of it; before anything else the line is written again.
                while letters.peek() == Some(&'\r') {
                    letters.next();
                }
                if letters.peek().is_some_and(|next| *next != '\n') {
                    result.truncate(line_start);
                }
            }
            '\u{8}' => {
                if result.len() > line_start {
                    result.pop();
                }
            }
            '\t' => result.push('\t'),
            // Characters that reverse the direction of text are shown as their code.
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                result.push_str(&format!("<U+{:04X}>", u32::from(letter)));
            }
            control if control.is_control() => {}
            other => result.push(other),
        }
    }
    result
}

type Letters<'a> = std::iter::Peekable<std::str::Chars<'a>>;

fn skip_escape(letters: &mut Letters) {
    match letters.next() {
        Some('[') => skip_control_sequence(letters),
        // A string (title, link, device): up to BEL or ESC \, within reason when it is not ended.
        Some(']' | 'P' | 'X' | '^' | '_') => {
            for _ in 0..4096 {
                match letters.next() {
                    None | Some('\u{7}' | '\u{9c}') => return,
                    Some('\u{1b}') => {
                        if letters.peek() == Some(&'\\') {
                            letters.next();
                        }
                        return;
                    }
                    Some(_) => {}
                }
            }
        }
        // Character sets and the like have one letter more.
        Some(' '..='/') => {
            letters.next();
        }
        _ => {}
    }
}

fn skip_control_sequence(letters: &mut Letters) {
    while let Some(next) = letters.peek() {
        match next {
            ' '..='?' => {
                letters.next();
            }
            '@'..='~' => {
                letters.next();
                return;
            }
            _ => return,
        }
    }
}

/// Turns bytes that arrive in pieces into text; what is no UTF-8 is replaced.
#[derive(Default)]
pub(crate) struct Decoder {
    rest: Vec<u8>,
}

impl Decoder {
    /// The text of everything but a character that has not fully arrived.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> String {
        self.rest.extend_from_slice(bytes);
        let whole = open_character(&self.rest).unwrap_or(self.rest.len());
        let text = String::from_utf8_lossy(&self.rest[..whole]).into_owned();
        self.rest.drain(..whole);
        text
    }

    /// What is left when nothing more comes.
    pub(crate) fn finish(self) -> String {
        String::from_utf8_lossy(&self.rest).into_owned()
    }
}

/// Where a character begins that is not complete at the end.
fn open_character(bytes: &[u8]) -> Option<usize> {
    let start = bytes.len() - bytes.iter().rev().take(4).position(|byte| *byte & 0xc0 != 0x80)? - 1;
    let needed = match bytes[start] {
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => 1,
    };
    (bytes.len() - start < needed).then_some(start)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn codes_go_and_rewritten_lines_stay_as_they_last_were() {
        for (output, expected) in [
            ("\u{1b}[31mred\u{1b}[0m\n", "red\n"),
            ("\u{1b}[1;38;5;12mx\u{9b}0m", "x"),
            ("a\r\nb\r\n", "a\nb\n"),
            ("10%\r50%\r100%\ndone", "100%\ndone"),
            ("10%\r\r\n", "10%\n"),
            ("tail\r", "tail"),
            ("abc\u{8}\u{8}d\n", "ad\n"),
            ("\n\u{8}x", "\nx"),
            ("\u{1b}]0;title\u{7}text", "text"),
            ("\u{1b}]8;;http://x\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link"),
            ("\u{1b}(Bplain\u{1b}=", "plain"),
            ("bell\u{7}\u{0} tab\tend", "bell tab\tend"),
            ("safe \u{202e}evil", "safe <U+202E>evil"),
            ("日本 é\u{1b}[", "日本 é"),
        ] {
            assert_eq!(plain(output), expected, "{output:?}");
        }
    }

    proptest! {
        #[test]
        fn pieces_decode_like_the_whole(text in "[a-zé日🎉\\n]{0,60}", noise in proptest::collection::vec(any::<u8>(), 0..20), step in 1usize..7) {
            let bytes = [text.as_bytes(), &noise, text.as_bytes()].concat();
            let mut decoder = Decoder::default();
            let mut result = String::new();
            for piece in bytes.chunks(step) {
                result.push_str(&decoder.push(piece));
            }
            result.push_str(&decoder.finish());
            prop_assert!(!result.is_empty() || bytes.is_empty());
            if noise.is_empty() {
                prop_assert_eq!(result, String::from_utf8_lossy(&bytes).into_owned());
            }
        }
    }
}
