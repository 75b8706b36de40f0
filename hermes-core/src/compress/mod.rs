//! Compression: making room in a conversation that nears the end of its model's window.
//!
//! A [`Compressor`] rewrites a history, and nothing else does. [`Summariser`] is the ready-made one:
//! it first shortens old results and arguments, and where that is not enough has the model write
//! notes that replace the middle of the conversation.
//!
//! An agent that has one ([`AgentBuilder::compressor`](crate::agent::AgentBuilder::compressor)) asks it
//! before every request, and again, at most twice, when an endpoint refused it as too long. What it gives
//! is checked before the history changes: every call must still have its result, and the user's last
//! message must be there. The messages that were replaced stay searchable in the
//! [`SessionStore`](crate::store::SessionStore), and stored text that they showed counts as unseen.

mod estimate;
mod plan;
mod summary;

#[cfg(test)]
mod tests;

use std::{
    fmt,
    sync::Arc,
    time::{Duration, SystemTime},
};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use self::plan::Plan;
pub use self::{
    estimate::{message_tokens, overhead_tokens, request_tokens, text_tokens},
    summary::summary_message,
};
use crate::{
    message::{Message, MessageId, Usage},
    provider::{Provider, ProviderError, ProviderErrorKind, ProviderExt, Request, Sampling},
};

/// Makes room in conversations.
///
/// It gets the whole next request, so that it can weigh what it cannot change (system prompt and
/// tools) too, and a state of the session that survives from pass to pass.
///
/// # Contract
///
/// - **All or nothing.** A pass that fails gives no messages; the history stays as it is.
/// - **Usable.** If every call of the given messages has its result directly after it, so it is in
///   the messages returned; user and assistant messages alternate where they did; the latest message
///   of the user is there word for word.
/// - **Bounded.** After a failure it pauses, and after two passes without gain it says so once, with
///   [`CompressError::Exhausted`], and is not due again until the conversation has doubled.
#[async_trait]
pub trait Compressor: fmt::Debug + Send + Sync {
    /// Returns whether a request of about `tokens` should be compressed before it is sent.
    fn is_due(&self, tokens: u64, now: SystemTime, state: &CompressState) -> bool;

    /// Returns shorter messages in place of those of `task`, and brings `state` up to date.
    ///
    /// # Errors
    ///
    /// A [`CompressError`] that says why the messages must stay as they are. The state is brought up
    /// to date even so.
    async fn compress(
        &self,
        task: &CompressTask,
        state: &mut CompressState,
    ) -> Result<Compressed, CompressError>;
}

#[async_trait]
#[deny(clippy::missing_trait_methods, reason = "a handle forwards everything")]
impl<C: Compressor + ?Sized> Compressor for Arc<C> {
    fn is_due(&self, tokens: u64, now: SystemTime, state: &CompressState) -> bool {
        (**self).is_due(tokens, now, state)
    }

    async fn compress(
        &self,
        task: &CompressTask,
        state: &mut CompressState,
    ) -> Result<Compressed, CompressError> {
        (**self).compress(task, state).await
    }
}

/// What is to be compressed, and with what.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CompressTask {
    /// Where summaries come from. What its requests take is counted and priced as the turn's, whatever
    /// comes of them, and each has its span; hooks are not asked about them.
    pub provider: Arc<dyn Provider>,
    /// The request that would be sent next.
    pub request: Request,
    /// Why.
    pub cause: CompressCause,
    /// The time.
    pub now: SystemTime,
    /// Ends it.
    pub token: CancellationToken,
}

impl CompressTask {
    /// Creates a task that nothing cancels, caused by the threshold.
    pub fn new(provider: Arc<dyn Provider>, request: Request, now: SystemTime) -> Self {
        let token = CancellationToken::new();
        Self { provider, request, cause: CompressCause::Threshold, now, token }
    }
}

/// Why a conversation is compressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CompressCause {
    /// Its next request would be over the threshold. Pauses hold.
    #[default]
    Threshold,
    /// The endpoint refused a request as too long. Pauses do not hold, and more is let go: of the latest
    /// results too, the newest last.
    Overflow,
}

/// What a session remembers of its compressions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct CompressState {
    /// Failures since the last success.
    pub failures: u32,
    /// When it may be tried again after a failure.
    pub not_before: Option<SystemTime>,
    /// Passes in a row after which the request was still over the threshold.
    pub ineffective: u32,
    /// The tokens of the request at which it was said that nothing helps.
    pub exhausted_at: Option<u64>,
    /// The last message when the history was last rewritten. Usage reported up to it is void.
    pub compressed_at: MessageId,
}

/// A history that was made shorter.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Compressed {
    /// The messages that replace those of the request.
    pub messages: Vec<Message>,
    /// About how many tokens the request had.
    pub before: u64,
    /// About how many it has now.
    pub after: u64,
    /// What the summary took; all zero if pruning was enough. It counts only where the provider of the
    /// task was not asked, whose requests are counted as they are made.
    pub usage: Usage,
}

impl Compressed {
    /// Creates the outcome of a pass that took no model.
    pub fn new(messages: Vec<Message>, before: u64, after: u64) -> Self {
        Self { messages, before, after, usage: Usage::default() }
    }

    /// Returns whether a twentieth of the request is gone.
    fn is_gain(&self) -> bool {
        self.after < self.before.saturating_sub(self.before / 20)
    }
}

/// Why a history stays as it is.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CompressError {
    /// The model could not be asked for a summary.
    #[error("the summary could not be had")]
    Provider(#[from] ProviderError),
    /// The summary is blank.
    #[error("the summary is blank")]
    Blank,
    /// The summary is not shorter than what it would replace.
    #[error("the summary is not shorter than what it would replace")]
    TooLong,
    /// The summary calls tools, or spells calls out.
    #[error("the summary contains tool calls")]
    CallSyntax,
    /// The summary was cut off.
    #[error("the summary was cut off")]
    Cut,
    /// The model declined to summarise.
    #[error("the model declined to summarise")]
    Refused,
    /// An earlier failure is too recent.
    #[error("compression is paused after a failure")]
    Paused,
    /// There is nothing, or too little, between what is kept.
    #[error("there is nothing to compress")]
    NothingToGain,
    /// Two passes in a row did not help, and another would not.
    #[error("compression cannot help: what is kept is over the threshold by itself")]
    Exhausted,
}

/// What a [`Summariser`] keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Window {
    /// How many messages at the beginning stay. 3 by default.
    pub head_messages: usize,
    /// How many messages at the end stay at least. 4 by default; after an overflow the last group only.
    pub tail_messages: usize,
    /// About how many tokens at the end stay. 20,000 by default; after an overflow no more than a third
    /// of the threshold, and of what was refused, for which the results at the end are cut too.
    pub tail_tokens: u64,
    /// Old results with more characters are replaced by a line that names the tool. 200 by default.
    pub result_chars: usize,
    /// The texts in old arguments with more characters are cut. 2,000 by default.
    pub argument_chars: usize,
}

impl Default for Window {
    fn default() -> Self {
        Self {
            head_messages: 3,
            tail_messages: 4,
            tail_tokens: 20_000,
            result_chars: 200,
            argument_chars: 2_000,
        }
    }
}

/// The ready-made [`Compressor`]: prunes, and has the session's own model summarise.
///
/// Its threshold is what it knows of the model's window, so it should be well below, at three quarters
/// of it, say. No request for a summary shows more than three quarters of the threshold.
///
/// A request that was refused as too long all the same is cut to a third of the threshold, and once more
/// if that is refused too. What stays in any case is the user's last message, word for word; only where
/// that does not fit by itself, with the system prompt and the tools, the turn fails.
///
/// # Examples
///
/// ```
/// use hermes_core::compress::Summariser;
///
/// let compressor = Summariser::new(96_000).tail_tokens(12_000).head_messages(1);
/// # let _ = compressor;
/// ```
#[derive(Clone, Debug)]
pub struct Summariser {
    threshold: u64,
    window: Window,
}

impl Summariser {
    /// The first pause after a failure, doubled with each further one.
    const PAUSE: Duration = Duration::from_secs(60);
    /// The longest pause.
    const MAX_PAUSE: Duration = Duration::from_secs(900);
    /// How many passes without gain are made before it gives up.
    const MAX_INEFFECTIVE: u32 = 2;
    /// The fewest tokens that are worth a summary.
    const WORTH: u64 = 150;
    /// The tokens that a request for a summary may have in any case: no window is that small.
    const MIN_ROOM: u64 = 4_000;

    /// Compresses requests of `threshold` tokens and more.
    pub fn new(threshold: u64) -> Self {
        Self { threshold, window: Window::default() }
    }

    /// Sets how many messages at the beginning stay. 3 by default; they are completed to whole
    /// groups, and the system prompt stays in any case.
    #[must_use]
    pub fn head_messages(mut self, messages: usize) -> Self {
        self.window.head_messages = messages;
        self
    }

    /// Sets how many messages at the end stay at least. 4 by default, and never fewer than one.
    #[must_use]
    pub fn tail_messages(mut self, messages: usize) -> Self {
        self.window.tail_messages = messages;
        self
    }

    /// Sets about how many tokens at the end stay. 20,000 by default.
    #[must_use]
    pub fn tail_tokens(mut self, tokens: u64) -> Self {
        self.window.tail_tokens = tokens;
        self
    }

    /// Sets how many characters the arguments of old calls may have. 2,000 by default.
    #[must_use]
    pub fn argument_chars(mut self, chars: usize) -> Self {
        self.window.argument_chars = chars;
        self
    }

    fn may_start(task: &CompressTask, state: &mut CompressState, tokens: u64) -> Start {
        if task.cause == CompressCause::Overflow {
            return Ok(());
        }
        if state.not_before.is_some_and(|until| task.now < until) {
            return Err(CompressError::Paused);
        }
        if Self::MAX_INEFFECTIVE <= state.ineffective {
            state.exhausted_at = Some(tokens);
            state.ineffective = 0;
            return Err(CompressError::Exhausted);
        }
        Ok(())
    }

    /// Returns the window, smaller after an overflow: the threshold was too high.
    fn window(&self, cause: CompressCause, messages: u64) -> Window {
        let mut window = self.window;
        if cause == CompressCause::Overflow {
            window.tail_tokens = window.tail_tokens.min(messages.min(self.threshold) / 3);
            window.tail_messages = 1;
        }
        window
    }

    /// Returns how many tokens the request for a summary may have for what is summarised, so that it
    /// fits into a window whose requests of `before` tokens are, or were not, taken.
    fn room(&self, cause: CompressCause, before: u64) -> u64 {
        let room = match cause {
            CompressCause::Threshold => self.threshold.saturating_mul(3) / 4,
            CompressCause::Overflow => before.min(self.threshold) / 2,
        };
        room.max(Self::MIN_ROOM)
    }

    async fn shorter(&self, task: &CompressTask, before: u64) -> Result<Compressed, CompressError> {
        let messages = task.request.messages.as_slice();
        let sizes: Vec<u64> = messages.iter().map(message_tokens).collect();
        let total: u64 = sizes.iter().sum();
        let window = self.window(task.cause, total);
        let plan = plan::plan(messages, &sizes, &window);
        // The estimate by the provider's usage includes what is not in the messages.
        let fixed = before.saturating_sub(total);
        let done = |messages: Vec<Message>, usage| {
            let after = fixed.saturating_add(messages.iter().map(message_tokens).sum());
            Compressed { messages, before, after, usage }
        };
        let tail = plan.map_or_else(|| plan::tail(messages, &sizes, &window), |plan| plan.tail);
        let pruned = match task.cause {
            CompressCause::Threshold => plan::prune(messages, tail, &window),
            CompressCause::Overflow => plan::prune_all(messages, tail, &window),
        };
        let pruned = pruned.map(|it| done(it, Usage::default()));
        if let Some(pruned) = &pruned
            && task.cause == CompressCause::Threshold
            && plan.is_some()
            && pruned.after < self.threshold
        {
            return Ok(pruned.clone());
        }
        let kept = pruned.as_ref().map_or(messages, |it| &it.messages);
        let summary = match plan.filter(|plan| Self::WORTH <= plan.replaced(messages, &sizes)) {
            Some(plan) => {
                let replaced = plan.replaced(messages, &sizes);
                let room = self.room(task.cause, before);
                summarised(task, plan, kept, (replaced, room)).await
            }
            None => Err(CompressError::NothingToGain),
        };
        match (summary, pruned) {
            (Ok((messages, usage)), _) => Ok(done(messages, usage)),
            // The request was refused, so that anything is better than to send it again.
            (Err(err), Some(pruned))
                if task.cause == CompressCause::Overflow
                    && pruned.is_gain()
                    && !is_cancel(&err) =>
            {
                Ok(pruned)
            }
            (Err(err), _) => Err(err),
        }
    }

    fn note(&self, result: &Result<Compressed, CompressError>, state: &mut CompressState) {
        match result {
            Ok(done) => {
                (state.failures, state.not_before, state.exhausted_at) = (0, None, None);
                let is_gain = done.after < self.threshold;
                state.ineffective = if is_gain { 0 } else { state.ineffective.saturating_add(1) };
            }
            Err(CompressError::NothingToGain) => {
                state.ineffective = state.ineffective.saturating_add(1);
            }
            Err(_) => state.failures = state.failures.saturating_add(1),
        }
    }

    fn pause(err: &CompressError, failures: u32) -> Option<Duration> {
        let named = match err {
            CompressError::NothingToGain => return None,
            CompressError::Provider(err) => err.retry_after(),
            _ => None,
        };
        let doubled = 2_u32.saturating_pow(failures.saturating_sub(1));
        let pause = Self::PAUSE.saturating_mul(doubled).min(Self::MAX_PAUSE);
        Some(named.map_or(pause, |named| named.max(pause)))
    }
}

/// Whether a pass may start.
type Start = Result<(), CompressError>;

#[async_trait]
impl Compressor for Summariser {
    fn is_due(&self, tokens: u64, now: SystemTime, state: &CompressState) -> bool {
        let is_paused = state.not_before.is_some_and(|until| now < until);
        let has_grown = state.exhausted_at.is_none_or(|at| at.saturating_mul(2) <= tokens);
        self.threshold <= tokens && !is_paused && has_grown
    }

    async fn compress(
        &self,
        task: &CompressTask,
        state: &mut CompressState,
    ) -> Result<Compressed, CompressError> {
        let before = request_tokens(&task.request, state.compressed_at);
        Self::may_start(task, state, before)?;
        let result = self.shorter(task, before).await;
        if matches!(&result, Err(err) if is_cancel(err)) {
            return result;
        }
        self.note(&result, state);
        match &result {
            Ok(_) => {
                let ids = task.request.messages.iter().map(|it| it.id);
                state.compressed_at = ids.max().unwrap_or_default();
            }
            Err(err) => {
                let pause = Self::pause(err, state.failures);
                state.not_before = pause.and_then(|it| task.now.checked_add(it));
            }
        }
        result
    }
}

fn is_cancel(err: &CompressError) -> bool {
    matches!(err, CompressError::Provider(err) if err.kind() == ProviderErrorKind::Cancelled)
}

/// Asks for a summary of the original middle, which has `replaced` tokens, and puts it between the
/// pruned head and the tail. The request shows no more than `room` tokens of it.
async fn summarised(
    task: &CompressTask,
    plan: Plan,
    pruned: &[Message],
    (replaced, room): (u64, u64),
) -> Result<(Vec<Message>, Usage), CompressError> {
    let original = task.request.messages.as_slice();
    let middle = original.get(plan.head..plan.tail).unwrap_or_default();
    let question = Message::user(summary::transcript(middle, room));
    let request = Request::new(task.request.model.clone(), vec![question])
        .with_system(summary::INSTRUCTIONS)
        .with_sampling(Sampling::default());
    let reply = tokio::select! {
        biased;
        () = task.token.cancelled() => {
            return Err(ProviderError::new(ProviderErrorKind::Cancelled, "cancelled").into());
        }
        reply = task.provider.complete(&request, &task.token) => reply?,
    };
    let body = summary::accepted(&reply)?;
    let summary = summary_message(&body, Vec::new());
    if replaced <= message_tokens(&summary) {
        return Err(CompressError::TooLong);
    }
    let anchor = plan::last_words(original).filter(|(at, _)| (plan.head..plan.tail).contains(at));
    let anchor = anchor.map(|(_, message)| message);
    let id = middle.last().map(|it| it.id).unwrap_or_default();
    let head = pruned.get(..plan.head).unwrap_or_default();
    let tail = pruned.get(plan.tail..).unwrap_or_default();
    let messages = summary::joined(head, (&body, anchor, id), tail);
    Ok((messages, reply.usage.unwrap_or_default()))
}
