//! Pid 1 of a command's process namespace: starts the command, reaps, watches the app and the limits. When it exits, the
//! kernel ends everything that is left in the namespace, whatever it did to get away.

use std::io::Read;
use std::net::TcpListener;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use super::helper::{Failure, Step, refuse, silence};
use super::wire::{Plan, Report, STOP, send, send_with};
use super::{lockdown, sys};
use crate::command::{Limit, ResourceLimits};

const SAMPLE: Duration = Duration::from_millis(50);
const GRACE: Duration = Duration::from_millis(300);

/// Runs the command to its end; returns the exit code of pid 1.
/// The proxy's listener goes to the app, which alone takes connections from it.
pub(super) fn run(plan: &Plan, mut socket: UnixStream, proxy: Option<TcpListener>) -> i32 {
    let started = (|| {
        rustix::process::chdir(plan.folder.as_str())
            .map_err(Into::into)
            .step("entering the working folder")?;
        let events = sys::child_events().step("watching the command")?;
        silence(&[0]).step("closing the input")?;
        let command = sys::fork().step("starting the command")?;
        Ok((events, command))
    })();
    match started {
        Err(failure) => refuse(&mut socket, &failure),
        Ok((_, None)) => {
            drop((socket, proxy));
            lockdown::execute(plan)
        }
        Ok((events, Some(command))) => {
            let ready = silence(&[1, 2])
                .step("closing the output")
                .and_then(|()| drop_privileges(plan))
                .and_then(|()| {
                    match &proxy {
                        Some(proxy) => send_with(&mut socket, &Report::Started, proxy.as_fd()),
                        None => send(&mut socket, &Report::Started),
                    }
                    .step("reporting")
                });
            drop(proxy);
            if let Err(failure) = ready {
                return refuse(&mut socket, &failure);
            }
            let report = watch(&mut socket, &events, command, &plan.limits, &Namespace);
            if let Some(report) = report {
                let _ = send(&mut socket, &report);
            }
            0
        }
    }
}

/// Where another program made the walls it has dropped them, which was looked at.
fn drop_privileges(plan: &Plan) -> Result<(), Failure> {
    if plan.bwrap.is_some() {
        return Ok(());
    }
    sys::drop_capabilities().step("dropping privileges")
}

/// The processes of a command.
pub(super) trait Herd {
    /// Each with its resident pages (0 for those that ended).
    fn processes(&self) -> Vec<(u32, u64)>;

    /// Asks every one to end, be it in another session or group.
    fn ask_to_end(&self);
}

/// All processes of the namespace but this one.
struct Namespace;

impl Herd for Namespace {
    fn processes(&self) -> Vec<(u32, u64)> {
        processes().collect()
    }

    fn ask_to_end(&self) {
        sys::send_signal(-1, libc::SIGTERM);
    }
}

/// Watches until the command is over; none when the app is gone.
pub(super) fn watch(
    socket: &mut UnixStream,
    events: &impl AsFd,
    command: libc::pid_t,
    limits: &ResourceLimits,
    herd: &dyn Herd,
) -> Option<Report> {
    let mut end_at: Option<Instant> = None;
    let mut sample_at = Instant::now() + SAMPLE;
    loop {
        let (told, ended) = sys::readable(socket.as_fd(), events.as_fd(), milliseconds(sample_at));
        if told {
            let mut byte = [0];
            match socket.read(&mut byte) {
                Ok(1) if byte[0] == STOP => {
                    herd.ask_to_end();
                    end_at.get_or_insert(Instant::now() + GRACE);
                }
                _ => return None,
            }
        }
        if (ended || end_at.is_some())
            && let Some(status) = reap(command)
        {
            return Some(Report::Ended {
                status,
                left: count(herd),
            });
        }
        if end_at.is_some_and(|at| at <= Instant::now()) {
            return Some(Report::Ended {
                status: libc::SIGKILL,
                left: count(herd),
            });
        }
        if sample_at <= Instant::now() {
            sample_at = Instant::now() + SAMPLE;
            if let Some(limit) = exceeded(limits, herd) {
                return Some(Report::LimitExceeded {
                    limit,
                    left: count(herd),
                });
            }
        }
    }
}

fn milliseconds(at: Instant) -> i32 {
    let left = at.saturating_duration_since(Instant::now());
    i32::try_from(left.as_millis()).unwrap_or(0).max(1)
}

/// Reaps what ended; the status of the command when it is among it.
fn reap(command: libc::pid_t) -> Option<i32> {
    while let Ok(Some((process, status))) = sys::wait_for(-1, false) {
        if process == command {
            return Some(status);
        }
    }
    None
}

fn count(herd: &dyn Herd) -> u32 {
    let alive = herd.processes().iter().filter(|(_, pages)| *pages > 0).count();
    u32::try_from(alive).unwrap_or(u32::MAX)
}

fn exceeded(limits: &ResourceLimits, herd: &dyn Herd) -> Option<Limit> {
    let (count, pages) = herd
        .processes()
        .iter()
        .fold((0_u32, 0_u64), |(count, sum), (_, pages)| {
            (count + 1, sum + pages)
        });
    if count > limits.processes {
        Some(Limit::Processes)
    } else if pages.saturating_mul(rustix::param::page_size() as u64) > limits.memory {
        Some(Limit::Memory)
    } else {
        None
    }
}

/// The processes of the namespace but this one, with their resident pages (0 for those that ended).
fn processes() -> impl Iterator<Item = (u32, u64)> {
    std::fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let process: u32 = entry
                .file_name()
                .to_str()?
                .parse()
                .ok()
                .filter(|process| *process != 1)?;
            let facts = std::fs::read_to_string(format!("/proc/{process}/statm")).ok()?;
            let pages = facts.split(' ').nth(1)?.parse().ok()?;
            Some((process, pages))
        })
}

/// A failure inside of the command's process, before its program runs.
pub(super) fn describe(failure: &Failure) -> String {
    format!(
        "paddock: the sandbox could not be closed ({}: {}), so the command was not run\n",
        failure.step, failure.error
    )
}
