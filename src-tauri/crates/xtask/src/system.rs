//! Which system packages are needed, how to see that one is missing, and what it is called on each family of Linux.

use std::path::Path;
use std::process::Command;

use crate::process;

/// What the packages are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Purpose {
    Build,
    Test,
}

/// How to see that something is there.
#[derive(Debug)]
enum Probe {
    /// A module that pkg-config knows.
    Module(&'static str),
    /// One of these programs is on the search path.
    Program(&'static [&'static str]),
    /// Some font is installed: without one a page has no text to look at.
    Font,
}

/// One thing the build or the tests need, and its package.
#[derive(Debug)]
pub struct Need {
    purpose: Purpose,
    probe: Probe,
    apt: &'static str,
    dnf: &'static str,
    pacman: &'static str,
}

const fn need(purpose: Purpose, probe: Probe, [apt, dnf, pacman]: [&'static str; 3]) -> Need {
    Need {
        purpose,
        probe,
        apt,
        dnf,
        pacman,
    }
}

/// The programs that can show a page to the browser tests, best first.
pub const BROWSERS: &[&str] = &[
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
];

static NEEDS: &[Need] = {
    use Probe::{Font, Module, Program};
    use Purpose::{Build, Test};
    &[
        need(Build, Program(&["cc"]), ["build-essential", "gcc", "base-devel"]),
        need(
            Build,
            Program(&["pkg-config"]),
            ["pkg-config", "pkgconf-pkg-config", "pkgconf"],
        ),
        need(
            Build,
            Module("webkit2gtk-4.1"),
            ["libwebkit2gtk-4.1-dev", "webkit2gtk4.1-devel", "webkit2gtk-4.1"],
        ),
        need(
            Build,
            Module("openssl"),
            ["libssl-dev", "openssl-devel", "openssl"],
        ),
        need(
            Test,
            Program(&["WebKitWebDriver"]),
            ["webkit2gtk-driver", "webkit2gtk4.1", "webkit2gtk-4.1"],
        ),
        need(
            Test,
            Program(&["xvfb-run"]),
            ["xvfb", "xorg-x11-server-Xvfb", "xorg-server-xvfb"],
        ),
        need(
            Test,
            Program(&["xauth"]),
            ["xauth", "xorg-x11-xauth", "xorg-xauth"],
        ),
        need(
            Test,
            Program(&["dbus-run-session"]),
            ["dbus", "dbus-daemon", "dbus"],
        ),
        need(
            Test,
            Program(&["gnome-keyring-daemon"]),
            ["gnome-keyring", "gnome-keyring", "gnome-keyring"],
        ),
        need(
            Test,
            Program(&["secret-tool"]),
            ["libsecret-tools", "libsecret", "libsecret"],
        ),
        need(Test, Program(&["dunst"]), ["dunst", "dunst", "dunst"]),
        need(Test, Program(&["gdbus"]), ["libglib2.0-bin", "glib2", "glib2"]),
        need(
            Test,
            Program(&["import"]),
            ["imagemagick", "ImageMagick", "imagemagick"],
        ),
        need(Test, Program(&["xdotool"]), ["xdotool", "xdotool", "xdotool"]),
        need(Test, Program(&["xprop"]), ["x11-utils", "xprop", "xorg-xprop"]),
        need(
            Test,
            Program(&["bwrap"]),
            ["bubblewrap", "bubblewrap", "bubblewrap"],
        ),
        need(Test, Program(BROWSERS), ["chromium", "chromium", "chromium"]),
        need(
            Test,
            Font,
            ["fonts-dejavu-core", "dejavu-sans-fonts", "ttf-dejavu"],
        ),
    ]
};

impl Need {
    fn is_met(&self) -> bool {
        match self.probe {
            Probe::Module(name) => process::succeeds(Command::new("pkg-config").args(["--exists", name])),
            Probe::Program(names) => names.iter().any(|name| finds(name)),
            Probe::Font => process::read(&mut Command::new("fc-list")).is_ok_and(|list| !list.is_empty()),
        }
    }
}

/// The package managers whose names for things are known here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packages {
    Apt,
    Dnf,
    Pacman,
}

impl Packages {
    /// The one this machine has.
    pub fn here() -> Option<Self> {
        [
            (Self::Apt, "apt-get"),
            (Self::Dnf, "dnf"),
            (Self::Pacman, "pacman"),
        ]
        .into_iter()
        .find_map(|(packages, program)| finds(program).then_some(packages))
    }

    fn name_of(self, need: &Need) -> &'static str {
        match self {
            Self::Apt => need.apt,
            Self::Dnf => need.dnf,
            Self::Pacman => need.pacman,
        }
    }

    /// The command a person types to install packages.
    pub fn command(self, names: &[&str]) -> String {
        let start = match self {
            Self::Apt => "apt-get install --no-install-recommends",
            Self::Dnf => "dnf install",
            Self::Pacman => "pacman -S --needed",
        };
        format!("sudo {start} {}", names.join(" "))
    }
}

/// The packages whose things are missing on this machine, by this manager's names, each once.
pub fn missing(purpose: Purpose, packages: Packages) -> Vec<&'static str> {
    let mut names = Vec::new();
    for need in NEEDS
        .iter()
        .filter(|need| need.purpose <= purpose && !need.is_met())
    {
        let name = packages.name_of(need);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// Whether a program of this name is on the search path.
pub fn finds(program: &str) -> bool {
    let Some(path) = std::env::var_os("PATH") else {
        return false;
    };
    std::env::split_paths(&path).any(|folder| is_program(&folder.join(program)))
}

fn is_program(path: &Path) -> bool {
    path.is_file() || path.with_extension("exe").is_file() || path.with_extension("cmd").is_file()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_is_not_there_is_missing() {
        let absent = need(
            Purpose::Build,
            Probe::Program(&["no-such-program-xyz"]),
            ["a", "b", "c"],
        );
        let present = need(
            Purpose::Build,
            Probe::Program(&["no-such-program-xyz", "git"]),
            ["a", "b", "c"],
        );
        assert!(!absent.is_met());
        assert!(present.is_met());
    }

    #[test]
    fn the_command_names_the_packages_as_the_system_calls_them() {
        let webview = &NEEDS[2];
        let command = |packages: Packages| packages.command(&[packages.name_of(webview)]);
        assert_eq!(
            command(Packages::Apt),
            "sudo apt-get install --no-install-recommends libwebkit2gtk-4.1-dev"
        );
        assert_eq!(command(Packages::Dnf), "sudo dnf install webkit2gtk4.1-devel");
        assert_eq!(
            command(Packages::Pacman),
            "sudo pacman -S --needed webkit2gtk-4.1"
        );
    }
}
