//! Rules that hold for a project. They lie in Paddock's data and never in the project, where the agent could write them.

use crate::{Home, Loaded, StoreError, disk};
use paddock_protocol::{Rule, RuleScope};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

#[derive(Default, Serialize, Deserialize)]
struct Record {
    /// For a person who looks; the folder's name is what counts.
    project: String,
    rules: Vec<Rule>,
}

/// Reads the rules of a project (its canonical path). A damaged file is kept aside and reported: no rule is guessed.
pub fn load(home: &Home, project: &str) -> Result<Loaded<Vec<Rule>>, StoreError> {
    let Loaded { value, kept_aside } = disk::load::<Record>(&file(home, project))?;
    let rules = value
        .rules
        .into_iter()
        .filter(|rule| rule.scope == RuleScope::Project)
        .collect();
    Ok(Loaded {
        value: rules,
        kept_aside,
    })
}

/// Replaces the rules of a project, durably. Rules of a narrower scope end with it and are left out.
pub fn save(home: &Home, project: &str, rules: &[Rule]) -> Result<(), StoreError> {
    let rules = rules
        .iter()
        .filter(|rule| rule.scope == RuleScope::Project)
        .cloned()
        .collect();
    disk::save(
        &file(home, project),
        &Record {
            project: project.to_owned(),
            rules,
        },
        disk::Replace::Durable,
    )
}

fn file(home: &Home, project: &str) -> PathBuf {
    home.project(project).join("rules.json")
}
