//! Carries out what was decided about a call that was held, after its turn.

use std::sync::Arc;

use tokio::sync::mpsc;

use super::{
    AgentError,
    dispatch::{Dispatch, Dispatched, Events},
    finish::{Attached, dispatch, scope},
};
use crate::{
    approval::{Answer, ApprovalRequest, HOST, ruled},
    session::Shared,
    tool::{Extensions, ToolOutput},
};

/// The result if there is none, which cannot be: every call has one.
const LOST: &str = "The call has no result. It may have had an effect.";

/// Does with a held call of `shared` what `answer` says, as a turn would have done it.
pub(crate) async fn decide_held(
    shared: &Arc<Shared>,
    held: &ApprovalRequest,
    answer: Answer,
    extensions: Extensions,
) -> Result<ToolOutput, AgentError> {
    if held.session != shared.id {
        return Err(AgentError::OtherSession);
    }
    if shared.is_closed() {
        return Err(AgentError::Closed);
    }
    let (template, _) = shared.template().await;
    // Nobody listens: what the call brings is returned.
    let (events, _) = mpsc::unbounded_channel();
    let token = shared.recipe.tasks.child_token();
    let attached = Attached { extensions, by: held.origin.by.clone() };
    let on_drop = token.clone().drop_guard();
    let mut scope = scope(shared, &template, &shared.purse(), (attached, events, token));
    scope.turn = held.turn;
    scope.origin = held.origin.clone();
    let output = dispatch(shared, scope, Events::default()).held(held, answer).await;
    on_drop.disarm();
    Ok(output)
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
