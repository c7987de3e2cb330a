//! What all sessions have spent since midnight, for the cap on a day: the records of all of them, what was told since, and what
//! the requests hold that are on their way.
//!
//! The wall stands here because several sessions ask at once, and each reckons with what is left: looking at it and holding a part
//! of it are one step.

use paddock_protocol::{Micros, SessionId, Usage};
use paddock_store::{Home, StoreError};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// After this the records are looked at again: another Paddock may have spent too, or a day may have ended.
const FRESH: Duration = Duration::from_secs(30);

#[derive(Default)]
pub struct Ledger {
    page: Mutex<Option<Page>>,
    /// What requests on their way are expected to cost, by session.
    held: Mutex<HashMap<SessionId, Micros>>,
}

struct Page {
    read: Instant,
    today: Usage,
}

fn open<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Ledger {
    /// Everything since midnight, local time. Reads what is new in the logs when the last look is older than half a minute.
    pub fn today(&self, home: &Home) -> Result<Usage, StoreError> {
        let mut page = open(&self.page);
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
    fn known(&self) -> Micros {
        open(&self.page)
            .as_ref()
            .map_or(Micros(0), |page| page.today.cost)
    }
}

/// A session's place in the ledger. What it holds is let go with it.
pub struct Account {
    ledger: Arc<Ledger>,
    session: SessionId,
}

impl Account {
    pub fn new(ledger: Arc<Ledger>, session: SessionId) -> Self {
        Self { ledger, session }
    }

    /// Does `work` with what is spent today, what other sessions hold reckoned in, and holds what it says. No other session
    /// looks meanwhile.
    pub fn reckon<T>(&self, work: impl FnOnce(Micros) -> (T, Micros)) -> T {
        let mut held = open(&self.ledger.held);
        let others = held.iter().filter(|(session, _)| **session != self.session);
        let held_beside: u64 = others.map(|(_, micros)| micros.0).sum();
        let spent = Micros(self.ledger.known().0.saturating_add(held_beside));
        let (done, holds) = work(spent);
        keep(&mut held, &self.session, holds);
        done
    }

    /// From now on the session holds so much.
    pub fn hold(&self, micros: Micros) {
        keep(&mut open(&self.ledger.held), &self.session, micros);
    }

    /// A request was paid for.
    pub fn paid(&self, usage: &Usage) {
        if let Some(page) = &mut *open(&self.ledger.page) {
            page.today.add(usage);
        }
    }
}

impl Drop for Account {
    fn drop(&mut self) {
        self.hold(Micros(0));
    }
}

fn keep(held: &mut HashMap<SessionId, Micros>, session: &SessionId, micros: Micros) {
    if micros.0 == 0 {
        held.remove(session);
    } else {
        held.insert(session.clone(), micros);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn account(ledger: &Arc<Ledger>, name: &str) -> Account {
        Account::new(ledger.clone(), SessionId::new(name))
    }

    fn sees(account: &Account, holds: u64) -> u64 {
        account.reckon(|spent| (spent.0, Micros(holds)))
    }

    #[test]
    fn a_session_reckons_with_what_others_hold_and_not_with_its_own() {
        let ledger = Arc::new(Ledger::default());
        let (one, other) = (account(&ledger, "one"), account(&ledger, "other"));
        assert_eq!(sees(&one, 300), 0);
        assert_eq!(sees(&other, 50), 300);
        assert_eq!(sees(&one, 300), 50);
        one.hold(Micros(0));
        assert_eq!(sees(&other, 50), 0);
        drop(other);
        assert_eq!(sees(&one, 0), 0);
    }

    #[test]
    fn of_many_at_once_only_as_many_are_let_through_as_fit() {
        let ledger = Arc::new(Ledger::default());
        let sent = std::sync::atomic::AtomicU64::new(0);
        let accounts: Vec<Account> = (0..8).map(|n| account(&ledger, &n.to_string())).collect();
        std::thread::scope(|scope| {
            for account in &accounts {
                scope.spawn(|| {
                    account.reckon(|spent| {
                        let fits = spent.0 + 300 <= 1_000;
                        sent.fetch_add(u64::from(fits), std::sync::atomic::Ordering::Relaxed);
                        ((), Micros(if fits { 300 } else { 0 }))
                    });
                });
            }
        });
        assert_eq!(sent.into_inner(), 3);
    }
}
