//! The background processes of one session: commands that were handed over by their call and go on while the turn does.
//! They live here and not in the loop, because what holds them is the running command itself: whoever drops the last
//! [`Processes`] ends them all.

use crate::gather::{Source, Tail};
use crate::terminal::plain;
use crate::{KeepOutput, outcome};
use paddock_protocol::{CallId, Process, ProcessEnd, ProcessId, Timestamp};
use paddock_sandbox::{CommandEnd, CommandExit, RunningCommand, Stopper};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Background processes of a session at once.
pub const MAX_PROCESSES: usize = 16;
/// Ended processes whose output stays in memory.
const MAX_ENDED: usize = 16;

/// What happened to a background process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProcessChange {
    Started(Process),
    Ended { process: ProcessId, end: ProcessEnd },
}

/// Hears of every change, in order for each process; called on any thread.
pub type OnProcessChange = Arc<dyn Fn(ProcessChange) + Send + Sync>;

/// The background processes of one session. Cheap to clone; dropping the last clone ends them all.
#[derive(Clone)]
pub struct Processes(Arc<Shared>);

struct Shared {
    on_change: OnProcessChange,
    state: Mutex<State>,
    ended: Condvar,
}

#[derive(Default)]
struct State {
    /// Number of the newest id.
    last: u32,
    /// Places taken by commands that may still be handed over.
    seats: usize,
    /// In the order in which they were handed over.
    entries: Vec<Entry>,
}

struct Entry {
    process: Process,
    stopper: Stopper,
    output: Arc<Mutex<Tail>>,
    since: Instant,
    /// Who asked for its end.
    by: Option<ProcessEnd>,
    end: Option<ProcessEnd>,
}

/// A command that becomes a background process.
pub(crate) struct Adopted {
    pub(crate) call: CallId,
    pub(crate) command: String,
    pub(crate) begun: Instant,
    pub(crate) running: RunningCommand,
    pub(crate) output: Source,
    /// What came before.
    pub(crate) so_far: Tail,
    /// Takes the output when the process has ended.
    pub(crate) keep: KeepOutput,
}

/// What a reader of a process sees.
pub(crate) struct View {
    pub(crate) process: Process,
    pub(crate) output: String,
    /// Bytes at the beginning that are no longer kept.
    pub(crate) dropped: u64,
    /// Since its start; counts on after its end.
    pub(crate) running_for: Duration,
    pub(crate) end: Option<ProcessEnd>,
}

/// A place for one process, given back when it is dropped unused.
pub(crate) struct Seat(Weak<Shared>);

impl Drop for Seat {
    fn drop(&mut self) {
        if let Some(shared) = self.0.upgrade() {
            shared.lock().seats -= 1;
        }
    }
}

impl Processes {
    /// No processes yet. Ids go on after number `after`: the highest one that the session ever gave, 0 for a new one.
    pub fn new(on_change: OnProcessChange, after: u32) -> Self {
        Self(Arc::new(Shared {
            on_change,
            state: Mutex::new(State {
                last: after,
                ..State::default()
            }),
            ended: Condvar::new(),
        }))
    }

    /// Those that run, oldest first.
    pub fn list(&self) -> Vec<Process> {
        let state = self.0.lock();
        state.running().map(|entry| entry.process.clone()).collect()
    }

    /// The last 256 KiB of output as plain text, also of the last processes that ended.
    pub fn output(&self, process: &ProcessId) -> Option<String> {
        self.view(process).map(|view| view.output)
    }

    /// Ends a process with everything it started; its end is told when all of them are gone. False when it does not run.
    pub fn end(&self, process: &ProcessId, by: ProcessEnd) -> bool {
        let mut state = self.0.lock();
        let entry = state
            .entries
            .iter_mut()
            .find(|entry| entry.process.id == *process && entry.end.is_none());
        match entry {
            None => false,
            Some(entry) => {
                entry.stop(by);
                true
            }
        }
    }

    /// The same for all that run.
    pub fn end_all(&self, by: ProcessEnd) {
        let mut state = self.0.lock();
        let running = state.entries.iter_mut().filter(|entry| entry.end.is_none());
        running.for_each(|entry| entry.stop(by));
    }

    /// Whether no further command can go on in the background.
    pub fn is_full(&self) -> bool {
        self.0.lock().is_full()
    }

    /// Blocks until a process has ended, at most so long; whether it has.
    pub(crate) fn wait_for_end(&self, process: &ProcessId, limit: Duration) -> bool {
        let runs = |state: &mut State| state.running().any(|entry| entry.process.id == *process);
        let waited = self.0.ended.wait_timeout_while(self.0.lock(), limit, runs);
        !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }

    /// A place for a command that is to go on in the background; none when too many do.
    pub(crate) fn seat(&self) -> Option<Seat> {
        let mut state = self.0.lock();
        (!state.is_full()).then(|| {
            state.seats += 1;
            Seat(Arc::downgrade(&self.0))
        })
    }

    /// Takes a running command over, with its output so far. Must be called in an async runtime, which watches it.
    pub(crate) fn adopt(&self, seat: Seat, adopted: Adopted) -> Process {
        let output = Arc::new(Mutex::new(adopted.so_far));
        let mut state = self.0.lock();
        state.last += 1;
        let process = Process {
            id: ProcessId::new(format!("p{}", state.last)),
            call: adopted.call,
            command: adopted.command,
            started: timestamp(adopted.begun),
            ports: Vec::new(),
        };
        state.entries.push(Entry {
            process: process.clone(),
            stopper: adopted.running.stopper(),
            output: Arc::clone(&output),
            since: adopted.begun,
            by: None,
            end: None,
        });
        drop(state);
        drop(seat);
        (self.0.on_change)(ProcessChange::Started(process.clone()));
        tokio::spawn(watch(
            Arc::downgrade(&self.0),
            process.id.clone(),
            adopted.running,
            adopted.output,
            output,
            adopted.keep,
        ));
        process
    }

    pub(crate) fn view(&self, process: &ProcessId) -> Option<View> {
        let state = self.0.lock();
        let entry = state.entries.iter().find(|entry| entry.process.id == *process)?;
        let (process, since, end) = (entry.process.clone(), entry.since, entry.end);
        let output = Arc::clone(&entry.output);
        drop(state);
        let (kept, dropped) = lock(&output).kept();
        Some(View {
            process,
            output: plain(&kept),
            dropped,
            running_for: since.elapsed(),
            end,
        })
    }
}

impl Entry {
    fn stop(&mut self, by: ProcessEnd) {
        self.by.get_or_insert(by);
        self.stopper.stop();
    }
}

impl State {
    fn running(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(|entry| entry.end.is_none())
    }

    fn is_full(&self) -> bool {
        self.running().count() + self.seats >= MAX_PROCESSES
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    fn note_end(&self, process: ProcessId, command_end: &CommandEnd) {
        let mut state = self.lock();
        let Some(entry) = state.entries.iter_mut().find(|entry| entry.process.id == process) else {
            return;
        };
        let end = match command_end.exit {
            CommandExit::Code(code) => ProcessEnd::Exited { code: Some(code) },
            CommandExit::Stopped => entry.by.unwrap_or(ProcessEnd::Closed),
            CommandExit::Signal(_) | CommandExit::TimedOut | CommandExit::LimitExceeded(_) => {
                ProcessEnd::Exited { code: None }
            }
        };
        entry.end = Some(end);
        let ended = state.entries.len() - state.running().count();
        if ended > MAX_ENDED
            && let Some(oldest) = state.entries.iter().position(|entry| entry.end.is_some())
        {
            state.entries.remove(oldest);
        }
        drop(state);
        self.ended.notify_all();
        (self.on_change)(ProcessChange::Ended { process, end });
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        for entry in state.entries.iter().filter(|entry| entry.end.is_none()) {
            entry.stopper.stop();
        }
    }
}

/// Takes a process's output until it has ended. Holds no strong reference: who watches must not keep it alive.
async fn watch(
    shared: Weak<Shared>,
    process: ProcessId,
    running: RunningCommand,
    mut source: Source,
    output: Arc<Mutex<Tail>>,
    keep: KeepOutput,
) {
    while let Some(text) = source.next().await {
        lock(&output).push(&text);
    }
    let end = running.wait().await;
    let mut last = String::new();
    for line in outcome::notices(&end) {
        last.push_str(&line);
        last.push('\n');
    }
    lock(&output).push_line(&last);
    let kept = lock(&output).kept().0;
    let saved = tokio::task::spawn_blocking(move || keep(plain(&kept).as_bytes())).await;
    if let Ok(Err(error)) = saved {
        tracing::warn!(%error, "the output of a background process could not be kept");
    }
    if let Some(shared) = shared.upgrade() {
        shared.note_end(process, &end);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn timestamp(moment: Instant) -> Timestamp {
    let time = SystemTime::now()
        .checked_sub(moment.elapsed())
        .and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    Timestamp(time.map_or(0, |time| time.as_millis() as u64))
}
