//! The mark of one run: a pair of service names of which its profile allows one and not the other. Who may look up the
//! first alone carries that profile, wherever it went since: a process cannot lay its profile down, and its children
//! inherit it. No sandbox at all would allow both, every other one neither.

use sha2::{Digest, Sha256};

/// The mark of one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Marker(String);

impl Marker {
    /// A mark that no other run has.
    #[cfg(target_os = "macos")]
    pub(super) fn new() -> std::io::Result<Self> {
        use std::io::Read;
        let mut bytes = [0; 16];
        std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
        Ok(Self::of(bytes))
    }

    /// The mark of these bytes.
    pub(super) fn of(bytes: [u8; 16]) -> Self {
        Self(hex(&bytes))
    }

    /// Reads a mark back; none when it is not one, because it becomes part of a profile's text.
    pub(super) fn read(text: &str) -> Option<Self> {
        let is_one = text.len() == 32 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        is_one.then(|| Self(text.to_owned()))
    }

    /// The text to read it back from.
    pub(super) fn text(&self) -> &str {
        &self.0
    }

    /// The name that the run may look up.
    pub(super) fn allowed(&self) -> String {
        format!("dev.paddock.run.{}", self.0)
    }

    /// The name that nothing with a profile may look up. Not to be guessed from the first without the mark.
    pub(super) fn refused(&self) -> String {
        let digest = Sha256::digest(self.0.as_bytes());
        format!("dev.paddock.not.{}", hex(&digest[..16]))
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_read_back_and_nothing_else_is() {
        let marker = Marker::of([0xa5; 16]);
        assert_eq!(Marker::read(marker.text()), Some(marker.clone()));
        for text in [
            "",
            "a5",
            "A5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5",
            "a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5\"))",
        ] {
            assert_eq!(Marker::read(text), None, "{text}");
        }
    }

    #[test]
    fn both_names_differ_between_runs() {
        let (one, other) = (Marker::of([1; 16]), Marker::of([2; 16]));
        let names = [one.allowed(), one.refused(), other.allowed(), other.refused()];
        for (at, name) in names.iter().enumerate() {
            assert!(!names[at + 1..].contains(name));
            assert!(
                name.bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || byte == b'.')
            );
        }
    }
}
