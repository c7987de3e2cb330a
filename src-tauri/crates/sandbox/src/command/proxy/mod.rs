//! The only way out for a command whose network asks: a proxy in the app that speaks HTTP and SOCKS 5, asks the gate about
//! every connection, and connects to exactly the addresses that it looked at. The command's own network stays empty.

mod connection;
mod request;
mod socks;

use std::collections::{BTreeSet, HashMap};
use std::io::{self, PipeWriter, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use rustix::event::{PollFd, PollFlags, poll};

use super::blocked::Blocked;
use super::gate::Gate;

const MAX_CONNECTIONS: usize = 128;
/// Names that may be looked up though nobody allowed them: a look-up alone carries what is in the name outside.
const MAX_STRANGERS: usize = 16;
const MAX_REFUSED: usize = 16;

/// The proxy of one command.
pub(crate) struct Proxy {
    shared: Arc<Shared>,
    wake: PipeWriter,
    thread: JoinHandle<()>,
}

/// What the connections of a command have in common.
struct Shared {
    gate: Option<Gate>,
    is_over: AtomicBool,
    open: Mutex<Open>,
    refused: Mutex<Vec<(String, u16)>>,
    strangers: Mutex<BTreeSet<String>>,
}

/// Both ends of the connections that are open, by number.
#[derive(Default)]
struct Open {
    next: u64,
    streams: HashMap<u64, Vec<TcpStream>>,
}

impl Proxy {
    /// Takes connections from a listener that only the command can reach, until `finish`.
    pub(crate) fn start(listener: TcpListener, gate: Option<Gate>) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        let shared = Arc::new(Shared {
            gate,
            is_over: AtomicBool::new(false),
            open: Mutex::default(),
            refused: Mutex::default(),
            strangers: Mutex::default(),
        });
        let (woken, wake) = io::pipe()?;
        let accepting = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("command proxy".into())
            .spawn(move || {
                while !accepting.is_over() {
                    let mut watched = [
                        PollFd::new(&listener, PollFlags::IN),
                        PollFd::new(&woken, PollFlags::IN),
                    ];
                    let _ = poll(&mut watched, None);
                    if let Ok((stream, _)) = listener.accept() {
                        accepting.take(stream);
                    }
                }
            })?;
        Ok(Self { shared, wake, thread })
    }

    /// Closes every connection; what was refused. A gate that still thinks is left alone, and its answer does nothing.
    pub(crate) fn finish(mut self) -> Vec<Blocked> {
        self.shared.is_over.store(true, Ordering::SeqCst);
        let _ = self.wake.write_all(&[0]);
        for stream in lock(&self.shared.open).streams.values().flatten() {
            let _ = stream.shutdown(Shutdown::Both);
        }
        let _ = self.thread.join();
        let refused = std::mem::take(&mut *lock(&self.shared.refused));
        refused
            .into_iter()
            .map(|(host, port)| Blocked::Host { host, port })
            .collect()
    }
}

impl Shared {
    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::SeqCst)
    }

    /// Serves a connection on a thread of its own; drops it when there are too many.
    fn take(self: &Arc<Self>, stream: TcpStream) {
        if stream.set_nonblocking(false).is_err() {
            return;
        }
        let Some(number) = self.enter(&stream) else {
            return;
        };
        let shared = Arc::clone(self);
        let started = std::thread::Builder::new()
            .name("command connection".into())
            .spawn(move || {
                // An error ends the connection, which is all that can be said to the program.
                let _ = connection::serve(&shared, number, stream);
                lock(&shared.open).streams.remove(&number);
            });
        if started.is_err() {
            lock(&self.open).streams.remove(&number);
        }
    }

    fn enter(&self, stream: &TcpStream) -> Option<u64> {
        let mut open = lock(&self.open);
        if open.streams.len() >= MAX_CONNECTIONS || self.is_over() {
            return None;
        }
        let number = open.next;
        open.next += 1;
        open.streams.insert(number, vec![stream.try_clone().ok()?]);
        Some(number)
    }

    /// Notes the far end of a connection, so that it is closed at the end too; an error when the end has come.
    fn add(&self, number: u64, far: &TcpStream) -> io::Result<()> {
        let mut open = lock(&self.open);
        // Asked while the list is locked: `finish` sets it before it goes through the list.
        if self.is_over() {
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
        if let Some(streams) = open.streams.get_mut(&number) {
            streams.push(far.try_clone()?);
        }
        Ok(())
    }

    fn note_refused(&self, host: &str, port: u16) {
        let mut refused = lock(&self.refused);
        if refused.len() < MAX_REFUSED && !refused.iter().any(|(other, at)| other == host && *at == port) {
            refused.push((host.to_owned(), port));
        }
    }

    /// Whether a name may be looked up before anybody allowed it.
    fn may_look_up(&self, host: &str) -> bool {
        let mut strangers = lock(&self.strangers);
        if strangers.len() >= MAX_STRANGERS && !strangers.contains(host) {
            return false;
        }
        strangers.insert(host.to_owned());
        true
    }

    fn is_known(&self, host: &str) {
        lock(&self.strangers).remove(host);
    }
}

fn lock<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The values that make programs use a proxy at this port of their own loopback.
pub(crate) fn environment(port: u16) -> Vec<(&'static str, String)> {
    const NAMES: &[&str] = &[
        "HTTP_PROXY",
        "http_proxy",
        "HTTPS_PROXY",
        "https_proxy",
        // HTTP here too: some libraries fail to start when this names SOCKS and a part of them is not installed.
        "ALL_PROXY",
        "all_proxy",
        "CARGO_HTTP_PROXY",
        "PIP_PROXY",
        "YARN_HTTP_PROXY",
        "YARN_HTTPS_PROXY",
        "npm_config_proxy",
        "npm_config_https_proxy",
    ];
    let address = format!("http://127.0.0.1:{port}");
    let own = "localhost,127.0.0.1,::1".to_owned();
    NAMES
        .iter()
        .map(|name| (*name, address.clone()))
        .chain([
            ("NO_PROXY", own.clone()),
            ("no_proxy", own),
            ("NODE_USE_ENV_PROXY", "1".to_owned()),
        ])
        .collect()
}
