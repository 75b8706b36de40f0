//! What surrounds the run of a turn: its beginning, its result, and the review it may start.

use std::{panic::AssertUnwindSafe, sync::Arc};

use futures::FutureExt;
use tokio::sync::{mpsc::UnboundedSender, oneshot};
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use super::{
    AgentError, AgentEvent, Finish, FinishedTurn, Outcome, ReviewHandle, Turn, TurnInput,
    budget::Purse,
    child::{Parent, SessionFork, Source, last_text},
    dispatch::{Allowed, Dispatch, Events},
    hook::{HookPoints, TurnEnded},
    keep::Keep,
    room::Compression,
    round::broken_off,
    run::Run,
    tasks::ReviewTicket,
    trace,
};
use crate::{
    approval::WriteDesk,
    change::{Change, ChangeTarget},
    cost::Spending,
    fork::Fork,
    message::{Message, MessageId, Part, Role},
    origin::Origin,
    provider::Request,
    review::{Gate, ReviewOutcome, ReviewReport, ReviewTask},
    session::Shared,
    store::Counts,
    tool::{Extensions, Progress, TurnScope, Warnings},
};

/// How a turn starts.
#[derive(Debug)]
pub(crate) enum Start {
    /// With a message of the user.
    Message(TurnInput),
    /// Again, where an earlier attempt brought no answer.
    Retry(Extensions),
    /// Where an earlier process broke off.
    Continue(Box<Turn>, Extensions),
}

/// What the host attached to a turn.
#[derive(Clone, Debug)]
pub(crate) struct Attached {
    pub(crate) extensions: Extensions,
    /// On whose behalf it is.
    pub(crate) by: Option<Arc<str>>,
}

/// Runs one turn of a session and sends its result. This is the future that a [`super::Reply`] waits
/// for.
pub(crate) async fn run_turn(
    shared: Arc<Shared>,
    begin: Start,
    events: UnboundedSender<AgentEvent>,
    token: CancellationToken,
    result: oneshot::Sender<Result<FinishedTurn, AgentError>>,
) {
    let span = trace::turn_span(&shared.id, &shared.recipe.model);
    let is_new = matches!(begin, Start::Message(_));
    let before = shared.turn().0.saturating_sub(u64::from(!is_new));
    let turn = AssertUnwindSafe(one_turn(&shared, begin, events, token)).catch_unwind();
    let turn = turn.instrument(span.clone()).await;
    shared.count_taken();
    if turn.is_err() {
        settle_lost(&shared, before).await;
    }
    let mut outcome = turn.unwrap_or(Err(AgentError::Lost));
    if outcome.is_ok() {
        shared.note_failed(false);
    }
    trace::ended(&span, shared.taken().usage, outcome.as_ref().err());
    if shared.recipe.hooks.listen(HookPoints::TURN_ENDED) {
        outcome = Box::pin(told(&shared, before, outcome)).await;
    }
    shared.end();
    // The host may have dropped the reply, which is no error.
    let _ = result.send(outcome);
}

/// Settles the turn after the one numbered `before`, if it had begun when something of the host's
/// panicked.
async fn settle_lost(shared: &Shared, before: u64) {
    if shared.turn().0 <= before {
        return;
    }
    shared.settle(broken_off);
    let nobody = Events::default();
    let recorded = AssertUnwindSafe(record_interrupted(shared, &nobody));
    if recorded.catch_unwind().await.is_err() {
        tracing::warn!("calls of a turn that was lost could not be recorded");
    }
    let kept = shared.save(&shared.conversation, None, Spending::default());
    if AssertUnwindSafe(kept).catch_unwind().await.is_err() {
        tracing::warn!("a turn that was lost could not be stored");
    }
}

/// Records the calls that were interrupted in earlier turns or an earlier process; from the first on that
/// cannot be recorded it is tried again with the next turn. Returns the reason if they had to be recorded
/// and were not.
async fn record_interrupted(shared: &Shared, events: &Events) -> Option<String> {
    let mut calls = shared.take_interrupted();
    let audit = shared.recipe.audit.as_ref()?;
    while let Some((turn, call)) = calls.front() {
        let mut scope = TurnScope::new(shared.id.clone());
        scope.turn = *turn;
        if let Err(lost) = audit.interrupted(&scope, std::iter::once(call), events).await {
            shared.note_interrupted(calls);
            return lost.end;
        }
        calls.pop_front();
    }
    None
}

/// Tells the hooks how the turn after the one numbered `before` ended, and gives it back.
async fn told(
    shared: &Shared,
    before: u64,
    outcome: Result<FinishedTurn, AgentError>,
) -> Result<FinishedTurn, AgentError> {
    let (number, _) = shared.turn();
    let turn = (before < number).then_some(number);
    let (session, spending) = (&shared.id, shared.taken());
    let event = TurnEnded { session, turn, outcome: outcome.as_ref(), spending };
    shared.recipe.hooks.turn_ended(&event).await;
    outcome
}

async fn one_turn(
    shared: &Arc<Shared>,
    begin: Start,
    events: UnboundedSender<AgentEvent>,
    token: CancellationToken,
) -> Result<FinishedTurn, AgentError> {
    shared.lock().await?;
    let (template, warnings) = shared.template().await;
    shared.unheard.warn_all(&Events::to(events.clone()), warnings);
    let (turn, attached) = match begin {
        Start::Message(input) => {
            let limits = shared.limits().ok_or(AgentError::OutOfBudget)?;
            let (by, parts) = (input.by, input.parts);
            shared
                .begin_turn(by.clone(), |early| Message::new(Role::User, with_early(early, parts)));
            (Turn::new(limits), Attached { extensions: input.extensions, by })
        }
        Start::Retry(extensions) => {
            let turn = turn_again(shared)?;
            (turn, Attached { extensions, by: shared.begin_again() })
        }
        Start::Continue(turn, extensions) => (*turn, Attached { extensions, by: None }),
    };
    shared.note_failed(true);
    let (number, start) = shared.turn();
    let purse = shared.purse();
    let scope = scope(shared, &template, &purse, (attached.clone(), events.clone(), token));
    let mut run = new_run(shared, template, scope, events);
    run.turn = turn;
    run.purse = purse;
    if let Some(reason) = record_interrupted(shared, &run.dispatch.events).await {
        run.turn.apply(&Outcome::Stopped(&reason));
    }
    run.keep.save(&run.conversation, &run.turn, run.spending).await?;
    // Not before: only now it is sure that the conversation of this name is this one.
    shared.unheard.tell(&run.dispatch.events);
    shared.recipe.unheard.tell(&run.dispatch.events);
    let driven = run.drive().await;
    shared.end_turn(run.turn.finish());
    shared.count_taken();
    let finished = finished(shared, &run, number, start, driven.as_ref().ok());
    // The review comes before the last save, so that a consumed count is stored as consumed.
    let finished = match driven {
        Ok(_) => with_review(shared, &run, finished, attached),
        Err(err) => {
            shared.save(&run.conversation, None, Spending::default()).await.ok();
            return Err(err);
        }
    };
    shared.save(&run.conversation, None, Spending::default()).await?;
    Ok(finished)
}

/// Returns the last turn from its beginning, or from its answer if only what came after that failed.
fn turn_again(shared: &Shared) -> Result<Turn, AgentError> {
    let limits = shared.limits();
    match shared.conversation.answer() {
        Some(answer) => {
            let limits = limits.unwrap_or(shared.recipe.limits);
            Ok(Turn::from_answer(limits, &answer, shared.finish()))
        }
        None => Ok(Turn::new(limits.ok_or(AgentError::OutOfBudget)?)),
    }
}

/// Puts what was sent between two turns before what the next one begins with.
fn with_early(early: Vec<String>, parts: Vec<Part>) -> Vec<Part> {
    let early = early.into_iter().map(|text| Part::Text(format!("{text}\n\n")));
    early.chain(parts).collect()
}

pub(super) fn scope(
    shared: &Arc<Shared>,
    template: &Request,
    purse: &Purse,
    (attached, events, token): (Attached, UnboundedSender<AgentEvent>, CancellationToken),
) -> TurnScope {
    let recipe = &shared.recipe;
    let (number, _) = shared.turn();
    let parent = Parent {
        recipe: Arc::clone(recipe),
        template: template.clone(),
        conversation: Source::Live(shared.conversation.clone()),
        session: shared.id.clone(),
        turn: number,
        attached: attached.clone(),
        seen: shared.seen.clone(),
        desk: shared.desk(),
        tally: shared.tally.clone(),
        purse: purse.clone(),
        unheard: shared.unheard.clone(),
        token: token.clone(),
        events: Events::to(events.clone()).of_fork(),
        depth: 0,
    };
    let mut scope = TurnScope::new(shared.id.clone());
    scope.turn = number;
    scope.origin = Origin { by: attached.by, ..Origin::user() };
    scope.token = token;
    scope.extensions = attached.extensions;
    scope.fork = (0 < recipe.max_depth).then(|| Arc::new(SessionFork(parent)) as Arc<dyn Fork>);
    scope.clock = Arc::clone(&recipe.clock);
    let desk = WriteDesk::new(shared.desk(), Events::to(events.clone()), recipe.audit.clone());
    scope.gate = Gate::of(recipe.policy.clone(), Some(desk));
    scope.seen = shared.seen.clone();
    scope.warnings = Warnings::new(Events::to(events.clone()), shared.unheard.clone());
    scope.progress = Progress::to(events);
    scope
}

fn new_run(
    shared: &Arc<Shared>,
    template: Request,
    scope: TurnScope,
    events: UnboundedSender<AgentEvent>,
) -> Run {
    let recipe = &shared.recipe;
    Run {
        provider: Arc::clone(&recipe.provider),
        template,
        first_choice: recipe.tool_choice.clone(),
        conversation: shared.conversation.clone(),
        turn: Turn::new(recipe.limits),
        dispatch: dispatch(shared, scope, Events::to(events)),
        keep: Keep::Session(Arc::clone(shared)),
        record: Arc::default(),
        spending: Spending::default(),
        purse: Purse::default(),
        pricing: recipe.pricing.clone(),
        calls: 0,
        round: None,
        compression: recipe
            .compressor
            .clone()
            .map(|it| Compression::new(it, shared.compress_state())),
    }
}

/// Returns what runs the calls of the conversation itself.
pub(super) fn dispatch(shared: &Shared, scope: TurnScope, events: Events) -> Dispatch {
    let recipe = &shared.recipe;
    Dispatch {
        registry: recipe.registry.clone(),
        allowed: Allowed::All,
        scope: Arc::new(scope),
        hooks: recipe.hooks.clone(),
        events,
        desk: shared.desk(),
        max_result_chars: recipe.max_result_chars,
        max_round_chars: recipe.max_round_chars,
        max_parallel_calls: recipe.max_parallel_calls,
        traces_content: recipe.traces_content,
        spill: recipe.spill.clone(),
        max_repeats: recipe.max_repeats,
        hints: recipe.hints.clone(),
        audit: recipe.audit.clone(),
    }
}

/// Puts the finished turn together and brings the counts up to date.
fn finished(
    shared: &Arc<Shared>,
    run: &Run,
    number: u64,
    start: MessageId,
    finish: Option<&Finish>,
) -> FinishedTurn {
    let history = run.conversation.history();
    let changes = run.record.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone();
    let counts = shared.count_turn(|counts, is_counted| {
        count(counts, u32::from(!is_counted), run.turn.tool_rounds(), &changes);
    });
    FinishedTurn {
        session: shared.id.clone(),
        turn: number,
        text: last_text(since(&history, start)),
        finish: finish.cloned().unwrap_or(Finish::Failed(String::new())),
        requests: run.turn.requests(),
        tool_rounds: run.turn.tool_rounds(),
        calls: run.calls,
        changes,
        usage: run.spending.usage,
        cost: run.spending.known_cost(),
        counts,
        tools: run.dispatch.registry.names().map(Arc::from).collect(),
        review: None,
    }
}

/// Returns the messages after the one called `id`.
fn since(history: &[Message], id: MessageId) -> &[Message] {
    let start = history.partition_point(|message| message.id <= id);
    history.get(start..).unwrap_or_default()
}

/// Counts so many turns and rounds. A write of memory or skills starts its count again.
fn count(counts: &mut Counts, turns: u32, tool_rounds: u32, changes: &[Change]) {
    let wrote_memory = changes.iter().any(|it| matches!(it.target, ChangeTarget::Memory(_)));
    let wrote_skill = changes.iter().any(|it| matches!(it.target, ChangeTarget::Skill { .. }));
    counts.turns_since_memory =
        if wrote_memory { 0 } else { counts.turns_since_memory.saturating_add(turns) };
    counts.rounds_since_skills =
        if wrote_skill { 0 } else { counts.rounds_since_skills.saturating_add(tool_rounds) };
}

/// Starts the review that is due after a completed turn, if one is and none is under way.
fn with_review(
    shared: &Arc<Shared>,
    run: &Run,
    mut finished: FinishedTurn,
    attached: Attached,
) -> FinishedTurn {
    let Some(policy) = &shared.recipe.policy else { return finished };
    if !finished.is_completed() || shared.is_in_review() {
        return finished;
    }
    let asked = std::panic::catch_unwind(AssertUnwindSafe(|| policy.after_turn(&finished)));
    let task = asked.unwrap_or_else(|_| {
        let warning = "the review policy crashed, so there is no review".to_owned();
        run.dispatch.scope.warnings.send(warning);
        None
    });
    let Some(task) = task else { return finished };
    let template = run.template.clone();
    let Some((review, counts)) = spawn_review(shared, task, template, attached) else {
        return finished;
    };
    finished.counts = counts;
    finished.review = Some(review);
    finished
}

/// Starts a review of the conversation as it stands.
pub(crate) async fn start_review(
    shared: &Arc<Shared>,
    task: ReviewTask,
    extensions: Extensions,
) -> Result<ReviewHandle, AgentError> {
    if tokio::runtime::Handle::try_current().is_err() {
        return Err(AgentError::NoRuntime);
    }
    let (template, warnings) = shared.template().await;
    shared.unheard.warn_all(&Events::default(), warnings);
    let attached = Attached { extensions, by: None };
    let started = spawn_review(shared, task, template, attached);
    started.map(|(review, _)| review).ok_or(AgentError::Closed)
}

/// Spawns a review and consumes the counts it was due at. Returns `None` if the agent takes no more.
fn spawn_review(
    shared: &Arc<Shared>,
    task: ReviewTask,
    template: Request,
    attached: Attached,
) -> Option<(ReviewHandle, Counts)> {
    let recipe = &shared.recipe;
    let scope = task.scope;
    let token = recipe.tasks.child_token();
    let id: Arc<str> = Arc::from(format!("review-{:016x}", super::random()));
    let (ticket, handle) = ReviewTicket::open(id, scope, token.clone());
    let fork = SessionFork(Parent {
        recipe: Arc::clone(recipe),
        template,
        conversation: Source::Snapshot(shared.conversation.history()),
        session: shared.id.clone(),
        turn: shared.turn().0,
        attached,
        seen: shared.seen.detach(),
        desk: shared.desk(),
        tally: shared.tally.clone(),
        purse: Purse::default(),
        unheard: shared.unheard.clone(),
        token,
        events: Events::default(),
        depth: recipe.max_depth,
    });
    let reports = recipe.reports.clone();
    let audit = recipe.audit.clone().map(|it| (it, shared.id.clone(), shared.turn().0));
    let spawned = recipe.tasks.spawn(async move {
        let report = Arc::new(reviewed(task, &ticket, Arc::new(fork)).await);
        if let Some((audit, session, turn)) = audit {
            audit.review(session, turn, &report).await;
        }
        reports.push(Arc::clone(&report));
        ticket.close(report);
    });
    if !spawned {
        return None;
    }
    let counts = shared.update_counts(|counts| {
        if scope.has_memory() {
            counts.turns_since_memory = 0;
        }
        if scope.has_skills() {
            counts.rounds_since_skills = 0;
        }
    });
    shared.set_review(handle.clone());
    Some((handle, counts))
}

/// Runs the review. A crash of it is a failed report, not the end of the process.
async fn reviewed(task: ReviewTask, ticket: &ReviewTicket, fork: Arc<dyn Fork>) -> ReviewReport {
    let review = AssertUnwindSafe(task.review.run(&ticket.id, ticket.scope, fork)).catch_unwind();
    review.await.unwrap_or_else(|_| {
        let mut report = ReviewReport::new(&*ticket.id, ticket.scope);
        report.outcome = ReviewOutcome::Failed("the review crashed".to_owned());
        report
    })
}
