//! `paddock metrics`: what was watched, as text or JSON.

use crate::arguments::{Arguments, Command, Flag, PROJECT, flag, switch};
use crate::audit::query;
use crate::failure::Failure;
use crate::home;
use crate::view::plain;
use crate::view::words::{count, money, thousands, time};
use paddock_protocol::*;
use std::fmt::Write;

pub const METRICS: Command = Command {
    words: &["metrics"],
    about: "Show figures: turns, tools, approvals, tokens, money",
    operands: "",
    flags: &[
        Flag {
            help: "only turns in this folder (default: all)",
            ..PROJECT
        },
        flag(
            "--session",
            "ID",
            "only turns of this session, with its sub-agents",
        ),
        flag("--days", "N", "only turns that began in the last N days"),
        switch("--json", "as one JSON object"),
    ],
    notes:
        "\
Times and counts are exact and stay on this computer. Sub-agents are counted with their tools, approvals and
tokens, not as turns of their own. A call is failed when its result says so, a command also by its exit code.",
};

/// Wide enough for a bar that can be compared, narrow enough for any terminal.
const BAR: u32 = 30;
const REASONS: usize = 5;

pub fn show(arguments: &Arguments) -> Result<u8, Failure> {
    let query = query(arguments)?;
    let metrics = paddock_core::metrics::metrics(&home::folder()?, &query)
        .map_err(|error| Failure::fault(format!("The figures could not be read: {error}.")))?;
    let text = if arguments.has("--json") {
        serde_json::to_string(&metrics).unwrap_or_default() + "\n"
    } else if metrics.turns == 0 && metrics.usage.is_empty() {
        "No turns yet. Begin one: paddock run \"explain how this project is built\"\n".to_owned()
    } else {
        text(&metrics)
    };
    Ok(crate::output::print(&text))
}

fn text(metrics: &Metrics) -> String {
    let mut text = String::new();
    turns(&mut text, metrics);
    tools(&mut text, &metrics.tools);
    approvals(&mut text, &metrics.approvals);
    let noticed = [
        ("retries", metrics.retries),
        ("unreadable calls", metrics.malformed),
        ("loop guard", metrics.guard_hits),
        ("tool breaker", metrics.breaker_hits),
        ("undone calls", metrics.undone_calls),
    ];
    let noticed: Vec<String> = noticed.map(|(name, n)| format!("{name} {n}")).into();
    let _ = writeln!(text, "Noticed     {}", noticed.join(" · "));
    tokens(&mut text, metrics);
    text
}

fn turns(text: &mut String, metrics: &Metrics) {
    let _ = writeln!(
        text,
        "Turns       {} · completed {} · stopped {} · failed {} · paused at the iteration limit {}",
        metrics.turns, metrics.completed, metrics.stopped, metrics.failed, metrics.limit_hits
    );
    let _ = writeln!(text, "Working     {}", spread(&metrics.active));
    let _ = writeln!(text, "Waiting     {}", spread(&metrics.waiting));
    let most = metrics
        .iterations
        .iter()
        .map(|of| of.turns)
        .max()
        .unwrap_or(0)
        .max(1);
    for (at, of) in metrics.iterations.iter().enumerate() {
        let title = if at == 0 { "Iterations" } else { "" };
        let bar = "█".repeat((of.turns * BAR).div_ceil(most) as usize);
        let _ = writeln!(
            text,
            "{title:<11} {:>3} {bar} {}",
            of.iterations,
            count(of.turns.into(), "turn")
        );
    }
}

fn tools(text: &mut String, tools: &[ToolMetrics]) {
    if tools.is_empty() {
        return;
    }
    let _ = writeln!(
        text,
        "\nTools                     calls   failed  timed out    median       90 %   longest"
    );
    for of in tools {
        let _ = writeln!(
            text,
            "  {:<22} {:>6} {:>8} {:>10} {:>9} {:>10} {:>9}",
            plain::short(&of.tool, 22),
            of.calls,
            of.failed,
            of.timed_out,
            time(of.duration.median),
            time(of.duration.p90),
            time(of.duration.max)
        );
    }
    text.push('\n');
}

fn approvals(text: &mut String, of: &ApprovalMetrics) {
    let _ = writeln!(
        text,
        "Approvals   asked {} · approved {} (edited {}) · rejected {} · withdrawn {} · let through by a rule {}",
        of.asked, of.approved, of.edited, of.rejected, of.withdrawn, of.by_rule
    );
    if of.time_to_decide.count > 0 {
        let _ = writeln!(text, "Decided in  {}", spread(&of.time_to_decide));
    }
    for (at, reason) in of.reasons.iter().take(REASONS).enumerate() {
        let title = if at == 0 { "Rejected" } else { "" };
        let _ = writeln!(
            text,
            "{title:<11} {} × {}",
            reason.count,
            plain::short(&reason.reason, 80)
        );
    }
}

fn tokens(text: &mut String, metrics: &Metrics) {
    if metrics.usage.is_empty() {
        return;
    }
    let _ = writeln!(
        text,
        "\nTokens                              requests       input      cached      output   reasoning               cost"
    );
    for of in &metrics.usage {
        let source = match of.source {
            UsageSource::Main => "",
            UsageSource::SubAgent => " (sub-agents)",
            UsageSource::Retry => " (retries)",
        };
        let about = if of.usage.estimated { " ≈" } else { "" };
        let _ = writeln!(
            text,
            "  {:<33} {:>8} {:>11} {:>11} {:>11} {:>11} {:>18}{about}",
            plain::short(&format!("{}{source}", of.model), 33),
            thousands(of.requests.into()),
            thousands(of.usage.input.into()),
            thousands(of.usage.cached.into()),
            thousands(of.usage.output.into()),
            thousands(of.usage.reasoning.into()),
            cost(&of.usage)
        );
    }
    let mut all = Usage::default();
    metrics.usage.iter().for_each(|of| all.add(&of.usage));
    if all.cost.0 > 0 {
        let _ = writeln!(
            text,
            "  {} in all, estimated from a price list{}",
            cost(&all),
            if all.unpriced {
                "; a part has no known price"
            } else {
                ""
            }
        );
    }
    if let Some(share) = metrics.cache_share {
        let _ = writeln!(
            text,
            "  {:.0} % of the input came from the provider's cache",
            share * 100.0
        );
    }
    let _ = writeln!(text, "\nDays             turns      tokens               cost");
    for day in &metrics.days {
        let _ = writeln!(
            text,
            "  {:<12} {:>7} {:>11} {:>18}",
            day.day,
            day.turns,
            thousands(day.usage.total()),
            cost(&day.usage)
        );
    }
}

/// What some usage has cost; a price that is not known is never nothing.
fn cost(usage: &Usage) -> String {
    match (usage.unpriced, usage.cost) {
        _ if usage.total() == 0 => "–".to_owned(),
        (true, Micros(0)) => "unknown".to_owned(),
        (true, known) => format!("at least {}", money(known)),
        (false, Micros(0)) => "no cost".to_owned(),
        (false, all) => money(all),
    }
}

fn spread(of: &Spread) -> String {
    if of.count == 0 {
        return "–".to_owned();
    }
    format!(
        "median {} · 90 % {} · longest {}",
        time(of.median),
        time(of.p90),
        time(of.max)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(cost: u64, unpriced: bool) -> Usage {
        Usage {
            input: 1_000,
            cost: Micros(cost),
            unpriced,
            ..Usage::default()
        }
    }

    fn of(model: &str, usage: Usage) -> SourceUsage {
        SourceUsage {
            source: UsageSource::Main,
            model: model.into(),
            requests: 1,
            usage,
        }
    }

    #[test]
    fn money_stands_beside_the_tokens_and_unknown_is_not_nothing() {
        let metrics = Metrics {
            usage: vec![
                of("a/dear", usage(1_300_000, false)),
                of("b/partly", usage(20_000, true)),
                of("c/strange", usage(0, true)),
                of("d/own", usage(0, false)),
            ],
            days: vec![DayUsage {
                day: "2026-11-20".into(),
                turns: 2,
                usage: usage(1_320_000, true),
            }],
            ..Metrics::default()
        };
        let text = super::text(&metrics);
        let line = |of: &str| text.lines().find(|line| line.contains(of)).unwrap_or_default();
        for (name, ends) in [
            ("a/dear", "$1.30"),
            ("b/partly", "at least $0.02"),
            ("c/strange", "unknown"),
            ("d/own", "no cost"),
            ("2026-11-20", "at least $1.32"),
        ] {
            assert!(line(name).trim_end().ends_with(ends), "{}", line(name));
        }
        assert!(line("in all").contains("at least $1.32 in all"), "{text}");
        assert!(line("in all").contains("a part has no known price"));
    }
}
