//! Carries out what was decided about a call that was held, after its turn.

use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::{
    AgentError,
    dispatch::{Dispatch, Dispatched, Events},
    finish::{Attached, dispatch, scope},
};
use crate::{
    approval::{Answer, ApprovalRequest, HOST, ruled},
    origin::OriginKind,
    session::Shared,
    tool::{Extensions, ToolOutput},
};

/// The result if there is none, which cannot be: every call has one.
const LOST: &str = "The call has no result. It may have had an effect.";

/// Does with a held call of `shared` what `answer` says, as a turn would have done it.
///
/// It is a task of its own: a call that has begun comes to its end although nobody waits for it any
/// more, and who closes the session or the agent waits for it.
pub(crate) async fn decide_held(
    shared: &Arc<Shared>,
    held: &ApprovalRequest,
    answer: Answer,
    extensions: Extensions,
) -> Result<ToolOutput, AgentError> {
    if held.session != shared.id {
        return Err(AgentError::OtherSession);
    }
    if held.change.is_some() {
        return Err(AgentError::HeldWrite);
    }
    let (token, is_running) = shared.begin_held()?;
    let on_drop = token.clone().drop_guard();
    let (result, receives_result) = oneshot::channel();
    let (deciding, held) = (Arc::clone(shared), held.clone());
    let spawned = shared.recipe.tasks.spawn(async move {
        let output = decided(&deciding, &held, answer, (extensions, token)).await;
        drop(is_running);
        // The host may have stopped waiting, which is no error.
        let _ = result.send(output);
    });
    if !spawned {
        return Err(Shared::not_spawned());
    }
    let output = receives_result.await.map_err(|_| AgentError::Lost);
    on_drop.disarm();
    output
}

async fn decided(
    shared: &Arc<Shared>,
    held: &ApprovalRequest,
    answer: Answer,
    (extensions, token): (Extensions, CancellationToken),
) -> ToolOutput {
    let (template, warnings) = shared.template().await;
    shared.unheard.warn_all(&Events::default(), warnings);
    // Nobody listens: what the call brings is returned.
    let (events, _) = mpsc::unbounded_channel();
    let attached = Attached { extensions, by: held.origin.by.clone() };
    let mut scope = scope(shared, &template, &shared.purse(), (attached, events, token));
    scope.turn = held.turn;
    scope.origin = held.origin.clone();
    if held.origin.kind != OriginKind::User {
        // How deep the sub-agent was is not known any more.
        scope.fork = None;
    }
    dispatch(shared, scope, Events::default()).held(held, answer).await
}

impl Dispatch {
    /// Records `answer` about a held call and gives the call its output.
    async fn held(&self, held: &ApprovalRequest, answer: Answer) -> ToolOutput {
        let need = self.need(&held.call).unwrap_or_default();
        let decision = ruled(&need, answer, HOST);
        let rulings = [(held.call.id.clone(), self.recorded(held, decision).await)];
        let mut done = Dispatched::default();
        self.run_group(vec![held.call.clone()], false, &rulings, &mut done).await;
        done.outputs.pop().map_or_else(|| ToolOutput::failed(LOST), |(_, output)| output)
    }
}
