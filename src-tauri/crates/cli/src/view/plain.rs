//! Text of models, tools and files made harmless for a terminal: what would move the cursor, change colours, hide or turn
//! text is shown as a visible sign instead.

/// Several lines; line ends and tabs stay.
pub fn text(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\r' if rest.peek() == Some(&'\n') => {}
            '\n' | '\t' => plain.push(c),
            c => push(&mut plain, c),
        }
    }
    plain
}

/// One line: line ends and tabs are shown too.
pub fn line(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => plain.push('⏎'),
            '\t' => plain.push(' '),
            c => push(&mut plain, c),
        }
    }
    plain
}

/// One line of at most `most` characters.
pub fn short(text: &str, most: usize) -> String {
    let text = line(text.trim());
    if text.chars().count() <= most {
        return text;
    }
    let cut: String = text.chars().take(most.saturating_sub(1)).collect();
    format!("{cut}…")
}

fn push(plain: &mut String, c: char) {
    match u32::from(c) {
        code @ 0..0x20 => plain.push(char::from_u32(0x2400 + code).unwrap_or('�')),
        0x7f => plain.push('␡'),
        // C1 controls, and marks that turn or hide text.
        code @ (0x80..=0x9f
        | 0x61c
        | 0x200b
        | 0x200e
        | 0x200f
        | 0x2028..=0x202e
        | 0x2060..=0x206f
        | 0xfeff
        | 0xe0000..=0xe007f) => {
            plain.push_str(&format!("<U+{code:04X}>"));
        }
        _ => plain.push(c),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_control_character_reaches_the_terminal() {
        let hostile = "a\u{1b}[31mred\u{1b}]0;title\u{7}\u{9b}2J\r\nb\rc\u{8}\u{202e}gpj.exe\u{7f}\tz";
        let shown = text(hostile);
        assert_eq!(shown, "a␛[31mred␛]0;title␇<U+009B>2J\nb␍c␈<U+202E>gpj.exe␡\tz");
        assert!(!shown.chars().any(|c| c.is_control() && c != '\n' && c != '\t'));
        assert!(!line(hostile).chars().any(char::is_control));
    }

    #[test]
    fn a_long_line_is_cut_between_characters() {
        assert_eq!(short("äöüß", 4), "äöüß");
        assert_eq!(short("  äöüßx ", 4), "äöü…");
    }
}
