//! What the app and the helper say to each other over one socket: a plan, then one byte to stop; back come reports. The
//! socket's end is also each side's sign that the other one is gone.

use std::io::{self, Read, Write};

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
    pub(super) host_network: bool,
    /// Programs to try in turn.
    pub(super) programs: Vec<String>,
    pub(super) arguments: Vec<String>,
    pub(super) environment: Vec<String>,
    pub(super) limits: ResourceLimits,
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
    let body = serde_json::to_vec(message)?;
    let length = u32::try_from(body.len()).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
    let mut frame = length.to_le_bytes().to_vec();
    frame.extend_from_slice(&body);
    socket.write_all(&frame)
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
