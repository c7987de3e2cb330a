//! `paddock workflow`: procedures that a person starts, with a preview of exactly what happens.

pub mod commands;
mod values;

use crate::arguments::Arguments;
use crate::failure::{BAD_USAGE, COMPLETED, Failure, NOBODY_TO_ASK, STOPPED};
use crate::output::{self, Output};
use crate::view::plain;
use crate::{home, run};
use paddock_core::Paddock;
use paddock_protocol::*;
use std::fmt::Write as _;
use std::io::{IsTerminal, Write as _};

pub async fn list(arguments: &Arguments) -> Result<u8, Failure> {
    let paddock = home::paddock()?;
    let workflows = all(&paddock, arguments.project()).await?;
    if arguments.has("--json") {
        let lines = workflows
            .iter()
            .filter_map(|info| serde_json::to_string(info).ok());
        return Ok(output::print(&lines.map(|line| line + "\n").collect::<String>()));
    }
    let mut text = String::new();
    for info in &workflows {
        let _ = writeln!(
            text,
            "{:<22} {:<11} {}",
            info.name,
            state(info),
            plain::line(&info.title)
        );
        for problem in &info.problems {
            let _ = writeln!(text, "{:<22} {}", "", plain::line(problem));
        }
    }
    Ok(output::print(&text))
}

async fn all(paddock: &Paddock, project: &str) -> Result<Vec<WorkflowInfo>, Failure> {
    let project = project.to_owned();
    match paddock.request(Request::Workflows { project }).await? {
        Reply::Workflows { workflows } => Ok(workflows),
        _ => Err(unexpected()),
    }
}

fn unexpected() -> Failure {
    Failure::fault("Paddock gave an answer to another question.")
}

fn state(info: &WorkflowInfo) -> &'static str {
    match &info.source {
        _ if !info.problems.is_empty() => "faulty",
        DefinitionSource::BuiltIn => "built in",
        DefinitionSource::Person { .. } => "own",
        DefinitionSource::Project { reviewed: true, .. } => "project",
        DefinitionSource::Project { changed: true, .. } => "off, changed",
        DefinitionSource::Project { .. } => "off, unread",
    }
}

pub async fn preview(arguments: &Arguments) -> Result<u8, Failure> {
    let paddock = home::paddock()?;
    let (_, preview) = look(&paddock, arguments).await?;
    if arguments.has("--json") {
        let json = serde_json::to_string(&preview)
            .map_err(|error| Failure::fault(format!("The preview could not be written: {error}.")))?;
        output::print(&(json + "\n"));
    } else {
        output::print(&shown(&preview));
    }
    Ok(if preview.problems.is_empty() {
        COMPLETED
    } else {
        BAD_USAGE
    })
}

/// The values as given and what they would come to.
async fn look(
    paddock: &Paddock,
    arguments: &Arguments,
) -> Result<(ParameterValues, WorkflowPreview), Failure> {
    let name = name(arguments)?;
    let project = arguments.project().to_owned();
    let known = all(paddock, &project).await?;
    let parameters = known
        .into_iter()
        .find(|info| info.name == name)
        .map(|info| info.parameters)
        .ok_or_else(|| {
            Failure::usage(format!(
                "There is no workflow '{name}'. See: paddock workflow list"
            ))
        })?;
    let values = values::read(arguments.all("--param"), &parameters)?;
    let request = Request::PreviewWorkflow {
        project,
        name,
        values: values.clone(),
    };
    match paddock.request(request).await? {
        Reply::Preview { preview } => Ok((values, preview)),
        _ => Err(unexpected()),
    }
}

fn name(arguments: &Arguments) -> Result<String, Failure> {
    match arguments.operands.as_slice() {
        [name] => Ok(name.clone()),
        [] => Err(Failure::usage("Which one? Give one name.")),
        [_, extra, ..] => Err(Failure::usage(format!("'{extra}' was not expected here."))),
    }
}

fn shown(preview: &WorkflowPreview) -> String {
    let mut text = format!("{}\n", plain::line(&preview.title));
    for problem in &preview.problems {
        let _ = writeln!(text, "  {}: {}", problem.parameter, plain::line(&problem.problem));
    }
    for effect in &preview.effects {
        let detail = match effect.detail.as_str() {
            "" => String::new(),
            detail => format!("  ({})", plain::line(detail)),
        };
        let arrow = if effect.kind == WorkflowEffectKind::Move {
            " →"
        } else {
            ""
        };
        let _ = writeln!(
            text,
            "  {:<8} {}{arrow}{detail}",
            word(effect.kind),
            plain::line(&effect.target)
        );
    }
    let shown = u32::try_from(preview.effects.len()).unwrap_or(u32::MAX);
    if shown >= 500 {
        let _ = writeln!(text, "  … only the first {shown} lines are shown.");
    }
    if !preview.hosts.is_empty() {
        let hosts: Vec<String> = preview.hosts.iter().map(|host| plain::line(host)).collect();
        let _ = writeln!(text, "  Reaches: {}", hosts.join(", "));
    }
    if preview.problems.is_empty() {
        let _ = writeln!(text, "{}.", plain::line(&preview.confirm));
    }
    text
}

fn word(kind: WorkflowEffectKind) -> &'static str {
    match kind {
        WorkflowEffectKind::Delete => "delete",
        WorkflowEffectKind::Move => "rename",
        WorkflowEffectKind::Restore => "restore",
        WorkflowEffectKind::Write => "write",
        WorkflowEffectKind::Run => "run",
        WorkflowEffectKind::Message => "message",
        WorkflowEffectKind::Ask => "ask",
    }
}

pub async fn run(arguments: &Arguments) -> Result<u8, Failure> {
    let paddock = home::paddock()?;
    let (values, preview) = look(&paddock, arguments).await?;
    let for_people = arguments.value("--format") != Some("jsonl");
    if for_people || !preview.problems.is_empty() {
        let text = shown(&preview);
        match preview.problems.is_empty() {
            true => output::print(&text),
            false => return Err(Failure::usage(format!("The values do not fit.\n{text}"))),
        };
    }
    if !arguments.has("--yes") {
        match confirmed(&preview, for_people)? {
            true => {}
            false => return Err(Failure::new(STOPPED, "Nothing was done.")),
        }
    }
    run::workflow(&paddock, arguments, preview, values).await
}

/// Whether the person typed the number of files, or `y` where there is none.
fn confirmed(preview: &WorkflowPreview, for_people: bool) -> Result<bool, Failure> {
    if !for_people || !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() {
        return Err(Failure::new(
            NOBODY_TO_ASK,
            format!(
                "{}? Nobody can be asked here; add --yes to run exactly this.",
                preview.confirm
            ),
        ));
    }
    let (wanted, question) = match preview.files {
        0 => ("y".to_owned(), "Run it? y or n: ".to_owned()),
        files => (
            files.to_string(),
            format!("{}? Type {files} to go on: ", preview.confirm),
        ),
    };
    Ok(answer(&question)? == wanted)
}

fn answer(question: &str) -> Result<String, Failure> {
    Output::new().write(plain::text(question).as_bytes());
    let mut line = String::new();
    std::io::stdin()
        .read_line(&mut line)
        .map_err(|error| Failure::fault(format!("Standard input could not be read: {error}.")))?;
    Ok(line.trim().to_lowercase())
}

pub async fn review(arguments: &Arguments) -> Result<u8, Failure> {
    let paddock = home::paddock()?;
    let (project, path) = (arguments.project().to_owned(), name(arguments)?);
    let text = match paddock
        .request(Request::Definition {
            project: project.clone(),
            path: path.clone(),
        })
        .await?
    {
        Reply::Text { text } => text,
        _ => return Err(unexpected()),
    };
    let accept = !arguments.has("--off");
    if accept {
        output::print(&(plain::text(text.trim_end()) + "\n\n"));
        if !arguments.has("--yes") {
            if !std::io::stdin().is_terminal() {
                let words = "Nobody can be asked here; add --yes to switch on exactly this text.";
                return Err(Failure::new(NOBODY_TO_ASK, words));
            }
            if answer("Switch it on, as it is above? y or n: ")? != "y" {
                return Err(Failure::new(STOPPED, "It stays off."));
            }
        }
    }
    let hash = paddock_core::hash_of(text.as_bytes());
    let request = Request::ReviewDefinition {
        project,
        path: path.clone(),
        hash,
        accept,
    };
    paddock.request(request).await?;
    let now = if accept {
        "on; a change of the file switches it off again"
    } else {
        "off"
    };
    let _ = writeln!(std::io::stderr(), "{} is {now}.", plain::line(&path));
    Ok(COMPLETED)
}
