//! Races: a folder, a file or a link changes places with something that leads out as fast as it can, while everything the
//! file access can do is tried through that name, one hundred thousand times. Whether anything got out is judged from
//! outside: by what lies there afterwards, and by the words that are only there.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::bed::snapshot;
use paddock_sandbox::{PathError, PathPlace, ProjectRoot, RelativePath, WriteMode};
use rustix::fs::{CWD, RenameFlags, renameat_with};

const TRIES: usize = 100_000;
/// A machine that is this slow has other troubles; what was tried until then must still have held.
const MOST_TIME: Duration = Duration::from_secs(50);
const INSIDE: &[u8] = b"inside";
const SECRET: &str = "what nobody may read";

/// A thread that exchanges two names in one step until it is dropped.
struct Swapper {
    stop: Arc<AtomicBool>,
    swaps: Arc<AtomicUsize>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Swapper {
    fn start(pairs: Vec<(PathBuf, PathBuf)>) -> Self {
        let (stop, swaps) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let (ended, count) = (Arc::clone(&stop), Arc::clone(&swaps));
        let thread = std::thread::spawn(move || {
            while !ended.load(Ordering::Relaxed) {
                for (one, other) in &pairs {
                    // What the other side just removed cannot be exchanged.
                    if renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE).is_ok() {
                        count.fetch_add(1, Ordering::Relaxed);
                    }
                }
            }
        });
        Self {
            stop,
            swaps,
            thread: Some(thread),
        }
    }
}

impl Drop for Swapper {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

#[derive(Debug, Default)]
struct Seen {
    inside: usize,
    refused: usize,
    other: usize,
}

impl Seen {
    fn note(&mut self, result: Result<(), PathError>) {
        match result {
            Ok(()) => self.inside += 1,
            Err(error) => {
                let text = error.to_string();
                assert!(!text.contains(SECRET), "{text}");
                match error {
                    PathError::Outside { .. } | PathError::Link { .. } | PathError::NotAFile { .. } => {
                        self.refused += 1;
                    }
                    _ => self.other += 1,
                }
            }
        }
    }
}

/// One try of everything, most often the cheap ones.
fn attempt(
    root: &ProjectRoot,
    number: usize,
    file: &RelativePath,
    folder: &RelativePath,
) -> Result<(), PathError> {
    let new = || folder.join("new");
    match number % 16 {
        0 => root.write(file, INSIDE, WriteMode::CreateOrReplace),
        1 => root.write(&new()?, INSIDE, WriteMode::CreateOrReplace),
        2 => root.remove_file(&new()?),
        3 => root.read_dir(folder).map(|entries| {
            assert!(entries.iter().all(|entry| entry.name != "only-outside"));
        }),
        4 => root
            .metadata(file)
            .map(|found| assert_ne!(found.size, SECRET.len() as u64)),
        5 => root.create_folder(&folder.join("made/deep")?),
        6 => root.remove_folder(&folder.join("made")?),
        7 => root.rename(&new()?, &folder.join("moved")?),
        8 => root.remove_file(&folder.join("moved")?),
        9 => match root.classify(file.as_str()) {
            PathPlace::Inside(path) => root.read(&path, 100).map(|bytes| assert_eq!(bytes, INSIDE)),
            _ => Ok(()),
        },
        _ => root.read(file, 100).map(|bytes| assert_eq!(bytes, INSIDE)),
    }
}

fn raced(name: &str, pairs: &[(&str, &str)], file: &str, folder: &str, tries: usize) {
    let place = tempfile::tempdir().unwrap();
    let around = place.path().canonicalize().unwrap();
    let (project, outside) = (around.join("project"), around.join("outside"));
    for path in ["project/folder/inner", "project/other", "outside/inner"] {
        fs::create_dir_all(around.join(path)).unwrap();
    }
    for path in ["project/folder/inner/file", "project/folder/file", "project/file"] {
        fs::write(around.join(path), INSIDE).unwrap();
    }
    for path in [
        "outside/inner/file",
        "outside/file",
        "outside/only-outside",
        "outside/inner/only-outside",
    ] {
        fs::write(around.join(path), SECRET).unwrap();
    }
    for (to, link) in [
        ("../outside", "out"),
        ("folder", "in"),
        ("../outside/file", "file-out"),
    ] {
        symlink(to, project.join(link)).unwrap();
    }
    symlink(&outside, project.join("absolute")).unwrap();
    symlink("../../outside/inner", project.join("folder/inner-out")).unwrap();
    let before = snapshot(&outside);
    let root = ProjectRoot::open(&project).unwrap();
    let (file, folder) = (root.relative(file).unwrap(), root.relative(folder).unwrap());
    let at = |path: &str| project.join(path);
    let swapped: Vec<_> = pairs.iter().map(|(one, other)| (at(one), at(other))).collect();
    let links: Vec<PathBuf> = swapped
        .iter()
        .map(|(_, link)| fs::read_link(link).unwrap())
        .collect();
    let swapper = Swapper::start(swapped.clone());
    let (mut seen, started) = (Seen::default(), Instant::now());
    let mut number = 0;
    while number < tries && started.elapsed() < MOST_TIME {
        seen.note(attempt(&root, number, &file, &folder));
        number += 1;
        // A write between two looks puts a file where the link was, which is fine; but then there is nothing to swap.
        let is_link = |path: &Path| fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink());
        for ((one, other), link) in swapped.iter().zip(&links).filter(|_| number % 16 == 1) {
            if !is_link(one) && !is_link(other) && other.is_file() {
                let _ = fs::remove_file(other);
                let _ = symlink(link, other);
            }
        }
    }
    let swaps = swapper.swaps.load(Ordering::Relaxed);
    drop(swapper);
    assert_eq!(snapshot(&outside), before, "{name}");
    println!("{name}: {swaps} swaps, {number} tries, {seen:?}");
    let enough = number / 100;
    let both_were_met = seen.inside > enough && seen.refused > enough && swaps > enough;
    assert!(both_were_met, "{name}: one side was hardly met");
}

#[test]
fn a_folder_and_a_link_out() {
    raced("folder", &[("folder", "out")], "folder/file", "folder", TRIES / 4);
}

#[test]
fn a_folder_on_the_way_and_an_absolute_link_out() {
    let pairs = [("folder", "absolute"), ("folder/inner", "folder/inner-out")];
    raced("way", &pairs, "folder/inner/file", "folder/inner", TRIES / 4);
}

#[test]
fn a_file_and_a_link_out() {
    raced("file", &[("file", "file-out")], "file", "other", TRIES / 4);
}

#[test]
fn a_link_within_and_a_link_out() {
    raced("link", &[("in", "out")], "in/file", "in", TRIES / 4);
}

/// That these races can be lost: who checks a name and then opens it reads what is outside.
#[test]
fn a_check_by_name_loses() {
    let place = tempfile::tempdir().unwrap();
    let around = place.path().canonicalize().unwrap();
    let project = around.join("project");
    for path in ["project/folder", "outside"] {
        fs::create_dir_all(around.join(path)).unwrap();
    }
    fs::write(project.join("folder/file"), INSIDE).unwrap();
    fs::write(around.join("outside/file"), SECRET).unwrap();
    symlink("../outside", project.join("out")).unwrap();
    let swapper = Swapper::start(vec![(project.join("folder"), project.join("out"))]);
    let file = project.join("folder/file");
    let lost = (0..10_000_000).any(|_| {
        let is_inside = file.canonicalize().is_ok_and(|real| real.starts_with(&project));
        is_inside && fs::read(&file).is_ok_and(|bytes| bytes == SECRET.as_bytes())
    });
    drop(swapper);
    assert!(lost, "the swaps never met a read");
}

/// What a person granted outside is opened along the path that was shown: a link that takes the place is refused.
#[test]
fn a_granted_place_and_a_link() {
    const GRANTS: usize = 10_000;
    let place = tempfile::tempdir().unwrap();
    let around = place.path().canonicalize().unwrap();
    for path in ["project", "shared/inner", "private"] {
        fs::create_dir_all(around.join(path)).unwrap();
    }
    fs::write(around.join("shared/inner/file"), INSIDE).unwrap();
    fs::write(around.join("private/file"), SECRET).unwrap();
    symlink("../private", around.join("shared/swapped")).unwrap();
    let before = snapshot(&around.join("private"));
    let root = ProjectRoot::open(&around.join("project")).unwrap();
    let shown = around.join("shared/inner/file");
    let swapper = Swapper::start(vec![(around.join("shared/inner"), around.join("shared/swapped"))]);
    let (mut opened, mut refused) = (0, 0);
    let started = Instant::now();
    for number in 0..GRANTS {
        let write = number % 8 == 0;
        match root.outside(&shown, write) {
            Ok((granted, file)) => {
                opened += 1;
                assert_eq!(granted.read(&file, 100).unwrap(), INSIDE);
                if write {
                    granted.write(&file, INSIDE, WriteMode::Replace).unwrap();
                }
            }
            Err(_) => refused += 1,
        }
        if started.elapsed() > MOST_TIME {
            break;
        }
    }
    drop(swapper);
    assert_eq!(snapshot(&around.join("private")), before);
    assert!(
        opened > 100 && refused > 100,
        "{opened} opened, {refused} refused"
    );
}
