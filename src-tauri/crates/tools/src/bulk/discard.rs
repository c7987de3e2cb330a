//! How the files differ from the last commit. Compared byte by byte with what git would store, not by asking git, so that
//! no filter of the project has a say; line ends alone make no difference.

use super::delete::{Doomed, doomed};
use super::git::{Git, is_object_name};
use super::identity::{ABSENT, Found, look};
use super::{MAX_PATHS, Room, bounds};
use crate::ToolError;
use crate::change::MAX_FILE;
use crate::text::{LineEnd, Text};
use crate::typed::{Stop, blocking};
use paddock_sandbox::{ProjectRoot, RelativePath};
use sha1::Sha1;
use sha2::{Digest, Sha256};
use std::collections::HashSet;
use std::fmt::Write;

/// Files of a commit that are compared.
const MAX_TRACKED: usize = 100_000;
/// Paths in one question to git.
const ASKED: usize = 200;

/// What it takes to be as at the last commit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Discard {
    pub restore: Vec<Discarded>,
    /// New files, when they are to go too.
    pub remove: Vec<Doomed>,
    /// Files that differ and stay as they are, with the reason.
    pub left: Vec<(String, String)>,
    /// Something is staged.
    pub staged: bool,
}

/// A file that would get its committed content back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Discarded {
    pub path: String,
    /// Name of the committed content, hex.
    pub blob: String,
    /// What is there now; given back with the call.
    pub identity: String,
    /// It is not there now.
    pub missing: bool,
    /// It is committed as a program and is not there now.
    pub executable: bool,
    /// Why an undo cannot bring back what is there now, in words.
    pub lost: Option<String>,
}

/// One file of a commit.
struct Committed {
    path: String,
    mode: String,
    blob: String,
}

/// Compares the project with its last commit. `with_new` also lists the files that are not in it and not ignored.
pub async fn discard(git: &Git, with_new: bool) -> Result<Discard, ToolError> {
    if !git.is_there().await {
        return Err(ToolError::Model(
            "There is no commit to go back to: this folder has no repository of its own, or an empty one."
                .to_owned(),
        ));
    }
    let tree = records(&git.ask(&["ls-tree", "-r", "-z", "--full-tree", "HEAD"]).await?);
    let committed: Vec<Committed> = tree.iter().filter_map(|line| read_entry(line)).collect();
    if committed.len() > MAX_TRACKED {
        return Err(ToolError::Model(format!(
            "The commit holds more than {MAX_TRACKED} files; that is more than is compared."
        )));
    }
    let tags = records(&git.ask(&["ls-files", "-t", "-z"]).await?);
    let skipped: HashSet<String> = tags
        .iter()
        .filter_map(|line| Some(line.strip_prefix("S ")?.to_owned()))
        .collect();
    let known: HashSet<String> = committed.iter().map(|file| file.path.clone()).collect();
    let mut new = Vec::new();
    if with_new {
        new = records(
            &git.ask(&["ls-files", "-z", "--others", "--exclude-standard"])
                .await?,
        );
        let added = tags.iter().filter_map(|line| line.split_once(' '));
        new.extend(added.map(|(_, path)| path.to_owned()));
        new.retain(|path| !known.contains(path));
        new.sort();
        new.dedup();
    }
    let staged = git
        .ask(&["diff-index", "--cached", "--name-only", "-z", "HEAD"])
        .await?;
    let root = git.root.clone();
    let mut found = blocking(move |stop| compare(&root, &committed, &skipped, &new, stop)).await?;
    found.staged = !staged.is_empty();
    leave_filtered(git, &mut found).await?;
    Ok(found)
}

fn compare(
    root: &ProjectRoot,
    committed: &[Committed],
    skipped: &HashSet<String>,
    new: &[String],
    stop: &Stop,
) -> Result<Discard, ToolError> {
    let mut found = Discard::default();
    let mut room = Room::new();
    for file in committed.iter().filter(|file| !skipped.contains(&file.path)) {
        stop.check()?;
        let path = match root.relative(&file.path) {
            Ok(path) if path.as_str() == file.path => path,
            _ => {
                found
                    .left
                    .push((file.path.clone(), "its name cannot be used here".to_owned()));
                continue;
            }
        };
        match differs(root, &path, file, &mut room, stop) {
            Ok(None) => {}
            Ok(Some(one)) => found.restore.push(one),
            Err(error) => found.left.push((file.path.clone(), error.to_string())),
        }
    }
    let new: Vec<RelativePath> = new.iter().filter_map(|path| root.relative(path).ok()).collect();
    found.remove = doomed_after(root, &new, &mut found.left);
    if found.restore.len() > MAX_PATHS || found.remove.len() > MAX_PATHS {
        return Err(ToolError::Model(format!(
            "More than {MAX_PATHS} files differ from the last commit; that is too much at once."
        )));
    }
    Ok(found)
}

/// New files one by one; one that cannot be looked at is left.
fn doomed_after(root: &ProjectRoot, paths: &[RelativePath], left: &mut Vec<(String, String)>) -> Vec<Doomed> {
    let mut files = Vec::new();
    for path in paths {
        // A folder here is a repository of its own.
        match look(root, path, &Stop::default()) {
            Ok(looked) if matches!(looked.found, Found::File { .. } | Found::Link) => {
                files.push(path.clone())
            }
            Ok(looked) if matches!(looked.found, Found::Nothing) => {}
            Ok(_) => left.push((path.to_string(), "a folder".to_owned())),
            Err(error) => left.push((path.to_string(), error.to_string())),
        }
    }
    doomed(root, &files).unwrap_or_default()
}

/// Whether a file is not as it was committed. An error says why it is left alone.
fn differs(
    root: &ProjectRoot,
    path: &RelativePath,
    file: &Committed,
    room: &mut Room,
    stop: &Stop,
) -> Result<Option<Discarded>, ToolError> {
    let left = |why: &str| Err(ToolError::Model(why.to_owned()));
    let looked = look(root, path, stop)?;
    let plain_file = file.mode.starts_with("100");
    let lost = match looked.found {
        Found::Link if file.mode == "120000" => return Ok(None),
        Found::Folder(_) if file.mode == "160000" => return Ok(None),
        _ if !plain_file => return left("only files are restored, no links and no submodules"),
        Found::Link => return left("a link is there now"),
        Found::Folder(_) => return left("a folder is there now"),
        Found::Nothing => None,
        Found::File { size } if size > MAX_FILE => return left("it is too large to compare"),
        Found::File { size } => {
            let content = root.read(path, MAX_FILE).map_err(crate::paths::failure)?;
            if is_blob(&content, &file.blob) {
                return Ok(None);
            }
            room.take(1, size, size).err()
        }
    };
    let missing = looked.identity == ABSENT;
    Ok(Some(Discarded {
        path: file.path.clone(),
        blob: file.blob.clone(),
        identity: looked.identity,
        missing,
        executable: missing && file.mode == "100755",
        lost,
    }))
}

/// Files that pass through a program of the project on their way into git look different and are not.
async fn leave_filtered(git: &Git, found: &mut Discard) -> Result<(), ToolError> {
    let mut filtered = HashSet::new();
    let paths: Vec<&str> = found.restore.iter().map(|file| file.path.as_str()).collect();
    for some in paths.chunks(ASKED) {
        let mut question = vec!["check-attr", "-z", "filter", "working-tree-encoding", "--"];
        question.extend(some);
        let answer = records(&git.ask(&question).await?);
        for triple in answer.chunks_exact(3) {
            if !matches!(triple[2].as_str(), "unspecified" | "unset") {
                filtered.insert(triple[0].clone());
            }
        }
    }
    found.restore.retain(|file| {
        let stays = !filtered.contains(&file.path);
        if !stays {
            let why = "git passes it through a program of the project (a filter), which is not run";
            found.left.push((file.path.clone(), why.to_owned()));
        }
        stays
    });
    Ok(())
}

/// Parts between NUL characters; a name that is no UTF-8 is left out, it could not be addressed either.
fn records(answer: &[u8]) -> Vec<String> {
    answer
        .split(|byte| *byte == 0)
        .filter(|part| !part.is_empty())
        .filter_map(|part| String::from_utf8(part.to_vec()).ok())
        .collect()
}

/// `MODE TYPE OBJECT<TAB>PATH`
fn read_entry(line: &str) -> Option<Committed> {
    let (facts, path) = line.split_once('\t')?;
    let mut facts = facts.split(' ');
    let (mode, _, blob) = (facts.next()?, facts.next()?, facts.next()?);
    is_object_name(blob).then(|| Committed {
        path: path.to_owned(),
        mode: mode.to_owned(),
        blob: blob.to_owned(),
    })
}

/// Whether git would store this content under the name, as it is or with other line ends.
fn is_blob(content: &[u8], name: &str) -> bool {
    if blob_name(content, name.len()) == name {
        return true;
    }
    if !content.contains(&b'\r') || content.contains(&0) {
        return false;
    }
    let mut unix = Vec::with_capacity(content.len());
    for (at, byte) in content.iter().enumerate() {
        if *byte != b'\r' || content.get(at + 1) != Some(&b'\n') {
            unix.push(*byte);
        }
    }
    blob_name(&unix, name.len()) == name
}

fn blob_name(content: &[u8], digits: usize) -> String {
    let head = format!("blob {}\0", content.len());
    let hash: Vec<u8> = if digits == 64 {
        Sha256::new()
            .chain_update(head)
            .chain_update(content)
            .finalize()
            .to_vec()
    } else {
        Sha1::new()
            .chain_update(head)
            .chain_update(content)
            .finalize()
            .to_vec()
    };
    hash.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Committed content as it belongs into the file: with the line ends that the file has now.
pub(super) fn as_here(committed: Vec<u8>, now: Option<&[u8]>) -> Vec<u8> {
    let ends = now.and_then(Text::decode).map(|text| LineEnd::of(&text.content));
    match (ends, Text::decode(&committed)) {
        (Some(LineEnd::CrLf), Some(text)) if !committed.contains(&b'\r') => {
            let content = LineEnd::CrLf.apply(&text.content);
            text.encode(&content).unwrap_or(committed)
        }
        _ => committed,
    }
}

impl Discard {
    /// Number of files that change.
    pub fn files(&self) -> usize {
        self.restore.len() + self.remove.len()
    }

    /// The number in words: "Discard the changes of 3 files and delete 2 new files".
    pub fn words(&self) -> String {
        let mut words = format!(
            "Discard the changes of {}",
            bounds::count(self.restore.len(), "file")
        );
        if !self.remove.is_empty() {
            let _ = write!(
                words,
                " and delete {}",
                bounds::count(self.remove.len(), "new file")
            );
        }
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_blobs_are_those_of_git() {
        // `printf 'hello\n' | git hash-object --stdin`
        let name = "ce013625030ba8dba906f756967f9e9ca394464a";
        assert!(is_blob(b"hello\n", name) && is_blob(b"hello\r\n", name));
        assert!(!is_blob(b"hello", name) && !is_blob(b"hello\r", name));
        let long = "2cf8d83d9ee29543b34a87727421fdecb7e3f3a183d337639025de576db9ebb4";
        assert!(is_blob(b"hello\n", long), "{}", blob_name(b"hello\n", 64));
    }

    #[test]
    fn content_keeps_the_line_ends_of_the_file() {
        assert_eq!(as_here(b"a\nb\n".to_vec(), Some(b"x\r\ny\r\n")), b"a\r\nb\r\n");
        assert_eq!(as_here(b"a\nb\n".to_vec(), Some(b"x\ny\n")), b"a\nb\n");
        assert_eq!(as_here(b"a\nb\n".to_vec(), None), b"a\nb\n");
        assert_eq!(as_here(b"a\0\n".to_vec(), Some(b"x\r\n")), b"a\0\n");
    }
}
