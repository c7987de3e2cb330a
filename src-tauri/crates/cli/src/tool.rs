//! `paddock tool`: the agent's tools without an agent.

use crate::arguments::Arguments;
use crate::failure::{COMPLETED, FAULT, Failure};
use crate::home;
use crate::output::Output;
use paddock_core::{
    CallContext, Circumstances, Flow, Paddock, Registry, Ruling, Tool, ToolError, ToolKind, judge,
    sandbox_summary,
};
use paddock_protocol::*;
use serde::Serialize;
use std::io::{IsTerminal, Read};
use std::sync::Arc;

#[derive(Serialize)]
struct Listed {
    name: &'static str,
    kind: &'static str,
    description: &'static str,
    parameters: serde_json::Value,
}

fn kind(tool: &dyn Tool) -> &'static str {
    match tool.kind() {
        ToolKind::Read => "read",
        ToolKind::Write => "write",
        ToolKind::Command => "command",
        ToolKind::Breaking => "breaking",
        ToolKind::Loop => "loop",
    }
}

pub fn list(arguments: &Arguments) -> Result<u8, Failure> {
    let registry = Registry::new();
    let tools = registry
        .names(Role::Admin)
        .into_iter()
        .filter_map(|name| registry.get(name));
    let listed: Vec<Listed> = tools
        .map(|tool| Listed {
            name: tool.name(),
            kind: kind(&**tool),
            description: tool.description(),
            parameters: tool.schema(),
        })
        .collect();
    let text = if arguments.has("--json") {
        let json = serde_json::to_string_pretty(&listed);
        json.map_err(|error| Failure::fault(format!("The list could not be written: {error}.")))? + "\n"
    } else {
        listed.iter().map(line).collect()
    };
    Ok(crate::output::print(&text))
}

fn line(tool: &Listed) -> String {
    let first = tool.description.lines().next().unwrap_or_default();
    format!("{:<16} {:<9} {first}\n", tool.name, tool.kind)
}

/// The one line that a call prints.
#[derive(Serialize)]
struct Called {
    ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    changes: Vec<FileChange>,
}

impl Called {
    fn of(output: CallOutput) -> Self {
        let (text, error) = match output.ok {
            true => (Some(output.text), None),
            false => (None, Some(output.text)),
        };
        Self {
            ok: output.ok,
            output: text,
            error,
            exit_code: output.exit_code,
            changes: output.changes,
        }
    }

    fn failed(error: impl Into<String>) -> Self {
        Self::of(CallOutput {
            ok: false,
            text: error.into(),
            ..CallOutput::default()
        })
    }
}

pub async fn call(arguments: &Arguments) -> Result<u8, Failure> {
    let name = match arguments.operands.as_slice() {
        [name] => name,
        [] => {
            return Err(Failure::usage("There is no tool name. See: paddock tool list"));
        }
        [_, extra, ..] => {
            return Err(Failure::usage(format!(
                "'{extra}' was not expected here. The arguments come as JSON on standard input."
            )));
        }
    };
    let paddock = home::paddock()?;
    let Some(tool) = paddock.registry().get(name).cloned() else {
        return Err(Failure::usage(format!(
            "There is no tool '{name}'. See: paddock tool list"
        )));
    };
    let cx = context(&paddock, arguments.project(), &*tool).await?;
    let called = match carry_out(&*tool, &standard_input()?, cx).await {
        Ok(called) => called,
        Err(ToolError::Fatal(what)) => return Err(Failure::fault(what)),
        Err(error) => Called::failed(error.to_string()),
    };
    let mut json = serde_json::to_vec(&called)
        .map_err(|error| Failure::fault(format!("The result could not be written: {error}.")))?;
    json.push(b'\n');
    Output::new().write(&json);
    Ok(if called.ok { COMPLETED } else { FAULT })
}

fn standard_input() -> Result<String, Failure> {
    let mut stdin = std::io::stdin();
    if stdin.is_terminal() {
        return Err(Failure::usage(
            "The arguments come as JSON on standard input: echo '{\"path\":\"README.md\"}' | paddock tool call read_file",
        ));
    }
    let mut text = String::new();
    stdin
        .read_to_string(&mut text)
        .map_err(|error| Failure::usage(format!("Standard input could not be read as text: {error}.")))?;
    Ok(if text.trim().is_empty() {
        "{}".to_owned()
    } else {
        text
    })
}

async fn context(paddock: &Paddock, project: &str, tool: &dyn Tool) -> Result<CallContext, Failure> {
    let root = paddock.open_root(project)?;
    let confinement = paddock.confinement();
    let sandbox = if tool.kind() == ToolKind::Command {
        let asked = confinement.clone();
        tokio::task::spawn_blocking(move || sandbox_summary(&*asked))
            .await
            .unwrap_or_default()
    } else {
        SandboxSummary::default()
    };
    let bare = CallContext::bare(
        TurnId(0).call(0, 1),
        root.clone(),
        confinement,
        paddock.sandbox_state(&root),
        sandbox,
    );
    Ok(CallContext {
        command_time: paddock.settings().limits.command_time,
        before: Arc::new(|_, _| Ok(())),
        after: Arc::new(|_, _| Ok(())),
        route: paddock.page_routes(),
        ..bare
    })
}

fn host(access: &Access) -> Option<String> {
    match access {
        Access::Network { host } => Some(host.clone()),
        _ => None,
    }
}

async fn carry_out(tool: &dyn Tool, arguments: &str, mut cx: CallContext) -> Result<Called, ToolError> {
    let prepared = tool.prepare(arguments, &cx).await?;
    let circumstances = Circumstances {
        role: Role::Act,
        autonomy: Autonomy::Careful,
        rules: &[],
        turn: TurnId(0),
        confined: cx.sandbox.confined,
        network_asks: cx.sandbox.network != NetworkLevel::Open,
        now: Timestamp(0),
    };
    let judgement = judge(&prepared.access, &circumstances);
    if let Ruling::Forbid(why) = judgement.decision {
        return Ok(Called::failed(why));
    }
    if judgement.classes.contains(&RiskClass::Protected) {
        return Ok(Called::failed(
            "This is a protected place. Only a person may allow it, for one call in a session.",
        ));
    }
    cx.approved = prepared.body.base();
    // Who calls a tool by hand names the host himself.
    cx.hosts = prepared.access.iter().filter_map(host).collect();
    let said = |text: String| {
        Called::of(CallOutput {
            ok: true,
            text,
            ..CallOutput::default()
        })
    };
    Ok(match prepared.flow {
        Flow::Run => {
            let limit = cx.command_time.as_duration();
            match tokio::time::timeout(limit, tool.run(arguments, &cx)).await {
                Ok(output) => Called::of(output?),
                Err(_) => Called::failed(format!(
                    "It did not end within {} s and was ended.",
                    limit.as_secs()
                )),
            }
        }
        Flow::Finish { result } => said(result),
        Flow::Say { message } => said(message),
        Flow::Plan { tasks } => said(tasks.iter().map(|task| format!("{}\n", task.text)).collect()),
        Flow::Delegate { .. } => Called::failed("A sub-agent needs a session: use paddock run."),
        Flow::Ask { .. } => Called::failed("A question needs a session with a person: use paddock run."),
    })
}
