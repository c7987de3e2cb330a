//! From a typed tool to one whose input type is erased. A typed tool is written without async: it runs on a thread for
//! blocking work and looks at `Stop` where it may take long, so that a dropped call ends soon.

use crate::{CallContext, Flow, Prepared, Tool, ToolError, ToolKind, arguments};
use async_trait::async_trait;
use paddock_protocol::{ApprovalBody, CallOutput, UndoFact, Verb};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// One tool. Doc comments of the input's fields are what the model reads about them.
pub(crate) trait TypedTool: Send + Sync + 'static {
    type Input: DeserializeOwned + JsonSchema + Send + 'static;
    const NAME: &'static str;
    /// Prose for the model.
    const DESCRIPTION: &'static str;
    const KIND: ToolKind;

    fn prepare(input: Self::Input, cx: &CallContext) -> Result<Prepared, ToolError>;

    fn run(_input: Self::Input, _cx: &CallContext, _stop: &Stop) -> Result<CallOutput, ToolError> {
        Err(ToolError::Fatal(format!(
            "`{}` is carried out by the loop",
            Self::NAME
        )))
    }
}

/// Whether the call was dropped.
#[derive(Clone, Default)]
pub(crate) struct Stop(Arc<AtomicBool>);

impl Stop {
    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// An error as soon as the call was dropped; nobody hears it.
    pub(crate) fn check(&self) -> Result<(), ToolError> {
        if self.is_set() {
            Err(ToolError::Model("It was stopped.".to_owned()))
        } else {
            Ok(())
        }
    }
}

struct SetOnDrop(Stop);

impl Drop for SetOnDrop {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Relaxed);
    }
}

/// A typed tool behind the contract.
pub(crate) struct Erased<T> {
    schema: serde_json::Value,
    tool: PhantomData<fn() -> T>,
}

impl<T: TypedTool> Erased<T> {
    pub(crate) fn tool() -> Arc<dyn Tool> {
        Arc::new(Self {
            schema: arguments::schema_of::<T::Input>(),
            tool: PhantomData,
        })
    }
}

#[async_trait]
impl<T: TypedTool> Tool for Erased<T> {
    fn name(&self) -> &'static str {
        T::NAME
    }

    fn description(&self) -> &'static str {
        T::DESCRIPTION
    }

    fn schema(&self) -> serde_json::Value {
        self.schema.clone()
    }

    fn kind(&self) -> ToolKind {
        T::KIND
    }

    async fn prepare(&self, arguments: &str, cx: &CallContext) -> Result<Prepared, ToolError> {
        let input = arguments::read(arguments, &self.schema)?;
        let cx = cx.clone();
        blocking(move |_| T::prepare(input, &cx)).await
    }

    async fn run(&self, arguments: &str, cx: &CallContext) -> Result<CallOutput, ToolError> {
        let input = arguments::read(arguments, &self.schema)?;
        let cx = cx.clone();
        blocking(move |stop| {
            let begun = Instant::now();
            let mut output = T::run(input, &cx, stop)?;
            output.duration = begun.elapsed().into();
            Ok(output)
        })
        .await
    }
}

/// Runs work on a thread that may block; it is told to stop when the returned future is dropped.
pub(crate) async fn blocking<R: Send + 'static>(
    work: impl FnOnce(&Stop) -> Result<R, ToolError> + Send + 'static,
) -> Result<R, ToolError> {
    let stop = Stop::default();
    let _set = SetOnDrop(stop.clone());
    tokio::task::spawn_blocking(move || work(&stop))
        .await
        .unwrap_or_else(|error| {
            tracing::error!(%error, "a tool broke off");
            Err(ToolError::Model(
                "The tool broke off because of a fault in Paddock. Try another way.".to_owned(),
            ))
        })
}

/// A call that only reads.
pub(crate) fn reading(
    verb: Verb,
    target: impl Into<String>,
    access: Vec<paddock_protocol::Access>,
) -> Prepared {
    Prepared {
        verb,
        target: target.into(),
        access,
        body: ApprovalBody::Other,
        undo: UndoFact::Nothing,
        flow: Flow::Run,
    }
}

/// A call that the loop carries out.
pub(crate) fn breaking(verb: Verb, target: &str, flow: Flow) -> Prepared {
    Prepared {
        flow,
        ..reading(verb, target, Vec::new())
    }
}

/// An output that worked.
pub(crate) fn done(text: String) -> CallOutput {
    CallOutput {
        ok: true,
        text,
        ..CallOutput::default()
    }
}
