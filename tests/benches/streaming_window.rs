//! What a streamed answer costs in processor time once a person looks on, per 1,000 tokens: the app's own process, and the
//! processes of its page, in a real window. A server of this program sends Markdown at a fixed rate; what the same window costs
//! without an answer over the same time is taken off. Then, how long a token takes from the server to the page.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark that cannot go on may panic, and prints"
)]

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use paddock_tests::desktop::Desktop;
use paddock_tests::model_server::{ModelServer, Piece, Received, bytes, delta, stream_head};
use serde_json::json;

const RUNS: usize = 3;
/// A token is so many letters.
const LETTERS: usize = 4;
/// The window calms down before it is measured.
const BREATH: Duration = Duration::from_secs(1);
/// What is drawn after the last token belongs to the answer.
const AFTERGLOW: Duration = Duration::from_millis(1_500);
/// After the first answer the colours of code are still being made ready.
const SETTLED: Duration = Duration::from_secs(8);
/// How long a window without an answer is watched.
const WATCH: Duration = Duration::from_secs(10);
const MARK_EVERY: usize = 25;
const COMPOSER: &str = "[data-testid=composer-input]";
const SILENCE: &str = "Wait";

/// Everything that Markdown has; it comes again and again.
const MIXED: &str = "## What the function does\n
The function reads the **settings** of the project and gives back a list of rules, each with the place where it was found. \
It does not check them: that is done later, by `validate`, because a rule may name a folder that is only made while the \
project is built. See [the notes](https://example.com/notes) about that.\n
- It opens the file once and keeps it.
- A line that begins with `#` is left out.
- An empty file is no error; it gives an empty list.
- The order of the rules is kept, as *later* rules win.\n
```rust
fn rules(path: &Path) -> Result<Vec<Rule>> {
    let text = std::fs::read_to_string(path)?;
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        if line.starts_with('#') || line.trim().is_empty() {
            continue;
        }
        found.push(Rule::parse(line, number + 1)?);
    }
    Ok(found)
}
```\n
After that the caller has all of them in one place and can say which of two rules applies.\n\n";

#[derive(Clone, Copy)]
enum Text {
    Mixed,
    /// One code block to the end. No two lines are alike, so that it is not taken for a model that turns in circles.
    Code,
}

impl Text {
    fn letters(self, count: usize) -> Vec<char> {
        let text: String = match self {
            Self::Mixed => MIXED.repeat(count / MIXED.len() + 1),
            Self::Code => std::iter::once("```rust\n".to_owned())
                .chain(
                    (0..count / LETTERS)
                        .map(|line| format!("    let value_{line} = find(&places, {});\n", line * 7)),
                )
                .collect(),
        };
        text.chars().take(count).collect()
    }
}

/// An answer, asked for by its name.
#[derive(Clone, Copy)]
struct Stream {
    name: &'static str,
    /// Tokens a second.
    rate: u32,
    tokens: usize,
    text: Text,
    /// Some tokens are marked, and told of when they are sent.
    marked: bool,
}

impl Stream {
    const fn new(name: &'static str, rate: u32, tokens: usize, text: Text) -> Self {
        Self {
            name,
            rate,
            tokens,
            text,
            marked: false,
        }
    }
}

const STREAMS: [Stream; 4] = [
    Stream::new("1,000 tokens, 100 a second", 100, 1_000, Text::Mixed),
    Stream::new("2,000 tokens, 500 a second", 500, 2_000, Text::Mixed),
    Stream::new("6,000 tokens, 500 a second", 500, 6_000, Text::Mixed),
    Stream::new("3,000 tokens of code, 500 a second", 500, 3_000, Text::Code),
];
const WARM: Stream = Stream::new("Warm", 500, 1_000, Text::Mixed);
const FOLLOWED: Stream = Stream {
    marked: true,
    ..Stream::new("a token of 1,000", 100, 1_000, Text::Mixed)
};

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(measure());
}

async fn measure() {
    let (tell, told) = channel();
    let server = ModelServer::start(move |_, request| answer(request, &tell)).unwrap();
    let (desktop, project) = Desktop::open_with_model(server.url(), &[], |_| {}).await.unwrap();
    let folder = project.display().to_string();
    desktop
        .page
        .fill("[data-testid=open-path]", &folder)
        .await
        .unwrap();
    desktop
        .page
        .click("[data-testid=open-path-button]")
        .await
        .unwrap();
    let bed = Bed { desktop, told };
    // Parts of the page are loaded with the first answer.
    bed.take(WARM).await;
    tokio::time::sleep(SETTLED).await;
    let idle = bed.watch().await;
    bed.say(SILENCE).await;
    bed.next();
    let waiting = bed.watch().await;
    bed.next();
    bed.desktop.picture("streaming-done").await.unwrap();

    println!("ms of processor time a second: app, page, together");
    row("nothing goes on", &[idle.app, idle.page, idle.sum()]);
    row(
        "a turn waits for its model",
        &[waiting.app, waiting.page, waiting.sum()],
    );
    println!(
        "ms per 1,000 tokens beyond a window in which nothing goes on: app, page, together (median of {RUNS} answers), together (least); \
         tokens that came a second"
    );
    for stream in STREAMS {
        let mut costs = Vec::new();
        for _ in 0..RUNS {
            costs.push(bed.take(stream).await.per_thousand(stream.tokens, idle));
        }
        costs.sort_by(|one, other| one.sum().total_cmp(&other.sum()));
        let (least, median) = (costs[0], costs[RUNS / 2]);
        let streamed = median.seconds - BREATH.as_secs_f64() - AFTERGLOW.as_secs_f64();
        let rate = stream.tokens as f64 / streamed;
        row(
            stream.name,
            &[median.app, median.page, median.sum(), least.sum(), rate],
        );
    }
    let mut delays = bed.delays().await;
    delays.sort_by(f64::total_cmp);
    println!("ms from the server to the text of the page, at 100 tokens a second: median, highest");
    row(
        FOLLOWED.name,
        &[delays[delays.len() / 2], delays[delays.len() - 1]],
    );
    bed.desktop.page.close().await.unwrap();
}

fn row(name: &str, figures: &[f64]) {
    let figures: String = figures.iter().map(|figure| format!("{figure:9.1}")).collect();
    println!("{name:40}{figures}");
}

/// Milliseconds of processor time over some time.
#[derive(Clone, Copy, Default)]
struct Cost {
    app: f64,
    page: f64,
    seconds: f64,
}

impl Cost {
    fn sum(self) -> f64 {
        self.app + self.page
    }

    /// `idle` is the cost of a second.
    fn per_thousand(self, tokens: usize, idle: Self) -> Self {
        let per = |spent: f64, idle: f64| (spent - idle * self.seconds) / (tokens as f64 / 1e3);
        Self {
            app: per(self.app, idle.app),
            page: per(self.page, idle.page),
            seconds: self.seconds,
        }
    }
}

struct Bed {
    desktop: Desktop,
    told: Receiver<SystemTime>,
}

impl Bed {
    /// Asks in a session of its own.
    async fn say(&self, words: &str) {
        let page = &self.desktop.page;
        if page.count("main article").await.unwrap() > 0 {
            page.click("[data-testid=new-session]").await.unwrap();
            page.gone("main article").await.unwrap();
        }
        page.fill(COMPOSER, words).await.unwrap();
        page.click("[data-testid=composer-send]").await.unwrap();
    }

    /// What the server tells next.
    fn next(&self) -> SystemTime {
        self.told.recv_timeout(Duration::from_secs(300)).unwrap()
    }

    /// The whole cost of an answer.
    async fn take(&self, stream: Stream) -> Cost {
        self.say(stream.name).await;
        self.next();
        let meter = self.meter();
        self.next();
        tokio::time::sleep(AFTERGLOW).await;
        meter()
    }

    /// The cost of a second in the window as it is.
    async fn watch(&self) -> Cost {
        tokio::time::sleep(BREATH).await;
        let meter = self.meter();
        tokio::time::sleep(WATCH).await;
        let cost = meter();
        Cost {
            app: cost.app / cost.seconds,
            page: cost.page / cost.seconds,
            seconds: 1.0,
        }
    }

    /// Gives the cost from now to when it is called.
    fn meter(&self) -> impl Fn() -> Cost {
        let driver = self.desktop.page.driver();
        let (from, before) = (Instant::now(), spent(driver));
        move || {
            let after = spent(driver);
            Cost {
                app: after.app - before.app,
                page: after.page - before.page,
                seconds: from.elapsed().as_secs_f64(),
            }
        }
    }

    /// Milliseconds that each marked token took from the server to the page.
    async fn delays(&self) -> Vec<f64> {
        self.say(FOLLOWED.name).await;
        self.desktop.page.execute(LOOK, &[]).await.unwrap();
        self.next();
        let marks = FOLLOWED.tokens / MARK_EVERY;
        let sent: Vec<f64> = (0..marks)
            .map(|_| self.next().duration_since(UNIX_EPOCH).unwrap().as_secs_f64() * 1e3)
            .collect();
        self.next();
        tokio::time::sleep(AFTERGLOW).await;
        let seen = self
            .desktop
            .page
            .execute("return window.seen", &[])
            .await
            .unwrap();
        let seen: Vec<f64> = (0..marks)
            .map(|mark| seen[mark.to_string()].as_f64().unwrap())
            .collect();
        seen.iter().zip(sent).map(|(seen, sent)| seen - sent).collect()
    }
}

/// Writes down when each mark is first in the page.
const LOOK: &str = "window.seen = {}; const main = document.querySelector('main'); \
    new MutationObserver(() => { \
      for (const [, mark] of main.textContent.matchAll(/⟦(\\d+)⟧/g)) \
        window.seen[mark] ??= performance.timeOrigin + performance.now() \
    }).observe(main, { subtree: true, childList: true, characterData: true })";

/// What the processes below the driver have used so far.
fn spent(driver: u32) -> Cost {
    let processes: HashMap<u32, Process> = std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter_map(|id| Some((id, Process::read(id)?)))
        .collect();
    let below = |mut id: u32| {
        while let Some(process) = processes.get(&id) {
            if process.parent == driver {
                return true;
            }
            id = process.parent;
        }
        false
    };
    let mut cost = Cost::default();
    for (_, process) in processes.iter().filter(|(id, _)| below(**id)) {
        let share = if process.name.starts_with("WebKit") {
            &mut cost.page
        } else {
            &mut cost.app
        };
        *share += process.time;
    }
    assert!(
        cost.app > 0.0 && cost.page > 0.0,
        "the processes of the window are not found"
    );
    cost
}

struct Process {
    name: String,
    parent: u32,
    /// In milliseconds.
    time: f64,
}

impl Process {
    fn read(id: u32) -> Option<Self> {
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        // The name is in brackets and may hold blanks itself.
        let (head, tail) = stat.rsplit_once(") ")?;
        let fields: Vec<&str> = tail.split(' ').collect();
        let ticks = fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
        Some(Self {
            name: head.split_once('(')?.1.to_owned(),
            parent: fields.get(1)?.parse().ok()?,
            time: ticks as f64 * 1e3 / rustix::param::clock_ticks_per_second() as f64,
        })
    }
}

/// The answer that a message asks for by its name.
fn answer(request: &Received, tell: &Sender<SystemTime>) -> Vec<Piece> {
    let messages = request.messages();
    let asked = |name: &str| {
        messages
            .iter()
            .any(|message| message["role"] == "user" && message["content"].as_str() == Some(name))
    };
    let mut pieces = vec![stream_head(), Piece::Tell(tell.clone())];
    if asked(SILENCE) {
        pieces.push(Piece::Wait(WATCH + 3 * BREATH));
        pieces.push(token("Now."));
    }
    for stream in STREAMS.into_iter().chain([WARM, FOLLOWED]) {
        if asked(stream.name) {
            pieces.push(Piece::Wait(BREATH));
            written(&mut pieces, stream, tell);
        }
    }
    pieces.push(Piece::Tell(tell.clone()));
    pieces.push(bytes(delta(&json!({}), Some("stop")) + "data: [DONE]\n\n"));
    pieces.push(Piece::Cut);
    pieces
}

fn written(pieces: &mut Vec<Piece>, stream: Stream, tell: &Sender<SystemTime>) {
    let letters: Vec<char> = stream.text.letters(stream.tokens * LETTERS);
    let pause = Duration::from_secs(1) / stream.rate;
    for (at, letters) in letters.chunks(LETTERS).enumerate() {
        let marked = stream.marked && at % MARK_EVERY == 0;
        if marked {
            pieces.push(token(&format!(" ⟦{}⟧ ", at / MARK_EVERY)));
            pieces.push(Piece::Tell(tell.clone()));
        } else {
            pieces.push(token(&letters.iter().collect::<String>()));
        }
        pieces.push(Piece::Wait(pause));
    }
}

fn token(text: &str) -> Piece {
    bytes(delta(&json!({ "content": text }), None))
}
