//! Makes results fit: cuts long ones or keeps them elsewhere, and adds what belongs beside them.

use std::panic::AssertUnwindSafe;

use futures::FutureExt;

use super::{dispatch::Dispatch, event::describe};
use crate::{
    message::{Call, CallStatus},
    tool::{ToolOutput, cut_middle},
};

/// How many characters the model is shown of a result that is kept elsewhere.
const PREVIEW_CHARS: usize = 1_500;

impl Dispatch {
    /// Cuts what is over `limit` from the middle of the output, and keeps the whole elsewhere if it
    /// can.
    pub(super) async fn bounded(
        &self,
        call: &Call,
        mut output: ToolOutput,
        limit: usize,
    ) -> ToolOutput {
        let Some(cut) = cut_middle(&output.content, limit) else { return output };
        // What was shown of stored text was not shown whole.
        self.scope.seen.forget_shown_by(&call.id);
        output.content = match self.spilled(call, &output.content).await {
            Some(place) => {
                let limit = limit.min(PREVIEW_CHARS);
                let preview = cut_middle(&output.content, limit).unwrap_or_default();
                let count = output.content.chars().count();
                format!(
                    "{preview}\n\n[The whole result, {count} characters, is in {place}. Read the part \
                     you need from there, not all of it.]"
                )
            }
            None => cut,
        };
        output
    }

    /// Keeps a long result elsewhere and returns where. A failure is told to the host.
    async fn spilled(&self, call: &Call, content: &str) -> Option<String> {
        let spilling = self.spill.as_ref()?.spill(&call.name, content);
        let spilling = AssertUnwindSafe(spilling).catch_unwind();
        let failure = tokio::select! {
            biased;
            () = self.scope.token.cancelled() => return None,
            ended = spilling => match ended {
                Ok(Ok(place)) => return Some(place),
                Ok(Err(err)) => describe(&err),
                Err(_) => "it crashed".to_owned(),
            },
        };
        let warning = format!("A long result was cut, as it could not be kept: {failure}");
        self.scope.warnings.send(warning);
        None
    }

    /// Adds what belongs beside the result of `call`, if it ran.
    pub(super) async fn add_hint(&self, call: &Call, output: &mut ToolOutput) {
        let Some(hints) = &self.hints else { return };
        if matches!(output.status, CallStatus::Rejected | CallStatus::Cancelled) {
            return;
        }
        let hint = hints.hint(call, &self.scope.seen).await;
        output.content.push_str(&hint.text);
        for warning in hint.warnings {
            self.scope.warnings.send(warning);
        }
    }
}
