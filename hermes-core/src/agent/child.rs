//! Forks: one more run of the same loop, with fewer rights.

use std::sync::{Arc, PoisonError};

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use super::{
    AgentError, Limits, Tally, Turn, Unheard,
    budget::Purse,
    conversation::Conversation,
    dispatch::{Allowed, Dispatch, Events},
    finish::Attached,
    keep::Keep,
    recipe::Recipe,
    run::Run,
    trace,
};
use crate::{
    approval::Desk,
    change::Change,
    cost::Spending,
    fork::{Fork, ForkContext, ForkOutcome, ForkTask},
    message::{History, Message, Role, StopReason},
    provider::{Request, ToolChoice},
    review::Gate,
    store::SessionId,
    tool::{Seen, TurnScope, Warnings},
};

/// What a fork takes from the conversation it comes from.
#[derive(Clone, Debug)]
pub(crate) struct Parent {
    pub(crate) recipe: Arc<Recipe>,
    /// The parent's requests without their messages.
    pub(crate) template: Request,
    pub(crate) conversation: Source,
    pub(crate) session: SessionId,
    pub(crate) turn: u64,
    pub(crate) attached: Attached,
    pub(crate) seen: Seen,
    pub(crate) desk: Desk,
    pub(crate) tally: Tally,
    pub(crate) purse: Purse,
    pub(crate) unheard: Unheard,
    /// Cancelled with the parent; a fork's own token is checked beside it.
    pub(crate) token: CancellationToken,
    /// Where the fork's events go.
    pub(crate) events: Events,
    /// How deep the parent is itself: 0 for a conversation.
    pub(crate) depth: u32,
}

/// The history a fork comes from: as it was at one moment, or as it is when the fork starts.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    Snapshot(History),
    Live(Conversation),
}

/// The way to fork a conversation.
#[derive(Clone, Debug)]
pub(crate) struct SessionFork(pub(crate) Parent);

#[async_trait]
impl Fork for SessionFork {
    async fn run(&self, task: ForkTask) -> Result<ForkOutcome, AgentError> {
        let token = self.0.token.child_token();
        let (mut run, inherited) = self.prepare(&task, token.clone());
        let watch = task.token.clone();
        let span = trace::fork_span(&self.0.session, &task.origin, &run.template.model);
        let driven = {
            let drive = run.drive().instrument(span.clone());
            tokio::pin!(drive);
            tokio::select! {
                biased;
                driven = &mut drive => driven,
                () = watch.cancelled() => {
                    token.cancel();
                    drive.await
                }
            }
        };
        trace::ended(&span, run.spending.usage, driven.as_ref().err());
        self.0.tally.add(task.origin.kind, run.spending);
        let finish = driven?;
        Ok(outcome(&run, finish, inherited))
    }

    fn history(&self) -> History {
        match &self.0.conversation {
            Source::Snapshot(history) => Arc::clone(history),
            Source::Live(conversation) => conversation.history(),
        }
    }
}

impl SessionFork {
    /// Sets the fork up. Returns it and how many messages it starts from.
    fn prepare(&self, task: &ForkTask, token: CancellationToken) -> (Run, usize) {
        let parent = &self.0;
        let (history, seen) = match &task.context {
            ForkContext::Inherit => (self.history(), parent.seen.detach()),
            ForkContext::Messages(messages) => (Arc::new(messages.clone()), Seen::default()),
        };
        let inherited = history.len();
        let conversation = Conversation::of(history);
        conversation.push(Message::user(task.prompt.as_str()));
        let mut template = parent.template.clone();
        template.model = task.model.clone().unwrap_or(template.model);
        template.tool_choice = ToolChoice::Auto;
        let record = task.record.clone().unwrap_or_default();
        let limits = Limits {
            requests: task.max_requests.max(1),
            tokens: task.max_tokens,
            cost: task.max_cost,
            ..Limits::default()
        };
        let run = Run {
            provider: task.provider.clone().unwrap_or_else(|| Arc::clone(&parent.recipe.provider)),
            first_choice: ToolChoice::Auto,
            dispatch: self.dispatch(task, token, seen, &conversation),
            template,
            conversation,
            turn: Turn::new(limits),
            keep: Keep::Nowhere,
            record,
            spending: Spending::default(),
            purse: parent.purse.clone(),
            pricing: parent.recipe.pricing.clone(),
            calls: 0,
            round: None,
            compression: None,
        };
        (run, inherited)
    }

    fn dispatch(
        &self,
        task: &ForkTask,
        token: CancellationToken,
        seen: Seen,
        conversation: &Conversation,
    ) -> Dispatch {
        let parent = &self.0;
        let mut scope = TurnScope::new(parent.session.clone());
        scope.turn = parent.turn;
        scope.origin = task.origin.clone();
        scope.origin.by = scope.origin.by.take().or_else(|| parent.attached.by.clone());
        scope.token = token.clone();
        scope.extensions = parent.attached.extensions.clone();
        scope.fork = deeper(parent, conversation, &seen, token);
        scope.clock = Arc::clone(&parent.recipe.clock);
        scope.gate = Gate::of(parent.recipe.policy.clone(), None);
        scope.seen = seen;
        scope.warnings = Warnings::new(parent.events.clone(), parent.unheard.clone());
        Dispatch {
            registry: parent.recipe.registry.clone(),
            allowed: Allowed::Only(task.tools.clone()),
            scope: Arc::new(scope),
            hooks: parent.recipe.hooks.clone(),
            events: parent.events.clone(),
            desk: parent.desk.clone(),
            max_result_chars: parent.recipe.max_result_chars,
            max_round_chars: parent.recipe.max_round_chars,
            max_parallel_calls: parent.recipe.max_parallel_calls,
            traces_content: parent.recipe.traces_content,
            spill: parent.recipe.spill.clone(),
            max_repeats: parent.recipe.max_repeats,
            hints: parent.recipe.hints.clone(),
            audit: parent.recipe.audit.clone(),
        }
    }
}

/// Returns the way to fork a fork, if it may be nested that deep.
fn deeper(
    parent: &Parent,
    conversation: &Conversation,
    seen: &Seen,
    token: CancellationToken,
) -> Option<Arc<dyn Fork>> {
    let depth = parent.depth.saturating_add(1);
    (depth < parent.recipe.max_depth).then(|| {
        let parent = Parent {
            conversation: Source::Live(conversation.clone()),
            seen: seen.clone(),
            token,
            depth,
            ..parent.clone()
        };
        Arc::new(SessionFork(parent)) as Arc<dyn Fork>
    })
}

fn outcome(run: &Run, finish: super::Finish, inherited: usize) -> ForkOutcome {
    let history = run.conversation.history();
    let messages: Vec<Message> = history.iter().skip(inherited).cloned().collect();
    let changes: Vec<Change> = run.record.lock().unwrap_or_else(PoisonError::into_inner).clone();
    ForkOutcome {
        text: last_text(&messages),
        finish,
        messages,
        changes,
        requests: run.turn.requests(),
        usage: run.spending.usage,
        cost: run.spending.known_cost(),
    }
}

/// Returns what the model said last, joined over an answer that was cut and continued.
pub(crate) fn last_text(messages: &[Message]) -> String {
    let mut pieces: Vec<String> = Vec::new();
    for reply in messages.iter().rev().filter(|message| message.role == Role::Assistant) {
        if !pieces.is_empty() && reply.stop != Some(StopReason::Length) {
            break;
        }
        pieces.push(reply.text());
    }
    pieces.into_iter().rev().collect()
}
