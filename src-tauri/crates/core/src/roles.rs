//! Roles of one's own: TOML files that narrow a built-in role. A file can only take away from its base, a project's file
//! is off until the person has read exactly this content, and it can never be Admin.
//!
//! ```toml
//! name = "reviewer"
//! base = "plan"                                # plan, act, or in a file of the person admin
//! tools = ["read_file", "search_files"]        # left out: all tools of the base
//! prompt = "You review code. Name the line for everything you find."
//! model = "provider/model"
//!
//! [limits]
//! profile = "complex"                          # left out: standard; single limits below change it
//! iterations = 10
//! active_minutes = 5                           # 0: no limit
//! ```

use crate::workflow::parameters::model_parts;
use crate::workflow::source::{self, Found, Sort};
use crate::workflow::template::is_name;
use paddock_protocol::{
    DefinitionSource, GuardMode, LimitProfile, Limits, Millis, ModelChoice, OwnRole, ProviderId, Role,
    RoleInfo,
};
use paddock_sandbox::ProjectRoot;
use paddock_store::{Home, StoreError};
use paddock_tools::Registry;
use serde::Deserialize;

/// Bytes of the words that are added to the prompt.
const MAX_PROMPT: usize = 16 * 1024;
const BUILT_IN: &[&str] = &["plan", "act", "admin"];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawRole {
    name: String,
    base: Role,
    tools: Option<Vec<String>>,
    #[serde(default)]
    prompt: String,
    model: Option<String>,
    limits: Option<RawLimits>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawLimits {
    profile: Option<LimitProfile>,
    iterations: Option<u32>,
    active_minutes: Option<u32>,
    tool_seconds: Option<u32>,
    command_seconds: Option<u32>,
    silence_seconds: Option<u32>,
    malformed_calls: Option<u32>,
    tool_failures: Option<u32>,
    same_result: Option<u32>,
    guard: Option<GuardMode>,
    model_retries: Option<u32>,
    session_tokens: Option<u32>,
}

/// The own roles of the person and of the project. Blocking.
pub fn list(home: &Home, root: &ProjectRoot, registry: &Registry) -> Result<Vec<RoleInfo>, StoreError> {
    let mut all: Vec<RoleInfo> = Vec::new();
    for found in source::find(Sort::Role, home, root)? {
        let mut one = read(found, registry);
        if all.iter().any(|other| other.name == one.name) {
            one.problems.push(format!(
                "Another role is called `{}` already; choose another name.",
                one.name
            ));
            one.role = None;
        }
        all.push(one);
    }
    Ok(all)
}

/// The role of this name, if it may be used; why not, in a sentence, otherwise.
pub fn usable(roles: Vec<RoleInfo>, name: &str) -> Result<OwnRole, String> {
    let Some(info) = roles.into_iter().find(|info| info.name == name) else {
        return Err(format!("There is no role `{name}`."));
    };
    if let Some(problem) = info.problems.first() {
        return Err(format!("The role `{name}` cannot be used. {problem}"));
    }
    if matches!(info.source, DefinitionSource::Project { reviewed: false, .. }) {
        return Err(format!(
            "The role `{name}` is a file of the project that you have not switched on. Read it first and accept it."
        ));
    }
    info.role
        .ok_or_else(|| format!("The role `{name}` cannot be used."))
}

fn read(found: Found, registry: &Registry) -> RoleInfo {
    let mut problems = Vec::new();
    let mut name = found.stem.clone();
    let mut role = None;
    match &found.text {
        Err(why) => problems.push(why.clone()),
        Ok(text) => match toml::from_str::<RawRole>(text) {
            Err(error) => {
                let line = error
                    .span()
                    .map(|span| text[..span.start.min(text.len())].matches('\n').count() + 1);
                let words = error.message().lines().next().unwrap_or_default().to_owned();
                problems.push(match line {
                    Some(line) => format!("Line {line}: {words}."),
                    None => format!("{words}."),
                });
            }
            Ok(raw) => {
                name = raw.name.clone();
                let of_project = matches!(found.source, DefinitionSource::Project { .. });
                problems.extend(wrong(&raw, of_project, registry));
                role = Some(built(raw));
            }
        },
    }
    problems.extend(found.warnings);
    RoleInfo {
        name,
        source: found.source,
        role: role.filter(|_| problems.is_empty()),
        problems,
    }
}

fn wrong(raw: &RawRole, of_project: bool, registry: &Registry) -> Vec<String> {
    let mut problems = Vec::new();
    if !is_name(&raw.name) || BUILT_IN.contains(&raw.name.as_str()) {
        problems.push(format!(
            "`{}` cannot be its name: small letters, digits, `-` and `_`, beginning with a letter, and not plan, act or admin.",
            raw.name
        ));
    }
    if of_project && raw.base == Role::Admin {
        problems.push("A file of the project cannot be built on Admin.".to_owned());
    }
    let known = registry.names(raw.base);
    for tool in raw.tools.iter().flatten() {
        if !known.contains(&tool.as_str()) {
            problems.push(format!("There is no tool `{tool}` in the role {:?}.", raw.base));
        }
    }
    if raw.prompt.len() > MAX_PROMPT {
        problems.push(format!("`prompt` has more than {MAX_PROMPT} bytes."));
    }
    if let Some(model) = raw.model.as_ref().filter(|model| model_parts(model).is_none()) {
        problems.push(format!("`model` must be written provider/model, not `{model}`."));
    }
    let limits = limits_of(raw);
    let ceiling = Limits::ceiling(raw.base);
    if limits
        .as_ref()
        .is_some_and(|limits| limits.iterations == 0 || limits.iterations > ceiling)
    {
        problems.push(format!("`iterations` must be between 1 and {ceiling}."));
    }
    problems
}

fn built(raw: RawRole) -> OwnRole {
    let limits = limits_of(&raw);
    let model = raw.model.as_deref().and_then(model_parts);
    OwnRole {
        model: model.map(|(provider, model)| ModelChoice {
            provider: ProviderId::new(provider),
            model: model.to_owned(),
        }),
        name: raw.name,
        base: raw.base,
        tools: raw.tools,
        prompt: raw.prompt,
        limits,
    }
}

fn limits_of(raw: &RawRole) -> Option<Limits> {
    let raw = raw.limits.as_ref()?;
    let base = Limits::of(raw.profile.unwrap_or_default());
    let seconds =
        |number: Option<u32>, usual: Millis| number.map_or(usual, |number| Millis::seconds(number.into()));
    // 0 stands for no limit.
    let none_at_zero = |number: u32| (number > 0).then_some(number);
    Some(Limits {
        iterations: raw.iterations.unwrap_or(base.iterations),
        active_time: raw.active_minutes.map_or(base.active_time, |minutes| {
            none_at_zero(minutes).map(|minutes| Millis::minutes(minutes.into()))
        }),
        tool_time: seconds(raw.tool_seconds, base.tool_time),
        command_time: seconds(raw.command_seconds, base.command_time),
        malformed_calls: raw.malformed_calls.unwrap_or(base.malformed_calls),
        tool_failures: raw.tool_failures.unwrap_or(base.tool_failures),
        same_result: raw.same_result.unwrap_or(base.same_result),
        guard: raw.guard.unwrap_or(base.guard),
        model_retries: raw.model_retries.unwrap_or(base.model_retries),
        model_silence: seconds(raw.silence_seconds, base.model_silence),
        local_silence: seconds(raw.silence_seconds, base.local_silence),
        session_tokens: raw.session_tokens.map_or(base.session_tokens, none_at_zero),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Bed {
        place: tempfile::TempDir,
        home: Home,
        root: ProjectRoot,
    }

    fn bed() -> Bed {
        let place = tempfile::tempdir().unwrap();
        let home = Home::open(Some(place.path().join("home"))).unwrap();
        std::fs::create_dir_all(place.path().join("project/.paddock/roles")).unwrap();
        std::fs::create_dir_all(place.path().join("home/roles")).unwrap();
        let root = ProjectRoot::open(&place.path().join("project")).unwrap();
        Bed { place, home, root }
    }

    impl Bed {
        fn put(&self, path: &str, text: &str) {
            std::fs::write(self.place.path().join(path), text).unwrap();
        }

        fn list(&self) -> Vec<RoleInfo> {
            list(&self.home, &self.root, &Registry::new()).unwrap()
        }
    }

    #[test]
    fn a_role_of_the_person_is_read_in_full() {
        let bed = bed();
        bed.put(
            "home/roles/reviewer.toml",
            "name = \"reviewer\"\nbase = \"plan\"\ntools = [\"read_file\", \"search_files\"]\nprompt = \"Review.\"\n\
             model = \"own/big/model\"\n[limits]\nprofile = \"complex\"\niterations = 7\nactive_minutes = 0\nsession_tokens = 5000\n",
        );
        let roles = bed.list();
        assert_eq!(roles[0].problems, Vec::<String>::new());
        let role = usable(roles, "reviewer").unwrap();
        assert_eq!((role.base, role.prompt.as_str()), (Role::Plan, "Review."));
        assert!(role.has("read_file") && !role.has("list_files"));
        let model = role.model.unwrap();
        assert_eq!(
            (model.provider.as_str(), model.model.as_str()),
            ("own", "big/model")
        );
        let limits = role.limits.unwrap();
        let complex = Limits::of(LimitProfile::Complex);
        assert_eq!((limits.iterations, limits.active_time), (7, None));
        assert_eq!(
            (limits.command_time, limits.session_tokens),
            (complex.command_time, Some(5000))
        );
    }

    #[test]
    fn a_role_of_the_project_is_off_until_it_was_read_and_is_never_admin() {
        let bed = bed();
        bed.put("project/.paddock/roles/r.toml", "name = \"r\"\nbase = \"act\"\n");
        let said = usable(bed.list(), "r").unwrap_err();
        assert!(said.contains("not switched on"), "{said}");
        let DefinitionSource::Project { path, hash, .. } = bed.list()[0].source.clone() else {
            panic!()
        };
        source::review(&bed.home, &bed.root, &path, &hash, true).unwrap();
        assert_eq!(usable(bed.list(), "r").unwrap().base, Role::Act);
        bed.put(
            "project/.paddock/roles/r.toml",
            "name = \"r\"\nbase = \"admin\"\n",
        );
        let info = &bed.list()[0];
        assert_eq!(info.problems, ["A file of the project cannot be built on Admin."]);
        assert!(matches!(
            info.source,
            DefinitionSource::Project {
                changed: true,
                reviewed: false,
                ..
            }
        ));
        assert_eq!(info.role, None);
    }

    #[test]
    fn what_is_wrong_is_said() {
        let bed = bed();
        for (name, text, problem) in [
            (
                "a",
                "name = \"a\"\nbase = \"act\"\ncolour = 1\n",
                "Line 3: unknown field `colour`",
            ),
            (
                "b",
                "name = \"b\"\nbase = \"root\"\n",
                "Line 2: unknown variant `root`",
            ),
            (
                "c",
                "name = \"Act\"\nbase = \"act\"\n",
                "`Act` cannot be its name",
            ),
            (
                "d",
                "name = \"d\"\nbase = \"plan\"\ntools = [\"write_file\"]\n",
                "There is no tool `write_file` in the role Plan.",
            ),
            (
                "e",
                "name = \"e\"\nbase = \"admin\"\ntools = [\"delete_files\"]\n",
                "There is no tool `delete_files`",
            ),
            (
                "f",
                "name = \"f\"\nbase = \"act\"\nmodel = \"x\"\n",
                "`model` must be written provider/model",
            ),
            (
                "g",
                "name = \"g\"\nbase = \"act\"\n[limits]\niterations = 201\n",
                "`iterations` must be between 1 and 200.",
            ),
            (
                "h",
                "name = \"h\"\nbase = \"act\"\nprompt = \"a\u{202e}b\"\n",
                "Line 3: holds the character U+202E",
            ),
            ("i", "name = \"a\u{7}", "Line 1: "),
        ] {
            let file = format!("home/roles/{name}.toml");
            bed.put(&file, text);
            let roles = bed.list();
            assert!(
                roles[0].problems[0].starts_with(problem),
                "{:?}",
                roles[0].problems
            );
            assert!(usable(roles, name).is_err());
            std::fs::remove_file(bed.place.path().join(file)).unwrap();
        }
        bed.put("home/roles/a.toml", "name = \"same\"\nbase = \"act\"\n");
        bed.put("home/roles/b.toml", "name = \"same\"\nbase = \"act\"\n");
        let roles = bed.list();
        assert!(roles[0].problems.is_empty() && roles[1].problems[0].contains("already"));
    }
}
