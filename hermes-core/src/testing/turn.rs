//! A finished turn without an agent.

use crate::{
    agent::{Finish, FinishedTurn},
    message::Usage,
    store::{Counts, SessionId},
};

/// Returns the first turn of a conversation, answered with `text` after one request, without calls,
/// tools and changes. Set its fields as a test needs them.
///
/// # Examples
///
/// A review policy, asked without an agent:
///
/// ```
/// use hermes_core::testing::finished_turn;
///
/// let mut turn = finished_turn("done");
/// turn.counts.turns_since_memory = 10;
///
/// assert!(turn.is_completed());
/// ```
pub fn finished_turn(text: impl Into<String>) -> FinishedTurn {
    FinishedTurn {
        session: SessionId::new("finished"),
        turn: 1,
        text: text.into(),
        finish: Finish::Answered,
        requests: 1,
        tool_rounds: 0,
        calls: 0,
        changes: Vec::new(),
        usage: Usage::default(),
        cost: None,
        counts: Counts::default(),
        tools: Vec::new(),
        review: None,
    }
}
