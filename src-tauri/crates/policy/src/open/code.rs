//! Code that is no command line: interpreters, settings of git, variables that make programs run others.

use super::{Inside, rest_as_text, text, value};
use crate::command::{Part, WordKind};
use crate::options::{arguments, behind, subcommand_at};
use crate::program::{INTERPRETER_VALUES, runs_inline};

/// Settings of git that hold a command.
pub(super) fn git(part: &Part, depth: u8) -> Inside {
    const PROGRAMS: &[&str] = &[
        "alias.",
        "core.pager",
        "core.editor",
        "core.sshcommand",
        "core.fsmonitor",
        "core.hookspath",
        "core.gitproxy",
        "core.askpass",
        "credential.",
        "diff.external",
        "sequence.editor",
        "gpg.",
        "filter.",
        "pager.",
        "man.",
        "web.",
        "browser.",
        "protocol.ext",
        "uploadpack.",
        "init.templatedir",
        "include",
        "interactive.difffilter",
    ];
    let is_code = |setting: &str| {
        let setting = setting.to_lowercase();
        let tool = [
            ".command",
            ".textconv",
            ".cmd",
            ".driver",
            ".path",
            ".helper",
            ".vcs",
        ];
        let key = setting.split('=').next().unwrap_or_default();
        PROGRAMS.iter().any(|name| key.starts_with(name)) || tool.iter().any(|end| key.ends_with(end))
    };
    let Some(sub) = subcommand_at(part) else {
        return Inside::default();
    };
    let global = part.words.get(1..sub).unwrap_or_default();
    let mut settings = global
        .windows(2)
        .filter(|pair| pair[0] == "-c" || pair[0] == "--config-env");
    if settings.any(|pair| is_code(&pair[1])) || global.iter().any(|word| word.starts_with("--exec-path=")) {
        return Inside::hidden("a setting of git in it is a command");
    }
    let words = arguments(part);
    let first = words.first().map(String::as_str);
    match (part.words.get(sub).map(String::as_str).unwrap_or_default(), first) {
        ("bisect", Some("run")) => Inside::part(part.starting_at(sub + 2)),
        ("submodule", Some("foreach")) => rest_as_text(part, behind(part, sub + 2, &[]), depth),
        ("rebase", _) => {
            value(part, &["-x", "--exec"]).map_or_else(Inside::default, |line| text(line, depth))
        }
        ("filter-branch", _) => Inside::hidden("it runs code that stands in its words"),
        ("config", _) if words.iter().any(|word| is_code(word)) && words.len() > 1 => {
            Inside::hidden("a setting of git in it is a command")
        }
        ("difftool" | "mergetool", _) if value(part, &["-x", "--extcmd"]).is_some() => {
            Inside::hidden("it runs code that stands in its words")
        }
        ("clone" | "fetch" | "pull" | "push" | "ls-remote" | "archive", _)
            if words.iter().any(|word| {
                word.starts_with("ext::")
                    || word.starts_with("--upload-pack")
                    || word.starts_with("--receive-pack")
            }) =>
        {
            Inside::hidden("it runs code that stands in its words")
        }
        _ => Inside::default(),
    }
}

pub(super) fn interpreter(part: &Part, name: &str) -> Inside {
    if runs_inline(part, name) {
        return Inside::hidden("it runs code that stands in its words");
    }
    let script = behind(part, 1, INTERPRETER_VALUES);
    let own = part
        .words
        .get(1..script.unwrap_or(part.words.len()))
        .unwrap_or_default();
    let module = own.iter().position(|word| {
        name.starts_with("py") && word.starts_with('-') && !word.starts_with("--") && word.ends_with('m')
    });
    if let Some(at) = module {
        return Inside::part(part.starting_at(at + 2));
    }
    let asks = ["--version", "-V", "-v", "--help", "-h", "-version"];
    match script {
        None if own.iter().any(|word| asks.contains(&word.as_str())) => Inside::default(),
        None => Inside::hidden("it runs what it reads"),
        Some(at) => {
            let word = part.words.get(at).map(String::as_str).unwrap_or_default();
            let reads = word == "-" || word.starts_with("/dev/") || word.starts_with("/proc/");
            if reads || part.kind(at) == WordKind::Expanded {
                Inside::hidden("it runs what it reads")
            } else {
                Inside::default()
            }
        }
    }
}

/// Variables by which a program is made to run something else.
pub(super) fn sets_code(part: &Part) -> Option<&'static str> {
    let is_code = |name: &str| {
        name.starts_with("LD_")
            || name.starts_with("DYLD_")
            || matches!(
                name,
                "BASH_ENV"
                    | "ENV"
                    | "PERL5OPT"
                    | "PERL5LIB"
                    | "RUBYOPT"
                    | "PYTHONSTARTUP"
                    | "PYTHONHOME"
                    | "PROMPT_COMMAND"
                    | "PS4"
                    | "SHELLOPTS"
                    | "BASHOPTS"
                    | "SHELL"
            )
    };
    let is_program = |name: &str| {
        name.starts_with("GIT_")
            && (name.ends_with("COMMAND")
                || name.ends_with("EDITOR")
                || name.ends_with("PAGER")
                || name.ends_with("SSH")
                || name.ends_with("DIFF")
                || name.ends_with("ASKPASS"))
            || name.starts_with("GIT_CONFIG_")
            || matches!(
                name,
                "EDITOR"
                    | "VISUAL"
                    | "PAGER"
                    | "MANPAGER"
                    | "LESSOPEN"
                    | "LESSCLOSE"
                    | "BROWSER"
                    | "SSH_ASKPASS"
            )
    };
    let words = part.words.iter().filter(|_| {
        part.words.first().is_some_and(|word| {
            matches!(
                word.as_str(),
                "env" | "export" | "declare" | "cross-env" | "typeset"
            )
        })
    });
    let sets = |set: &String| {
        set.split_once('=').is_some_and(|(name, value)| {
            is_code(name) || (is_program(name) && value.contains([' ', '/', ';', '|', '$', '`', '&']))
        })
    };
    (part.assignments.iter().any(sets) || words.into_iter().any(sets))
        .then_some("it sets a variable that makes programs run other code")
}
