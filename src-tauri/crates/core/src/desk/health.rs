//! The health of this machine for Paddock: what is tried for real, what was seen, what helps.

use super::Paddock;
use crate::session::actor::now;
use paddock_protocol::*;
use paddock_provider::CertificateFacts;
use paddock_sandbox::{Confinement, StateDir, Tier};
use std::path::Path;

/// Programs that most projects need, and what is missed without them.
const PROGRAMS: &[(&str, &str)] = &[
    ("git", "Changes cannot be looked at with git."),
    ("node", "JavaScript projects cannot be built or tested."),
    ("python3", "Python projects cannot be run."),
];

impl Paddock {
    /// Everything at once; the sandbox takes the longest (about two seconds).
    pub(super) async fn health(&self) -> Reply {
        let inner = self.inner.clone();
        let keyring = self.inner.providers.keys().state(&ProviderId::new("probe")).await;
        let tried = tokio::task::spawn_blocking(move || {
            let state = StateDir::new(inner.home.sandbox_of("health"));
            vec![
                sandbox(&*inner.confinement, &state),
                storage(inner.home.path()),
                programs(),
            ]
        });
        let mut items = tried.await.unwrap_or_default();
        items.insert(items.len().min(1), keyring_item(keyring));
        let network = self.inner.providers.network();
        items.push(certificates(network.extra_certificates().await));
        items.extend(paddock_provider::test_proxy(network).await.map(proxy));
        Reply::Health { items }
    }
}

fn sandbox(confinement: &dyn Confinement, state: &StateDir) -> HealthItem {
    let facts = confinement.facts();
    let trials: Vec<Trial> = confinement.prove(state).into_iter().map(trial).collect();
    let broken = trials
        .iter()
        .filter(|trial| trial.outcome == TrialOutcome::Broken)
        .count();
    let state = match facts.tier {
        Tier::Full if broken == 0 => HealthState::Good,
        Tier::Full => HealthState::Bad,
        Tier::Reduced => HealthState::Warning,
        Tier::None => HealthState::Bad,
    };
    let mut says = facts.summary;
    if broken > 0 {
        says = format!("{says} {broken} of {} trials got through.", trials.len());
    }
    HealthItem {
        key: "sandbox".to_owned(),
        state,
        says,
        remedy: facts.remedy,
        trials,
        tested: now(),
    }
}

fn trial(tried: paddock_sandbox::Trial) -> Trial {
    Trial {
        key: tried.key.to_owned(),
        tried: tried.tried,
        outcome: match tried.outcome {
            paddock_sandbox::TrialOutcome::Held => TrialOutcome::Held,
            paddock_sandbox::TrialOutcome::Broken => TrialOutcome::Broken,
            paddock_sandbox::TrialOutcome::NotTried => TrialOutcome::NotTried,
        },
        evidence: tried.evidence,
        remedy: tried.remedy,
    }
}

fn item(key: &str, state: HealthState, says: String, remedy: Option<&str>) -> HealthItem {
    HealthItem {
        key: key.to_owned(),
        state,
        says,
        remedy: remedy.map(str::to_owned),
        trials: Vec::new(),
        tested: now(),
    }
}

fn certificates(extra: Result<Vec<CertificateFacts>, ClientError>) -> HealthItem {
    let says = match extra {
        Ok(extra) if extra.is_empty() => "The system's certificates are trusted.".to_owned(),
        Ok(extra) => {
            let names: Vec<String> = extra.iter().map(|one| one.name.clone()).collect();
            format!("The system's certificates are trusted, and {}.", names.join(", "))
        }
        Err(error) => {
            let remedy = error.hint.unwrap_or_default();
            return item("certificates", HealthState::Bad, error.message, Some(&remedy));
        }
    };
    item("certificates", HealthState::Good, says, None)
}

fn proxy(tried: LinkTest) -> HealthItem {
    let state = match tried.state {
        LinkState::Good => HealthState::Good,
        LinkState::Warning | LinkState::NotTried => HealthState::Warning,
        LinkState::Bad => HealthState::Bad,
    };
    item("proxy", state, tried.says, tried.remedy.as_deref())
}

fn keyring_item(state: KeyState) -> HealthItem {
    match state {
        KeyState::Unavailable { why } => item(
            "keyring",
            HealthState::Warning,
            format!(
                "Keys are kept for this session only: {}.",
                why.trim_end_matches('.')
            ),
            Some(if cfg!(target_os = "linux") {
                "Install and start a keyring with the Secret Service interface (gnome-keyring, KWallet or KeePassXC), unlock it, and check again."
            } else {
                "Unlock the system's keyring and check again."
            }),
        ),
        _ => item(
            "keyring",
            HealthState::Good,
            "The keyring answers; keys are kept there.".to_owned(),
            None,
        ),
    }
}

/// Writing is what counts, so writing is tried.
fn storage(home: &Path) -> HealthItem {
    let probe = home.join(format!(".health-{}", std::process::id()));
    let written = std::fs::write(&probe, b"health").and_then(|()| std::fs::remove_file(&probe));
    let place = home.display();
    match written {
        Ok(()) => item(
            "storage",
            HealthState::Good,
            format!("Sessions are kept in {place}."),
            None,
        ),
        Err(error) => item(
            "storage",
            HealthState::Bad,
            format!("Nothing can be written to {place}: {error}."),
            Some(
                "Make room there, or give the folder back to your account; until then no session can go on.",
            ),
        ),
    }
}

fn programs() -> HealthItem {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = |name: &str| {
        std::env::split_paths(&path)
            .filter(|folder| folder.is_absolute())
            .any(|folder| {
                ["", ".exe", ".cmd"]
                    .iter()
                    .any(|ending| folder.join(format!("{name}{ending}")).is_file())
            })
    };
    let (there, missing): (Vec<_>, Vec<_>) = PROGRAMS.iter().partition(|(name, _)| found(name));
    let names: Vec<&str> = there.iter().map(|(name, _)| *name).collect();
    if missing.is_empty() {
        let says = format!("On the path of commands: {}.", names.join(", "));
        return item("programs", HealthState::Good, says, None);
    }
    let misses: Vec<String> = missing
        .iter()
        .map(|(name, missed)| format!("{name} is not on the path: {missed}"))
        .collect();
    item(
        "programs",
        HealthState::Warning,
        misses.join(" "),
        Some("Install what you need, or start Paddock from a terminal whose path has it."),
    )
}
