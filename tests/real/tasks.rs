//! Ten small tasks as a person would word them. Each has its files and looks at what came of it: what is in the folder, what a
//! program prints, what the last answer says. Nothing here depends on how the model words things or which tools it takes.

use std::fs;

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;

use crate::work::Done;

pub struct Task {
    pub name: &'static str,
    pub words: &'static str,
    pub files: &'static [(&'static str, &'static str)],
    /// Fails with the reason when the task was not done.
    pub check: fn(&Done<'_>) -> Result<()>,
}

pub const TASKS: [Task; 10] = [
    Task {
        name: "make a file",
        words: "Create a file named notes.txt that contains exactly this one line: The shed key hangs behind the door.",
        files: &[("readme.md", "# Garden\n")],
        check: |done| done.holds("notes.txt", "The shed key hangs behind the door."),
    },
    Task {
        name: "fix a failing test",
        words: "The test in test_shapes.py fails (python3 -m unittest). Find the mistake in shapes.py and fix it.",
        files: &[("shapes.py", SHAPES), ("test_shapes.py", TEST_SHAPES)],
        check: |done| {
            // The test as it was: a changed test is no repair.
            done.put("test_shapes.py", TEST_SHAPES)?;
            done.runs(&["python3", "-m", "unittest", "-q"]).map(drop)
        },
    },
    Task {
        name: "rename in two files",
        words: "Rename the function load_rows to read_rows, in both files that use it.",
        files: &[("table.py", TABLE), ("report.py", REPORT)],
        check: |done| {
            for file in ["table.py", "report.py"] {
                let text = done.read(file)?;
                ensure!(!text.contains("load_rows"), "{file} still says load_rows");
                ensure!(text.contains("read_rows"), "{file} does not say read_rows");
            }
            let printed = done.runs(&["python3", "report.py"])?;
            ensure!(printed.trim() == "3 rows", "report.py prints {printed:?}");
            Ok(())
        },
    },
    Task {
        name: "answer a question",
        words: "Which port does the server of this project listen on?",
        files: &[
            ("server.py", SERVER),
            ("options.py", OPTIONS),
            (
                "readme.md",
                "# Weather station\n\nStart it with `python3 server.py`.\n",
            ),
        ],
        check: |done| done.says("8417"),
    },
    Task {
        name: "add a function",
        words: "Add a function is_leap_year(year) to dates.py. It returns True for leap years of the Gregorian calendar, else False.",
        files: &[("dates.py", DATES)],
        check: |done| {
            let look = "import dates; print([y for y in (1900, 1996, 2000, 2023, 2024, 2100) if dates.is_leap_year(y)], dates.days_in_week())";
            let printed = done.runs(&["python3", "-c", look])?;
            ensure!(printed.trim() == "[1996, 2000, 2024] 7", "it prints {printed:?}");
            Ok(())
        },
    },
    Task {
        name: "change a JSON value",
        words: "Set the timeout in settings.json to 45. Leave everything else as it is.",
        files: &[("settings.json", SETTINGS)],
        check: |done| {
            let mut wanted: Value = serde_json::from_str(SETTINGS)?;
            wanted["network"]["timeout"] = 45.into();
            let found: Value =
                serde_json::from_str(&done.read("settings.json")?).context("settings.json is not JSON")?;
            ensure!(found == wanted, "settings.json is {found}");
            Ok(())
        },
    },
    Task {
        name: "find a definition",
        words: "In which file is the class Basket defined?",
        files: &[
            (
                "shop/orders.py",
                "from shop.parts import Basket\n\n\ndef order(basket: Basket):\n    return len(basket.goods)\n",
            ),
            (
                "shop/parts.py",
                "class Shelf:\n    pass\n\n\nclass Basket:\n    def __init__(self):\n        self.goods = []\n",
            ),
            (
                "shop/prices.py",
                "# A Basket has no price of its own.\nPRICES = {\"apple\": 3}\n",
            ),
        ],
        check: |done| done.says("parts.py"),
    },
    Task {
        name: "write and run a script",
        words: "Write a Python script count.py that prints the numbers from 1 to 5, one per line. Then run it.",
        files: &[],
        check: |done| {
            let printed = done.runs(&["python3", "count.py"])?;
            ensure!(
                printed.split_whitespace().eq(["1", "2", "3", "4", "5"]),
                "it prints {printed:?}"
            );
            ensure!(
                done.commands.iter().any(|command| command.contains("count.py")),
                "it was not run"
            );
            Ok(())
        },
    },
    Task {
        name: "move a file",
        words: "Move the file drafts/report.md to archive/report.md.",
        files: &[
            ("drafts/report.md", "# Report\n\nAll is well.\n"),
            ("archive/older.md", "# Older\n"),
        ],
        check: |done| {
            ensure!(
                !done.path("drafts/report.md").exists(),
                "drafts/report.md is still there"
            );
            done.holds("archive/report.md", "# Report\n\nAll is well.")
        },
    },
    Task {
        name: "a failing shell script",
        words: "sh check.sh fails. Change the project so that it succeeds, without changing check.sh.",
        files: &[
            ("check.sh", CHECK),
            ("app.conf", "name = harbour\nversion = 1\nlanguage = en\n"),
        ],
        check: |done| {
            ensure!(done.read("check.sh")? == CHECK, "check.sh was changed");
            done.runs(&["sh", "check.sh"]).map(drop)
        },
    },
];

const SHAPES: &str = r#"def area(width, height):
    """The area of a rectangle."""
    return width + height


def outline(width, height):
    """The length of the line around a rectangle."""
    return 2 * (width + height)
"#;

const TEST_SHAPES: &str = r#"import unittest

from shapes import area, outline


class ShapesTest(unittest.TestCase):
    def test_area(self):
        self.assertEqual(area(3, 4), 12)

    def test_outline(self):
        self.assertEqual(outline(3, 4), 14)


if __name__ == "__main__":
    unittest.main()
"#;

const TABLE: &str = r#"def load_rows(text):
    return [line.split(",") for line in text.splitlines()]


def width(text):
    return max(len(row) for row in load_rows(text))
"#;

const REPORT: &str = r#"from table import load_rows

DATA = "a,1\nb,2\nc,3"


def main():
    rows = load_rows(DATA)
    print(len(rows), "rows")


main()
"#;

const SERVER: &str = r#"from http.server import HTTPServer, SimpleHTTPRequestHandler

import options


def main():
    server = HTTPServer((options.HOST, options.PORT), SimpleHTTPRequestHandler)
    server.serve_forever()


if __name__ == "__main__":
    main()
"#;

const OPTIONS: &str = r#"# Settings of the weather station.
HOST = "127.0.0.1"
PORT = 8417
INTERVAL_SECONDS = 300
"#;

const DATES: &str = r#""""Small helpers around the calendar."""


def days_in_week():
    return 7
"#;

const SETTINGS: &str = r#"{
  "name": "harbour",
  "network": {
    "host": "localhost",
    "timeout": 10,
    "retries": 3
  },
  "language": "en"
}
"#;

const CHECK: &str = r#"#!/bin/sh
if ! grep -q '^version = 2$' app.conf; then
    echo "app.conf: the version must be 2" >&2
    exit 1
fi
echo "all good"
"#;

impl Done<'_> {
    /// The text of a file of the project.
    pub fn read(&self, name: &str) -> Result<String> {
        fs::read_to_string(self.path(name)).with_context(|| format!("{name} cannot be read"))
    }

    fn put(&self, name: &str, text: &str) -> Result<()> {
        Ok(fs::write(self.path(name), text)?)
    }

    /// Whether a file holds exactly this text, but for blanks at the end.
    pub fn holds(&self, name: &str, text: &str) -> Result<()> {
        let found = self.read(name)?;
        ensure!(found.trim_end() == text, "{name} holds {found:?}");
        Ok(())
    }

    /// Whether the last answer says this.
    fn says(&self, what: &str) -> Result<()> {
        if !self.answer.contains(what) {
            bail!(
                "the answer is {:?}",
                self.answer.chars().take(200).collect::<String>()
            );
        }
        Ok(())
    }
}
