//! One round of calls: runs those of the last reply and appends their results.
//!
//! Before calls that must not run twice, the session is stored with their names and with the results
//! there are. A process that takes over a broken round runs nothing a second time that was started.

use std::{collections::VecDeque, sync::PoisonError};

use super::{
    AgentError, AgentEvent, Outcome, Turn,
    dispatch::{Dispatched, End, kept_back},
    run::Run,
};
use crate::{
    message::{Call, CallId, CallResult, CallStatus, Message, StopReason},
    tool::ToolOutput,
};

/// What the result of a call says that was under way when the process ended.
pub(crate) const INTERRUPTED: &str = "Interrupted: the program ended before this call had a result. It may have had an effect; check before you repeat it.";
/// What the result of a call says that was under way when its turn was lost.
const LOST: &str = "The turn broke off before this call had a result. It may have had an effect; check before you repeat it.";
/// What the results of calls say that were open when the turn broke off.
const SETTLED: &str = "Cancelled: the turn ended before this call had a result.";
/// What the results of calls say that cannot be recorded.
const NOT_STORED: &str = "Not run: the conversation could not be stored.";

impl Run {
    pub(super) async fn run_tools(&mut self) -> Result<(), AgentError> {
        let history = self.conversation.history();
        let Some(reply) = history.last().cloned() else { return Ok(()) };
        let is_cut = reply.stop == Some(StopReason::Length);
        let (mut done, lost, left) = self.left(reply.calls());
        drop(reply);
        done.history = Some(history);
        let round = self.round.insert(done);
        round.end = self.dispatch.interrupted(&lost).await;
        let kept = self.run_groups(left, is_cut).await;
        // The history must be unshared again before it grows.
        let done = self.take_round();
        self.note(&done);
        self.conversation.push(Message::results(done.results()));
        kept?;
        self.after(&done);
        Ok(())
    }

    async fn run_groups(
        &mut self,
        mut left: VecDeque<Call>,
        is_cut: bool,
    ) -> Result<(), AgentError> {
        while !left.is_empty() {
            let group = self.dispatch.next_group(&mut left);
            let kept = self.mark_started(&group).await;
            let done = self.round.get_or_insert_default();
            if kept.is_err() {
                let all = group.into_iter().chain(left.drain(..));
                let all = all.map(|call| (call, ToolOutput::failed(NOT_STORED)));
                self.dispatch.not_run(all, done).await;
                return kept;
            }
            let is_cut = is_cut && left.is_empty();
            done.running = group.iter().map(|call| call.id.clone()).collect();
            self.dispatch.run_group(group, is_cut, self.turn.rulings(), done).await;
            done.running.clear();
        }
        Ok(())
    }

    /// Returns what came of the round under way, without the history.
    fn take_round(&mut self) -> Dispatched {
        let mut done = self.round.take().unwrap_or_default();
        done.history = None;
        done
    }

    /// Gives the calls that have no result in the history their results: those they had before the turn
    /// broke off, and otherwise one that says what became of them. It is told of as of any call.
    pub(super) async fn settle(&mut self, open: Vec<Call>) {
        let is_begun = self.round.is_some();
        let mut done = self.take_round();
        let (mut lost, mut not_run, mut results) = (Vec::new(), Vec::new(), Vec::new());
        for call in open {
            let id = &call.id;
            let kept_back = kept_back(id, self.turn.rulings());
            let result = match (done.output(id), self.turn.finished(id), kept_back) {
                (Some(output), ..) => CallResult::new(id.clone(), output.status, &output.content),
                (None, Some(finished), _) => finished.clone(),
                (None, None, Some(output)) => {
                    not_run.push((call.clone(), output.clone()));
                    CallResult::new(call.id, output.status, output.content)
                }
                _ if done.running.contains(id) => {
                    let result = broken_off(id.clone());
                    lost.push((call, result.clone()));
                    result
                }
                // That it had started is what an earlier process says.
                _ if !is_begun && self.turn.has_started(id) => {
                    let result = interrupted(id.clone());
                    lost.push((call, result.clone()));
                    result
                }
                _ => {
                    let result = CallResult::new(id.clone(), CallStatus::Cancelled, SETTLED);
                    not_run.push((call, ToolOutput::of(&result)));
                    result
                }
            };
            results.push(result);
        }
        self.conversation.push(Message::results(results));
        self.dispatch.audit(&mut done).await;
        self.note(&done);
        self.dispatch.interrupted(&lost).await;
        self.count(lost.len().saturating_add(not_run.len()));
        self.dispatch.not_run(not_run.into_iter(), &mut Dispatched::default()).await;
    }

    /// Returns what an earlier process knows of `calls`, those that were under way when it ended, and
    /// those that are still to run.
    fn left<'a>(
        &self,
        calls: impl Iterator<Item = &'a Call>,
    ) -> (Dispatched, Vec<(Call, CallResult)>, VecDeque<Call>) {
        let mut done = Dispatched::default();
        let (mut lost, mut left) = (Vec::new(), VecDeque::new());
        for call in calls {
            let is_known = self.turn.finished(&call.id).is_some();
            if !is_known && !self.turn.has_started(&call.id) {
                left.push_back(call.clone());
                continue;
            }
            let result = settled(&self.turn, call.id.clone());
            done.push(call.clone(), ToolOutput::of(&result));
            // What was held or denied did not start, though others beside it did.
            if !has_result(&self.turn, &call.id) {
                lost.push((call.clone(), result));
            }
        }
        done.mark_recorded();
        (done, lost, left)
    }

    /// Stores that `group` is about to run, if something of it must not run twice.
    async fn mark_started(&mut self, group: &[Call]) -> Result<(), AgentError> {
        let done = self.round.get_or_insert_default();
        let is_safe = group.iter().all(|call| self.dispatch.may_repeat(call));
        if is_safe || done.end.is_some() || !self.keep.is_stored() {
            return Ok(());
        }
        let started: Vec<CallId> = group.iter().map(|call| call.id.clone()).collect();
        // Those that are known come first, as groups run in the order of the calls.
        let finished: Vec<CallResult> = done.results().skip(self.turn.finished_count()).collect();
        self.turn.apply(&Outcome::CallsStarted { started: &started, finished: &finished });
        Ok(self.keep.save(&self.conversation, &self.turn, self.spending).await?)
    }

    fn after(&mut self, done: &Dispatched) {
        if self.dispatch.scope.token.is_cancelled() {
            self.turn.apply(&Outcome::ToolsRan);
            self.turn.apply(&Outcome::Cancelled);
            return;
        }
        match &done.end {
            Some(End::Tool(reason)) => self.turn.apply(&Outcome::ToolEndedTurn(reason)),
            Some(End::Hook(reason) | End::Audit(reason)) => {
                self.turn.apply(&Outcome::ToolsRan);
                self.turn.apply(&Outcome::Stopped(reason));
            }
            None => self.turn.apply(&Outcome::ToolsRan),
        }
    }

    fn note(&mut self, done: &Dispatched) {
        self.count(done.outputs.len());
        let changes = done.outputs.iter().flat_map(|(_, output)| &output.changes);
        for change in changes {
            self.dispatch.events.send(|| AgentEvent::Changed(change.clone()));
            self.record.lock().unwrap_or_else(PoisonError::into_inner).push(change.clone());
        }
    }

    /// Counts calls that have results.
    fn count(&mut self, calls: usize) {
        let calls = u32::try_from(calls).unwrap_or(u32::MAX);
        self.calls = self.calls.saturating_add(calls);
    }
}

/// Returns the result of a call that has none, as far as `turn` knows, which was broken off.
pub(crate) fn settled(turn: &Turn, call: CallId) -> CallResult {
    if let Some(result) = turn.finished(&call) {
        return result.clone();
    }
    match kept_back(&call, turn.rulings()) {
        Some(output) => CallResult::new(call, output.status, output.content),
        None => interrupted(call),
    }
}

/// Returns whether `turn`, which was broken off, knows the result of `call`.
pub(crate) fn has_result(turn: &Turn, call: &CallId) -> bool {
    turn.finished(call).is_some() || kept_back(call, turn.rulings()).is_some()
}

/// Returns the result of a call that was under way when its turn was lost.
pub(crate) fn broken_off(call: CallId) -> CallResult {
    CallResult::new(call, CallStatus::Cancelled, LOST)
}

/// Returns the result of a call that was under way when the process ended.
pub(crate) fn interrupted(call: CallId) -> CallResult {
    CallResult::new(call, CallStatus::Cancelled, INTERRUPTED)
}
