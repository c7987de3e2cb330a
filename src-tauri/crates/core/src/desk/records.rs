//! What the records of all sessions say: figures and the decision log.

use super::Paddock;
use super::error::storage;
use paddock_protocol::*;
use paddock_store::{Home, StoreError};

/// The decision log gives no more lines at once, whatever was asked.
const MOST_LINES: u32 = 10_000;

impl Paddock {
    pub(super) async fn metrics(&self, query: MetricsQuery) -> Result<Reply, ClientError> {
        let metrics = self
            .read_records(move |home| crate::metrics::metrics(home, &query))
            .await?;
        Ok(Reply::Metrics {
            metrics: Box::new(metrics),
        })
    }

    pub(super) async fn decisions(&self, query: MetricsQuery, limit: u32) -> Result<Reply, ClientError> {
        let limit = limit.min(MOST_LINES);
        let asked = move |home: &Home| crate::metrics::decisions(home, &query, limit);
        Ok(Reply::Decisions {
            decisions: self.read_records(asked).await?,
        })
    }

    /// Reading many logs takes its time; sessions go on meanwhile.
    pub(super) async fn read_records<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Home) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, ClientError> {
        let home = self.inner.home.clone();
        match tokio::task::spawn_blocking(move || read(&home)).await {
            Ok(result) => result.map_err(storage),
            Err(_) => Err(
                ClientError::new(ErrorCode::Internal, "The records could not be read through.")
                    .hint("Try again; the log of the program tells more."),
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use paddock_sandbox::HelperProgram;

    #[tokio::test]
    async fn figures_and_decisions_are_answered_at_the_desk() {
        let place = tempfile::tempdir().unwrap();
        let project = place.path().join("project");
        std::fs::create_dir(&project).unwrap();
        let paddock = Paddock::open(Some(place.path().join("home")), HelperProgram::current()).unwrap();
        let wish = crate::SessionWish {
            model: Some(crate::demo_model()),
            ..crate::SessionWish::default()
        };
        let session = paddock
            .create_session(&project.to_string_lossy(), wish)
            .await
            .unwrap();
        paddock
            .providers()
            .set_demo_pace(paddock_provider::ScriptPace::INSTANT);
        let (_, mut events) = paddock.attach(&session).await.unwrap();
        let text = "look around".to_owned();
        let mode = SendMode::NextIteration;
        paddock.submit(&session, Op::send(text, mode)).await.unwrap();
        // The script begins with calls that need nobody, and comes to a change that does.
        while let Some(event) = events.recv().await {
            if matches!(
                event.msg,
                EventMsg::ApprovalRequested { .. } | EventMsg::TurnEnded { .. }
            ) {
                break;
            }
        }
        let query = MetricsQuery {
            session: Some(session.clone()),
            ..MetricsQuery::default()
        };
        let asked = paddock.request(Request::Metrics { query: query.clone() }).await;
        let Ok(Reply::Metrics { metrics }) = asked else {
            panic!("{asked:?}");
        };
        assert_eq!(metrics.turns, 1);
        assert!(
            metrics
                .usage
                .iter()
                .any(|of| of.model == "demo/scripted" && of.requests > 0)
        );
        let asked = paddock.request(Request::Decisions { query, limit: 1 }).await;
        let Ok(Reply::Decisions { decisions }) = asked else {
            panic!("{asked:?}");
        };
        assert!(
            decisions.len() == 1 && decisions[0].session == session,
            "{decisions:?}"
        );
        paddock.close_all().await;
    }
}
