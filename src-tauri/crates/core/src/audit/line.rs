//! One line of the audit trail. The names of the fields and of the actions are a promise to programs that read them.

use super::mask::mask;
use paddock_protocol::*;
use serde::Serialize;
use serde_json::Value;

/// One action. A field that says nothing about an action is absent in JSON and empty in a table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AuditLine {
    /// UTC, RFC 3339 with milliseconds.
    pub time: String,
    pub session: String,
    /// Number of the event in the session's log.
    pub seq: u64,
    pub project: String,
    #[serde(skip_serializing_if = "is_zero")]
    pub turn: u32,
    #[serde(skip_serializing_if = "is_zero")]
    pub iteration: u32,
    pub action: &'static str,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub call: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub tool: String,
    /// Path, command or question of a call; paths of an undo; name of a workflow; model of a request.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub target: String,
    /// Classes of risk, separated by blanks.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub classes: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allowed: Option<bool>,
    /// `person`, `policy`, `rule:ID` or `workflow:NAME`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub by: String,
    /// The line of the trace that decided.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub rule: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edited: Option<bool>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub outcome: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub from: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub to: String,
    /// Paths of changed files, exit code, tokens: `name=value` separated by blanks.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub detail: String,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl AuditLine {
    /// Names of the columns of a table, in order.
    pub const COLUMNS: [&str; 21] = [
        "time",
        "session",
        "seq",
        "project",
        "turn",
        "iteration",
        "action",
        "call",
        "tool",
        "target",
        "classes",
        "allowed",
        "by",
        "rule",
        "edited",
        "reason",
        "outcome",
        "duration_ms",
        "from",
        "to",
        "detail",
    ];

    pub(super) fn new(event: &Event, action: &'static str) -> AuditLine {
        AuditLine {
            time: rfc3339(event.at),
            session: event.session.to_string(),
            seq: event.seq,
            action,
            ..AuditLine::default()
        }
    }

    /// The line with everything masked that looks like a key.
    pub(super) fn masked(mut self) -> AuditLine {
        let texts = [
            &mut self.project,
            &mut self.target,
            &mut self.rule,
            &mut self.reason,
            &mut self.from,
            &mut self.to,
            &mut self.detail,
        ];
        for text in texts {
            *text = mask(text);
        }
        self
    }

    /// The fields as a row of a table that starts no formula in a spreadsheet, without line end.
    pub fn csv(&self) -> String {
        let Ok(Value::Object(fields)) = serde_json::to_value(self) else {
            return String::new();
        };
        let cells = Self::COLUMNS.map(|column| match fields.get(column) {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => cell(text),
            Some(other) => other.to_string(),
        });
        cells.join(",")
    }
}

/// A text as a cell: what would begin a formula is set behind an apostrophe, and quoted where commas or lines need it.
fn cell(text: &str) -> String {
    let begins = |c: char| {
        matches!(
            c,
            '=' | '+' | '-' | '@' | '\t' | '\r' | '\n' | '|' | '%' | '＝' | '＋' | '－' | '＠'
        )
    };
    // Blanks before it do not keep a spreadsheet from reading a formula.
    let formula = text.starts_with(begins) || text.trim_start().starts_with(begins);
    let guard = if formula { "'" } else { "" };
    if formula || text.contains(['"', ',', '\n', '\r', ';', '\t', '\'']) {
        format!("\"{guard}{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

/// A moment as RFC 3339 in UTC, with milliseconds.
pub fn rfc3339(at: Timestamp) -> String {
    let (seconds, millis) = (at.0 / 1_000 % 86_400, at.0 % 1_000);
    let (hours, minutes) = (seconds / 3_600, seconds / 60 % 60);
    format!(
        "{}T{hours:02}:{minutes:02}:{:02}.{millis:03}Z",
        crate::context::date(at),
        seconds % 60
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_never_begins_a_formula_and_never_breaks_the_row() {
        for (text, safe) in [
            ("plain", "plain"),
            ("", ""),
            (
                "=HYPERLINK(\"http://x\",\"y\")",
                "\"'=HYPERLINK(\"\"http://x\"\",\"\"y\"\")\"",
            ),
            ("+1", "\"'+1\""),
            ("-rf", "\"'-rf\""),
            ("@SUM(A1)", "\"'@SUM(A1)\""),
            ("  =1+1", "\"'  =1+1\""),
            ("\t=1", "\"'\t=1\""),
            ("a,b", "\"a,b\""),
            ("say \"x\"", "\"say \"\"x\"\"\""),
            ("two\nlines", "\"two\nlines\""),
            ("a=b", "a=b"),
        ] {
            assert_eq!(cell(text), safe, "{text:?}");
        }
    }

    #[test]
    fn a_row_has_every_column_that_json_has() {
        let line = AuditLine {
            time: rfc3339(Timestamp(951_786_061_007)),
            turn: 1,
            iteration: 2,
            allowed: Some(true),
            edited: Some(false),
            duration_ms: Some(7),
            call: "c".into(),
            tool: "t".into(),
            target: "=x".into(),
            classes: "write".into(),
            by: "person".into(),
            rule: "r".into(),
            reason: "q".into(),
            outcome: "done".into(),
            from: "a".into(),
            to: "b".into(),
            detail: "exit=1".into(),
            session: "s".into(),
            seq: 9,
            project: "/p".into(),
            action: "call",
        };
        assert_eq!(line.time, "2000-02-29T01:01:01.007Z");
        let json = serde_json::to_value(&line).unwrap();
        let names: Vec<&String> = json.as_object().unwrap().keys().collect();
        assert_eq!(names, AuditLine::COLUMNS);
        let row = "2000-02-29T01:01:01.007Z,s,9,/p,1,2,call,c,t,\"'=x\",write,true,person,r,false,q,done,7,a,b,exit=1";
        assert_eq!(line.csv(), row);
    }
}
