//! The `memory` tool.

pub(crate) mod args;
mod mark;
pub(crate) mod reply;

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use hermes_core::{
    change::{Change, ChangeAction, ChangeTarget},
    memory::{MemoryBackend, MemoryChange, MemoryCommit, MemoryEdit, MemoryError, Target},
    origin::OriginKind,
    pending::{PendingStore, no_place, no_place_warning},
    review::{Proposal, Verdict},
    serde_json::{Value, json},
    store::SessionId,
    threat::{DefaultScanner, Scanner},
    tool::{Tool, ToolContext, ToolError, ToolOutput, ToolSpec},
    version::{Expected, Version, diff},
};

use self::{
    args::Request,
    reply::{Counts, Live, Refusal},
};
use crate::{
    extension::Targets,
    file::format,
    pending::{self, Wish},
};

/// The name under which the model calls the tool.
pub(crate) const NAME: &str = "memory";
/// How long a cancelled turn waits for a change that has begun: longer than a store waits for a lock.
const CANCEL_GRACE: Duration = Duration::from_secs(15);
/// The reason if a policy has a verdict that this crate does not know.
const NOT_APPROVED: &str = "The change was not approved.";
/// What a host calls so that held changes have a place.
const SETTING: &str = "`hermes_memory::Memory::pending`";

/// The tool with which a model changes its memory: `memory`.
///
/// It takes one edit (`action`, `content`, `old_text`) or several at once (`operations`), for the
/// list `target`, and answers with a JSON object that has the keys of hermes-agent (`success`,
/// `error`, `usage`, `current_entries`, …) and a `kind`. Whatever it is passed, it answers: wrong
/// types are named together with what is allowed, and common other names for the two texts are
/// understood.
///
/// - A call that changed the list carries one [`Change`]; one that found its content there already
///   succeeds, carries none and says so.
/// - After three failed attempts in one turn the answer tells the model to stop; the next turn, or a
///   success, starts the count again. Conversations and the reviews of them count apart.
/// - What nobody asked for (an [automatic](hermes_core::origin::Origin::is_automatic) origin) may replace and remove only
///   on the version it has [seen](hermes_core::tool::Seen): the one in its prompt, or the one that
///   a later answer showed. Otherwise it is shown the list and may try again. It may always add, for
///   that overwrites nothing. A change that the user asked for carries its evidence in the quoted
///   passage.
/// - An answer that shows the list withholds an entry that [`Memory::scanner`](crate::Memory::scanner)
///   blocks, as the prompt does: what was found stands in its place, and a handle that the model may
///   pass as `old_text` to remove it. Such a list does not count as seen.
/// - A change that has begun is made and reported although the turn is cancelled meanwhile.
/// - A change that the policy [holds](Verdict::Hold) is checked as if it was to be made. One that the
///   user asked for is put to the agent's approver, if there is one; any other, and one about which the
///   approver says so, waits for a person where [`Memory::pending`](crate::Memory::pending) has it; the answer says so, and
///   the call carries a held [`Change`]. Where there is no such place it is rejected.
///
/// [`Memory`](crate::Memory) brings it together with the section of the prompt that shows the lists.
pub struct MemoryTool {
    backend: Arc<dyn MemoryBackend>,
    targets: Targets,
    pending: Option<Arc<dyn PendingStore>>,
    scanner: Arc<dyn Scanner>,
    failures: Failures,
}

impl MemoryTool {
    /// Creates the tool for both lists of `backend`, with nowhere for changes to wait.
    pub fn new(backend: impl MemoryBackend + 'static) -> Self {
        Self::of(Arc::new(backend), Targets::default(), None)
    }

    pub(crate) fn of(
        backend: Arc<dyn MemoryBackend>,
        targets: Targets,
        pending: Option<Arc<dyn PendingStore>>,
    ) -> Self {
        let scanner = Arc::new(DefaultScanner);
        Self { backend, targets, pending, scanner, failures: Failures::default() }
    }

    /// Sets what judges entries before they stand in an answer.
    pub(crate) fn judging(mut self, scanner: Arc<dyn Scanner>) -> Self {
        self.scanner = scanner;
        self
    }

    async fn run(
        &self,
        mut request: Request,
        arguments: &Value,
        context: &ToolContext,
    ) -> Result<ToolOutput, Refusal> {
        self.resolve(&mut request).await;
        let Request { target, ref edits, .. } = request;
        let proposal = Proposal::Memory { target, edits: edits.clone() };
        let is_held = match context.judge(proposal) {
            Verdict::Apply => false,
            Verdict::Hold => true,
            Verdict::Reject(reason) => return Err(Refusal::turned_down(&reason)),
            _ => return Err(Refusal::turned_down(NOT_APPROVED)),
        };
        let Some(expected) = expected(&request, context) else { return Err(Refusal::conflict()) };
        let change = MemoryChange::new(target, edits.clone(), context.origin().clone());
        let change = change.expecting(expected);
        if is_held {
            return self.hold(&request, arguments, change, context).await;
        }
        self.make(&request, change, context).await
    }

    async fn make(
        &self,
        request: &Request,
        change: MemoryChange,
        context: &ToolContext,
    ) -> Result<ToolOutput, Refusal> {
        let target = request.target;
        let commit = self.backend.commit(change).await;
        let commit = commit.map_err(|err| self.refusal(err, request))?;
        note(&commit, target, context);
        let output = reply::done(request, &commit);
        Ok(match change_of(&commit, target) {
            Some(change) => output.with_change(change),
            None => output,
        })
    }

    /// Puts a change to a person, if it could be made: asks one who is there, or keeps it for later.
    async fn hold(
        &self,
        request: &Request,
        arguments: &Value,
        change: MemoryChange,
        context: &ToolContext,
    ) -> Result<ToolOutput, Refusal> {
        let commit = self.backend.preview(&change).await;
        let commit = commit.map_err(|err| self.refusal(err, request))?;
        if let Some(commit) = commit.as_ref().filter(|it| it.before == it.after) {
            return Ok(reply::done(request, commit));
        }
        let shown = proposed(request.target, commit.as_ref());
        match context.ask(NAME, arguments, shown).await {
            Verdict::Apply => {
                let base = commit.map_or(change.expected, |it| Expected::Is(it.before.version));
                self.make(request, change.expecting(base), context).await
            }
            Verdict::Hold => self.keep(request, change, commit, context).await,
            Verdict::Reject(reason) => Err(Refusal::turned_down(&reason)),
            _ => Err(Refusal::turned_down(NOT_APPROVED)),
        }
    }

    /// Keeps a change for a person.
    async fn keep(
        &self,
        request: &Request,
        change: MemoryChange,
        commit: Option<MemoryCommit>,
        context: &ToolContext,
    ) -> Result<ToolOutput, Refusal> {
        let Some(store) = &self.pending else {
            let reason = no_place(SETTING);
            context.warn(no_place_warning("A change of memory", SETTING));
            return Err(Refusal::turned_down(&reason));
        };
        let wish = Wish { form: request.form, change, commit: commit.as_ref() };
        let held = store.hold(pending::draft(wish)).await;
        let held = held.map_err(|err| Refusal::of_pending(&err))?;
        let target = request.target;
        let change = proposed(target, commit.as_ref());
        Ok(reply::held(target, &held).with_change(change.held(held.id.as_str())))
    }

    /// Puts entries in the place of the handles by which `request` names them.
    async fn resolve(&self, request: &mut Request) {
        if !request.edits.iter().any(mark::names_one) {
            return;
        }
        if let Ok(read) = self.backend.read(request.target).await {
            request.edits.iter_mut().for_each(|it| mark::resolve(it, &read.value.entries));
        }
    }

    fn refusal(&self, err: MemoryError, request: &Request) -> Refusal {
        Refusal::of_error(mark::in_error(err, request.target, &*self.scanner), request)
    }

    /// Answers a call that went wrong, with the list where that helps.
    async fn refuse(
        &self,
        refusal: Refusal,
        target: Option<Target>,
        context: &ToolContext,
    ) -> ToolOutput {
        if refusal.counts == Counts::Yes {
            let failures = self.failures.count(context);
            if Failures::ALLOWED < failures {
                return reply::give_up(failures);
            }
        }
        let live = match target {
            Some(target) if refusal.wants_list() => self.live(target, context).await,
            _ => None,
        };
        refusal.output(live)
    }

    /// Reads the list for an answer that shows it. Only a list that is shown whole counts as seen.
    async fn live(&self, target: Target, context: &ToolContext) -> Option<Live> {
        let read = self.backend.read(target).await.ok()?;
        let (mut entries, fill) = (read.value.entries, read.value.fill);
        let mut note = None;
        for entry in &mut entries {
            if let Some(mark) = mark::of(entry, target, &*self.scanner) {
                *entry = mark;
                note = Some(mark::note(context.origin()));
            }
        }
        if note.is_none() {
            context.seen().note(seen_name(target), read.version);
        }
        Some(Live { entries, fill, note })
    }
}

#[async_trait]
impl Tool for MemoryTool {
    fn spec(&self) -> ToolSpec {
        ToolSpec::new(NAME, include_str!("../prompts/tool.md").trim_end())
            .with_parameters(parameters(self.targets))
            .with_cancel_grace(CANCEL_GRACE)
    }

    async fn call(&self, arguments: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let request = match args::read(&arguments, self.targets) {
            Ok(request) => request,
            Err(mistake) => {
                let refusal = Refusal::of_mistake(&mistake);
                return Ok(self.refuse(refusal, mistake.target, context).await);
            }
        };
        let target = request.target;
        match self.run(request, &arguments, context).await {
            Ok(output) => {
                self.failures.reset(context);
                Ok(output)
            }
            Err(refusal) => Ok(self.refuse(refusal, Some(target), context).await),
        }
    }
}

impl fmt::Debug for MemoryTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryTool").field("backend", &self.backend).finish_non_exhaustive()
    }
}

/// Returns the name of a list in the record of what a conversation has [seen].
///
/// [seen]: hermes_core::tool::Seen
pub(crate) fn seen_name(target: Target) -> String {
    format!("memory:{}", target.as_str())
}

/// Returns the version that the list must have, or `None` if the change needs one that the
/// conversation has not seen.
fn expected(request: &Request, context: &ToolContext) -> Option<Expected> {
    let only_adds = request.edits.iter().all(|edit| matches!(edit, MemoryEdit::Add { .. }));
    if only_adds || !context.origin().is_automatic() {
        return Some(Expected::Any);
    }
    context.seen().version(&seen_name(request.target)).map(Expected::Is)
}

/// Notes the new version as seen, if the conversation had seen the one it was made from.
fn note(commit: &MemoryCommit, target: Target, context: &ToolContext) {
    let name = seen_name(target);
    if context.seen().version(&name) == Some(commit.before.version) {
        context.seen().note(name, commit.after.version);
    }
}

fn change_of(commit: &MemoryCommit, target: Target) -> Option<Change> {
    commit.revision.as_ref().map(|_| change_between(commit, target))
}

/// Returns the change that would be made, as far as the store could tell.
fn proposed(target: Target, commit: Option<&MemoryCommit>) -> Change {
    match commit {
        Some(commit) => change_between(commit, target),
        None => Change::applied(ChangeTarget::Memory(target), ChangeAction::Update),
    }
}

/// Returns the change from the list before to the list after.
pub(crate) fn change_between(commit: &MemoryCommit, target: Target) -> Change {
    let [before, after] = [&commit.before, &commit.after];
    let is_new = before.version == Version::of("");
    let action = if is_new { ChangeAction::Create } else { ChangeAction::Update };
    let text = |entries: &[String]| match format::join(entries) {
        text if text.is_empty() => text,
        text => text + "\n",
    };
    let diff = diff(&text(&before.value), &text(&after.value));
    let before = (!is_new).then_some(before.version);
    let change = Change::applied(ChangeTarget::Memory(target), action);
    change.with_versions(before, Some(after.version), diff)
}

fn parameters(targets: Targets) -> Value {
    let names: Vec<&str> = targets.iter().map(Target::as_str).collect();
    let action = json!({
        "type": ["string", "null"],
        "enum": ["add", "replace", "remove"],
        "description": "What to do. Leave it out when you pass operations.",
    });
    let content = json!({
        "type": ["string", "null"],
        "description": "The text of the entry, for add and replace.",
    });
    let old_text = json!({
        "type": ["string", "null"],
        "description": "For replace and remove: a short passage of the entry, letter for letter, \
                        that is in no other entry.",
    });
    json!({
        "type": "object",
        "properties": {
            "target": {
                "type": ["string", "null"],
                "enum": names,
                "description": "memory: notes on the surroundings, the default. user: who the user is.",
            },
            "action": action,
            "content": content,
            "old_text": old_text,
            "operations": {
                "type": ["array", "null"],
                "description": "Several edits in order, all or none of which happen; the limit is \
                                judged at the end.",
                "items": {
                    "type": "object",
                    "properties": {
                        "action": {"type": "string", "enum": ["add", "replace", "remove"]},
                        "content": content,
                        "old_text": old_text,
                    },
                    "required": ["action"],
                },
            },
        },
    })
}

/// How many attempts have failed in the current turn of each conversation.
#[derive(Debug, Default)]
struct Failures(Mutex<HashMap<Run, (u64, u32)>>);

/// A conversation, or a review or other run beside it.
type Run = (SessionId, OriginKind, Option<Arc<str>>);

impl Failures {
    /// Failed attempts in one turn that are answered with advice.
    const ALLOWED: u32 = 3;
    /// Runs of which the count is kept.
    const RUNS: usize = 1_000;

    /// Counts one more and returns how many there were in this turn.
    fn count(&self, context: &ToolContext) -> u32 {
        let mut runs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if Self::RUNS <= runs.len() {
            runs.clear();
        }
        let (turn, failures) = runs.entry(run(context)).or_default();
        if *turn != context.turn() {
            (*turn, *failures) = (context.turn(), 0);
        }
        *failures = failures.saturating_add(1);
        *failures
    }

    fn reset(&self, context: &ToolContext) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&run(context));
    }
}

fn run(context: &ToolContext) -> Run {
    let origin = context.origin();
    (context.session().clone(), origin.kind, origin.review.clone())
}

#[cfg(test)]
mod tests;
