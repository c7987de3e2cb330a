//! The one spelling of a path inside of the project. A `RelativePath` is made from an argument by text alone, so it says
//! nothing about links: where an access really ends is decided by the handles in the file access below.

use std::fmt;
use std::path::{Component, Path};

use serde::{Deserialize, Serialize};

use super::error::{InvalidPath, PathError};

const MAX_PATH_BYTES: usize = 4096;
const MAX_NAME_BYTES: usize = 255;

/// A normalised path below the project folder: `/` between names, no `.` or `..`; the project itself is `.`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RelativePath(String);

impl RelativePath {
    /// The project folder itself.
    pub fn root() -> Self {
        Self(String::new())
    }

    /// Whether this is the project folder itself.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// The path as text with `/`; `.` for the project itself.
    pub fn as_str(&self) -> &str {
        if self.0.is_empty() { "." } else { &self.0 }
    }

    /// The names from the project folder down.
    pub fn components(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.0.split('/').filter(|name| !name.is_empty())
    }

    /// The last name; none for the project itself.
    pub fn file_name(&self) -> Option<&str> {
        self.components().next_back()
    }

    /// The folder this is in; none for the project itself.
    pub fn parent(&self) -> Option<Self> {
        if self.0.is_empty() {
            return None;
        }
        Some(Self(
            self.0
                .rsplit_once('/')
                .map_or(String::new(), |(folder, _)| folder.to_owned()),
        ))
    }

    /// Whether this is `other` or lies below it.
    pub fn starts_with(&self, other: &Self) -> bool {
        other.is_root()
            || self
                .0
                .strip_prefix(&other.0)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// This path and one relative argument below it, under the rules of [`super::ProjectRoot::relative`].
    pub fn join(&self, argument: &str) -> Result<Self, PathError> {
        check(argument)?;
        if is_absolute(argument) {
            return Err(outside(argument, "/"));
        }
        climb(self.components().map(str::to_owned).collect(), argument)
    }

    /// A name that the system itself returned, without the rules for arguments.
    pub(super) fn child(&self, name: &str) -> Self {
        if self.0.is_empty() {
            Self(name.to_owned())
        } else {
            Self(format!("{}/{name}", self.0))
        }
    }

    /// Names as the system gave them, when all of them are text.
    pub(super) fn exactly(path: &Path) -> Option<Self> {
        path.to_str().map(|_| Self::from_system(path))
    }

    /// A path below the project as the system returned it.
    pub(super) fn from_system(path: &Path) -> Self {
        let names: Vec<_> = path
            .components()
            .filter_map(|part| match part {
                Component::Normal(name) => Some(name.to_string_lossy().into_owned()),
                _ => None,
            })
            .collect();
        Self(names.join("/"))
    }
}

impl fmt::Display for RelativePath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl TryFrom<String> for RelativePath {
    type Error = PathError;

    fn try_from(text: String) -> Result<Self, PathError> {
        Self::root().join(&text)
    }
}

impl From<RelativePath> for String {
    fn from(path: RelativePath) -> Self {
        path.as_str().to_owned()
    }
}

/// Normalises an argument: relative to the project, or absolute below one of the `spellings` of the project's folder.
pub(super) fn normalise(argument: &str, spellings: &[&Path]) -> Result<RelativePath, PathError> {
    check(argument)?;
    if !is_absolute(argument) {
        return climb(Vec::new(), argument);
    }
    let names = absolute_names(argument)?;
    for spelling in spellings {
        let Ok(root) = absolute_names(&spelling.to_string_lossy()) else {
            continue;
        };
        if names.len() >= root.len() && names.iter().zip(&root).all(|(name, other)| name == other) {
            return climb(Vec::new(), &names[root.len()..].join("/")).map_err(|_| outside(argument, ".."));
        }
    }
    Err(outside(argument, "/"))
}

fn check(argument: &str) -> Result<(), PathError> {
    let why = if argument.is_empty() {
        InvalidPath::Empty
    } else if argument.contains('\0') {
        InvalidPath::Nul
    } else if argument.len() > MAX_PATH_BYTES {
        InvalidPath::TooLong
    } else if argument.split(separator).any(|name| name.len() > MAX_NAME_BYTES) {
        InvalidPath::NameTooLong
    } else if cfg!(windows) && windows_form(argument) {
        InvalidPath::WindowsForm
    } else {
        return Ok(());
    };
    Err(PathError::Invalid { why })
}

fn separator(letter: char) -> bool {
    letter == '/' || (cfg!(windows) && letter == '\\')
}

fn is_absolute(argument: &str) -> bool {
    argument.starts_with(separator) || (cfg!(windows) && drive(argument).is_some())
}

/// `C` and the rest of `C:\rest`.
fn drive(argument: &str) -> Option<(char, &str)> {
    let mut letters = argument.chars();
    let letter = letters.next().filter(char::is_ascii_alphabetic)?;
    let rest = letters.as_str().strip_prefix(':')?;
    rest.starts_with(['/', '\\']).then_some((letter, rest))
}

/// The names of an absolute path from the drive or root down, `..` resolved by text.
fn absolute_names(path: &str) -> Result<Vec<String>, PathError> {
    let mut names = Vec::new();
    let mut rest = path;
    if cfg!(windows) {
        rest = rest.strip_prefix(r"\\?\").unwrap_or(rest);
        if let Some((letter, below)) = drive(rest) {
            names.push(format!("{}:", letter.to_ascii_uppercase()));
            rest = below;
        }
    }
    for name in rest.split(separator) {
        match name {
            "" | "." => {}
            ".." => {
                names.pop().ok_or_else(|| outside(path, ".."))?;
            }
            name => names.push(name.to_owned()),
        }
    }
    Ok(names)
}

fn climb(mut names: Vec<String>, argument: &str) -> Result<RelativePath, PathError> {
    for name in argument.split(separator) {
        match name {
            "" | "." => {}
            ".." => {
                names.pop().ok_or_else(|| outside(argument, ".."))?;
            }
            name => names.push(name.to_owned()),
        }
    }
    Ok(RelativePath(names.join("/")))
}

fn outside(argument: &str, leaves_at: &str) -> PathError {
    PathError::Outside {
        argument: argument.to_owned(),
        leaves_at: leaves_at.to_owned(),
    }
}

/// Forms that Windows gives a meaning of its own: verbatim, device and network paths, drive-relative and root-relative
/// paths, streams, wildcards, names that end in a dot or a blank, device names. Pure text, so it is tested on every system.
fn windows_form(argument: &str) -> bool {
    let below = match drive(argument) {
        Some((_, rest)) => &rest[1..],
        None if argument.starts_with(['/', '\\']) => return true,
        None => argument,
    };
    below.split(['/', '\\']).any(|name| {
        !matches!(name, "" | "." | "..")
            && (name.contains([':', '*', '?', '"', '<', '>', '|'])
                || name.ends_with(['.', ' '])
                || name.chars().any(|letter| letter < ' ')
                || is_device_name(name))
    })
}

fn is_device_name(name: &str) -> bool {
    let stem = name
        .split('.')
        .next()
        .unwrap_or(name)
        .trim_end()
        .to_ascii_uppercase();
    if matches!(
        stem.as_str(),
        "CON" | "PRN" | "AUX" | "NUL" | "CONIN$" | "CONOUT$"
    ) {
        return true;
    }
    let mut letters = stem.chars();
    let port: String = letters.by_ref().take(3).collect();
    let digit = letters.next();
    matches!(port.as_str(), "COM" | "LPT")
        && letters.next().is_none()
        && digit.is_some_and(|digit| digit.is_ascii_digit() || matches!(digit, '¹' | '²' | '³'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_windows_are_known() {
        for refused in [
            r"\\?\C:\x",
            r"\\.\pipe\x",
            r"\??\C:\x",
            r"\\server\share",
            "C:x",
            r"\x",
            "/x",
            "a:b",
            "a/b:stream",
            "nul",
            "a/CON.txt",
            "com1",
            "LPT³",
            "a.",
            "a ",
            "a/b./c",
            "a*",
            "a?b",
            "x\u{1}y",
        ] {
            assert!(windows_form(refused), "{refused}");
        }
        for allowed in [
            "a/b",
            r"a\b",
            ".git",
            "..",
            "a/../b",
            r"C:\x\y",
            "console",
            "com10",
            "nullable.rs",
            "a.b",
        ] {
            assert!(!windows_form(allowed), "{allowed}");
        }
    }

    #[test]
    fn serde_keeps_the_rules() {
        let path: RelativePath = serde_json::from_str("\"a/./b\"").unwrap();
        assert_eq!(path.as_str(), "a/b");
        assert!(serde_json::from_str::<RelativePath>("\"../b\"").is_err());
        assert_eq!(serde_json::to_string(&RelativePath::root()).unwrap(), "\".\"");
    }
}
