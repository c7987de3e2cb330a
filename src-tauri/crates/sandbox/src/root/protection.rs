//! Names that a change must not slip by: what runs later outside of the sandbox, what steers the agent, what holds secrets.
//! One list for the file access and for confined commands. Pure text: the file access asks it about the place an access
//! really ends at, not only about the argument.

use serde::{Deserialize, Serialize};

/// What kind of protected thing a path is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProtectionKind {
    GitInternals,
    PaddockSettings,
    AgentInstructions,
    LoginScript,
    EditorTasks,
    SecretFile,
}

/// A protected path: its kind and the name that made it so.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Protection {
    pub kind: ProtectionKind,
    /// The name in the path that matched, as it was spelled.
    pub name: String,
}

impl Protection {
    /// One plain sentence part about why it is protected.
    pub fn sentence(&self) -> &'static str {
        match self.kind {
            ProtectionKind::GitInternals => {
                "it belongs to the internals of git, where programs and settings can hide"
            }
            ProtectionKind::PaddockSettings => "it belongs to Paddock's settings of this project",
            ProtectionKind::AgentInstructions => "it tells agents how to behave",
            ProtectionKind::LoginScript => "it runs when someone logs in",
            ProtectionKind::EditorTasks => "editors and shells run what is in it",
            ProtectionKind::SecretFile => "it looks like a file with passwords or keys",
        }
    }
}

const AGENT_FILES: &[&str] = &[
    "agents.md",
    "agents.override.md",
    "claude.md",
    "claude.local.md",
    "gemini.md",
    "soul.md",
    "memory.md",
    "skill.md",
    "copilot-instructions.md",
    ".cursorrules",
    ".windsurfrules",
    ".clinerules",
    ".goosehints",
    ".mcp.json",
];
const AGENT_FOLDERS: &[&str] = &[".agents", ".claude", ".codex", ".cursor", ".gemini", ".windsurf"];
const LOGIN_FILES: &[&str] = &[
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".kshrc",
    ".cshrc",
    ".tcshrc",
    ".xprofile",
    ".xinitrc",
    ".xsessionrc",
    "config.fish",
];
/// Folders whose content editors or shells run; also read-only for confined commands.
pub(crate) const EDITOR_NAMES: &[&str] = &[".vscode", ".idea", ".envrc", ".zed", ".devcontainer"];
const SECRET_FOLDERS: &[&str] = &[".aws", ".ssh", ".gnupg", ".kube", ".azure"];
const SECRET_FILES: &[&str] = &[
    ".env",
    "credentials",
    "credentials.json",
    ".credentials",
    ".npmrc",
    ".netrc",
    "_netrc",
    ".pypirc",
    ".pgpass",
    ".git-credentials",
    ".dockercfg",
    ".htpasswd",
    ".vault-token",
    "secrets.json",
    "secrets.toml",
    "secrets.yaml",
    "secrets.yml",
];
const SECRET_ENDINGS: &[&str] = &[
    ".pem",
    ".key",
    ".p12",
    ".pfx",
    ".keystore",
    ".jks",
    ".kdbx",
    ".ppk",
];
const SECRET_STARTS: &[&str] = &["id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"];
const ENV_SAMPLES: &[&str] = &[
    ".env.example",
    ".env.sample",
    ".env.template",
    ".env.dist",
    ".env.defaults",
    ".env.test.example",
];

/// The protection of a path given as names from the project down, the strictest kind first.
pub(crate) fn protection_of<'a>(names: impl Iterator<Item = &'a str>) -> Option<Protection> {
    // A name with a backslash is one name here and two on Windows, where the project may be checked out next.
    let names: Vec<(&str, String)> = names
        .flat_map(|name| name.split('\\'))
        .map(|name| (name, fold(name)))
        .filter(|(_, f)| !f.is_empty())
        .collect();
    let last = names.len().checked_sub(1)?;
    let find = |kind, test: &dyn Fn(usize, &str) -> bool| {
        let (spelled, _) = names
            .iter()
            .enumerate()
            .find(|(at, (_, folded))| test(*at, folded))?
            .1;
        Some(Protection {
            kind,
            name: (*spelled).to_owned(),
        })
    };
    find(ProtectionKind::GitInternals, &|_, name| is_name(name, ".git"))
        .or_else(|| {
            find(ProtectionKind::PaddockSettings, &|at, name| {
                at == 0 && is_name(name, ".paddock")
            })
        })
        .or_else(|| {
            find(ProtectionKind::SecretFile, &|at, name| {
                is_one_of(name, SECRET_FOLDERS) || at == last && is_secret(name)
            })
        })
        .or_else(|| {
            find(ProtectionKind::AgentInstructions, &|at, name| {
                is_one_of(name, AGENT_FOLDERS) || at == last && is_one_of(name, AGENT_FILES)
            })
        })
        .or_else(|| {
            find(ProtectionKind::LoginScript, &|at, name| {
                at == last && is_one_of(name, LOGIN_FILES)
            })
        })
        .or_else(|| {
            find(ProtectionKind::EditorTasks, &|_, name| {
                is_one_of(name, EDITOR_NAMES) || name.ends_with(".code-workspace")
            })
        })
}

/// The same for the names of an absolute path outside of the project, where Paddock's settings may belong to any project.
pub(super) fn protection_outside<'a>(names: impl Iterator<Item = &'a str>) -> Option<Protection> {
    let names: Vec<&str> = names.collect();
    let settings = names.iter().find(|name| is_name(&fold(name), ".paddock"));
    protection_of(names.iter().copied()).or_else(|| {
        Some(Protection {
            kind: ProtectionKind::PaddockSettings,
            name: (*settings?).to_owned(),
        })
    })
}

fn is_secret(name: &str) -> bool {
    if name.starts_with(".env.") {
        return !ENV_SAMPLES.contains(&name);
    }
    is_one_of(name, SECRET_FILES)
        || SECRET_ENDINGS.iter().any(|ending| name.ends_with(ending))
        || SECRET_STARTS.iter().any(|start| name.starts_with(start)) && !name.ends_with(".pub")
        || name.starts_with("service-account") && name.ends_with(".json")
}

pub(super) fn is_one_of(folded: &str, names: &[&str]) -> bool {
    names.contains(&folded) || folded.contains('~') && names.iter().any(|name| is_short_for(folded, name))
}

/// Whether a folded name is `name` or its 8.3 short form (`git~1` for `.git`).
fn is_name(folded: &str, name: &str) -> bool {
    is_one_of(folded, &[name])
}

/// Whether it is the 8.3 short form.
fn is_short_for(folded: &str, name: &str) -> bool {
    folded.split_once('~').is_some_and(|(start, number)| {
        !number.is_empty()
            && number.bytes().all(|digit| digit.is_ascii_digit())
            && name.starts_with('.')
            && name
                .chars()
                .filter(|letter| *letter != '.')
                .take(6)
                .eq(start.chars())
    })
}

/// A name as the most forgiving file system would compare it: one case (by way of the capitals, so that `ı` and `ſ` are `i`
/// and `s`), no trailing dots and blanks, no `:stream`, none of the characters that HFS+ ignores.
pub(super) fn fold(name: &str) -> String {
    let name = name.split(':').next().unwrap_or(name);
    // Every file of a project passes here before and after every command, and nearly all names are plain.
    let mut folded = if name.is_ascii() {
        name.to_ascii_lowercase()
    } else {
        name.chars()
            .filter(|letter| {
                !matches!(letter, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}')
            })
            .flat_map(char::to_uppercase)
            .flat_map(char::to_lowercase)
            .collect()
    };
    folded.truncate(folded.trim_end_matches(['.', ' ']).len());
    folded
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(path: &str) -> Option<ProtectionKind> {
        protection_of(path.split('/')).map(|found| found.kind)
    }

    #[test]
    fn look_alikes_of_git_are_git() {
        for path in [
            ".git",
            ".git/hooks/pre-commit",
            ".GIT/config",
            ".git./config",
            ".git /config",
            ".git . ./x",
            ".git::$INDEX_ALLOCATION/config",
            "git~1/config",
            "GIT~12",
            ".g\u{200c}it/config",
            ".gi\u{feff}t",
            ".g\u{131}t/config",
            "sub/.git/x",
            ".git\\config",
            "sub\\.git\\config",
        ] {
            assert_eq!(kind(path), Some(ProtectionKind::GitInternals), "{path}");
        }
        for path in [
            ".gitignore",
            ".gitattributes",
            ".github/workflows/ci.yml",
            "git",
            "git~x",
            "a.git",
            ".gitmodules",
        ] {
            assert_eq!(kind(path), None, "{path}");
        }
    }

    #[test]
    fn every_kind_is_found() {
        use ProtectionKind::*;
        for (path, expected) in [
            (".paddock/settings.toml", PaddockSettings),
            (".PADDOCK", PaddockSettings),
            ("paddoc~1/x", PaddockSettings),
            ("AGENTS.md", AgentInstructions),
            ("docs/claude.md", AgentInstructions),
            (".claude/skills/x/run.sh", AgentInstructions),
            ("skills/x/SKILL.md", AgentInstructions),
            ("MEMORY.md", AgentInstructions),
            (".cursorrules", AgentInstructions),
            (".bashrc", LoginScript),
            ("dot/.zshenv", LoginScript),
            (".vscode/tasks.json", EditorTasks),
            (".v\u{17f}code/tasks.json", EditorTasks),
            (".paddoc\u{212a}/x", PaddockSettings),
            (".idea/workspace.xml", EditorTasks),
            (".envrc", EditorTasks),
            (".env", SecretFile),
            ("deploy/.env.production", SecretFile),
            ("key.PEM", SecretFile),
            ("id_rsa", SecretFile),
            (".ssh/config", SecretFile),
            (".aws/config", SecretFile),
            (".npmrc", SecretFile),
            ("x/credentials", SecretFile),
        ] {
            assert_eq!(kind(path), Some(expected), "{path}");
        }
        for path in [
            ".env.example",
            "id_rsa.pub",
            "src/key.rs",
            "environment.md",
            "sub/.paddock",
            "credentials.rs",
            "a/memory.rs",
        ] {
            assert_eq!(kind(path), None, "{path}");
        }
    }
}
