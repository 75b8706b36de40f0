//! Puts calls that need approval to the approver, before any call of their reply runs.

use std::sync::Arc;

use super::{AgentEvent, Outcome, dispatch::Dispatch, run::Run};
use crate::{
    approval::{ApprovalRequest, Decision, Need, Ruling, refusal},
    message::{Call, CallId, Message, StopReason},
};

/// The reason if a stored turn waits for a call that its history does not have.
const GONE: &str = "the call is no longer part of the conversation";
const NO_APPROVER: &str =
    "A call was denied because the agent has no approver; set one with `AgentBuilder::approver`.";

/// Returns what the host is told of a held call if nobody hears that it is held.
pub(super) fn unheard(request: &ApprovalRequest) -> String {
    format!("A call of {:?} was held where nobody listens, and is lost.", request.call.name)
}

impl Run {
    /// Tells the turn which calls of `reply` need approval; nothing if none does.
    pub(super) fn note_approvals(&mut self, reply: &Message) {
        let calls = self.dispatch.needing_approval(reply);
        if !calls.is_empty() {
            self.turn.apply(&Outcome::ApprovalNeeded(&calls));
        }
    }

    /// Asks about the first of `calls`. One at a time, so that every decision is kept before the next
    /// is asked for, and what is allowed for the session is not asked for again.
    pub(super) async fn await_approval(&mut self, calls: &[CallId]) {
        let Some(id) = calls.first() else { return };
        let history = self.conversation.history();
        let call = history.last().and_then(|reply| reply.calls().find(|call| call.id == *id));
        let ruling = match call.cloned() {
            Some(call) => {
                drop(history);
                self.dispatch.decide(call).await
            }
            None => Some(Ruling::Denied(GONE.to_owned())),
        };
        match ruling {
            Some(ruling) => self.turn.apply(&Outcome::Decided(&[(id.clone(), ruling)])),
            None => self.turn.apply(&Outcome::Cancelled),
        }
    }
}

impl Dispatch {
    /// Returns the calls of `reply` that would run and must not run unasked.
    fn needing_approval(&self, reply: &Message) -> Vec<CallId> {
        let is_cut = reply.stop == Some(StopReason::Length);
        let is_asked = |call: &Call| self.need(call).is_some_and(|need| !need.is_granted);
        let needing =
            reply.calls().filter(|call| is_asked(call) && self.checked(call, is_cut).is_ok());
        needing.map(|call| call.id.clone()).collect()
    }

    /// Asks about `call`, unless it was allowed meanwhile. Returns `None` if the turn is cancelled
    /// before there is an answer.
    async fn decide(&self, call: Call) -> Option<Ruling> {
        let Some(need) = self.need(&call) else { return Some(Ruling::Allowed) };
        let request = Arc::new(need.request(call, &self.scope));
        if need.is_granted {
            return Some(self.recorded(&request, Decision::granted(&need)).await);
        }
        self.events.send(|| AgentEvent::ApprovalAsked(Arc::clone(&request)));
        if self.desk.approver.is_none() {
            self.scope.warnings.send(NO_APPROVER.to_owned());
        }
        let decision = self.desk.decide(&request, &need, &self.scope.token).await?;
        let ruling = self.recorded(&request, decision).await;
        if ruling == Ruling::Held {
            if !self.events.are_heard() {
                self.scope.warnings.send(unheard(&request));
            }
            self.events.send(|| AgentEvent::CallHeld(request));
        }
        Some(ruling)
    }

    /// Records a decision, and returns what comes of it.
    pub(super) async fn recorded(&self, request: &ApprovalRequest, decision: Decision) -> Ruling {
        let (audit, about) = (self.audit.as_deref(), (&*self.scope, request));
        self.desk.recorded(audit, about, decision, &self.events).await
    }

    /// Returns what the model is told if `call` may not run. This is asked again right before it would,
    /// so that no call slips through that nobody was asked about.
    ///
    /// What it needs comes back if it may run only because that was allowed for the session, which is
    /// [noted](Self::note_grant) when it does.
    pub(super) fn permitted(
        &self,
        call: &Call,
        rulings: &[(CallId, Ruling)],
    ) -> Result<Option<Need>, String> {
        let ruling = rulings.iter().find(|(id, _)| *id == call.id).map(|(_, ruling)| ruling);
        let need = self.need(call);
        match refusal(ruling, need.as_ref()) {
            Some(reason) => Err(reason),
            None => Ok(need.filter(|_| ruling.is_none())),
        }
    }

    /// Records that `call` runs because what it needs was allowed for the session.
    ///
    /// # Errors
    ///
    /// What the model is told if that had to be recorded and was not.
    pub(super) async fn note_grant(&self, call: &Call, need: &Need) -> Result<(), String> {
        let request = need.request(call.clone(), &self.scope);
        let ruling = self.recorded(&request, Decision::granted(need)).await;
        refusal(Some(&ruling), Some(need)).map_or(Ok(()), Err)
    }

    /// As [`permitted`](Self::permitted), for a call whose arguments are no longer those that were asked
    /// about: asks once more. Returns `None` if the turn is cancelled before there is an answer.
    pub(super) async fn permitted_anew(&self, call: &Call) -> Option<Result<(), String>> {
        let Some(need) = self.need(call) else { return Some(Ok(())) };
        let ruling = self.decide(call.clone()).await?;
        Some(refusal(Some(&ruling), Some(&need)).map_or(Ok(()), Err))
    }

    pub(super) fn need(&self, call: &Call) -> Option<Need> {
        let spec = self.registry.spec(&call.name)?;
        self.desk.need(spec, call, self.scope.origin.kind)
    }
}
