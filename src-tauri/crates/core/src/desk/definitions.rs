//! Workflows and roles of one's own at the desk: listed, reviewed, previewed, and handed to a session. A plan and a role
//! reach a session only from here, so that nothing runs that was not previewed and nothing holds that was not reviewed.

use super::Paddock;
use super::error::storage;
use crate::providers::DEMO;
use crate::workflow::{self, Place, source};
use crate::{roles, sandbox_summary};
use paddock_protocol::*;
use paddock_sandbox::ProjectRoot;

impl Paddock {
    /// Answers the requests about workflows and roles.
    pub(super) async fn definitions(&self, request: Request) -> Result<Reply, ClientError> {
        match request {
            Request::Workflows { project } => self.workflows(&project).await,
            Request::PreviewWorkflow {
                project,
                name,
                values,
            } => {
                let place = self.place(self.open_root(&project)?).await;
                let preview = workflow::preview(&place, &name, &values).await?;
                Ok(Reply::Preview { preview })
            }
            Request::RunWorkflow {
                session,
                name,
                values,
                token,
            } => {
                let root = self.root_of(&session).await?;
                let plan = workflow::plan(&self.place(root).await, &name, &values, &token).await?;
                self.submit(&session, Op::RunWorkflow { plan }).await?;
                Ok(Reply::Accepted)
            }
            Request::Roles { project } => Ok(Reply::Roles {
                roles: self.roles(self.open_root(&project)?).await?,
            }),
            Request::UseRole { session, name } => self.use_role(&session, &name).await,
            Request::ReviewDefinition {
                project,
                path,
                hash,
                accept,
            } => {
                let root = self.open_root(&project)?;
                source::review(&self.inner.home, &root, &path, &hash, accept)?;
                Ok(Reply::Accepted)
            }
            Request::Definition { project, path } => Ok(Reply::Text {
                text: source::text(&self.open_root(&project)?, &path)?,
            }),
            _ => Err(ClientError::new(
                ErrorCode::Internal,
                "This is no request about workflows or roles.",
            )),
        }
    }

    async fn workflows(&self, project: &str) -> Result<Reply, ClientError> {
        let (paddock, root) = (self.clone(), self.open_root(project)?);
        let listed = tokio::task::spawn_blocking(move || {
            workflow::list(&paddock.inner.home, &root, &paddock.inner.registry)
        });
        let workflows = listed.await.map_err(broken_off)?.map_err(storage)?;
        Ok(Reply::Workflows { workflows })
    }

    async fn roles(&self, root: ProjectRoot) -> Result<Vec<RoleInfo>, ClientError> {
        let paddock = self.clone();
        let listed = tokio::task::spawn_blocking(move || {
            roles::list(&paddock.inner.home, &root, &paddock.inner.registry)
        });
        listed.await.map_err(broken_off)?.map_err(storage)
    }

    async fn use_role(&self, session: &SessionId, name: &str) -> Result<Reply, ClientError> {
        let all = self.roles(self.root_of(session).await?).await?;
        let role = roles::usable(all, name)
            .map_err(|why| ClientError::new(ErrorCode::BadRequest, why).hint("Look at the list of roles."))?;
        if let Some(model) = &role.model {
            self.known_model(model)?;
        }
        self.submit(session, Op::SetOwnRole { role }).await?;
        Ok(Reply::Accepted)
    }

    async fn root_of(&self, session: &SessionId) -> Result<ProjectRoot, ClientError> {
        self.open_root(&self.snapshot(session).await?.config.project)
    }

    async fn place(&self, root: ProjectRoot) -> Place {
        let inner = self.inner.clone();
        let tried = tokio::task::spawn_blocking(move || {
            inner
                .summary
                .get_or_init(|| sandbox_summary(&*inner.confinement))
                .clone()
        });
        let settings = self.settings();
        let configured = settings.providers.iter().map(|config| config.id.to_string());
        Place {
            home: self.inner.home.clone(),
            state: self.sandbox_state(&root),
            root,
            registry: self.inner.registry.clone(),
            confinement: self.inner.confinement.clone(),
            sandbox: tried.await.unwrap_or_default(),
            providers: configured.chain([DEMO.to_owned()]).collect(),
        }
    }
}

fn broken_off(error: tokio::task::JoinError) -> ClientError {
    ClientError::new(
        ErrorCode::Internal,
        format!("The definitions could not be read: {error}."),
    )
    .hint("Try again; the log tells more.")
}
