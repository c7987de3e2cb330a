//! Keys of model servers: in the OS keyring, or in memory until the program ends when the keyring does not take them. Never
//! on disk in clear, never in a log, a message or an event. Nothing is loaded or connected before a key is asked for.

use crate::KeyError;
use crate::keyring::{OsKeyring, Passing, Shelf};
use paddock_protocol::{KeyState, ProviderId};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Semaphore, oneshot};
use zeroize::Zeroizing;

/// How long the keyring may take. A window it shows stays longer; its answer then counts at the next try.
const PATIENCE: Duration = Duration::from_secs(3);
/// A key shorter than this does not show its end: too much of it would be seen.
const MIN_FOR_END: usize = 16;

/// A key. Its text cannot be printed by accident and is wiped from memory on drop.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Zeroizing<String>);

impl Secret {
    pub fn new(text: String) -> Self {
        Self(Zeroizing::new(text))
    }

    /// The key itself, for the one place that sends it.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// The last four characters, to recognise it by; empty for a short key.
    pub fn ends_with(&self) -> String {
        let count = self.0.chars().count();
        if count < MIN_FOR_END {
            String::new()
        } else {
            self.0.chars().skip(count - 4).collect()
        }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// The keys of all providers. Cheap to clone; clones share what they know. Every call to the keyring runs in a thread
/// of its own, one at a time; a thread that hangs holds up neither an answer nor the end of the program.
#[derive(Clone)]
pub struct Keys {
    shelf: Arc<dyn Shelf>,
    held: Arc<Mutex<HashMap<ProviderId, Held>>>,
    one_at_a_time: Arc<Semaphore>,
    patience: Duration,
}

/// A key in memory; `why` the keyring does not have it, if so.
struct Held {
    key: Secret,
    why: Option<KeyError>,
}

impl Default for Keys {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Keys(…)")
    }
}

impl Keys {
    /// Costs nothing: the keyring is looked for when a key is asked for.
    pub fn new() -> Self {
        Self::on(Arc::new(OsKeyring::default()), PATIENCE)
    }

    /// Without the keyring of the system, for programs that must leave it alone, as tests do: what is kept ends with the process.
    pub fn passing() -> Self {
        Self::on(Arc::new(Passing::default()), PATIENCE)
    }

    fn on(shelf: Arc<dyn Shelf>, patience: Duration) -> Self {
        Self {
            shelf,
            held: Arc::default(),
            one_at_a_time: Arc::new(Semaphore::new(1)),
            patience,
        }
    }

    /// The key of a provider; `None` when there is none. Asks the keyring once and remembers the key for this process.
    pub async fn get(&self, provider: &ProviderId) -> Result<Option<Secret>, KeyError> {
        if let Some(held) = self.held().get(provider) {
            return Ok(Some(held.key.clone()));
        }
        self.read(provider).await
    }

    /// Gives a key to the keyring. When the keyring does not take it, it is kept in memory for this process; the state
    /// says so with the reason.
    pub async fn set(&self, provider: &ProviderId, key: Secret) -> KeyState {
        let why = self
            .ask(provider, {
                let key = key.clone();
                move |shelf, user, _| shelf.set(user, &key)
            })
            .await
            .err();
        let state = state_of(&key, why.as_ref());
        self.held().insert(provider.clone(), Held { key, why });
        state
    }

    /// Removes a key from memory and from the keyring; there being none is fine.
    pub async fn forget(&self, provider: &ProviderId) -> Result<(), KeyError> {
        let in_memory_only = self
            .held()
            .remove(provider)
            .is_some_and(|held| held.why.is_some());
        match self.ask(provider, |shelf, user, _| shelf.forget(user)).await {
            Err(_) if in_memory_only => Ok(()),
            result => result,
        }
    }

    /// Where the key is: in the keyring, in memory only, missing, or unknown because the keyring does not answer.
    pub async fn state(&self, provider: &ProviderId) -> KeyState {
        if let Some(held) = self.held().get(provider) {
            return state_of(&held.key, held.why.as_ref());
        }
        match self.read(provider).await {
            Ok(Some(key)) => state_of(&key, None),
            Ok(None) => KeyState::Missing,
            Err(error) => KeyState::Unavailable {
                why: error.to_string(),
            },
        }
    }

    /// Whether the keyring answers at all.
    pub async fn check(&self) -> Result<(), KeyError> {
        self.ask(&ProviderId::new("check"), |shelf, user, _| {
            shelf.get(user).map(drop)
        })
        .await
    }

    async fn read(&self, provider: &ProviderId) -> Result<Option<Secret>, KeyError> {
        let provider_of_key = provider.clone();
        self.ask(provider, move |shelf, user, held| {
            let key = shelf.get(user)?;
            if let Some(key) = &key {
                // Also when the answer came too late for the one who asked: the next one has it at once.
                let mut held = held.lock().unwrap_or_else(PoisonError::into_inner);
                held.entry(provider_of_key).or_insert_with(|| Held {
                    key: key.clone(),
                    why: None,
                });
            }
            Ok(key)
        })
        .await
    }

    /// Runs one call to the keyring in its own thread, no longer than the patience, waiting for the one before included.
    async fn ask<T: Send + 'static>(
        &self,
        provider: &ProviderId,
        work: impl FnOnce(&dyn Shelf, &str, &Mutex<HashMap<ProviderId, Held>>) -> Result<T, KeyError>
        + Send
        + 'static,
    ) -> Result<T, KeyError> {
        let (answer, answered) = oneshot::channel();
        let (shelf, held, user) = (
            Arc::clone(&self.shelf),
            Arc::clone(&self.held),
            provider.to_string(),
        );
        let turns = Arc::clone(&self.one_at_a_time);
        let asking = async move {
            let turn = turns.acquire_owned().await.map_err(|_| KeyError::NoAnswer)?;
            std::thread::Builder::new()
                .name("keyring".to_owned())
                .spawn(move || {
                    let _ = answer.send(work(&*shelf, &user, &held));
                    drop(turn);
                })
                .map_err(|error| KeyError::Failed {
                    why: error.to_string(),
                })?;
            answered.await.map_err(|_| KeyError::Failed {
                why: "it broke off".to_owned(),
            })?
        };
        tokio::time::timeout(self.patience, asking)
            .await
            .unwrap_or(Err(KeyError::NoAnswer))
    }

    fn held(&self) -> MutexGuard<'_, HashMap<ProviderId, Held>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn state_of(key: &Secret, why: Option<&KeyError>) -> KeyState {
    let ends_with = key.ends_with();
    match why {
        None => KeyState::InKeyring { ends_with },
        Some(why) => KeyState::ThisSessionOnly {
            ends_with,
            why: why.to_string(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Instant;

    /// A keyring in memory that can be told to fail or to hang.
    #[derive(Default)]
    struct Memory {
        keys: Mutex<HashMap<String, Secret>>,
        failure: Mutex<Option<KeyError>>,
        hang: Mutex<Duration>,
        calls: AtomicUsize,
    }

    impl Memory {
        fn begin(&self) -> Result<(), KeyError> {
            self.calls.fetch_add(1, Ordering::SeqCst);
            let hang = *self.hang.lock().unwrap();
            std::thread::sleep(hang);
            self.failure.lock().unwrap().clone().map_or(Ok(()), Err)
        }
    }

    impl Shelf for Memory {
        fn get(&self, user: &str) -> Result<Option<Secret>, KeyError> {
            self.begin()?;
            Ok(self.keys.lock().unwrap().get(user).cloned())
        }

        fn set(&self, user: &str, key: &Secret) -> Result<(), KeyError> {
            self.begin()?;
            self.keys.lock().unwrap().insert(user.to_owned(), key.clone());
            Ok(())
        }

        fn forget(&self, user: &str) -> Result<(), KeyError> {
            self.begin()?;
            self.keys.lock().unwrap().remove(user);
            Ok(())
        }
    }

    fn keys() -> (Keys, Arc<Memory>) {
        let memory = Arc::new(Memory::default());
        (
            Keys::on(Arc::clone(&memory) as Arc<dyn Shelf>, Duration::from_millis(150)),
            memory,
        )
    }

    fn openai() -> ProviderId {
        ProviderId::new("openai")
    }

    fn key() -> Secret {
        Secret::new("sk-0123456789-abcd".to_owned())
    }

    #[tokio::test]
    async fn a_key_goes_to_the_keyring_and_back() {
        let (keys, memory) = keys();
        assert_eq!(memory.calls.load(Ordering::SeqCst), 0);
        assert_eq!(keys.get(&openai()).await, Ok(None));
        assert_eq!(keys.state(&openai()).await, KeyState::Missing);
        let in_keyring = KeyState::InKeyring {
            ends_with: "abcd".to_owned(),
        };
        assert_eq!(keys.set(&openai(), key()).await, in_keyring);
        let fresh = Keys::on(Arc::clone(&memory) as Arc<dyn Shelf>, Duration::from_secs(1));
        assert_eq!(fresh.get(&openai()).await, Ok(Some(key())));
        assert_eq!(fresh.state(&openai()).await, in_keyring);
        let calls = memory.calls.load(Ordering::SeqCst);
        assert_eq!(fresh.get(&openai()).await, Ok(Some(key())));
        assert_eq!(
            memory.calls.load(Ordering::SeqCst),
            calls,
            "asked once per process"
        );
        keys.forget(&openai()).await.unwrap();
        assert_eq!(keys.get(&openai()).await, Ok(None));
    }

    #[tokio::test]
    async fn a_key_the_keyring_refuses_stays_in_memory_and_says_why() {
        let (keys, memory) = keys();
        *memory.failure.lock().unwrap() = Some(KeyError::Locked);
        let state = keys.set(&openai(), key()).await;
        assert_eq!(
            state,
            KeyState::ThisSessionOnly {
                ends_with: "abcd".to_owned(),
                why: KeyError::Locked.to_string()
            }
        );
        assert_eq!(keys.state(&openai()).await, state);
        assert_eq!(keys.get(&openai()).await, Ok(Some(key())));
        assert!(memory.keys.lock().unwrap().is_empty());
        keys.forget(&openai()).await.unwrap();
        assert_eq!(keys.get(&openai()).await, Err(KeyError::Locked));
        assert_eq!(
            keys.state(&openai()).await,
            KeyState::Unavailable {
                why: KeyError::Locked.to_string()
            }
        );
    }

    #[tokio::test]
    async fn a_keyring_found_later_works() {
        let (keys, memory) = keys();
        memory.keys.lock().unwrap().insert("openai".to_owned(), key());
        *memory.failure.lock().unwrap() = Some(KeyError::NotRunning);
        assert_eq!(keys.get(&openai()).await, Err(KeyError::NotRunning));
        *memory.failure.lock().unwrap() = None;
        assert_eq!(keys.get(&openai()).await, Ok(Some(key())));
    }

    #[tokio::test]
    async fn a_hanging_keyring_costs_the_patience_and_its_late_answer_counts() {
        let (keys, memory) = keys();
        memory.keys.lock().unwrap().insert("openai".to_owned(), key());
        *memory.hang.lock().unwrap() = Duration::from_millis(500);
        let begun = Instant::now();
        assert_eq!(keys.get(&openai()).await, Err(KeyError::NoAnswer));
        assert_eq!(keys.check().await, Err(KeyError::NoAnswer));
        assert!(
            begun.elapsed() < Duration::from_millis(480),
            "{:?}",
            begun.elapsed()
        );
        assert_eq!(
            memory.calls.load(Ordering::SeqCst),
            1,
            "no second window while the first is open"
        );
        tokio::time::sleep(Duration::from_millis(600)).await;
        assert_eq!(keys.get(&openai()).await, Ok(Some(key())));
    }

    #[test]
    fn a_key_is_never_printed() {
        assert_eq!(
            format!("{:?} {:?}", key(), Some(key())),
            "Secret(…) Some(Secret(…))"
        );
        assert_eq!(key().ends_with(), "abcd");
        assert_eq!(Secret::new("short-abcd".to_owned()).ends_with(), "");
        assert_eq!(
            Secret::new("日本日本日本日本日本日本日本日本".to_owned()).ends_with(),
            "日本日本"
        );
    }
}
