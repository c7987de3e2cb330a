//! Characters that a server cut in half: the two halves of a surrogate pair, sent in two deltas.
//!
//! No Rust string holds half a character, so [`super::parse`] puts a stand-in for it, from the end of the last private plane. A
//! [`Seam`] joins the halves where the deltas of one text meet; what stays alone becomes U+FFFD.

use std::borrow::Cow;

/// The stand-in of 0xD800.
const FIRST: u32 = 0x10_F800;
const SURROGATES: u32 = 0xD800;

pub(super) fn of_unit(unit: u16) -> char {
    char::from_u32(FIRST + u32::from(unit).saturating_sub(SURROGATES)).unwrap_or(char::REPLACEMENT_CHARACTER)
}

pub(super) fn is_half(character: char) -> bool {
    u32::from(character) >= FIRST
}

fn unit_of(character: char) -> Option<u16> {
    let unit = u32::from(character).checked_sub(FIRST)? + SURROGATES;
    u16::try_from(unit).ok()
}

/// The end of one text that streams in pieces.
#[derive(Debug, Default)]
pub(super) struct Seam {
    /// The first half of a character whose second half is still to come.
    held: Option<u16>,
    /// A half stayed alone.
    damaged: bool,
}

impl Seam {
    /// The whole characters of the next piece; `halved` = it may hold stand-ins.
    pub fn join<'t>(&mut self, piece: &'t str, halved: bool) -> Cow<'t, str> {
        if piece.is_empty() || (self.held.is_none() && !(halved && piece.contains(is_half))) {
            return Cow::Borrowed(piece);
        }
        let unit = |character| halved.then(|| unit_of(character)).flatten();
        let mut out = String::with_capacity(piece.len() + 3);
        for character in piece.chars() {
            let unit = unit(character);
            if let Some(held) = self.held.take() {
                let pair = [held, unit.unwrap_or_default()];
                if let Some(Ok(whole)) = char::decode_utf16(pair).next() {
                    out.push(whole);
                    continue;
                }
                self.lose(&mut out);
            }
            match unit {
                None => out.push(character),
                Some(first @ 0xD800..=0xDBFF) => self.held = Some(first),
                Some(_) => self.lose(&mut out),
            }
        }
        Cow::Owned(out)
    }

    fn lose(&mut self, out: &mut String) {
        self.damaged = true;
        out.push(char::REPLACEMENT_CHARACTER);
    }

    /// What is left at the end of the text.
    pub fn close(&mut self) -> Option<char> {
        self.held.take()?;
        self.damaged = true;
        Some(char::REPLACEMENT_CHARACTER)
    }

    /// A character was lost.
    pub fn is_damaged(&self) -> bool {
        self.damaged
    }

    /// No character was lost, and none would be if the text ended here.
    pub fn is_whole(&self) -> bool {
        !self.damaged && self.held.is_none()
    }
}

/// A text that came in one piece, with U+FFFD for halves.
pub(super) fn closed(text: &str, halved: bool) -> String {
    let mut seam = Seam::default();
    let mut whole = seam.join(text, halved).into_owned();
    whole.extend(seam.close());
    whole
}

/// Adds a piece to a text; halves that meet become one character.
pub(crate) fn push_piece(text: &mut String, piece: &str) {
    if let (Some(first), Some(second)) = (text.chars().last(), piece.chars().next())
        && let (Some(high), Some(low)) = (unit_of(first), unit_of(second))
        && let Some(Ok(whole)) = char::decode_utf16([high, low]).next()
    {
        text.pop();
        text.push(whole);
        text.push_str(&piece[second.len_utf8()..]);
    } else {
        text.push_str(piece);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FOX: [char; 2] = ['\u{10f83e}', '\u{10fd8a}'];

    #[test]
    fn halves_meet_over_pieces_and_what_stays_alone_is_told() {
        let [first, second] = FOX;
        for (pieces, expected, damaged) in [
            (vec![format!("a{first}"), format!("{second}b")], "a🦊b", false),
            (
                vec![format!("a{first}"), String::new(), format!("{second}")],
                "a🦊",
                false,
            ),
            (
                vec![format!("{first}{second}{first}"), second.to_string()],
                "🦊🦊",
                false,
            ),
            (vec![format!("a{first}"), "b".into()], "a\u{fffd}b", true),
            (
                vec![format!("a{first}"), format!("{first}{second}")],
                "a\u{fffd}🦊",
                true,
            ),
            (vec![format!("{second}{first}")], "\u{fffd}\u{fffd}", true),
            (vec![format!("a{first}")], "a\u{fffd}", true),
        ] {
            let mut seam = Seam::default();
            let mut text: String = pieces.iter().map(|piece| seam.join(piece, true)).collect();
            text.extend(seam.close());
            assert_eq!(
                (text.as_str(), seam.is_damaged()),
                (expected, damaged),
                "{pieces:?}"
            );
        }
    }

    #[test]
    fn characters_that_a_server_sent_whole_stay() {
        let mut seam = Seam::default();
        let private: String = FOX.iter().collect();
        assert_eq!(seam.join(&private, false), private);
        assert!(!seam.is_damaged());
    }

    #[test]
    fn pieces_of_a_text_that_goes_back_to_the_server_are_joined_too() {
        let mut text = format!("a{}", FOX[0]);
        push_piece(&mut text, &format!("{}b", FOX[1]));
        push_piece(&mut text, "c");
        assert_eq!(text, "a🦊bc");
    }
}
