//! Mocks of model services that others wrote, started as programs of their own.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result};

/// The folder of this package.
pub fn tests() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A server that ends when this is dropped.
pub struct Mock {
    child: Child,
    /// Without a path: `http://127.0.0.1:…`.
    pub url: String,
}

impl Mock {
    pub fn of(child: Child, url: String) -> Self {
        Self { child, url }
    }

    /// aimock, with these conversations. What chaos hits is decided by the seed, as far as requests come in the same order.
    pub fn aimock(conversations: &Path, seed: u64, options: &[&str]) -> Self {
        let program = tests().join("aimock/node_modules/@copilotkit/aimock/dist/cli.js");
        assert!(
            program.is_file(),
            "aimock is not installed. Run `npm ci` in tests/aimock, or `cargo xtask test rust`."
        );
        let mut child = Command::new("node")
            .arg("--import")
            .arg(tests().join("aimock/seed.mjs"))
            .arg(program)
            .args(["-p", "0", "--journal-max", "0", "-f"])
            .arg(conversations)
            .args(options)
            .env("PADDOCK_SEED", seed.to_string())
            // An answer belongs to one place of its conversation; without this any later one would do too.
            .env("AIMOCK_STRICT_TURN_INDEX", "1")
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let url = lines
            .by_ref()
            .map_while(Result::ok)
            .find_map(|line| Some(line.split_once("listening on ")?.1.trim().to_owned()))
            .unwrap();
        // What it says later has to go somewhere.
        std::thread::spawn(move || lines.for_each(drop));
        Self::of(child, url)
    }

    /// A document of the server.
    pub fn get(&self, path: &str) -> Result<String> {
        let answer = plain_http(
            &self.url,
            &format!("GET {path} HTTP/1.0\r\nhost: localhost\r\n\r\n"),
        )?;
        let text = String::from_utf8(answer)?;
        let (_, body) = text.split_once("\r\n\r\n").context("an answer without a body")?;
        Ok(body.to_owned())
    }
}

impl Drop for Mock {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Sends these bytes and reads until the server closes the connection.
pub fn plain_http(url: &str, request: &str) -> Result<Vec<u8>> {
    let address = url.trim_start_matches("http://");
    let mut stream = TcpStream::connect(address).with_context(|| address.to_owned())?;
    stream.write_all(request.as_bytes())?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    Ok(answer)
}
