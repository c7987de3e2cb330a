//! The core behind a WebSocket on this machine, so that a browser test drives the real thing. For development and tests:
//! it trusts whoever may connect, so it listens on the loopback address only and refuses pages of other places.

mod connection;
mod origin;

use anyhow::{Context, Result, bail};
use paddock_core::provider::ScriptPace;
use paddock_core::{HelperProgram, Paddock};
use std::io::Write;
use std::net::Ipv4Addr;
use std::path::PathBuf;
use tokio::net::TcpListener;

const USAGE: &str = "\
Usage: paddock-host [--port N] [--home DIR] [--instant]

  --port N     port on 127.0.0.1 (default: a free one)
  --home DIR   folder for all data and settings (default: PADDOCK_HOME, else the system's place)
  --instant    the demo model answers at once

Prints `ready ws://127.0.0.1:PORT` when it listens.
";

fn main() -> Result<()> {
    paddock_core::run_helper_if_asked();
    let Some(options) = Options::read(std::env::args().skip(1))? else {
        std::io::stdout().write_all(USAGE.as_bytes())?;
        return Ok(());
    };
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?
        .block_on(serve(options))
}

#[derive(Debug, Default)]
struct Options {
    port: u16,
    home: Option<PathBuf>,
    instant: bool,
}

impl Options {
    /// `None`: the usage is wanted.
    fn read(mut words: impl Iterator<Item = String>) -> Result<Option<Self>> {
        let home = std::env::var_os("PADDOCK_HOME").filter(|home| !home.is_empty());
        let mut options = Self {
            home: home.map(PathBuf::from),
            ..Self::default()
        };
        while let Some(word) = words.next() {
            let mut value = || words.next().with_context(|| format!("{word} needs a value"));
            match word.as_str() {
                "--port" => options.port = value()?.parse().context("--port needs a number up to 65535")?,
                "--home" => options.home = Some(value()?.into()),
                "--instant" => options.instant = true,
                "--help" | "-h" => return Ok(None),
                _ => bail!("{word} is not known here; see paddock-host --help"),
            }
        }
        Ok(Some(options))
    }
}

async fn serve(options: Options) -> Result<()> {
    let paddock = Paddock::open(options.home, HelperProgram::current())?;
    if options.instant {
        paddock.providers().set_demo_pace(ScriptPace::INSTANT);
    }
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, options.port))
        .await
        .with_context(|| format!("port {} cannot be used", options.port))?;
    let mut stdout = std::io::stdout();
    writeln!(stdout, "ready ws://{}", listener.local_addr()?)?;
    stdout.flush()?;
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let (stream, _) = accepted?;
                stream.set_nodelay(true)?;
                tokio::spawn(connection::serve(stream, paddock.clone()));
            }
            _ = tokio::signal::ctrl_c() => {
                paddock.close_all().await;
                return Ok(());
            }
        }
    }
}
