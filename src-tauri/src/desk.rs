//! What the window's commands share: the core, the open views, and where the person was last.

use crate::error::StartError;
use crate::stream::Views;
use paddock_core::notices::Attention;
use paddock_core::{HelperProgram, Home, Paddock};
use paddock_protocol::{ClientError, ProjectFacts, SessionId};
use serde::Serialize;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// What the page should open first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Wish {
    /// Open a fresh copy of the sample project.
    pub demo: bool,
    /// Open this folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// Open this session of the project.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
}

impl Wish {
    /// Reads the program's arguments.
    pub fn from_arguments(arguments: impl IntoIterator<Item = OsString>) -> Result<Self, StartError> {
        let mut wish = Self::default();
        let mut arguments = arguments.into_iter();
        while let Some(argument) = arguments.next() {
            match argument.to_str() {
                Some("--demo") => wish.demo = true,
                Some("--project") => {
                    let folder = arguments
                        .next()
                        .ok_or_else(|| StartError::Usage("--project needs a folder.".to_owned()))?;
                    let folder = std::path::absolute(&folder).unwrap_or_else(|_| PathBuf::from(&folder));
                    wish.project = Some(folder.to_string_lossy().into_owned());
                }
                _ => {
                    let shown = argument.to_string_lossy();
                    return Err(StartError::Usage(format!("{shown} is not understood.")));
                }
            }
        }
        if wish.demo && wish.project.is_some() {
            return Err(StartError::Usage("--demo brings its own folder.".to_owned()));
        }
        Ok(wish)
    }
}

/// The small program beside this one that builds the sandboxes of commands.
fn helper() -> HelperProgram {
    let name = format!("paddock-sandbox{}", std::env::consts::EXE_SUFFIX);
    let beside = std::env::current_exe().map(|own| own.with_file_name(name));
    match beside {
        Ok(program) if program.is_file() => HelperProgram::at(program),
        _ => HelperProgram::current(),
    }
}

/// The managed state of the app.
pub struct Desk {
    /// The core, or why it could not open; the page shows that.
    paddock: Result<Paddock, ClientError>,
    pub home: Option<Home>,
    pub views: Views,
    pub attention: Attention,
    wish: Mutex<Wish>,
}

impl Desk {
    pub fn open(home: Option<PathBuf>, wish: Wish, attention: Attention) -> Self {
        Self {
            home: Home::open(home.clone()).ok(),
            paddock: Paddock::open(home, helper()),
            views: Views::new(attention.clone()),
            attention,
            wish: Mutex::new(wish),
        }
    }

    /// The core; its clone is cheap.
    pub fn paddock(&self) -> Result<Paddock, ClientError> {
        self.paddock.clone()
    }

    /// What the page should open; a page that loads again comes back to where it was.
    pub fn begin(&self) -> Wish {
        let mut wish = self.wish();
        let begin = wish.clone();
        wish.demo = false;
        begin
    }

    pub fn entered(&self, project: &ProjectFacts) {
        let mut wish = self.wish();
        if wish.project.as_ref() != Some(&project.path) {
            wish.session = None;
        }
        wish.project = Some(project.path.clone());
    }

    pub fn looked_at(&self, session: &SessionId) {
        self.wish().session = Some(session.clone());
    }

    pub fn deleted(&self, session: SessionId) {
        self.wish().session.take_if(|last| *last == session);
        self.attention.gone(session);
    }

    fn wish(&self) -> std::sync::MutexGuard<'_, Wish> {
        self.wish.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
