//! What several tests need.

mod store;

use std::{sync::Arc, time::Duration};

use futures::StreamExt;
use hermes_core::{
    Agent, Session,
    agent::{AgentBuilder, Reply},
    message::{CallResult, Message, Role},
    provider::{ProviderError, ProviderErrorKind},
    schemars::{self, JsonSchema},
    testing::ScriptedProvider,
    tool::{self, Extensions, Tool, ToolError, ToolOutput},
};
use serde::Deserialize;

pub(crate) use self::store::{Plan, Troubled, full};

/// Nothing for the tools of a turn.
pub(crate) fn none() -> Extensions {
    Extensions::default()
}

/// A provider's passing trouble.
pub(crate) fn down() -> ProviderError {
    ProviderError::new(ProviderErrorKind::ServerError, "down for a moment")
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Echo {
    /// What to say.
    pub(crate) text: String,
}

/// A tool that answers with what it is told, and misbehaves on demand.
pub(crate) fn echo() -> impl Tool {
    tool::from_fn("echo", "Says it again.", |echo: Echo, context| async move {
        match echo.text.as_str() {
            "panic" => panic!("as asked"),
            "fail" => Err(ToolError::failed("it broke")),
            "end" => Err(ToolError::end_turn("enough")),
            "hang" => {
                context.token().cancelled().await;
                std::future::pending::<()>().await;
                unreachable!()
            }
            text => Ok(ToolOutput::done(text)),
        }
    })
}

/// An agent on `model` that has the tool `echo`.
pub(crate) fn agent(model: &ScriptedProvider) -> AgentBuilder {
    Agent::builder(model.clone()).model("scripted").identity("You echo.").tool(echo())
}

/// The results in a history, oldest first.
pub(crate) fn results(history: &[Message]) -> Vec<CallResult> {
    history.iter().flat_map(|it| it.call_results()).cloned().collect()
}

/// Panics unless every call has exactly one result, in order, in the message after it.
#[track_caller]
pub(crate) fn assert_paired(history: &[Message]) {
    for (at, message) in history.iter().enumerate() {
        let calls: Vec<_> = message.calls().map(|it| it.id.clone()).collect();
        if message.role == Role::Assistant && !calls.is_empty() {
            let answered: Vec<_> =
                history.get(at + 1).unwrap().call_results().map(|it| it.call.clone()).collect();
            assert_eq!(calls, answered, "{history:#?}");
        }
        if message.role == Role::Tool {
            assert_eq!(history.get(at - 1).unwrap().role, Role::Assistant, "{history:#?}");
        }
    }
}

/// Keeps a value readable from a closure that is kept elsewhere.
pub(crate) fn shared<T>(value: T) -> (Arc<T>, Arc<T>) {
    let value = Arc::new(value);
    (Arc::clone(&value), value)
}

/// Waits for a reply until so many events came and then cancels or drops it, or for ever.
pub(crate) async fn wait(session: &Session, mut reply: Reply, patience: Option<(usize, bool)>) {
    let Some((events, drops)) = patience else {
        // Something may hang; then patience ends after all.
        if tokio::time::timeout(Duration::from_secs(60), reply).await.is_err() {
            session.idle().await;
        }
        return;
    };
    for _ in 0..events {
        let event = tokio::time::timeout(Duration::from_secs(60), reply.next()).await;
        if !matches!(event, Ok(Some(_))) {
            break;
        }
    }
    if drops {
        drop(reply);
    } else {
        session.cancel();
        drop(reply.await);
    }
    session.idle().await;
}
