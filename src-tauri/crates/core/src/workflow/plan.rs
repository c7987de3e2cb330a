//! From the confirmed preview to the plan that a session carries out. The world is looked at once more: when anything that
//! the preview showed is different now, nothing runs, and what is different is said.

use super::preview::{Looked, look};
use super::{Place, Problem, refused, runnable};
use paddock_protocol::{ClientError, ErrorCode, ParameterValues, WorkflowPlan};

/// The plan of a workflow whose preview gave this token.
pub async fn plan(
    place: &Place,
    name: &str,
    values: &ParameterValues,
    token: &str,
) -> Result<WorkflowPlan, ClientError> {
    let known = runnable(place, name)?;
    let looked = match look(place, &known, values).await {
        Ok(looked) => looked,
        Err(Problem::Tool(error)) => return Err(refused(error)),
        Err(Problem::Parameters(problems)) => {
            let words: Vec<String> = problems
                .iter()
                .map(|problem| format!("{}: {}", problem.parameter, problem.problem))
                .collect();
            return Err(again(&words.join(" ")));
        }
    };
    match difference(&looked, token) {
        None => Ok(WorkflowPlan {
            name: known.definition.name,
            title: known.definition.title,
            steps: looked.outlook.steps,
        }),
        Some(what) => Err(again(&what)),
    }
}

fn again(what: &str) -> ClientError {
    ClientError::new(
        ErrorCode::NotNow,
        format!("Nothing was done, because something is different from the preview. {what}"),
    )
    .hint("Look at the preview again.")
}

/// What is different from when the token was made, in a sentence.
fn difference(now: &Looked, token: &str) -> Option<String> {
    if now.token == token {
        return None;
    }
    let now_parts: Vec<&str> = now.token.split('.').collect();
    let then: Vec<&str> = token.split('.').collect();
    let same = |at: usize| then.len() == now_parts.len() && then.get(at) == now_parts.get(at);
    Some(if then.len() != now_parts.len() {
        "This is not the preview of this workflow.".to_owned()
    } else if !same(0) {
        "The workflow itself changed.".to_owned()
    } else if !same(1) {
        "The values are other ones.".to_owned()
    } else if !same(2) {
        format!(
            "It would now touch {} files instead of {}.",
            now.outlook.files, then[2]
        )
    } else {
        "Files that it would touch changed.".to_owned()
    })
}
