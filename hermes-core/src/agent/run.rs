//! The driver: does what the turn machine says, and tells it what came of it.
//!
//! It decides nothing. There is one of it, for conversations and forks alike; what differs is in the
//! fields of [`Run`].

use std::{
    ops::ControlFlow,
    panic::AssertUnwindSafe,
    sync::{Arc, Mutex},
};

use futures::{FutureExt, StreamExt};
use tracing::Instrument;

use super::{
    AgentError, AgentEvent, Finish, Outcome, Step, Turn,
    budget::Purse,
    conversation::Conversation,
    dispatch::{Dispatch, Dispatched},
    hook::{AfterReply, HookPoints},
    keep::Keep,
    meter::Used,
    room::Compression,
    trace,
};
use crate::{
    change::Change,
    compress::CompressCause,
    cost::{Pricing, Spending},
    message::{Message, StopReason},
    provider::{
        Assembly, ModelEvent, ModelId, Provider, ProviderError, ProviderErrorKind, Request,
        ToolChoice,
    },
};

/// One turn under way.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) provider: Arc<dyn Provider>,
    /// What every request of the turn has in common; its messages are empty.
    pub(crate) template: Request,
    /// The tool choice of the first request.
    pub(crate) first_choice: ToolChoice,
    pub(crate) conversation: Conversation,
    pub(crate) turn: Turn,
    pub(crate) dispatch: Dispatch,
    pub(crate) keep: Keep,
    /// Where changes are noted as they happen.
    pub(crate) record: Arc<Mutex<Vec<Change>>>,
    pub(crate) spending: Spending,
    /// What it may take together with others.
    pub(crate) purse: Purse,
    pub(crate) pricing: Option<Arc<dyn Pricing>>,
    pub(crate) calls: u32,
    /// What came of the calls of the round under way.
    pub(crate) round: Option<Dispatched>,
    /// How room is made in the conversation, if it is.
    pub(crate) compression: Option<Compression>,
}

/// What the model is told when its answer was cut at the limit of output tokens.
const CONTINUE: &str =
    "Your answer was cut off at the length limit. Go on exactly where it stopped.";
/// What the model is told when its budget is spent.
const SUM_UP: &str = "The budget of this turn is spent, so no more tools can run. Sum up what is done and what is left.";

impl Run {
    /// Runs the turn to its end. The conversation is settled and kept, whatever comes back, also where
    /// something of the host's panics.
    pub(crate) async fn drive(&mut self) -> Result<Finish, AgentError> {
        let ended = AssertUnwindSafe(self.steps()).catch_unwind().await;
        let ended = ended.unwrap_or(Err(AgentError::Lost));
        if let Err(err) = &ended {
            self.turn.apply(&Outcome::Failed(&err.to_string()));
        }
        let open = self.conversation.open();
        let was_open = !open.is_empty();
        if was_open {
            self.settle(open).await;
        }
        if was_open || ended.is_err() {
            // The error that ended the turn is the one to report.
            let kept = self.keep.save(&self.conversation, &self.turn, self.spending).await;
            if ended.is_ok() {
                kept?;
            }
        }
        ended
    }

    async fn steps(&mut self) -> Result<Finish, AgentError> {
        loop {
            if self.purse.is_spent() {
                self.turn.exhaust();
            }
            match self.turn.next_step() {
                Step::Compress(cause) => self.compress(cause).await?,
                Step::CallModel => self.call_model().await?,
                Step::AwaitApproval(calls) => self.await_approval(&calls).await,
                Step::RunTools(_) => self.run_tools().await?,
                Step::Deliver => self.deliver(),
                Step::Continue => self.append(Message::scaffold(CONTINUE)),
                Step::Grace => self.append(Message::scaffold(SUM_UP)),
                Step::Finish(finish) => return Ok(finish),
            }
            self.keep.save(&self.conversation, &self.turn, self.spending).await?;
        }
    }

    async fn call_model(&mut self) -> Result<(), AgentError> {
        let mut request = self.request();
        if self.is_due(&request) {
            self.turn.apply(&Outcome::TooLong(CompressCause::Threshold));
            return Ok(());
        }
        if self.dispatch.hooks.listen(HookPoints::BEFORE_REQUEST)
            && Box::pin(self.hooked(&mut request)).await.is_break()
        {
            return Ok(());
        }
        let mut assembly = Assembly::default();
        let has_content = self.dispatch.traces_content;
        let span = trace::request_span(&request, has_content);
        let streamed = AssertUnwindSafe(self.stream(&request, &mut assembly)).catch_unwind();
        let ended = streamed.instrument(span.clone()).await.unwrap_or_else(|_| Err(crashed()));
        match ended {
            Ok(()) => {
                let model = assembly.model().unwrap_or(&request.model).clone();
                let reply = assembly.into_message();
                let used = Used::of(&request, &reply);
                // The history must be unshared again before it grows.
                drop(request);
                let reply = self.keep_reply(reply);
                trace::replied(&span, &reply, reply.usage.unwrap_or_default(), has_content);
                trace::answered(&span, &model);
                self.spend(&model, used);
                if used.is_estimated {
                    self.turn.add_tokens(used.usage.total());
                }
                self.turn.apply(&Outcome::Replied(&reply));
                self.note_approvals(&reply);
                if self.dispatch.hooks.listen(HookPoints::AFTER_REPLY) {
                    Box::pin(self.show(&reply)).await;
                }
                Ok(())
            }
            Err(err) if err.kind() == ProviderErrorKind::Cancelled => {
                drop(request);
                self.keep_partial(assembly, StopReason::Cancelled);
                self.turn.apply(&Outcome::Cancelled);
                Ok(())
            }
            Err(err) => {
                drop(request);
                trace::failed(&span, err.kind());
                let Some(err) = self.make_room_after(err, assembly.is_empty()) else {
                    return Ok(());
                };
                self.keep_partial(assembly, StopReason::Interrupted);
                Err(err.into())
            }
        }
    }

    pub(super) fn request(&self) -> Request {
        let mut request = self.template.clone();
        request.messages = self.conversation.history();
        if self.turn.is_in_grace() {
            request.tool_choice = ToolChoice::None;
        } else if self.turn.requests() == 0 || self.first_choice == ToolChoice::None {
            request.tool_choice = self.first_choice.clone();
        }
        request
    }

    /// Changes the request as the hooks want it; breaks if one of them stopped the turn.
    async fn hooked(&mut self, request: &mut Request) -> ControlFlow<()> {
        let Dispatch { hooks, scope, .. } = &self.dispatch;
        let number = self.turn.requests().saturating_add(1);
        if let Err(reason) = hooks.before_request(scope, request, number).await {
            self.turn.apply(&Outcome::Stopped(&reason));
            return ControlFlow::Break(());
        }
        if self.turn.is_in_grace() {
            request.tool_choice = ToolChoice::None;
        }
        ControlFlow::Continue(())
    }

    /// Shows a reply to the hooks.
    async fn show(&self, reply: &Message) {
        let Dispatch { hooks, scope, .. } = &self.dispatch;
        let event = AfterReply { scope, reply, number: self.turn.requests() };
        hooks.after_reply(&event).await;
    }

    async fn stream(
        &self,
        request: &Request,
        assembly: &mut Assembly,
    ) -> Result<(), ProviderError> {
        let token = &self.dispatch.scope.token;
        let cancelled = || ProviderError::new(ProviderErrorKind::Cancelled, "cancelled");
        let mut events = tokio::select! {
            biased;
            () = token.cancelled() => return Err(cancelled()),
            started = self.provider.stream(request, token) => started?,
        };
        loop {
            let event = tokio::select! {
                biased;
                () = token.cancelled() => return Err(cancelled()),
                event = events.next() => event,
            };
            let Some(event) = event else { break };
            let event = event?;
            self.announce(&event);
            assembly.push(event);
            if assembly.is_done() {
                return Ok(());
            }
        }
        Err(ProviderError::new(ProviderErrorKind::StreamCut, "stream ended before its last event"))
    }

    fn announce(&self, event: &ModelEvent) {
        let events = &self.dispatch.events;
        match event {
            ModelEvent::Text(delta) => events.send(|| AgentEvent::Text(delta.clone())),
            ModelEvent::Reasoning(delta) => events.send(|| AgentEvent::Reasoning(delta.clone())),
            _ => {}
        }
    }

    /// Takes note of what a request of `model` took. Under limits the host is warned once where that is
    /// not known.
    pub(super) fn spend(&mut self, model: &ModelId, Used { usage, is_estimated }: Used) {
        let cost = self.pricing.as_ref().and_then(|it| it.cost(model.as_str(), &usage));
        let is_limited = self.turn.has_cost_limit() || self.turn.has_token_limit();
        if is_estimated && is_limited && self.spending.estimated == 0 {
            let why = format!("no usage was reported for {model}: its tokens are estimated");
            self.dispatch.scope.warnings.send(why);
        }
        if cost.is_none() && self.turn.has_cost_limit() && self.spending.unpriced == 0 {
            let why = format!("the price of {model} is not known: its requests count as free");
            self.dispatch.scope.warnings.send(why);
        }
        self.spending.add(usage, cost);
        self.spending.note_estimated(is_estimated);
        self.purse.add(usage, cost);
        self.keep.note_taken(self.spending);
        self.turn.spend(cost.unwrap_or_default());
    }

    /// Appends a reply, unless it is blank: no wire takes such a message back.
    fn keep_reply(&self, reply: Message) -> Message {
        if reply.is_blank() { reply } else { self.conversation.push_reply(reply) }
    }

    fn keep_partial(&self, assembly: Assembly, stop: StopReason) {
        if let Some(partial) = assembly.into_partial(stop) {
            self.conversation.push(partial);
        }
    }

    fn deliver(&mut self) {
        let sent = if self.turn.may_deliver() { self.keep.take_steered() } else { Vec::new() };
        if sent.is_empty() {
            self.turn.apply(&Outcome::NothingToAppend);
            return;
        }
        for text in &sent {
            self.dispatch.events.send(|| AgentEvent::Steered(text.clone()));
        }
        self.append(Message::user(sent.join("\n\n")));
    }

    fn append(&mut self, message: Message) {
        self.conversation.push(message);
        self.turn.apply(&Outcome::Appended);
    }
}

/// Returns what a provider that panicked counts as.
fn crashed() -> ProviderError {
    ProviderError::new(ProviderErrorKind::Unknown, "the provider crashed")
}
