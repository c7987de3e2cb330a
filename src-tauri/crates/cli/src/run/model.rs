//! Which model answers: from the flags, else from the settings. A server named by --base-url needs no settings and is known
//! to this process only.

use crate::arguments::Arguments;
use crate::failure::Failure;
use paddock_core::{BaseUrl, DEMO, Paddock, Secret, demo_model};
use paddock_protocol::{ModelChoice, ProviderConfig, ProviderId, ProviderKind};

/// The model that the flags name; nothing when they name none.
pub fn choose(arguments: &Arguments, paddock: &Paddock) -> Result<Option<ModelChoice>, Failure> {
    let provider = arguments.value("--provider");
    let base_url = arguments.value("--base-url");
    let settings = paddock.settings();
    if provider == Some(DEMO) {
        if base_url.is_some() || arguments.has("--key-env") {
            return Err(Failure::usage(
                "The demo model has no server and no key. Leave out --base-url and --key-env.",
            ));
        }
        return Ok(Some(demo_model()));
    }
    let id = match server(arguments, paddock)? {
        Some(id) => id,
        None => {
            let Some(chosen) = settings.model else {
                let orphan = ["--model", "--key-env"]
                    .into_iter()
                    .find(|flag| arguments.has(flag));
                return match orphan {
                    Some(flag) => Err(Failure::usage(format!(
                        "{flag} needs to know the server. Give --base-url or --provider too."
                    ))),
                    None => Ok(None),
                };
            };
            if !arguments.has("--model") && !arguments.has("--key-env") {
                return Ok(Some(chosen).filter(|_| !arguments.has("--resume")));
            }
            take_key(arguments, paddock, &chosen.provider)?;
            chosen.provider
        }
    };
    let of_settings = paddock.settings().model.filter(|chosen| chosen.provider == id);
    let model = match arguments.value("--model").map(str::trim) {
        Some("") => return Err(Failure::usage("--model is empty. Name the model.")),
        Some(model) => model.to_owned(),
        None => match of_settings {
            Some(chosen) => chosen.model,
            None => {
                return Err(Failure::usage(format!(
                    "Which model of {id}? Name it with --model."
                )));
            }
        },
    };
    Ok(Some(ModelChoice { provider: id, model }))
}

/// The server that --provider and --base-url name, known to the core from now on, with the key of --key-env; nothing when they name
/// none.
pub fn server(arguments: &Arguments, paddock: &Paddock) -> Result<Option<ProviderId>, Failure> {
    let mut configured = paddock.settings().providers;
    let id = match (arguments.value("--base-url"), arguments.value("--provider")) {
        (Some(url), name) => {
            let config = unconfigured(url, name, arguments)?;
            let id = config.id.clone();
            configured.retain(|known| known.id != id);
            configured.push(config);
            paddock.providers().configure(configured);
            id
        }
        (None, Some(name)) => {
            let Some(known) = configured.iter().find(|config| config.id.as_str() == name) else {
                let ids: Vec<&str> = configured.iter().map(|config| config.id.as_str()).collect();
                let known = match ids.as_slice() {
                    [] => "None is configured yet; give --base-url, or add one in the window's settings."
                        .to_owned(),
                    ids => format!("Configured are: {}.", ids.join(", ")),
                };
                return Err(Failure::usage(format!("There is no provider '{name}'. {known}")));
            };
            known.id.clone()
        }
        (None, None) => return Ok(None),
    };
    take_key(arguments, paddock, &id)?;
    Ok(Some(id))
}

fn unconfigured(url: &str, name: Option<&str>, arguments: &Arguments) -> Result<ProviderConfig, Failure> {
    let base_url = BaseUrl::parse(url)?;
    let name = match name.map(str::trim) {
        Some("") => {
            return Err(Failure::usage(
                "--provider is empty. Leave it out, or give a name.",
            ));
        }
        Some(name) => name.to_owned(),
        None => base_url.host(),
    };
    Ok(ProviderConfig {
        id: ProviderId::new(name.clone()),
        kind: match arguments.value("--protocol") {
            Some("responses") => ProviderKind::Responses,
            Some("anthropic") => ProviderKind::Anthropic,
            Some("gemini") => ProviderKind::Gemini,
            _ => ProviderKind::Chat,
        },
        label: name,
        base_url: base_url.as_str().to_owned(),
        needs_key: arguments.has("--key-env"),
        window: None,
        headers: Vec::new(),
    })
}

fn take_key(arguments: &Arguments, paddock: &Paddock, id: &ProviderId) -> Result<(), Failure> {
    let Some(variable) = arguments.value("--key-env") else {
        return Ok(());
    };
    match std::env::var(variable) {
        Ok(key) if !key.trim().is_empty() => {
            paddock
                .providers()
                .give_key(id.clone(), variable.to_owned(), Secret::new(key));
            Ok(())
        }
        _ => Err(Failure::usage(format!(
            "The variable {variable} holds no key. Set it to the key of {id}: export {variable}=…"
        ))),
    }
}

/// Whether the model of a session can be asked in this process.
pub fn is_known(paddock: &Paddock, model: &ModelChoice) -> Result<(), Failure> {
    if model.provider.as_str() == DEMO || paddock.providers().config(&model.provider).is_some() {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "The server '{}' of this session is not configured. Give its --base-url and --model again.",
        model.provider
    )))
}
