//! The process that outlives Paddock for a moment: started before a command, it does nothing but wait, and when Paddock
//! is gone without a word it ends everything that carries the run's mark. A command cannot reach it: its profile lets it
//! signal its own kind only.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::marker::Marker;
use super::processes::{Names, kill, marked};
use crate::command::HelperProgram;

const NAME: &str = "paddock-keeper";
const READY: u8 = b'k';
const DONE: u8 = b'd';
const START_TIME: Duration = Duration::from_secs(10);
/// How often the processes are looked through at most: each time some were found and ended.
const MAX_ROUNDS: u32 = 400;
const PAUSE: Duration = Duration::from_millis(2);

/// A keeper that waits.
pub(super) struct Keeper {
    child: Child,
    socket: UnixStream,
}

impl Keeper {
    /// Starts the helper program as the keeper of a run.
    pub(super) fn start(helper: &HelperProgram, marker: &Marker) -> io::Result<Self> {
        let (mut socket, far) = UnixStream::pair()?;
        let mut command = Command::new(helper.path());
        command
            .arg0(NAME)
            .arg(marker.text())
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::from(OwnedFd::from(far)))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0);
        let mut child = command.spawn()?;
        // The command value holds the far end, and without it the socket would tell when the keeper is gone.
        drop(command);
        socket.set_read_timeout(Some(START_TIME))?;
        let mut answer = [0];
        let ready = socket.read_exact(&mut answer).is_ok() && answer == [READY];
        if !ready {
            let _ = child.kill();
            let _ = child.wait();
            return Err(io::Error::other(
                "the process that ends what is left over did not start",
            ));
        }
        Ok(Self { child, socket })
    }

    /// Lets the keeper go: everything was ended.
    pub(super) fn dismiss(mut self) {
        let _ = self.socket.write_all(&[DONE]);
        let _ = self.child.wait();
    }
}

/// Keeps and does not return, when this process was started for that.
pub(crate) fn run_if_asked() {
    let mut arguments = std::env::args_os();
    if arguments.next() != Some(OsString::from(NAME)) {
        return;
    }
    let marker = arguments.next().and_then(|text| Marker::read(text.to_str()?));
    let kept = marker
        .ok_or(io::ErrorKind::InvalidInput.into())
        .and_then(|marker| keep(&marker));
    std::process::exit(i32::from(kept.is_err()));
}

fn keep(marker: &Marker) -> io::Result<()> {
    let mut socket = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    socket.write_all(&[READY])?;
    let mut word = [0];
    if socket.read(&mut word).unwrap_or(0) == 0 || word != [DONE] {
        end_marked(marker);
    }
    Ok(())
}

/// Ends all processes that carry a mark, until a look through all processes finds none; how many there were.
pub(super) fn end_marked(marker: &Marker) -> u32 {
    let Some(names) = Names::of(marker) else {
        return 0;
    };
    let mut ended = Vec::new();
    for _ in 0..MAX_ROUNDS {
        let found = marked(&names);
        if found.is_empty() {
            break;
        }
        for pid in found {
            if kill(pid) && !ended.contains(&pid) {
                ended.push(pid);
            }
        }
        std::thread::sleep(PAUSE);
    }
    u32::try_from(ended.len()).unwrap_or(u32::MAX)
}
