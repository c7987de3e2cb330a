//! The environment of a command, by allow-list: what is not named here does not reach it. Names that look like secrets are
//! left out even when the allow-list would let them pass.

use std::ffi::OsString;
use std::path::Path;

const ALLOWED: &[&str] = &[
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "TERM",
    "COLORTERM",
    "NO_COLOR",
    "TZ",
    "CI",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "RUST_BACKTRACE",
    "GOPATH",
    "GOROOT",
    "GOTOOLCHAIN",
    "JAVA_HOME",
    "ANDROID_HOME",
    "ANDROID_SDK_ROOT",
    "DOTNET_ROOT",
    "NVM_DIR",
    "NVM_BIN",
    "FNM_DIR",
    "VOLTA_HOME",
    "BUN_INSTALL",
    "DENO_DIR",
    "PYENV_ROOT",
    "PYENV_VERSION",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "RBENV_ROOT",
    "GEM_HOME",
    "SDKMAN_DIR",
    "ASDF_DIR",
    "ASDF_DATA_DIR",
    "PYTHONUNBUFFERED",
    "PYTHONDONTWRITEBYTECODE",
    "PKG_CONFIG_PATH",
    "CC",
    "CXX",
    "CFLAGS",
    "CXXFLAGS",
    "LDFLAGS",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
];
const ALLOWED_WINDOWS: &[&str] = &[
    "SYSTEMROOT",
    "WINDIR",
    "SYSTEMDRIVE",
    "COMSPEC",
    "PATHEXT",
    "TEMP",
    "TMP",
    "USERPROFILE",
    "USERNAME",
    "HOMEDRIVE",
    "HOMEPATH",
    "APPDATA",
    "LOCALAPPDATA",
    "PROGRAMDATA",
    "PROGRAMFILES",
    "PROGRAMFILES(X86)",
    "COMMONPROGRAMFILES",
    "NUMBER_OF_PROCESSORS",
    "PROCESSOR_ARCHITECTURE",
];
const SECRET_PARTS: &[&str] = &["KEY", "TOKEN", "SECRET", "PASSW", "CREDENTIAL"];
/// Loader and start-up hooks that would run before the command, whoever sets them.
const NEVER: &[&str] = &[
    "BASH_ENV",
    "ENV",
    "PYTHONSTARTUP",
    "NODE_OPTIONS",
    "PROMPT_COMMAND",
];
const NEVER_STARTS: &[&str] = &["LD_", "DYLD_", "__XPC_"];
const SET: &[(&str, &str)] = &[
    ("PADDOCK_SANDBOX", "1"),
    ("GIT_PAGER", "cat"),
    ("PAGER", "cat"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("DEBIAN_FRONTEND", "noninteractive"),
];

/// Toolchains and harmless settings of the home folder that commands read under the same name in their private one.
#[cfg(unix)]
pub(crate) const HOME_VISIBLE: &[&str] = &[
    ".asdf",
    ".bun/bin",
    ".cargo/bin",
    ".cargo/config",
    ".cargo/config.toml",
    ".cargo/env",
    ".config/git/attributes",
    ".config/git/config",
    ".config/git/ignore",
    ".deno/bin",
    ".dotnet",
    ".elan",
    ".ghcup",
    ".gitconfig",
    ".jenv",
    ".juliaup",
    ".local/bin",
    ".local/lib",
    ".local/share/fnm",
    ".local/share/mise",
    ".local/share/pipx",
    ".local/share/uv",
    ".local/share/virtualenvs",
    ".nix-profile",
    ".nvm",
    ".pyenv",
    ".rbenv",
    ".rustup",
    ".rvm",
    ".sdkman",
    ".volta",
    "go/bin",
];

/// The values of toolchain variables that name folders; a sandbox lets commands read them.
#[cfg(unix)]
pub(crate) const TOOLCHAIN_FOLDERS: &[&str] = &[
    "RUSTUP_HOME",
    "GOROOT",
    "JAVA_HOME",
    "ANDROID_HOME",
    "ANDROID_SDK_ROOT",
    "DOTNET_ROOT",
    "NVM_DIR",
    "FNM_DIR",
    "VOLTA_HOME",
    "PYENV_ROOT",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "RBENV_ROOT",
    "SDKMAN_DIR",
    "ASDF_DIR",
    "ASDF_DATA_DIR",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
];

/// The environment of a command from the own one and the person's additions.
pub(crate) fn command_environment(
    own: impl Iterator<Item = (OsString, OsString)>,
    added: &[(String, String)],
) -> Vec<(OsString, OsString)> {
    let mut result: Vec<(OsString, OsString)> = own.filter_map(allowed).collect();
    for (name, value) in SET {
        set(&mut result, name, value.into());
    }
    for (name, value) in added {
        if is_name(name) && !is_hook(name) && !value.contains('\0') {
            set(&mut result, name, value.into());
        }
    }
    result
}

pub(crate) fn set(environment: &mut Vec<(OsString, OsString)>, name: &str, value: OsString) {
    environment.retain(|(other, _)| other != name);
    environment.push((name.into(), value));
}

fn allowed((name, value): (OsString, OsString)) -> Option<(OsString, OsString)> {
    let text = name.to_str()?;
    let folded = if cfg!(windows) {
        text.to_ascii_uppercase()
    } else {
        text.to_owned()
    };
    if folded == "PATH" {
        let absolute =
            std::env::split_paths(&value).filter(|entry: &std::path::PathBuf| Path::is_absolute(entry));
        return Some((name, std::env::join_paths(absolute).ok()?));
    }
    let listed = ALLOWED.contains(&folded.as_str())
        || folded.starts_with("LC_")
        || cfg!(windows) && ALLOWED_WINDOWS.contains(&folded.as_str());
    (listed && !looks_secret(&folded)).then_some((name, value))
}

fn looks_secret(name: &str) -> bool {
    SECRET_PARTS.iter().any(|part| name.contains(part))
}

fn is_hook(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    NEVER.contains(&name.as_str()) || NEVER_STARTS.iter().any(|start| name.starts_with(start))
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && !name.contains(['=', '\0'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(own: &[(&str, &str)], added: &[(&str, &str)]) -> Vec<(String, String)> {
        let own = own
            .iter()
            .map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let added: Vec<_> = added
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        command_environment(own, &added)
            .into_iter()
            .map(|(name, value)| (name.into_string().unwrap(), value.into_string().unwrap()))
            .collect()
    }

    #[test]
    fn only_listed_names_pass() {
        let own = [
            ("PATH", "/usr/bin:.:node_modules/.bin:/bin"),
            ("HOME", "/home/me"),
            ("LC_ALL", "C"),
            ("OPENAI_API_KEY", "s"),
            ("GITHUB_TOKEN", "s"),
            ("LC_TOKEN", "s"),
            ("SSH_AUTH_SOCK", "s"),
            ("LD_PRELOAD", "s"),
            ("GIT_DIR", "s"),
            ("DISPLAY", ":0"),
            ("SOMETHING", "s"),
        ];
        let result = environment(
            &own,
            &[
                ("MINE", "1"),
                ("LD_PRELOAD", "x"),
                ("BASH_ENV", "x"),
                ("a=b", "x"),
            ],
        );
        let names: Vec<_> = result.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(
            names,
            [
                "PATH",
                "HOME",
                "LC_ALL",
                "PADDOCK_SANDBOX",
                "GIT_PAGER",
                "PAGER",
                "GIT_TERMINAL_PROMPT",
                "DEBIAN_FRONTEND",
                "MINE"
            ]
        );
        if cfg!(unix) {
            assert_eq!(result[0].1, "/usr/bin:/bin");
        }
    }
}
