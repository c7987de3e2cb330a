//! The identities of places that commands may change. Each place has one, derived from its path, so that it is found again
//! without any note; a command's token names those of the places it may change. No account has such an identity.

use sha2::{Digest, Sha256};

/// Everyone, whom every token names.
pub(super) const EVERYONE: &str = "S-1-1-0";

/// The identity of a place; the same for all spellings of its path that Windows takes for one.
pub(super) fn of_place(path: &str) -> String {
    let mut hash = Sha256::new();
    hash.update(b"paddock place\0");
    hash.update(folded(path).as_bytes());
    let digest = hash.finalize();
    let part = |at: usize| {
        let bytes = [digest[at], digest[at + 1], digest[at + 2], digest[at + 3]];
        u32::from_le_bytes(bytes)
    };
    // The form of accounts of a machine that does not exist: the last number is above those that Windows gives out itself.
    format!(
        "S-1-5-21-{}-{}-{}-{}",
        part(0),
        part(4),
        part(8),
        part(12) | 0x8000_0000
    )
}

fn folded(path: &str) -> String {
    let plain = path.strip_prefix(r"\\?\").unwrap_or(path);
    plain.replace('/', "\\").trim_end_matches('\\').to_lowercase()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn one_place_has_one_identity() {
        let expected = of_place(r"C:\Code\Shop");
        for same in [
            r"c:\code\shop",
            r"\\?\C:\Code\Shop",
            "C:/Code/Shop/",
            r"C:\Code\Shop\",
        ] {
            assert_eq!(of_place(same), expected, "{same}");
        }
        for other in [r"C:\Code\Shop2", r"D:\Code\Shop", r"C:\Code"] {
            assert_ne!(of_place(other), expected, "{other}");
        }
    }

    proptest! {
        #[test]
        fn an_identity_is_well_formed(path in ".{0,40}") {
            let sid = of_place(&path);
            let numbers: Vec<&str> = sid.strip_prefix("S-1-5-21-").unwrap().split('-').collect();
            prop_assert_eq!(numbers.len(), 4);
            for number in &numbers {
                prop_assert!(number.parse::<u32>().is_ok());
            }
            prop_assert!(numbers[3].parse::<u32>().unwrap() >= 0x8000_0000);
        }
    }
}
