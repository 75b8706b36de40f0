//! The hooks of an agent, and how they are asked.
//!
//! Where somebody listens, the asking is boxed, so that a turn nobody listens to is no larger for it.

use std::{panic::AssertUnwindSafe, sync::Arc};

use futures::FutureExt;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::{
    AfterCall, AfterReply, BeforeCall, BeforeRequest, CallAction, Hook, HookPoints, RequestAction,
    ResultAction, TurnEnded,
};
use crate::{
    message::{Call, CallStatus},
    provider::Request,
    tool::{ToolOutput, ToolSpec, TurnScope},
};

/// The hooks of an agent, in order. Cloning it copies a pointer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hooks(Arc<[(HookPoints, Arc<dyn Hook>)]>);

/// What the hooks make of a call that is about to run.
#[derive(Debug)]
pub(crate) enum Before {
    /// It runs, with other arguments if there are some.
    Run(Option<Value>),
    /// It has this output.
    Answer(ToolOutput),
    /// It does not run, and the turn ends.
    Stop(String),
}

/// What one hook answered.
enum Heard<T> {
    Answer(T),
    Crashed,
    Cancelled,
}

const REQUEST_CRASH: &str = "a hook crashed before a model request";
const REPLY_CRASH: &str = "a hook crashed after a reply";
const CALL_CRASH: &str = "A hook crashed before a call, which was denied.";
const RESULT_CRASH: &str = "A hook crashed after a call, whose result was withheld.";
const END_CRASH: &str = "a hook crashed after a turn";
const DENIED: &str = "Not run: a check of the call crashed.";
const WITHHELD: &str =
    "The call ran, but its result is withheld: a check of it crashed. It may have had an effect.";
const CANCELLED: &str = "Cancelled before it ran.";
const UNCHECKED: &str =
    "Cancelled before its result was checked, so it is withheld. The call may have had an effect.";

impl Hooks {
    pub(crate) fn new(hooks: Vec<Arc<dyn Hook>>) -> Self {
        Self(hooks.into_iter().map(|hook| (hook.listens(), hook)).collect())
    }

    /// Changes the request as the hooks want it.
    ///
    /// # Errors
    ///
    /// The reason if one of them stops the turn.
    pub(crate) async fn before_request(
        &self,
        scope: &TurnScope,
        request: &mut Request,
        number: u32,
    ) -> Result<(), String> {
        for hook in self.at(HookPoints::BEFORE_REQUEST) {
            let event = BeforeRequest { scope, request, number };
            match heard(&scope.token, || hook.before_request(&event)).await {
                Heard::Answer(RequestAction::Proceed) => {}
                Heard::Answer(RequestAction::Change(change)) => change.apply(request),
                Heard::Answer(RequestAction::Stop(reason)) => return Err(reason),
                Heard::Crashed => {
                    warn(scope, REQUEST_CRASH);
                    return Err(REQUEST_CRASH.to_owned());
                }
                // The request ends at once, as cancelled.
                Heard::Cancelled => break,
            }
        }
        Ok(())
    }

    pub(crate) async fn after_reply(&self, event: &AfterReply<'_>) {
        for hook in self.at(HookPoints::AFTER_REPLY) {
            if let Heard::Crashed = heard(&event.scope.token, || hook.after_reply(event)).await {
                warn(event.scope, REPLY_CRASH);
            }
        }
    }

    /// Returns what becomes of a call that is about to run.
    pub(crate) async fn before_call(
        &self,
        scope: &TurnScope,
        about: (&Call, &ToolSpec, &Value),
    ) -> Before {
        if !self.listen(HookPoints::BEFORE_CALL) {
            return Before::Run(None);
        }
        Box::pin(self.ask_about_call(scope, about)).await
    }

    async fn ask_about_call(
        &self,
        scope: &TurnScope,
        (call, spec, arguments): (&Call, &ToolSpec, &Value),
    ) -> Before {
        let mut replaced = None;
        for hook in self.at(HookPoints::BEFORE_CALL) {
            let arguments = replaced.as_ref().unwrap_or(arguments);
            let event = BeforeCall { scope, call, spec, arguments };
            match heard(&scope.token, || hook.before_call(&event)).await {
                Heard::Answer(CallAction::Proceed) => {}
                Heard::Answer(CallAction::Replace(arguments)) => replaced = Some(arguments),
                Heard::Answer(CallAction::Deny(reason)) => {
                    return Before::Answer(ToolOutput::rejected(format!("Not run: {reason}")));
                }
                Heard::Answer(CallAction::Answer(output)) => return Before::Answer(output),
                Heard::Answer(CallAction::Stop(reason)) => return Before::Stop(reason),
                Heard::Crashed => {
                    warn(scope, CALL_CRASH);
                    return Before::Answer(ToolOutput::rejected(DENIED));
                }
                Heard::Cancelled => return Before::Answer(cancelled(CANCELLED)),
            }
        }
        Before::Run(replaced)
    }

    /// Returns the output as the hooks want it, and the reason if one of them stops the turn.
    pub(crate) async fn after_call(
        &self,
        scope: &TurnScope,
        call: &Call,
        output: ToolOutput,
    ) -> (ToolOutput, Option<String>) {
        if output.status == CallStatus::Cancelled || !self.listen(HookPoints::AFTER_CALL) {
            return (output, None);
        }
        Box::pin(self.ask_about_output(scope, call, output)).await
    }

    async fn ask_about_output(
        &self,
        scope: &TurnScope,
        call: &Call,
        mut output: ToolOutput,
    ) -> (ToolOutput, Option<String>) {
        for hook in self.at(HookPoints::AFTER_CALL) {
            let event = AfterCall { scope, call, output: &output };
            match heard(&scope.token, || hook.after_call(&event)).await {
                Heard::Answer(ResultAction::Keep) => {}
                Heard::Answer(ResultAction::Replace(other)) => {
                    // The model does not see what the tool showed.
                    scope.seen.forget_shown_by(&call.id);
                    output = replaced(output, other);
                }
                Heard::Answer(ResultAction::Stop(reason)) => return (output, Some(reason)),
                Heard::Crashed => {
                    warn(scope, RESULT_CRASH);
                    return (replaced(output, ToolOutput::failed(WITHHELD)), None);
                }
                Heard::Cancelled => return (replaced(output, cancelled(UNCHECKED)), None),
            }
        }
        (output, None)
    }

    pub(crate) async fn turn_ended(&self, event: &TurnEnded<'_>) {
        for hook in self.at(HookPoints::TURN_ENDED) {
            let never = CancellationToken::new();
            if let Heard::Crashed = heard(&never, || hook.turn_ended(event)).await {
                tracing::warn!(session = event.session.as_str(), "{END_CRASH}");
            }
        }
    }

    /// Returns whether anybody listens to `point`.
    pub(crate) fn listen(&self, point: HookPoints) -> bool {
        self.0.iter().any(|(points, _)| points.contains(point))
    }

    fn at(&self, point: HookPoints) -> impl Iterator<Item = &dyn Hook> {
        self.0.iter().filter(move |(points, _)| points.contains(point)).map(|(_, hook)| &**hook)
    }
}

/// Asks one hook, until the turn is cancelled.
async fn heard<T, F: Future<Output = T>>(
    token: &CancellationToken,
    ask: impl FnOnce() -> F,
) -> Heard<T> {
    let asked = AssertUnwindSafe(async { ask().await }).catch_unwind();
    tokio::select! {
        biased;
        () = token.cancelled() => Heard::Cancelled,
        answer = asked => answer.map_or(Heard::Crashed, Heard::Answer),
    }
}

fn warn(scope: &TurnScope, what: &str) {
    scope.warnings.send(what.to_owned());
}

/// Returns `other` with the changes that `output` brought.
fn replaced(output: ToolOutput, other: ToolOutput) -> ToolOutput {
    ToolOutput { content: other.content, status: other.status, ..output }
}

fn cancelled(content: &str) -> ToolOutput {
    let mut output = ToolOutput::failed(content);
    output.status = CallStatus::Cancelled;
    output
}
