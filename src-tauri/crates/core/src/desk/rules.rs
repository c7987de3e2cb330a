//! Rules that outlive a session: looked at, made, taken back, tried out.

use super::Paddock;
use super::error::{refused, storage};
use crate::session::actor::{Ask, now};
use paddock_policy::{Circumstances, Decision, judge};
use paddock_protocol::*;
use tokio::sync::oneshot;

/// Past calls that a preview looks through, newest first.
const PAST_CALLS: u32 = 2_000;
/// Past calls that a preview shows.
const SHOWN: usize = 50;
const SHOWN_NEAR: usize = 10;

impl Paddock {
    pub(super) async fn rules(&self, request: Request) -> Result<Reply, ClientError> {
        match request {
            Request::SaveRule { project, rule } => self.save_rule(&project, rule).await,
            Request::RemoveRule { project, rule } => {
                paddock_store::rules::remove(&self.inner.home, &project, &rule).map_err(storage)?;
                self.rules_changed(&project).await;
                self.list_rules(&project)
            }
            Request::PreviewRule {
                project,
                shape,
                answer,
            } => self.preview_rule(project, shape, answer).await,
            Request::JudgeCommand { project, command } => self.judge_command(&project, &command).await,
            Request::Rules { project } => self.list_rules(&project),
            _ => Err(refused("This is no question about rules.")),
        }
    }

    fn list_rules(&self, project: &str) -> Result<Reply, ClientError> {
        let now = now();
        let kept = paddock_store::rules::load(&self.inner.home, project).map_err(storage)?;
        let info = |rule: Rule| RuleInfo {
            words: paddock_policy::in_words(&rule.shape),
            asleep: rule.is_asleep(now),
            rule,
        };
        Ok(Reply::Rules {
            rules: kept.value.into_iter().map(info).collect(),
        })
    }

    async fn save_rule(&self, project: &str, draft: RuleDraft) -> Result<Reply, ClientError> {
        if !draft.scope.outlives_session() {
            return Err(refused("Such a rule belongs to a session.").hint("Make it where the session asks."));
        }
        if let Some(why) = paddock_policy::refused_shape(&draft.shape, draft.answer) {
            return Err(refused(&why).hint("Choose a narrower pattern."));
        }
        let rule = Rule {
            id: RuleId::new(uuid::Uuid::now_v7().simple().to_string()),
            shape: draft.shape,
            answer: draft.answer,
            scope: draft.scope,
            created: now(),
            end: draft.end,
            last_used: None,
            uses: 0,
        };
        paddock_store::rules::keep(&self.inner.home, project, rule).map_err(storage)?;
        self.rules_changed(project).await;
        self.list_rules(project)
    }

    /// Open sessions go by the rules as they are now. A rule for all projects may concern any of them.
    pub(crate) async fn rules_changed(&self, project: &str) {
        let sessions: Vec<_> = self.inner.sessions.lock().await.values().cloned().collect();
        for session in sessions {
            let (done, snapshot) = oneshot::channel();
            if session.send(Ask::Snapshot { done }).is_err() {
                continue;
            }
            let Ok(snapshot) = snapshot.await else { continue };
            let of = &snapshot.config.project;
            match paddock_store::rules::load(&self.inner.home, of) {
                Ok(kept) => {
                    let (done, _) = oneshot::channel();
                    let op = Op::LoadRules { rules: kept.value };
                    let _ = session.send(Ask::Submit { op, done });
                }
                Err(error) => tracing::warn!(%error, project, "the rules could not be read anew"),
            }
        }
    }

    async fn preview_rule(
        &self,
        project: String,
        shape: RuleShape,
        answer: RuleAnswer,
    ) -> Result<Reply, ClientError> {
        let query = MetricsQuery {
            project: Some(project),
            days: Some(90),
            session: None,
        };
        let past = match self.decisions(query, PAST_CALLS).await? {
            Reply::Decisions { decisions } => decisions,
            _ => Vec::new(),
        };
        let (mut covered, mut near) = (Vec::new(), Vec::new());
        for line in past {
            let call = PastCall {
                session: line.session,
                at: line.at,
                target: line.target,
            };
            if line.tool == "run_command" && paddock_policy::covers_command(&shape, &call.target)
                || covers_place(&shape, &line.tool, &call.target)
            {
                covered.push(call);
            } else if line.tool == "run_command" && paddock_policy::nearly_covers(&shape, &call.target) {
                near.push(call);
            }
        }
        covered.truncate(SHOWN);
        near.truncate(SHOWN_NEAR);
        let preview = RulePreview {
            words: paddock_policy::in_words(&shape),
            refused: paddock_policy::refused_shape(&shape, answer),
            wide: match answer {
                RuleAnswer::Allow => paddock_policy::is_wide(&shape),
                RuleAnswer::Ask | RuleAnswer::Never => Vec::new(),
            },
            covered,
            near,
        };
        Ok(Reply::RulePreview { preview })
    }

    async fn judge_command(&self, project: &str, command: &str) -> Result<Reply, ClientError> {
        let rules = paddock_store::rules::load(&self.inner.home, project)
            .map_err(storage)?
            .value;
        let sandbox = self.about().await.sandbox;
        let circumstances = Circumstances {
            role: Role::Act,
            autonomy: self.settings().autonomy,
            rules: &rules,
            turn: TurnId(0),
            now: now(),
            confined: sandbox.confined,
            network_asks: sandbox.network != NetworkLevel::Open,
        };
        let access = [Access::Exec {
            command: command.to_owned(),
        }];
        let judgement = judge(&access, &circumstances);
        let verdict = match judgement.decision {
            Decision::Allow => RuleAnswer::Allow,
            Decision::Ask => RuleAnswer::Ask,
            Decision::Forbid(_) => RuleAnswer::Never,
        };
        Ok(Reply::Judged {
            judged: Judged {
                verdict,
                classes: judgement.classes,
                segments: judgement.segments,
                trace: judgement.trace,
            },
        })
    }
}

/// Whether a past call of a file tool went to the place of the rule.
fn covers_place(shape: &RuleShape, tool: &str, target: &str) -> bool {
    let below = |place: &str| target == place || (place.ends_with('/') && target.starts_with(place));
    match shape {
        RuleShape::WritePath { path } => matches!(tool, "write_file" | "edit_file") && below(path),
        RuleShape::Outside { path, .. } => tool != "run_command" && below(path),
        RuleShape::Host { .. } | RuleShape::Command { .. } | RuleShape::ExternalTool { .. } => false,
    }
}
