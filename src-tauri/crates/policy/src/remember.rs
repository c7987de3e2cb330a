//! Rules: whether one covers a call, and which rule a call suggests.

use crate::command::CommandLine;
use crate::program::{deletes, hides_code, subcommand, wants_network};
use paddock_protocol::{Access, RuleShape};

/// Programs whose first plain word is a command of its own.
const WITH_SUBCOMMANDS: &[&str] = &[
    "git", "npm", "pnpm", "yarn", "cargo", "go", "make", "just", "uv", "poetry", "dotnet", "gradle", "mvn",
    "bundle", "rake", "task",
];

/// Whether `shape` covers `access`. A command is covered only when every one of its parts is.
pub fn covers(shape: &RuleShape, access: &Access, line: Option<&CommandLine>) -> bool {
    match (shape, access) {
        (RuleShape::CommandPrefix { words }, Access::Exec { .. }) => line.is_some_and(|line| {
            line.understood
                && !words.is_empty()
                && line.parts.iter().all(|part| {
                    part.writes.is_empty() && part.assignments.is_empty() && part.words.starts_with(words)
                })
        }),
        (RuleShape::WritePath { path }, Access::Write { path: target }) => {
            target == path || (path.ends_with('/') && target.starts_with(path.as_str()))
        }
        (RuleShape::Host { host }, Access::Network { host: target }) => host == target,
        (RuleShape::ExternalTool { server, tool }, Access::External { server: s, tool: t }) => {
            server == s && tool == t
        }
        _ => false,
    }
}

/// The rule that an approval of this call could make, with its words. `None` where none may be offered.
pub fn suggestion(access: &[Access], line: Option<&CommandLine>) -> Option<(RuleShape, String)> {
    let mut plain = access.iter().filter(|a| !matches!(a, Access::Read { .. }));
    let only = plain.next()?;
    if plain.next().is_some() {
        return None;
    }
    match only {
        Access::Exec { .. } => {
            let [part] = line.filter(|line| line.understood)?.parts.as_slice() else {
                return None;
            };
            if hides_code(part) || deletes(part) || wants_network(part) || !part.writes.is_empty() {
                return None;
            }
            let program = part.words.first()?.clone();
            let second = if WITH_SUBCOMMANDS.contains(&crate::program::base_name(&program).as_str()) {
                subcommand(part).map(str::to_owned)
            } else {
                part.words.get(1).filter(|word| !word.starts_with('-')).cloned()
            };
            let in_order = second.as_deref() == part.words.get(1).map(String::as_str);
            let words: Vec<String> = [Some(program), second.filter(|_| in_order)]
                .into_iter()
                .flatten()
                .collect();
            let named = format!("{}, any arguments", words.join(" "));
            Some((RuleShape::CommandPrefix { words }, named))
        }
        Access::Write { path } => Some((
            RuleShape::WritePath { path: path.clone() },
            format!("changes to {path}"),
        )),
        Access::External { server, tool } => Some((
            RuleShape::ExternalTool {
                server: server.clone(),
                tool: tool.clone(),
            },
            format!("{tool} of {server}"),
        )),
        Access::Network { host } => Some((
            RuleShape::Host { host: host.clone() },
            format!("connections to {host}"),
        )),
        _ => None,
    }
}
