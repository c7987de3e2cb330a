//! Sentences that go to the model. Fixed forms, so that a prompt can be compared with the one before.

use paddock_protocol::*;
use paddock_provider::Reminder;

pub fn malformed(reason: &str, format: CallFormat, tries_left: u32) -> String {
    format!(
        "Could not read the tool call: {reason}. Nothing was run. Send it as {}. {tries_left} tries left.",
        paddock_provider::form(format)
    )
}

pub fn unknown_tool(name: &str, tools: &[&str], tries_left: u32) -> String {
    format!(
        "Could not read the tool call: there is no tool named '{name}'. Nothing was run. Tools: {}. {tries_left} tries left.",
        tools.join(", ")
    )
}

pub fn no_such_tool(name: &str) -> String {
    format!("Not run: there is no tool named '{name}'.")
}

pub fn failed(tool: &str, what: &str, tries_left: u32) -> String {
    format!(
        "Tool '{tool}' failed: {what}. {tries_left} tries left. Try another way or ask.",
        what = what.trim_end_matches('.')
    )
}

pub fn timed_out(tool: &str, limit: Millis) -> String {
    format!(
        "Tool '{tool}' did not end within {} s. Try a smaller step.",
        limit.0.div_ceil(1_000)
    )
}

pub fn overdue(tool: &str, limit: Millis) -> String {
    format!(
        "Tool '{tool}' did not end within {} s and was ended. Try a smaller step, or run it in the background.",
        limit.0.div_ceil(1_000)
    )
}

pub fn not_in_role(tool: &str, role: &str) -> String {
    format!("Not run: '{tool}' does not exist in the role '{role}'. Use another tool, or ask.")
}

pub fn too_many_sub_agents(cap: u32) -> String {
    format!("Not run: a turn may start at most {cap} sub-agents. Do the rest yourself.")
}

pub const DELEGATE_READ_ONLY: &str = "Not run: sub-agents may only look in this role. Delegate without `writes`, and make the changes yourself.";
pub const SUB_AGENT_PROMPT: &str = "You work for another agent, not for a person: nobody answers questions. Do the one task you are given, within your iterations. End with `task_completion`, whose result says all that the other agent needs: findings with file names and lines, what was done, what is open.";
pub const ROLE_ENDED_SUB_AGENT: &str =
    "Ended: the user changed the role, and it allows no sub-agent that writes.";
pub const PLAN_KEPT: &str = "The task list is shown to the user.";
pub const YES: &str = "Yes";
pub const NO: &str = "No";
pub const INTERRUPTED_BEFORE: &str = "Not run: the user interrupted with a message.";
pub const INTERRUPTED: &str = "Ended by the user, who interrupted with a message.";

pub fn process_ended(process: &Process, end: ProcessEnd) -> String {
    let how = match end {
        ProcessEnd::Exited { code: Some(code) } => format!("ended with exit code {code}"),
        ProcessEnd::Exited { code: None } => "was ended by a signal".to_owned(),
        ProcessEnd::EndedByPerson => "was ended by the user".to_owned(),
        ProcessEnd::EndedByAgent => "was ended as you asked".to_owned(),
        ProcessEnd::Closed => "ended because the session was closed".to_owned(),
        ProcessEnd::Lost => "ended when the program was closed".to_owned(),
    };
    format!(
        "The background process {} ({}) {how}.",
        process.id, process.command
    )
}

pub fn workflow_step(title: &str, step: u32, of: u32) -> String {
    format!("(The user runs the workflow \"{title}\", step {step} of {of}.)")
}

pub fn workflow_call(call: &CallItem) -> String {
    let result = call
        .output
        .as_ref()
        .map(|output| output.text.as_str())
        .unwrap_or_default();
    format!("It ran {} without you: {}\n{result}", call.tool, call.target)
}

pub fn rejected(reason: Option<&str>) -> String {
    match reason.map(str::trim).filter(|reason| !reason.is_empty()) {
        Some(reason) => format!("The user rejected this call and says: {reason}"),
        None => "Rejected without a reason; do not repeat this call.".to_owned(),
    }
}

pub fn edited(arguments: &str) -> String {
    format!("The user edited this call before approving it. It ran with: {arguments}\n")
}

pub fn not_allowed_more(reason: Option<&str>) -> String {
    match reason.map(str::trim).filter(|reason| !reason.is_empty()) {
        Some(reason) => format!("The user did not allow more and says: {reason}"),
        None => "The sandbox refused a place outside of the project, and the user did not allow it. Work without it.".to_owned(),
    }
}

pub const RAN_AGAIN: &str =
    "(The user allowed what the sandbox had refused; the command ran a second time.)\n";

pub fn with_note(text: &str, note: &str) -> String {
    if text.is_empty() {
        note.to_owned()
    } else {
        format!("{}\n{note}", text.trim_end())
    }
}

/// What a check of the person came to, told after the answer that it followed.
pub fn check(call: &CallItem, check: CheckRun) -> Option<String> {
    let output = call.output.as_ref()?;
    let command = &call.target;
    Some(if output.ok {
        format!("The check `{command}` passed.")
    } else {
        format!(
            "The check `{command}`, which the user set, failed ({} of {}). The work is not done until it passes.\n{}",
            check.attempt,
            check.of,
            output.text.trim_end()
        )
    })
}

pub const STOPPED_BEFORE: &str = "Not run: the user stopped the turn.";
pub const STOPPED_DURING: &str = "Stopped by the user while it ran.";
pub const ENDED: &str = "Ended by the user.";
pub const OUTCOME_UNKNOWN: &str = "The program was closed while this call ran. Its outcome is unknown; it was not run again. Check before you go on.";
pub const NOT_REACHED: &str = "Not run: the iteration ended with the call before it.";
pub const SKIPPED_QUESTION: &str = "The user skipped the question: decide yourself.";
pub const EMPTY_ANSWER: &str = "the answer held neither text nor a tool call";
pub const CUT_ANSWER: &str = "the answer was cut at the output limit; go on in smaller parts";
pub const FINISH_UP: &str =
    "No tools are left in this turn. Say in a few sentences what is done and what is still open.";

/// What is added to a request from 80 % of the iterations on, and at the last three.
pub fn remaining(iteration: u32, limit: u32) -> Option<String> {
    let left = limit.saturating_sub(iteration);
    let near = iteration * 5 >= limit * 4 || left < 3;
    near.then(|| match left {
        0 => "This is the last iteration of this turn. Finish, or say what is still open.".to_owned(),
        1 => "1 iteration remains after this one.".to_owned(),
        left => format!("{left} iterations remain after this one."),
    })
}

/// The end of a request with results, for a model with a small window.
/// The words of the person once more, and what is next.
pub fn reminder(asked: &str, reminder: Reminder) -> String {
    let next = match reminder {
        Reminder::GoOn => "If this is all done, call task_completion. If not, send the next call.",
        Reminder::Unchanged => {
            "Nothing was changed yet. If the task asks for a change, make it now; else read what is missing."
        }
        Reminder::UnchangedMayEnd => {
            "Nothing was changed yet. If the task asks for a change, make it now; else read what is missing or call task_completion."
        }
    };
    format!("The task is: {asked}\n{next}")
}

pub fn guard(pattern: GuardPattern) -> &'static str {
    match pattern {
        GuardPattern::SameCall => {
            "You made the same call with the same result several times. Do something else, or ask."
        }
        GuardPattern::Rotation => {
            "You repeat the same few calls with the same results. Do something else, or ask."
        }
        GuardPattern::BackAndForth => {
            "You made a change, took it back and made it again. Decide for one, or ask."
        }
        GuardPattern::NoProgress => {
            "Nothing was changed and nothing new was learned for several iterations. Act, or ask."
        }
    }
}

pub fn malformed_note(reason: &str, tries_left: u32) -> String {
    format!("Your last answer could not be used: {reason}. {tries_left} tries left.")
}

pub fn undone(redo: bool, call: &CallId, files: &[UndoneFile]) -> String {
    let did = if redo { "made again" } else { "took back" };
    let names: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
    format!(
        "The user {did} the changes of call {call}: {}. Read the files again before you change them.",
        names.join(", ")
    )
}

pub const STOPPED_TURN: &str = "(The user stopped the turn here.)";

pub fn role_changed(to: Role, own: Option<&str>) -> String {
    let may = match to {
        Role::Plan => "You may only look now: plan, do not change anything.",
        Role::Act => "You may change files and run commands now; the user is asked where needed.",
        Role::Admin => "You may use all tools now.",
    };
    let name = own.map_or_else(|| format!("{to:?}"), str::to_owned);
    format!("The user changed your role to {name}. {may}")
}

/// For the person: what gives a model a larger window. Chat Completions cannot ask for one.
pub fn larger_window(local: bool) -> &'static str {
    if local {
        "Start the server with a larger context (llama.cpp: -c 32768; Ollama: OLLAMA_CONTEXT_LENGTH=32768, or PARAMETER num_ctx 32768 in a Modelfile; LM Studio: context length of the loaded model)."
    } else {
        "Choose a model with a larger window, or set its window in the settings to what its server gives it."
    }
}
