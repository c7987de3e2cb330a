//! `paddock run`: one turn of a session from a task to its end, and the exit code for it.

mod answers;
pub mod model;
mod prompt;
mod turn;
mod wish;
mod workflow;

pub use workflow::workflow;

use crate::arguments::Arguments;
use crate::failure::{Failure, STOPPED};
use crate::output::Output;
use crate::trace::Export;
use crate::view::style::Style;
use crate::view::text::TextView;
use crate::{home, jsonl, signals};
use paddock_core::{Paddock, SessionWish, demo_model};
use paddock_protocol::*;
use std::io::{IsTerminal, Write};
use tokio::sync::mpsc::UnboundedReceiver;
use turn::{End, Show, Turn};
use wish::{Format, Wish};

pub async fn run(arguments: &Arguments) -> Result<u8, Failure> {
    let wish = Wish::read(arguments)?;
    let paddock = home::paddock()?;
    let model = model::choose(arguments, &paddock)?;
    let interrupts = signals::listen()?;
    let mut output = Output::new();
    if !std::io::stdout().is_terminal() {
        // Nobody watches it speak.
        paddock
            .providers()
            .set_demo_pace(paddock_core::provider::ScriptPace::INSTANT);
    }
    let mut view = TextView::new(Style {
        colours: wish.format == Format::Text && output.has_colours(),
    });

    let opened = match &wish.resume {
        Some(session) => resume(&paddock, session, &wish, model.clone()).await?,
        None => begin(&paddock, arguments, &wish, model.clone()).await?,
    };
    let session = opened.snapshot.session.clone();
    let show = match wish.format {
        Format::Text => {
            view.head(&opened.snapshot.config, &mut output);
            Show::Text(view)
        }
        Format::Jsonl => {
            let earlier = jsonl::logged(&home::folder()?, &session, opened.known, opened.snapshot.seq)?;
            earlier.iter().for_each(|event| jsonl::print(event, &mut output));
            Show::Jsonl
        }
    };
    let turn = Turn {
        paddock: &paddock,
        session: session.clone(),
        events: opened.events,
        interrupts,
        answers: answers::Answers::new(wish.approve, wish.format == Format::Text),
        approvals: Vec::new(),
        unanswered: None,
        question: None,
        overdue: Vec::new(),
        workflow: opened.snapshot.workflow.is_some(),
        show,
        output,
    };
    let export = Export::begin(&paddock)?;
    let end = turn
        .finish(&opened.snapshot, opened.op, wish.more_iterations())
        .await;
    export.finish().await;
    Ok(say_end(end?, &session, arguments, wish.format))
}

/// A session with what begins its turn.
struct Opened {
    snapshot: SessionSnapshot,
    events: UnboundedReceiver<Event>,
    op: Option<Op>,
    /// Number of the last event that an earlier run could have seen.
    known: u64,
}

async fn begin(
    paddock: &Paddock,
    arguments: &Arguments,
    wish: &Wish,
    model: Option<ModelChoice>,
) -> Result<Opened, Failure> {
    let is_demo = model.as_ref() == Some(&demo_model());
    let (project, text) = match (is_demo, &wish.task) {
        (true, task) if arguments.value("--project").is_none() => {
            let root = paddock.lay_out_demo()?;
            let path = root.path().to_string_lossy().into_owned();
            let _ = writeln!(std::io::stderr(), "The sample project is in {path}");
            (path, task.clone().unwrap_or_else(|| wish::DEMO_TASK.to_owned()))
        }
        (_, Some(task)) => (arguments.project().to_owned(), task.clone()),
        (_, None) => return Err(wish::no_task()),
    };
    if model.is_none() && paddock.settings().model.is_none() {
        return Err(Failure::usage(
            "No model is chosen yet. Give --base-url and --model, or choose one in the window's settings; \
             --provider demo shows Paddock without one.",
        ));
    }
    let session_wish = SessionWish {
        model,
        role: wish.role,
        limits: wish.limits(&paddock.settings()),
        format: wish.calls,
        autonomy: None,
        done_when: wish.done_when.clone(),
        budget: wish.max_cost.map(|most| Budget {
            session: Some(most),
            ..paddock.settings().budget
        }),
    };
    let session = paddock.create_session(&project, session_wish).await?;
    let (snapshot, events) = paddock.attach(&session).await?;
    let op = Op::Send {
        text,
        mode: SendMode::NextIteration,
        images: Vec::new(),
        effort: wish.effort,
    };
    Ok(Opened {
        snapshot,
        events,
        op: Some(op),
        known: 0,
    })
}

async fn resume(
    paddock: &Paddock,
    session: &SessionId,
    wish: &Wish,
    model: Option<ModelChoice>,
) -> Result<Opened, Failure> {
    let logged = jsonl::logged(&home::folder()?, session, 0, u64::MAX)?;
    let known = logged.last().map_or(0, |event| event.seq);
    let (snapshot, events) = paddock.attach(session).await?;
    let config = &snapshot.config;
    let model = model.filter(|model| *model != config.model);
    model::is_known(paddock, model.as_ref().unwrap_or(&config.model))?;
    let op = wish::resuming(&snapshot, wish)?;
    if let Some(model) = model {
        let known = KnownModel::default();
        paddock.submit(session, Op::SetModel { model, known }).await?;
    }
    if let Some(most) = wish.max_cost {
        let budget = Budget {
            session: Some(most),
            ..config.budget.clone()
        };
        paddock.submit(session, Op::SetBudget { budget }).await?;
    }
    if let Some(format) = wish.calls.filter(|format| *format != config.format) {
        paddock.submit(session, Op::SetFormat { format }).await?;
    }
    if let Some(limits) = wish.profile.map(Limits::of) {
        paddock.submit(session, Op::SetLimits { limits }).await?;
    }
    if let Some(role) = wish.role.filter(|role| *role != config.role) {
        paddock.submit(session, Op::SetRole { role }).await?;
    }
    Ok(Opened {
        snapshot,
        events,
        op,
        known,
    })
}

/// The last words, on standard error, and the exit code.
fn say_end(end: End, session: &SessionId, arguments: &Arguments, format: Format) -> u8 {
    let mut errors = std::io::stderr();
    if let Some(sentence) = &end.sentence {
        let _ = writeln!(errors, "paddock: {}", crate::view::plain::text(sentence));
    }
    if format == Format::Text || end.code != crate::failure::COMPLETED {
        let _ = writeln!(
            errors,
            "Session {session} · go on: {}",
            wish::resume_line(session, arguments, &end)
        );
    }
    let _ = errors.flush();
    end.code
}

/// Whether somebody can be asked here.
fn has_person() -> bool {
    std::io::stdin().is_terminal() && std::io::stdout().is_terminal()
}

impl End {
    fn stopped() -> Self {
        Self {
            code: STOPPED,
            sentence: None,
            ended: true,
        }
    }
}
