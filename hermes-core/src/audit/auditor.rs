//! Hands what the loop does to the sink, and what the sink cannot keep to the host.

use std::{panic::AssertUnwindSafe, sync::Arc};

use futures::FutureExt;

use super::{AuditEvent, AuditRecord, AuditSink};
use crate::{
    agent::{Events, Unheard, describe},
    approval::{ApprovalRequest, Decision, Ruling},
    clock::{Clock, iso_8601},
    message::Call,
    origin::Origin,
    review::ReviewReport,
    store::SessionId,
    tool::{ToolOutput, TurnScope},
};

/// What a sink that fails means for the turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AuditFailure {
    /// The host is warned, and the turn goes on. The default.
    #[default]
    Warn,
    /// The host is warned, a call whose approval could not be recorded is denied, and the turn ends
    /// after the first call that could not be recorded.
    EndTurn,
}

/// The sink of an agent.
#[derive(Debug)]
pub(crate) struct Auditor {
    sink: Arc<dyn AuditSink>,
    failure: AuditFailure,
    clock: Arc<dyn Clock>,
    unheard: Unheard,
}

/// Records that could not be kept.
#[derive(Debug)]
pub(crate) struct Unrecorded {
    /// Why the turn must end, if it must.
    pub(crate) end: Option<String>,
}

/// What the results of a turn say that ended because a call could not be recorded.
const UNRECORDED: &str = "what was done could not be recorded";
/// The tool whose changes are those of the forks it ran.
const DELEGATE: &str = "delegate";
/// The reason of a denial that could not be recorded.
const UNRECORDED_APPROVAL: &str = "the decision could not be recorded";

impl Auditor {
    pub(crate) fn new(
        sink: Arc<dyn AuditSink>,
        failure: AuditFailure,
        clock: Arc<dyn Clock>,
        unheard: Unheard,
    ) -> Self {
        Self { sink, failure, clock, unheard }
    }

    /// Records calls that are over, with what they wrote. Returns the reason if the turn must end.
    pub(crate) async fn calls(
        &self,
        scope: &TurnScope,
        calls: &[(Call, ToolOutput)],
        events: &Events,
    ) -> Option<String> {
        let each = calls.iter().flat_map(|(call, output)| {
            // What sub-agents wrote was recorded with their own calls, under their own origin.
            let own = if &*call.name == DELEGATE { &[] } else { output.changes.as_slice() };
            let writes = own.iter().map(|change| AuditEvent::write(&call.id, change));
            std::iter::once(AuditEvent::call(call, output.status)).chain(writes)
        });
        let records = each.map(|event| self.record(scope, event)).collect();
        self.keep(records, events).await.err().and_then(|it| it.end)
    }

    /// Records calls of `scope` that were interrupted and have no result.
    ///
    /// # Errors
    ///
    /// [`Unrecorded`] if they could not be.
    pub(crate) async fn interrupted<'a>(
        &self,
        scope: &TurnScope,
        calls: impl Iterator<Item = &'a Call>,
        events: &Events,
    ) -> Result<(), Unrecorded> {
        let records = calls.map(|call| self.record(scope, AuditEvent::interrupted(call)));
        self.keep(records.collect(), events).await
    }

    /// Records that `call` is about to run with arguments that a hook gave it.
    ///
    /// # Errors
    ///
    /// The reason if it had to be recorded and was not.
    pub(crate) async fn replaced(
        &self,
        scope: &TurnScope,
        call: &Call,
        events: &Events,
    ) -> Result<(), String> {
        let record = self.record(scope, AuditEvent::replaced(call));
        let kept = self.keep(vec![record], events).await;
        kept.err().and_then(|it| it.end).map_or(Ok(()), Err)
    }

    /// Records the decision on a call. Returns the ruling, or a denial if it had to be recorded and was
    /// not.
    pub(crate) async fn decision(
        &self,
        scope: &TurnScope,
        request: &ApprovalRequest,
        Decision { ruling, name, by, grants, .. }: Decision,
        events: &Events,
    ) -> Ruling {
        let mut reasons = request.reasons.clone();
        if let Ruling::Denied(reason) = &ruling {
            reasons.push(reason.clone());
        }
        let event = AuditEvent::approval(&request.call, name, reasons).by(&by).under(grants);
        match self.keep(vec![self.record(scope, event)], events).await {
            Err(Unrecorded { end: Some(_) }) => Ruling::Denied(UNRECORDED_APPROVAL.to_owned()),
            _ => ruling,
        }
    }

    /// Records the end of a review of `session`.
    pub(crate) async fn review(&self, session: SessionId, turn: u64, report: &ReviewReport) {
        let mut scope = TurnScope::new(session);
        scope.turn = turn;
        scope.origin = Origin::review(report.id.as_str());
        let record = self.record(&scope, AuditEvent::review(report));
        // Its turn is over, so that there is nothing to end.
        let _ = self.keep(vec![record], &Events::default()).await;
    }

    fn record(&self, scope: &TurnScope, event: AuditEvent) -> AuditRecord {
        let at = iso_8601(self.clock.now());
        AuditRecord::new(at, scope.session.clone(), scope.turn, scope.origin.clone(), event)
    }

    async fn keep(&self, records: Vec<AuditRecord>, events: &Events) -> Result<(), Unrecorded> {
        let appended = AssertUnwindSafe(self.sink.append(&records)).catch_unwind().await;
        let warning = match appended {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(err)) => describe(&err),
            Err(_) => "the audit sink crashed".to_owned(),
        };
        tracing::warn!(error = warning, "a record of the audit was lost");
        self.unheard.warn(events, warning);
        let must_end = self.failure != AuditFailure::Warn;
        Err(Unrecorded { end: must_end.then(|| UNRECORDED.to_owned()) })
    }
}
