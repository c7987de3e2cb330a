//! Project folders: opened with every refusal in words; the sample project.

use super::Paddock;
use super::error::{folder_error, refused};
use paddock_protocol::*;
use paddock_sandbox::ProjectRoot;
use std::path::Path;

const RECENT_PROJECTS: usize = 12;

impl Paddock {
    /// Opens a folder, with every way in which it cannot be a project as a sentence with a remedy.
    pub fn open_root(&self, path: &str) -> Result<ProjectRoot, ClientError> {
        if path.trim().is_empty() {
            return Err(refused("No folder was given.").hint("Choose the folder the agent should work in."));
        }
        ProjectRoot::open_beside(Path::new(path), Some(self.inner.home.path()))
            .map_err(|error| folder_error(&error))
    }

    pub(super) fn open_project(&self, path: &str) -> Result<Reply, ClientError> {
        let root = self.open_root(path)?;
        let project = facts(&root);
        if !project.demo {
            let mut settings = self.settings();
            settings.recent_projects.retain(|recent| *recent != project.path);
            settings.recent_projects.insert(0, project.path.clone());
            settings.recent_projects.truncate(RECENT_PROJECTS);
            self.keep_settings(settings)?;
        }
        Ok(Reply::Project { project })
    }

    /// A fresh copy of the sample project in the system's folder for temporary files.
    pub fn lay_out_demo(&self) -> Result<ProjectRoot, ClientError> {
        let unwritable = |error: std::io::Error| {
            ClientError::new(
                ErrorCode::Storage,
                format!("The sample project could not be laid out: {error}."),
            )
            .hint("Make room in the folder for temporary files.")
        };
        let name = format!("{DEMO_PREFIX}{}", uuid::Uuid::now_v7().simple());
        let target = std::env::temp_dir().join(name).join("orchard");
        std::fs::create_dir_all(&target).map_err(unwritable)?;
        paddock_provider::lay_out_sample_project(&target).map_err(unwritable)?;
        self.open_root(&target.to_string_lossy())
    }

    pub(super) fn open_demo(&self) -> Result<Reply, ClientError> {
        Ok(Reply::Project {
            project: facts(&self.lay_out_demo()?),
        })
    }
}

const DEMO_PREFIX: &str = "paddock-demo-";

/// Whether a folder is a copy of the sample project.
pub(super) fn is_demo(root: &ProjectRoot) -> bool {
    let parent = root
        .path()
        .parent()
        .and_then(Path::file_name)
        .map(|name| name.to_string_lossy().into_owned());
    parent.is_some_and(|name| name.starts_with(DEMO_PREFIX))
}

fn facts(root: &ProjectRoot) -> ProjectFacts {
    let there = |name: &str| root.relative(name).is_ok_and(|path| root.exists(&path));
    ProjectFacts {
        path: root.path().to_string_lossy().into_owned(),
        name: root
            .path()
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default(),
        demo: is_demo(root),
        git: there(".git"),
        guides: crate::context::GUIDES
            .iter()
            .filter(|name| there(name))
            .map(|name| (*name).to_owned())
            .collect(),
    }
}
