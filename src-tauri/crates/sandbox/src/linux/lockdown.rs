//! The last steps before the command's program: limits, no capabilities, Landlock, system call filters. After them the
//! program is executed; whatever fails before means that it does not run.

use std::ffi::CString;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::path::Path;

use landlock::{
    ABI, Access, AccessFs, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd, RestrictionStatus,
    Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetStatus, Scope,
};

use super::helper::{Failure, Step};
use super::init::describe;
use super::wire::{Content, Place, Plan, Reachable};
use super::{filter, sys, view};

/// What is known of Landlock here; an older kernel does what it can of it.
const NEWEST: ABI = ABI::V6;
/// Before this, files outside could be cut to nothing.
const LEAST: ABI = ABI::V3;
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
    let (is_root, is_reduced) = (sys::ids().0 == 0, plan.reduced.is_some());
    if !is_reduced {
        // Without namespaces this would count every process of the account.
        sys::limit(libc::RLIMIT_NPROC, u64::from(limits.processes)).step("setting limits")?;
    }
    // Compiled before: the filters below forbid nothing that compiling needs, but a failure must come early.
    let filters = filter::programs(is_reduced, plan.host_network).step("compiling the call filter")?;
    // An ordinary account has none outside of namespaces, and may not even say so; where another program made them they
    // are gone already.
    if plan.bwrap.is_none() && (is_root || !is_reduced) {
        sys::drop_capabilities().step("dropping privileges")?;
    }
    sys::no_new_privileges().step("dropping privileges")?;
    match &plan.reduced {
        Some(reachable) => hold(plan, reachable)?,
        None => restrict_paths(plan)
            .map_err(io::Error::other)
            .step("restricting paths")?,
    }
    for filter in &filters {
        seccompiler::apply_filter(filter)
            .map_err(io::Error::other)
            .step("filtering calls")?;
    }
    Ok(())
}

/// The only wall there is where no namespaces can be made, so it must be there.
fn hold(plan: &Plan, reachable: &Reachable) -> Result<(), Failure> {
    let project = view::open_project(&plan.project).step("opening the project")?;
    let restricted = restrict_to(plan, reachable, &project)
        .map_err(io::Error::other)
        .step("restricting paths")?;
    if restricted.ruleset == RulesetStatus::NotEnforced {
        return Err(io::Error::from(io::ErrorKind::Unsupported)).step("restricting paths");
    }
    Ok(())
}

fn restrict_to(
    plan: &Plan,
    reachable: &Reachable,
    project: &OwnedFd,
) -> Result<RestrictionStatus, landlock::RulesetError> {
    let read = AccessFs::from_read(NEWEST);
    let write = writing();
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(LEAST))?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(NEWEST))?
        .scope(Scope::from_all(NEWEST))?
        .create()?
        .no_new_privs(true);
    let places = reachable.readable.iter().map(|path| (path, read));
    for (path, access) in places.chain(reachable.writable.iter().map(|path| (path, write))) {
        let Ok(handle) = PathFd::new(path) else { continue };
        let access = if Path::new(path).is_dir() {
            access
        } else {
            access & AccessFs::from_file(NEWEST)
        };
        rules = rules.add_rule(PathBeneath::new(handle, access))?;
    }
    let access = if plan.project.read_only { read } else { write };
    rules = rules.add_rule(PathBeneath::new(project, access))?;
    rules.restrict_self()
}

/// Everything but making devices.
fn writing() -> BitFlags<AccessFs> {
    let devices: BitFlags<AccessFs> = AccessFs::MakeChar | AccessFs::MakeBlock;
    AccessFs::from_all(NEWEST) & !devices
}

/// The same allow-list once more in Landlock, a second wall behind the mounts; kernels without it have the mounts.
fn restrict_paths(plan: &Plan) -> Result<(), landlock::RulesetError> {
    let read = AccessFs::from_read(NEWEST);
    let write = writing();
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
