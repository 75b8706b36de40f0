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
/// What the results of calls say that cannot be recorded.
const NOT_STORED: &str = "Not run: the conversation could not be stored.";

impl Run {
    pub(super) async fn run_tools(&mut self) -> Result<(), AgentError> {
        let history = self.conversation.history();
        let Some(reply) = history.last().cloned() else { return Ok(()) };
        let is_cut = reply.stop == Some(StopReason::Length);
        let mut done = Dispatched { history: Some(history), ..Dispatched::default() };
        let (lost, mut left) = self.left(reply.calls(), &mut done);
        drop(reply);
        self.dispatch.interrupted(&lost, &mut done).await;
        let mut kept = Ok(());
        while !left.is_empty() {
            let group = self.dispatch.next_group(&mut left);
            kept = self.mark_started(&group, &done).await;
            if kept.is_err() {
                let all = group.into_iter().chain(left.drain(..));
                let all = all.map(|call| (call, ToolOutput::failed(NOT_STORED)));
                self.dispatch.not_run(all, &mut done).await;
                break;
            }
            let is_cut = is_cut && left.is_empty();
            self.dispatch.run_group(group, is_cut, self.turn.rulings(), &mut done).await;
        }
        self.note(&done);
        // The history must be unshared again before it grows.
        done.history = None;
        self.conversation.push(Message::results(done.results()));
        kept?;
        self.after(&done);
        Ok(())
    }

    /// Returns the calls that were under way when an earlier process ended, and those that are still to
    /// run. Results of the former and of that process go to `done`.
    fn left<'a>(
        &self,
        calls: impl Iterator<Item = &'a Call>,
        done: &mut Dispatched,
    ) -> (Vec<Call>, VecDeque<Call>) {
        let (mut lost, mut left) = (Vec::new(), VecDeque::new());
        for call in calls {
            let is_known = self.turn.finished(&call.id).is_some();
            if !is_known && !self.turn.has_started(&call.id) {
                left.push_back(call.clone());
                continue;
            }
            // What was held or denied did not start, though others beside it did.
            if !has_result(&self.turn, &call.id) {
                lost.push(call.clone());
            }
            done.push(call.clone(), ToolOutput::of(&settled(&self.turn, call.id.clone())));
        }
        (lost, left)
    }

    /// Stores that `group` is about to run, if something of it must not run twice.
    async fn mark_started(&mut self, group: &[Call], done: &Dispatched) -> Result<(), AgentError> {
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
        let count = u32::try_from(done.outputs.len()).unwrap_or(u32::MAX);
        self.calls = self.calls.saturating_add(count);
        let changes = done.outputs.iter().flat_map(|(_, output)| &output.changes);
        for change in changes {
            self.dispatch.events.send(|| AgentEvent::Changed(change.clone()));
            self.record.lock().unwrap_or_else(PoisonError::into_inner).push(change.clone());
        }
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

/// Returns the result of a call that was under way when the process ended.
pub(crate) fn interrupted(call: CallId) -> CallResult {
    CallResult::new(call, CallStatus::Cancelled, INTERRUPTED)
}
