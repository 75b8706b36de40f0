//! The turns of a conversation: how they begin, begin again and end, and what is settled between them.

use std::{collections::VecDeque, sync::Arc};

use super::{
    Shared,
    shared::{LastTurn, Live},
};
use crate::{
    agent::{Conversation, Finish, has_result, interrupted, settled},
    message::{Call, CallId, CallResult, Message, MessageId, Part, Role},
};

/// What the model is told of an answer that was broken off.
const AGAIN: &str = "Your answer was broken off. Give it once more, from its beginning.";

impl Live {
    /// Gives the calls that are open in `conversation` the results they have in the turn that was broken
    /// off, which is over then, and otherwise those that `lost` says.
    pub(super) fn settle(&mut self, conversation: &Conversation, lost: fn(CallId) -> CallResult) {
        let broken = self.state.turn.take();
        let has_result = |call: &Call| broken.as_ref().is_some_and(|it| has_result(it, &call.id));
        let open = conversation.open().into_iter().filter(|call| !has_result(call));
        self.interrupted.extend(open.map(|call| (self.state.turns, call)));
        conversation.settle(|call| match &broken {
            Some(turn) => settled(turn, call),
            None => lost(call),
        });
    }
}

impl Shared {
    /// Returns the number of the latest turn, and the last message before it.
    pub(crate) fn turn(&self) -> (u64, MessageId) {
        let live = self.live();
        (live.state.turns, live.state.turn_start)
    }

    /// Starts the next turn with the message that `input` makes of what was sent before it. A turn
    /// that was broken off is settled.
    pub(crate) fn begin_turn(
        &self,
        by: Option<Arc<str>>,
        input: impl FnOnce(Vec<String>) -> Message,
    ) {
        let mut live = self.live();
        live.settle(&self.conversation, interrupted);
        live.last = LastTurn { by, ..LastTurn::default() };
        live.state.turns = live.state.turns.saturating_add(1);
        live.state.turn_start = self.conversation.last_id();
        let message = input(live.steered.drain(..).collect());
        self.conversation.push(message);
    }

    /// Returns whether the last turn brought no answer, or failed after its answer.
    pub(super) fn may_retry(&self) -> bool {
        self.conversation.lacks_answer() || self.live().last.has_failed
    }

    /// Starts the last turn again and returns on whose behalf it is. An answer that was broken off
    /// stays where it is, and is asked for once more.
    pub(crate) fn begin_again(&self) -> Option<Arc<str>> {
        let by = {
            let mut live = self.live();
            // A conversation that was adopted may begin with a turn that this process did not.
            live.state.turns = live.state.turns.max(1);
            live.last.by.clone()
        };
        if !self.conversation.lacks_answer() {
            return by;
        }
        let again = self.conversation.has_part_of_answer();
        let again = again.then(|| Part::Context(AGAIN.to_owned()));
        let steered = self.take_steered();
        let steered = (!steered.is_empty()).then(|| Part::Text(steered.join("\n\n")));
        let parts: Vec<Part> = again.into_iter().chain(steered).collect();
        if !parts.is_empty() {
            self.conversation.push(Message::new(Role::User, parts));
        }
        by
    }

    /// Notes whether the turn that has begun has failed, which it counts as until it has come to its end.
    pub(crate) fn note_failed(&self, has_failed: bool) {
        let mut live = self.live();
        live.last.has_failed = has_failed;
    }

    /// Notes that the turn under way, or the one that was continued, is over, and how it ended if it
    /// came to its end.
    pub(crate) fn end_turn(&self, finish: Option<&Finish>) {
        let mut live = self.live();
        live.state.turn = None;
        live.last.finish = finish.cloned();
    }

    /// Returns how the last turn ended, if it came to its end in this process.
    pub(crate) fn finish(&self) -> Option<Finish> {
        self.live().last.finish.clone()
    }

    /// Settles a turn that was lost; calls that nobody knows more of get the results that `lost` says.
    pub(crate) fn settle(&self, lost: fn(CallId) -> CallResult) {
        self.live().settle(&self.conversation, lost);
    }

    /// Returns the calls that were interrupted, with their turn, since the last call.
    pub(crate) fn take_interrupted(&self) -> VecDeque<(u64, Call)> {
        std::mem::take(&mut self.live().interrupted)
    }

    /// Notes calls that were interrupted, with their turn.
    pub(crate) fn note_interrupted(&self, calls: VecDeque<(u64, Call)>) {
        self.live().interrupted.extend(calls);
    }
}
