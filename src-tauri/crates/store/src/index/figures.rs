//! Questions to the index. Each table is read once; medians and the like are taken over exact values.

use paddock_protocol::*;
use rusqlite::types::Value;
use rusqlite::{Connection, Params, Row, params_from_iter};
use std::collections::BTreeMap;

const DAY: u64 = 24 * 60 * 60 * 1_000;
/// Reasons of rejections that are told.
const REASONS: usize = 20;

/// The rows that a query is about: a condition on `s` (sessions) and `r` (any table with `began`), and its values.
struct Scope {
    condition: String,
    values: Vec<Value>,
}

impl Scope {
    fn of(query: &MetricsQuery, now: Timestamp) -> Scope {
        let mut parts = vec!["1".to_owned()];
        let mut values = Vec::new();
        if let Some(project) = &query.project {
            parts.push("s.project = ?".to_owned());
            values.push(Value::Text(project.clone()));
        }
        if let Some(session) = &query.session {
            // With its sub-agents.
            parts.push("(s.id = ? OR s.root = ?)".to_owned());
            values.extend([Value::Text(session.to_string()), Value::Text(session.to_string())]);
        }
        if let Some(days) = query.days {
            let since = now.0.saturating_sub(u64::from(days) * DAY);
            parts.push("r.began >= ?".to_owned());
            values.push(Value::Integer(i64::try_from(since).unwrap_or(i64::MAX)));
        }
        Scope {
            condition: parts.join(" AND "),
            values,
        }
    }

    /// Goes through the rows of a table: `columns` of `r` and `s`, `rest` after the condition.
    fn each(
        &self,
        rows: &Connection,
        columns: &str,
        table: &str,
        rest: &str,
        mut take: impl FnMut(&Row<'_>) -> rusqlite::Result<()>,
    ) -> rusqlite::Result<()> {
        let text = format!(
            "SELECT {columns} FROM {table} r JOIN sessions s ON s.key = r.session WHERE {} {rest}",
            self.condition
        );
        let mut asked = rows.prepare_cached(&text)?;
        let mut found = asked.query(self.parameters())?;
        while let Some(row) = found.next()? {
            take(row)?;
        }
        Ok(())
    }

    fn parameters(&self) -> impl Params + '_ {
        params_from_iter(self.values.iter())
    }
}

pub fn metrics(rows: &Connection, query: &MetricsQuery, now: Timestamp) -> rusqlite::Result<Metrics> {
    let scope = Scope::of(query, now);
    let mut metrics = Metrics::default();
    let mut days = Days::new();
    turns(rows, &scope, &mut metrics, &mut days)?;
    requests(rows, &scope, &mut metrics, &mut days)?;
    calls(rows, &scope, &mut metrics)?;
    approvals(rows, &scope, &mut metrics.approvals)?;
    notes(rows, &scope, &mut metrics)?;
    metrics.days = named(rows, days)?;
    Ok(metrics)
}

pub fn decisions(
    rows: &Connection,
    query: &MetricsQuery,
    limit: u32,
    now: Timestamp,
) -> rusqlite::Result<Vec<DecisionLine>> {
    let mut lines = Vec::new();
    let order = format!("ORDER BY r.at DESC, s.id DESC, r.seq DESC LIMIT {limit}");
    Scope::of(query, now).each(rows, "r.line", "decisions", &order, |row| {
        let line: String = row.get(0)?;
        lines.extend(serde_json::from_str::<DecisionLine>(&line));
        Ok(())
    })?;
    Ok(lines)
}

fn turns(rows: &Connection, scope: &Scope, metrics: &mut Metrics, days: &mut Days) -> rusqlite::Result<()> {
    let (mut active, mut waiting, mut iterations) = (Vec::new(), Vec::new(), BTreeMap::new());
    let columns = "r.began / 86400000, r.end, r.limit_hit, r.without_model, \
                   r.iterations, r.active, r.waiting";
    scope.each(rows, columns, "turns", "AND s.child = 0", |row| {
        metrics.turns += 1;
        metrics.limit_hits += row.get::<_, u32>(2)?;
        days.entry(row.get(0)?).or_default().0 += 1;
        let end: Option<String> = row.get(1)?;
        match end.as_deref() {
            Some("completed") => metrics.completed += 1,
            Some("stopped") => metrics.stopped += 1,
            Some("failed") => metrics.failed += 1,
            _ => return Ok(()),
        }
        if let (Some(used), false) = (row.get::<_, Option<u32>>(4)?, row.get::<_, bool>(3)?) {
            *iterations.entry(used).or_insert(0) += 1;
        }
        active.extend(millis(row, 5)?);
        waiting.extend(millis(row, 6)?);
        Ok(())
    })?;
    metrics.active = spread(active);
    metrics.waiting = spread(waiting);
    let count = |(iterations, turns)| IterationCount { iterations, turns };
    metrics.iterations = iterations.into_iter().map(count).collect();
    Ok(())
}

fn requests(
    rows: &Connection,
    scope: &Scope,
    metrics: &mut Metrics,
    days: &mut Days,
) -> rusqlite::Result<()> {
    let mut sources: BTreeMap<(UsageSource, String), SourceUsage> = BTreeMap::new();
    let mut all = Usage::default();
    let columns = "r.at / 86400000 AS day, s.child, r.model, count(*), \
                   sum(r.input), sum(r.cached), sum(r.output), sum(r.reasoning), max(r.estimated), \
                   sum(r.cache_write), sum(r.cost), max(r.unpriced), r.lost";
    scope.each(
        rows,
        columns,
        "requests",
        "GROUP BY day, s.child, r.model, r.lost",
        |row| {
            let source = match (row.get(12)?, row.get(1)?) {
                (true, _) => UsageSource::Retry,
                (false, true) => UsageSource::SubAgent,
                (false, false) => UsageSource::Main,
            };
            let model: String = row.get(2)?;
            let tokens = |column| {
                Ok::<_, rusqlite::Error>(u32::try_from(row.get::<_, i64>(column)?).unwrap_or(u32::MAX))
            };
            let usage = Usage {
                input: tokens(4)?,
                cached: tokens(5)?,
                output: tokens(6)?,
                reasoning: tokens(7)?,
                estimated: row.get(8)?,
                cache_write: tokens(9)?,
                cost: Micros(row.get::<_, i64>(10)?.unsigned_abs()),
                unpriced: row.get(11)?,
            };
            all.add(&usage);
            days.entry(row.get(0)?).or_default().1.add(&usage);
            let of = sources
                .entry((source, model.clone()))
                .or_insert_with(|| SourceUsage {
                    source,
                    model,
                    requests: 0,
                    usage: Usage::default(),
                });
            of.requests = of.requests.saturating_add(tokens(3)?);
            of.usage.add(&usage);
            Ok(())
        },
    )?;
    let input = f64::from(all.input) + f64::from(all.cached) + f64::from(all.cache_write);
    metrics.cache_share = (input > 0.0).then(|| f64::from(all.cached) / input);
    metrics.usage = sources.into_values().collect();
    Ok(())
}

/// What all requests since midnight, local time, have used.
pub fn spent_today(rows: &Connection) -> rusqlite::Result<Usage> {
    let total = "SELECT coalesce(sum(input), 0), coalesce(sum(cached), 0), coalesce(sum(output), 0), \
                 coalesce(sum(reasoning), 0), coalesce(max(estimated), 0), coalesce(sum(cache_write), 0), \
                 coalesce(sum(cost), 0), coalesce(max(unpriced), 0) FROM requests \
                 WHERE at >= 1000 * CAST(strftime('%s', 'now', 'localtime', 'start of day', 'utc') AS INTEGER)";
    rows.query_row(total, [], |row| {
        let tokens =
            |column| Ok::<_, rusqlite::Error>(u32::try_from(row.get::<_, i64>(column)?).unwrap_or(u32::MAX));
        Ok(Usage {
            input: tokens(0)?,
            cached: tokens(1)?,
            output: tokens(2)?,
            reasoning: tokens(3)?,
            estimated: row.get(4)?,
            cache_write: tokens(5)?,
            cost: Micros(row.get::<_, i64>(6)?.unsigned_abs()),
            unpriced: row.get(7)?,
        })
    })
}

fn calls(rows: &Connection, scope: &Scope, metrics: &mut Metrics) -> rusqlite::Result<()> {
    let mut tools: BTreeMap<String, (ToolMetrics, Vec<u64>)> = BTreeMap::new();
    let columns = "r.tool, r.ran, r.failed, r.timed_out, r.duration, r.by_rule, r.undone";
    scope.each(rows, columns, "calls", "", |row| {
        metrics.approvals.by_rule += row.get::<_, u32>(5)?;
        metrics.undone_calls += row.get::<_, u32>(6)?;
        if !row.get::<_, bool>(1)? {
            return Ok(());
        }
        let name = row.get_ref(0)?.as_str()?;
        if !tools.contains_key(name) {
            let none = ToolMetrics {
                tool: name.to_owned(),
                calls: 0,
                failed: 0,
                timed_out: 0,
                duration: Spread::default(),
            };
            tools.insert(name.to_owned(), (none, Vec::new()));
        }
        let Some((of, durations)) = tools.get_mut(name) else {
            return Ok(());
        };
        of.calls += 1;
        of.failed += row.get::<_, u32>(2)?;
        of.timed_out += row.get::<_, u32>(3)?;
        durations.extend(millis(row, 4)?);
        Ok(())
    })?;
    let whole = |(of, durations): (ToolMetrics, Vec<u64>)| ToolMetrics {
        duration: spread(durations),
        ..of
    };
    metrics.tools = tools.into_values().map(whole).collect();
    metrics.tools.sort_by(|one, other| {
        other
            .calls
            .cmp(&one.calls)
            .then_with(|| one.tool.cmp(&other.tool))
    });
    Ok(())
}

fn approvals(rows: &Connection, scope: &Scope, metrics: &mut ApprovalMetrics) -> rusqlite::Result<()> {
    let (mut times, mut reasons) = (Vec::new(), BTreeMap::new());
    let columns = "r.outcome, r.edited, r.decided, r.reason";
    scope.each(rows, columns, "approvals", "", |row| {
        metrics.asked += 1;
        match row.get::<_, Option<String>>(0)?.as_deref() {
            Some("approved") => metrics.approved += 1,
            Some("rejected") => metrics.rejected += 1,
            Some("withdrawn") => metrics.withdrawn += 1,
            _ => {}
        }
        metrics.edited += row.get::<_, u32>(1)?;
        times.extend(millis(row, 2)?);
        if let Some(reason) = row.get::<_, Option<String>>(3)? {
            *reasons.entry(reason).or_insert(0) += 1;
        }
        Ok(())
    })?;
    metrics.time_to_decide = spread(times);
    let count = |(reason, count)| ReasonCount { reason, count };
    metrics.reasons = reasons.into_iter().map(count).collect();
    metrics
        .reasons
        .sort_by_key(|reason| std::cmp::Reverse(reason.count));
    metrics.reasons.truncate(REASONS);
    Ok(())
}

fn notes(rows: &Connection, scope: &Scope, metrics: &mut Metrics) -> rusqlite::Result<()> {
    scope.each(rows, "r.kind, count(*)", "notes", "GROUP BY r.kind", |row| {
        let count: u32 = row.get(1)?;
        match row.get::<_, String>(0)?.as_str() {
            "retry" => metrics.retries = count,
            "malformed" => metrics.malformed = count,
            "guard" => metrics.guard_hits = count,
            "breaker" => metrics.breaker_hits = count,
            _ => {}
        }
        Ok(())
    })
}

/// What a day came to, by days since 1970-01-01.
type Days = BTreeMap<i64, (u32, Usage)>;

fn named(rows: &Connection, days: Days) -> rusqlite::Result<Vec<DayUsage>> {
    let mut date = rows.prepare_cached("SELECT strftime('%Y-%m-%d', ? * 86400, 'unixepoch')")?;
    let name = |(day, (turns, usage))| {
        // A day beyond the calendar is damage, and shown as such.
        let day: Option<String> = date.query_row([day], |row| row.get(0))?;
        Ok(DayUsage {
            day: day.unwrap_or_default(),
            turns,
            usage,
        })
    };
    days.into_iter().map(name).collect()
}

fn millis(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<u64>> {
    Ok(row
        .get::<_, Option<i64>>(column)?
        .map(|value| u64::try_from(value).unwrap_or(0)))
}

/// Median (mean of the two in the middle, rounded down), 90th percentile (nearest rank) and greatest.
fn spread(mut values: Vec<u64>) -> Spread {
    values.sort_unstable();
    let count = values.len();
    let Some(max) = values.last() else {
        return Spread::default();
    };
    let median = values[(count - 1) / 2].midpoint(values[count / 2]);
    let p90 = values[(count * 9).div_ceil(10) - 1];
    Spread {
        count: u32::try_from(count).unwrap_or(u32::MAX),
        median: Millis(median),
        p90: Millis(p90),
        max: Millis(*max),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spread_is_taken_over_exact_values() {
        let of = |values: &[u64]| {
            let spread = spread(values.to_vec());
            (spread.count, spread.median.0, spread.p90.0, spread.max.0)
        };
        assert_eq!(of(&[]), (0, 0, 0, 0));
        assert_eq!(of(&[7]), (1, 7, 7, 7));
        assert_eq!(of(&[9, 4]), (2, 6, 9, 9));
        assert_eq!(of(&[30, 10, 20]), (3, 20, 30, 30));
        let ten: Vec<u64> = (1..=10).rev().collect();
        assert_eq!(of(&ten), (10, 5, 9, 10));
        let eleven: Vec<u64> = (1..=11).collect();
        assert_eq!(of(&eleven), (11, 6, 10, 11));
    }
}
