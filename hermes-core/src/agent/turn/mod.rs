//! The decisions of a turn: a pure machine between a model and its tools.
//!
//! [`Turn::next_step`] says what to do, a driver does it and tells [`Turn::apply`] what came of it.
//! The machine waits for nothing and touches nothing, its whole state is serialisable, and a turn
//! that is stored between two steps goes on with the same next step in another process.

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use super::Finish;
use crate::{
    approval::Ruling,
    compress::CompressCause,
    cost::Cost,
    message::{CallId, CallResult, Message, StopReason, Usage},
};

/// One turn of a conversation, from the user's message to the answer.
///
/// # Examples
///
/// ```
/// use hermes_core::{agent::{Finish, Limits, Outcome, Step, Turn}, message::{Message, StopReason}};
///
/// let mut turn = Turn::new(Limits::default());
/// assert_eq!(turn.next_step(), Step::CallModel);
///
/// let answer = Message::assistant("done").with_stop(StopReason::EndTurn);
/// turn.apply(&Outcome::Replied(&answer));
/// assert_eq!(turn.next_step(), Step::Deliver);
///
/// turn.apply(&Outcome::NothingToAppend);
/// assert_eq!(turn.next_step(), Step::Finish(Finish::Answered));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    version: u16,
    limits: Limits,
    phase: Phase,
    requests: u32,
    tool_rounds: u32,
    tokens: u64,
    #[serde(default)]
    cost: Cost,
    empty_replies: u32,
    continuations: u32,
    in_grace: bool,
    /// Whether the budget is spent that the turn shares with others.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_exhausted: bool,
    /// How often room was made for the next request, for each cause.
    #[serde(default)]
    compressions: Compressions,
    /// What was decided about calls of the last reply that needed approval.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    rulings: Vec<(CallId, Ruling)>,
    /// How far the calls of the last reply have come.
    #[serde(default, skip_serializing_if = "Round::is_new")]
    round: Round,
}

/// How far the calls of a reply have come, for a process that takes over.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Round {
    finished: Vec<CallResult>,
    started: Vec<CallId>,
}

impl Round {
    fn is_new(&self) -> bool {
        self.finished.is_empty() && self.started.is_empty()
    }
}

/// How often room was made since the last reply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Compressions {
    ahead: u32,
    overflow: u32,
}

/// How far a turn may go. Its sub-agents draw on its tokens and money, and have requests of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Limits {
    /// The most model requests. 90 by default, as in hermes-agent. The last one that a turn of
    /// several has left is the grace request, in which the model can only sum up.
    pub requests: u32,
    /// The most tokens, input and output together, before the grace request. `None`, the default,
    /// for no limit. Where an endpoint reports none they are estimated, of which the host is warned.
    pub tokens: Option<u64>,
    /// The most money, before the grace request. `None`, the default, for no limit. What has no known
    /// price counts as nothing, of which the host is warned.
    pub cost: Option<Cost>,
    /// How often an answer that was cut at the limit of output tokens is continued. 3 by default.
    pub continuations: u32,
}

impl Limits {
    /// Returns the same limits with so many model requests.
    #[must_use]
    pub fn requests(mut self, requests: u32) -> Self {
        self.requests = requests;
        self
    }

    /// Returns the same limits with so many tokens.
    #[must_use]
    pub fn tokens(mut self, tokens: u64) -> Self {
        self.tokens = Some(tokens);
        self
    }

    /// Returns the same limits with so much money.
    #[must_use]
    pub fn cost(mut self, cost: Cost) -> Self {
        self.cost = Some(cost);
        self
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self { requests: 90, tokens: None, cost: None, continuations: 3 }
    }
}

/// What to do next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Step {
    /// Make the conversation shorter.
    Compress(CompressCause),
    /// Ask the model.
    CallModel,
    /// Ask whether these calls of the last assistant message may run, at least the first of them.
    AwaitApproval(Vec<CallId>),
    /// Run the calls of the last assistant message and append their results.
    RunTools(Vec<CallId>),
    /// Append what was sent while the turn ran, if anything was and the model
    /// [can still be asked](Turn::may_deliver).
    Deliver,
    /// Append a request to go on where the answer was cut, then ask again.
    Continue,
    /// Append a request to sum up, and ask the model a last time.
    Grace,
    /// The turn is over.
    Finish(Finish),
}

/// What came of a step.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Outcome<'a> {
    /// The next request must be made shorter first. Only where [`Turn::may_compress`] says so.
    TooLong(CompressCause),
    /// The conversation is shorter now; the summary took so much.
    Compressed(Usage),
    /// The conversation stays as it is.
    NotCompressed,
    /// The model replied, and the reply is in the history.
    Replied(&'a Message),
    /// These of the calls that are to run next need approval. Told before they run, if at all.
    ApprovalNeeded(&'a [CallId]),
    /// This was decided about calls that need approval. What is not among them is asked about next.
    Decided(&'a [(CallId, Ruling)]),
    /// Some of the calls are about to run and others have their results.
    CallsStarted {
        /// The calls that are about to run.
        started: &'a [CallId],
        /// The results there are beside those that were told of before, which are not in the history
        /// yet.
        finished: &'a [CallResult],
    },
    /// Every call has its result in the history.
    ToolsRan,
    /// A tool ended the turn; every call has its result.
    ToolEndedTurn(&'a str),
    /// A hook stopped the turn, before a request or after calls that have their results.
    Stopped(&'a str),
    /// What was to be appended is in the history.
    Appended,
    /// There was nothing to append.
    NothingToAppend,
    /// The turn was cancelled and its history is settled.
    Cancelled,
    /// The model could not be asked.
    Failed(&'a str),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Phase {
    Model,
    Compress(CompressCause),
    Tools(Vec<CallId>),
    /// Before the calls run: all of them, and those that still need a decision.
    Approval {
        calls: Vec<CallId>,
        open: Vec<CallId>,
    },
    /// Before the next request, or before the end that is named.
    Deliver(Option<Finish>),
    Continue,
    Grace,
    Over(Finish),
}

impl Turn {
    const VERSION: u16 = 1;
    /// How often a reply with neither text nor calls is asked for again.
    const EMPTY_RETRIES: u32 = 1;
    /// How often a request is made shorter because the endpoint refused it.
    const OVERFLOWS: u32 = 2;

    /// Starts a turn whose user message is the last of the history.
    pub fn new(limits: Limits) -> Self {
        Self {
            version: Self::VERSION,
            limits,
            phase: Phase::Model,
            requests: 0,
            tool_rounds: 0,
            tokens: 0,
            cost: Cost::ZERO,
            empty_replies: 0,
            continuations: 0,
            in_grace: false,
            is_exhausted: false,
            rulings: Vec::new(),
            compressions: Compressions::default(),
            round: Round::default(),
        }
    }

    /// Starts a turn at `answer`, which an earlier attempt brought and which is in the history; at the
    /// end of that attempt, if it had come to one.
    pub(crate) fn from_answer(limits: Limits, answer: &Message, finish: Option<Finish>) -> Self {
        let mut turn = Self::new(limits);
        match finish {
            None | Some(Finish::Answered) => turn.apply(&Outcome::Replied(answer)),
            Some(finish) => turn.phase = Phase::Over(finish),
        }
        Self { requests: 0, tokens: 0, ..turn }
    }

    /// Returns how the turn ended, `None` if it has not or could not be brought to its end.
    pub(crate) fn finish(&self) -> Option<&Finish> {
        match &self.phase {
            Phase::Over(Finish::Failed(_)) => None,
            Phase::Over(finish) => Some(finish),
            _ => None,
        }
    }

    /// Returns what to do next. The same state gives the same step.
    pub fn next_step(&self) -> Step {
        match &self.phase {
            Phase::Model => Step::CallModel,
            Phase::Compress(cause) => Step::Compress(*cause),
            Phase::Tools(calls) => Step::RunTools(calls.clone()),
            Phase::Approval { open, .. } => Step::AwaitApproval(open.clone()),
            Phase::Deliver(_) => Step::Deliver,
            Phase::Continue => Step::Continue,
            Phase::Grace => Step::Grace,
            Phase::Over(finish) => Step::Finish(finish.clone()),
        }
    }

    /// Takes note of what came of the step. After the end it changes nothing.
    pub fn apply(&mut self, outcome: &Outcome<'_>) {
        if matches!(self.phase, Phase::Over(_)) {
            return;
        }
        self.phase = match outcome {
            Outcome::TooLong(cause) => self.before_compression(*cause),
            Outcome::Compressed(usage) => {
                self.tokens = self.tokens.saturating_add(usage.total());
                Phase::Model
            }
            Outcome::NotCompressed => Phase::Model,
            Outcome::Replied(message) => self.after_reply(message),
            Outcome::ApprovalNeeded(calls) => self.before_approval(calls),
            Outcome::Decided(rulings) => self.after_decisions(rulings),
            Outcome::CallsStarted { started, finished } => {
                self.round.finished.extend_from_slice(finished);
                self.round.started = started.to_vec();
                return;
            }
            Outcome::ToolsRan => {
                self.rulings.clear();
                self.round = Round::default();
                self.tool_rounds = self.tool_rounds.saturating_add(1);
                Phase::Deliver(None)
            }
            Outcome::ToolEndedTurn(reason) => {
                self.rulings.clear();
                self.round = Round::default();
                self.tool_rounds = self.tool_rounds.saturating_add(1);
                Phase::Over(Finish::EndedByTool((*reason).to_owned()))
            }
            Outcome::Stopped(reason) => Phase::Over(Finish::Stopped((*reason).to_owned())),
            Outcome::Appended => self.after_append(),
            Outcome::NothingToAppend => self.after_nothing(),
            Outcome::Cancelled => {
                // The request under way was made, though it brought no reply.
                let asked = u32::from(matches!(self.phase, Phase::Model));
                self.requests = self.requests.saturating_add(asked);
                Phase::Over(Finish::Cancelled)
            }
            Outcome::Failed(reason) => Phase::Over(Finish::Failed((*reason).to_owned())),
        };
    }

    /// Returns whether the next request is the last and must not offer to call tools.
    pub fn is_in_grace(&self) -> bool {
        self.in_grace
    }

    /// Returns whether the next request may be made shorter for `cause`: once ahead of it, and twice
    /// more after the endpoint refused it.
    pub fn may_compress(&self, cause: CompressCause) -> bool {
        match cause {
            CompressCause::Threshold => self.compressions.ahead == 0,
            CompressCause::Overflow => self.compressions.overflow < Self::OVERFLOWS,
        }
    }

    /// Returns whether what was sent while the turn ran is to be appended now. It is not once the model
    /// has answered and no request but that to sum up is left: the turn then ends as answered, and what
    /// was sent waits for the next.
    pub fn may_deliver(&self) -> bool {
        match &self.phase {
            Phase::Deliver(Some(_)) => matches!(self.within_limits(), Phase::Model),
            _ => true,
        }
    }

    /// Returns the result that `call` of the round under way has, if it is not in the history yet.
    pub fn finished(&self, call: &CallId) -> Option<&CallResult> {
        self.round.finished.iter().find(|result| result.call == *call)
    }

    /// Returns how many results of the round under way are known and not in the history yet.
    pub(super) fn finished_count(&self) -> usize {
        self.round.finished.len()
    }

    /// Returns whether `call` of the round under way had started when the turn was stored.
    pub fn has_started(&self, call: &CallId) -> bool {
        self.round.started.contains(call)
    }

    /// Returns the model requests made so far.
    pub fn requests(&self) -> u32 {
        self.requests
    }

    /// Returns the rounds in which tools ran so far.
    pub fn tool_rounds(&self) -> u32 {
        self.tool_rounds
    }

    /// Returns what was decided about calls of the last reply that needed approval.
    pub fn rulings(&self) -> &[(CallId, Ruling)] {
        &self.rulings
    }

    /// Returns whether money is limited.
    pub fn has_cost_limit(&self) -> bool {
        self.limits.cost.is_some()
    }

    /// Returns whether tokens are limited.
    pub fn has_token_limit(&self) -> bool {
        self.limits.tokens.is_some()
    }

    /// Takes note of tokens beside those that outcomes tell of: of a reply whose usage was not reported,
    /// or of a summary that came to nothing.
    pub fn add_tokens(&mut self, tokens: u64) {
        self.tokens = self.tokens.saturating_add(tokens);
    }

    /// Takes note of what a request cost, before its outcome is applied.
    pub fn spend(&mut self, cost: Cost) {
        self.cost += cost;
    }

    /// Takes note that a budget is spent that the turn shares with others: the next request is the
    /// grace request. A turn that has made none is over.
    pub fn exhaust(&mut self) {
        self.is_exhausted = true;
        if self.requests == 0 && self.phase == Phase::Model {
            self.phase = Phase::Over(Finish::OutOfRounds);
        }
    }

    /// Returns the tokens used so far.
    pub fn tokens(&self) -> u64 {
        self.tokens
    }

    fn before_compression(&mut self, cause: CompressCause) -> Phase {
        let count = match cause {
            CompressCause::Threshold => &mut self.compressions.ahead,
            CompressCause::Overflow => &mut self.compressions.overflow,
        };
        *count = count.saturating_add(1);
        Phase::Compress(cause)
    }

    fn after_reply(&mut self, message: &Message) -> Phase {
        self.compressions = Compressions::default();
        self.requests = self.requests.saturating_add(1);
        let used = message.usage.unwrap_or_default().total();
        self.tokens = self.tokens.saturating_add(used);
        let calls: Vec<CallId> = message.calls().map(|call| call.id.clone()).collect();
        if self.in_grace {
            return Phase::Over(Finish::OutOfRounds);
        }
        match message.stop {
            // What a refusing model began to call is not run.
            Some(StopReason::Refusal) => Phase::Over(Finish::Refused),
            _ if !calls.is_empty() => Phase::Tools(calls),
            // There is nothing to go on from: all it was given went into reasoning.
            Some(StopReason::Length) if message.is_blank() => Phase::Over(Finish::Length),
            Some(StopReason::Length) => self.after_cut(),
            _ if message.is_blank() => self.after_empty(),
            _ => Phase::Deliver(Some(Finish::Answered)),
        }
    }

    fn before_approval(&mut self, needing: &[CallId]) -> Phase {
        match &self.phase {
            Phase::Tools(calls) => {
                let open = calls.iter().filter(|it| needing.contains(it)).cloned().collect();
                asking(calls.clone(), open)
            }
            other => other.clone(),
        }
    }

    fn after_decisions(&mut self, decided: &[(CallId, Ruling)]) -> Phase {
        let Phase::Approval { calls, open } = &self.phase else { return self.phase.clone() };
        let (calls, mut open) = (calls.clone(), open.clone());
        for (call, ruling) in decided {
            let before = open.len();
            open.retain(|it| it != call);
            if open.len() < before {
                self.rulings.push((call.clone(), ruling.clone()));
            }
        }
        asking(calls, open)
    }

    fn after_append(&mut self) -> Phase {
        if matches!(self.phase, Phase::Grace) {
            self.in_grace = true;
            return Phase::Model;
        }
        match (&self.phase, self.within_limits()) {
            (Phase::Deliver(Some(finish)), Phase::Over(_)) => Phase::Over(finish.clone()),
            (_, next) => next,
        }
    }

    fn after_nothing(&self) -> Phase {
        match &self.phase {
            Phase::Deliver(Some(finish)) => Phase::Over(finish.clone()),
            _ => self.within_limits(),
        }
    }

    fn after_cut(&mut self) -> Phase {
        if self.limits.continuations <= self.continuations || self.is_spent() {
            return Phase::Over(Finish::Length);
        }
        self.continuations = self.continuations.saturating_add(1);
        Phase::Continue
    }

    fn after_empty(&mut self) -> Phase {
        if Self::EMPTY_RETRIES <= self.empty_replies || self.is_spent() {
            return Phase::Over(Finish::Empty);
        }
        self.empty_replies = self.empty_replies.saturating_add(1);
        Phase::Model
    }

    fn within_limits(&self) -> Phase {
        if self.limits.requests <= self.requests {
            return Phase::Over(Finish::OutOfRounds);
        }
        let is_last = self.limits.requests <= self.requests.saturating_add(1);
        if is_last || self.is_budget_spent() { Phase::Grace } else { Phase::Model }
    }

    fn is_spent(&self) -> bool {
        self.limits.requests <= self.requests || self.is_budget_spent()
    }

    fn is_budget_spent(&self) -> bool {
        self.is_exhausted
            || self.limits.tokens.is_some_and(|limit| limit <= self.tokens)
            || self.limits.cost.is_some_and(|limit| limit <= self.cost)
    }
}

/// Returns the phase in which `open` of the `calls` still need a decision.
fn asking(calls: Vec<CallId>, open: Vec<CallId>) -> Phase {
    if open.is_empty() { Phase::Tools(calls) } else { Phase::Approval { calls, open } }
}
