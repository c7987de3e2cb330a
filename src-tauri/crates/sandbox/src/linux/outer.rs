//! The helper around the system's bubblewrap: the keeper outside, which starts it and passes on why it would not, and pid 1
//! inside, which believes nothing before it has seen that the walls stand.

use std::ffi::CString;
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;

use rustix::fs::{MemfdFlags, StatVfsMountFlags, memfd_create};
use rustix::io::FdFlags;

use super::helper::{Failure, Step, refuse, silence};
use super::wire::{ByBwrap, Plan, Report, receive, send};
use super::{bwrap, init, sys, view};

/// How much of what bubblewrap says is passed on, in bytes.
const MAX_SAID: u64 = 300;

/// The keeper's part: starts bubblewrap with the helper in it and waits until all of it is gone.
pub(super) fn keep(plan: &Plan, by: &ByBwrap, mut socket: UnixStream) -> i32 {
    let started = (|| {
        sys::become_private().step("hiding the helper")?;
        view::open_project(&plan.project).step("opening the project")?;
        let outer = Outer::prepare(plan, by).step("preparing bubblewrap")?;
        let child = sys::fork().step("starting bubblewrap")?;
        Ok((outer, child))
    })();
    match started {
        Err(failure) => refuse(&mut socket, &failure),
        Ok((outer, None)) => {
            let error = outer.become_bubblewrap(&socket);
            refuse(
                &mut socket,
                &Failure {
                    step: "starting bubblewrap",
                    error,
                },
            )
        }
        Ok((outer, Some(child))) => {
            // Nothing but the command may hold its output open. The socket stays: its end tells the app that all are gone.
            let _ = silence(&[0, 1, 2]);
            let said = outer.said();
            let ended = sys::wait_for(child, true);
            if !said.is_empty() && !matches!(ended, Ok(Some((_, 0)))) {
                let step = format!("letting bubblewrap make the walls; it says “{said}”");
                let errno = libc::EPERM;
                let _ = send(&mut socket, &Report::Failed { step, errno });
            }
            0
        }
    }
}

/// Everything bubblewrap is given.
struct Outer {
    program: CString,
    arguments: Vec<CString>,
    environment: Vec<CString>,
    /// What it inherits besides.
    inherited: Vec<OwnedFd>,
    says: OwnedFd,
    hears: OwnedFd,
}

impl Outer {
    fn prepare(plan: &Plan, by: &ByBwrap) -> io::Result<Self> {
        let helper = std::fs::read_link("/proc/self/exe")?;
        let helper = helper.to_str().ok_or(io::ErrorKind::InvalidInput)?;
        let libraries = std::env::var("LD_LIBRARY_PATH").unwrap_or_default();
        let folders: Vec<String> = libraries
            .split(':')
            .filter(|folder| folder.starts_with('/'))
            .map(str::to_owned)
            .collect();
        // Neither the plan nor what follows from it can be read by others in a list of processes.
        let mut told = Vec::new();
        for word in bwrap::arguments(plan, by, helper, &folders) {
            told.extend(CString::new(word)?.into_bytes_with_nul());
        }
        let told = in_memory(&told)?;
        let mut passed = Vec::new();
        send(&mut passed, plan)?;
        let passed = in_memory(&passed)?;
        let errors = sys::take(2)?;
        let (hears, says) = io::pipe()?;
        let number = |descriptor: &OwnedFd| descriptor.as_raw_fd().to_string();
        let words = [
            by.program.clone(),
            "--args".into(),
            number(&told),
            "--".into(),
            bwrap::INSIDE.into(),
            number(&passed),
            number(&errors),
        ];
        let environment: Vec<String> = if folders.is_empty() {
            Vec::new()
        } else {
            vec![format!("LD_LIBRARY_PATH={}", folders.join(":"))]
        };
        Ok(Self {
            program: CString::new(by.program.as_str())?,
            arguments: texts(words)?,
            environment: texts(environment)?,
            inherited: vec![told, passed, errors],
            says: says.into(),
            hears: hears.into(),
        })
    }

    /// Returns only when it could not.
    fn become_bubblewrap(&self, socket: &UnixStream) -> io::Error {
        let connected = (|| {
            sys::die_with_parent()?;
            sys::duplicate_to(socket.as_fd(), 0)?;
            // Its own words do not belong to the output of the command.
            sys::duplicate_to(self.says.as_fd(), 2)?;
            for descriptor in &self.inherited {
                rustix::io::fcntl_setfd(descriptor, FdFlags::empty())?;
            }
            Ok::<(), io::Error>(())
        })();
        match connected {
            Ok(()) => sys::execute(&self.program, &self.arguments, &self.environment),
            Err(error) => error,
        }
    }

    /// The first line that bubblewrap says, or nothing; waits until it says no more.
    fn said(self) -> String {
        drop((self.says, self.inherited));
        let mut text = Vec::new();
        let _ = File::from(self.hears).take(MAX_SAID).read_to_end(&mut text);
        let text = String::from_utf8_lossy(&text);
        text.lines()
            .next()
            .unwrap_or_default()
            .trim_start_matches("bwrap: ")
            .to_owned()
    }
}

fn texts(words: impl IntoIterator<Item = String>) -> io::Result<Vec<CString>> {
    words.into_iter().map(|word| Ok(CString::new(word)?)).collect()
}

fn in_memory(bytes: &[u8]) -> io::Result<OwnedFd> {
    let mut file = File::from(memfd_create("paddock", MemfdFlags::CLOEXEC)?);
    file.write_all(bytes)?;
    file.rewind()?;
    Ok(file.into())
}

/// The part of pid 1 inside: looks at the walls, then runs the command to its end.
pub(super) fn live_inside(mut words: impl Iterator<Item = String>) -> i32 {
    let mut number = || words.next()?.parse::<RawFd>().ok();
    let (Some(passed), Some(errors)) = (number(), number()) else {
        return 1;
    };
    let begun = (|| {
        sys::die_with_parent()?;
        sys::become_private()?;
        let plan: Plan = receive(&mut File::from(sys::take(passed)?))?;
        sys::duplicate_to(sys::take(errors)?.as_fd(), 2)?;
        sys::close_from(3)?;
        Ok::<_, io::Error>((plan, UnixStream::from(sys::take_standard_input()?)))
    })();
    let Ok((plan, mut socket)) = begun else {
        return 1;
    };
    let ready = walls_stand(&plan).and_then(|()| {
        plan.proxy_port
            .map(|port| TcpListener::bind((Ipv4Addr::LOCALHOST, port)))
            .transpose()
            .step("making room for the proxy")
    });
    match ready {
        Ok(proxy) => init::run(&plan, socket, proxy),
        Err(failure) => refuse(&mut socket, &failure),
    }
}

/// Looks whether what was told was done. The paths of the project were followed by another program, at another time.
fn walls_stand(plan: &Plan) -> Result<(), Failure> {
    let missing = || io::Error::from(io::ErrorKind::PermissionDenied);
    let must = |holds: bool, step| holds.then_some(()).ok_or_else(missing).step(step);
    must(std::process::id() == 1, "being alone")?;
    must(
        sys::is_without_privileges().step("dropping privileges")?,
        "dropping privileges",
    )?;
    let root = open("/").step("closing the new root")?;
    must(
        is_read_only(&root).step("closing the new root")?,
        "closing the new root",
    )?;

    let project = view::open_project(&plan.project).step("opening the project")?;
    let is_closed = is_read_only(&project).step("attaching the project")?;
    must(is_closed == plan.project.read_only, "attaching the project")?;
    let protected = plan.project.protected.iter().filter(|_| !plan.project.read_only);
    for path in protected {
        let Some(found) = view::present(view::open_in(&project, path)).step("protecting files")? else {
            continue;
        };
        must(is_read_only(&found).step("protecting files")?, "protecting files")?;
    }
    for path in &plan.project.hidden {
        let Some(found) = view::present(view::open_in(&project, path)).step("hiding files")? else {
            continue;
        };
        let mode = rustix::fs::fstat(&found)
            .map_err(Into::into)
            .step("hiding files")?
            .st_mode;
        must(
            mode & 0o777 == 0 && is_read_only(&found).step("hiding files")?,
            "hiding files",
        )?;
    }
    Ok(())
}

fn open(path: &str) -> io::Result<OwnedFd> {
    let flags = rustix::fs::OFlags::PATH | rustix::fs::OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, rustix::fs::Mode::empty())?)
}

fn is_read_only(handle: &OwnedFd) -> io::Result<bool> {
    Ok(rustix::fs::fstatvfs(handle)?
        .f_flag
        .contains(StatVfsMountFlags::RDONLY))
}
