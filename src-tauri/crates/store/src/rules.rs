//! Rules that outlive a session: of one project, or of all. They lie in Paddock's data and never in the project, where the
//! agent could write them.

use crate::{Home, Loaded, StoreError, disk};
use paddock_protocol::{Rule, RuleId, RuleScope, Timestamp};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

#[derive(Default, Serialize, Deserialize)]
struct Record {
    /// For a person who looks; the folder's name is what counts.
    project: String,
    rules: Vec<Rule>,
}

/// Sessions of this program change the same files.
static CHANGING: Mutex<()> = Mutex::new(());

/// The rules of a project (its canonical path) and those of all projects. A damaged file is kept aside and reported: no
/// rule is guessed.
pub fn load(home: &Home, project: &str) -> Result<Loaded<Vec<Rule>>, StoreError> {
    let of_project = read(home, project, RuleScope::Project)?;
    let of_all = read(home, project, RuleScope::Everywhere)?;
    Ok(Loaded {
        value: of_project.value.into_iter().chain(of_all.value).collect(),
        kept_aside: of_project.kept_aside.or(of_all.kept_aside),
    })
}

/// Keeps a rule durably, where its scope belongs; one with the same id is replaced. A rule that ends with its session is
/// not kept.
pub fn keep(home: &Home, project: &str, rule: Rule) -> Result<(), StoreError> {
    if !rule.scope.outlives_session() {
        return Ok(());
    }
    change(home, project, rule.scope, |rules| {
        rules.retain(|kept| kept.id != rule.id);
        rules.push(rule.clone());
        true
    })
}

/// Forgets a rule; there being none is fine.
pub fn remove(home: &Home, project: &str, id: &RuleId) -> Result<(), StoreError> {
    for scope in [RuleScope::Project, RuleScope::Everywhere] {
        change(home, project, scope, |rules| {
            let before = rules.len();
            rules.retain(|rule| rule.id != *id);
            rules.len() != before
        })?;
    }
    Ok(())
}

/// Counts that a rule decided.
pub fn used(home: &Home, project: &str, id: &RuleId, at: Timestamp) -> Result<(), StoreError> {
    for scope in [RuleScope::Project, RuleScope::Everywhere] {
        change(home, project, scope, |rules| {
            let Some(rule) = rules.iter_mut().find(|rule| rule.id == *id) else {
                return false;
            };
            rule.uses = rule.uses.saturating_add(1);
            rule.last_used = Some(at);
            true
        })?;
    }
    Ok(())
}

fn change(
    home: &Home,
    project: &str,
    scope: RuleScope,
    change: impl FnOnce(&mut Vec<Rule>) -> bool,
) -> Result<(), StoreError> {
    let _changing = CHANGING.lock().unwrap_or_else(PoisonError::into_inner);
    let mut rules = read(home, project, scope)?.value;
    if !change(&mut rules) {
        return Ok(());
    }
    let record = Record {
        project: project.to_owned(),
        rules,
    };
    disk::save(&file(home, project, scope), &record, disk::Replace::Durable)
}

fn read(home: &Home, project: &str, scope: RuleScope) -> Result<Loaded<Vec<Rule>>, StoreError> {
    let Loaded { value, kept_aside } = disk::load::<Record>(&file(home, project, scope))?;
    let rules = value
        .rules
        .into_iter()
        .filter(|rule| rule.scope == scope)
        .collect();
    Ok(Loaded {
        value: rules,
        kept_aside,
    })
}

fn file(home: &Home, project: &str, scope: RuleScope) -> PathBuf {
    let folder = if scope == RuleScope::Everywhere {
        home.path().to_owned()
    } else {
        home.project(project)
    };
    folder.join("rules.json")
}
