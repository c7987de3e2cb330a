//! The loop guard's memory of a turn: which call gave which result, and what was said about it.

use paddock_protocol::*;
use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};

#[derive(Clone, Debug, Default)]
pub struct GuardRecord {
    seen: Vec<Seen>,
    told: BTreeSet<u8>,
    allowed: BTreeSet<u8>,
}

#[derive(Clone, Debug)]
struct Seen {
    iteration: u32,
    call: CallId,
    /// Tool and arguments.
    question: u64,
    result: u64,
    /// Hash of the content before and after, for edits.
    change: Option<(u64, u64)>,
    changed: bool,
}

/// A repetition, with the calls that show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repetition {
    pub pattern: GuardPattern,
    pub calls: Vec<CallId>,
    /// The model was told of it already.
    pub told: bool,
}

/// Iterations without a change and without anything new.
const NO_PROGRESS_ITERATIONS: u32 = 8;

fn key(pattern: GuardPattern) -> u8 {
    pattern as u8
}

fn hash(parts: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    parts.hash(&mut hasher);
    hasher.finish()
}

impl GuardRecord {
    pub fn record(&mut self, iteration: u32, call: &CallItem, output: &CallOutput) {
        let arguments = call
            .verdict
            .as_ref()
            .and_then(|v| v.edited_arguments.as_ref())
            .unwrap_or(&call.arguments);
        let canonical = serde_json::from_str::<serde_json::Value>(arguments)
            .map_or_else(|_| arguments.clone(), |v| v.to_string());
        let change = output.changes.first().map(|change| {
            let lines = |mark: DiffMark| {
                let hunks = change
                    .diff
                    .iter()
                    .flat_map(|diff| &diff.hunks)
                    .flat_map(|hunk| &hunk.lines);
                hash((
                    &change.path,
                    hunks
                        .filter(|line| line.mark == mark)
                        .map(|line| &line.text)
                        .collect::<Vec<_>>(),
                ))
            };
            (lines(DiffMark::Removed), lines(DiffMark::Added))
        });
        self.seen.push(Seen {
            iteration,
            call: call.call.clone(),
            question: hash((&call.tool, canonical)),
            result: hash((&output.text, output.exit_code)),
            change,
            changed: !output.changes.is_empty(),
        });
    }

    pub fn told(&mut self, pattern: GuardPattern) {
        self.told.insert(key(pattern));
    }

    pub fn allow(&mut self, pattern: GuardPattern) {
        self.allowed.insert(key(pattern));
    }

    /// The repetition that the calls of `iteration` have brought about, the plainest first.
    pub fn repetition(&self, iteration: u32, same_result: u32) -> Option<Repetition> {
        let fresh = self.seen.iter().filter(|seen| seen.iteration == iteration);
        let found = fresh
            .clone()
            .find_map(|seen| self.same_call(seen, same_result as usize))
            .or_else(|| self.rotation(iteration, same_result as usize))
            .or_else(|| fresh.clone().find_map(|seen| self.back_and_forth(seen)))
            .or_else(|| self.no_progress(iteration));
        let (pattern, calls) = found?;
        (!self.allowed.contains(&key(pattern))).then(|| Repetition {
            pattern,
            calls,
            told: self.told.contains(&key(pattern)),
        })
    }

    fn same_call(&self, fresh: &Seen, times: usize) -> Option<(GuardPattern, Vec<CallId>)> {
        let same: Vec<CallId> = self
            .seen
            .iter()
            .filter(|seen| seen.question == fresh.question && seen.result == fresh.result)
            .map(|seen| seen.call.clone())
            .collect();
        (same.len() >= times).then_some((GuardPattern::SameCall, same))
    }

    /// The last calls are two or three in rotation, `times` rounds, each with the same result in every round.
    fn rotation(&self, iteration: u32, times: usize) -> Option<(GuardPattern, Vec<CallId>)> {
        self.seen.last().filter(|seen| seen.iteration == iteration)?;
        [2, 3].into_iter().find_map(|length| {
            let tail = self
                .seen
                .len()
                .checked_sub(length * times)
                .map(|from| &self.seen[from..])?;
            let first = &tail[..length];
            let repeats = tail.chunks(length).all(|round| {
                round
                    .iter()
                    .zip(first)
                    .all(|(a, b)| a.question == b.question && a.result == b.result)
            });
            repeats.then(|| {
                (
                    GuardPattern::Rotation,
                    tail.iter().map(|seen| seen.call.clone()).collect(),
                )
            })
        })
    }

    fn back_and_forth(&self, fresh: &Seen) -> Option<(GuardPattern, Vec<CallId>)> {
        let (before, after) = fresh.change.filter(|(before, after)| before != after)?;
        let of_kind = |change: (u64, u64)| {
            self.seen
                .iter()
                .filter(move |seen| seen.change == Some(change))
                .map(|seen| seen.call.clone())
        };
        let done: Vec<CallId> = of_kind((before, after)).collect();
        let undone: Vec<CallId> = of_kind((after, before)).collect();
        (done.len() >= 2 && !undone.is_empty()).then(|| {
            (
                GuardPattern::BackAndForth,
                done.into_iter().chain(undone).collect(),
            )
        })
    }

    fn no_progress(&self, iteration: u32) -> Option<(GuardPattern, Vec<CallId>)> {
        let from = iteration.checked_sub(NO_PROGRESS_ITERATIONS - 1)?;
        let (late, early): (Vec<&Seen>, Vec<&Seen>) =
            self.seen.iter().partition(|seen| seen.iteration >= from);
        let nothing_new = late.iter().all(|seen| {
            !seen.changed
                && early
                    .iter()
                    .any(|e| e.question == seen.question && e.result == seen.result)
        });
        let spans = (from..=iteration).all(|i| late.iter().any(|seen| seen.iteration == i));
        (nothing_new && spans).then(|| {
            (
                GuardPattern::NoProgress,
                late.iter().map(|seen| seen.call.clone()).collect(),
            )
        })
    }
}
