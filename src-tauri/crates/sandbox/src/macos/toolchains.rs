//! What commands read of a Mac beyond the system itself: toolchains and harmless settings. Nothing of the home folder is
//! readable but what is listed here or named by PATH and the variables of toolchains.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::command::environment::TOOLCHAIN_FOLDERS;

/// Folders that hold more than toolchains, so that no variable makes them readable as a whole.
const PRIVATE: &[&str] = &[
    ".aws",
    ".cargo",
    ".config",
    ".gnupg",
    ".local",
    ".local/share",
    ".ssh",
    "Applications",
    "Desktop",
    "Documents",
    "Downloads",
    "Library",
    "Library/Application Support",
    "Library/Caches",
    "Movies",
    "Music",
    "Pictures",
];

/// The folders of toolchains that an environment names, those of PATH with what lies beside their `bin`.
pub(super) fn named_by(environment: &[(OsString, OsString)], home: &Path) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    for (name, value) in environment {
        if name == "PATH" {
            folders.extend(std::env::split_paths(value).map(|entry| beside(&entry, home).unwrap_or(entry)));
        } else if name
            .to_str()
            .is_some_and(|name| TOOLCHAIN_FOLDERS.contains(&name))
        {
            folders.push(PathBuf::from(value));
        }
    }
    folders.retain(|folder| is_toolchain(folder, home));
    folders
}

/// Whether a folder may be readable as a whole: neither near the root of the disk, nor among everybody's temporary files, nor
/// more than tools.
pub(super) fn is_toolchain(folder: &Path, home: &Path) -> bool {
    let is_temporary = ["/private/tmp", "/private/var"]
        .iter()
        .any(|place| folder.starts_with(place));
    folder.is_absolute()
        && !home.starts_with(folder)
        && folder.components().count() > 2
        && !PRIVATE.iter().any(|name| folder == home.join(name))
        && (folder.starts_with(home) || !is_temporary)
}

/// The folder above a `bin`, which holds the libraries of what is in it, unless that is more than a toolchain.
fn beside(entry: &Path, home: &Path) -> Option<PathBuf> {
    let above = entry.parent()?;
    let is_bin = matches!(entry.file_name(), Some(name) if name == "bin" || name == "sbin");
    (is_bin && is_toolchain(above, home)).then(|| above.to_owned())
}

/// Where Apple's compilers are, and what makes them found without `xcrun`. The programs in `/usr/bin` that stand for them
/// keep a note of what they found in a folder that all programs of the account trust, so a command must not write it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DeveloperTools {
    pub(super) folder: PathBuf,
    programs: Vec<PathBuf>,
    headers: Option<PathBuf>,
}

impl DeveloperTools {
    /// Looks at a folder that `xcode-select` may name; none where it holds no tools.
    pub(super) fn at(folder: &Path) -> Option<Self> {
        let existing = |names: &[&str]| -> Vec<PathBuf> {
            names
                .iter()
                .map(|name| folder.join(name))
                .filter(|path| path.is_dir())
                .collect()
        };
        let programs = existing(&["Toolchains/XcodeDefault.xctoolchain/usr/bin", "usr/bin"]);
        let headers = existing(&[
            "Platforms/MacOSX.platform/Developer/SDKs/MacOSX.sdk",
            "SDKs/MacOSX.sdk",
        ]);
        (!programs.is_empty()).then(|| Self {
            folder: folder.to_owned(),
            programs,
            headers: headers.into_iter().next(),
        })
    }

    /// The values to set: PATH with the tools right before what stands for them.
    pub(super) fn environment(&self, path: Option<&OsStr>) -> Vec<(&'static str, OsString)> {
        let mut values = vec![("DEVELOPER_DIR", self.folder.clone().into_os_string())];
        if let Some(headers) = &self.headers {
            values.push(("SDKROOT", headers.clone().into_os_string()));
        }
        let path = path.unwrap_or(OsStr::new("/usr/bin:/bin:/usr/sbin:/sbin"));
        let mut entries: Vec<PathBuf> = std::env::split_paths(path).collect();
        let at = entries
            .iter()
            .position(|entry| entry == Path::new("/usr/bin"))
            .unwrap_or(entries.len());
        entries.splice(at..at, self.programs.iter().cloned());
        if let Ok(path) = std::env::join_paths(entries) {
            values.push(("PATH", path));
        }
        values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_toolchains_are_readable_and_private_ones_are_not() {
        let home = Path::new("/Users/me");
        let environment = [
            (
                "PATH",
                "/Users/me/.nvm/versions/node/v22/bin:/Users/me/bin:/Users/me/.local/bin:/tools/x/bin:/bin",
            ),
            ("JAVA_HOME", "/Library/Java/JavaVirtualMachines/jdk/Contents/Home"),
            ("PYENV_ROOT", "/Users/me"),
            ("VIRTUAL_ENV", "/Users/me/Documents"),
            ("CONDA_PREFIX", "/private/tmp/conda"),
            ("GOROOT", "/"),
            ("HOME", "/Users/me"),
            ("SSL_CERT_FILE", "/Users"),
        ]
        .map(|(name, value)| (name.into(), value.into()));
        assert_eq!(
            named_by(&environment, home),
            [
                "/Users/me/.nvm/versions/node/v22",
                "/Users/me/bin",
                "/Users/me/.local/bin",
                "/tools/x",
                "/Library/Java/JavaVirtualMachines/jdk/Contents/Home",
            ]
            .map(PathBuf::from)
        );
    }

    #[test]
    fn developer_tools_come_before_what_stands_for_them() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path();
        assert_eq!(DeveloperTools::at(folder), None);
        for name in ["usr/bin", "SDKs/MacOSX.sdk"] {
            std::fs::create_dir_all(folder.join(name)).unwrap();
        }
        let values = DeveloperTools::at(folder)
            .unwrap()
            .environment(Some(OsStr::new("/opt/homebrew/bin:/usr/bin:/bin")));
        let programs = folder.join("usr/bin");
        let expected = format!("/opt/homebrew/bin:{}:/usr/bin:/bin", programs.display());
        assert_eq!(values[2], ("PATH", expected.into()));
        assert_eq!(values[1].0, "SDKROOT");
    }
}
