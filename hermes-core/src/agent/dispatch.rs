//! Runs the calls of one reply and gives each exactly one output, whatever happens.

use std::{
    collections::VecDeque,
    panic::AssertUnwindSafe,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use futures::{FutureExt, StreamExt, future::join_all, stream::FuturesUnordered};
use tokio::sync::mpsc::UnboundedSender;
use tracing::{Instrument, Span};

use super::{
    AgentEvent,
    event::describe,
    hook::{Before, Hooks},
    repeat::Past,
    trace,
};
use crate::{
    approval::{Desk, Need, Ruling, refusal},
    audit::Auditor,
    context::ResultHint,
    message::{Call, CallId, CallResult, CallStatus, History},
    tool::{
        ResultSpill, Tool, ToolContext, ToolError, ToolOutput, ToolRegistry, ToolSpec, TurnScope,
    },
};

/// What the calls of a conversation may reach.
#[derive(Clone, Debug)]
pub(crate) struct Dispatch {
    pub(crate) registry: ToolRegistry,
    pub(crate) allowed: Allowed,
    pub(crate) scope: Arc<TurnScope>,
    pub(crate) hooks: Hooks,
    pub(crate) events: Events,
    pub(crate) desk: Desk,
    pub(crate) max_result_chars: usize,
    /// How many characters the results of one reply may have together.
    pub(crate) max_round_chars: usize,
    /// How many calls run at the same time.
    pub(crate) max_parallel_calls: usize,
    pub(crate) traces_content: bool,
    /// Where results over that go, if anywhere.
    pub(crate) spill: Option<Arc<dyn ResultSpill>>,
    /// How often in a row the same call may fail; 0 for any number.
    pub(crate) max_repeats: u32,
    /// What is added to results, if anything is.
    pub(crate) hints: Option<Arc<dyn ResultHint>>,
    pub(crate) audit: Option<Arc<Auditor>>,
}

/// Which of the tools on offer a run may call.
#[derive(Clone, Debug)]
pub(crate) enum Allowed {
    All,
    Only(Vec<Arc<str>>),
}

impl Allowed {
    fn permits(&self, name: &str) -> bool {
        match self {
            Self::All => true,
            Self::Only(names) => names.iter().any(|it| &**it == name),
        }
    }
}

/// Where events go; nowhere by default.
#[derive(Clone, Debug, Default)]
pub(crate) struct Events {
    sender: Option<UnboundedSender<AgentEvent>>,
    /// Whether they are those of a fork, of which the host hears what it may have to act on.
    is_forks: bool,
}

impl Events {
    /// Sends everything to `sender`.
    pub(crate) fn to(sender: UnboundedSender<AgentEvent>) -> Self {
        Self { sender: Some(sender), is_forks: false }
    }

    /// Returns where the events of a fork go that runs while these are heard.
    pub(crate) fn of_fork(&self) -> Self {
        Self { is_forks: true, ..self.clone() }
    }

    /// Returns whether anybody listens.
    pub(crate) fn are_heard(&self) -> bool {
        self.sender.as_ref().is_some_and(|sender| !sender.is_closed())
    }

    /// Sends the event that `make` returns, if anybody listens.
    pub(crate) fn send(&self, make: impl FnOnce() -> AgentEvent) {
        if let Some(sender) = &self.sender
            && !sender.is_closed()
            && let Some(event) = if self.is_forks { passed_on(make()) } else { Some(make()) }
        {
            // The host may stop listening at any time, which is no error.
            let _ = sender.send(event);
        }
    }

    /// Sends a warning.
    ///
    /// # Errors
    ///
    /// The warning, as it would have been told, if nobody listens.
    pub(super) fn warn(&self, warning: String) -> Result<(), String> {
        let warning = if self.is_forks { of_sub_agent(&warning) } else { warning };
        let Some(sender) = &self.sender else { return Err(warning) };
        sender.send(AgentEvent::Warning(warning.clone())).map_err(|_| warning)
    }
}

/// Returns what the host hears of an event of a fork.
fn passed_on(event: AgentEvent) -> Option<AgentEvent> {
    match event {
        AgentEvent::ApprovalAsked(_) | AgentEvent::CallHeld(_) => Some(event),
        AgentEvent::Warning(text) => Some(AgentEvent::Warning(of_sub_agent(&text))),
        _ => None,
    }
}

fn of_sub_agent(warning: &str) -> String {
    format!("In a sub-agent: {warning}")
}

/// What came of the calls of a reply, in the order of the calls.
#[derive(Debug, Default)]
pub(crate) struct Dispatched {
    pub(crate) outputs: Vec<(Call, ToolOutput)>,
    /// How many of them are recorded.
    recorded: usize,
    /// The calls that are running.
    pub(super) running: Vec<CallId>,
    /// The characters of all of them.
    pub(super) chars: usize,
    pub(crate) end: Option<End>,
    /// What was said before, the reply included. To be dropped before the history grows.
    pub(crate) history: Option<History>,
}

/// Who ended the turn at a call, and why.
#[derive(Debug)]
pub(crate) enum End {
    Tool(String),
    Hook(String),
    /// Because a call could not be recorded.
    Audit(String),
}

impl Dispatched {
    /// Returns the output that `call` has, if it has one.
    pub(super) fn output(&self, call: &CallId) -> Option<&ToolOutput> {
        self.outputs.iter().find(|(it, _)| it.id == *call).map(|(_, output)| output)
    }

    pub(crate) fn push(&mut self, call: Call, output: ToolOutput) {
        self.chars = self.chars.saturating_add(output.content.chars().count());
        self.outputs.push((call, output));
    }

    /// Takes what there is as recorded.
    pub(super) fn mark_recorded(&mut self) {
        self.recorded = self.outputs.len();
    }

    /// Returns the results for the history.
    pub(crate) fn results(&self) -> impl Iterator<Item = CallResult> {
        self.outputs
            .iter()
            .map(|(call, output)| CallResult::new(call.id.clone(), output.status, &output.content))
    }
}

/// In what condition a call is when its turn comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Condition {
    Whole,
    /// The reply was cut, and this was the last thing in it.
    MaybeCut,
    /// A call before it ended the turn.
    TurnEnded,
}

const CANCELLED: &str = "Cancelled before it ran.";
const CANCELLED_RUNNING: &str = "Cancelled while it ran; it may have had an effect.";
/// How many characters a result may have that comes after others which took up all the room.
const MIN_RESULT_CHARS: usize = 2_000;
const OUT_OF_TIME: &str = "The tool ran out of time; it may have had an effect.";
const CRASHED: &str = "The tool crashed; it may have had an effect.";
const ENDED: &str = "Not run: an earlier call ended the turn.";

impl Dispatch {
    /// Takes the calls that run next from `calls`: neighbours that are safe beside each other, or
    /// one.
    pub(crate) fn next_group(&self, calls: &mut VecDeque<Call>) -> Vec<Call> {
        let mut group: Vec<Call> = calls.pop_front().into_iter().collect();
        while self.is_parallel(group.first()) && self.is_parallel(calls.front()) {
            group.extend(calls.pop_front());
        }
        group
    }

    /// Runs the calls of `group`, as many at the same time as may be, and adds their outputs to `done`
    /// in the order of the calls. `is_cut` says
    /// that the last of them may be cut off; it is then not run unless it is whole.
    /// `rulings` are the decisions about those of the calls that needed approval.
    pub(crate) async fn run_group(
        &self,
        group: Vec<Call>,
        is_cut: bool,
        rulings: &[(CallId, Ruling)],
        done: &mut Dispatched,
    ) {
        let cut_at = is_cut.then(|| group.len().saturating_sub(1));
        let condition = |at| match (&done.end, cut_at) {
            (Some(_), _) => Condition::TurnEnded,
            (None, Some(cut)) if cut == at => Condition::MaybeCut,
            _ => Condition::Whole,
        };
        let is_over = AtomicBool::new(false);
        let past = Past::of(done, &self.registry);
        let one = |(at, call)| {
            let (condition, is_over) = (condition(at), &is_over);
            async move {
                // One that is not beside the others but waits for its turn may come after the end.
                let is_late = is_over.load(Ordering::Relaxed);
                let condition = if is_late { Condition::TurnEnded } else { condition };
                let (output, end) = self.one(call, condition, rulings, past).await;
                is_over.fetch_or(end.is_some(), Ordering::Relaxed);
                (output, end)
            }
        };
        let running = group.iter().enumerate().map(one).collect();
        let outputs = side_by_side(running, self.max_parallel_calls).await;
        for (call, (mut output, end)) in group.into_iter().zip(outputs) {
            done.end = done.end.take().or(end);
            let past = Past::of(done, &self.registry);
            let note = past.note(&call, &output, self.max_repeats);
            let left = self.max_round_chars.saturating_sub(done.chars);
            output = self.bounded(&call, output, left.max(MIN_RESULT_CHARS)).await;
            output.content.push_str(note.as_deref().unwrap_or_default());
            self.add_hint(&call, &mut output).await;
            self.events.send(|| {
                AgentEvent::CallFinished(CallResult::new(
                    call.id.clone(),
                    output.status,
                    &output.content,
                ))
            });
            done.push(call, output);
        }
        self.audit(done).await;
    }

    /// Returns whether running `call` a second time changes nothing; what cannot run counts so.
    pub(crate) fn may_repeat(&self, call: &Call) -> bool {
        self.registry.spec(&call.name).is_none_or(ToolSpec::may_run_again)
    }

    fn is_parallel(&self, call: Option<&Call>) -> bool {
        let spec = call.and_then(|call| self.registry.spec(&call.name));
        spec.is_some_and(ToolSpec::runs_in_parallel)
    }

    /// Tells of `calls` that have results without having run, and adds them to `done`.
    pub(crate) async fn not_run(
        &self,
        calls: impl Iterator<Item = (Call, ToolOutput)>,
        done: &mut Dispatched,
    ) {
        for (call, output) in calls {
            let result = CallResult::new(call.id.clone(), output.status, &output.content);
            self.events.send(|| AgentEvent::CallFinished(result));
            done.push(call, output);
        }
        self.audit(done).await;
    }

    /// Tells of `calls` that were interrupted and have these results. Returns why if the turn must end.
    pub(super) async fn interrupted(&self, calls: &[(Call, CallResult)]) -> Option<End> {
        for (_, result) in calls {
            self.events.send(|| AgentEvent::CallFinished(result.clone()));
        }
        let audit = self.audit.as_ref().filter(|_| !calls.is_empty())?;
        let calls = calls.iter().map(|(call, _)| call);
        let kept = audit.interrupted(&self.scope, calls, &self.events).await;
        kept.err().and_then(|it| it.end).map(End::Audit)
    }

    /// Records what came of the calls that are not recorded yet, and notes if the turn must end.
    pub(super) async fn audit(&self, done: &mut Dispatched) {
        let start = std::mem::replace(&mut done.recorded, done.outputs.len());
        let Some(audit) = &self.audit else { return };
        let calls = done.outputs.get(start..).unwrap_or_default();
        let end = audit.calls(&self.scope, calls, &self.events).await;
        done.end = done.end.take().or(end.map(End::Audit));
    }

    /// Returns the output of one call, and why if it ends the turn.
    async fn one(
        &self,
        call: &Call,
        condition: Condition,
        rulings: &[(CallId, Ruling)],
        past: Past<'_>,
    ) -> (ToolOutput, Option<End>) {
        if condition == Condition::TurnEnded {
            let kept_back = kept_back(&call.id, rulings);
            return (kept_back.unwrap_or_else(|| ToolOutput::rejected(ENDED)), None);
        }
        if self.scope.token.is_cancelled() {
            let kept_back = kept_back(&call.id, rulings);
            return (kept_back.unwrap_or_else(|| cancelled(CANCELLED)), None);
        }
        let checked = match past.refusal(call, self.max_repeats) {
            Some(reason) => Err(reason),
            None => self.checked(call, condition == Condition::MaybeCut),
        };
        let permitted = checked.and_then(|it| Ok((it, self.permitted(call, rulings)?)));
        let (output, end) = match permitted {
            Ok(((tool, arguments), need)) => self.hooked(&tool, call, arguments, need).await,
            Err(reason) => (ToolOutput::rejected(reason), None),
        };
        let (output, stop) = self.hooks.after_call(&self.scope, call, output).await;
        (self.bounded(call, output, self.max_result_chars).await, end.or(stop.map(End::Hook)))
    }

    /// Returns the tool and its arguments, or everything that is wrong with the call.
    pub(super) fn checked(
        &self,
        call: &Call,
        is_cut: bool,
    ) -> Result<(Arc<dyn Tool>, serde_json::Value), String> {
        let name = &*call.name;
        if self.registry.get(name).is_none() {
            return Err(self.registry.explain_unknown(name));
        }
        if let Allowed::Only(names) = &self.allowed
            && !self.allowed.permits(name)
        {
            return Err(format!(
                "{name:?} is not available here. Available: {}.",
                names.join(", ")
            ));
        }
        if is_cut && call.arguments.as_str().trim().is_empty() {
            return Err(cut_message(name));
        }
        let arguments = call.arguments.parse().map_err(|err| {
            if is_cut {
                return cut_message(name);
            }
            format!("The arguments of {name:?} are not valid JSON: {err}. The tool was not run.")
        })?;
        let tool = self.registry.checked(name, arguments)?;
        Ok((Arc::clone(tool), arguments.clone()))
    }

    /// Runs a call if the hooks let it. `need` is what it needs that was allowed for the session.
    async fn hooked(
        &self,
        tool: &Arc<dyn Tool>,
        call: &Call,
        arguments: serde_json::Value,
        need: Option<Need>,
    ) -> (ToolOutput, Option<End>) {
        let Some(spec) = self.registry.spec(&call.name) else {
            return (ToolOutput::rejected(self.registry.explain_unknown(&call.name)), None);
        };
        let about = (call, spec, &arguments);
        match self.hooks.before_call(&self.scope, about).await {
            Before::Run(Some(other)) if other != arguments => {
                self.replaced(tool, call, other).await
            }
            Before::Run(_) => {
                if let Some(need) = need
                    && let Err(reason) = Box::pin(self.note_grant(call, &need)).await
                {
                    return (ToolOutput::rejected(reason), None);
                }
                self.guarded(tool, call, arguments).await
            }
            Before::Answer(output) => (output, None),
            Before::Stop(reason) => {
                let output =
                    ToolOutput::rejected(format!("Not run: the turn was stopped: {reason}"));
                (output, Some(End::Hook(reason)))
            }
        }
    }

    /// Runs a call with the arguments that a hook gave it, if they fit.
    async fn replaced(
        &self,
        tool: &Arc<dyn Tool>,
        call: &Call,
        arguments: serde_json::Value,
    ) -> (ToolOutput, Option<End>) {
        let wrong = self.registry.check(&call.name, &arguments);
        if !wrong.is_empty() {
            let wrong = wrong.join(" ");
            let told =
                format!("Not run: its arguments were replaced by ones that do not fit. {wrong}");
            return (ToolOutput::failed(told), None);
        }
        let call = Call::new(call.id.clone(), Arc::clone(&call.name), arguments.clone());
        if let Some(audit) = &self.audit
            && let Err(reason) = audit.replaced(&self.scope, &call, &self.events).await
        {
            return (ToolOutput::rejected(format!("Not run: {reason}")), Some(End::Audit(reason)));
        }
        match self.permitted_anew(&call).await {
            Some(Ok(())) => self.guarded(tool, &call, arguments).await,
            Some(Err(reason)) => (ToolOutput::rejected(reason), None),
            None => (cancelled(CANCELLED), None),
        }
    }

    async fn guarded(
        &self,
        tool: &Arc<dyn Tool>,
        call: &Call,
        arguments: serde_json::Value,
    ) -> (ToolOutput, Option<End>) {
        self.events.send(|| AgentEvent::CallStarted(call.clone()));
        let span = trace::call_span(call, self.traces_content);
        let (output, end) = self.ran(tool, call, arguments, span.clone()).await;
        trace::returned(&span, &output, self.traces_content);
        (output, end)
    }

    async fn ran(
        &self,
        tool: &Arc<dyn Tool>,
        call: &Call,
        arguments: serde_json::Value,
        span: Span,
    ) -> (ToolOutput, Option<End>) {
        let context = ToolContext::new(Arc::clone(&self.scope), call.id.clone());
        let running =
            AssertUnwindSafe(tool.call(arguments, &context)).catch_unwind().instrument(span);
        let spec = self.registry.spec(&call.name);
        let (limit, grace) = spec.map_or((None, None), |spec| (spec.timeout, spec.cancel_grace));
        let bounded = async {
            match limit {
                Some(limit) => tokio::time::timeout(limit, running).await.ok(),
                None => Some(running.await),
            }
        };
        let given_up = async {
            self.scope.token.cancelled().await;
            if let Some(grace) = grace {
                tokio::time::sleep(grace).await;
            }
        };
        let ended = tokio::select! {
            biased;
            ended = bounded => ended.ok_or(OUT_OF_TIME),
            () = given_up => Err(CANCELLED_RUNNING),
        };
        let mut end = None;
        let output = match ended {
            Ok(Ok(Ok(output))) => return (output, None),
            Ok(Ok(Err(ToolError::EndTurn { reason }))) => {
                let output = ToolOutput::failed(format!("The turn was ended: {reason}"));
                end = Some(End::Tool(reason));
                output
            }
            Ok(Ok(Err(err))) => ToolOutput::failed(describe(&err)),
            Ok(Err(_)) => ToolOutput::failed(CRASHED),
            Err(CANCELLED_RUNNING) => cancelled(CANCELLED_RUNNING),
            Err(reason) => ToolOutput::failed(reason),
        };
        // What was changed before it went wrong is not lost from sight.
        (context.take_noted().into_iter().fold(output, ToolOutput::with_change), end)
    }
}

/// Waits for `all`, of which no more than `most` are under way at any time, and returns what they
/// brought in their own order.
async fn side_by_side<F: Future>(all: Vec<F>, most: usize) -> Vec<F::Output> {
    if all.len() <= most {
        return join_all(all).await;
    }
    let mut waiting =
        all.into_iter().enumerate().map(|(at, future)| async move { (at, future.await) });
    let mut running: FuturesUnordered<_> = waiting.by_ref().take(most.max(1)).collect();
    let mut ended = Vec::new();
    while let Some(one) = running.next().await {
        ended.push(one);
        running.extend(waiting.next());
    }
    ended.sort_unstable_by_key(|(at, _)| *at);
    ended.into_iter().map(|(_, output)| output).collect()
}

/// Returns the output of a call that was held or denied, if it was. It has no other, whatever became of
/// its turn: the model must not make a held call again.
pub(crate) fn kept_back(call: &CallId, rulings: &[(CallId, Ruling)]) -> Option<ToolOutput> {
    let ruling = rulings.iter().find(|(id, _)| id == call).map(|(_, ruling)| ruling)?;
    refusal(Some(ruling), None).map(ToolOutput::rejected)
}

fn cancelled(content: &str) -> ToolOutput {
    let mut output = ToolOutput::failed(content);
    output.status = CallStatus::Cancelled;
    output
}

fn cut_message(name: &str) -> String {
    format!(
        "The call of {name:?} was cut off before it was complete, and was not run. Make it shorter."
    )
}
