//! Where definitions (workflows and roles) come from: TOML files of the person in Paddock's data, and of the project. A
//! project's file is untrusted: it is read within bounds, hidden characters in it are said, and it is off until the person
//! has read exactly this content.

use paddock_protocol::{ClientError, DefinitionSource, ErrorCode};
use paddock_sandbox::{Kind, PathError, ProjectRoot};
use paddock_store::reviews::{self, Review, Reviews};
use paddock_store::{Home, StoreError};
use std::io::Read;

/// Bytes of one file.
const MAX_BYTES: u64 = 256 * 1024;
/// Files of one kind in one place.
const MAX_FILES: usize = 200;
const ENDING: &str = ".toml";

/// What is defined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    Workflow,
    Role,
}

impl Sort {
    fn folder(self) -> &'static str {
        match self {
            Sort::Workflow => "workflows",
            Sort::Role => "roles",
        }
    }
}

/// A file with its text, or with why it has none.
#[derive(Clone, Debug)]
pub struct Found {
    pub source: DefinitionSource,
    /// Name of the file without its ending.
    pub stem: String,
    pub text: Result<String, String>,
    /// What a person should know before they trust it, one sentence each.
    pub warnings: Vec<String>,
}

impl Found {
    /// Whether it may be used: of the person, or reviewed as it is.
    pub fn is_on(&self) -> bool {
        !matches!(self.source, DefinitionSource::Project { reviewed: false, .. })
    }

    fn new(source: DefinitionSource, name: &str, bytes: Result<Vec<u8>, String>) -> Self {
        let text = bytes.and_then(|bytes| {
            String::from_utf8(bytes).map_err(|_| "The file is not text in UTF-8.".to_owned())
        });
        let warnings = text.as_deref().map(hidden).unwrap_or_default();
        Self {
            source,
            stem: name.strip_suffix(ENDING).unwrap_or(name).to_owned(),
            text,
            warnings,
        }
    }
}

/// All files of a sort: the person's, then the project's, each by name.
pub fn find(sort: Sort, home: &Home, root: &ProjectRoot) -> Result<Vec<Found>, StoreError> {
    let mut found = of_person(sort, home);
    let reviews = reviews::load(home, &key(root))?.value;
    let Ok(folder) = root.relative(&format!(".paddock/{}", sort.folder())) else {
        return Ok(found);
    };
    let entries = root.read_dir(&folder).unwrap_or_default();
    let names = entries
        .into_iter()
        .filter(|entry| entry.kind == Kind::File && entry.name.ends_with(ENDING))
        .take(MAX_FILES);
    for entry in names {
        let path = format!("{folder}/{}", entry.name);
        found.push(of_project(&path, root, &reviews));
    }
    Ok(found)
}

fn of_project(path: &str, root: &ProjectRoot, reviews: &Reviews) -> Found {
    let bytes = read_in(root, path);
    let hash = bytes.as_deref().map(reviews::hash_of).unwrap_or_default();
    let review = reviews.of(path, &hash);
    let source = DefinitionSource::Project {
        path: path.to_owned(),
        reviewed: bytes.is_ok() && review == Review::On,
        changed: review == Review::Changed,
        hash,
    };
    let name = path.rsplit('/').next().unwrap_or(path);
    Found::new(source, name, bytes)
}

fn read_in(root: &ProjectRoot, path: &str) -> Result<Vec<u8>, String> {
    let words = |error: PathError| format!("The file cannot be read: {error}.");
    let path = root.relative(path).map_err(words)?;
    // A link could lead to a file that changes without this one changing.
    match root.link_metadata(&path) {
        Ok(facts) if facts.kind == Kind::File => root.read(&path, MAX_BYTES).map_err(words),
        Ok(_) => Err("It is no plain file.".to_owned()),
        Err(error) => Err(words(error)),
    }
}

fn of_person(sort: Sort, home: &Home) -> Vec<Found> {
    let folder = home.path().join(sort.folder());
    let Ok(entries) = std::fs::read_dir(&folder) else {
        return Vec::new();
    };
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.ends_with(ENDING) && !name.starts_with('.'))
        .collect();
    names.sort();
    names.truncate(MAX_FILES);
    names
        .into_iter()
        .map(|name| {
            let path = folder.join(&name);
            let bytes = std::fs::File::open(&path)
                .and_then(|file| {
                    let mut bytes = Vec::new();
                    file.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
                    Ok(bytes)
                })
                .map_err(|error| format!("The file cannot be read: {error}."))
                .and_then(|bytes| match bytes.len() as u64 > MAX_BYTES {
                    true => Err(format!("The file has more than {MAX_BYTES} bytes.")),
                    false => Ok(bytes),
                });
            let path = path.to_string_lossy().into_owned();
            Found::new(DefinitionSource::Person { path }, &name, bytes)
        })
        .collect()
}

/// The text of a project's definition, for the review.
pub fn text(root: &ProjectRoot, path: &str) -> Result<String, ClientError> {
    let bytes = read_in(root, &own_path(root, path)?)
        .map_err(|why| ClientError::new(ErrorCode::NotFound, why).hint("Check the name of the file."))?;
    String::from_utf8(bytes).map_err(|_| {
        ClientError::new(ErrorCode::BadRequest, "The file is not text in UTF-8.")
            .hint("Do not use this file.")
    })
}

/// Switches a project's file on or off. It must still have the content that was read.
pub fn review(
    home: &Home,
    root: &ProjectRoot,
    path: &str,
    hash: &str,
    accept: bool,
) -> Result<(), ClientError> {
    let path = own_path(root, path)?;
    let kept = match accept {
        false => reviews::reject(home, &key(root), &path),
        true if read_in(root, &path).is_ok_and(|bytes| reviews::hash_of(&bytes) == hash) => {
            reviews::accept(home, &key(root), &path, hash)
        }
        true => {
            return Err(
                ClientError::new(ErrorCode::NotNow, format!("{path} changed after you read it."))
                    .hint("Read it again."),
            );
        }
    };
    kept.map_err(|error| {
        ClientError::new(ErrorCode::Storage, error.to_string())
            .hint("Paddock's data folder must be writable.")
    })
}

/// The one spelling of the path of a definition in the project; anything else is refused.
fn own_path(root: &ProjectRoot, path: &str) -> Result<String, ClientError> {
    let refused = || {
        ClientError::new(
            ErrorCode::BadRequest,
            format!("{path} is no workflow and no role of this project."),
        )
        .hint("They lie in .paddock/workflows and .paddock/roles.")
    };
    let path = root.relative(path).map_err(|_| refused())?;
    let names: Vec<&str> = path.components().collect();
    match names.as_slice() {
        [".paddock", "workflows" | "roles", name] if name.ends_with(ENDING) => Ok(path.to_string()),
        _ => Err(refused()),
    }
}

fn key(root: &ProjectRoot) -> String {
    root.path().to_string_lossy().into_owned()
}

/// Characters that show nothing, or turn what stands around them, with their lines.
fn hidden(text: &str) -> Vec<String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    text.lines()
        .enumerate()
        .filter_map(|(number, line)| {
            let letter = line.chars().find(|letter| is_hidden(*letter))?;
            Some(format!(
                "Line {}: holds the character U+{:04X}, which is not seen and can make the line look like another one.",
                number + 1,
                u32::from(letter)
            ))
        })
        .collect()
}

fn is_hidden(letter: char) -> bool {
    matches!(
        letter,
        '\u{ad}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}'
            | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}'
    ) || letter.is_control() && letter != '\t'
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Bed {
        place: tempfile::TempDir,
        home: Home,
        root: ProjectRoot,
    }

    fn bed() -> Bed {
        let place = tempfile::tempdir().unwrap();
        let home = Home::open(Some(place.path().join("home"))).unwrap();
        std::fs::create_dir_all(place.path().join("project/.paddock/workflows")).unwrap();
        let root = ProjectRoot::open(&place.path().join("project")).unwrap();
        Bed { place, home, root }
    }

    impl Bed {
        fn put(&self, name: &str, text: &str) {
            let path = self.place.path().join("project/.paddock/workflows").join(name);
            std::fs::write(path, text).unwrap();
        }

        fn state(&self) -> (bool, bool, String) {
            let found = find(Sort::Workflow, &self.home, &self.root).unwrap();
            match found[0].source.clone() {
                DefinitionSource::Project {
                    reviewed,
                    changed,
                    hash,
                    ..
                } => {
                    assert_eq!(found[0].is_on(), reviewed);
                    (reviewed, changed, hash)
                }
                other => panic!("{other:?}"),
            }
        }
    }

    #[test]
    fn a_project_file_is_off_then_on_then_off_again_after_a_change() {
        let bed = bed();
        bed.put("a.toml", "one");
        let (on, changed, hash) = bed.state();
        assert!(!on && !changed);
        let path = ".paddock/workflows/a.toml";
        assert!(review(&bed.home, &bed.root, path, "0", true).is_err());
        review(&bed.home, &bed.root, path, &hash, true).unwrap();
        assert!(bed.state().0);
        bed.put("a.toml", "two");
        assert_eq!((bed.state().0, bed.state().1), (false, true));
        let said = review(&bed.home, &bed.root, path, &hash, true).unwrap_err();
        assert!(said.message.contains("changed after you read it"), "{said}");
        bed.put("a.toml", "one");
        assert!(bed.state().0);
        review(&bed.home, &bed.root, path, "", false).unwrap();
        assert_eq!((bed.state().0, bed.state().1), (false, false));
        let inside = std::fs::read_dir(bed.place.path().join("project/.paddock")).unwrap();
        assert_eq!(inside.count(), 1);
    }

    #[test]
    fn only_definitions_can_be_read_and_reviewed() {
        let bed = bed();
        bed.put("a.toml", "one");
        assert_eq!(text(&bed.root, ".paddock/workflows/a.toml").unwrap(), "one");
        for other in [
            "../x.toml",
            "a.toml",
            ".paddock/workflows/sub/a.toml",
            ".paddock/workflows/a.txt",
            "/etc/passwd",
        ] {
            assert!(text(&bed.root, other).is_err(), "{other}");
            assert!(review(&bed.home, &bed.root, other, "", true).is_err(), "{other}");
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(
                "a.toml",
                bed.place.path().join("project/.paddock/workflows/b.toml"),
            )
            .unwrap();
            assert!(text(&bed.root, ".paddock/workflows/b.toml").is_err());
            assert_eq!(find(Sort::Workflow, &bed.home, &bed.root).unwrap().len(), 1);
        }
    }

    #[test]
    fn hidden_characters_are_said_with_their_line() {
        assert_eq!(hidden("plain\nünïcödé 🎉👩‍💻\r\n\ttab\n"), Vec::<String>::new());
        for letter in [
            '\u{202e}',
            '\u{2066}',
            '\u{200b}',
            '\u{feff}',
            '\u{e0041}',
            '\u{1b}',
        ] {
            let said = hidden(&format!("a\nb{letter}c"));
            assert!(said[0].starts_with("Line 2: holds the character U+"), "{said:?}");
        }
    }

    #[test]
    fn what_is_too_large_or_no_text_says_so() {
        let bed = bed();
        bed.put("a.toml", &"x".repeat(300_000));
        let path = bed.home.path().join("workflows");
        std::fs::create_dir(&path).unwrap();
        std::fs::write(path.join("b.toml"), b"\xff\xfe").unwrap();
        let found = find(Sort::Workflow, &bed.home, &bed.root).unwrap();
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].text, Err("The file is not text in UTF-8.".to_owned()));
        assert!(found[1].text.as_ref().unwrap_err().contains("more than"));
        assert!(!found[1].is_on());
    }
}
