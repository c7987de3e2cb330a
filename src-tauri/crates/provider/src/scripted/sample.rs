//! The sample project of the demo: a small shop with one bug. It runs with what every system has.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

macro_rules! files {
    ($($path:literal),* $(,)?) => {
        &[$(($path, include_str!(concat!("../../demo/orchard/", $path)))),*]
    };
}

/// Path below the project, with `/`, and content.
const FILES: &[(&str, &str)] = files![
    "AGENTS.md",
    "CHANGELOG.md",
    "README.md",
    "prices.txt",
    "reports/status.txt",
];

#[cfg(not(windows))]
const PROGRAM: &[(&str, &str)] = files!["basket.sh", "tests/run.sh", "tools/report.sh"];
#[cfg(windows)]
const PROGRAM: &[(&str, &str)] = files!["basket.ps1", "tests/run.ps1", "tools/report.ps1"];

/// Writes the sample project into `target`, which is made if it is not there. Files that are already there are never
/// overwritten: then this fails with [`io::ErrorKind::AlreadyExists`].
pub fn lay_out_sample_project(target: &Path) -> io::Result<()> {
    for (path, content) in FILES.iter().chain(PROGRAM) {
        let file = target.join(path);
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::File::create_new(&file)?.write_all(content.as_bytes())?;
    }
    Ok(())
}
