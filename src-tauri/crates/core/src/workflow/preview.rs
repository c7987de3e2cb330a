//! What a run would do: the effects of every step, the hosts that commands name, the number of files, and a token that
//! stands for exactly this.

use super::builtin::{Outlook, counted};
use super::file::{Definition, Step};
use super::template::Template;
use super::{Known, Place, Problem, parameters, refused, runnable};
use paddock_policy::{Circumstances, judge};
use paddock_protocol::*;
use paddock_store::reviews::hash_of;
use paddock_tools::{CallContext, Prepared, ToolError, ToolKind};
use serde_json::{Value, json};

/// Effects that a preview shows.
const SHOWN: usize = 500;

/// A look at what a run would do.
pub struct Looked {
    pub outlook: Outlook,
    /// Names exactly this: workflow, values, number of files, everything else.
    pub token: String,
}

/// What a run with these values would do. Problems of single values come in the preview; a workflow that cannot run at
/// all is an error.
pub async fn preview(
    place: &Place,
    name: &str,
    values: &ParameterValues,
) -> Result<WorkflowPreview, ClientError> {
    let known = runnable(place, name)?;
    let mut preview = WorkflowPreview {
        name: known.definition.name.clone(),
        title: known.definition.title.clone(),
        problems: Vec::new(),
        effects: Vec::new(),
        files: 0,
        confirm: String::new(),
        model_steps: 0,
        hosts: Vec::new(),
        token: String::new(),
    };
    match look(place, &known, values).await {
        Err(Problem::Parameters(problems)) => preview.problems = problems,
        Err(Problem::Tool(error)) => return Err(refused(error)),
        Ok(Looked { outlook, token }) => {
            let is_message = |step: &&WorkflowStep| matches!(step, WorkflowStep::Message { .. });
            let messages = outlook.steps.iter().filter(is_message).count();
            preview.model_steps = u32::try_from(messages).unwrap_or(u32::MAX);
            preview.hosts = hosts(&outlook.steps);
            preview.files = outlook.files;
            preview.confirm = outlook.confirm;
            preview.effects = outlook.effects;
            preview.effects.truncate(SHOWN);
            preview.token = token;
        }
    }
    Ok(preview)
}

/// Checks the values and looks at every step.
pub(super) async fn look(place: &Place, known: &Known, given: &ParameterValues) -> Result<Looked, Problem> {
    let definition = &known.definition;
    let values = parameters::check(&definition.parameters, given, &place.root, &place.providers)
        .map_err(Problem::Parameters)?;
    let outlook = match known.action {
        Some(action) => action.outlook(place, &values).await?,
        None => steps(place, definition, &values).await?,
    };
    let token = token(known, &values, &outlook);
    Ok(Looked { outlook, token })
}

fn token(known: &Known, values: &ParameterValues, outlook: &Outlook) -> String {
    let short = |bytes: &[u8]| hash_of(bytes)[..16].to_owned();
    let workflow = format!("{}\n{:?}\n{}", known.definition.name, known.source, known.text);
    let world = json!([outlook.steps, outlook.effects, outlook.facts]);
    format!(
        "{}.{}.{}.{}",
        short(workflow.as_bytes()),
        short(json!(values).to_string().as_bytes()),
        outlook.files,
        hash_of(world.to_string().as_bytes())
    )
}

async fn steps(place: &Place, definition: &Definition, values: &ParameterValues) -> Result<Outlook, Problem> {
    let mut outlook = Outlook::default();
    for step in &definition.steps {
        let (step, effect) = match step {
            Step::Message(text) => {
                let text = text.text(values);
                let effect = effect(WorkflowEffectKind::Message, &text, "asks the model");
                (WorkflowStep::Message { text }, effect)
            }
            Step::Confirm(question) => {
                let question = question.text(values);
                let effect = effect(WorkflowEffectKind::Ask, &question, "goes on only after a yes");
                (WorkflowStep::Confirm { question }, effect)
            }
            Step::Ask {
                name,
                question,
                options,
            } => {
                let question = question.text(values);
                let effect = effect(WorkflowEffectKind::Ask, &question, "");
                let (name, options) = (name.clone(), options.clone());
                let step = WorkflowStep::Ask {
                    name,
                    question,
                    options,
                };
                (step, effect)
            }
            Step::Command { command, folder } => command_step(definition, command, folder.as_ref(), values)?,
            Step::Tool { tool, arguments } => {
                let arguments = filled(&toml::Value::Table(arguments.clone()), values);
                tool_step(place, tool, arguments, &mut outlook).await?
            }
        };
        outlook.steps.push(step);
        outlook.effects.push(effect);
    }
    outlook.confirm = confirm(&outlook);
    Ok(outlook)
}

fn effect(kind: WorkflowEffectKind, target: &str, detail: &str) -> WorkflowEffect {
    WorkflowEffect {
        kind,
        target: target.to_owned(),
        detail: detail.to_owned(),
        undoable: !matches!(kind, WorkflowEffectKind::Run),
    }
}

fn confirm(outlook: &Outlook) -> String {
    match outlook.files {
        0 => format!(
            "Run {}",
            counted(u32::try_from(outlook.steps.len()).unwrap_or(u32::MAX), "step")
        ),
        files => format!("Change {}", counted(files, "file")),
    }
}

fn command_step(
    definition: &Definition,
    command: &Template,
    folder: Option<&String>,
    values: &ParameterValues,
) -> Result<(WorkflowStep, WorkflowEffect), Problem> {
    if cfg!(windows) && command.has_values() {
        return Err(Problem::Tool(ToolError::Model(
            "values cannot be given to commands on this system yet".to_owned(),
        )));
    }
    let is_path = |name: &str| {
        definition
            .parameters
            .iter()
            .any(|parameter| parameter.name == name && matches!(parameter.kind, ParameterKind::Path { .. }))
    };
    let line = command.command(values, is_path).map_err(|names| {
        let problem = "It must not begin with `-` here: the command would take it for an option.";
        let problems = names.into_iter().map(|parameter| ParameterProblem {
            parameter,
            problem: problem.to_owned(),
        });
        Problem::Parameters(problems.collect())
    })?;
    let mut arguments = json!({ "command": line });
    if let Some(folder) = folder {
        arguments["folder"] = json!(folder);
    }
    let (deletes, network) = reach(&line);
    let mut notes = Vec::new();
    if deletes {
        notes.push("deletes");
    }
    if network {
        notes.push("wants the network");
    }
    notes.push("what it changes is not kept for an undo");
    let effect = effect(WorkflowEffectKind::Run, &line, &notes.join("; "));
    let step = WorkflowStep::Call {
        tool: "run_command".to_owned(),
        arguments: arguments.to_string(),
    };
    Ok((step, effect))
}

/// Whether a command line deletes, and whether it wants the network, as far as it can be read.
fn reach(line: &str) -> (bool, bool) {
    let access = Access::Exec {
        command: line.to_owned(),
    };
    let usual = Circumstances {
        role: Role::Act,
        autonomy: Autonomy::Careful,
        rules: &[],
        turn: TurnId(0),
        confined: true,
        network_asks: true,
        now: Timestamp(0),
    };
    let classes = judge(&[access], &usual).classes;
    (
        classes.contains(&RiskClass::Delete),
        classes.contains(&RiskClass::Network),
    )
}

/// Hosts that the commands name; a command that wants the network without naming one is said as it is.
fn hosts(steps: &[WorkflowStep]) -> Vec<String> {
    let mut hosts = Vec::new();
    for step in steps {
        let WorkflowStep::Call { tool, arguments } = step else {
            continue;
        };
        let arguments: Value = serde_json::from_str(arguments).unwrap_or_default();
        let found = match (tool.as_str(), &arguments["command"], &arguments["url"]) {
            ("run_command", Value::String(line), _) => of_command(line),
            (_, _, Value::String(url)) => host_of(url).into_iter().collect(),
            _ => Vec::new(),
        };
        hosts.extend(found);
    }
    hosts.sort();
    hosts.dedup();
    hosts
}

fn of_command(line: &str) -> Vec<String> {
    let (_, network) = reach(line);
    let words = paddock_policy::parse_command(line)
        .parts
        .into_iter()
        .flat_map(|part| part.words);
    let named: Vec<String> = words.filter_map(|word| host_of(&word)).collect();
    match (named.is_empty(), network) {
        (true, true) => vec![format!("not named: {line}")],
        _ => named,
    }
}

/// The host of a URL inside of a word.
fn host_of(word: &str) -> Option<String> {
    let (_, rest) = word.split_once("://")?;
    let authority = rest.split(['/', '?', '#', '\'', '"']).next()?;
    let host = authority.rsplit('@').next()?;
    (!host.is_empty()).then(|| host.to_lowercase())
}

/// Arguments with their values; a text that is one placeholder alone takes the value's own type.
fn filled(value: &toml::Value, values: &ParameterValues) -> Value {
    match value {
        toml::Value::String(text) => {
            let Ok(template) = Template::read(text) else {
                return json!(text);
            };
            match template.only_value().map(|name| values.get(name)) {
                Some(Some(value)) => json!(value),
                Some(None) => Value::Null,
                None => json!(template.text(values)),
            }
        }
        toml::Value::Integer(number) => json!(number),
        toml::Value::Float(number) => json!(number),
        toml::Value::Boolean(on) => json!(on),
        toml::Value::Datetime(date) => json!(date.to_string()),
        toml::Value::Array(list) => list.iter().map(|value| filled(value, values)).collect(),
        toml::Value::Table(table) => {
            let filled = table
                .iter()
                .map(|(key, value)| (key.clone(), filled(value, values)));
            Value::Object(filled.collect())
        }
    }
}

async fn tool_step(
    place: &Place,
    name: &str,
    arguments: Value,
    outlook: &mut Outlook,
) -> Result<(WorkflowStep, WorkflowEffect), Problem> {
    let arguments = arguments.to_string();
    let tool = place
        .registry
        .get(name)
        .ok_or_else(|| Problem::Tool(ToolError::Model(format!("there is no tool `{name}`"))))?;
    let effect = match tool.prepare(&arguments, &context(place)).await {
        Ok(prepared) => {
            let facts = prepared.body.base();
            if tool.kind() == ToolKind::Write {
                let files = facts.len().max(1);
                outlook.files = outlook
                    .files
                    .saturating_add(u32::try_from(files).unwrap_or(u32::MAX));
            }
            outlook.facts.push(format!("{facts:?}"));
            of_call(name, &prepared)
        }
        Err(ToolError::Arguments(why)) => {
            let words = format!("the step `{name}` does not fit: {why}");
            return Err(Problem::Tool(ToolError::Arguments(words)));
        }
        // An earlier step may make what it needs.
        Err(error) => {
            let detail = format!("now it would fail: {error}");
            effect(WorkflowEffectKind::Run, &format!("{name} {arguments}"), &detail)
        }
    };
    let step = WorkflowStep::Call {
        tool: name.to_owned(),
        arguments,
    };
    Ok((step, effect))
}

fn of_call(name: &str, prepared: &Prepared) -> WorkflowEffect {
    let kind = match prepared.verb {
        Verb::Delete => WorkflowEffectKind::Delete,
        Verb::Move => WorkflowEffectKind::Move,
        Verb::Edit | Verb::Create => WorkflowEffectKind::Write,
        _ => WorkflowEffectKind::Run,
    };
    let (detail, undoable) = match &prepared.undo {
        UndoFact::Nothing => ("changes nothing".to_owned(), true),
        UndoFact::Covered => (String::new(), true),
        UndoFact::NotCovered { why } => (why.clone(), false),
    };
    let target = match kind {
        WorkflowEffectKind::Run => format!("{name} {}", prepared.target),
        _ => prepared.target.clone(),
    };
    WorkflowEffect {
        kind,
        target,
        detail,
        undoable,
    }
}

/// For a look only: nothing can be kept, and nothing is run with it.
fn context(place: &Place) -> CallContext {
    CallContext::bare(
        TurnId(0).call(0, 1),
        place.root.clone(),
        place.confinement.clone(),
        place.state.clone(),
        place.sandbox.clone(),
    )
}
