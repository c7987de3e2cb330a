//! The last steps before the command's program: limits, no capabilities, Landlock, system call filters. After them the
//! program is executed; whatever fails before means that it does not run.

use std::ffi::CString;
use std::io::{self, Write};
use std::path::Path;

use landlock::{
    ABI, Access, AccessFs, BitFlags, PathBeneath, PathFd, Ruleset, RulesetAttr, RulesetCreatedAttr, Scope,
};

use super::helper::{Failure, Step};
use super::init::describe;
use super::wire::{Content, Place, Plan};
use super::{filter, sys};

const NOT_RUN: i32 = 126;
const NOT_FOUND: i32 = 127;

/// Closes the sandbox around this process and executes the program; returns an exit code only on failure.
pub(super) fn execute(plan: &Plan) -> i32 {
    if let Err(failure) = close(plan) {
        let _ = io::stderr().write_all(describe(&failure).as_bytes());
        return NOT_RUN;
    }
    let texts = |values: &[String]| -> Vec<CString> {
        values
            .iter()
            .filter_map(|value| CString::new(value.as_str()).ok())
            .collect()
    };
    let (arguments, environment) = (texts(&plan.arguments), texts(&plan.environment));
    let mut code = NOT_FOUND;
    for program in texts(&plan.programs) {
        if sys::execute(&program, &arguments, &environment).kind() == io::ErrorKind::PermissionDenied {
            code = NOT_RUN;
        }
    }
    let name = plan.arguments.first().map_or("", String::as_str);
    let why = if code == NOT_RUN {
        "cannot be executed"
    } else {
        "was not found"
    };
    let _ = io::stderr().write_all(format!("paddock: {name} {why}\n").as_bytes());
    code
}

fn close(plan: &Plan) -> Result<(), Failure> {
    sys::new_session().step("making a session")?;
    sys::usual_signals();
    let limits = &plan.limits;
    sys::limit(libc::RLIMIT_CORE, 0).step("setting limits")?;
    sys::limit(libc::RLIMIT_FSIZE, limits.file_size).step("setting limits")?;
    sys::limit(libc::RLIMIT_DATA, limits.process_memory).step("setting limits")?;
    sys::limit(libc::RLIMIT_NPROC, u64::from(limits.processes)).step("setting limits")?;
    // Compiled before: the filters below forbid nothing that compiling needs, but a failure must come early.
    let filters = filter::programs().step("compiling the call filter")?;
    sys::drop_capabilities().step("dropping privileges")?;
    sys::no_new_privileges().step("dropping privileges")?;
    restrict_paths(plan)
        .map_err(io::Error::other)
        .step("restricting paths")?;
    for filter in &filters {
        seccompiler::apply_filter(filter)
            .map_err(io::Error::other)
            .step("filtering calls")?;
    }
    Ok(())
}

/// The same allow-list once more in Landlock, a second wall behind the mounts; kernels without it have the mounts.
fn restrict_paths(plan: &Plan) -> Result<(), landlock::RulesetError> {
    const NEWEST: ABI = ABI::V6;
    let read = AccessFs::from_read(NEWEST);
    let devices: BitFlags<AccessFs> = AccessFs::MakeChar | AccessFs::MakeBlock;
    let write = AccessFs::from_all(NEWEST) & !devices;
    let mut writable: Vec<&str> = vec!["/tmp", "/var/tmp", "/run", "/dev", "/proc"];
    let is_writable = |place: &&Place| match place.content {
        Content::Machine { writable, .. } => writable,
        Content::KernelDevices { .. } => false,
        Content::Empty | Content::Layer { .. } => true,
    };
    writable.extend(
        plan.places
            .iter()
            .filter(is_writable)
            .map(|place| place.target.as_str()),
    );
    if !plan.project.read_only {
        writable.push(&plan.project.path);
    }
    let mut rules = Ruleset::default()
        .handle_access(AccessFs::from_all(NEWEST))?
        .scope(Scope::from_all(NEWEST))?
        .create()?
        .no_new_privs(true);
    let read_only = ["/"].into_iter().map(|path| (path, read));
    for (path, access) in read_only.chain(writable.into_iter().map(|path| (path, write))) {
        let Ok(handle) = PathFd::new(path) else { continue };
        let access = if Path::new(path).is_dir() {
            access
        } else {
            access & AccessFs::from_file(NEWEST)
        };
        rules = rules.add_rule(PathBeneath::new(handle, access))?;
    }
    rules.restrict_self().map(|_| ())
}
