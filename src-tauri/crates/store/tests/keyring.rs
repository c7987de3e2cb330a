//! The real keyring. Built only with the feature `keyring-service`: it needs an unlocked Secret Service on the session bus
//! (or the keychain of macOS, the vault of Windows). `PADDOCK_TEST_NO_KEYRING=1` turns it round: then there must be none.
#![allow(clippy::unwrap_used)]

use paddock_protocol::{KeyState, ProviderId};
use paddock_store::{Keys, Secret};
use std::time::{Duration, Instant};

#[tokio::test]
async fn a_key_survives_the_process_that_set_it() {
    let provider = ProviderId::new(format!("test-{}", std::process::id()));
    let key = Secret::new("sk-test-é-0123456789-wxyz".to_owned());
    let keys = Keys::new();
    let begun = Instant::now();
    let state = keys.set(&provider, key.clone()).await;
    assert!(begun.elapsed() < Duration::from_secs(4));
    if std::env::var_os("PADDOCK_TEST_NO_KEYRING").is_some() {
        assert!(matches!(state, KeyState::ThisSessionOnly { .. }), "{state:?}");
        assert_eq!(keys.get(&provider).await, Ok(Some(key)));
        assert!(matches!(
            Keys::new().state(&provider).await,
            KeyState::Unavailable { .. }
        ));
        return;
    }
    assert_eq!(
        state,
        KeyState::InKeyring {
            ends_with: "wxyz".to_owned()
        }
    );
    // New `Keys` know nothing: what they find comes from the keyring.
    assert_eq!(Keys::new().get(&provider).await, Ok(Some(key)));
    assert_eq!(Keys::new().state(&provider).await, state);
    keys.forget(&provider).await.unwrap();
    assert_eq!(Keys::new().get(&provider).await, Ok(None));
    assert_eq!(Keys::new().state(&provider).await, KeyState::Missing);
    keys.forget(&provider).await.unwrap();
    assert_eq!(keys.check().await, Ok(()));
}
