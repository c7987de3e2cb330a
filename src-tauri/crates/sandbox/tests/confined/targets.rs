//! What escapes aim at: listeners, processes, shared memory of this machine, made when they are first asked for and gone
//! with their bed.

use std::cell::{OnceCell, RefCell};
use std::fs;
use std::net::{TcpListener, UdpSocket};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

#[derive(Default)]
pub struct Targets {
    tcp: OnceCell<TcpListener>,
    udp: OnceCell<UdpSocket>,
    unix: OnceCell<UnixListener>,
    hidden: OnceCell<UnixListener>,
    listener: OnceCell<UnixListener>,
    victim: OnceCell<RefCell<Child>>,
    open: RefCell<Vec<OwnedFd>>,
    others: RefCell<Vec<Child>>,
    of_system: RefCell<Vec<(&'static str, String)>>,
}

impl Targets {
    pub fn tcp(&self) -> &TcpListener {
        self.tcp.get_or_init(|| {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            listener.set_nonblocking(true).unwrap();
            listener
        })
    }

    pub fn udp(&self) -> &UdpSocket {
        self.udp.get_or_init(|| {
            let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
            socket.set_nonblocking(true).unwrap();
            socket
        })
    }

    /// A listener at a file `socket` in a folder.
    pub fn unix(&self, folder: &Path) -> &UnixListener {
        self.unix.get_or_init(|| listen(&folder.join("socket")))
    }

    /// A listener without a file.
    pub fn hidden(&self, name: &str) -> &UnixListener {
        self.hidden.get_or_init(|| {
            use std::os::linux::net::SocketAddrExt;
            let address = std::os::unix::net::SocketAddr::from_abstract_name(name).unwrap();
            let listener = UnixListener::bind_addr(&address).unwrap();
            listener.set_nonblocking(true).unwrap();
            listener
        })
    }

    pub fn listen_at(&self, path: &Path) {
        let _ = self.listener.set(listen(path));
    }

    pub fn listener(&self) -> &UnixListener {
        self.listener.get().unwrap()
    }

    /// A process of the same account that does not belong to any command.
    pub fn victim(&self) -> u32 {
        let victim = self.victim.get_or_init(|| {
            let sleep = Command::new("sleep")
                .arg("1000")
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .spawn()
                .unwrap();
            let is_asleep = || {
                state(sleep.id()) == 'S'
                    && fs::read(format!("/proc/{}/cmdline", sleep.id()))
                        .is_ok_and(|line| line.starts_with(b"sleep"))
            };
            assert!(crate::bed::soon(is_asleep));
            RefCell::new(sleep)
        });
        victim.borrow().id()
    }

    /// What it does: `S` while it sleeps undisturbed.
    pub fn victim_state(&self) -> char {
        std::thread::sleep(Duration::from_millis(20));
        state(self.victim())
    }

    pub fn victim_nice(&self) -> i32 {
        stat(self.victim())[16].parse().unwrap()
    }

    pub fn victim_limit(&self) -> u64 {
        let limits = fs::read_to_string(format!("/proc/{}/limits", self.victim())).unwrap();
        let line = limits
            .lines()
            .find(|line| line.starts_with("Max open files"))
            .unwrap();
        line.split_whitespace().nth(3).unwrap().parse().unwrap()
    }

    /// Leaves a file open for programs that are started, as a careless library does.
    pub fn keep_open(&self, file: fs::File) {
        let copy = rustix::io::dup(&file).unwrap();
        rustix::io::fcntl_setfd(&copy, rustix::io::FdFlags::empty()).unwrap();
        self.open.borrow_mut().push(copy);
    }

    pub fn make_shared_memory(&self, key: &str) {
        self.of_system.borrow_mut().push(("-M", key.to_owned()));
        python(&format!("assert libc.shmget({key}, 4096, 0o1666) >= 0"));
    }

    pub fn make_message_queue(&self, key: &str) {
        self.of_system.borrow_mut().push(("-Q", key.to_owned()));
        python(&format!("assert libc.msgget({key}, 0o1666) >= 0"));
    }

    /// Opens a terminal whose name is in a file `tty` of a folder; what is written to it makes a file `new` there.
    pub fn terminal(&self, folder: &Path) {
        let program = "import os, time\nm, s = os.openpty()\nopen('t', 'w').write(os.ttyname(s)); os.rename('t', 'tty')\n\
            os.read(m, 1); open('new', 'w').close(); time.sleep(60)";
        let child = Command::new("python3")
            .args(["-c", program])
            .current_dir(folder)
            .spawn()
            .unwrap();
        self.others.borrow_mut().push(child);
        assert!(crate::bed::soon(|| folder.join("tty").exists()));
    }

    /// Runs tmux with a server that listens in a folder.
    pub fn tmux(&self, folder: &Path, arguments: &str) {
        let _ = Command::new("tmux")
            .arg("-S")
            .arg(folder.join("tmux"))
            .args(arguments.split(' '))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
    }
}

impl Drop for Targets {
    fn drop(&mut self) {
        if let Some(victim) = self.victim.get_mut() {
            let victim = victim.get_mut();
            let _ = victim.kill();
            let _ = victim.wait();
        }
        for child in self.others.get_mut() {
            let _ = child.kill();
            let _ = child.wait();
        }
        for (kind, key) in self.of_system.get_mut() {
            let _ = Command::new("ipcrm").args([*kind, key]).status();
        }
    }
}

fn listen(path: &Path) -> UnixListener {
    let listener = UnixListener::bind(path).unwrap();
    listener.set_nonblocking(true).unwrap();
    listener
}

fn python(program: &str) {
    let done = Command::new("python3")
        .args([
            "-c",
            &format!("import ctypes\nlibc = ctypes.CDLL(None)\n{program}"),
        ])
        .output()
        .unwrap();
    assert!(done.status.success(), "{done:?}");
}

/// The fields of a process from its state on.
fn stat(process: u32) -> Vec<String> {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_else(|_| "0 (x) Z".into());
    text.rsplit_once(") ")
        .unwrap()
        .1
        .split(' ')
        .map(str::to_owned)
        .collect()
}

fn state(process: u32) -> char {
    stat(process)[0].chars().next().unwrap()
}

fn marked(number: &str) -> Vec<i32> {
    let wanted = format!("1000.{number}");
    fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|entry| {
            let process: i32 = entry.file_name().to_str()?.parse().ok()?;
            let line = fs::read(entry.path().join("cmdline")).ok()?;
            line.split(|byte| *byte == 0)
                .any(|word| word == wanted.as_bytes())
                .then_some(process)
        })
        .collect()
}

/// Whether a process that sleeps for this number lives, a moment after the end of its command.
pub fn lives(number: &str) -> bool {
    std::thread::sleep(Duration::from_millis(100));
    !marked(number).is_empty()
}

pub fn end_marked(number: &str) {
    for process in marked(number) {
        if let Some(process) = rustix::process::Pid::from_raw(process) {
            let _ = rustix::process::kill_process(process, rustix::process::Signal::KILL);
        }
    }
}
