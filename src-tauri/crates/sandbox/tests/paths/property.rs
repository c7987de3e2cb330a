//! Any tree of folders, files and links, any argument, any access: what is touched is inside. The verdict comes from
//! outside of the file access: the folder beside the project stays as it is to the last time stamp, and whatever was read
//! is what a naive resolution by the system finds, and only where that is inside.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};

use paddock_sandbox::{PathError, PathPlace, ProjectRoot, RelativePath, WriteMode};
use proptest::prelude::*;

use crate::bed::snapshot;

/// Few names, so that paths meet.
const NAMES: &[&str] = &["a", "b", "c"];
const WRITTEN: &[u8] = b"written through the file access";

#[derive(Debug, Clone)]
enum Node {
    Folder(Vec<&'static str>),
    File(Vec<&'static str>),
    /// A link and what it holds; `{project}` and `{outside}` stand for the real folders.
    Link(Vec<&'static str>, String),
}

#[derive(Debug, Clone, Copy)]
enum Action {
    Read,
    List,
    Facts,
    EntryFacts,
    Classify,
    Write(WriteMode),
    Restore,
    CreateFolder,
    RemoveFile,
    RemoveFolder,
    RemoveEmptyFolder,
    Rename,
}

impl Node {
    fn names(&self) -> &[&'static str] {
        let (Self::Folder(names) | Self::File(names) | Self::Link(names, _)) = self;
        names
    }
}

fn place() -> impl Strategy<Value = Vec<&'static str>> {
    prop::collection::vec(prop::sample::select(NAMES), 1..=2)
}

/// Names, `.`, `..` and empty names after a beginning; for links and for arguments.
fn spelling(beginnings: &'static [&'static str]) -> impl Strategy<Value = String> {
    let part = prop_oneof![
        9 => prop::sample::select(NAMES),
        3 => Just(".."),
        1 => Just("."),
        1 => Just(""),
        1 => Just("only-outside"),
    ];
    (
        prop::sample::select(beginnings),
        prop::collection::vec(part, 1..6),
    )
        .prop_map(|(beginning, parts)| format!("{beginning}{}", parts.join("/")))
}

fn node() -> impl Strategy<Value = Node> {
    let target = prop_oneof![
        2 => spelling(&["", "./", "../", "{project}/"]),
        3 => prop::sample::select(vec!["a", "b", "c", "a/b", "b/a", "../a", "../b", "../c", "b/../c/.", "a/b/../c"])
            .prop_map(str::to_owned),
        3 => prop::sample::select(vec!["../outside", "../../outside", "{outside}", "../outside/a", "{outside}/only-outside", ".."])
            .prop_map(str::to_owned),
        1 => spelling(&["../outside/", "../../outside/", "{outside}/", "/", "/proc/self/root{outside}/", "/proc/self/cwd/"]),
    ];
    prop_oneof![
        3 => place().prop_map(Node::Folder),
        2 => place().prop_map(Node::File),
        3 => (place(), target).prop_map(|(place, target)| Node::Link(place, target)),
    ]
}

/// Looks most often: they change nothing for the tries after them, and wait for no disk.
fn action() -> impl Strategy<Value = Action> {
    use Action::*;
    prop_oneof![
        8 => Just(Read),
        5 => prop::sample::select(vec![List, Facts, EntryFacts, Classify, Classify]),
        2 => prop::sample::select(vec![
            Write(WriteMode::CreateOrReplace),
            Write(WriteMode::CreateNew),
            Write(WriteMode::Replace),
            Restore,
            CreateFolder,
            CreateFolder,
        ]),
        1 => prop::sample::select(vec![RemoveFile, RemoveFolder, RemoveEmptyFolder, Rename]),
    ]
}

/// An argument: most often the place of a planted node with a little behind it.
#[derive(Debug, Clone)]
enum Argument {
    At(prop::sample::Index, &'static str),
    Spelled(String),
}

fn argument() -> impl Strategy<Value = Argument> {
    let behind = prop::sample::select(vec![
        "",
        "",
        "",
        "",
        "/",
        "/a",
        "/b",
        "/a/b",
        "/../a",
        "/./c",
        "/only-outside",
    ]);
    prop_oneof![
        6 => (any::<prop::sample::Index>(), behind).prop_map(|(node, behind)| Argument::At(node, behind)),
        2 => spelling(&["", "a/", "b/", "c/", "./"]).prop_map(Argument::Spelled),
        1 => spelling(&["../", "../outside/", "{project}/", "{project}//", "{outside}/", "/"])
            .prop_map(Argument::Spelled),
    ]
}

struct World {
    _place: tempfile::TempDir,
    around: PathBuf,
    project: PathBuf,
    outside: PathBuf,
    root: ProjectRoot,
}

impl World {
    fn new(nodes: &[Node]) -> Self {
        let place = tempfile::tempdir().unwrap();
        let around = place.path().canonicalize().unwrap();
        let (project, outside) = (around.join("project"), around.join("outside"));
        for folder in ["project", "outside/a/b", "outside/c"] {
            fs::create_dir_all(around.join(folder)).unwrap();
        }
        for file in [
            "outside/only-outside",
            "outside/a/only-outside",
            "outside/b",
            "outside/a/b/c",
        ] {
            fs::write(around.join(file), format!("OUTSIDE {file}")).unwrap();
        }
        let root = ProjectRoot::open(&project).unwrap();
        let world = Self {
            _place: place,
            around,
            project,
            outside,
            root,
        };
        for (number, node) in nodes.iter().enumerate() {
            world.plant(number, node);
        }
        world
    }

    /// Makes a node where that is possible, and never through a link that leads out.
    fn plant(&self, number: usize, node: &Node) {
        let mut folder = self.project.clone();
        let (name, above) = node.names().split_last().unwrap();
        for name in above {
            let _ = fs::create_dir(folder.join(name));
            match folder.join(name).canonicalize() {
                Ok(real) if real.starts_with(&self.project) && real.is_dir() => folder = real,
                _ => return,
            }
        }
        let path = folder.join(name);
        if fs::symlink_metadata(&path).is_ok() {
            return;
        }
        match node {
            Node::Folder(_) => fs::create_dir(path).unwrap(),
            Node::File(_) => fs::write(path, format!("inside {number}")).unwrap(),
            // An empty link cannot be made.
            Node::Link(_, to) => drop(symlink(self.real_text(to), path)),
        }
    }

    fn argument(&self, nodes: &[Node], argument: &Argument) -> String {
        match argument {
            Argument::At(node, behind) => node.get(nodes).names().join("/") + behind,
            Argument::Spelled(text) => self.real_text(text),
        }
    }

    fn real_text(&self, text: &str) -> String {
        text.replace("{project}", self.project.to_str().unwrap())
            .replace("{outside}", self.outside.to_str().unwrap())
    }

    /// What the system finds at a path; none when there is nothing.
    fn naive(&self, path: &RelativePath) -> Option<PathBuf> {
        self.project.join(path.as_str()).canonicalize().ok()
    }

    fn is_inside(&self, real: &Path) -> bool {
        real.starts_with(&self.project)
    }

    /// All that is in the project, by real path.
    fn inventory(&self) -> BTreeSet<PathBuf> {
        let (mut found, mut waiting) = (BTreeSet::new(), vec![self.project.clone()]);
        while let Some(folder) = waiting.pop() {
            for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
                if entry.file_type().unwrap().is_dir() {
                    waiting.push(entry.path());
                }
                found.insert(entry.path());
            }
        }
        found
    }

    fn carry_out(&self, action: Action, argument: &str, second: &str) {
        if matches!(action, Action::Classify) {
            return self.classify(argument);
        }
        let Ok(path) = self.root.relative(argument) else {
            return;
        };
        match action {
            Action::Read | Action::List | Action::Facts | Action::EntryFacts | Action::Classify => {
                self.look(action, &path);
            }
            Action::Write(_) | Action::Restore | Action::CreateFolder => self.write(action, &path),
            Action::RemoveFile | Action::RemoveFolder | Action::RemoveEmptyFolder => {
                self.remove(action, &path);
            }
            Action::Rename => {
                let Ok(to) = self.root.relative(second) else {
                    return;
                };
                let before = self.inventory().len();
                if self.root.rename(&path, &to).is_ok() {
                    assert!(
                        self.inventory().len() >= before,
                        "{path} to {to}: something was lost"
                    );
                }
            }
        }
    }

    fn look(&self, action: Action, path: &RelativePath) {
        let real = self.naive(path);
        let inside = real.as_ref().filter(|real| self.is_inside(real));
        let plain = inside.filter(|real| **real == self.project.join(path.as_str()));
        let refused: Option<PathError> = match action {
            Action::Read => match self.root.read(path, 1000) {
                Ok(bytes) => {
                    assert_eq!(bytes, fs::read(inside.unwrap()).unwrap(), "{path}");
                    None
                }
                Err(error) => plain.filter(|real| real.is_file()).map(|_| error),
            },
            Action::List => match self.root.read_dir(path) {
                Ok(entries) => {
                    let names: BTreeSet<_> = entries.into_iter().map(|entry| entry.name).collect();
                    let expected = fs::read_dir(inside.unwrap()).unwrap();
                    let expected = expected.map(|entry| entry.unwrap().file_name().into_string().unwrap());
                    assert_eq!(names, expected.collect(), "{path}");
                    None
                }
                Err(error) => plain.filter(|real| real.is_dir()).map(|_| error),
            },
            Action::Facts => match self.root.metadata(path) {
                Ok(found) => {
                    let expected = fs::symlink_metadata(inside.unwrap()).unwrap();
                    assert_eq!(
                        (found.inode, found.device),
                        (expected.ino(), expected.dev()),
                        "{path}"
                    );
                    None
                }
                Err(error) => plain.map(|_| error),
            },
            _ => match self.root.link_metadata(path) {
                Ok(found) => {
                    let parent = path.parent().unwrap_or_else(RelativePath::root);
                    let folder = self.naive(&parent).unwrap();
                    assert!(self.is_inside(&folder), "{path}");
                    let entry = folder.join(path.file_name().unwrap_or("."));
                    assert_eq!(found.inode, fs::symlink_metadata(entry).unwrap().ino(), "{path}");
                    None
                }
                Err(error) => plain.map(|_| error),
            },
        };
        assert!(refused.is_none(), "{path} is plainly inside: {refused:?}");
    }

    fn classify(&self, argument: &str) {
        match self.root.classify(argument) {
            PathPlace::Inside(path) => {
                if let Ok(bytes) = self.root.read(&path, 1000) {
                    let real = self.naive(&path).unwrap();
                    assert!(self.is_inside(&real), "{argument}");
                    assert_eq!(bytes, fs::read(real).unwrap(), "{argument}");
                }
            }
            PathPlace::Outside(place) => {
                assert!(!self.is_inside(&place.real), "{argument}: {place:?}");
                let Ok((granted, path)) = self.root.outside(&place.real, false) else {
                    return;
                };
                let real = place.real.canonicalize().unwrap();
                assert_eq!(real, place.real, "{argument}: it is shown as it is");
                if let Ok(bytes) = granted.read(&path, 1000) {
                    assert_eq!(bytes, fs::read(real).unwrap(), "{argument}");
                }
                assert!(granted.write(&path, WRITTEN, WriteMode::CreateOrReplace).is_err());
            }
            PathPlace::Invalid(_) => {}
        }
    }

    fn write(&self, action: Action, path: &RelativePath) {
        let before = self.inventory();
        let result = match action {
            Action::Write(mode) => self.root.write(path, WRITTEN, mode),
            Action::Restore => self.root.restore(path, WRITTEN, Some(0o640)),
            _ => self.root.create_folder(path),
        };
        let after = self.inventory();
        assert!(after.is_superset(&before), "{path}: something was lost");
        let litter = |path: &&PathBuf| path.to_string_lossy().contains(".paddock");
        assert_eq!(after.iter().find(litter), None);
        if result.is_ok() {
            let real = self.naive(path).unwrap();
            assert!(self.is_inside(&real), "{path}");
            if real.is_file() {
                assert_eq!(fs::read(real).unwrap(), WRITTEN, "{path}");
            }
        }
    }

    /// What is removed is the entry itself with what is below it, and not what a link leads to.
    fn remove(&self, action: Action, path: &RelativePath) {
        let before = self.inventory();
        let parent = path.parent().and_then(|parent| self.naive(&parent));
        let result = match action {
            Action::RemoveFile => self.root.remove_file(path),
            Action::RemoveFolder => self.root.remove_folder(path),
            _ => self.root.remove_empty_folder(path),
        };
        let after = self.inventory();
        let lost: Vec<&PathBuf> = before.difference(&after).collect();
        if result.is_err() {
            assert!(lost.is_empty(), "{path}: {result:?}, and {lost:?} are gone");
            return;
        }
        let entry = parent.unwrap().join(path.file_name().unwrap());
        assert!(lost.contains(&&entry) && self.is_inside(&entry), "{path}");
        assert!(
            lost.iter().all(|lost| lost.starts_with(&entry)),
            "{path}: {lost:?}"
        );
        let alone = !matches!(action, Action::RemoveFolder);
        assert!(!alone || lost.len() == 1, "{path}: {lost:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_touched_is_inside(
        nodes in prop::collection::vec(node(), 1..20),
        tries in prop::collection::vec((action(), argument(), argument()), 8..24),
    ) {
        let world = World::new(&nodes);
        let before = (snapshot(&world.outside), fs::read_dir(&world.around).unwrap().count());
        for (action, argument, second) in &tries {
            let [argument, second] = [argument, second].map(|one| world.argument(&nodes, one));
            world.carry_out(*action, &argument, &second);
        }
        let after = (snapshot(&world.outside), fs::read_dir(&world.around).unwrap().count());
        prop_assert_eq!(before, after);
        prop_assert!(world.project.is_dir());
    }
}
