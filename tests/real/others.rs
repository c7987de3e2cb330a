//! Ten other small tasks, on which no prompt was tried out: they show whether what helps with the first ten helps at all, and whether a
//! model leaves alone what it was only asked about.

use anyhow::{Result, ensure};

use crate::tasks::Task;
use crate::work::Done;

pub const OTHERS: [Task; 10] = [
    Task {
        name: "explain a function",
        words: "Explain in one sentence what the function slug in text.py does.",
        files: &[("text.py", TEXT)],
        check: |done| {
            done.is_as_before(&[("text.py", TEXT)])?;
            done.says_one_of(&["lower", "hyphen", "dash", "'-'", "\"-\"", "`-`"])
        },
    },
    Task {
        name: "run the tests",
        words: "Run the tests with python3 -m unittest and tell me whether they pass.",
        files: &[("test_sum.py", TEST_SUM)],
        check: |done| {
            done.is_as_before(&[("test_sum.py", TEST_SUM)])?;
            ensure!(
                done.commands.iter().any(|command| command.contains("unittest")),
                "they were not run"
            );
            done.says_one_of(&["pass", "success"])
        },
    },
    Task {
        name: "delete a file",
        words: "Delete the file old.log.",
        files: &[("old.log", "1\n"), ("new.log", "2\n")],
        check: |done| {
            ensure!(!done.path("old.log").exists(), "old.log is still there");
            done.is_as_before(&[("new.log", "2\n")])
        },
    },
    Task {
        name: "add a line",
        words: "Add the line requests==2.31.0 to the end of requirements.txt.",
        files: &[("requirements.txt", "flask==3.0.0\npytest==8.0.0\n")],
        check: |done| {
            done.holds(
                "requirements.txt",
                "flask==3.0.0\npytest==8.0.0\nrequests==2.31.0",
            )
        },
    },
    Task {
        name: "mend a spelling mistake",
        words: "There is a spelling mistake in readme.md: recieve must be receive. Correct it.",
        files: &[(
            "readme.md",
            "# Post\n\nYou recieve a letter every day.\nIt is short.\n",
        )],
        check: |done| {
            done.holds(
                "readme.md",
                "# Post\n\nYou receive a letter every day.\nIt is short.",
            )
        },
    },
    Task {
        name: "change a constant",
        words: "Change MAX_USERS in limits.py from 50 to 80.",
        files: &[("limits.py", "MAX_ROOMS = 50\nMAX_USERS = 50\n")],
        check: |done| done.holds("limits.py", "MAX_ROOMS = 50\nMAX_USERS = 80"),
    },
    Task {
        name: "count functions",
        words: "How many functions does util.py define?",
        files: &[("util.py", UTIL)],
        check: |done| {
            done.is_as_before(&[("util.py", UTIL)])?;
            done.says_one_of(&["3", "three"])
        },
    },
    Task {
        name: "mend a crash",
        words: "python3 main.py crashes with a NameError. Find out why and fix it.",
        files: &[("main.py", MAIN)],
        check: |done| {
            let printed = done.runs(&["python3", "main.py"])?;
            ensure!(printed.trim() == "Total: 6", "it prints {printed:?}");
            Ok(())
        },
    },
    Task {
        name: "write a page",
        words: "Make a file docs/index.md with the heading Welcome and below it the sentence: This is the manual.",
        files: &[("readme.md", "# Manual\n")],
        check: |done| {
            let text = done.read("docs/index.md")?;
            let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
            ensure!(
                lines.len() == 2 && lines[0].trim_start_matches('#').trim() == "Welcome",
                "it holds {text:?}"
            );
            ensure!(lines[1].trim() == "This is the manual.", "it holds {text:?}");
            Ok(())
        },
    },
    Task {
        name: "give a parameter a default",
        words: "In greet.py give the parameter greeting of the function greet the default value \"Hello\".",
        files: &[(
            "greet.py",
            "def greet(name, greeting):\n    return f\"{greeting}, {name}!\"\n",
        )],
        check: |done| {
            let look = "import greet; print(greet.greet('Ann'), greet.greet('Ann', 'Bye'))";
            let printed = done.runs(&["python3", "-c", look])?;
            ensure!(printed.trim() == "Hello, Ann! Bye, Ann!", "it prints {printed:?}");
            Ok(())
        },
    },
];

const TEXT: &str = r#"def slug(title):
    words = title.lower().split()
    return "-".join(words)


def shout(title):
    return title.upper() + "!"
"#;

const TEST_SUM: &str = r#"import unittest


class SumTest(unittest.TestCase):
    def test_two(self):
        self.assertEqual(sum([1, 2]), 3)

    def test_none(self):
        self.assertEqual(sum([]), 0)
"#;

const UTIL: &str = r#"def first(items):
    return items[0]


def last(items):
    return items[-1]


def middle(items):
    return items[len(items) // 2]
"#;

const MAIN: &str = r#"def total(numbers):
    result = 0
    for number in numbers:
        result += number
    return reslt


print("Total:", total([1, 2, 3]))
"#;

impl Done<'_> {
    /// Whether files that nobody asked to change are what they were.
    fn is_as_before(&self, files: &[(&str, &str)]) -> Result<()> {
        for (name, content) in files {
            ensure!(self.read(name)? == *content, "{name} was changed");
        }
        Ok(())
    }

    /// Whether the last answer has one of these words, in whatever letters.
    fn says_one_of(&self, words: &[&str]) -> Result<()> {
        let answer = self.answer.to_lowercase();
        let is_said = words.iter().any(|word| answer.contains(word));
        ensure!(is_said, "the answer is {answer:?}");
        Ok(())
    }
}
