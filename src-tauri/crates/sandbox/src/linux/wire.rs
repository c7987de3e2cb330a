//! What the app and the helper say to each other over one socket: a plan, then one byte to stop; back come reports. The
//! socket's end is also each side's sign that the other one is gone.

use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::io::retry_on_intr;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recvmsg, sendmsg,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::command::{Limit, ResourceLimits};

/// The byte that asks for the end of the command.
pub(super) const STOP: u8 = b's';
const MAX_FRAME: u32 = 64 * 1024 * 1024;

/// Everything the helper needs to know. Paths are absolute unless said otherwise.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Plan {
    pub(super) project: Project,
    /// The working folder.
    pub(super) folder: String,
    /// Links to make in the new root: where, and what they say.
    pub(super) links: Vec<(String, String)>,
    /// What is visible, folders before what lies in them.
    pub(super) places: Vec<Place>,
    /// Paths whose content must not be seen.
    pub(super) masked: Vec<String>,
    /// Set where no namespaces can be made: what may be reached is then listed here, and nothing else holds.
    pub(super) reduced: Option<Reachable>,
    /// Set where another program has to make the namespaces and mounts.
    pub(super) bwrap: Option<ByBwrap>,
    pub(super) host_network: bool,
    /// The port of the own loopback where the proxy listens, when there is one.
    pub(super) proxy_port: Option<u16>,
    /// Programs to try in turn.
    pub(super) programs: Vec<String>,
    pub(super) arguments: Vec<String>,
    pub(super) environment: Vec<String>,
    pub(super) limits: ResourceLimits,
}

/// The program that makes the walls, and what it lays over what is hidden.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct ByBwrap {
    pub(super) program: String,
    pub(super) hidden_file: String,
    pub(super) hidden_folder: String,
    /// Whether it can layer folders.
    pub(super) layers: bool,
}

/// Files and folders that a command may reach by the account's own rights.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Reachable {
    pub(super) readable: Vec<String>,
    pub(super) writable: Vec<String>,
}

/// The project in the plan; the paths in it are relative to it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Project {
    pub(super) path: String,
    pub(super) device: u64,
    pub(super) inode: u64,
    pub(super) read_only: bool,
    /// Folders that stay writable but cannot be moved or removed.
    pub(super) pinned: Vec<String>,
    /// Files and folders that become read-only.
    pub(super) protected: Vec<String>,
    /// Files that cannot be read.
    pub(super) hidden: Vec<String>,
}

/// Something that is visible at a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Place {
    pub(super) target: String,
    pub(super) content: Content,
}

/// What is visible at a place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Content {
    /// A file or folder of the machine; left out when it does not exist.
    Machine { source: String, writable: bool },
    /// What the kernel tells about devices, those of the own network only; else that of the machine.
    KernelDevices { machine: String },
    /// An empty folder of the command alone.
    Empty,
    /// A folder of the machine that can be changed for the command alone: changes go to `upper`.
    /// Without `keep` they go to memory and are gone with the command, which is much faster.
    Layer {
        lower: String,
        upper: String,
        work: String,
        keep: bool,
    },
}

/// What the helper reports.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Report {
    Started,
    /// A step of the set-up failed with this error number; nothing was run.
    Failed {
        step: String,
        errno: i32,
    },
    Ended {
        status: i32,
        left: u32,
    },
    LimitExceeded {
        limit: Limit,
        left: u32,
    },
}

pub(super) fn send(socket: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    socket.write_all(&frame(message)?)
}

/// Sends a message with a descriptor beside it, which the other side then has too.
pub(super) fn send_with(
    socket: &mut UnixStream,
    message: &impl Serialize,
    descriptor: BorrowedFd<'_>,
) -> io::Result<()> {
    let frame = frame(message)?;
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut beside = SendAncillaryBuffer::new(&mut space);
    let descriptors = [descriptor];
    beside.push(SendAncillaryMessage::ScmRights(&descriptors));
    let part = [IoSlice::new(&frame)];
    let sent = retry_on_intr(|| sendmsg(&*socket, &part, &mut beside, SendFlags::NOSIGNAL))?;
    socket.write_all(&frame[sent..])
}

fn frame(message: &impl Serialize) -> io::Result<Vec<u8>> {
    let body = serde_json::to_vec(message)?;
    let length = u32::try_from(body.len()).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
    let mut frame = length.to_le_bytes().to_vec();
    frame.extend_from_slice(&body);
    Ok(frame)
}

/// Receives a message and the descriptor beside it, if one came.
pub(super) fn receive_with<T: DeserializeOwned>(socket: &mut UnixStream) -> io::Result<(T, Option<OwnedFd>)> {
    let mut first = [0];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut beside = RecvAncillaryBuffer::new(&mut space);
    let mut part = [IoSliceMut::new(&mut first)];
    // A signal to the app (a child that ended, say) breaks off a wait that has a time limit, whatever the handler's flags.
    let received = retry_on_intr(|| recvmsg(&*socket, &mut part, &mut beside, RecvFlags::CMSG_CLOEXEC))?;
    if received.bytes == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let descriptor = beside.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
        _ => None,
    });
    let message = receive(&mut first.as_slice().chain(socket))?;
    Ok((message, descriptor))
}

pub(super) fn receive<T: DeserializeOwned>(socket: &mut impl Read) -> io::Result<T> {
    let mut length = [0; 4];
    socket.read_exact(&mut length)?;
    let length = u32::from_le_bytes(length);
    if length > MAX_FRAME {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut body = vec![0; length as usize];
    socket.read_exact(&mut body)?;
    Ok(serde_json::from_slice(&body)?)
}

#[cfg(test)]
#[allow(unsafe_code)]
mod tests {
    use super::*;
    use std::os::unix::thread::JoinHandleExt;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;

    static CAME: AtomicBool = AtomicBool::new(false);

    extern "C" fn note(_signal: libc::c_int) {
        CAME.store(true, Ordering::SeqCst);
    }

    #[test]
    fn a_signal_while_the_helper_starts_is_no_failure() {
        let (mut near, mut far) = UnixStream::pair().unwrap();
        let handler = note as extern "C" fn(libc::c_int) as libc::sighandler_t;
        // SAFETY: the handler only sets an atomic flag.
        unsafe { libc::signal(libc::SIGUSR1, handler) };
        let waiting = std::thread::spawn(move || {
            near.set_read_timeout(Some(Duration::from_secs(60)))?;
            receive_with::<Report>(&mut near)
        });
        while !CAME.load(Ordering::SeqCst) {
            std::thread::sleep(Duration::from_millis(20));
            // SAFETY: the thread lives until it is joined below.
            unsafe { libc::pthread_kill(waiting.as_pthread_t(), libc::SIGUSR1) };
        }
        let _ = send(&mut far, &Report::Started);
        let (report, descriptor) = waiting.join().unwrap().unwrap();
        assert_eq!(report, Report::Started);
        assert!(descriptor.is_none());
    }
}
