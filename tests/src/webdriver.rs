//! A client for the part of the WebDriver protocol that the real-window tests use. WebKit's own driver starts the
//! product and drives its page; a handful of requests is all that takes, so there is no client package here.
//! Whatever asks for an element waits for it up to [`PATIENCE`]: a test says what must appear, never how long it takes.

use std::io;
use std::net::TcpListener;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use base64::Engine as _;
use serde_json::{Value, json};

/// How long an element or a text may take to appear.
pub const PATIENCE: Duration = Duration::from_secs(10);
/// No single request may take longer; a page that hangs fails the test instead of stopping all of them.
const LIMIT: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(40);

/// A product to start: the program, its arguments, and the variables it sees.
#[derive(Debug, Default)]
pub struct Launch {
    pub program: PathBuf,
    pub arguments: Vec<String>,
    pub variables: Vec<(String, String)>,
}

/// One running window. Dropping it ends the driver and the product.
#[derive(Debug)]
pub struct Page {
    http: reqwest::Client,
    session: String,
    driver: Driver,
}

/// The driver leads a process group of its own, so that the product it started can be ended with it.
#[derive(Debug)]
struct Driver(Child);

impl Driver {
    fn start(port: u16, variables: &[(String, String)]) -> Result<Self> {
        let child = Command::new("WebKitWebDriver")
            .arg(format!("--port={port}"))
            .arg("--host=127.0.0.1")
            .env("TAURI_WEBVIEW_AUTOMATION", "true")
            .envs(variables.iter().map(|(name, value)| (name, value)))
            // Processes of the web view outlive the driver by seconds and would hold the test's own pipes open.
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .context("WebKitWebDriver does not start")?;
        Ok(Self(child))
    }

    fn signal_group(&self, signal: &str) -> io::Result<()> {
        let group = format!("-{}", self.0.id());
        Command::new("kill")
            .args([signal, "--", &group])
            .stderr(Stdio::null())
            .status()
            .map(|_| ())
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        let _ = self.signal_group("-KILL");
        let _ = self.0.wait();
    }
}

impl Page {
    /// Starts a driver on a free port and the product under it; the page is there when this returns.
    pub async fn open(launch: &Launch) -> Result<Self> {
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let driver = Driver::start(port, &launch.variables)?;
        let http = reqwest::Client::builder().no_proxy().timeout(LIMIT).build()?;
        let address = format!("http://127.0.0.1:{port}/session");
        let wanted = json!({ "capabilities": { "alwaysMatch": { "webkitgtk:browserOptions": {
            "binary": launch.program, "args": launch.arguments,
        } } } });
        let deadline = Instant::now() + PATIENCE;
        let value = loop {
            // The driver needs a moment until it listens.
            match http.post(&address).json(&wanted).send().await {
                Ok(answer) => break value_of(answer).await?,
                Err(error) if Instant::now() > deadline => {
                    return Err(error).context("the driver does not listen");
                }
                Err(_) => tokio::time::sleep(PAUSE).await,
            }
        };
        let id = value["sessionId"]
            .as_str()
            .context("the driver gave no session id")?;
        Ok(Self {
            session: format!("{address}/{id}"),
            http,
            driver,
        })
    }

    /// The id of the driver's process, of which the product's processes descend.
    pub fn driver(&self) -> u32 {
        self.driver.0.id()
    }

    /// The element a selector names, waited for.
    pub async fn find(&self, css: &str) -> Result<Element> {
        self.wait(&format!("an element {css}"), async || self.look(css).await)
            .await
    }

    /// How many elements a selector names right now.
    pub async fn count(&self, css: &str) -> Result<usize> {
        let found = self
            .post("elements", &json!({ "using": "css selector", "value": css }))
            .await?;
        Ok(found.as_array().map_or(0, Vec::len))
    }

    /// Waits until a selector names nothing.
    pub async fn gone(&self, css: &str) -> Result<()> {
        let check = async || Ok((self.count(css).await? == 0).then_some(()));
        self.wait(&format!("{css} to go away"), check).await
    }

    /// Clicks the element; one that something else covers is tried again.
    pub async fn click(&self, css: &str) -> Result<()> {
        let act = async || {
            let Some(element) = self.look(css).await? else {
                return Ok(None);
            };
            Ok(self
                .post(&element.path("click"), &json!({}))
                .await
                .ok()
                .map(|_| ()))
        };
        self.wait(&format!("{css} to take a click"), act).await
    }

    /// Empties a field and types the text into it; one that the page replaces meanwhile is tried again.
    pub async fn fill(&self, css: &str, text: &str) -> Result<()> {
        let act = async || {
            let Some(element) = self.look(css).await? else {
                return Ok(None);
            };
            if self.post(&element.path("clear"), &json!({})).await.is_err() {
                return Ok(None);
            }
            let typed = self.post(&element.path("value"), &json!({ "text": text })).await;
            Ok(typed.ok().map(|_| ()))
        };
        self.wait(&format!("{css} to take a text"), act).await
    }

    /// Types into the element without emptying it; WebDriver's key codes (U+E007 is Enter) are allowed.
    pub async fn press(&self, css: &str, keys: &str) -> Result<()> {
        let element = self.find(css).await?;
        self.post(&element.path("value"), &json!({ "text": keys }))
            .await?;
        Ok(())
    }

    /// The text a person sees in the element.
    pub async fn text(&self, css: &str) -> Result<String> {
        let element = self.find(css).await?;
        let text = self.get(&element.path("text")).await?;
        Ok(text.as_str().unwrap_or_default().to_owned())
    }

    /// Waits until the element's text fulfils a condition, and gives that text.
    pub async fn text_when(&self, css: &str, fits: impl Fn(&str) -> bool) -> Result<String> {
        let last = std::cell::RefCell::new(String::new());
        let check = async || {
            let Some(element) = self.look(css).await? else {
                return Ok(None);
            };
            let Ok(text) = self.get(&element.path("text")).await else {
                return Ok(None);
            };
            let text = text.as_str().unwrap_or_default().to_owned();
            last.replace(text.clone());
            Ok(fits(&text).then_some(text))
        };
        let waited = self.wait(&format!("the right text in {css}"), check).await;
        waited.with_context(|| format!("its text was {:?}", last.borrow()))
    }

    /// Runs a script in the page and gives what it returns. The content policy does not stop it.
    pub async fn execute(&self, script: &str, arguments: &[Value]) -> Result<Value> {
        self.post("execute/sync", &json!({ "script": script, "args": arguments }))
            .await
    }

    /// Runs a script that gives its result to its last argument, a function, when it is ready.
    pub async fn execute_later(&self, script: &str, arguments: &[Value]) -> Result<Value> {
        self.post("execute/async", &json!({ "script": script, "args": arguments }))
            .await
    }

    /// Saves a picture of the page as PNG, after two frames have been drawn.
    pub async fn screenshot(&self, file: &Path) -> Result<()> {
        let script =
            "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done(true)))";
        self.execute_later(script, &[]).await?;
        let picture = self.get("screenshot").await?;
        let picture = picture.as_str().context("the driver gave no picture")?;
        let bytes = base64::engine::general_purpose::STANDARD.decode(picture)?;
        if let Some(folder) = file.parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::write(file, bytes).with_context(|| format!("cannot write {}", file.display()))
    }

    /// Ends the product as the driver does it: at once, without asking the window.
    pub async fn close(self) -> Result<()> {
        value_of(self.http.delete(&self.session).send().await?)
            .await
            .map(|_| ())
    }

    /// Ends the product like a power cut: no signal handler of it runs.
    pub fn kill(self) -> Result<()> {
        Ok(self.driver.signal_group("-KILL")?)
    }

    async fn look(&self, css: &str) -> Result<Option<Element>> {
        let found = self
            .post("elements", &json!({ "using": "css selector", "value": css }))
            .await?;
        let first = found
            .get(0)
            .and_then(Value::as_object)
            .and_then(|element| element.values().next());
        Ok(first.and_then(Value::as_str).map(|id| Element(id.to_owned())))
    }

    async fn wait<T>(&self, what: &str, attempt: impl AsyncFn() -> Result<Option<T>>) -> Result<T> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(value) = attempt().await? {
                return Ok(value);
            }
            if Instant::now() > deadline {
                bail!("waited {} s for {what}", PATIENCE.as_secs());
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    async fn post(&self, path: &str, body: &Value) -> Result<Value> {
        value_of(
            self.http
                .post(format!("{}/{path}", self.session))
                .json(body)
                .send()
                .await?,
        )
        .await
    }

    async fn get(&self, path: &str) -> Result<Value> {
        value_of(self.http.get(format!("{}/{path}", self.session)).send().await?).await
    }
}

/// A found element, known to the driver by its id.
#[derive(Debug)]
pub struct Element(String);

impl Element {
    fn path(&self, action: &str) -> String {
        format!("element/{}/{action}", self.0)
    }
}

async fn value_of(answer: reqwest::Response) -> Result<Value> {
    let body: Value = answer.json().await.context("the driver's answer is not JSON")?;
    let value = &body["value"];
    if let Some(error) = value["error"].as_str() {
        bail!(
            "the driver says {error}: {}",
            value["message"].as_str().unwrap_or_default()
        );
    }
    Ok(value.clone())
}
