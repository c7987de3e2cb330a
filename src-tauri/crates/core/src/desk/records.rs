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
    async fn read_records<T: Send + 'static>(
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
