//! The keeper of a command where no namespaces can be made: the command is held by Landlock and call filters alone, and this
//! process, to which every orphan below it falls, ends what is left of it. It does not die with the app but sees its end by
//! the socket, because it has to end the others first.

use std::collections::BTreeMap;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use super::helper::{Step, refuse, silence};
use super::init::{Herd, watch};
use super::wire::{Plan, Report, send};
use super::{lockdown, sys, view};

/// How long the end of all processes is tried for.
const END_TIME: Duration = Duration::from_secs(10);

/// Runs the command to its end; returns the exit code of the keeper.
pub(super) fn keep(plan: &Plan, mut socket: UnixStream) -> i32 {
    let started = (|| {
        sys::outlive_parent().step("staying for the end")?;
        sys::adopt_orphans().step("taking orphans in")?;
        sys::ignore_ends();
        view::open_project(&plan.project).step("opening the project")?;
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
            drop(socket);
            lockdown::execute(plan)
        }
        Ok((events, Some(command))) => {
            let ready = silence(&[1, 2])
                .step("closing the output")
                .and_then(|()| sys::become_private().step("hiding the helper"))
                .and_then(|()| send(&mut socket, &Report::Started).step("reporting"));
            let report = match ready {
                Ok(()) => watch(&mut socket, &events, command, &plan.limits, &Below),
                Err(_) => None,
            };
            end_all();
            if let Some(report) = report {
                let _ = send(&mut socket, &report);
            }
            0
        }
    }
}

/// The processes below this one.
struct Below;

impl Herd for Below {
    fn processes(&self) -> Vec<(u32, u64)> {
        below()
            .into_iter()
            .map(|process| (process, pages(process).unwrap_or(0)))
            .collect()
    }

    fn ask_to_end(&self) {
        for process in below() {
            send_signal(process, libc::SIGTERM);
        }
    }
}

/// Ends every process below this one, those that are being started meanwhile too.
fn end_all() {
    let until = Instant::now() + END_TIME;
    while Instant::now() < until {
        let processes = below();
        // Held first, so that none starts another one while its turn has not come.
        for signal in [libc::SIGSTOP, libc::SIGKILL] {
            for process in &processes {
                send_signal(*process, signal);
            }
        }
        loop {
            match sys::wait_for(-1, false) {
                Ok(Some(_)) => {}
                Ok(None) => break,
                // Nobody is left.
                Err(_) => return,
            }
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn send_signal(process: u32, signal: libc::c_int) {
    if let Ok(process) = libc::pid_t::try_from(process) {
        sys::send_signal(process, signal);
    }
}

/// Every process whose parents lead here.
fn below() -> Vec<u32> {
    let mut children: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let process = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse::<u32>().ok());
        if let Some(process) = process
            && let Some(parent) = parent(process)
        {
            children.entry(parent).or_default().push(process);
        }
    }
    let mut found = children.remove(&std::process::id()).unwrap_or_default();
    let mut at = 0;
    while let Some(process) = found.get(at) {
        if let Some(next) = children.remove(process) {
            found.extend(next);
        }
        at += 1;
    }
    found
}

fn parent(process: u32) -> Option<u32> {
    let text = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name of a program may hold anything, so the fields are counted from its last bracket.
    text.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()
}

fn pages(process: u32) -> Option<u64> {
    let facts = std::fs::read_to_string(format!("/proc/{process}/statm")).ok()?;
    facts.split(' ').nth(1)?.parse().ok()
}
