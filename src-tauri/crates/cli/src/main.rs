//! The program `paddock`: the agent in a terminal, and the parts of it that a person may want to use alone.
//!
//! A client like the window: it submits ops and folds events, and decides nothing that the core decides. It links no
//! graphics and starts in milliseconds.

mod arguments;
mod audit;
mod doctor;
mod failure;
mod home;
mod jsonl;
mod metrics;
mod models;
mod output;
mod run;
mod sandbox;
mod sessions;
mod signals;
mod tool;
mod trace;
mod view;
mod workflow;

use arguments::{Asked, RUN, SANDBOX_EXEC, SESSIONS, TOOL_CALL, TOOL_LIST};
use failure::Failure;
use std::io::Write;
use std::process::ExitCode;
use workflow::commands;

fn main() -> ExitCode {
    paddock_core::run_helper_if_asked();
    let code = match begin() {
        Ok(code) => code,
        Err(failure) => {
            let _ = writeln!(
                std::io::stderr(),
                "paddock: {}",
                view::plain::text(&failure.sentence)
            );
            failure.code
        }
    };
    ExitCode::from(code)
}

fn begin() -> Result<u8, Failure> {
    let words: Vec<String> = std::env::args_os()
        .skip(1)
        .map(|word| {
            word.into_string()
                .map_err(|word| Failure::usage(format!("The argument {word:?} is not valid UTF-8.")))
        })
        .collect::<Result<_, _>>()?;
    let (command, arguments) = match arguments::read(words)? {
        Asked::Version => {
            return Ok(output::print(&format!("paddock {}\n", env!("CARGO_PKG_VERSION"))));
        }
        Asked::Help(text) => return Ok(output::print(&text)),
        Asked::Do(command, arguments) => (command, arguments),
    };
    trace::begin()?;
    let takes_operands = !command.operands.is_empty();
    if !takes_operands && let Some(extra) = arguments.operands.first() {
        return Err(Failure::usage(format!("'{extra}' was not expected here.")));
    }
    if command.words != SANDBOX_EXEC.words
        && command.words != RUN.words
        && let Some(extra) = arguments.after.first()
    {
        return Err(Failure::usage(format!("'{extra}' was not expected here.")));
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::fault(format!("The program could not start its event loop: {error}.")))?;
    let code = runtime.block_on(async {
        match command.words {
            words if words == RUN.words => run::run(&arguments).await,
            words if words == SANDBOX_EXEC.words => sandbox::exec(&arguments).await,
            words if words == TOOL_LIST.words => tool::list(&arguments),
            words if words == TOOL_CALL.words => tool::call(&arguments).await,
            words if words == SESSIONS.words => sessions::list(&arguments),
            words if words == metrics::METRICS.words => metrics::show(&arguments),
            words if words == models::LIST.words => models::list(&arguments).await,
            words if words == models::TEST.words => models::test(&arguments).await,
            words if words == doctor::DOCTOR.words => doctor::show(&arguments).await,
            words if words == audit::EXPORT.words => audit::export(&arguments),
            words if words == commands::LIST.words => workflow::list(&arguments).await,
            words if words == commands::PREVIEW.words => workflow::preview(&arguments).await,
            words if words == commands::RUN.words => workflow::run(&arguments).await,
            words if words == commands::REVIEW.words => workflow::review(&arguments).await,
            _ => Err(Failure::usage("There is no such command. See: paddock --help")),
        }
    });
    // What still runs in the background is ended with the process.
    runtime.shutdown_background();
    code
}
