//! The commands about workflows, for the table of commands.

use crate::arguments::{Command, Flag, PROJECT, choice, flag, many, switch};

const PARAMETER: Flag = many(
    "--param",
    "NAME=VALUE",
    "a value of the form; several for a list of choices",
);

const VALUES: &str = "\
Values
  Lists: one --param for each entry. Switches: on or off. Dates: 2026-01-31. Paths are relative to the project.";

pub const LIST: Command = Command {
    words: &["workflow", "list"],
    about: "List the workflows of a project, of your own and built in",
    operands: "",
    flags: &[PROJECT, switch("--json", "one JSON object a line")],
    notes: "Your own lie in the folder workflows of Paddock's data, those of a project in .paddock/workflows.",
};

pub const PREVIEW: Command = Command {
    words: &["workflow", "preview"],
    about: "Show what a workflow would do",
    operands: "NAME",
    flags: &[PROJECT, PARAMETER, switch("--json", "as one JSON object")],
    notes: VALUES,
};

pub const RUN: Command = Command {
    words: &["workflow", "run"],
    about: "Run a workflow after its preview",
    operands: "NAME",
    flags: &[
        PROJECT,
        PARAMETER,
        switch("--yes", "run what the preview shows without asking"),
        flag(
            "--provider",
            "P",
            "a configured provider for steps that ask the model",
        ),
        flag("--base-url", "URL", "an OpenAI-compatible server for such steps"),
        flag("--model", "M", "the model's name as its server knows it"),
        flag(
            "--key-env",
            "VAR",
            "the environment variable that holds the provider's key",
        ),
        choice(
            "--approve",
            "A",
            &["ask", "reads", "edits", "all", "never"],
            "who decides about what still needs an approval (default: ask)",
        ),
        choice(
            "--format",
            "F",
            &["text", "jsonl"],
            "text for people, jsonl for programs: one event a line (default: text)",
        ),
    ],
    notes: "\
The preview is printed and its number has to be typed; without a terminal --yes is needed. When a file changed
between preview and run, nothing is done.
Exit codes are those of paddock run; 2 also for values that do not fit.",
};

pub const REVIEW: Command = Command {
    words: &["workflow", "review"],
    about: "Read a workflow or role file of a project and switch it on or off",
    operands: "FILE",
    flags: &[
        PROJECT,
        switch("--yes", "switch it on without asking"),
        switch("--off", "switch it off"),
    ],
    notes: "FILE is relative to the project: .paddock/workflows/release.toml. A file that changes is off again.",
};
