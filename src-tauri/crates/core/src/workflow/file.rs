//! A workflow file: TOML with a name, parameters and steps. Whatever is wrong with it is said in sentences with the line,
//! all at once; a file with problems is listed and does not run.
//!
//! ```toml
//! name = "release-notes"
//! title = "Write release notes"
//! description = "From the commits since a tag."
//!
//! [[parameter]]
//! name = "tag"            # kind: text, long_text, number, switch, choice, choices, path, date, model, secret
//! kind = "text"           # label, help, required, default; check (text), min, max, unit (number),
//! check = "v[0-9.]+"      # options (choice, choices), folder (path)
//! required = true
//!
//! [[step]]
//! kind = "command"        # message: text · command: command, folder · tool: tool, arguments
//! command = "git log {tag}.. --oneline"   # confirm: question · ask: name, question, options
//!
//! [[step]]
//! kind = "message"
//! text = "Write release notes from the commits since {tag}."
//! ```

use super::parameters;
use super::template::{Template, is_name};
use paddock_policy::{Circumstances, judge};
use paddock_protocol::{
    Access, Autonomy, ParameterKind, ParameterValue, RiskClass, Role, Timestamp, TurnId, WorkflowParameter,
    WorkflowStepKind, WorkflowStepLine,
};
use paddock_tools::{Registry, ToolKind};
use serde::Deserialize;
use std::collections::HashSet;
use std::ops::Range;
use toml::Spanned;

const MAX_PARAMETERS: usize = 40;
const MAX_STEPS: usize = 60;

/// A workflow as its file defines it.
#[derive(Clone, Debug, Default)]
pub struct Definition {
    pub name: String,
    pub title: String,
    pub description: String,
    pub parameters: Vec<WorkflowParameter>,
    pub steps: Vec<Step>,
    /// One per step, as written.
    pub lines: Vec<WorkflowStepLine>,
    /// One sentence each.
    pub problems: Vec<String>,
}

/// One step, not filled in yet.
#[derive(Clone, Debug)]
pub enum Step {
    Message(Template),
    Command {
        command: Template,
        folder: Option<String>,
    },
    Tool {
        tool: String,
        arguments: toml::Table,
    },
    Confirm(Template),
    Ask {
        name: String,
        question: Template,
        options: Vec<String>,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawFile {
    name: Spanned<String>,
    title: Option<String>,
    #[serde(default)]
    description: String,
    #[serde(default)]
    parameter: Vec<RawParameter>,
    #[serde(default)]
    step: Vec<RawStep>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawParameter {
    name: Spanned<String>,
    label: Option<String>,
    #[serde(default)]
    help: String,
    kind: Spanned<String>,
    #[serde(default)]
    required: bool,
    default: Option<Spanned<toml::Value>>,
    check: Option<String>,
    min: Option<f64>,
    max: Option<f64>,
    unit: Option<String>,
    options: Option<Vec<String>>,
    folder: Option<bool>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawStep {
    kind: Spanned<String>,
    text: Option<Spanned<String>>,
    command: Option<Spanned<String>>,
    folder: Option<String>,
    tool: Option<Spanned<String>>,
    arguments: Option<toml::Table>,
    question: Option<Spanned<String>>,
    name: Option<Spanned<String>>,
    options: Option<Vec<String>>,
}

/// Reads a file. `stem` is its name without `.toml`, for a file that cannot be read at all.
pub fn read(text: &str, stem: &str, registry: &Registry) -> Definition {
    read_as(text, stem, registry, false)
}

/// Reads a file that comes with Paddock: it may use the tools of which no model hears, and its choices come later.
pub fn read_own(text: &str, registry: &Registry) -> Definition {
    read_as(text, "", registry, true)
}

fn read_as(text: &str, stem: &str, registry: &Registry, built_in: bool) -> Definition {
    let mut reader = Reader {
        text,
        registry,
        built_in,
        definition: Definition::default(),
        answers: HashSet::new(),
    };
    match toml::from_str::<RawFile>(text) {
        Ok(raw) => reader.file(raw),
        Err(error) => {
            reader.definition.name = stem.to_owned();
            reader.definition.title = stem.to_owned();
            let words = error.message().lines().next().unwrap_or_default().to_owned();
            reader.problem(error.span().as_ref(), &words);
        }
    }
    reader.definition
}

struct Reader<'a> {
    text: &'a str,
    registry: &'a Registry,
    built_in: bool,
    definition: Definition,
    answers: HashSet<String>,
}

impl Reader<'_> {
    fn problem(&mut self, span: Option<&Range<usize>>, what: &str) {
        let what = what.trim_end_matches('.');
        self.definition.problems.push(match span {
            Some(span) => {
                let line = self.text[..span.start.min(self.text.len())].matches('\n').count() + 1;
                format!("Line {line}: {what}.")
            }
            None => format!("{what}."),
        });
    }

    fn file(&mut self, raw: RawFile) {
        let span = raw.name.span();
        self.definition.name = raw.name.into_inner();
        if !is_name(&self.definition.name) {
            self.problem(
                Some(&span),
                "the name may have small letters, digits, `-` and `_`, at most 40, and begins with a letter",
            );
        }
        self.definition.title = raw
            .title
            .filter(|title| !title.trim().is_empty())
            .unwrap_or_else(|| self.definition.name.clone());
        self.definition.description = raw.description;
        if raw.parameter.len() > MAX_PARAMETERS || raw.step.len() > MAX_STEPS {
            let most = format!("at most {MAX_PARAMETERS} parameters and {MAX_STEPS} steps are possible");
            return self.problem(None, &most);
        }
        for parameter in raw.parameter {
            self.parameter(parameter);
        }
        if raw.step.is_empty() {
            self.problem(None, "it has no steps");
        }
        for step in raw.step {
            self.definition.lines.extend(line_of(&step));
            if let Some(step) = self.step(step) {
                self.definition.steps.push(step);
            }
        }
    }

    fn parameter(&mut self, raw: RawParameter) {
        let span = raw.name.span();
        let name = raw.name.get_ref().clone();
        if !is_name(&name) || name == "answer" {
            self.problem(
                Some(&span),
                &format!("`{name}` cannot be the name of a parameter: small letters, digits, `-` and `_`, beginning with a letter"),
            );
        }
        if self.definition.parameters.iter().any(|known| known.name == name) {
            self.problem(Some(&span), &format!("there are two parameters `{name}`"));
        }
        let Some(kind) = self.kind(&raw) else { return };
        let mut parameter = WorkflowParameter {
            label: raw.label.unwrap_or_else(|| name.replace(['_', '-'], " ")),
            name,
            help: raw.help,
            kind,
            required: raw.required,
            default: None,
        };
        if let Some(default) = raw.default {
            let span = default.span();
            match value_of(default.get_ref()) {
                Some(value) => match parameters::problem_of(&parameter, &value) {
                    Some(problem) => self.problem(Some(&span), &format!("the default {problem}")),
                    None => parameter.default = Some(value),
                },
                None => self.problem(Some(&span), "the default has a type that no parameter has"),
            }
        }
        self.definition.parameters.push(parameter);
    }

    fn kind(&mut self, raw: &RawParameter) -> Option<ParameterKind> {
        let word = raw.kind.get_ref().as_str();
        let span = raw.kind.span();
        let kind = match word {
            "text" => ParameterKind::Text {
                pattern: raw.check.clone(),
            },
            "long_text" => ParameterKind::LongText,
            "number" => ParameterKind::Number {
                min: raw.min,
                max: raw.max,
                unit: raw.unit.clone(),
            },
            "switch" => ParameterKind::Switch,
            "choice" | "choices" => {
                let options = raw.options.clone().unwrap_or_default();
                if options.is_empty() && !self.built_in {
                    self.problem(Some(&span), &format!("a {word} needs `options`"));
                    return None;
                }
                match word {
                    "choice" => ParameterKind::Choice { options },
                    _ => ParameterKind::Choices { options },
                }
            }
            "path" => ParameterKind::Path {
                folder: raw.folder.unwrap_or(false),
            },
            "date" => ParameterKind::Date,
            "model" => ParameterKind::Model,
            "secret" => ParameterKind::Secret,
            other => {
                self.problem(Some(&span), &format!("there is no parameter kind `{other}`"));
                return None;
            }
        };
        if let Some(check) = &raw.check
            && let Err(error) = parameters::whole(check)
        {
            self.problem(Some(&span), &format!("`check` is no regular expression: {error}"));
            return None;
        }
        let is = |kinds: &[&str]| kinds.contains(&word);
        let foreign = [
            ("check", raw.check.is_some() && !is(&["text"])),
            ("min", raw.min.is_some() && !is(&["number"])),
            ("max", raw.max.is_some() && !is(&["number"])),
            ("unit", raw.unit.is_some() && !is(&["number"])),
            ("options", raw.options.is_some() && !is(&["choice", "choices"])),
            ("folder", raw.folder.is_some() && !is(&["path"])),
        ];
        for (key, _) in foreign.iter().filter(|(_, foreign)| *foreign) {
            self.problem(Some(&span), &format!("a {word} has no `{key}`"));
        }
        Some(kind)
    }

    fn step(&mut self, raw: RawStep) -> Option<Step> {
        let span = raw.kind.span();
        let word = raw.kind.get_ref().clone();
        let allowed: &[&str] = match word.as_str() {
            "message" => &["text"],
            "command" => &["command", "folder"],
            "tool" => &["tool", "arguments"],
            "confirm" => &["question"],
            "ask" => &["name", "question", "options"],
            other => {
                self.problem(Some(&span), &format!("there is no step kind `{other}`"));
                return None;
            }
        };
        let given = [
            ("text", raw.text.is_some()),
            ("command", raw.command.is_some()),
            ("folder", raw.folder.is_some()),
            ("tool", raw.tool.is_some()),
            ("arguments", raw.arguments.is_some()),
            ("question", raw.question.is_some()),
            ("name", raw.name.is_some()),
            ("options", raw.options.is_some()),
        ];
        for (key, _) in given
            .iter()
            .filter(|(key, given)| *given && !allowed.contains(key))
        {
            self.problem(Some(&span), &format!("a {word} has no `{key}`"));
        }
        match word.as_str() {
            "message" => Some(Step::Message(self.text(raw.text, &span, "text")?)),
            "confirm" => Some(Step::Confirm(self.text(raw.question, &span, "question")?)),
            "command" => self.command(raw, &span),
            "tool" => self.tool(raw, &span),
            _ => {
                let question = self.text(raw.question, &span, "question")?;
                let name = raw.name.map(Spanned::into_inner).unwrap_or_default();
                if !is_name(&name) || !self.answers.insert(name.clone()) {
                    self.problem(
                        Some(&span),
                        "an ask needs a `name` of its own, as parameters have",
                    );
                }
                Some(Step::Ask {
                    name,
                    question,
                    options: raw.options.unwrap_or_default(),
                })
            }
        }
    }

    /// A text that must be there, with known placeholders.
    fn text(&mut self, text: Option<Spanned<String>>, step: &Range<usize>, key: &str) -> Option<Template> {
        let Some(text) = text.filter(|text| !text.get_ref().trim().is_empty()) else {
            self.problem(Some(step), &format!("it needs `{key}`"));
            return None;
        };
        let span = text.span();
        let template = match Template::read(text.get_ref()) {
            Ok(template) => template,
            Err(problem) => {
                self.problem(Some(&span), &problem.to_string());
                return None;
            }
        };
        self.known(&template, &span).then_some(template)
    }

    /// Whether everything in a template is a parameter, or the answer to an earlier question.
    fn known(&mut self, template: &Template, span: &Range<usize>) -> bool {
        let before = self.definition.problems.len();
        for name in template.names() {
            let kind = self.parameter_kind(name);
            if kind.is_none() {
                self.problem(Some(span), &format!("there is no parameter `{name}`"));
            }
        }
        for name in template.switches() {
            if !matches!(self.parameter_kind(name), None | Some(ParameterKind::Switch)) {
                self.problem(
                    Some(span),
                    &format!("`{name}` is no switch, so it cannot be asked with `?`"),
                );
            }
        }
        for name in template.answers() {
            if !self.answers.contains(name) {
                self.problem(Some(span), &format!("no earlier step asks for `answer.{name}`"));
            }
        }
        self.definition.problems.len() == before
    }

    fn parameter_kind(&self, name: &str) -> Option<ParameterKind> {
        let parameters = &self.definition.parameters;
        let found = parameters.iter().find(|parameter| parameter.name == name);
        found.map(|parameter| parameter.kind.clone())
    }

    fn command(&mut self, raw: RawStep, step: &Range<usize>) -> Option<Step> {
        let span = raw.command.as_ref().map_or(step.clone(), Spanned::span);
        let command = self.text(raw.command, step, "command")?;
        let secret = command
            .names()
            .find(|name| self.parameter_kind(name) == Some(ParameterKind::Secret))
            .map(str::to_owned);
        if let Some(name) = secret {
            self.problem(
                Some(&span),
                &format!("the secret `{name}` cannot be given to a command; a command line can be read by other programs"),
            );
        }
        let is_list = |name: &str| matches!(self.parameter_kind(name), Some(ParameterKind::Choices { .. }));
        if let Err(problem) = command.check_command(is_list) {
            self.problem(Some(&span), &problem.to_string());
        }
        Some(Step::Command {
            command,
            folder: raw.folder,
        })
    }

    fn tool(&mut self, raw: RawStep, step: &Range<usize>) -> Option<Step> {
        let Some(tool) = raw.tool else {
            self.problem(Some(step), "it needs `tool`");
            return None;
        };
        let span = tool.span();
        let name = tool.into_inner();
        let own = self.registry.workflow_only().contains(&name.as_str());
        let kind = self.registry.get(&name).map(|tool| tool.kind());
        match kind {
            None => self.problem(Some(&span), &format!("there is no tool `{name}`")),
            Some(_) if own && !self.built_in => self.problem(
                Some(&span),
                &format!("`{name}` belongs to a built-in workflow and needs its preview"),
            ),
            Some(ToolKind::Read | ToolKind::Write) => {}
            Some(ToolKind::Command) if name == "run_command" => {
                self.problem(
                    Some(&span),
                    "write a step of the kind `command` instead of `run_command`",
                );
            }
            Some(_) => self.problem(Some(&span), &format!("`{name}` is only for the agent")),
        }
        let arguments = raw.arguments.unwrap_or_default();
        self.tool_values(&toml::Value::Table(arguments.clone()), &span);
        Some(Step::Tool {
            tool: name,
            arguments,
        })
    }

    fn tool_values(&mut self, value: &toml::Value, span: &Range<usize>) {
        match value {
            toml::Value::String(text) => match Template::read(text) {
                Ok(template) => {
                    self.known(&template, span);
                }
                Err(problem) => self.problem(Some(span), &problem.to_string()),
            },
            toml::Value::Array(list) => list.iter().for_each(|value| self.tool_values(value, span)),
            toml::Value::Table(table) => table.values().for_each(|value| self.tool_values(value, span)),
            toml::Value::Datetime(_) => self.problem(Some(span), "a date has to be written as text"),
            _ => {}
        }
    }
}

impl Definition {
    /// Whether a step deletes or moves files, as far as it can be read.
    pub fn is_destructive(&self) -> bool {
        self.lines.iter().any(|line| match line.kind {
            WorkflowStepKind::Command => deletes(&line.text),
            WorkflowStepKind::Tool => ["delete", "move"].iter().any(|word| line.text.starts_with(word)),
            _ => false,
        })
    }
}

fn deletes(command: &str) -> bool {
    let access = Access::Exec {
        command: command.to_owned(),
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
    judge(&[access], &usual).classes.contains(&RiskClass::Delete)
}

/// The line of a step in a list; none for one whose kind is not known.
fn line_of(step: &RawStep) -> Option<WorkflowStepLine> {
    let (kind, text) = match step.kind.get_ref().as_str() {
        "message" => (WorkflowStepKind::Message, &step.text),
        "command" => (WorkflowStepKind::Command, &step.command),
        "tool" => (WorkflowStepKind::Tool, &step.tool),
        "confirm" => (WorkflowStepKind::Confirm, &step.question),
        "ask" => (WorkflowStepKind::Ask, &step.question),
        _ => return None,
    };
    let text = text.as_ref()?.get_ref().trim().to_owned();
    Some(WorkflowStepLine { kind, text })
}

fn value_of(value: &toml::Value) -> Option<ParameterValue> {
    Some(match value {
        toml::Value::Boolean(on) => ParameterValue::Switch(*on),
        toml::Value::Integer(number) => ParameterValue::Number(*number as f64),
        toml::Value::Float(number) => ParameterValue::Number(*number),
        toml::Value::String(text) => ParameterValue::Text(text.clone()),
        toml::Value::Array(list) => {
            let texts = list.iter().map(|item| item.as_str().map(str::to_owned));
            ParameterValue::List(texts.collect::<Option<_>>()?)
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
