//! Where calls may reach: path-safe access to the files of one project folder, and confined commands. Both obey one list
//! of protected names and one `Reach`. What is asked of the person, and when, is decided elsewhere.

mod around;
mod command;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(any(target_os = "macos", all(test, unix)))]
mod macos;
mod root;
#[cfg(any(windows, test))]
mod windows;

pub use command::{
    AddressReach, Admission, Blocked, CommandEnd, CommandExit, CommandLine, CommandSpec, Confinement, Denial,
    Gate, HelperProgram, HostGate, HostTarget, Limit, Network, OutputChunk, OutputSink, PathGrant,
    QuarantineError, Quarantined, ResourceLimits, RunningCommand, SandboxError, SandboxFacts, SecretFiles,
    SetAside, SetAsideContent, SetAsideFile, StateDir, Stopper, Stream, Streams, Tier, Trial, TrialOutcome,
    Unconfined, address_reach, for_this_machine, look_at_set_aside, put_back, set_aside, throw_away,
};
pub use root::{
    Entry, FileStamp, InvalidPath, Kind, MAX_ENTRIES, Metadata, OpenError, OutsideError, OutsidePath,
    PathError, PathPlace, ProjectRoot, Protection, ProtectionKind, Reach, RelativePath, WriteMode,
};

/// Builds the sandbox and does not return when this process was started for that; otherwise does nothing. Must be the
/// first statement of `main` of every program that embeds this crate and runs commands.
pub fn run_helper_if_asked() {
    #[cfg(target_os = "linux")]
    linux::run_if_asked();
    #[cfg(target_os = "macos")]
    macos::run_if_asked();
}

/// Moves away what commands left in a project to run later, when Paddock died before it could do so itself. To be called
/// when a project is opened; does nothing after an orderly end.
pub fn audit_after_crash(root: &ProjectRoot, state: &StateDir) -> Vec<Quarantined> {
    command::audit_after_crash(root, state)
}

/// Takes out of a project's folder what its commands needed there, when it is a project no longer: on Windows entries in
/// the list of who may change it; elsewhere there is nothing.
pub fn release_project(root: &ProjectRoot) -> std::io::Result<()> {
    #[cfg(windows)]
    return windows::release(root);
    #[cfg(not(windows))]
    {
        let _ = root;
        Ok(())
    }
}
