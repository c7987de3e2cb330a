//! What commands left that would have run later: shown to the person, put back or thrown away by them, and noted in the
//! record of a session. It is put back only exactly as it was shown.

use super::Paddock;
use super::error::{refused, storage};
use paddock_protocol::*;
use paddock_sandbox::{ProjectRoot, ProtectionKind, QuarantineError, SetAside, StateDir};

impl Paddock {
    pub(super) async fn set_aside(&self, request: Request) -> Result<Reply, ClientError> {
        match request {
            Request::SetAside { project } => {
                let root = self.open_root(&project)?;
                Ok(listed(&self.sandbox_state(&root)))
            }
            Request::LookAtSetAside { project, id } => {
                let root = self.open_root(&project)?;
                let state = self.sandbox_state(&root);
                let looked = tokio::task::spawn_blocking(move || content(&root, &state, &id));
                let content = looked.await.map_err(|_| broken_off())??;
                Ok(Reply::SetAsideContent {
                    content: Box::new(content),
                })
            }
            Request::DecideSetAside {
                project,
                id,
                hash,
                back,
                session,
            } => self.decide_set_aside(&project, id, hash, back, session).await,
            _ => Err(refused("This is no question about what was set aside.")),
        }
    }

    async fn decide_set_aside(
        &self,
        project: &str,
        id: String,
        hash: String,
        back: bool,
        session: Option<SessionId>,
    ) -> Result<Reply, ClientError> {
        let root = self.open_root(project)?;
        let state = self.sandbox_state(&root);
        let entry = paddock_sandbox::set_aside(&state)
            .into_iter()
            .find(|entry| entry.id == id);
        let path = entry.ok_or_else(|| explained(&QuarantineError::Gone))?.path;
        let place = (root.clone(), state.clone());
        let done = tokio::task::spawn_blocking(move || {
            let (root, state) = &place;
            if back {
                paddock_sandbox::put_back(root, state, &id, &hash)
            } else {
                paddock_sandbox::throw_away(state, &id)
            }
        });
        done.await
            .map_err(|_| broken_off())?
            .map_err(|error| explained(&error))?;
        self.note_decided(root.path().to_string_lossy().into_owned(), path, back, session)
            .await;
        Ok(listed(&state))
    }

    /// It is done already: a record that cannot be written does not take it back.
    async fn note_decided(&self, project: String, path: String, back: bool, session: Option<SessionId>) {
        let newest = || {
            let all = paddock_store::sessions::list_sessions(&self.inner.home, Some(&project));
            let own = |id: &SessionId| !id.as_str().contains('.');
            all.map_err(storage)
                .map(|all| all.into_iter().map(|summary| summary.session).find(own))
        };
        let session = match session {
            Some(session) => Ok(Some(session)),
            None => newest(),
        };
        let op = Op::NoteSetAside { path, back };
        let noted = match session {
            Ok(Some(session)) => self.submit(&session, op).await,
            Ok(None) => Ok(()),
            Err(error) => Err(error),
        };
        if let Err(error) = noted {
            tracing::warn!(%error, "what was decided about something set aside could not be recorded");
        }
    }
}

fn listed(state: &StateDir) -> Reply {
    Reply::SetAside {
        entries: paddock_sandbox::set_aside(state).into_iter().map(entry).collect(),
    }
}

fn entry(one: SetAside) -> SetAsideEntry {
    SetAsideEntry {
        id: one.id,
        path: one.path,
        reason: one.reason,
        at: Timestamp(one.at),
    }
}

fn content(root: &ProjectRoot, state: &StateDir, id: &str) -> Result<SetAsideContent, ClientError> {
    let shown = paddock_sandbox::look_at_set_aside(root, state, id).map_err(|error| explained(&error))?;
    let files = shown.files.iter().map(|file| SetAsideFile {
        change: FileChange {
            undoable: false,
            ..paddock_tools::file_change(file.path.as_str(), file.now.as_deref(), &file.kept)
        },
        executable: file.executable,
        place: root.protection(&file.path).map(|found| kind_of(found.kind)),
    });
    Ok(SetAsideContent {
        files: files.collect(),
        entry: entry(shown.entry),
        hash: shown.hash,
    })
}

fn kind_of(kind: ProtectionKind) -> ProtectedPlace {
    match kind {
        ProtectionKind::GitInternals => ProtectedPlace::GitInternals,
        ProtectionKind::PaddockSettings => ProtectedPlace::PaddockSettings,
        ProtectionKind::AgentInstructions => ProtectedPlace::AgentInstructions,
        ProtectionKind::LoginScript => ProtectedPlace::LoginScript,
        ProtectionKind::SecretFile => ProtectedPlace::SecretFile,
        ProtectionKind::EditorTasks => ProtectedPlace::EditorTasks,
    }
}

fn explained(error: &QuarantineError) -> ClientError {
    let (code, hint) = match error {
        QuarantineError::Gone => (ErrorCode::NotFound, "Look at the list as it is now."),
        QuarantineError::Changed => (ErrorCode::NotNow, "Look at it once more before you decide."),
        QuarantineError::CommandRuns => (ErrorCode::Busy, "Wait until the command has ended, or stop it."),
        QuarantineError::TooMuch => (
            ErrorCode::BadRequest,
            "Take it from the quarantine in Paddock's data folder by hand, or throw it away.",
        ),
        QuarantineError::NotKept => (
            ErrorCode::BadRequest,
            "Make it again by hand, or throw the entry away.",
        ),
        QuarantineError::Path(_) | QuarantineError::State(_) => (
            ErrorCode::Storage,
            "Nothing was lost: the entry stays in the list.",
        ),
    };
    let mut message = error.to_string();
    if let Some(first) = message.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    ClientError::new(code, format!("{message}.")).hint(hint)
}

fn broken_off() -> ClientError {
    ClientError::new(ErrorCode::Internal, "This was broken off.").hint("Try once more.")
}
