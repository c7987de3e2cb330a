//! A key that cannot be printed by accident.

use std::fmt;

/// A provider's key. `Debug` and `Display` show four characters at most; the whole is given out by [`Secret::expose`] only.
#[derive(Clone)]
pub struct Secret(Box<str>);

impl Secret {
    /// Blanks around the key (a common slip when pasting) are dropped.
    pub fn new(key: impl AsRef<str>) -> Self {
        Self(key.as_ref().trim().into())
    }

    pub fn expose(&self) -> &str {
        &self.0
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The last four characters, to recognise the key by; none of a key so short that they would give it away.
    pub fn ends_with(&self) -> Option<String> {
        let characters: Vec<char> = self.0.chars().collect();
        (characters.len() >= 12).then(|| characters[characters.len() - 4..].iter().collect())
    }

    /// The text with every occurrence of the key replaced.
    pub fn mask_in(&self, text: &str) -> String {
        if self.0.len() < 4 {
            return text.to_string();
        }
        text.replace(self.expose(), &self.to_string())
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "…{}", self.ends_with().unwrap_or_default())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secret({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_never_shown_whole() {
        let key = Secret::new(" sk-abcdefghijklmnop\n");
        assert_eq!(key.expose(), "sk-abcdefghijklmnop");
        assert_eq!(format!("{key} {key:?}"), "…mnop Secret(…mnop)");
        assert_eq!(format!("{:?}", Secret::new("short")), "Secret(…)");
        assert_eq!(key.mask_in("bad key sk-abcdefghijklmnop!"), "bad key …mnop!");
    }
}
