//! `paddock models`: what the servers offer, and `paddock models test`: what a model can really do. Both ask the core as the window does.

use crate::arguments::{Arguments, BASE_URL, Command, Flag, KEY_ENV, PROTOCOL, flag, switch};
use crate::failure::Failure;
use crate::view::words::{money, thousands};
use crate::view::{plain, style::Style};
use crate::{home, run};
use paddock_core::Paddock;
use paddock_protocol::*;
use serde::Serialize;
use std::fmt::Write;

const PROVIDER: Flag = flag("--provider", "P", "a configured provider");

pub const LIST: Command = Command {
    words: &["models"],
    about: "List the models of your servers: window, price, sight, calls",
    operands: "",
    flags: &[
        PROVIDER,
        BASE_URL,
        PROTOCOL,
        KEY_ENV,
        switch("--json", "one JSON object a line"),
    ],
    notes: "\
Without --provider and --base-url every configured server is asked. Prices are per million tokens. What is not known
stays `?`.
Exit codes: 0 ok · 1 a server did not answer · 2 bad usage",
};

pub const TEST: Command = Command {
    words: &["models", "test"],
    about: "Try what a model can really do, as the page of models does",
    operands: "[PROVIDER/MODEL]",
    flags: &[
        PROVIDER,
        BASE_URL,
        PROTOCOL,
        KEY_ENV,
        switch("--json", "as one JSON object"),
    ],
    notes: "\
Asks up to four tiny questions, and keeps the call format that the model handles best. Without PROVIDER/MODEL the
model of the settings is tried; with --provider or --base-url only MODEL is named.
Exit codes: 0 it can work with tools · 1 it cannot, or was not reached · 2 bad usage",
};

/// One line of the list.
#[derive(Serialize)]
struct Listed {
    provider: ProviderId,
    model: String,
    /// How it is asked to call tools, where that was tried or chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<CallFormat>,
    facts: ModelFacts,
}

/// A server that gave no list.
#[derive(Serialize)]
struct Failed {
    provider: ProviderId,
    error: ClientError,
}

pub async fn list(arguments: &Arguments) -> Result<u8, Failure> {
    let paddock = home::paddock()?;
    let providers = match run::model::server(arguments, &paddock)? {
        Some(one) => vec![one],
        None => {
            let configured = paddock.settings().providers.into_iter();
            let real = configured.filter(|provider| provider.kind != ProviderKind::Demo);
            real.map(|provider| provider.id).collect()
        }
    };
    if providers.is_empty() {
        return Err(Failure::usage(
            "No server is configured yet. Give --base-url, or add one in the window's settings.",
        ));
    }
    let mut all = Vec::new();
    let mut failed = Vec::new();
    for provider in providers {
        match listed(&paddock, &provider).await {
            Ok(models) => all.extend(models),
            Err(error) => failed.push(Failed { provider, error }),
        }
    }
    let text = match arguments.has("--json") {
        true => lines(&all) + &lines(&failed),
        false => table(&all) + &failures(&failed),
    };
    let printed = crate::output::print(&text);
    Ok(if failed.is_empty() { printed } else { 1 })
}

async fn listed(paddock: &Paddock, provider: &ProviderId) -> Result<Vec<Listed>, ClientError> {
    let request = Request::Models {
        provider: provider.clone(),
    };
    let Reply::Models { models } = paddock.request(request).await? else {
        return Ok(Vec::new());
    };
    let formats = paddock.settings().formats;
    let line = |entry: ModelEntry| {
        let set = formats
            .iter()
            .find(|set| set.model.provider == *provider && set.model.model == entry.model);
        Listed {
            provider: provider.clone(),
            format: set.map(|set| set.format),
            model: entry.model,
            facts: entry.facts,
        }
    };
    Ok(models.into_iter().map(line).collect())
}

fn lines<T: Serialize>(list: &[T]) -> String {
    let line = |one| serde_json::to_string(one).unwrap_or_default() + "\n";
    list.iter().map(line).collect()
}

fn table(all: &[Listed]) -> String {
    let mut rows = vec![["MODEL", "WINDOW", "PRICE", "IMAGES", "CALLS"].map(str::to_owned)];
    rows.extend(all.iter().map(row));
    let widths: Vec<usize> = (0..4)
        .map(|at| rows.iter().map(|row| row[at].chars().count()).max().unwrap_or(0))
        .collect();
    let mut text = String::new();
    for [model, window, price, images, calls] in &rows {
        let _ = writeln!(
            text,
            "{model:<w0$}  {window:>w1$}  {price:<w2$}  {images:<w3$}  {calls}",
            w0 = widths[0],
            w1 = widths[1],
            w2 = widths[2],
            w3 = widths[3],
        );
    }
    text
}

fn row(listed: &Listed) -> [String; 5] {
    let facts = &listed.facts;
    let said = |known: Option<bool>, yes: &str, no: &str| match known {
        Some(true) => yes.to_owned(),
        Some(false) => no.to_owned(),
        None => "?".to_owned(),
    };
    [
        plain::line(&format!("{}/{}", listed.provider, listed.model)),
        facts
            .window
            .map_or_else(|| "?".to_owned(), |tokens| thousands(tokens.into())),
        match &facts.cost {
            ModelCost::Unknown => "?".to_owned(),
            ModelCost::Free => "free".to_owned(),
            ModelCost::PerMillion { price } => {
                format!("{} in, {} out", money(price.input), money(price.output))
            }
        },
        said(facts.images, "seen", "not seen"),
        match listed.format {
            Some(format) => word(format).to_owned(),
            None => said(facts.native_calls, "native", "not native"),
        },
    ]
}

fn word(format: CallFormat) -> &'static str {
    match format {
        CallFormat::Native => "native",
        CallFormat::Json => "json",
        CallFormat::Xml => "xml",
    }
}

fn failures(failed: &[Failed]) -> String {
    let style = style();
    let mut text = String::new();
    for Failed { provider, error } in failed {
        let words = plain::line(&error.to_string());
        let _ = writeln!(
            text,
            "{} {}: {words}",
            style.bad("✕"),
            plain::line(provider.as_str())
        );
    }
    text
}

fn style() -> Style {
    Style {
        colours: crate::output::Output::new().has_colours(),
    }
}

pub async fn test(arguments: &Arguments) -> Result<u8, Failure> {
    let paddock = home::paddock()?;
    let named = match arguments.operands.as_slice() {
        [] => None,
        [one] => Some(one.as_str()),
        [_, extra, ..] => return Err(Failure::usage(format!("'{extra}' was not expected here."))),
    };
    let model = match (run::model::server(arguments, &paddock)?, named) {
        (Some(provider), Some(model)) => ModelChoice {
            provider,
            model: model.to_owned(),
        },
        (Some(provider), None) => {
            return Err(Failure::usage(format!(
                "Which model of {provider}? Name it after the flags."
            )));
        }
        (None, Some(named)) => match named.split_once('/') {
            Some((provider, model)) if !provider.is_empty() && !model.is_empty() => ModelChoice {
                provider: ProviderId::new(provider),
                model: model.to_owned(),
            },
            _ => {
                return Err(Failure::usage(format!(
                    "Name the model as PROVIDER/MODEL, not '{named}'."
                )));
            }
        },
        (None, None) => paddock.settings().model.ok_or_else(|| {
            Failure::usage(
                "No model is chosen yet. Name one as PROVIDER/MODEL, or give --base-url and MODEL.",
            )
        })?,
    };
    let Reply::ModelTest { test } = paddock.request(Request::TestModel { model }).await? else {
        return Err(Failure::fault("The model could not be tried."));
    };
    let text = match arguments.has("--json") {
        true => serde_json::to_string(&test).unwrap_or_default() + "\n",
        false => tried(&test),
    };
    let printed = crate::output::print(&text);
    Ok(if test.format.is_some() { printed } else { 1 })
}

fn tried(test: &ModelTest) -> String {
    let style = style();
    let mut text = String::new();
    for link in &test.links {
        let mark = match link.state {
            LinkState::Good => style.good("✓"),
            LinkState::Warning => style.attention("!"),
            LinkState::Bad => style.bad("✕"),
            LinkState::NotTried => style.dim("·"),
        };
        let name = style.bold(&format!("{:<12}", link.link.replace('_', " ")));
        let _ = writeln!(text, "{mark} {name} {}", plain::line(&link.says));
        if let Some(remedy) = &link.remedy {
            let _ = writeln!(text, "               {}", plain::line(remedy));
        }
    }
    let _ = match test.format {
        Some(format) => writeln!(text, "Calls will be asked for as: {}.", word(format)),
        None => writeln!(text, "It cannot be used for work with tools."),
    };
    text
}
