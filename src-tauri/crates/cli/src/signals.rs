//! Ctrl+C and the request to end. The first is handed to whoever waits for it; the second ends the program at once, which
//! loses nothing: every event is in the log before it is shown.

use crate::failure::{Failure, STOPPED};
use tokio::sync::mpsc;

/// Listens from now on. The channel says once that the work should stop.
pub fn listen() -> Result<mpsc::Receiver<()>, Failure> {
    let (sender, receiver) = mpsc::channel(1);
    let mut asked = Asked::new()
        .map_err(|error| Failure::fault(format!("Ctrl+C could not be listened for: {error}.")))?;
    tokio::spawn(async move {
        asked.next().await;
        let _ = sender.send(()).await;
        asked.next().await;
        std::process::exit(i32::from(STOPPED));
    });
    Ok(receiver)
}

#[cfg(unix)]
struct Asked {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Asked {
    fn new() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

#[cfg(not(unix))]
struct Asked(tokio::signal::windows::CtrlC);

#[cfg(not(unix))]
impl Asked {
    fn new() -> std::io::Result<Self> {
        tokio::signal::windows::ctrl_c().map(Self)
    }

    async fn next(&mut self) {
        self.0.recv().await;
    }
}
