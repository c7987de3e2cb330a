//! What a mass rename would do: pairs of names without a conflict, and an order in which no name is ever taken twice.

use super::Room;
use super::identity::{Found, look};
use crate::ToolError;
use crate::typed::Stop;
use paddock_sandbox::{ProjectRoot, RelativePath};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A file that would get another name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Renamed {
    pub from: String,
    pub to: String,
    /// What is at the old name; given back with the call.
    pub identity: String,
    /// Why an undo cannot take it back, in words.
    pub lost: Option<String>,
}

/// Why these names cannot be given.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RenameProblem {
    #[error("`{one}` and `{other}` would both be called `{to}`.")]
    Twice { one: String, other: String, to: String },
    #[error(
        "`{one}` and `{other}` would differ only in the case of letters, which some systems cannot hold."
    )]
    OnlyCase { one: String, other: String },
    #[error("`{from}` would be called `{to}`, which exists already.")]
    Taken { from: String, to: String },
    #[error("`{from}` would be called `{to}`, which is no name of a file.")]
    NoName { from: String, to: String },
    #[error("`{from}` is no file any more.")]
    NoFile { from: String },
}

/// Looks at each pair of old and new path; pairs of equal names are left out. Blocking.
pub fn renamed(
    root: &ProjectRoot,
    pairs: &[(RelativePath, RelativePath)],
) -> Result<Result<Vec<Renamed>, Vec<RenameProblem>>, ToolError> {
    let pairs: Vec<_> = pairs.iter().filter(|(from, to)| from != to).collect();
    let sources: BTreeSet<&RelativePath> = pairs.iter().map(|(from, _)| from).collect();
    let folded_sources: BTreeSet<String> = sources.iter().map(|path| fold(path.as_str())).collect();
    let mut problems = Vec::new();
    let mut targets: HashMap<String, (&RelativePath, &RelativePath)> = HashMap::new();
    for (from, to) in &pairs {
        let (one, to_text) = (from.to_string(), to.to_string());
        match targets.insert(fold(to.as_str()), (from, to)) {
            Some((other, same)) if same == to => problems.push(RenameProblem::Twice {
                one: other.to_string(),
                other: one.clone(),
                to: to_text.clone(),
            }),
            Some((_, similar)) => problems.push(RenameProblem::OnlyCase {
                one: similar.to_string(),
                other: to_text.clone(),
            }),
            None => {}
        }
        // A name that is given up by another file, or that is this file's own but for the case, is free.
        let given_up = sources.contains(to) || folded_sources.contains(&fold(to.as_str()));
        if !given_up && root.exists(to) {
            problems.push(RenameProblem::Taken {
                from: one,
                to: to_text,
            });
        }
    }
    let mut room = Room::new();
    let mut all = Vec::new();
    for (from, to) in &pairs {
        let looked = look(root, from, &Stop::default())?;
        let Found::File { size } = looked.found else {
            problems.push(RenameProblem::NoFile {
                from: from.to_string(),
            });
            continue;
        };
        all.push(Renamed {
            from: from.to_string(),
            to: to.to_string(),
            identity: looked.identity,
            lost: room.take(1, size, size).err(),
        });
    }
    Ok(if problems.is_empty() {
        Ok(all)
    } else {
        Err(problems)
    })
}

/// The same pairs as moves to names that are free at that moment; a ring of names goes by one temporary name.
pub fn rename_order(pairs: &[(String, String)]) -> Vec<(String, String)> {
    let mut waiting: BTreeMap<&str, &str> = pairs
        .iter()
        .map(|(from, to)| (from.as_str(), to.as_str()))
        .collect();
    let mut moves = Vec::new();
    let mut parked: Vec<(String, &str)> = Vec::new();
    let mut free: Vec<&str> = ready(&waiting);
    while !waiting.is_empty() {
        while let Some(from) = free.pop() {
            let Some(to) = waiting.remove(from) else { continue };
            moves.push((from.to_owned(), to.to_owned()));
            // Whoever waited for this name can have it.
            free.extend(waiting.iter().find(|(_, to)| **to == from).map(|(next, _)| *next));
        }
        if let Some((from, to)) = waiting.pop_first() {
            let temporary = format!("{from}.renaming");
            moves.push((from.to_owned(), temporary.clone()));
            parked.push((temporary, to));
            free.extend(waiting.iter().find(|(_, to)| **to == from).map(|(next, _)| *next));
        }
    }
    moves.extend(parked.into_iter().map(|(from, to)| (from, to.to_owned())));
    moves
}

fn ready<'a>(waiting: &BTreeMap<&'a str, &'a str>) -> Vec<&'a str> {
    waiting
        .iter()
        .filter(|(_, to)| !waiting.contains_key(**to))
        .map(|(from, _)| *from)
        .collect()
}

/// A name as systems compare it that do not tell cases apart.
pub(super) fn fold(name: &str) -> String {
    name.to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn order(pairs: &[(&str, &str)]) -> Vec<String> {
        let pairs: Vec<_> = pairs
            .iter()
            .map(|(from, to)| ((*from).to_owned(), (*to).to_owned()))
            .collect();
        rename_order(&pairs)
            .iter()
            .map(|(from, to)| format!("{from}>{to}"))
            .collect()
    }

    #[test]
    fn a_chain_goes_from_its_end_and_a_ring_by_a_temporary_name() {
        assert_eq!(
            order(&[("1", "2"), ("2", "3"), ("3", "4")]),
            ["3>4", "2>3", "1>2"]
        );
        assert_eq!(
            order(&[("a", "b"), ("b", "a")]),
            ["a>a.renaming", "b>a", "a.renaming>b"]
        );
    }

    proptest! {
        #[test]
        fn every_move_goes_to_a_free_name_and_all_arrive(targets in Just((0..8usize).collect::<Vec<_>>()).prop_shuffle(), shift in 0usize..4) {
            let pairs: Vec<(String, String)> = targets
                .iter()
                .enumerate()
                .map(|(from, to)| (from.to_string(), (to + shift).to_string()))
                .filter(|(from, to)| from != to)
                .collect();
            let mut files: BTreeMap<String, String> = pairs.iter().map(|(from, _)| (from.clone(), from.clone())).collect();
            for (from, to) in rename_order(&pairs) {
                let content = files.remove(&from).unwrap();
                prop_assert!(files.insert(to, content).is_none());
            }
            let wanted: BTreeMap<String, String> = pairs.into_iter().map(|(from, to)| (to, from)).collect();
            prop_assert_eq!(files, wanted);
        }
    }
}
