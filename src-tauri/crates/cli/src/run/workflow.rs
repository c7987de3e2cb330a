//! The run of a workflow, followed like a turn to the end of its last step.

use super::answers::Answers;
use super::turn::{Show, Turn};
use super::wish::{Format, Wish};
use super::{model, say_end};
use crate::arguments::Arguments;
use crate::failure::Failure;
use crate::output::Output;
use crate::signals;
use crate::trace::Export;
use crate::view::style::Style;
use crate::view::text::TextView;
use paddock_core::{Paddock, SessionWish, demo_model};
use paddock_protocol::*;

/// Runs exactly what was previewed, in a session of its own. A workflow that asks no model needs none.
pub async fn workflow(
    paddock: &Paddock,
    arguments: &Arguments,
    preview: WorkflowPreview,
    values: ParameterValues,
) -> Result<u8, Failure> {
    let wish = Wish::read(arguments)?;
    let mut model = model::choose(arguments, paddock)?;
    if model.is_none() && paddock.settings().model.is_none() && preview.model_steps == 0 {
        model = Some(demo_model());
    }
    let interrupts = signals::listen()?;
    let session_wish = SessionWish {
        model,
        ..SessionWish::default()
    };
    let session = paddock.create_session(arguments.project(), session_wish).await?;
    let export = Export::begin(paddock)?;
    let (snapshot, events) = paddock.attach(&session).await?;
    let request = Request::RunWorkflow {
        session: session.clone(),
        name: preview.name,
        values,
        token: preview.token,
    };
    if let Err(error) = paddock.request(request).await {
        // Nothing has happened in it.
        let _ = paddock.request(Request::DeleteSession { session }).await;
        return Err(error.into());
    }
    let mut output = Output::new();
    let for_people = wish.format == Format::Text;
    let mut view = TextView::new(Style {
        colours: for_people && output.has_colours(),
    });
    let show = match wish.format {
        Format::Text => {
            if preview.model_steps > 0 {
                view.head(&snapshot.config, &mut output);
            }
            Show::Text(view)
        }
        Format::Jsonl => Show::Jsonl,
    };
    let turn = Turn {
        paddock,
        session: session.clone(),
        events,
        interrupts,
        answers: Answers::new(wish.approve, for_people),
        approvals: Vec::new(),
        unanswered: None,
        question: None,
        overdue: Vec::new(),
        workflow: true,
        show,
        output,
    };
    let end = turn.finish(&snapshot, None, None).await;
    export.finish().await;
    Ok(say_end(end?, &session, arguments, wish.format))
}
