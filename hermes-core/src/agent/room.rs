//! Makes room in the conversation of a run, ahead of a request or after one was refused as too long.

use std::{panic::AssertUnwindSafe, sync::Arc};

use futures::FutureExt;
use tracing::Instrument;

use super::{
    AgentError, AgentEvent, Outcome,
    conversation::is_whole,
    event::describe,
    meter::{Meter, Used},
    run::Run,
};
use crate::{
    compress::{
        CompressCause, CompressError, CompressState, CompressTask, Compressed, Compressor,
        request_tokens,
    },
    message::{Message, Role, Usage},
    provider::{ProviderError, ProviderErrorKind, Recovery, Request},
};

/// What makes room in a conversation, and what it remembers.
#[derive(Debug)]
pub(crate) struct Compression {
    compressor: Arc<dyn Compressor>,
    state: CompressState,
    /// Why the last request was refused, to be reported if no room can be made.
    refused: Option<ProviderError>,
}

impl Compression {
    pub(crate) fn new(compressor: Arc<dyn Compressor>, state: CompressState) -> Self {
        Self { compressor, state, refused: None }
    }
}

/// What came of a pass.
enum Pass {
    Shorter(Compressed),
    /// The history stays as it is, for this reason.
    AsItWas(String),
    Cancelled,
}

impl Run {
    /// Returns whether room should be made before `request` is sent.
    pub(super) fn is_due(&self, request: &Request) -> bool {
        let Some(Compression { compressor, state, .. }) = &self.compression else { return false };
        self.turn.may_compress(CompressCause::Threshold)
            && compressor.is_due(
                request_tokens(request, state.compressed_at),
                self.dispatch.scope.clock.now(),
                state,
            )
    }

    /// Plans to make room if that helps against `err`, and returns it otherwise. Once something of
    /// the reply was heard the request was not too long.
    pub(super) fn make_room_after(
        &mut self,
        err: ProviderError,
        is_unheard: bool,
    ) -> Option<ProviderError> {
        let Some(compression) = &mut self.compression else { return Some(err) };
        let helps = is_unheard && err.recovery() == Recovery::Compress;
        if !helps || !self.turn.may_compress(CompressCause::Overflow) {
            return Some(err);
        }
        compression.refused = Some(err);
        self.turn.apply(&Outcome::TooLong(CompressCause::Overflow));
        None
    }

    /// Makes the conversation shorter, or says why it stays as it is.
    pub(super) async fn compress(&mut self, cause: CompressCause) -> Result<(), AgentError> {
        let span = tracing::debug_span!("compress_history", cause = ?cause);
        let pass = self.pass(cause).instrument(span).await;
        match pass {
            Pass::Shorter(done) => self.shorten(done).await,
            Pass::Cancelled => {
                self.turn.apply(&Outcome::Cancelled);
                Ok(())
            }
            Pass::AsItWas(why) => {
                self.dispatch.scope.warnings.send(why);
                let refused = self.compression.as_mut().and_then(|it| it.refused.take());
                if let Some(err) = refused {
                    return Err(err.into());
                }
                self.turn.apply(&Outcome::NotCompressed);
                Ok(())
            }
        }
    }

    async fn pass(&mut self, cause: CompressCause) -> Pass {
        let request = self.request();
        let Some(compression) = &mut self.compression else {
            return Pass::AsItWas("there is no compressor".to_owned());
        };
        let scope = &self.dispatch.scope;
        let meter = Meter::new(Arc::clone(&self.provider), self.dispatch.traces_content);
        let task = CompressTask {
            provider: Arc::new(meter.clone()),
            request,
            cause,
            now: scope.clock.now(),
            token: scope.token.clone(),
        };
        let pass = compression.compressor.compress(&task, &mut compression.state);
        let pass = AssertUnwindSafe(pass).catch_unwind();
        let ended = tokio::select! {
            biased;
            ended = pass => ended,
            () = scope.token.cancelled() => {
                self.spend_on(&meter);
                return Pass::Cancelled;
            }
        };
        self.keep.set_compress_state(&compression.state);
        let took = self.spend_on(&meter);
        match ended {
            Ok(Ok(mut done)) if is_usable(&task.request.messages, &done.messages) => {
                if took {
                    done.usage = Usage::default();
                }
                Pass::Shorter(done)
            }
            Ok(Ok(_)) => Pass::AsItWas("the compressor gave an unusable history".to_owned()),
            Ok(Err(CompressError::Provider(err))) if err.kind() == ProviderErrorKind::Cancelled => {
                Pass::Cancelled
            }
            Ok(Err(err)) => Pass::AsItWas(format!("not compressed: {}", describe(&err))),
            Err(_) => Pass::AsItWas("the compressor crashed".to_owned()),
        }
    }

    /// Takes note of the requests that a pass made, whatever came of them, and returns whether there
    /// were any.
    fn spend_on(&mut self, meter: &Meter) -> bool {
        let taken = meter.take();
        for (model, used) in &taken {
            self.spend(model, *used);
            self.turn.add_tokens(used.usage.total());
        }
        !taken.is_empty()
    }

    async fn shorten(&mut self, done: Compressed) -> Result<(), AgentError> {
        if let Some(compression) = &mut self.compression {
            compression.refused = None;
        }
        let Compressed { messages, before, after, usage } = done;
        if usage != Usage::default() {
            // The compressor asked a model of its own.
            let model = self.template.model.clone();
            self.spend(&model, Used { usage, is_estimated: false });
        }
        self.turn.apply(&Outcome::Compressed(usage));
        // What the model was shown is out of its sight now.
        self.keep.forget_seen(&self.dispatch.scope.seen);
        self.keep.compact(&self.conversation, messages, &self.turn, self.spending).await?;
        self.dispatch.events.send(|| AgentEvent::Compressed { before, after });
        Ok(())
    }
}

/// Returns whether `after` can stand for `before`: no call has lost its result, and the user's last
/// words are still there.
fn is_usable(before: &[Message], after: &[Message]) -> bool {
    let last = before.iter().rev().find(|it| it.has_words_of_user()).map(|it| it.text());
    let keeps_words = last.is_none_or(|words| {
        after.iter().any(|it| it.role == Role::User && it.text().contains(words.as_str()))
    });
    keeps_words && !after.is_empty() && is_whole(after)
}
