//! The login of the person's own proxy: in the keyring or, where that does not take it, in memory until the program ends. The
//! wall stands here because the settings file must never hold it, and because the keyring is not asked before the proxy is used.

#[cfg(test)]
mod tests;

use super::{Providers, open};
use paddock_protocol::{ClientError, ErrorCode, KeyState, NetworkSettings, ProviderId, ProxySetting};
use paddock_provider::{ProxyAddress, ProxyLogin};
use paddock_store::{KeyError, Secret};

/// Under which the keyring has it. No provider has such an id.
const ENTRY: &str = "network:proxy";

/// The network as it is set, and how far the login at its proxy is known.
#[derive(Default)]
pub(super) struct SignIn {
    settings: NetworkSettings,
    login: Login,
}

#[derive(Clone, Default, PartialEq, Eq)]
pub(crate) enum Login {
    #[default]
    None,
    /// In the keyring, not read yet.
    Kept,
    /// Came out of a settings file of an earlier version; the keyring does not have it yet.
    Moved(Secret),
    Known(Secret),
}

impl Login {
    fn pair(&self) -> Option<&Secret> {
        match self {
            Self::None | Self::Kept => None,
            Self::Moved(pair) | Self::Known(pair) => Some(pair),
        }
    }
}

fn entry() -> ProviderId {
    ProviderId::new(ENTRY)
}

/// Takes a login out of the address, if there is one.
fn taken(settings: &mut NetworkSettings) -> Option<Secret> {
    let ProxySetting::Own { address, .. } = &mut settings.proxy else {
        return None;
    };
    let pair = ProxyAddress::parse(address).ok()?.login()?.pair();
    *address = ProxyAddress::without_login(address);
    Some(Secret::new(pair))
}

/// The proxy that a login belongs to; none where none is kept.
fn signed_in_at(settings: &NetworkSettings) -> Option<String> {
    match &settings.proxy {
        ProxySetting::Own {
            address, login: true, ..
        } => Some(ProxyAddress::parse(address).ok()?.to_string()),
        _ => None,
    }
}

fn mark(settings: &mut NetworkSettings, kept: bool) {
    if let ProxySetting::Own { login, .. } = &mut settings.proxy {
        *login = kept;
    }
}

impl Providers {
    /// Takes the settings as their file has them. True when a password came out of them, so that the file is to be written anew.
    pub(crate) fn load_network(&self, settings: &mut NetworkSettings) -> bool {
        let login = match taken(settings) {
            Some(pair) => {
                mark(settings, true);
                Login::Moved(pair)
            }
            None if signed_in_at(settings).is_some() => Login::Kept,
            None => Login::None,
        };
        let moved = matches!(login, Login::Moved(_));
        if let Err(error) = self.use_network(settings.clone(), login) {
            tracing::warn!(%error, "the network settings cannot be used; requests to other machines fail until they are corrected");
        }
        moved
    }

    /// Takes settings that a client sent, which were checked: a login in them goes to the keyring, and the one that is kept stays
    /// with its own proxy only.
    pub(crate) async fn change_network(&self, settings: &mut NetworkSettings) -> Result<(), ClientError> {
        let typed = taken(settings);
        let (before, mut login) = {
            let known = open(&self.sign_in);
            (known.settings.clone(), known.login.clone())
        };
        mark(settings, true);
        let stays = signed_in_at(settings).is_some() && signed_in_at(settings) == signed_in_at(&before);
        let forgets = typed.is_none() && !stays && signed_in_at(&before).is_some();
        if let Some(pair) = typed {
            self.keys.set(&entry(), pair.clone()).await;
            login = Login::Known(pair);
        } else if !stays {
            mark(settings, false);
            login = Login::None;
        }
        self.use_network(settings.clone(), login)?;
        match forgets {
            true => self.keys.forget(&entry()).await.map_err(not_forgotten),
            false => Ok(()),
        }
    }

    fn use_network(&self, settings: NetworkSettings, login: Login) -> Result<(), ClientError> {
        let known = login.pair().map(|pair| ProxyLogin::of_pair(pair.expose()));
        if let Some(known) = &known {
            self.secrets
                .learn("password of the proxy", known.password.expose());
        }
        let mut sign_in = open(&self.sign_in);
        let applied = self.network.apply(&settings, known);
        *sign_in = SignIn { settings, login };
        applied
    }

    /// Before a server on another machine is asked: reads the login of the proxy from the keyring, once.
    pub(crate) async fn sign_in(&self) -> Result<(), ClientError> {
        let (settings, login) = {
            let known = open(&self.sign_in);
            (known.settings.clone(), known.login.clone())
        };
        let found = match login {
            Login::None | Login::Known(_) => return Ok(()),
            Login::Moved(pair) => {
                self.keys.set(&entry(), pair.clone()).await;
                Some(pair)
            }
            Login::Kept => self.keys.get(&entry()).await.map_err(|error| {
                ClientError::new(
                    ErrorCode::Keyring,
                    format!("The login of the proxy could not be read: {}.", words(&error)),
                )
                .hint("Unlock the keyring and try again, or enter the login anew under Settings, Network.")
            })?,
        };
        // Changed in the meantime: what was read belongs to other settings.
        if open(&self.sign_in).settings != settings {
            return Ok(());
        }
        self.use_network(settings, found.map_or(Login::None, Login::Known))
    }

    /// Where the login is, without a part of it.
    pub(crate) async fn proxy_login(&self) -> KeyState {
        if signed_in_at(&open(&self.sign_in).settings).is_none() {
            return KeyState::Missing;
        }
        // One that came out of an old file is on its way.
        let _ = self.sign_in().await;
        without_end(self.keys.state(&entry()).await)
    }

    /// Gives a login to the keyring, for the proxy that is set. The settings say afterwards that one is kept.
    pub(crate) async fn set_proxy_login(&self, user: &str, password: &str) -> Result<KeyState, ClientError> {
        let mut settings = open(&self.sign_in).settings.clone();
        mark(&mut settings, true);
        if signed_in_at(&settings).is_none() {
            return Err(ClientError::new(
                ErrorCode::BadRequest,
                "No address of a proxy is set that a login could belong to.",
            )
            .hint("Save the address of the proxy first."));
        }
        if user.is_empty() || user.contains(':') {
            return Err(
                ClientError::new(ErrorCode::BadRequest, "The user name is empty or has a colon.")
                    .hint("Enter the name as the proxy knows it; a domain goes before it with a backslash."),
            );
        }
        let pair = Secret::new(format!("{user}:{password}"));
        let state = self.keys.set(&entry(), pair.clone()).await;
        self.use_network(settings, Login::Known(pair))?;
        Ok(without_end(state))
    }

    /// Forgets the login; the proxy stays.
    pub(crate) async fn forget_proxy_login(&self) -> Result<(), ClientError> {
        let mut settings = open(&self.sign_in).settings.clone();
        mark(&mut settings, false);
        self.use_network(settings, Login::None)?;
        self.keys.forget(&entry()).await.map_err(not_forgotten)
    }

    /// The network settings as they are used and kept.
    pub(crate) fn network_settings(&self) -> NetworkSettings {
        open(&self.sign_in).settings.clone()
    }
}

fn not_forgotten(error: KeyError) -> ClientError {
    ClientError::new(
        ErrorCode::Keyring,
        format!(
            "The login of the proxy is no longer used, but the keyring still has it: {}.",
            words(&error)
        ),
    )
    .hint("Unlock the keyring and forget the login again.")
}

/// To go on in a sentence.
fn words(error: &KeyError) -> String {
    error.to_string().trim_end_matches('.').to_owned()
}

/// Of a password not even the end is shown.
fn without_end(state: KeyState) -> KeyState {
    let ends_with = String::new();
    match state {
        KeyState::InKeyring { .. } => KeyState::InKeyring { ends_with },
        KeyState::ThisSessionOnly { why, .. } => KeyState::ThisSessionOnly { ends_with, why },
        other => other,
    }
}
