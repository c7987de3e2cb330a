//! The command line as data: every command with its flags in one table, from which arguments are read and help is made.
//! A dozen flags need no larger parser, and the program starts in milliseconds.

use crate::failure::Failure;
use crate::workflow::commands as workflow;
use std::fmt::Write;

/// One flag of a command.
pub struct Flag {
    pub name: &'static str,
    /// Name of its value in the help; a switch has none.
    pub value: Option<&'static str>,
    /// The values it takes; empty: any.
    pub choices: &'static [&'static str],
    /// It may be given several times.
    pub many: bool,
    pub help: &'static str,
}

/// One command of the program.
pub struct Command {
    /// The words that choose it.
    pub words: &'static [&'static str],
    pub about: &'static str,
    /// What follows the flags, for the help: `"TASK"`, `-- CMD …`.
    pub operands: &'static str,
    pub flags: &'static [Flag],
    /// Further paragraphs of the help.
    pub notes: &'static str,
}

pub const fn flag(name: &'static str, value: &'static str, help: &'static str) -> Flag {
    Flag {
        name,
        value: Some(value),
        choices: &[],
        many: false,
        help,
    }
}

pub const fn switch(name: &'static str, help: &'static str) -> Flag {
    Flag {
        name,
        value: None,
        choices: &[],
        many: false,
        help,
    }
}

pub const fn choice(
    name: &'static str,
    value: &'static str,
    choices: &'static [&'static str],
    help: &'static str,
) -> Flag {
    Flag {
        name,
        value: Some(value),
        choices,
        many: false,
        help,
    }
}

pub const fn many(name: &'static str, value: &'static str, help: &'static str) -> Flag {
    Flag {
        many: true,
        ..flag(name, value, help)
    }
}

pub const PROJECT: Flag = flag(
    "--project",
    "DIR",
    "the folder to work in (default: the current one)",
);

pub const BASE_URL: Flag = flag(
    "--base-url",
    "URL",
    "a model server, for example http://127.0.0.1:11434/v1",
);

pub const PROTOCOL: Flag = choice(
    "--protocol",
    "P",
    &["chat", "responses", "anthropic", "gemini"],
    "what the server at --base-url speaks (default: chat, as OpenAI-compatible servers do)",
);

pub const KEY_ENV: Flag = flag(
    "--key-env",
    "VAR",
    "the environment variable that holds the provider's key",
);

pub const RUN: Command = Command {
    words: &["run"],
    about: "Give the agent a task and watch it work",
    operands: "\"TASK\"",
    flags: &[
        PROJECT,
        flag(
            "--provider",
            "P",
            "a configured provider, or `demo` (scripted; without --project on a fresh sample project)",
        ),
        BASE_URL,
        PROTOCOL,
        flag("--model", "M", "the model's name as its server knows it"),
        KEY_ENV,
        choice(
            "--approve",
            "A",
            &["ask", "reads", "edits", "all", "never"],
            "who decides about what needs an approval (default: ask)",
        ),
        choice(
            "--role",
            "R",
            &["plan", "act", "admin"],
            "plan only looks, act is the usual, admin has raised limits",
        ),
        choice(
            "--profile",
            "P",
            &["standard", "quick", "production", "complex", "development"],
            "limits of iterations, time and repetitions (default: the settings')",
        ),
        choice(
            "--calls",
            "C",
            &["native", "json", "xml"],
            "how the model is asked to call tools (default: the settings', else native)",
        ),
        flag(
            "--max-iterations",
            "N",
            "model requests at most; with --resume: that many more",
        ),
        flag(
            "--max-cost",
            "DOLLARS",
            "what the session may cost, where the price is known; no request is sent that would pass it",
        ),
        choice(
            "--effort",
            "E",
            &["minimal", "low", "medium", "high"],
            "how long the model may reason (default: as it does by itself)",
        ),
        flag(
            "--done-when",
            "CMD",
            "a command that must succeed before the work is done; its failure goes to the model",
        ),
        choice(
            "--format",
            "F",
            &["text", "jsonl"],
            "text for people, jsonl for programs: one event a line (default: text)",
        ),
        flag(
            "--resume",
            "SESSION",
            "go on with a session; TASK is then a note, and needed only when its last turn has ended",
        ),
    ],
    notes: "\
Approvals
  ask     ask in the terminal; without one, or with --format jsonl: stop there with exit code 4
  reads   what needs no question runs, everything else is rejected
  edits   changes of files are approved, everything else that is asked is rejected
  all     everything asked is approved once
  never   everything asked is rejected

Exit codes
  0 completed · 1 Paddock or the disk failed · 2 bad usage · 3 paused at a limit or a repetition
  4 an approval or an answer was needed and could not be asked · 5 the model failed · 130 stopped

Ctrl+C stops the turn; a second one ends the program at once. Nothing is lost either way.",
};

pub const SANDBOX_EXEC: Command = Command {
    words: &["sandbox", "exec"],
    about: "Run a command in the sandbox of a project",
    operands: "-- CMD [ARGUMENT …]",
    flags: &[
        PROJECT,
        switch("--read-only", "the project cannot be written either"),
        switch("--network", "with the network of this machine"),
        flag("--timeout", "SECONDS", "end it after this time (default: never)"),
    ],
    notes: "\
Output and exit code are the command's own; for a shell line write: -- sh -c 'LINE'
Other exit codes: 124 timed out · 125 the sandbox could not be set up · 126, 127 CMD cannot be started
or was not found · 128 + n ended by signal n · 130 stopped · 137 took too much · 2 bad usage",
};

pub const TOOL_LIST: Command = Command {
    words: &["tool", "list"],
    about: "List the tools of the agent",
    operands: "",
    flags: &[switch(
        "--json",
        "with descriptions and argument schemas, as JSON",
    )],
    notes: "",
};

pub const TOOL_CALL: Command = Command {
    words: &["tool", "call"],
    about: "Call one tool just as the agent would",
    operands: "NAME",
    flags: &[PROJECT],
    notes: "\
The arguments are read as JSON from standard input. One line of JSON is printed: {\"ok\":true,\"output\":…} or
{\"ok\":false,\"error\":…}. There is no question, because you call it; what is never allowed to the agent is refused
here too, and so are protected places. Nothing is kept for an undo.
Exit codes: 0 ok · 1 the tool failed or was refused · 2 bad usage",
};

pub const SESSIONS: Command = Command {
    words: &["sessions"],
    about: "List sessions, the newest first",
    operands: "",
    flags: &[
        flag("--project", "DIR", "only those of this folder"),
        switch("--json", "one JSON object a line"),
    ],
    notes: "",
};

pub const COMMANDS: &[&Command] = &[
    &RUN,
    &SANDBOX_EXEC,
    &TOOL_LIST,
    &TOOL_CALL,
    &SESSIONS,
    &crate::models::TEST,
    &crate::models::LIST,
    &crate::metrics::METRICS,
    &crate::doctor::DOCTOR,
    &crate::audit::EXPORT,
    &workflow::LIST,
    &workflow::PREVIEW,
    &workflow::RUN,
    &workflow::REVIEW,
];

const ENVIRONMENT: &str = "\
Environment
  PADDOCK_HOME   folder for all data and settings
  PADDOCK_LOG    what happens inside, to standard error: error, warn, info, debug or trace, also
                 TARGET=LEVEL for parts; with `,FILE` after it into a file, with `,home` into
                 logs/paddock.log of the data folder; files are begun anew at 4 MiB
  OTEL_EXPORTER_OTLP_ENDPOINT, PADDOCK_OTEL=1
                 send turns and figures, no contents, to an OpenTelemetry collector (OTLP over HTTP)
  NO_COLOR       no colours";

/// What the arguments of one command say.
#[derive(Debug, Default)]
pub struct Arguments {
    values: Vec<(&'static str, String)>,
    /// What is not a flag, before `--`.
    pub operands: Vec<String>,
    /// What follows `--`.
    pub after: Vec<String>,
}

impl Arguments {
    pub fn value(&self, name: &str) -> Option<&str> {
        let found = self.values.iter().find(|(flag, _)| *flag == name);
        found.map(|(_, value)| value.as_str())
    }

    /// Every value of a flag that may be given several times.
    pub fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        let found = self.values.iter().filter(move |(flag, _)| *flag == name);
        found.map(|(_, value)| value.as_str())
    }

    pub fn has(&self, name: &str) -> bool {
        self.value(name).is_some()
    }

    /// A number at least 1.
    pub fn number(&self, name: &str) -> Result<Option<u32>, Failure> {
        let Some(text) = self.value(name) else {
            return Ok(None);
        };
        match text.parse::<u32>() {
            Ok(number) if number > 0 => Ok(Some(number)),
            _ => Err(Failure::usage(format!(
                "{name} needs a whole number above zero, not '{text}'."
            ))),
        }
    }

    /// The folder to work in, the current one without --project.
    pub fn project(&self) -> &str {
        self.value("--project").unwrap_or(".")
    }
}

/// What the command line asks for.
pub enum Asked {
    Version,
    /// A text for standard output.
    Help(String),
    Do(&'static Command, Arguments),
}

/// Reads the words after the program's name.
pub fn read(words: Vec<String>) -> Result<Asked, Failure> {
    match words.first().map(String::as_str) {
        None | Some("--help" | "-h" | "help") => return Ok(Asked::Help(overview())),
        Some("--version" | "-V") => return Ok(Asked::Version),
        Some(_) => {}
    }
    let chosen = COMMANDS.iter().find(|command| {
        words.len() >= command.words.len()
            && command.words.iter().zip(&words).all(|(own, given)| own == given)
    });
    let Some(command) = chosen else {
        return unknown(&words);
    };
    read_command(command, words.into_iter().skip(command.words.len()))
}

/// A first word alone shows what may follow it.
fn unknown(words: &[String]) -> Result<Asked, Failure> {
    let first = words[0].as_str();
    let family: Vec<String> = COMMANDS
        .iter()
        .filter(|command| command.words[0] == first)
        .map(|command| command.words.join(" "))
        .collect();
    if family.is_empty() {
        return Err(Failure::usage(format!(
            "There is no command '{first}'. See: paddock --help"
        )));
    }
    if words.get(1).is_some_and(|word| word == "--help" || word == "-h") {
        return Ok(Asked::Help(overview()));
    }
    Err(Failure::usage(format!(
        "'{first}' needs a further word: paddock {}",
        family.join(", paddock ")
    )))
}

fn read_command(
    command: &'static Command,
    words: impl IntoIterator<Item = String>,
) -> Result<Asked, Failure> {
    let mut arguments = Arguments::default();
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        if word == "--" {
            arguments.after = words.collect();
            break;
        }
        if word == "--help" || word == "-h" {
            return Ok(Asked::Help(help(command)));
        }
        if !word.starts_with('-') || word == "-" {
            arguments.operands.push(word);
            continue;
        }
        let (name, inline) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (word.as_str(), None),
        };
        let see = format!("See: paddock {} --help", command.words.join(" "));
        let Some(flag) = command.flags.iter().find(|flag| flag.name == name) else {
            return Err(Failure::usage(format!("There is no flag {name} here. {see}")));
        };
        let value = match (flag.value, inline) {
            (None, None) => String::new(),
            (None, Some(_)) => return Err(Failure::usage(format!("{name} takes no value. {see}"))),
            (Some(_), Some(value)) => value,
            (Some(what), None) => words
                .next()
                .ok_or_else(|| Failure::usage(format!("{name} needs a value: {name} {what}. {see}")))?,
        };
        if !flag.choices.is_empty() && !flag.choices.contains(&value.as_str()) {
            let choices = flag.choices.join(", ");
            return Err(Failure::usage(format!(
                "{name} takes one of {choices}, not '{value}'."
            )));
        }
        if arguments.has(flag.name) && !flag.many {
            return Err(Failure::usage(format!("{name} was given twice; give it once.")));
        }
        arguments.values.push((flag.name, value));
    }
    Ok(Asked::Do(command, arguments))
}

fn overview() -> String {
    let mut text = String::from("Paddock, a coding agent that works where you can see it.\n\nCommands\n");
    for command in COMMANDS {
        let _ = writeln!(
            text,
            "  paddock {:<16} {}",
            command.words.join(" "),
            command.about
        );
    }
    let _ = writeln!(
        text,
        "\nEach takes --help. paddock --version prints the version.\n\n{ENVIRONMENT}"
    );
    text
}

fn help(command: &Command) -> String {
    let mut text = format!("{}.\n\nUsage: paddock {}", command.about, command.words.join(" "));
    if !command.flags.is_empty() {
        text.push_str(" [FLAGS]");
    }
    if !command.operands.is_empty() {
        text.push(' ');
        text.push_str(command.operands);
    }
    text.push_str("\n\nFlags\n");
    for flag in command.flags {
        let left = match flag.value {
            Some(value) => format!("{} {value}", flag.name),
            None => flag.name.to_owned(),
        };
        let _ = write!(text, "  {left:<22} {}", flag.help);
        if !flag.choices.is_empty() {
            let _ = write!(text, "\n  {:<22} one of {}", "", flag.choices.join(", "));
        }
        text.push('\n');
    }
    for part in [command.notes, ENVIRONMENT] {
        if !part.is_empty() {
            let _ = writeln!(text, "\n{part}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(line: &[&str]) -> Result<Asked, Failure> {
        read(line.iter().map(|word| (*word).to_owned()).collect())
    }

    fn done(line: &[&str]) -> Arguments {
        match asked(line).unwrap() {
            Asked::Do(_, arguments) => arguments,
            _ => panic!("not a command: {line:?}"),
        }
    }

    #[test]
    fn flags_take_their_value_as_next_word_or_after_an_equals_sign() {
        let arguments = done(&[
            "run",
            "--model",
            "m=1",
            "--base-url=http://h/v1?x=1",
            "fix it",
            "--approve=all",
        ]);
        assert_eq!(arguments.value("--model"), Some("m=1"));
        assert_eq!(arguments.value("--base-url"), Some("http://h/v1?x=1"));
        assert_eq!(arguments.operands, ["fix it"]);
        assert!(arguments.after.is_empty());
    }

    #[test]
    fn nothing_after_two_dashes_is_a_flag() {
        let arguments = done(&["sandbox", "exec", "--read-only", "--", "ls", "--read-only", "--"]);
        assert!(arguments.has("--read-only"));
        assert_eq!(arguments.after, ["ls", "--read-only", "--"]);
    }

    #[test]
    fn what_cannot_be_read_gets_a_sentence() {
        for line in [
            &["jump"][..],
            &["tool"],
            &["run", "--modle", "x"],
            &["run", "--model"],
            &["run", "--role", "boss", "x"],
            &["run", "--model", "a", "--model", "b"],
            &["tool", "list", "--json=yes"],
        ] {
            let failure = match asked(line) {
                Err(failure) => failure,
                Ok(_) => panic!("{line:?} was read"),
            };
            assert_eq!(failure.code, 2, "{line:?}");
            assert!(failure.sentence.contains(' '), "{line:?}");
        }
    }

    #[test]
    fn the_help_names_every_flag() {
        for command in COMMANDS {
            let text = help(command);
            assert!(
                command.flags.iter().all(|flag| text.contains(flag.name)),
                "{text}"
            );
            assert!(text.lines().all(|line| line.chars().count() <= 120), "{text}");
        }
    }
}
