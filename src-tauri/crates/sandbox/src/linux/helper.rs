//! The helper: the own program, started again to build the sandbox around one command. It has one thread. Three processes
//! come of it: the keeper outside of the namespaces, which dies with the app; pid 1 inside, which dies with the keeper and
//! takes everything with it; and the command.

use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::net::UnixStream;

use super::wire::{Plan, Report, receive, send};
use super::{bwrap, init, outer, reduced, sys, view};

/// The name this program is started under to be the helper.
pub(super) const NAME: &str = "paddock-sandbox";

/// A step that failed.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) step: &'static str,
    pub(super) error: io::Error,
}

/// Names the step an error came from.
pub(super) trait Step<T> {
    fn step(self, step: &'static str) -> Result<T, Failure>;
}

impl<T> Step<T> for io::Result<T> {
    fn step(self, step: &'static str) -> Result<T, Failure> {
        self.map_err(|error| Failure { step, error })
    }
}

/// Runs the helper when this process was started as one; does not return then.
pub(crate) fn run_if_asked() {
    let mut words = std::env::args_os();
    let Some(name) = words.next() else { return };
    if name == NAME {
        sys::exit_now(keep());
    }
    if name == bwrap::INSIDE {
        sys::exit_now(outer::live_inside(
            words.filter_map(|word| word.into_string().ok()),
        ));
    }
}

/// The keeper's part: makes the namespaces, starts pid 1 in them and waits until all of it is gone.
fn keep() -> i32 {
    let started = (|| {
        sys::die_with_parent()?;
        sys::close_from(3)?;
        Ok(UnixStream::from(sys::take_standard_input()?))
    })();
    let Ok::<UnixStream, io::Error>(mut socket) = started else {
        return 1;
    };
    let Ok(plan) = receive::<Plan>(&mut socket) else {
        return 1;
    };
    if plan.reduced.is_some() {
        return reduced::keep(&plan, socket);
    }
    if let Some(by) = &plan.bwrap {
        return outer::keep(&plan, by, socket);
    }
    let child = match enter_namespaces(&plan) {
        Ok(()) => sys::fork().step("starting pid 1"),
        Err(failure) => Err(failure),
    };
    match child {
        Ok(Some(child)) => {
            // Nothing but the command may hold its output open. The socket stays: its end tells the app that all are gone,
            // before the kernel clears away the mounts.
            let _ = silence(&[0, 1, 2]);
            let _ = sys::wait_for(child, true);
            0
        }
        Ok(None) => live_as_first(plan, socket),
        Err(failure) => refuse(&mut socket, &failure),
    }
}

fn live_as_first(plan: Plan, mut socket: UnixStream) -> i32 {
    let built = (|| {
        sys::die_with_parent().step("tying to the app")?;
        if !plan.host_network {
            sys::loopback_up().step("starting the own loopback")?;
        }
        let proxy = plan
            .proxy_port
            .map(|port| TcpListener::bind((Ipv4Addr::LOCALHOST, port)))
            .transpose()
            .step("making room for the proxy")?;
        view::build(&plan)?;
        Ok(proxy)
    })();
    match built {
        Ok(proxy) => init::run(&plan, socket, proxy),
        Err(failure) => refuse(&mut socket, &failure),
    }
}

fn enter_namespaces(plan: &Plan) -> Result<(), Failure> {
    let (user, group) = sys::ids();
    let mut namespaces = libc::CLONE_NEWUSER
        | libc::CLONE_NEWNS
        | libc::CLONE_NEWPID
        | libc::CLONE_NEWIPC
        | libc::CLONE_NEWUTS
        | libc::CLONE_NEWCGROUP;
    if !plan.host_network {
        namespaces |= libc::CLONE_NEWNET;
    }
    sys::unshare(namespaces).step("making namespaces")?;
    std::fs::write("/proc/self/setgroups", "deny").step("mapping groups")?;
    std::fs::write("/proc/self/uid_map", format!("{user} {user} 1")).step("mapping the user")?;
    std::fs::write("/proc/self/gid_map", format!("{group} {group} 1")).step("mapping the group")?;
    sys::become_private().step("hiding the helper")
}

/// Connects standard descriptors to nothing.
pub(super) fn silence(numbers: &[i32]) -> io::Result<()> {
    use std::os::fd::AsFd;
    let nothing = std::fs::OpenOptions::new()
        .read(true)
        .write(true)
        .open("/dev/null")?;
    numbers
        .iter()
        .try_for_each(|number| sys::duplicate_to(nothing.as_fd(), *number))
}

pub(super) fn refuse(socket: &mut UnixStream, failure: &Failure) -> i32 {
    let errno = failure.error.raw_os_error().unwrap_or(libc::EINVAL);
    let _ = send(
        socket,
        &Report::Failed {
            step: failure.step.to_owned(),
            errno,
        },
    );
    1
}
