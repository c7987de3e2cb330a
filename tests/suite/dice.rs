//! Numbers that a seed decides, so that a run that failed can be had again.

use std::time::SystemTime;

pub struct Dice(u64);

impl Dice {
    /// Of this seed alone.
    pub fn seeded(seed: u64) -> Self {
        // Neighbouring seeds must not begin alike.
        let mixed = (seed ^ 0x9e37_79b9_7f4a_7c15).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        Self((mixed ^ (mixed >> 31)) | 1)
    }

    /// Other numbers in each run, unless `PADDOCK_SEED` names a seed. `what` keeps the tests of a run apart.
    pub fn thrown(what: u64) -> Self {
        let now = || {
            let since = SystemTime::now()
                .duration_since(SystemTime::UNIX_EPOCH)
                .unwrap_or_default();
            u64::try_from(since.as_nanos() & 0xffff_ffff).unwrap_or(1)
        };
        let seed = given_seed().unwrap_or_else(now);
        println!("PADDOCK_SEED={seed}");
        Self::seeded(seed ^ (what << 40))
    }

    pub fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }

    pub fn index(&mut self, length: usize) -> usize {
        usize::try_from(self.below(length as u64)).unwrap()
    }

    pub fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.index(all.len())]
    }

    pub fn shuffle<T>(&mut self, all: &mut [T]) {
        for last in (1..all.len()).rev() {
            all.swap(last, self.index(last + 1));
        }
    }
}

/// The seed that the person asked for.
pub fn given_seed() -> Option<u64> {
    std::env::var("PADDOCK_SEED").ok()?.parse().ok()
}
