//! The system calls of macOS that nothing safe wraps: which processes the account has, what they use, whose profile they
//! carry. All unsafe code of this room is here.
#![allow(unsafe_code)]

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::io;
use std::mem::{size_of, zeroed};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::OnceLock;

use super::marker::Marker;
use crate::command::ResourceLimits;

/// From the system's `libproc.h`.
const PROC_UID_ONLY: u32 = 4;
/// From the interface that the system's own programs ask with.
const GLOBAL_NAME: c_int = 2;
const MOST_DESCRIPTORS: c_int = 16_384;

type Check = unsafe extern "C" fn(libc::pid_t, *const c_char, c_int, ...) -> c_int;

/// The question whether a process may do something, as far as its profile goes.
struct Asking {
    check: Check,
    quietly: c_int,
}

/// The names of a run, as the system is asked about them.
pub(super) struct Names {
    allowed: CString,
    refused: CString,
}

impl Names {
    pub(super) fn of(marker: &Marker) -> Option<Self> {
        Some(Self {
            allowed: CString::new(marker.allowed()).ok()?,
            refused: CString::new(marker.refused()).ok()?,
        })
    }
}

/// Whether this machine answers whose profile a process carries.
pub(super) fn can_tell() -> bool {
    asking().is_some()
}

/// Both are looked up, because no header of the system names them.
fn asking() -> Option<&'static Asking> {
    static ASKING: OnceLock<Option<Asking>> = OnceLock::new();
    ASKING
        .get_or_init(|| {
            let check = symbol(c"sandbox_check")?;
            let quietly = symbol(c"SANDBOX_CHECK_NO_REPORT")?;
            // SAFETY: the first is the function of this type, the second a constant of the size of an int.
            Some(unsafe {
                Asking {
                    check: std::mem::transmute::<*mut c_void, Check>(check),
                    quietly: *quietly.cast::<c_int>(),
                }
            })
        })
        .as_ref()
}

fn symbol(name: &CStr) -> Option<*mut c_void> {
    // SAFETY: the name ends with zero; nothing is loaded.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    (!found.is_null()).then_some(found)
}

fn may_look_up(asking: &Asking, pid: libc::pid_t, name: &CStr) -> Option<bool> {
    // SAFETY: the operation and the name end with zero and live longer than the call.
    let answer = unsafe {
        (asking.check)(
            pid,
            c"mach-lookup".as_ptr(),
            GLOBAL_NAME | asking.quietly,
            name.as_ptr(),
        )
    };
    match answer {
        0 => Some(true),
        1 => Some(false),
        // The process is gone.
        _ => None,
    }
}

/// The processes that carry the profile of a run.
pub(super) fn marked(names: &Names) -> Vec<libc::pid_t> {
    let Some(asking) = asking() else {
        return Vec::new();
    };
    let is_marked = |pid: &libc::pid_t| {
        may_look_up(asking, *pid, &names.allowed) == Some(true)
            && may_look_up(asking, *pid, &names.refused) == Some(false)
    };
    own_processes().into_iter().filter(is_marked).collect()
}

/// The processes of the account, but for this one.
fn own_processes() -> Vec<libc::pid_t> {
    let mut pids: Vec<libc::pid_t> = vec![0; 1024];
    loop {
        let size = c_int::try_from(pids.len() * size_of::<libc::pid_t>()).unwrap_or(c_int::MAX);
        // SAFETY: the buffer has that many bytes.
        let filled =
            unsafe { libc::proc_listpids(PROC_UID_ONLY, libc::geteuid(), pids.as_mut_ptr().cast(), size) };
        let count = usize::try_from(filled).unwrap_or(0) / size_of::<libc::pid_t>();
        if count < pids.len() || pids.len() > 1 << 20 {
            pids.truncate(count);
            break;
        }
        pids.resize(pids.len() * 2, 0);
    }
    let own = libc::pid_t::try_from(std::process::id()).unwrap_or(0);
    pids.retain(|pid| *pid > 1 && *pid != own);
    pids
}

/// Ends a process at once; whether it was there.
pub(super) fn kill(pid: libc::pid_t) -> bool {
    // SAFETY: takes two numbers.
    unsafe { libc::kill(pid, libc::SIGKILL) == 0 }
}

/// Bytes of memory that a process uses; 0 when it is gone.
pub(super) fn memory(pid: libc::pid_t) -> u64 {
    // SAFETY: the structure is plain numbers, and the flavour says that it is this one.
    unsafe {
        let mut usage: libc::rusage_info_v2 = zeroed();
        let into = (&raw mut usage).cast::<libc::rusage_info_t>();
        if libc::proc_pid_rusage(pid, libc::RUSAGE_INFO_V2, into) == 0 {
            usage.ri_phys_footprint
        } else {
            0
        }
    }
}

/// Makes a command begin in a session of its own, with limits, and without any descriptor but its three streams.
pub(super) fn begin_apart(command: &mut Command, limits: ResourceLimits) {
    let most = descriptors();
    // SAFETY: between fork and exec only system calls are made, on values that were copied.
    unsafe {
        command.pre_exec(move || {
            if libc::setsid() < 0 {
                return Err(io::Error::last_os_error());
            }
            limit(libc::RLIMIT_CORE, 0)?;
            limit(libc::RLIMIT_FSIZE, limits.file_size)?;
            for descriptor in 3..most {
                // Most of them do not exist. Those that do are closed when the program begins.
                libc::fcntl(descriptor, libc::F_SETFD, libc::FD_CLOEXEC);
            }
            Ok(())
        });
    }
}

/// Lowers a limit, both what counts and what it could be raised to.
fn limit(which: c_int, value: u64) -> io::Result<()> {
    // SAFETY: the structure is plain numbers and lives longer than the calls.
    unsafe {
        let mut found: libc::rlimit = zeroed();
        if libc::getrlimit(which, &raw mut found) != 0 {
            return Err(io::Error::last_os_error());
        }
        let value = value.min(found.rlim_max);
        let wanted = libc::rlimit {
            rlim_cur: value,
            rlim_max: value,
        };
        if libc::setrlimit(which, &raw const wanted) != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

/// One more than the highest descriptor that can exist.
fn descriptors() -> c_int {
    // SAFETY: takes nothing.
    unsafe { libc::getdtablesize() }.clamp(256, MOST_DESCRIPTORS)
}
