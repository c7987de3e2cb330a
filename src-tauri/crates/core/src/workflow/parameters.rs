//! The values of a form: each problem is named by its field, defaults are filled in, and what is required and missing is
//! asked for, never guessed.

use paddock_protocol::{ParameterKind, ParameterProblem, ParameterValue, ParameterValues, WorkflowParameter};
use paddock_sandbox::{Kind, PathError, ProjectRoot};
use regex::{Regex, RegexBuilder};

/// Bytes of one value.
const MAX_VALUE: usize = 32 * 1024;
const MAX_ENTRIES: usize = 1_000;
/// Bytes that a compiled pattern may take.
const MAX_PATTERN: usize = 1024 * 1024;

/// The values with defaults, or what is wrong with single ones. `providers` are those with a model to choose.
pub fn check(
    parameters: &[WorkflowParameter],
    given: &ParameterValues,
    root: &ProjectRoot,
    providers: &[String],
) -> Result<ParameterValues, Vec<ParameterProblem>> {
    let mut values = ParameterValues::new();
    let mut problems = Vec::new();
    let mut problem = |parameter: &str, problem: String| {
        problems.push(ParameterProblem {
            parameter: parameter.to_owned(),
            problem,
        });
    };
    for name in given
        .keys()
        .filter(|name| parameters.iter().all(|known| known.name != **name))
    {
        problem(name, "There is no such parameter.".to_owned());
    }
    for parameter in parameters {
        let value = given.get(&parameter.name).filter(|value| !is_empty(value));
        let Some(value) = value.or(parameter.default.as_ref()) else {
            match parameter.kind {
                ParameterKind::Switch => {
                    values.insert(parameter.name.clone(), ParameterValue::Switch(false));
                }
                _ if parameter.required => problem(&parameter.name, "This is needed.".to_owned()),
                _ => {}
            }
            continue;
        };
        let found = problem_of(parameter, value)
            .map(Err)
            .unwrap_or_else(|| in_place(parameter, value, root, providers));
        match found {
            Ok(value) => {
                values.insert(parameter.name.clone(), value);
            }
            Err(what) => problem(&parameter.name, format!("It {what}.")),
        }
    }
    if problems.is_empty() {
        Ok(values)
    } else {
        Err(problems)
    }
}

/// A field that was left empty.
fn is_empty(value: &ParameterValue) -> bool {
    match value {
        ParameterValue::Text(text) => text.is_empty(),
        ParameterValue::List(list) => list.is_empty(),
        _ => false,
    }
}

/// What is wrong with a value whatever the project, as the end of a sentence: "must be a number".
pub fn problem_of(parameter: &WorkflowParameter, value: &ParameterValue) -> Option<String> {
    let texts: &[String] = match value {
        ParameterValue::Text(text) => std::slice::from_ref(text),
        ParameterValue::List(list) => list,
        _ => &[],
    };
    if let Some(why) = texts.iter().find_map(|text| unusable(text)) {
        return Some(why.to_owned());
    }
    let must = |what: &str| Some(format!("must be {what}"));
    match (&parameter.kind, value) {
        (ParameterKind::Text { pattern }, ParameterValue::Text(text)) => {
            if text.contains('\n') {
                return must("one line");
            }
            let fits = |pattern: &String| whole(pattern).is_ok_and(|pattern| pattern.is_match(text));
            let missed = pattern.as_ref().filter(|pattern| !fits(pattern));
            missed.map(|pattern| format!("must fit {pattern}"))
        }
        (ParameterKind::LongText, ParameterValue::Text(_)) => None,
        (ParameterKind::Text { .. } | ParameterKind::LongText, _) => must("text"),
        (ParameterKind::Number { min, max, .. }, ParameterValue::Number(number)) => {
            if !number.is_finite() {
                return must("a number");
            }
            match (min.filter(|min| number < min), max.filter(|max| number > max)) {
                (Some(min), _) => must(&format!("at least {min}")),
                (_, Some(max)) => must(&format!("at most {max}")),
                _ => None,
            }
        }
        (ParameterKind::Number { .. }, _) => must("a number"),
        (ParameterKind::Switch, ParameterValue::Switch(_)) => None,
        (ParameterKind::Switch, _) => must("on or off"),
        (ParameterKind::Choice { options }, ParameterValue::Text(text)) if options.contains(text) => None,
        (ParameterKind::Choice { options }, _) => must(&format!("one of: {}", options.join(", "))),
        (ParameterKind::Choices { options }, ParameterValue::List(list)) => {
            if list.len() > MAX_ENTRIES {
                return must(&format!("at most {MAX_ENTRIES} entries"));
            }
            let foreign = list.iter().find(|entry| !options.contains(entry));
            foreign.map(|entry| format!("has no choice `{entry}`"))
        }
        (ParameterKind::Choices { .. }, _) => must("a list of choices"),
        (ParameterKind::Path { .. }, ParameterValue::Text(_)) => None,
        (ParameterKind::Path { .. }, _) => must("a path inside of the project"),
        (ParameterKind::Date, ParameterValue::Text(text)) if is_date(text) => None,
        (ParameterKind::Date, _) => must("a date like 2026-01-31"),
        (ParameterKind::Model, ParameterValue::Text(text)) if model_parts(text).is_some() => None,
        (ParameterKind::Model, _) => must("a model like provider/name"),
        (ParameterKind::Secret, ParameterValue::Text(text)) if is_key_name(text) => None,
        (ParameterKind::Secret, _) => must("the name of a key: letters, digits, `-`, `_` and `.`"),
    }
}

fn unusable(text: &str) -> Option<&'static str> {
    if text.len() > MAX_VALUE {
        Some("is too long")
    } else if text.contains('\0') {
        Some("holds a NUL character")
    } else if text.contains("{answer.") {
        // It would be taken for a placeholder when the step begins.
        Some("must not hold `{answer.`")
    } else {
        None
    }
}

/// What is wrong with a value in this project; a path comes back in its one spelling.
fn in_place(
    parameter: &WorkflowParameter,
    value: &ParameterValue,
    root: &ProjectRoot,
    providers: &[String],
) -> Result<ParameterValue, String> {
    match (&parameter.kind, value) {
        (ParameterKind::Path { folder }, ParameterValue::Text(text)) => {
            let path = root.relative(text).map_err(path_words)?;
            match (root.metadata(&path).map(|facts| facts.kind), folder) {
                (Ok(Kind::Folder), true) | (Ok(Kind::File), false) => {}
                (Ok(_), true) => return Err("must be a folder".to_owned()),
                (Ok(_), false) => return Err("must be a file".to_owned()),
                (Err(error), _) => return Err(path_words(error)),
            }
            Ok(ParameterValue::Text(path.to_string()))
        }
        (ParameterKind::Model, ParameterValue::Text(text)) => match model_parts(text) {
            Some((provider, _)) if providers.iter().any(|known| known == provider) => Ok(value.clone()),
            _ => Err("must be a model of a configured provider".to_owned()),
        },
        _ => Ok(value.clone()),
    }
}

fn path_words(error: PathError) -> String {
    match error {
        PathError::Outside { .. } => "leads out of the project".to_owned(),
        PathError::NotFound { .. } => "does not exist".to_owned(),
        PathError::Invalid { why } => format!("is no path: {why}"),
        other => format!("cannot be used: {other}"),
    }
}

/// A pattern for a whole text.
pub fn whole(pattern: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(&format!("^(?:{pattern})$"))
        .size_limit(MAX_PATTERN)
        .build()
}

/// Provider and name of `provider/model`.
pub fn model_parts(text: &str) -> Option<(&str, &str)> {
    text.split_once('/')
        .filter(|(provider, model)| !provider.is_empty() && !model.trim().is_empty())
}

fn is_key_name(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 80
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
}

fn is_date(text: &str) -> bool {
    let digits = text.len() == 10
        && text.bytes().enumerate().all(|(at, byte)| match at {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        });
    let part = |range: std::ops::Range<usize>| text.get(range).and_then(|part| part.parse::<u32>().ok());
    let (Some(year), Some(month), Some(day)) = (part(0..4), part(5..7), part(8..10)) else {
        return false;
    };
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        1..=12 => 31,
        _ => 0,
    };
    digits && (1..=days).contains(&day)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameter(name: &str, kind: ParameterKind, required: bool) -> WorkflowParameter {
        WorkflowParameter {
            name: name.to_owned(),
            label: name.to_owned(),
            help: String::new(),
            kind,
            required,
            default: None,
        }
    }

    fn text(text: &str) -> ParameterValue {
        ParameterValue::Text(text.to_owned())
    }

    #[test]
    fn each_problem_is_named_by_its_field() {
        let place = tempfile::tempdir().unwrap();
        std::fs::write(place.path().join("file"), b"").unwrap();
        std::fs::create_dir(place.path().join("folder")).unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink("/etc", place.path().join("out")).unwrap();
        let root = ProjectRoot::open(place.path()).unwrap();
        let number = ParameterKind::Number {
            min: Some(1.0),
            max: Some(5.0),
            unit: None,
        };
        let pattern = Some("v[0-9]+".to_owned());
        let options = vec!["a".to_owned(), "b".to_owned()];
        let parameters = [
            parameter("tag", ParameterKind::Text { pattern }, true),
            parameter("n", number, false),
            parameter("path", ParameterKind::Path { folder: false }, false),
            parameter("folder", ParameterKind::Path { folder: true }, false),
            parameter(
                "one",
                ParameterKind::Choice {
                    options: options.clone(),
                },
                false,
            ),
            parameter("some", ParameterKind::Choices { options }, false),
            parameter("day", ParameterKind::Date, false),
            parameter("model", ParameterKind::Model, false),
            parameter("key", ParameterKind::Secret, false),
            parameter("on", ParameterKind::Switch, true),
        ];
        let said = |name: &str, value: ParameterValue| {
            let mut given = ParameterValues::from([("tag".to_owned(), text("v1"))]);
            given.insert(name.to_owned(), value);
            match check(&parameters, &given, &root, &["own".to_owned()]) {
                Ok(_) => String::new(),
                Err(problems) => {
                    assert!(
                        problems.iter().all(|problem| problem.parameter == name),
                        "{problems:?}"
                    );
                    problems[0].problem.clone()
                }
            }
        };
        let list = |entries: &[&str]| ParameterValue::List(entries.iter().map(|e| (*e).to_owned()).collect());
        for (name, value, problem) in [
            ("tag", text("v1"), ""),
            ("tag", text("v1; rm"), "It must fit v[0-9]+."),
            ("tag", text(""), "This is needed."),
            ("tag", text("v1\nv2"), "It must be one line."),
            ("tag", text("{answer.x}"), "It must not hold `{answer.`."),
            ("n", ParameterValue::Number(0.0), "It must be at least 1."),
            ("n", text("3"), "It must be a number."),
            ("n", ParameterValue::Number(f64::NAN), "It must be a number."),
            ("path", text("file"), ""),
            ("path", text("folder/../file"), ""),
            ("path", text("../x"), "It leads out of the project."),
            ("path", text("out/passwd"), "It leads out of the project."),
            ("path", text("/etc/passwd"), "It leads out of the project."),
            ("path", text("folder"), "It must be a file."),
            ("path", text("nothing"), "It does not exist."),
            ("folder", text("."), ""),
            ("folder", text("file"), "It must be a folder."),
            ("one", text("c"), "It must be one of: a, b."),
            ("some", list(&["b", "a"]), ""),
            ("some", list(&["c"]), "It has no choice `c`."),
            ("day", text("2024-02-29"), ""),
            ("day", text("2023-02-29"), "It must be a date like 2026-01-31."),
            ("day", text("2023-2-9"), "It must be a date like 2026-01-31."),
            ("model", text("own/small"), ""),
            (
                "model",
                text("other/small"),
                "It must be a model of a configured provider.",
            ),
            ("model", text("small"), "It must be a model like provider/name."),
            (
                "key",
                text("a key"),
                "It must be the name of a key: letters, digits, `-`, `_` and `.`.",
            ),
            ("on", text("yes"), "It must be on or off."),
            ("more", text("x"), "There is no such parameter."),
        ] {
            assert_eq!(said(name, value.clone()), problem, "{name} {value:?}");
        }
        let given = ParameterValues::from([
            ("tag".to_owned(), text("v1")),
            ("path".to_owned(), text("./folder/../file")),
        ]);
        let values = check(&parameters, &given, &root, &[]).unwrap();
        assert_eq!(values["path"], text("file"));
        assert_eq!(values["on"], ParameterValue::Switch(false));
    }
}
