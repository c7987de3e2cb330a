use super::*;

fn problems(text: &str) -> Vec<String> {
    read(text, "stem", &Registry::new()).problems
}

const HEAD: &str = "name = \"x\"\ntitle = \"X\"\n";
const PARAMETER: &str = "[[parameter]]\nname = \"p\"\nkind = \"text\"\n";
const STEP: &str = "[[step]]\nkind = \"message\"\ntext = \"hello\"\n";

#[test]
fn a_file_with_everything_is_read() {
    let text = r##"
name = "all"
title = "All kinds"
description = "Everything there is."
[[parameter]]
name = "tag"
kind = "text"
check = "v[0-9.]+"
default = "v1"
label = "Tag"
help = "Since when"
required = true
[[parameter]]
name = "n"
kind = "number"
min = 1
max = 9.5
unit = "days"
default = 3
[[parameter]]
name = "some"
kind = "choices"
options = ["a", "b"]
default = ["a"]
[[parameter]]
name = "loud"
kind = "switch"
default = true
[[parameter]]
name = "file"
kind = "path"
[[step]]
kind = "ask"
name = "why"
question = "Why {tag}?"
options = ["because"]
[[step]]
kind = "command"
command = "git log {loud?--patch} --since={tag} -n {n} -- {some} {file}"
folder = "sub"
[[step]]
kind = "tool"
tool = "read_file"
arguments = { path = "{file}", from_line = "{n}" }
[[step]]
kind = "confirm"
question = "Go on with {answer.why}?"
[[step]]
kind = "message"
text = "Because of {answer.why}."
"##;
    let definition = read(text, "all", &Registry::new());
    assert_eq!(definition.problems, Vec::<String>::new());
    assert_eq!(definition.steps.len(), 5);
    assert_eq!(
        definition.lines[1].text,
        "git log {loud?--patch} --since={tag} -n {n} -- {some} {file}"
    );
    let tag = &definition.parameters[0];
    assert_eq!((tag.label.as_str(), tag.required), ("Tag", true));
    assert_eq!(
        definition.parameters[1].default,
        Some(ParameterValue::Number(3.0))
    );
    assert!(!definition.is_destructive());
}

#[test]
fn every_fault_is_said_with_its_line() {
    for (text, problem) in [
        (
            format!("{HEAD}colour = 1\n{STEP}"),
            "Line 3: unknown field `colour`",
        ),
        (
            format!("name = 1\n{STEP}"),
            "Line 1: invalid type: integer `1`, expected a string.",
        ),
        ("name = \"x".to_owned(), "Line 1: "),
        (
            format!("{HEAD}[[step]]\nkind = \"message\"\ntext = \"{{missing}}\"\n"),
            "Line 5: there is no parameter `missing`.",
        ),
        (
            format!("{HEAD}{PARAMETER}{PARAMETER}{STEP}"),
            "Line 7: there are two parameters `p`.",
        ),
        (
            format!("{HEAD}[[step]]\nkind = \"tool\"\ntool = \"fly\"\n"),
            "Line 5: there is no tool `fly`.",
        ),
        (
            format!("{HEAD}[[step]]\nkind = \"tool\"\ntool = \"delete_files\"\n"),
            "Line 5: `delete_files` belongs to a built-in workflow",
        ),
        (
            format!("{HEAD}[[step]]\nkind = \"tool\"\ntool = \"task_completion\"\n"),
            "Line 5: `task_completion` is only for the agent.",
        ),
        (
            format!("{HEAD}[[step]]\nkind = \"tool\"\ntool = \"run_command\"\n"),
            "Line 5: write a step of the kind `command`",
        ),
        (
            format!("{HEAD}[[step]]\nkind = \"dance\"\n"),
            "Line 4: there is no step kind `dance`.",
        ),
        (
            format!("{HEAD}[[step]]\nkind = \"message\"\n"),
            "Line 4: it needs `text`.",
        ),
        (
            format!("{HEAD}[[step]]\nkind = \"message\"\ntext = \"a\"\ncommand = \"b\"\n"),
            "Line 4: a message has no `command`.",
        ),
        (
            format!("{HEAD}[[step]]\nkind = \"message\"\ntext = \"a {{\"\n"),
            "Line 5: `{` begins no placeholder",
        ),
        (
            format!("{HEAD}[[step]]\nkind = \"message\"\ntext = \"{{answer.x}}\"\n"),
            "Line 5: no earlier step asks for `answer.x`.",
        ),
        (
            format!("{HEAD}{PARAMETER}[[step]]\nkind = \"command\"\ncommand = \"echo '{{p}}'\"\n"),
            "Line 8: `{p}` stands inside of quotes",
        ),
        (
            format!("{HEAD}{PARAMETER}[[step]]\nkind = \"message\"\ntext = \"{{p?x}}\"\n"),
            "Line 8: `p` is no switch",
        ),
        (
            format!(
                "{HEAD}[[parameter]]\nname = \"p\"\nkind = \"secret\"\n[[step]]\nkind = \"command\"\ncommand = \"echo {{p}}\"\n"
            ),
            "Line 8: the secret `p` cannot be given to a command",
        ),
        (
            format!("{HEAD}[[parameter]]\nname = \"p\"\nkind = \"number\"\nmax = 3\ndefault = 4\n{STEP}"),
            "Line 7: the default must be at most 3.",
        ),
        (
            format!("{HEAD}[[parameter]]\nname = \"p\"\nkind = \"text\"\ncheck = \"(\"\n{STEP}"),
            "Line 5: `check` is no regular expression",
        ),
        (
            format!("{HEAD}[[parameter]]\nname = \"p\"\nkind = \"choice\"\n{STEP}"),
            "Line 5: a choice needs `options`.",
        ),
        (
            format!("{HEAD}[[parameter]]\nname = \"p\"\nkind = \"colour\"\n{STEP}"),
            "Line 5: there is no parameter kind `colour`.",
        ),
        (
            format!("{HEAD}[[parameter]]\nname = \"p\"\nkind = \"date\"\nmin = 3\n{STEP}"),
            "Line 5: a date has no `min`.",
        ),
        (HEAD.to_owned(), "it has no steps."),
        (
            format!("name = \"Big Name\"\n{STEP}"),
            "Line 1: the name may have small letters",
        ),
    ] {
        let said = problems(&text);
        assert!(
            said.first().is_some_and(|said| said.starts_with(problem)),
            "{problem}\n{said:?}"
        );
    }
}

#[test]
fn faults_are_said_all_at_once() {
    let two = problems(&format!(
        "{HEAD}[[step]]\nkind = \"dance\"\n[[step]]\nkind = \"message\"\n"
    ));
    assert_eq!(two.len(), 2);
}

#[test]
fn what_deletes_is_marked() {
    let destructive = |command: &str| {
        let text = format!("{HEAD}{PARAMETER}[[step]]\nkind = \"command\"\ncommand = \"{command}\"\n");
        let definition = read(&text, "x", &Registry::new());
        assert_eq!(definition.problems, Vec::<String>::new());
        definition.is_destructive()
    };
    assert!(
        destructive("rm -r -- {p}") && destructive("git push --force") && destructive("a && git clean -fd")
    );
    assert!(!destructive("cargo test {p}"));
}
