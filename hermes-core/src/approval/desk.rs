//! Where a run's calls are put to the approver, and what was allowed before is remembered.

use std::{panic::AssertUnwindSafe, sync::Arc};

use futures::FutureExt;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::{
    Answer, Approval, ApprovalRequest, Approver, Danger, DangerClass, Grant, Grants, NeedsApproval,
    Ruling, Severity, dangerous,
};
use crate::{
    agent::{Events, random},
    audit::Auditor,
    change::{Change, ChangeTarget},
    message::Call,
    origin::OriginKind,
    tool::{ToolSpec, TurnScope},
};

/// Who is asked about the calls of a run, and what was allowed before. Cloning it copies pointers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Desk {
    pub(crate) approver: Option<Arc<dyn Approver>>,
    pub(crate) grants: Grants,
}

/// What was decided, and how the audit calls it.
#[derive(Debug)]
pub(crate) struct Decision {
    pub(crate) ruling: Ruling,
    pub(crate) name: &'static str,
    /// Who decided.
    pub(crate) by: Arc<str>,
    /// What was allowed for the session, now or earlier, if that is what decides.
    pub(crate) grants: Vec<Grant>,
    /// Whether it is allowed for the session from now on.
    is_new: bool,
}

impl Decision {
    fn new(ruling: Ruling, name: &'static str, by: Arc<str>) -> Self {
        Self { ruling, name, by, grants: Vec::new(), is_new: false }
    }

    fn denied(reason: &str, by: Arc<str>) -> Self {
        Self::new(Ruling::Denied(reason.to_owned()), "denied", by)
    }

    /// The decision about what is covered by what was allowed earlier.
    pub(crate) fn granted(need: &Need) -> Self {
        let by = Arc::from("session grant");
        Self { grants: need.grants.clone(), ..Self::new(Ruling::Allowed, "granted", by) }
    }
}

/// Why a call is not to run unasked.
#[derive(Debug, Default)]
pub(crate) struct Need {
    reasons: Vec<String>,
    /// What would cover it from now on, if it is allowed for the session.
    grants: Vec<Grant>,
    /// Whether it is to be asked for however often it was allowed.
    is_every_time: bool,
    /// Whether it was allowed for the session, so that nobody is asked.
    pub(crate) is_granted: bool,
    command: Option<String>,
    dangers: Vec<Danger>,
}

/// Who decides where nobody says more.
pub(crate) const HOST: &str = "host";
/// Who decides where nobody is asked.
const POLICY: &str = "policy";
/// What the model is told with every refusal.
const NO_OTHER_WAY: &str =
    "Do not try to get the same done in another way; go on without it, or ask the user.";
const HELD: &str = "Held for a person, not run. It may be run later; do not repeat it, and do not \
                    count on its effect.";
/// The reason for the host and the model if there is no approver.
const NOBODY: &str = "nobody can be asked here, as the agent has no approver";
const CRASHED: &str = "the approver crashed";
/// The reason if a call turns up that nobody was asked about.
const UNASKED: &str = "it was not asked for before it was to run";

impl Desk {
    /// Returns why `call` needs approval; `None` if it needs none.
    pub(crate) fn need(&self, spec: &ToolSpec, call: &Call, origin: OriginKind) -> Option<Need> {
        let mut need = match &spec.needs_approval {
            NeedsApproval::Never => return None,
            NeedsApproval::Always => {
                let grant = Grant { tool: Arc::clone(&spec.name), origin, class: None };
                Need { reasons: vec![always(&spec.name)], grants: vec![grant], ..Need::default() }
            }
            NeedsApproval::Dangerous { argument } => in_command(spec, call, argument, origin)?,
        };
        need.is_granted = !need.is_every_time && need.grants.iter().all(|it| self.grants.has(it));
        Some(need)
    }

    /// Asks about `call`. Returns `None` if the turn is cancelled before there is an answer.
    pub(crate) async fn decide(
        &self,
        request: &ApprovalRequest,
        need: &Need,
        token: &CancellationToken,
    ) -> Option<Decision> {
        let Some(approver) = &self.approver else {
            return Some(Decision::denied(NOBODY, POLICY.into()));
        };
        let asked = async {
            let answer = approver.answer(request).await;
            ruled(need, answer, approver.name())
        };
        let asked = AssertUnwindSafe(asked).catch_unwind();
        let answer = tokio::select! {
            biased;
            () = token.cancelled() => return None,
            answer = asked => answer,
        };
        Some(answer.unwrap_or_else(|_| Decision::denied(CRASHED, POLICY.into())))
    }

    /// Records a decision if there is an `audit`, and returns what comes of it. What it allows for the
    /// session holds from here on, unless the decision had to be recorded and was not.
    pub(crate) async fn recorded(
        &self,
        audit: Option<&Auditor>,
        (scope, request): (&TurnScope, &ApprovalRequest),
        decision: Decision,
        events: &Events,
    ) -> Ruling {
        let new = if decision.is_new { decision.grants.clone() } else { Vec::new() };
        let ruling = match audit {
            Some(audit) => audit.decision(scope, request, decision, events).await,
            None => decision.ruling,
        };
        if ruling == Ruling::Allowed {
            for grant in new {
                self.grants.add(grant);
            }
        }
        ruling
    }
}

/// Returns what `answer` decides, which is that of `by` unless it says otherwise.
pub(crate) fn ruled(need: &Need, answer: Answer, by: &str) -> Decision {
    let by = answer.by.unwrap_or_else(|| by.into());
    match answer.approval {
        Approval::AllowOnce => Decision::new(Ruling::Allowed, "allowed", by),
        Approval::AllowForSession => {
            let decision = Decision::new(Ruling::Allowed, "allowed_for_session", by);
            Decision { grants: need.grants.clone(), is_new: true, ..decision }
        }
        Approval::Deny(reason) => Decision::denied(&reason, by),
        Approval::Hold => Decision::new(Ruling::Held, "held", by),
    }
}

impl Need {
    /// Returns what the approver is asked.
    pub(crate) fn request(&self, call: Call, scope: &TurnScope) -> ApprovalRequest {
        ApprovalRequest {
            id: new_id(),
            call,
            origin: scope.origin.clone(),
            session: scope.session.clone(),
            turn: scope.turn,
            reasons: self.reasons.clone(),
            command: self.command.clone(),
            dangers: self.dangers.clone(),
            change: None,
        }
    }

    /// Returns why `change` is not to be made unasked.
    pub(super) fn of_write(change: &Change, grant: Grant) -> Self {
        let reason = match &change.target {
            ChangeTarget::Memory(target) => {
                format!("Changes of {} need approval.", target.label().to_lowercase())
            }
            ChangeTarget::Skill { name, .. } => {
                format!("Changes of the skill {name:?} need approval.")
            }
        };
        Self { reasons: vec![reason], grants: vec![grant], ..Self::default() }
    }
}

/// Returns what the model is told of a call that was denied or held, or that needs approval and was
/// not asked about; `None` if it may run.
///
/// A denial holds although what would need approval was allowed later, for the session.
pub(crate) fn refusal(ruling: Option<&Ruling>, need: Option<&Need>) -> Option<String> {
    let reason = match (ruling, need) {
        (Some(Ruling::Allowed), _) | (None, None) => return None,
        (None, Some(need)) if need.is_granted => return None,
        (Some(Ruling::Held), _) => return Some(HELD.to_owned()),
        (Some(Ruling::Denied(reason)), _) => reason,
        (None, Some(_)) => UNASKED,
    };
    let why = need.map(|need| need.reasons.join(" ") + " ").unwrap_or_default();
    Some(format!("Not run. {why}Approval was denied: {reason}. {NO_OTHER_WAY}"))
}

/// Returns what is dangerous in the command that `argument` is; `None` if nothing is.
fn in_command(spec: &ToolSpec, call: &Call, argument: &str, origin: OriginKind) -> Option<Need> {
    let value = call.arguments.parse().ok()?.get(argument).filter(|it| !it.is_null())?;
    let Some(command) = command(value) else {
        let reasons = vec![format!("The {argument:?} of {:?} cannot be judged.", spec.name)];
        return Some(Need { reasons, is_every_time: true, ..Need::default() });
    };
    let dangers = dangerous(&command);
    let mut classes: Vec<DangerClass> = dangers.iter().map(|it| it.class).collect();
    classes.sort_unstable();
    classes.dedup();
    let grant = |class: &DangerClass| Grant {
        tool: Arc::clone(&spec.name),
        origin,
        class: Some(class.id().to_owned()),
    };
    let is_critical = |class: &DangerClass| class.severity() == Severity::Critical;
    let need = Need {
        reasons: classes.iter().map(|it| it.reason().to_owned()).collect(),
        grants: classes.iter().filter(|it| !is_critical(it)).map(grant).collect(),
        is_every_time: classes.iter().any(is_critical),
        command: Some(command),
        dangers,
        ..Need::default()
    };
    (!classes.is_empty()).then_some(need)
}

/// Returns the command that an argument is: a text, or the words of one.
fn command(value: &Value) -> Option<String> {
    if let Some(words) = value.as_array() {
        let quoted = |word: &str| format!("'{}'", word.replace('\'', "'\\''"));
        let words: Option<Vec<String>> =
            words.iter().map(|word| word.as_str().map(quoted)).collect();
        return words.map(|it| it.join(" "));
    }
    value.as_str().map(str::to_owned)
}

/// Returns an id that no other request has.
pub(super) fn new_id() -> Arc<str> {
    format!("approval-{:016x}", random()).into()
}

/// Says that every call of the tool needs approval.
pub(super) fn always(tool: &str) -> String {
    format!("Every call of {tool:?} needs approval.")
}
