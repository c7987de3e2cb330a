//! What a command sees of the machine: a new root made of an allow-list. Everything that will be visible is opened first
//! and attached by descriptor, so a folder that is swapped meanwhile is not followed.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, Mode, OFlags, ResolveFlags, mkdirat, openat2, symlinkat};

use super::helper::{Failure, Step};
use super::sys::{self, NO_DEVICES, NO_SUID, READ_ONLY};
use super::wire::{Content, Plan, Project};

const HIDDEN_FILE: &str = ".hidden-file";
const HIDDEN_FOLDER: &str = ".hidden-folder";
/// Bytes that the private places in memory may hold at least.
pub(super) const MIN_PRIVATE: u64 = 64 * 1024 * 1024;
const DEVICES: &[&str] = &["null", "zero", "full", "random", "urandom", "tty"];
/// Kernel settings that a program with the account of root could still write.
pub(super) const KERNEL_SETTINGS: &[&str] = &["sys", "sysrq-trigger", "irq", "bus", "fs", "acpi", "scsi"];
pub(super) const KERNEL_SECRETS: &[&str] = &[
    "kcore",
    "keys",
    "key-users",
    "kmsg",
    "timer_list",
    "kallsyms",
    "sched_debug",
];

/// A place with everything it needs open.
struct Opened<'a> {
    target: &'a str,
    is_folder: bool,
    content: Open,
}

enum Open {
    Machine {
        source: OwnedFd,
        attributes: u64,
    },
    KernelDevices(OwnedFd),
    Empty,
    Layer {
        lower: OwnedFd,
        upper: OwnedFd,
        work: OwnedFd,
        keep: bool,
    },
}

/// Builds the new root and enters it. Runs in new namespaces as pid 1.
pub(super) fn build(plan: &Plan) -> Result<(), Failure> {
    sys::mount(None, "/", libc::MS_REC | libc::MS_PRIVATE, "").step("detaching mounts")?;
    let project = open_project(&plan.project).step("opening the project")?;
    let opened = open_sources(plan).step("opening what is visible")?;
    let devices = open_devices().step("opening devices")?;

    let stage = ["/tmp", "/mnt", "/run", "/var"]
        .into_iter()
        .find(|path| Path::new(path).is_dir())
        .unwrap_or("/");
    let flags = libc::MS_NOSUID | libc::MS_NODEV;
    // Half of the memory that the command may use: what is in it is not counted with any process.
    let options = format!("mode=755,size={}", (plan.limits.memory / 2).max(MIN_PRIVATE));
    sys::mount(Some("tmpfs"), stage, flags, &options).step("making a new root")?;
    let root = open(stage, OFlags::PATH | OFlags::DIRECTORY).step("making a new root")?;
    prepare(&root).step("making a new root")?;
    private_places(&root, stage).step("making private places")?;
    for (link, target) in &plan.links {
        symlinkat(target, &root, link.trim_start_matches('/'))
            .map_err(Into::into)
            .step("making a new root")?;
    }
    for place in &opened {
        attach(&root, stage, place).step("attaching what is visible")?;
    }
    attach_devices(&root, &devices).step("attaching devices")?;
    attach_project(&root, stage, project, &plan.project).step("attaching the project")?;
    for path in &plan.masked {
        mask(&root, path).step("hiding files of the system")?;
    }
    kernel_view(&root, stage, plan).step("making /proc")?;

    rustix::process::chdir(stage)
        .map_err(Into::into)
        .step("entering the new root")?;
    sys::make_root_of_here().step("entering the new root")?;
    sys::restrict_mount("/", READ_ONLY | NO_SUID | NO_DEVICES).step("closing the new root")
}

fn open(path: &str, flags: OFlags) -> io::Result<OwnedFd> {
    Ok(rustix::fs::open(path, flags | OFlags::CLOEXEC, Mode::empty())?)
}

/// Opens a path below a folder; no link is followed.
pub(super) fn open_in(folder: &OwnedFd, path: &str) -> io::Result<OwnedFd> {
    let path = path.trim_start_matches('/');
    let path = if path.is_empty() { "." } else { path };
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
    Ok(openat2(
        folder,
        path,
        OFlags::PATH | OFlags::CLOEXEC,
        Mode::empty(),
        resolve,
    )?)
}

pub(super) fn open_project(project: &Project) -> io::Result<OwnedFd> {
    let handle = open(&project.path, OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW)?;
    let found = rustix::fs::fstat(&handle)?;
    if (found.st_dev, found.st_ino) != (project.device, project.inode) {
        return Err(io::Error::from_raw_os_error(libc::ESTALE));
    }
    Ok(handle)
}

fn open_sources(plan: &Plan) -> io::Result<Vec<Opened<'_>>> {
    let mut opened = Vec::new();
    for place in &plan.places {
        let content = match &place.content {
            Content::Empty => Open::Empty,
            Content::KernelDevices { machine } => {
                Open::KernelDevices(open(machine, OFlags::PATH | OFlags::DIRECTORY)?)
            }
            Content::Machine { source, writable } => {
                let Some(source) = present(open(source, OFlags::PATH))? else {
                    continue;
                };
                Open::Machine {
                    source,
                    attributes: NO_SUID | if *writable { NO_DEVICES } else { READ_ONLY },
                }
            }
            Content::Layer {
                lower,
                upper,
                work,
                keep,
            } => {
                let [lower, upper, work] =
                    [lower, upper, work].map(|path| open(path, OFlags::PATH | OFlags::DIRECTORY));
                Open::Layer {
                    lower: lower?,
                    upper: upper?,
                    work: work?,
                    keep: *keep,
                }
            }
        };
        let is_folder = match &content {
            Open::Machine { source, .. } => is_folder(source)?,
            Open::KernelDevices(_) | Open::Empty | Open::Layer { .. } => true,
        };
        opened.push(Opened {
            target: &place.target,
            is_folder,
            content,
        });
    }
    Ok(opened)
}

fn open_devices() -> io::Result<Vec<(&'static str, OwnedFd)>> {
    DEVICES
        .iter()
        .map(|name| Ok((*name, open(&format!("/dev/{name}"), OFlags::PATH)?)))
        .collect()
}

fn is_folder(handle: &OwnedFd) -> io::Result<bool> {
    let kind = rustix::fs::FileType::from_raw_mode(rustix::fs::fstat(handle)?.st_mode);
    Ok(kind == rustix::fs::FileType::Directory)
}

/// Makes the file and the folder that are shown instead of hidden ones.
fn prepare(root: &OwnedFd) -> io::Result<()> {
    make_file(root, HIDDEN_FILE, 0)?;
    Ok(mkdirat(root, HIDDEN_FOLDER, Mode::empty())?)
}

fn make_file(root: &OwnedFd, path: &str, mode: u32) -> io::Result<()> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    drop(rustix::fs::openat(root, path, flags, Mode::from_raw_mode(mode))?);
    Ok(())
}

fn make_folders(root: &OwnedFd, path: &str) -> io::Result<()> {
    let path = path.trim_matches('/');
    let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
    for end in ends.filter(|end| *end > 0) {
        match mkdirat(root, &path[..end], Mode::from_raw_mode(0o755)) {
            Err(error) if !matches!(error, rustix::io::Errno::EXIST | rustix::io::Errno::ROFS) => {
                return Err(error.into());
            }
            _ => {}
        }
    }
    Ok(())
}

/// Makes the places that every command has for itself. They are mounts of their own, because the root becomes read-only.
fn private_places(root: &OwnedFd, stage: &str) -> io::Result<()> {
    for (place, mode) in [
        ("tmp", 0o1777),
        ("var/tmp", 0o1777),
        ("run", 0o755),
        ("dev/shm", 0o1777),
    ] {
        make_folders(root, place)?;
        rustix::fs::chmodat(root, place, Mode::from_raw_mode(mode), AtFlags::empty())?;
        attach_on_itself(root, place, NO_SUID | NO_DEVICES)?;
    }
    make_folders(root, "proc")?;
    make_folders(root, "dev/pts")?;
    let dev = format!("{stage}/dev");
    sys::mount(
        Some("devpts"),
        &format!("{dev}/pts"),
        libc::MS_NOSUID | libc::MS_NOEXEC,
        "newinstance,ptmxmode=0666,mode=620",
    )?;
    for (link, target) in [
        ("ptmx", "pts/ptmx"),
        ("fd", "/proc/self/fd"),
        ("stdin", "/proc/self/fd/0"),
        ("stdout", "/proc/self/fd/1"),
        ("stderr", "/proc/self/fd/2"),
    ] {
        std::os::unix::fs::symlink(target, format!("{dev}/{link}"))?;
    }
    Ok(())
}

/// Attaches something at its target, which is made when it is missing.
fn attach(root: &OwnedFd, stage: &str, place: &Opened<'_>) -> io::Result<()> {
    let path = place.target.trim_matches('/');
    let target = match present(open_in(root, path))? {
        Some(target) => target,
        None => {
            if place.is_folder {
                make_folders(root, path)?;
            } else {
                make_folders(root, path.rsplit_once('/').map_or("", |(folder, _)| folder))?;
                make_file(root, path, 0o644)?;
            }
            open_in(root, path)?
        }
    };
    match &place.content {
        Open::Machine { source, attributes } => sys::attach(
            sys::copy_mounts(source.as_fd(), *attributes)?.as_fd(),
            target.as_fd(),
        ),
        Open::KernelDevices(machine) => {
            let flags = libc::MS_RDONLY | libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC;
            // Refused when the network is that of the machine.
            if sys::mount(Some("sysfs"), &format!("{stage}/{path}"), flags, "").is_ok() {
                return Ok(());
            }
            sys::attach(
                sys::copy_mounts(machine.as_fd(), READ_ONLY | NO_SUID)?.as_fd(),
                target.as_fd(),
            )
        }
        Open::Empty => {
            let own = format!(".own-{}", path.replace('/', "-"));
            mkdirat(root, &own, Mode::from_raw_mode(0o700))?;
            let copy = sys::copy_mounts(open_in(root, &own)?.as_fd(), NO_SUID | NO_DEVICES)?;
            sys::attach(copy.as_fd(), target.as_fd())
        }
        Open::Layer {
            lower,
            upper,
            work,
            keep,
        } => {
            let at = format!("{stage}/{path}");
            if !keep && layer_in_memory(root, &at, [upper, lower]).is_ok() {
                return Ok(());
            }
            if layer(&at, &descriptor(lower), &descriptor(upper), &descriptor(work)).is_ok() {
                return Ok(());
            }
            // Some file systems cannot be layered: then the changes alone are visible.
            sys::attach(
                sys::copy_mounts(upper.as_fd(), NO_SUID | NO_DEVICES)?.as_fd(),
                target.as_fd(),
            )
        }
    }
}

/// Layers folders below one in memory; the first one hides what is in the second.
fn layer_in_memory(root: &OwnedFd, target: &str, lower: [&OwnedFd; 2]) -> io::Result<()> {
    let own = format!(".layer{}", target.replace('/', "-"));
    for folder in [own.clone(), format!("{own}/content"), format!("{own}/work")] {
        mkdirat(root, &folder, Mode::from_raw_mode(0o700))?;
    }
    let (upper, work) = (
        open_in(root, &format!("{own}/content"))?,
        open_in(root, &format!("{own}/work"))?,
    );
    layer(
        target,
        &lower.map(descriptor).join(":"),
        &descriptor(&upper),
        &descriptor(&work),
    )
}

fn layer(target: &str, lower: &str, upper: &str, work: &str) -> io::Result<()> {
    let options = format!("userxattr,lowerdir={lower},upperdir={upper},workdir={work}");
    sys::mount(
        Some("overlay"),
        target,
        libc::MS_NOSUID | libc::MS_NODEV,
        &options,
    )
}

fn descriptor(handle: &OwnedFd) -> String {
    format!("/proc/self/fd/{}", handle.as_raw_fd())
}

fn attach_devices(root: &OwnedFd, devices: &[(&str, OwnedFd)]) -> io::Result<()> {
    for (name, device) in devices {
        let path = format!("dev/{name}");
        make_file(root, &path, 0o666)?;
        let copy = sys::copy_mounts(device.as_fd(), NO_SUID)?;
        sys::attach(copy.as_fd(), open_in(root, &path)?.as_fd())?;
    }
    Ok(())
}

fn attach_project(root: &OwnedFd, stage: &str, source: OwnedFd, project: &Project) -> io::Result<()> {
    let attributes = NO_SUID | NO_DEVICES | if project.read_only { READ_ONLY } else { 0 };
    let content = Open::Machine { source, attributes };
    attach(
        root,
        stage,
        &Opened {
            target: &project.path,
            is_folder: true,
            content,
        },
    )?;
    let inside = open_in(root, &project.path)?;
    if !project.read_only {
        for path in &project.pinned {
            attach_on_itself(&inside, path, NO_SUID | NO_DEVICES)?;
        }
        for path in &project.protected {
            attach_on_itself(&inside, path, NO_SUID | NO_DEVICES | READ_ONLY)?;
        }
    }
    for path in &project.hidden {
        let hidden = open_in(root, HIDDEN_FILE)?;
        if let Some(target) = present(open_in(&inside, path))? {
            let copy = sys::copy_mounts(hidden.as_fd(), NO_SUID | NO_DEVICES | READ_ONLY)?;
            sys::attach(copy.as_fd(), target.as_fd())?;
        }
    }
    Ok(())
}

fn attach_on_itself(folder: &OwnedFd, path: &str, attributes: u64) -> io::Result<()> {
    // Opened from the top each time: the mounts attached before are part of the way.
    let Some(handle) = present(open_in(folder, path))? else {
        return Ok(());
    };
    let copy = sys::copy_mounts(handle.as_fd(), attributes)?;
    sys::attach(copy.as_fd(), handle.as_fd())
}

pub(super) fn present<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        result => result.map(Some),
    }
}

fn mask(root: &OwnedFd, path: &str) -> io::Result<()> {
    let Some(target) = present(open_in(root, path))? else {
        return Ok(());
    };
    let instead = if is_folder(&target)? {
        HIDDEN_FOLDER
    } else {
        HIDDEN_FILE
    };
    let copy = sys::copy_mounts(open_in(root, instead)?.as_fd(), NO_SUID | NO_DEVICES | READ_ONLY)?;
    sys::attach(copy.as_fd(), target.as_fd())
}

/// Mounts a /proc of the new process namespace, with the settings of the kernel read-only and its secrets hidden.
fn kernel_view(root: &OwnedFd, stage: &str, plan: &Plan) -> io::Result<()> {
    let proc = format!("{stage}/proc");
    sys::mount(
        Some("proc"),
        &proc,
        libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC,
        "",
    )?;
    // The setting belongs to the namespace since Linux 6.14; older kernels refuse, and other limits hold.
    let _ = write_existing(
        &format!("{proc}/sys/kernel/pid_max"),
        &plan.limits.processes.max(400).to_string(),
    );
    for name in KERNEL_SETTINGS {
        if let Some(setting) = present(open_in(root, &format!("proc/{name}")))? {
            let copy = sys::copy_mounts(setting.as_fd(), READ_ONLY | NO_SUID | NO_DEVICES)?;
            sys::attach(copy.as_fd(), setting.as_fd())?;
        }
    }
    KERNEL_SECRETS
        .iter()
        .try_for_each(|name| mask(root, &format!("proc/{name}")))
}

fn write_existing(path: &str, value: &str) -> io::Result<()> {
    use std::io::Write;
    File::options()
        .write(true)
        .open(path)?
        .write_all(value.as_bytes())
}
