//! What a command is and what it may reach.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::gate::Gate;
use crate::{ProjectRoot, RelativePath};

/// One command and its bounds. A read-only root makes the whole project read-only for the command.
#[derive(Debug, Clone)]
pub struct CommandSpec {
    pub line: CommandLine,
    pub root: ProjectRoot,
    /// The working folder.
    pub folder: RelativePath,
    pub state: StateDir,
    pub network: Network,
    /// Who decides about connections with `Network::Asks`; without one all are refused.
    pub gate: Option<Gate>,
    /// None: no limit.
    pub time_limit: Option<Duration>,
    /// Values added to the allowed part of the own environment; names chosen by the person.
    pub environment: Vec<(String, String)>,
    /// Bytes of output that are delivered; more is counted and dropped.
    pub output_limit: u64,
    pub streams: Streams,
    pub secret_files: SecretFiles,
    /// Folders and files outside of the project that the person allowed.
    pub extra: Vec<PathGrant>,
    pub limits: ResourceLimits,
}

impl CommandSpec {
    /// A shell line in the project folder with the usual bounds: no network, 2 minutes, 16 MB of output.
    pub fn shell(root: ProjectRoot, state: StateDir, line: impl Into<String>) -> Self {
        Self::new(root, state, CommandLine::Shell(line.into()))
    }

    /// A program with arguments, looked up in PATH when it has no `/`, with the usual bounds.
    pub fn program(
        root: ProjectRoot,
        state: StateDir,
        program: impl Into<String>,
        arguments: Vec<String>,
    ) -> Self {
        Self::new(
            root,
            state,
            CommandLine::Program {
                program: program.into(),
                arguments,
            },
        )
    }

    fn new(root: ProjectRoot, state: StateDir, line: CommandLine) -> Self {
        Self {
            line,
            root,
            folder: RelativePath::root(),
            state,
            network: Network::Off,
            gate: None,
            time_limit: Some(Duration::from_secs(120)),
            environment: Vec::new(),
            output_limit: 16 * 1024 * 1024,
            streams: Streams::Apart,
            secret_files: SecretFiles::Hidden,
            extra: Vec::new(),
            limits: ResourceLimits::default(),
        }
    }
}

/// What is run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum CommandLine {
    /// A line for `/bin/bash`, or `/bin/sh` where there is no bash.
    Shell(String),
    Program {
        program: String,
        arguments: Vec<String>,
    },
}

/// What network a command sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Network {
    /// A loopback of its own and nothing else.
    Off,
    /// The same, and a proxy that asks the gate of the command about every connection.
    Asks,
    /// The network of the machine, its loopback included.
    Host,
}

/// Whether stdout and stderr are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Streams {
    /// Chunks say which stream they are from; their order is the order of arrival.
    Apart,
    /// Both are one stream in exact order, reported as stdout.
    Together,
}

/// Whether files that look like secrets can be read by a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SecretFiles {
    Hidden,
    Readable,
}

/// A folder or file outside of the project that a command may reach.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathGrant {
    pub path: PathBuf,
    pub writable: bool,
}

/// What a command may use up. A command that takes more is ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResourceLimits {
    pub processes: u32,
    /// Bytes of data of one process.
    pub process_memory: u64,
    /// Bytes of resident memory of all processes together.
    pub memory: u64,
    /// Bytes of one written file.
    pub file_size: u64,
    /// Bytes that all files of the project together may grow by.
    pub disk: u64,
}

impl Default for ResourceLimits {
    fn default() -> Self {
        const GIB: u64 = 1024 * 1024 * 1024;
        Self {
            processes: 1024,
            process_memory: 4 * GIB,
            memory: 6 * GIB,
            file_size: 4 * GIB,
            disk: 20 * GIB,
        }
    }
}

/// Paddock's own folder for one project: private caches of commands and what was moved out of the project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateDir(PathBuf);

impl StateDir {
    /// Names the folder; it is made, for the account alone, when it is first needed. It must not lie in the project.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Where things that were moved out of the project are kept.
    pub fn quarantine(&self) -> PathBuf {
        self.0.join("quarantine")
    }
}

/// The program that is started again to build the sandbox: one whose `main` begins with `run_helper_if_asked`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HelperProgram(OsString);

impl HelperProgram {
    /// The running program itself.
    pub fn current() -> Self {
        // The link of the kernel stays right when the file was replaced by an update.
        if cfg!(target_os = "linux") {
            return Self("/proc/self/exe".into());
        }
        Self(std::env::current_exe().map_or_else(|_| OsString::new(), PathBuf::into_os_string))
    }

    /// Another program, by absolute path: smaller programs start faster.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self(path.into().into_os_string())
    }

    #[cfg(unix)]
    pub(crate) fn path(&self) -> &std::ffi::OsStr {
        &self.0
    }
}
