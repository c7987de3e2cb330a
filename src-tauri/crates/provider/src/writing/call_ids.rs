//! Ids of calls on the wire.

use std::collections::HashSet;

/// Ids of calls on the wire: the given one where it is legal and new, otherwise a made one.
pub(crate) struct CallIds {
    short: bool,
    count: u64,
    used: HashSet<String>,
}

impl CallIds {
    /// `short`: exactly nine letters and digits, for servers that want it so.
    pub fn new(short: bool) -> Self {
        Self {
            short,
            count: 0,
            used: HashSet::new(),
        }
    }

    /// The id to send for the next call of the history.
    pub fn next(&mut self, id: &str) -> String {
        self.count += 1;
        let legal = if self.short {
            id.len() == 9 && id.chars().all(|c| c.is_ascii_alphanumeric())
        } else {
            (1..=40).contains(&id.len())
                && id
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ':'))
        };
        if legal && self.used.insert(id.to_string()) {
            return id.to_string();
        }
        let mut seed = self.count;
        loop {
            let made = nine_characters(id, seed);
            if self.used.insert(made.clone()) {
                return made;
            }
            seed += 1_000_000;
        }
    }
}

/// Nine letters and digits made of an id and its place in the history: the same in every request.
fn nine_characters(id: &str, seed: u64) -> String {
    const LETTERS: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in id.bytes().chain(seed.to_le_bytes()) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    (0..9)
        .map(|_| {
            let letter = LETTERS[(hash % 62) as usize] as char;
            hash /= 62;
            letter
        })
        .collect()
}
