//! Figures and decisions, asked from the index over the logs. Every call is blocking file work.

pub use paddock_store::index::{Decisions, Run, timed_out};

use paddock_protocol::{DecisionLine, Metrics, MetricsQuery};
use paddock_store::{Home, StoreError};

/// Figures over the turns that the query names, counted back from now.
pub fn metrics(home: &Home, query: &MetricsQuery) -> Result<Metrics, StoreError> {
    paddock_store::index::metrics(home, query, crate::session::actor::now())
}

/// The decision log of those turns, newest first, at most `limit` lines.
pub fn decisions(home: &Home, query: &MetricsQuery, limit: u32) -> Result<Vec<DecisionLine>, StoreError> {
    paddock_store::index::decisions(home, query, limit, crate::session::actor::now())
}

#[cfg(test)]
mod tests {
    use crate::session::words;
    use paddock_protocol::*;

    /// The index tells a time-out by the loop's own sentence: they must not drift apart.
    #[test]
    fn the_index_knows_the_sentences_of_a_time_out() {
        let call = CallItem {
            again: None,
            check: None,
            call: CallId::new("t1.i1.c1"),
            server_id: String::new(),
            tool: "run_command".into(),
            arguments: String::new(),
            verb: Verb::Run,
            target: String::new(),
            classes: Vec::new(),
            verdict: None,
            began: None,
            after: None,
            overdue: false,
            terminate: false,
            sub_agent: None,
            output: None,
        };
        let is = |text: String| {
            let output = CallOutput {
                text,
                ..CallOutput::default()
            };
            paddock_store::index::timed_out(ItemStatus::Failed, &call, &output)
        };
        let limit = Millis::seconds(60);
        assert!(is(words::timed_out("run_command", limit)));
        assert!(is(words::overdue("run_command", limit)));
        assert!(is(format!("so far\n{}", words::overdue("run_command", limit))));
        assert!(!is(words::failed(
            "run_command",
            &words::timed_out("run_command", limit),
            2
        )));
    }
}
