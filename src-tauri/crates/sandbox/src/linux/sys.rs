//! The system calls of the helper, each wrapped once. All unsafe code of the confinement is here; the wrappers take and
//! return owned or borrowed values only, so that nothing above them has to be unsafe.
#![allow(unsafe_code)]

use std::ffi::{CStr, CString};
use std::io;
use std::mem::{size_of, zeroed};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::ptr::null;

pub(super) const READ_ONLY: u64 = libc::MOUNT_ATTR_RDONLY;
pub(super) const NO_SUID: u64 = libc::MOUNT_ATTR_NOSUID;
pub(super) const NO_DEVICES: u64 = libc::MOUNT_ATTR_NODEV;

fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(result)
    }
}

fn check_call(result: libc::c_long) -> io::Result<RawFd> {
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(RawFd::try_from(result).unwrap_or(0))
    }
}

fn text(value: &str) -> io::Result<CString> {
    Ok(CString::new(value)?)
}

/// Closes every descriptor from `first` on.
pub(super) fn close_from(first: libc::c_uint) -> io::Result<()> {
    // SAFETY: closing descriptors touches no memory; the helper owns all of its descriptors at this point.
    check_call(unsafe { libc::syscall(libc::SYS_close_range, first, libc::c_uint::MAX, 0) }).map(|_| ())
}

pub(super) fn unshare(flags: libc::c_int) -> io::Result<()> {
    // SAFETY: the helper is single-threaded and shares nothing that it still needs.
    check(unsafe { libc::unshare(flags) }).map(|_| ())
}

/// Forks; the child gets `None`. Only for the helper, which has one thread.
pub(super) fn fork() -> io::Result<Option<libc::pid_t>> {
    // SAFETY: with one thread, the child is a full copy and may run any code.
    let child = check(unsafe { libc::fork() })?;
    Ok((child != 0).then_some(child))
}

/// Ends the process without running exit handlers.
pub(super) fn exit_now(code: i32) -> ! {
    // SAFETY: takes no memory and does not return.
    unsafe { libc::_exit(code) }
}

/// Waits for one child; without `block` only one that ended already. The status is the raw one.
pub(super) fn wait_for(child: libc::pid_t, block: bool) -> io::Result<Option<(libc::pid_t, i32)>> {
    let mut status = 0;
    loop {
        // SAFETY: `status` is valid for writing.
        let result = unsafe { libc::waitpid(child, &mut status, if block { 0 } else { libc::WNOHANG }) };
        match check(result) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => {
                return Ok(Some(result?)
                    .filter(|ended| *ended != 0)
                    .map(|ended| (ended, status)));
            }
        }
    }
}

/// Dies with the thread that started this process.
pub(super) fn die_with_parent() -> io::Result<()> {
    // SAFETY: sets a flag of the own process.
    check(unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL, 0, 0, 0) }).map(|_| ())
}

/// Lives on when the thread that started this process ends.
pub(super) fn outlive_parent() -> io::Result<()> {
    // SAFETY: sets a flag of the own process.
    check(unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, 0, 0, 0, 0) }).map(|_| ())
}

/// Becomes the parent of every process below this one whose parent ends.
pub(super) fn adopt_orphans() -> io::Result<()> {
    // SAFETY: sets a flag of the own process.
    check(unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }).map(|_| ())
}

/// Lets no signal end this process that it can do something about.
pub(super) fn ignore_ends() {
    for signal in [libc::SIGTERM, libc::SIGINT, libc::SIGHUP, libc::SIGQUIT] {
        // SAFETY: ignoring a signal runs no code.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
}

/// Hides memory, environment and descriptors from other processes of the same account.
pub(super) fn become_private() -> io::Result<()> {
    // SAFETY: sets a flag of the own process.
    check(unsafe { libc::prctl(libc::PR_SET_DUMPABLE, 0, 0, 0, 0) }).map(|_| ())
}

pub(super) fn no_new_privileges() -> io::Result<()> {
    // SAFETY: sets a flag of the own process.
    check(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) }).map(|_| ())
}

pub(super) fn new_session() -> io::Result<()> {
    // SAFETY: takes no memory.
    check(unsafe { libc::setsid() }).map(|_| ())
}

pub(super) fn ids() -> (u32, u32) {
    // SAFETY: both calls only return numbers.
    unsafe { (libc::geteuid(), libc::getegid()) }
}

pub(super) fn send_signal(process: libc::pid_t, signal: libc::c_int) {
    // SAFETY: takes no memory; a process that is gone is fine.
    unsafe { libc::kill(process, signal) };
}

/// Drops every capability for good, those an exec as uid 0 would bring back included.
pub(super) fn drop_capabilities() -> io::Result<()> {
    const ALL_SECURE_BITS_LOCKED: libc::c_ulong = 0xEF;
    const VERSION_3: u32 = 0x2008_0522;
    for capability in 0..=63 as libc::c_ulong {
        // SAFETY: changes only the own process.
        if unsafe { libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0) } != 0 {
            break;
        }
    }
    // SAFETY: changes only the own process.
    unsafe {
        check(libc::prctl(
            libc::PR_CAP_AMBIENT,
            libc::PR_CAP_AMBIENT_CLEAR_ALL,
            0,
            0,
            0,
        ))?;
        check(libc::prctl(
            libc::PR_SET_SECUREBITS,
            ALL_SECURE_BITS_LOCKED,
            0,
            0,
            0,
        ))?;
    }
    let header: [u32; 2] = [VERSION_3, 0];
    let none = [0_u32; 6];
    // SAFETY: header and data have the layout of version 3: two words, and two sets of three words.
    check_call(unsafe { libc::syscall(libc::SYS_capset, header.as_ptr(), none.as_ptr()) }).map(|_| ())
}

/// Whether this process has no capability left, and none that a program it executes as uid 0 could get.
pub(super) fn is_without_privileges() -> io::Result<bool> {
    let facts = std::fs::read_to_string("/proc/self/status")?;
    let sets: Vec<&str> = facts
        .lines()
        .filter_map(|line| line.strip_prefix("Cap")?.split_once(":\t"))
        .filter(|(name, _)| *name != "Bnd" || ids().0 == 0)
        .map(|(_, value)| value)
        .collect();
    Ok(sets.len() >= 4 && sets.iter().all(|set| set.bytes().all(|digit| digit == b'0')))
}

pub(super) fn limit(resource: libc::__rlimit_resource_t, value: u64) -> io::Result<()> {
    // SAFETY: `old` is valid for writing, `new` for reading.
    unsafe {
        let mut old: libc::rlimit = zeroed();
        check(libc::getrlimit(resource, &mut old))?;
        let value = value.min(old.rlim_max);
        let new = libc::rlimit {
            rlim_cur: value,
            rlim_max: value,
        };
        check(libc::setrlimit(resource, &new)).map(|_| ())
    }
}

/// Makes the loopback of an empty network namespace usable.
pub(super) fn loopback_up() -> io::Result<()> {
    // SAFETY: the request is zeroed and holds the name with its end; the descriptor is closed at the end.
    unsafe {
        let socket = OwnedFd::from_raw_fd(check(libc::socket(
            libc::AF_INET,
            libc::SOCK_DGRAM | libc::SOCK_CLOEXEC,
            0,
        ))?);
        let mut request: libc::ifreq = zeroed();
        request.ifr_name[0] = b'l' as libc::c_char;
        request.ifr_name[1] = b'o' as libc::c_char;
        request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
        check(libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS as _, &request)).map(|_| ())
    }
}

/// Mounts a new file system (or changes propagation, with no kind).
pub(super) fn mount(kind: Option<&str>, target: &str, flags: libc::c_ulong, options: &str) -> io::Result<()> {
    let (target, options) = (text(target)?, text(options)?);
    let kind = kind.map(text).transpose()?;
    let kind = kind.as_ref().map_or(null(), |kind| kind.as_ptr());
    // SAFETY: all pointers are C strings that live through the call, or null.
    check(unsafe { libc::mount(kind, target.as_ptr(), kind, flags, options.as_ptr().cast()) }).map(|_| ())
}

/// A detached copy of the mounts at a descriptor, with attributes added to all of them.
pub(super) fn copy_mounts(source: BorrowedFd<'_>, attributes: u64) -> io::Result<OwnedFd> {
    const RECURSIVE: libc::c_uint = libc::AT_RECURSIVE as libc::c_uint;
    const EMPTY_PATH: libc::c_uint = libc::AT_EMPTY_PATH as libc::c_uint;
    let flags = libc::OPEN_TREE_CLONE | libc::OPEN_TREE_CLOEXEC | RECURSIVE | EMPTY_PATH;
    // SAFETY: the path is an empty C string; the returned descriptor is new and owned.
    let copy = unsafe {
        let copy = libc::syscall(libc::SYS_open_tree, source.as_raw_fd(), c"".as_ptr(), flags);
        OwnedFd::from_raw_fd(check_call(copy)?)
    };
    set_mount(copy.as_raw_fd(), c"", attributes, EMPTY_PATH | RECURSIVE)?;
    Ok(copy)
}

/// Adds attributes to the mount at a path, not to those below it.
pub(super) fn restrict_mount(path: &str, attributes: u64) -> io::Result<()> {
    set_mount(libc::AT_FDCWD, &text(path)?, attributes, 0)
}

fn set_mount(folder: RawFd, path: &CStr, attributes: u64, flags: libc::c_uint) -> io::Result<()> {
    let change = libc::mount_attr {
        attr_set: attributes,
        attr_clr: 0,
        propagation: 0,
        userns_fd: 0,
    };
    // SAFETY: the path is a C string and the size is that of the struct passed.
    check_call(unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            folder,
            path.as_ptr(),
            flags,
            &change,
            size_of::<libc::mount_attr>(),
        )
    })
    .map(|_| ())
}

/// Attaches a detached mount at a descriptor of the new tree.
pub(super) fn attach(mounts: BorrowedFd<'_>, target: BorrowedFd<'_>) -> io::Result<()> {
    let flags = libc::MOVE_MOUNT_F_EMPTY_PATH | libc::MOVE_MOUNT_T_EMPTY_PATH;
    // SAFETY: both paths are empty C strings.
    check_call(unsafe {
        libc::syscall(
            libc::SYS_move_mount,
            mounts.as_raw_fd(),
            c"".as_ptr(),
            target.as_raw_fd(),
            c"".as_ptr(),
            flags,
        )
    })
    .map(|_| ())
}

/// Makes the working folder the root and lets go of the old one.
pub(super) fn make_root_of_here() -> io::Result<()> {
    // SAFETY: all paths are C strings.
    unsafe {
        check_call(libc::syscall(libc::SYS_pivot_root, c".".as_ptr(), c".".as_ptr()))?;
        check(libc::umount2(c".".as_ptr(), libc::MNT_DETACH))?;
        check(libc::chdir(c"/".as_ptr())).map(|_| ())
    }
}

/// Makes `descriptor` also be number `number`, inherited by programs that are executed.
pub(super) fn duplicate_to(descriptor: BorrowedFd<'_>, number: RawFd) -> io::Result<()> {
    // SAFETY: replaces one of the three standard descriptors, which nothing in the helper owns.
    check(unsafe { libc::dup2(descriptor.as_raw_fd(), number) }).map(|_| ())
}

/// A copy of an inherited descriptor, by number, that is owned and not inherited.
pub(super) fn take(number: RawFd) -> io::Result<OwnedFd> {
    // SAFETY: the new descriptor is owned by nobody else.
    unsafe {
        Ok(OwnedFd::from_raw_fd(check(libc::fcntl(
            number,
            libc::F_DUPFD_CLOEXEC,
            3,
        ))?))
    }
}

/// Takes over standard input as an owned descriptor that is not inherited.
pub(super) fn take_standard_input() -> io::Result<OwnedFd> {
    take(0)
}

/// A descriptor that becomes readable when a child ends. The signal is blocked from now on.
pub(super) fn child_events() -> io::Result<OwnedFd> {
    // SAFETY: the set is initialised before use; the returned descriptor is new and owned.
    unsafe {
        let mut set: libc::sigset_t = zeroed();
        libc::sigemptyset(&mut set);
        libc::sigaddset(&mut set, libc::SIGCHLD);
        check(libc::sigprocmask(libc::SIG_BLOCK, &set, std::ptr::null_mut()))?;
        Ok(OwnedFd::from_raw_fd(check(libc::signalfd(
            -1,
            &set,
            libc::SFD_CLOEXEC | libc::SFD_NONBLOCK,
        ))?))
    }
}

/// Gives the process about to be executed no blocked signal and the usual handlers.
pub(super) fn usual_signals() {
    // SAFETY: the set is initialised before use; only the own process changes.
    unsafe {
        let mut set: libc::sigset_t = zeroed();
        libc::sigemptyset(&mut set);
        libc::sigprocmask(libc::SIG_SETMASK, &set, std::ptr::null_mut());
        for signal in [
            libc::SIGPIPE,
            libc::SIGTERM,
            libc::SIGINT,
            libc::SIGHUP,
            libc::SIGQUIT,
        ] {
            libc::signal(signal, libc::SIG_DFL);
        }
    }
}

/// Waits until one of two descriptors is readable; false for those that are not.
pub(super) fn readable(one: BorrowedFd<'_>, other: BorrowedFd<'_>, milliseconds: i32) -> (bool, bool) {
    let watch = |descriptor: BorrowedFd<'_>| libc::pollfd {
        fd: descriptor.as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    };
    let mut watched = [watch(one), watch(other)];
    // SAFETY: the array holds as many entries as are passed.
    let count = unsafe { libc::poll(watched.as_mut_ptr(), 2, milliseconds) };
    if count <= 0 {
        (false, false)
    } else {
        (watched[0].revents != 0, watched[1].revents != 0)
    }
}

/// Replaces the program of this process; returns only on failure.
pub(super) fn execute(program: &CStr, arguments: &[CString], environment: &[CString]) -> io::Error {
    let list = |texts: &[CString]| -> Vec<*const libc::c_char> {
        texts.iter().map(|text| text.as_ptr()).chain([null()]).collect()
    };
    let (arguments, environment) = (list(arguments), list(environment));
    // SAFETY: both lists hold C strings that live through the call and end with null.
    unsafe { libc::execve(program.as_ptr(), arguments.as_ptr(), environment.as_ptr()) };
    io::Error::last_os_error()
}
