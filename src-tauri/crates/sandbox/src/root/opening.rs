//! Opening a folder as a project, and the folders that are too much to hand over.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::error::OpenError;
use super::{ProjectRoot, Reach, Shared, Tree};

/// Folders that are refused themselves; what is below them may be a project.
const SYSTEM_FOLDERS: &[&str] = &[
    "/Applications",
    "/Library",
    "/Users",
    "/Volumes",
    "/bin",
    "/boot",
    "/etc",
    "/home",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/media",
    "/mnt",
    "/nix",
    "/opt",
    "/private",
    "/private/etc",
    "/private/tmp",
    "/private/var",
    "/root",
    "/run",
    "/sbin",
    "/snap",
    "/srv",
    "/tmp",
    "/usr",
    "/usr/bin",
    "/usr/lib",
    "/usr/lib64",
    "/usr/local",
    "/usr/local/bin",
    "/usr/sbin",
    "/usr/share",
    "/usr/src",
    "/var",
    "/var/lib",
    "/var/tmp",
];
/// Folders that are refused with everything below them.
const SYSTEM_TREES: &[&str] = &["/proc", "/sys", "/dev", "/System"];
/// Folders right below a Windows drive that are refused with everything below them; compared in lower case.
const WINDOWS_TREES: &[&str] = &[
    "windows",
    "program files",
    "program files (x86)",
    "programdata",
    "$recycle.bin",
    "system volume information",
];

impl ProjectRoot {
    /// Opens a folder as a project. Refused are the account's home folder, drives and folders of the system.
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        Self::open_beside(path, None)
    }

    /// Opens a folder as a project that neither holds nor lies in `own_data`, the folder where Paddock keeps its data.
    pub fn open_beside(path: &Path, own_data: Option<&Path>) -> Result<Self, OpenError> {
        let canonical = path.canonicalize().map_err(refusal)?;
        let home = std::env::home_dir().and_then(|home| home.canonicalize().ok());
        check_place(&canonical, home.as_deref())?;
        let own_data = own_data.and_then(|folder| folder.canonicalize().ok());
        if let Some(own_data) = &own_data
            && (canonical.starts_with(own_data) || own_data.starts_with(&canonical))
        {
            return Err(OpenError::OwnData);
        }
        if !canonical.is_dir() {
            return Err(OpenError::NotAFolder);
        }
        let tree = Tree::open(&canonical).map_err(refusal)?;
        std::fs::read_dir(&canonical).map_err(refusal)?;
        let opened_as = std::path::absolute(path).unwrap_or_else(|_| canonical.clone());
        let shared = Arc::new(Shared {
            tree,
            canonical,
            opened_as,
            own_data,
            outside: None,
            own: super::own::OwnWrites::default(),
        });
        Ok(Self {
            shared,
            reach: Reach {
                read_only: false,
                git_internals: false,
            },
        })
    }
}

fn check_place(canonical: &Path, home: Option<&Path>) -> Result<(), OpenError> {
    if canonical.parent().is_none() {
        return Err(OpenError::DriveRoot);
    }
    if home == Some(canonical) {
        return Err(OpenError::HomeFolder);
    }
    let is_system = SYSTEM_FOLDERS.iter().any(|folder| canonical == Path::new(folder))
        || SYSTEM_TREES.iter().any(|tree| canonical.starts_with(tree))
        || cfg!(windows) && is_windows_tree(canonical);
    if is_system {
        return Err(OpenError::SystemFolder);
    }
    // A folder around the home folder is more than the home folder.
    if home.is_some_and(|home| home.starts_with(canonical)) {
        return Err(OpenError::HomeFolder);
    }
    Ok(())
}

fn is_windows_tree(canonical: &Path) -> bool {
    let mut names = canonical.components().filter_map(|part| match part {
        std::path::Component::Normal(name) => Some(PathBuf::from(name)),
        _ => None,
    });
    let first = names.next().map(|name| name.to_string_lossy().to_lowercase());
    let below = names.next().is_some();
    first.is_some_and(|first| WINDOWS_TREES.contains(&first.as_str()) || first == "users" && !below)
}

fn refusal(error: io::Error) -> OpenError {
    match error.kind() {
        io::ErrorKind::NotFound => OpenError::Missing,
        io::ErrorKind::NotADirectory => OpenError::NotAFolder,
        io::ErrorKind::PermissionDenied => OpenError::NoPermission,
        io::ErrorKind::Unsupported => OpenError::TooOld,
        _ => OpenError::Io(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_much_to_hand_over_is_refused() {
        let home = Some(Path::new("/home/someone"));
        for (path, expected) in [
            ("/", "DriveRoot"),
            ("/home/someone", "HomeFolder"),
            ("/home", "SystemFolder"),
            ("/usr", "SystemFolder"),
            ("/tmp", "SystemFolder"),
            ("/proc/self/cwd", "SystemFolder"),
        ] {
            let refused = check_place(Path::new(path), home).unwrap_err();
            assert_eq!(format!("{refused:?}"), expected, "{path}");
        }
        assert!(check_place(Path::new("/home/someone/project"), home).is_ok());
        assert!(matches!(
            check_place(Path::new("/data"), Some(Path::new("/data/me"))),
            Err(OpenError::HomeFolder)
        ));
    }

    #[test]
    fn missing_files_and_own_data_are_told_apart() {
        let place = tempfile::tempdir().unwrap();
        let project = place.path().join("project");
        let data = project.join("data");
        std::fs::create_dir_all(&data).unwrap();
        std::fs::write(project.join("file"), "x").unwrap();
        assert!(matches!(
            ProjectRoot::open(&place.path().join("no")),
            Err(OpenError::Missing)
        ));
        assert!(matches!(
            ProjectRoot::open(&project.join("file")),
            Err(OpenError::NotAFolder)
        ));
        assert!(matches!(
            ProjectRoot::open_beside(&project, Some(&data)),
            Err(OpenError::OwnData)
        ));
        assert!(matches!(
            ProjectRoot::open_beside(&data, Some(&project)),
            Err(OpenError::OwnData)
        ));
        assert!(ProjectRoot::open(&project).is_ok());
    }
}
