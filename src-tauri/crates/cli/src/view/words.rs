//! Short texts for numbers, states and results.

use paddock_protocol::*;

pub fn count(n: u64, one: &str) -> String {
    match n {
        1 => format!("1 {one}"),
        n => format!("{} {one}s", thousands(n)),
    }
}

pub fn thousands(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

pub fn time(time: Millis) -> String {
    match time.0 {
        ms @ 0..1_000 => format!("{ms} ms"),
        ms @ 1_000..10_000 => format!("{}.{} s", ms / 1_000, ms % 1_000 / 100),
        ms @ 10_000..120_000 => format!("{} s", ms / 1_000),
        ms => format!("{} min", ms / 60_000),
    }
}

pub fn verb(verb: Verb) -> &'static str {
    match verb {
        Verb::Read => "Read",
        Verb::List => "List",
        Verb::Search => "Search",
        Verb::Edit => "Edit",
        Verb::Create => "Create",
        Verb::Move => "Move",
        Verb::Delete => "Delete",
        Verb::Run => "Run",
        Verb::Fetch => "Fetch",
        Verb::Ask => "Ask",
        Verb::Finish => "Finish",
        Verb::Say => "Say",
        Verb::Plan => "Plan",
        Verb::Note => "Note",
        Verb::Delegate => "Delegate",
        Verb::End => "End",
        Verb::Use => "Use",
    }
}

pub fn task(task: &PlanTask) -> String {
    let mark = match task.state {
        TaskState::Open => "○",
        TaskState::Doing => "●",
        TaskState::Done => "✓",
        TaskState::Dropped => "⊘",
    };
    format!("  {mark} {}", super::plain::line(&task.text))
}

/// A workflow that begins a step or ends.
pub fn workflow(title: &str, step: u32, of: u32, end: Option<WorkflowEnd>) -> String {
    let title = super::plain::line(title);
    match end {
        None => format!("Workflow {title}, step {step} of {of}"),
        Some(WorkflowEnd::Completed) => format!("Workflow {title} is done."),
        Some(WorkflowEnd::Failed) => format!("Workflow {title} ended: step {step} of {of} failed."),
        Some(WorkflowEnd::Stopped) => format!("Workflow {title} was stopped at step {step} of {of}."),
    }
}

pub fn process_end(end: ProcessEnd) -> String {
    match end {
        ProcessEnd::Exited { code: Some(code) } => format!("ended with exit code {code}"),
        ProcessEnd::Exited { code: None } => "was ended by a signal".to_owned(),
        ProcessEnd::EndedByPerson => "was ended by you".to_owned(),
        ProcessEnd::EndedByAgent => "was ended by the agent".to_owned(),
        ProcessEnd::Closed => "ended with the session".to_owned(),
        ProcessEnd::Lost => "ended when the program was closed".to_owned(),
    }
}

/// The facts at the end of a call's line.
pub fn facts(output: &CallOutput) -> String {
    let mut facts = Vec::new();
    match &output.facts {
        Some(OutputFacts::Lines { first, last, of }) if *first > 1 || last < of => {
            facts.push(format!("lines {first} to {last} of {of}"));
        }
        Some(OutputFacts::Lines { of, .. }) => facts.push(count((*of).into(), "line")),
        Some(OutputFacts::Hits { hits, files, more }) => facts.push(format!(
            "{}{} in {}",
            count((*hits).into(), "hit"),
            if *more { " and more" } else { "" },
            count((*files).into(), "file")
        )),
        Some(OutputFacts::Entries { entries, more }) => facts.push(format!(
            "{entries} {}{}",
            if *entries == 1 { "entry" } else { "entries" },
            if *more { " and more" } else { "" }
        )),
        Some(OutputFacts::Command {
            timed_out,
            denials,
            quarantined,
            ..
        }) => {
            if *timed_out {
                facts.push("timed out".to_owned());
            }
            if !denials.is_empty() {
                facts.push("blocked by the sandbox".to_owned());
            }
            if !quarantined.is_empty() {
                facts.push(format!("moved away: {}", quarantined.join(", ")));
            }
        }
        Some(OutputFacts::Background { process }) => facts.push(format!("in the background as {process}")),
        Some(OutputFacts::Answer { .. }) | None => {}
    }
    if let Some(code) = output.exit_code {
        facts.insert(0, format!("exit {code}"));
    }
    if !output.changes.is_empty() {
        let (added, removed) = output.changes.iter().fold((0, 0), |(added, removed), change| {
            (added + change.added, removed + change.removed)
        });
        facts.push(format!("+{added} −{removed}"));
    }
    if output.duration >= Millis(1_000) {
        facts.push(time(output.duration));
    }
    facts.join(" · ")
}

/// A limit that was reached, as a sentence.
pub fn limit(reached: &LimitReached) -> String {
    let LimitReached { limit, used, allowed } = *reached;
    match limit {
        LimitKind::Iterations => format!("{used} of {allowed} iterations are used."),
        LimitKind::ActiveTime => {
            format!("The turn worked for {}, its limit.", time(Millis(allowed)))
        }
        LimitKind::SessionTokens => format!(
            "{} of {} tokens of the session are used.",
            thousands(used),
            thousands(allowed)
        ),
        LimitKind::TurnMoney => spent("this turn", used, allowed),
        LimitKind::SessionMoney => spent("the session", used, allowed),
        LimitKind::DayMoney => spent("today", used, allowed),
    }
}

fn spent(of: &str, used: u64, allowed: u64) -> String {
    format!(
        "{} of {} for {of} are spent; the next request would pass that.",
        money(Micros(used)),
        money(Micros(allowed))
    )
}

/// Dollars, with as many digits as say something.
pub fn money(amount: Micros) -> String {
    match amount.0 {
        0 => "$0".to_owned(),
        1..10_000 => format!("${:.4}", amount.0 as f64 / 1e6),
        _ => format!("${:.2}", amount.0 as f64 / 1e6),
    }
}

pub fn guard(pattern: GuardPattern) -> &'static str {
    match pattern {
        GuardPattern::SameCall => "The agent repeats the same call with the same result.",
        GuardPattern::Rotation => "The agent repeats the same few calls with the same results.",
        GuardPattern::BackAndForth => "The agent makes a change, takes it back and makes it again.",
        GuardPattern::NoProgress => {
            "The agent changed nothing and learned nothing new for several iterations."
        }
    }
}

/// Why a turn pauses, as a sentence.
pub fn pause(cause: &PauseCause) -> String {
    match cause {
        PauseCause::Person => "The turn is paused.".to_owned(),
        PauseCause::Limits { reached } => reached.iter().map(limit).collect::<Vec<_>>().join(" "),
        PauseCause::Guard { pattern } => guard(*pattern).to_owned(),
        PauseCause::Breaker { tool } => format!("{tool} failed several times in a row."),
        PauseCause::Model { error } => error.to_string(),
        PauseCause::Check { command, attempts } => {
            format!("The check `{command}` failed {attempts} times: the work is not done.")
        }
        PauseCause::Expensive { estimate, left } => format!(
            "The next request is expected to cost {} of the {} that are left.",
            money(*estimate),
            money(*left)
        ),
    }
}

pub fn role(role: Role) -> &'static str {
    match role {
        Role::Plan => "plan",
        Role::Act => "act",
        Role::Admin => "admin",
    }
}

/// State of a session's newest turn, for lists.
pub fn status(status: Option<&TurnStatus>) -> &'static str {
    match status {
        None => "new",
        Some(TurnStatus::Starting | TurnStatus::Thinking | TurnStatus::UsingTools) => "working",
        Some(TurnStatus::MakingRoom | TurnStatus::FinishingUp | TurnStatus::Pausing) => "working",
        Some(TurnStatus::WaitingToRetry { .. }) => "retrying",
        Some(TurnStatus::WaitingForApproval) => "approval",
        Some(TurnStatus::WaitingForAnswer) => "question",
        Some(TurnStatus::Paused { .. }) => "paused",
        Some(TurnStatus::Completed) => "completed",
        Some(TurnStatus::Stopped) => "stopped",
        Some(TurnStatus::Failed) => "failed",
        Some(TurnStatus::Interrupted) => "interrupted",
    }
}

/// What a turn came to, one line.
pub fn report(report: &TurnReport) -> String {
    let end = match report.end {
        TurnEnd::Completed => "Completed",
        TurnEnd::Stopped => "Stopped",
        TurnEnd::Failed => "Failed",
    };
    format!(
        "{end}: {}, {}, {} changed, {}, {}{} tokens",
        count(report.iterations.into(), "iteration"),
        count(report.calls.into(), "call"),
        count(report.files_changed.into(), "file"),
        time(report.active),
        if report.usage.estimated { "about " } else { "" },
        thousands(report.usage.total())
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(thousands(1_234_567), "1 234 567");
        assert_eq!(thousands(999), "999");
        assert_eq!(count(1, "file"), "1 file");
        assert_eq!(time(Millis(1_250)), "1.2 s");
        assert_eq!(time(Millis(119_999)), "119 s");
    }

    #[test]
    fn the_facts_of_a_command_say_how_it_ended() {
        let output = CallOutput {
            exit_code: Some(1),
            duration: Millis(2_400),
            facts: Some(OutputFacts::Command {
                sandbox: "full".into(),
                timed_out: false,
                denials: vec!["no network".into()],
                quarantined: vec![],
            }),
            ..CallOutput::default()
        };
        assert_eq!(facts(&output), "exit 1 · blocked by the sandbox · 2.4 s");
    }
}
