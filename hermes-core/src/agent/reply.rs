//! What a host holds while a turn runs.

use std::{
    future::IntoFuture,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use futures::Stream;
use tokio::sync::{mpsc::UnboundedReceiver, oneshot};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::{AgentError, AgentEvent, FinishedTurn, Unheard, approve::unheard};
use crate::{
    message::{Message, Part},
    tool::Extensions,
};

/// What a turn starts with: the user's message, and what the host attaches for its tools.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TurnInput {
    /// What the user says: text, pictures and context. Calls, results and reasoning are no part of it; a
    /// turn with such is refused as [`AgentError::NotInput`].
    pub parts: Vec<Part>,
    /// Values for the tools of this turn.
    pub extensions: Extensions,
    /// On whose behalf the turn is, as the host names it; part of the [`Origin`](crate::origin::Origin)
    /// of its calls, of its sub-agents' and of its review's. It is not stored, and so not known to a
    /// turn that is [continued](crate::Session::continue_turn) by another process.
    pub by: Option<Arc<str>>,
}

impl TurnInput {
    /// Creates the input that says `text`.
    pub fn new(text: impl Into<String>) -> Self {
        Self { parts: vec![Part::Text(text.into())], extensions: Extensions::default(), by: None }
    }

    /// Returns whether every part is one that a user can say.
    pub(crate) fn is_sayable(&self) -> bool {
        let is_other =
            |part: &Part| matches!(part, Part::Call(_) | Part::Result(_) | Part::Reasoning(_));
        !self.parts.iter().any(is_other)
    }

    /// Returns the same input on behalf of `by`: a user of the host, say.
    #[must_use]
    pub fn on_behalf_of(mut self, by: impl Into<Arc<str>>) -> Self {
        self.by = Some(by.into());
        self
    }

    /// Returns the same input with values for the tools of this turn.
    #[must_use]
    pub fn with_extensions(mut self, extensions: Extensions) -> Self {
        self.extensions = extensions;
        self
    }
}

impl<T: Into<String>> From<T> for TurnInput {
    fn from(text: T) -> Self {
        Self::new(text)
    }
}

impl From<Message> for TurnInput {
    fn from(message: Message) -> Self {
        Self { parts: message.parts.clone(), extensions: Extensions::default(), by: None }
    }
}

/// A turn under way: a stream of its events, and its end once it is awaited.
///
/// Awaiting it gives the [`FinishedTurn`] (it is an [`IntoFuture`]; where a future itself is wanted, as
/// by `tokio::spawn`, pass `async move { reply.await }`); events that were not read by then are not kept,
/// but for warnings, which are told with the next turn that is listened to.
/// Dropping it, or the future, cancels the turn, and the session is busy until that has ended (see
/// [`Session::idle`](crate::Session::idle)).
///
/// It is a [`Stream`] and has [`next_event`](Self::next_event) for those who need no more than that.
/// To limit the time of a turn and still have what there was, call
/// [`Session::cancel`](crate::Session::cancel) and go on: the turn then ends as
/// [`Finish::Cancelled`](super::Finish::Cancelled). A `timeout` around the reply drops it, and the
/// [`FinishedTurn`] with it.
///
/// # Examples
///
/// Shows the answer as it arrives, and stops after a while:
///
/// ```
/// # #[cfg(feature = "testing")]
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use std::time::Duration;
///
/// use hermes_core::{Agent, agent::{AgentEvent, Finish}, testing::ScriptedProvider};
///
/// let model = ScriptedProvider::new().say_then_hang("Let me think");
/// let session = Agent::builder(model).model("scripted").build()?.session();
///
/// let mut reply = session.send("Hi.");
/// let mut shown = String::new();
/// let end = tokio::time::sleep(Duration::from_millis(50));
/// tokio::pin!(end);
/// loop {
///     tokio::select! {
///         event = reply.next_event() => match event {
///             Some(AgentEvent::Text(delta)) => shown.push_str(&delta),
///             Some(_) => {}
///             None => break,
///         },
///         () = &mut end, if !end.is_elapsed() => session.cancel(),
///     }
/// }
/// let turn = reply.await?;
///
/// assert_eq!(turn.finish, Finish::Cancelled);
/// assert_eq!(shown, turn.text);
/// # Ok(())
/// # }
/// # #[cfg(not(feature = "testing"))]
/// # fn main() {}
/// ```
#[derive(Debug)]
#[must_use = "dropping the reply cancels the turn"]
pub struct Reply(State);

#[derive(Debug)]
enum State {
    Running {
        listener: Listener,
        result: oneshot::Receiver<Result<FinishedTurn, AgentError>>,
        guard: DropGuard,
    },
    Failed(AgentError),
}

/// Hears the events of a turn. What the host should know and has not read is kept for later.
#[derive(Debug)]
struct Listener {
    events: UnboundedReceiver<AgentEvent>,
    unheard: Unheard,
}

impl Listener {
    /// Hears no more.
    async fn stop(mut self) {
        self.events.close();
        // This ends, as nothing is sent any more.
        while let Some(event) = self.events.recv().await {
            self.keep(event);
        }
    }

    fn keep(&self, event: AgentEvent) {
        match event {
            AgentEvent::Warning(warning) => self.unheard.keep(warning),
            AgentEvent::CallHeld(request) => self.unheard.keep(unheard(&request)),
            _ => {}
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.events.close();
        while let Ok(event) = self.events.try_recv() {
            self.keep(event);
        }
    }
}

impl Reply {
    pub(crate) fn new(
        events: UnboundedReceiver<AgentEvent>,
        unheard: Unheard,
        result: oneshot::Receiver<Result<FinishedTurn, AgentError>>,
        token: CancellationToken,
    ) -> Self {
        let listener = Listener { events, unheard };
        Self(State::Running { listener, result, guard: token.drop_guard() })
    }

    pub(crate) fn failed(err: AgentError) -> Self {
        Self(State::Failed(err))
    }

    /// Waits for the next event; `None` once there are no more. Dropping the future loses no event.
    pub async fn next_event(&mut self) -> Option<AgentEvent> {
        match &mut self.0 {
            State::Running { listener, .. } => listener.events.recv().await,
            State::Failed(_) => None,
        }
    }
}

impl Stream for Reply {
    type Item = AgentEvent;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<AgentEvent>> {
        match &mut self.0 {
            State::Running { listener, .. } => listener.events.poll_recv(context),
            State::Failed(_) => Poll::Ready(None),
        }
    }
}

impl IntoFuture for Reply {
    type Output = Result<FinishedTurn, AgentError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            match self.0 {
                State::Running { listener, result, guard } => {
                    listener.stop().await;
                    let ended = result.await.unwrap_or(Err(AgentError::Lost));
                    guard.disarm();
                    ended
                }
                State::Failed(err) => Err(err),
            }
        })
    }
}
