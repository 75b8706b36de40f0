//! Puts changes of memory and skills to the approver that the user's own calls propose and the policy
//! holds.

use std::sync::Arc;

use super::{ApprovalRequest, Approver, Decision, Desk, Grant, Ruling, desk::Need};
use crate::{
    agent::{AgentEvent, Events},
    audit::Auditor,
    change::{Change, ChangeTarget},
    message::Call,
    review::Verdict,
    tool::TurnScope,
};

/// The reason if there is no answer.
const CANCELLED: &str = "the turn was cancelled before there was an answer";

/// Returns what a change is of, as a [`Grant`] names it.
fn subject(change: &Change) -> String {
    match &change.target {
        ChangeTarget::Memory(target) => target.as_str().to_owned(),
        ChangeTarget::Skill { name, .. } => format!("skill:{name}"),
    }
}

/// Who is asked about writes, and who hears of it. Cloning it copies pointers.
#[derive(Clone, Debug, Default)]
pub(crate) struct WriteDesk {
    desk: Desk,
    events: Events,
    audit: Option<Arc<Auditor>>,
}

impl WriteDesk {
    pub(crate) fn new(desk: Desk, events: Events, audit: Option<Arc<Auditor>>) -> Self {
        Self { desk, events, audit }
    }

    pub(crate) fn of(approver: Arc<dyn Approver>) -> Self {
        let desk = Desk { approver: Some(approver), ..Desk::default() };
        Self { desk, ..Self::default() }
    }

    /// Asks about `change`, which `call` would make. Without an approver it waits; if the turn is cancelled
    /// before there is an answer, it is not made.
    pub(crate) async fn decide(&self, call: Call, change: &Change, scope: &TurnScope) -> Verdict {
        if self.desk.approver.is_none() {
            return Verdict::Hold;
        }
        let class = Some(subject(change));
        let grant = Grant { tool: Arc::clone(&call.name), origin: scope.origin.kind, class };
        let is_granted = self.desk.grants.has(&grant);
        let need = Need::of_write(change, grant);
        let mut request = need.request(call, scope);
        request.change = Some(change.clone());
        let request = Arc::new(request);
        if is_granted {
            return self.recorded(scope, &request, Decision::granted(&need)).await;
        }
        self.events.send(|| AgentEvent::ApprovalAsked(Arc::clone(&request)));
        let Some(decision) = self.desk.decide(&request, &need, &scope.token).await else {
            return Verdict::Reject(CANCELLED.to_owned());
        };
        self.recorded(scope, &request, decision).await
    }

    /// Records a decision and returns what it means for the change.
    async fn recorded(
        &self,
        scope: &TurnScope,
        request: &ApprovalRequest,
        decision: Decision,
    ) -> Verdict {
        let (audit, about) = (self.audit.as_deref(), (scope, request));
        match self.desk.recorded(audit, about, decision, &self.events).await {
            Ruling::Allowed => Verdict::Apply,
            Ruling::Held => Verdict::Hold,
            Ruling::Denied(reason) => Verdict::Reject(format!("approval was denied: {reason}")),
        }
    }
}
