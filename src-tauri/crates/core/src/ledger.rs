//! What all sessions have spent since midnight, for the cap on a day: the records of all of them, and what was told since.

use paddock_protocol::{Micros, Usage};
use paddock_store::{Home, StoreError};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// After this the records are looked at again: another Paddock may have spent too, or a day may have ended.
const FRESH: Duration = Duration::from_secs(30);

#[derive(Default)]
pub struct Ledger {
    page: Mutex<Option<Page>>,
}

struct Page {
    read: Instant,
    today: Usage,
}

impl Ledger {
    /// Everything since midnight, local time. Reads what is new in the logs when the last look is older than half a minute.
    pub fn today(&self, home: &Home) -> Result<Usage, StoreError> {
        let mut page = self.page.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(page) = page.as_ref().filter(|page| page.read.elapsed() < FRESH) {
            return Ok(page.today);
        }
        let today = paddock_store::index::spent_today(home)?;
        *page = Some(Page {
            read: Instant::now(),
            today,
        });
        Ok(today)
    }

    /// As far as it is known without looking; an upper bound while a look goes on.
    pub fn known(&self) -> Micros {
        let page = self.page.lock().unwrap_or_else(PoisonError::into_inner);
        page.as_ref().map_or(Micros(0), |page| page.today.cost)
    }

    /// A request was paid for.
    pub fn add(&self, usage: &Usage) {
        if let Some(page) = &mut *self.page.lock().unwrap_or_else(PoisonError::into_inner) {
            page.today.add(usage);
        }
    }
}
