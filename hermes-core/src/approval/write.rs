//! Puts changes of memory and skills to the approver that the user's own calls propose and the policy
//! holds.

use std::sync::Arc;

use super::{Approver, Desk, Grant, Ruling, desk::Need};
use crate::{
    agent::{AgentEvent, Events},
    audit::Auditor,
    change::Change,
    message::Call,
    review::Verdict,
    tool::TurnScope,
};

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

    /// Asks about `change`, which `call` would make. Without an approver, and if the turn is cancelled
    /// before there is an answer, it waits.
    pub(crate) async fn decide(&self, call: Call, change: &Change, scope: &TurnScope) -> Verdict {
        if self.desk.approver.is_none() {
            return Verdict::Hold;
        }
        let grant = Grant { tool: Arc::clone(&call.name), origin: scope.origin.kind, class: None };
        if self.desk.grants.has(&grant) {
            return Verdict::Apply;
        }
        let need = Need::of_write(change, grant);
        let mut request = need.request(call, scope);
        request.change = Some(change.clone());
        let request = Arc::new(request);
        self.events.send(|| AgentEvent::ApprovalAsked(Arc::clone(&request)));
        let Some(decision) = self.desk.decide(&request, &need, &scope.token).await else {
            return Verdict::Hold;
        };
        let ruling = match &self.audit {
            Some(audit) => audit.decision(scope, &request, decision, &self.events).await,
            None => decision.ruling,
        };
        match ruling {
            Ruling::Allowed => Verdict::Apply,
            Ruling::Held => Verdict::Hold,
            Ruling::Denied(reason) => Verdict::Reject(format!("approval was denied: {reason}")),
        }
    }
}
