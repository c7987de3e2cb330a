//! Asks git about the project's last commit, read-only and inside of the sandbox. Only questions whose answer needs no
//! program of the project: no hook, no filter, no file watcher is asked, and what git says is checked as any other text.

use crate::ToolError;
use crate::paths::sentence;
use paddock_sandbox::{
    CommandExit, CommandLine, CommandSpec, Confinement, ProjectRoot, StateDir, Stream, Streams,
};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

const TIME: Duration = Duration::from_secs(60);
const MAX_ANSWER: u64 = 64 * 1024 * 1024;
/// Objects asked for at once: their names must fit into one argument of a program.
const BATCH: usize = 1_000;
/// What no setting of the project may bring in.
const SAFE: &[&str] = &[
    "--no-pager",
    "--no-optional-locks",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.quotePath=false",
];

/// Where git is asked.
#[derive(Clone)]
pub struct Git {
    pub root: ProjectRoot,
    pub confinement: Arc<dyn Confinement>,
    pub state: StateDir,
}

impl Git {
    /// What git prints. An end with another code than 0 is an error in git's words.
    pub(super) async fn ask(&self, arguments: &[&str]) -> Result<Vec<u8>, ToolError> {
        let arguments = SAFE.iter().chain(arguments).map(|word| (*word).to_owned());
        let line = CommandLine::Program {
            program: "git".to_owned(),
            arguments: arguments.collect(),
        };
        self.run(line).await
    }

    /// Whether the project has its own repository with a commit.
    pub async fn is_there(&self) -> bool {
        self.ask(&["rev-parse", "--verify", "--quiet", "HEAD^{commit}"])
            .await
            .is_ok()
    }

    /// Which of these folders hold files that are under version control.
    pub async fn with_tracked(&self, folders: &[String]) -> Result<Vec<String>, ToolError> {
        let mut found = Vec::new();
        for folder in folders {
            let pathspec = format!(":(literal,top){folder}");
            if !self.ask(&["ls-files", "-z", "--", &pathspec]).await?.is_empty() {
                found.push(folder.clone());
            }
        }
        Ok(found)
    }

    /// The contents of objects, in the order of their names.
    pub(super) async fn blobs(&self, names: &[String]) -> Result<Vec<Vec<u8>>, ToolError> {
        let mut contents = Vec::with_capacity(names.len());
        for batch in names.chunks(BATCH) {
            if let Some(strange) = batch.iter().find(|name| !is_object_name(name)) {
                return Err(ToolError::Arguments(format!("`{strange}` is no object of git")));
            }
            if cfg!(windows) {
                for name in batch {
                    contents.push(self.ask(&["cat-file", "blob", name]).await?);
                }
                continue;
            }
            let line = format!(
                "printf '%s\\n' {} | git {} cat-file --batch",
                batch.join(" "),
                SAFE.join(" ")
            );
            let answer = self.run(CommandLine::Shell(line)).await?;
            contents.extend(batch_of(&answer, batch).ok_or_else(|| {
                ToolError::Model("What was committed could not be read in full from git.".to_owned())
            })?);
        }
        Ok(contents)
    }

    async fn run(&self, line: CommandLine) -> Result<Vec<u8>, ToolError> {
        let mut spec = CommandSpec::shell(self.root.read_only(), self.state.clone(), String::new());
        spec.line = line;
        spec.streams = Streams::Apart;
        spec.time_limit = Some(TIME);
        spec.output_limit = MAX_ANSWER;
        // A clone without all objects would fetch what is missing.
        spec.environment = vec![("GIT_NO_LAZY_FETCH".to_owned(), "1".to_owned())];
        let (sink, mut chunks) = mpsc::channel(64);
        let confinement = self.confinement.clone();
        let running = crate::typed::blocking(move |_| {
            confinement.start(spec, sink).map_err(|error| {
                tracing::warn!(%error, "git could not be started");
                ToolError::Model("git could not be started here.".to_owned())
            })
        })
        .await?;
        let (mut answer, mut complaint) = (Vec::new(), Vec::new());
        while let Some(chunk) = chunks.recv().await {
            match chunk.stream {
                Stream::Stdout => answer.extend_from_slice(&chunk.bytes),
                Stream::Stderr => complaint.extend_from_slice(&chunk.bytes),
            }
        }
        let end = running.wait().await;
        if end.output_dropped > 0 {
            return Err(ToolError::Model(
                "git answered with more than can be read.".to_owned(),
            ));
        }
        if end.exit.is_success() {
            return Ok(answer);
        }
        Err(ToolError::Model(match end.exit {
            CommandExit::Code(126 | 127) => "git is not installed here.".to_owned(),
            _ => {
                let said = String::from_utf8_lossy(&complaint);
                let said = said.lines().next().unwrap_or_default();
                let said: String = crate::terminal::plain(said).chars().take(200).collect();
                sentence(&format!("git could not answer: {said}"))
            }
        }))
    }
}

pub(super) fn is_object_name(name: &str) -> bool {
    matches!(name.len(), 40 | 64) && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Splits the answer of `cat-file --batch`; nothing when it is not exactly the objects that were asked for.
fn batch_of(mut answer: &[u8], names: &[String]) -> Option<Vec<Vec<u8>>> {
    let mut contents = Vec::new();
    for name in names {
        let end = answer.iter().position(|byte| *byte == b'\n')?;
        let head = std::str::from_utf8(&answer[..end]).ok()?;
        let size: usize = head
            .strip_prefix(name.as_str())?
            .strip_prefix(" blob ")?
            .parse()
            .ok()?;
        let rest = &answer[end + 1..];
        contents.push(rest.get(..size)?.to_vec());
        answer = rest.get(size..)?.strip_prefix(b"\n")?;
    }
    answer.is_empty().then_some(contents)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_is_not_exactly_what_was_asked_for_is_nothing() {
        let (one, two) = ("a".repeat(40), "b".repeat(40));
        let names = [one.clone(), two.clone()];
        let whole = format!("{one} blob 3\nx\ny\n{two} blob 0\n\n");
        assert_eq!(
            batch_of(whole.as_bytes(), &names).unwrap(),
            [b"x\ny".to_vec(), Vec::new()]
        );
        for broken in [
            format!("{one} blob 3\nx\ny\n{two} missing\n"),
            format!("{two} blob 3\nx\ny\n{one} blob 0\n\n"),
            format!("{whole}more"),
            whole[..whole.len() - 1].to_owned(),
            format!("{one} blob 99\nx"),
        ] {
            assert_eq!(batch_of(broken.as_bytes(), &names), None, "{broken}");
        }
    }
}
