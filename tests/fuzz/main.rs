//! The fuzz targets in the test suite: every kept input again, then some seconds of inputs made from them by chance. The
//! long run, which watches what each input reaches, is `cargo xtask fuzz`.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test fails by panicking, and says what it rolled"
)]

#[path = "../../fuzz/src/lib.rs"]
mod targets;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const TIME: Duration = Duration::from_secs(3);
/// For one input, on a machine that is busy.
const LONGEST: Duration = Duration::from_secs(10);
/// Also on a machine that is busy.
const LEAST: u32 = 50;
const MOST_BYTES: usize = 4096;

#[test]
fn command_lines() {
    try_out("command", targets::command);
}

#[test]
fn path_arguments() {
    try_out("path", targets::path);
}

#[test]
fn logs() {
    try_out("log", targets::log);
}

#[test]
fn streams() {
    try_out("stream", targets::stream);
}

fn try_out(target: &str, run: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz");
    let corpus: Vec<Vec<u8>> = inputs(&folder.join("corpus").join(target));
    assert!(corpus.len() >= 10, "{target}: only {} kept inputs", corpus.len());
    for input in &corpus {
        checked(target, run, input);
    }
    let words = words(&folder.join("dictionaries").join(format!("{target}.txt")));
    let mut chance = Chance::new();
    println!("{target}: seed {}", chance.0);
    let (started, mut count) = (Instant::now(), 0_u32);
    while started.elapsed() < TIME || count < LEAST {
        checked(target, run, &chance.changed(&corpus, &words));
        count += 1;
    }
    println!("{target}: {} kept inputs, {count} by chance", corpus.len());
}

/// Runs one input; one that breaks the target is kept and named.
fn checked(target: &str, run: fn(&[u8]), input: &[u8]) {
    let started = Instant::now();
    let ended = catch_unwind(AssertUnwindSafe(|| {
        run(input);
        assert!(started.elapsed() < LONGEST, "it took {:?}", started.elapsed());
    }));
    if let Err(panic) = ended {
        let crashes = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/crashes");
        std::fs::create_dir_all(&crashes).unwrap();
        let path = crashes
            .canonicalize()
            .unwrap()
            .join(format!("{target}-by-chance-{}", std::process::id()));
        std::fs::write(&path, input).unwrap();
        println!(
            "{target} broke on \"{}\", kept as {}",
            input.escape_ascii(),
            path.display()
        );
        std::panic::resume_unwind(panic);
    }
}

fn inputs(folder: &Path) -> Vec<Vec<u8>> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read(path).unwrap()).collect()
}

/// The words of a libFuzzer dictionary: one in quotes on each line, `\xAB` for a byte.
fn words(file: &Path) -> Vec<Vec<u8>> {
    let text = std::fs::read_to_string(file).unwrap();
    text.lines()
        .map(|line| {
            let word = line.trim_matches('"');
            let mut parts = word.split("\\x");
            let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
            for part in parts {
                let (digits, rest) = part.split_at(2);
                bytes.push(u8::from_str_radix(digits, 16).unwrap());
                bytes.extend(rest.as_bytes());
            }
            bytes
        })
        .collect()
}

/// Xorshift: good enough to pick places and bytes.
struct Chance(u64);

impl Chance {
    fn new() -> Self {
        let now = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .unwrap();
        Self(now.as_nanos() as u64 | 1)
    }

    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit.max(1) as u64) as usize
    }

    /// A kept input after some changes.
    fn changed(&mut self, corpus: &[Vec<u8>], words: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = corpus[self.below(corpus.len())].clone();
        for _ in 0..=self.below(6) {
            let at = self.below(bytes.len() + 1);
            let end = at + self.below(bytes.len() + 1 - at);
            match self.below(6) {
                0 => drop(bytes.drain(at..end)),
                1 => {
                    let part = bytes[at..end].to_vec();
                    bytes.splice(at..at, part);
                }
                2 => {
                    let other = &corpus[self.below(corpus.len())];
                    let from = self.below(other.len() + 1);
                    bytes.splice(at..end, other[from..].iter().copied());
                }
                3 if at < bytes.len() => bytes[at] ^= 1 << self.below(8),
                4 => bytes.insert(at, self.below(256) as u8),
                _ => drop(bytes.splice(at..at, words[self.below(words.len())].iter().copied())),
            }
        }
        bytes.truncate(MOST_BYTES);
        bytes
    }
}
