//! The watch over the disk while a command runs. The free space is looked at often, which costs nothing; only when much of
//! it is gone is it summed up what changed below the project and its caches, so what other programs write does not count.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// How often the free space is looked at.
pub(crate) const LOOK: Duration = Duration::from_millis(200);
/// A sum takes time in a large project, so there is a pause behind it of so many times what it took.
const PAUSE: u32 = 10;
const MAX_ENTRIES: usize = 300_000;
/// With less space than this, and so much gone since the start, the command ends whoever took it.
const RESERVE: u64 = 512 * 1024 * 1024;

pub(crate) struct DiskWatch {
    places: [PathBuf; 2],
    limit: u64,
    since: i64,
    free: [u64; 2],
    next_sum: Instant,
}

impl DiskWatch {
    /// Begins the watch over the project and the folder of its caches.
    pub(crate) fn begin(project: &Path, caches: &Path, limit: u64) -> Self {
        let places = [project.to_owned(), caches.to_owned()];
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |time| time.as_secs());
        Self {
            free: places.each_ref().map(|place| free(place)),
            places,
            limit,
            since: i64::try_from(now).unwrap_or(i64::MAX),
            next_sum: Instant::now(),
        }
    }

    /// Whether the command has written more than it may.
    pub(crate) fn is_exceeded(&mut self) -> bool {
        let now = self.places.each_ref().map(|place| free(place));
        let gone = |at: usize| self.free[at].saturating_sub(now[at]);
        if (0..2).any(|at| now[at] < RESERVE && gone(at) > 2 * RESERVE) {
            return true;
        }
        if (0..2).all(|at| gone(at) < self.limit) || Instant::now() < self.next_sum {
            return false;
        }
        let began = Instant::now();
        let (mut sum, mut left) = (0_u64, MAX_ENTRIES);
        for place in &self.places {
            sum = sum.saturating_add(changed_below(place, self.since, &mut left));
        }
        self.next_sum = Instant::now() + began.elapsed() * PAUSE + LOOK;
        sum >= self.limit
    }
}

/// Bytes that this account can still write there; as much as can be said where it is not known.
fn free(place: &Path) -> u64 {
    rustix::fs::statvfs(place).map_or(u64::MAX, |found| found.f_bavail.saturating_mul(found.f_frsize))
}

/// The space of the files that changed since; no link is followed, and no other volume entered.
fn changed_below(top: &Path, since: i64, left: &mut usize) -> u64 {
    let Ok(device) = fs::symlink_metadata(top).map(|found| found.dev()) else {
        return 0;
    };
    let is_ours = |found: &Metadata| found.dev() == device;
    let (mut waiting, mut sum) = (vec![top.to_owned()], 0_u64);
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let Some(rest) = left.checked_sub(1) else {
                return sum;
            };
            *left = rest;
            let Ok(found) = entry.metadata() else { continue };
            if found.is_dir() && is_ours(&found) {
                waiting.push(entry.path());
            } else if found.is_file() && found.ctime() >= since {
                sum = sum.saturating_add(found.blocks().saturating_mul(512) / found.nlink().max(1));
            }
        }
    }
    sum
}
