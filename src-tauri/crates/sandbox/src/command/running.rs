//! A command that runs: its live output, its stop and its end. One thread per command owns the processes (on Linux their
//! death is tied to that thread) and outlives every async task, so a command is always cleaned up.

use std::io::Read;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{JoinHandle, Thread};
use std::time::{Duration, Instant};

use tokio::sync::{mpsc, oneshot};

use super::end::{CommandEnd, CommandExit};

const CHUNK: usize = 16 * 1024;
/// How long after the end of a command its last output is waited for.
const LAST_OUTPUT: Duration = Duration::from_secs(2);

/// Where live output goes. When it is full the command waits; when it is closed output is dropped.
pub type OutputSink = mpsc::Sender<OutputChunk>;

/// A piece of output as it came; may end inside of a character.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputChunk {
    pub stream: Stream,
    pub bytes: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stream {
    Stdout,
    Stderr,
}

/// A started command. Dropping it stops the command.
#[derive(Debug)]
pub struct RunningCommand {
    stopper: Stopper,
    end: oneshot::Receiver<CommandEnd>,
}

impl RunningCommand {
    /// Asks the command to end, and after a short grace ends it with everything it started.
    pub fn stop(&self) {
        self.stopper.stop();
    }

    /// A handle that stops the command while someone else waits for it.
    pub fn stopper(&self) -> Stopper {
        self.stopper.clone()
    }

    /// Waits for the end: all processes are gone and all output was handed on.
    pub async fn wait(mut self) -> CommandEnd {
        (&mut self.end).await.unwrap_or_else(|_| lost())
    }

    /// Like [`Self::wait`], for callers without an async runtime.
    pub fn wait_blocking(mut self) -> CommandEnd {
        let waker = Waker::from(Arc::new(Parked(std::thread::current())));
        let mut context = Context::from_waker(&waker);
        loop {
            match Pin::new(&mut self.end).poll(&mut context) {
                Poll::Ready(end) => return end.unwrap_or_else(|_| lost()),
                Poll::Pending => std::thread::park(),
            }
        }
    }
}

/// Wakes a thread that waits.
struct Parked(Thread);

impl Wake for Parked {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

impl Drop for RunningCommand {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Stops one command; harmless after its end.
#[derive(Debug, Clone)]
pub struct Stopper(Sender<Signal>);

impl Stopper {
    pub fn stop(&self) {
        let _ = self.0.send(Signal::Stop);
    }
}

fn lost() -> CommandEnd {
    CommandEnd {
        exit: CommandExit::Stopped,
        duration: Duration::ZERO,
        processes_ended: 0,
        output_dropped: 0,
        denials: Vec::new(),
        blocked: Vec::new(),
        quarantined: Vec::new(),
    }
}

/// What the owner of a command hears while it waits.
#[derive(Debug)]
pub(crate) enum Signal {
    Stop,
    /// The processes told that they are over.
    #[cfg_attr(
        not(target_os = "linux"),
        allow(dead_code, reason = "only Linux has processes that report")
    )]
    Ended,
}

/// The owner's side of a command.
pub(crate) struct Supervision {
    signals: Receiver<Signal>,
    #[cfg_attr(
        not(target_os = "linux"),
        allow(dead_code, reason = "only Linux has processes that report")
    )]
    pub(crate) sender: Sender<Signal>,
    end: oneshot::Sender<CommandEnd>,
    started: Instant,
    deadline: Option<Instant>,
}

/// Makes both sides of a command.
pub(crate) fn supervision(time_limit: Option<Duration>) -> (RunningCommand, Supervision) {
    let (sender, signals) = channel();
    let (end_sender, end) = oneshot::channel();
    let started = Instant::now();
    let deadline = time_limit.and_then(|limit| started.checked_add(limit));
    let running = RunningCommand {
        stopper: Stopper(sender.clone()),
        end,
    };
    (
        running,
        Supervision {
            signals,
            sender,
            end: end_sender,
            started,
            deadline,
        },
    )
}

impl Supervision {
    /// Waits at most `pause` for a reason to act; a time limit that passed is one.
    pub(crate) fn next(&self, pause: Duration) -> Next {
        let now = Instant::now();
        if self.deadline.is_some_and(|deadline| deadline <= now) {
            return Next::TimeUp;
        }
        let pause = self.deadline.map_or(pause, |deadline| pause.min(deadline - now));
        self.next_signal(pause)
    }

    /// Like [`Self::next`], when the time limit passed already or no longer counts.
    pub(crate) fn next_signal(&self, pause: Duration) -> Next {
        match self.signals.recv_timeout(pause) {
            Ok(Signal::Stop) => Next::Stop,
            Ok(Signal::Ended) => Next::Ended,
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => Next::Look,
        }
    }

    pub(crate) fn duration(&self) -> Duration {
        self.started.elapsed()
    }

    pub(crate) fn finish(self, end: CommandEnd) {
        let _ = self.end.send(end);
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    Stop,
    TimeUp,
    Ended,
    Look,
}

/// Reads one stream of a command to its end on a thread of its own.
pub(crate) struct Pump {
    thread: JoinHandle<()>,
    done: Receiver<Pumped>,
}

/// What a pump saw.
#[derive(Debug, Default)]
pub(crate) struct Pumped {
    pub(crate) dropped: u64,
    /// The last bytes, to look for hints of denials.
    pub(crate) tail: Vec<u8>,
}

const TAIL: usize = 32 * 1024;

impl Pump {
    pub(crate) fn start(
        mut source: impl Read + Send + 'static,
        stream: Stream,
        sink: OutputSink,
        limit: std::sync::Arc<std::sync::atomic::AtomicU64>,
    ) -> std::io::Result<Self> {
        use std::sync::atomic::Ordering;
        let (sender, done) = channel();
        let thread = std::thread::Builder::new()
            .name("command output".into())
            .spawn(move || {
                let mut pumped = Pumped::default();
                let mut buffer = vec![0; CHUNK];
                loop {
                    let count = match source.read(&mut buffer) {
                        Ok(0) => break,
                        Ok(count) => count,
                        Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                        Err(_) => break,
                    };
                    let bytes = &buffer[..count];
                    keep_tail(&mut pumped.tail, bytes);
                    let left = limit
                        .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
                            Some(left.saturating_sub(count as u64))
                        })
                        .unwrap_or(0);
                    let kept = usize::try_from(left).unwrap_or(usize::MAX).min(count);
                    let sent = kept > 0
                        && sink
                            .blocking_send(OutputChunk {
                                stream,
                                bytes: bytes[..kept].to_vec(),
                            })
                            .is_ok();
                    pumped.dropped += if sent { count - kept } else { count } as u64;
                }
                let _ = sender.send(pumped);
            })?;
        Ok(Self { thread, done })
    }

    /// Waits for the end of the stream, though not for ever: a process that got away could hold it open.
    pub(crate) fn finish(self) -> Pumped {
        let pumped = self.done.recv_timeout(LAST_OUTPUT).unwrap_or_default();
        if self.thread.is_finished() {
            let _ = self.thread.join();
        }
        pumped
    }
}

fn keep_tail(tail: &mut Vec<u8>, bytes: &[u8]) {
    tail.extend_from_slice(bytes);
    if tail.len() > 2 * TAIL {
        tail.drain(..tail.len() - TAIL);
    }
}
