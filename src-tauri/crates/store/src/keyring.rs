//! The OS keyring: one entry per provider under Paddock's name. Every function here blocks, up to as long as the
//! keyring shows a window and nobody answers it, so only the threads of `keys` come here.

use crate::{KeyError, Secret};
use keyring_core::{CredentialStore, Entry, Error};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

const SERVICE: &str = "dev.paddock";

/// Where keys are kept.
pub(crate) trait Shelf: Send + Sync {
    fn get(&self, user: &str) -> Result<Option<Secret>, KeyError>;
    fn set(&self, user: &str, key: &Secret) -> Result<(), KeyError>;
    fn forget(&self, user: &str) -> Result<(), KeyError>;
}

/// A keyring that ends with this process.
#[derive(Default)]
pub(crate) struct Passing(Mutex<HashMap<String, Secret>>);

impl Passing {
    fn held(&self) -> MutexGuard<'_, HashMap<String, Secret>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shelf for Passing {
    fn get(&self, user: &str) -> Result<Option<Secret>, KeyError> {
        Ok(self.held().get(user).cloned())
    }

    fn set(&self, user: &str, key: &Secret) -> Result<(), KeyError> {
        self.held().insert(user.to_owned(), key.clone());
        Ok(())
    }

    fn forget(&self, user: &str) -> Result<(), KeyError> {
        self.held().remove(user);
        Ok(())
    }
}

/// The keyring of this system. The connection is made by the first call and made anew after a failure, so that a keyring
/// that is started later is found.
#[derive(Default)]
pub(crate) struct OsKeyring {
    store: Mutex<Option<Arc<CredentialStore>>>,
}

impl OsKeyring {
    fn entry(&self, user: &str) -> Result<Entry, KeyError> {
        let mut held = self.store.lock().unwrap_or_else(PoisonError::into_inner);
        let store = match &*held {
            Some(store) => Arc::clone(store),
            None => Arc::clone(held.insert(connect().map_err(|error| {
                tracing::warn!(%error, "no connection to the keyring");
                KeyError::NotRunning
            })?)),
        };
        store
            .build(SERVICE, user, None)
            .map_err(|error| self.explain(error))
    }

    /// The error in words; a failed connection is dropped.
    fn explain(&self, error: Error) -> KeyError {
        // The text of these errors names services and attributes, never a secret; `BadEncoding` would hold one.
        match error {
            Error::NoStorageAccess(_) => KeyError::Locked,
            Error::TooLong(_, limit) => KeyError::Refused {
                why: format!("it is longer than the {limit} characters the keyring takes"),
            },
            Error::BadEncoding(_) | Error::BadDataFormat(..) => KeyError::Failed {
                why: "what it holds is not a key that Paddock wrote".to_owned(),
            },
            Error::Ambiguous(_) => KeyError::Failed {
                why: "it holds more than one key of this name".to_owned(),
            },
            other => {
                *self.store.lock().unwrap_or_else(PoisonError::into_inner) = None;
                KeyError::Failed {
                    why: other.to_string().trim_end_matches('.').to_owned(),
                }
            }
        }
    }
}

impl Shelf for OsKeyring {
    fn get(&self, user: &str) -> Result<Option<Secret>, KeyError> {
        match self.entry(user)?.get_password() {
            Ok(key) => Ok(Some(Secret::new(key))),
            Err(Error::NoEntry) => Ok(None),
            Err(error) => Err(self.explain(error)),
        }
    }

    fn set(&self, user: &str, key: &Secret) -> Result<(), KeyError> {
        self.entry(user)?
            .set_password(key.expose())
            .map_err(|error| self.explain(error))
    }

    fn forget(&self, user: &str) -> Result<(), KeyError> {
        match self.entry(user)?.delete_credential() {
            Ok(()) | Err(Error::NoEntry) => Ok(()),
            Err(error) => Err(self.explain(error)),
        }
    }
}

#[cfg(target_os = "linux")]
fn connect() -> keyring_core::Result<Arc<CredentialStore>> {
    Ok(zbus_secret_service_keyring_store::Store::new()?)
}

#[cfg(target_os = "macos")]
fn connect() -> keyring_core::Result<Arc<CredentialStore>> {
    Ok(apple_native_keyring_store::keychain::Store::new()?)
}

#[cfg(windows)]
fn connect() -> keyring_core::Result<Arc<CredentialStore>> {
    Ok(windows_native_keyring_store::Store::new()?)
}
