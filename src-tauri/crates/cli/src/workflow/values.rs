//! `--param NAME=VALUE` as the values of a form. What a text means is decided by the kind of its parameter.

use crate::failure::Failure;
use paddock_protocol::{ParameterKind, ParameterValue, ParameterValues, WorkflowParameter};

pub fn read<'a>(
    given: impl Iterator<Item = &'a str>,
    parameters: &[WorkflowParameter],
) -> Result<ParameterValues, Failure> {
    let mut values = ParameterValues::new();
    for pair in given {
        let (name, text) = pair
            .split_once('=')
            .ok_or_else(|| Failure::usage(format!("--param needs a name and a value: --param {pair}=…")))?;
        let parameter = parameters
            .iter()
            .find(|known| known.name == name)
            .ok_or_else(|| {
                let known: Vec<&str> = parameters.iter().map(|known| known.name.as_str()).collect();
                Failure::usage(format!(
                    "There is no parameter '{name}'; there is: {}.",
                    known.join(", ")
                ))
            })?;
        if let ParameterKind::Choices { .. } = parameter.kind {
            let list = values
                .entry(name.to_owned())
                .or_insert_with(|| ParameterValue::List(Vec::new()));
            if let ParameterValue::List(list) = list {
                list.push(text.to_owned());
            }
            continue;
        }
        if values.insert(name.to_owned(), value(parameter, text)?).is_some() {
            return Err(Failure::usage(format!(
                "The parameter {name} was given twice; give it once."
            )));
        }
    }
    Ok(values)
}

fn value(parameter: &WorkflowParameter, text: &str) -> Result<ParameterValue, Failure> {
    let name = &parameter.name;
    Ok(match parameter.kind {
        ParameterKind::Number { .. } => ParameterValue::Number(
            text.parse()
                .map_err(|_| Failure::usage(format!("{name} needs a number, not '{text}'.")))?,
        ),
        ParameterKind::Switch => match text {
            "on" | "yes" | "true" => ParameterValue::Switch(true),
            "off" | "no" | "false" => ParameterValue::Switch(false),
            _ => return Err(Failure::usage(format!("{name} is on or off, not '{text}'."))),
        },
        _ => ParameterValue::Text(text.to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_what_its_parameter_says() {
        let parameter = |name: &str, kind| WorkflowParameter {
            name: name.to_owned(),
            label: String::new(),
            help: String::new(),
            kind,
            required: false,
            default: None,
        };
        let options = vec!["a".to_owned(), "b".to_owned()];
        let known = [
            parameter(
                "n",
                ParameterKind::Number {
                    min: None,
                    max: None,
                    unit: None,
                },
            ),
            parameter("on", ParameterKind::Switch),
            parameter("some", ParameterKind::Choices { options }),
            parameter("text", ParameterKind::LongText),
        ];
        let read = |pairs: &[&str]| read(pairs.iter().copied(), &known);
        let values = read(&["n=1.5", "on=yes", "some=a", "some=b", "text=a=b, c"]).unwrap();
        assert_eq!(values["n"], ParameterValue::Number(1.5));
        assert_eq!(values["on"], ParameterValue::Switch(true));
        assert_eq!(values["some"], ParameterValue::List(vec!["a".into(), "b".into()]));
        assert_eq!(values["text"], ParameterValue::Text("a=b, c".into()));
        for bad in [
            &["n"][..],
            &["x=1"],
            &["n=a"],
            &["on=maybe"],
            &["text=a", "text=b"],
        ] {
            assert_eq!(read(bad).unwrap_err().code, 2, "{bad:?}");
        }
    }
}
