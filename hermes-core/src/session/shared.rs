//! What the handles of a session and its runs share.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::Notify;
use tokio_util::{
    sync::CancellationToken,
    task::{TaskTracker, task_tracker::TaskTrackerToken},
};

use crate::{
    agent::{AgentError, Conversation, Finish, Recipe, ReviewHandle, Tally, Unheard},
    approval::{Desk, Grants},
    compress::CompressState,
    cost::Spending,
    message::Call,
    store::{SessionId, SessionLock, SessionState},
    tool::Seen,
};

/// What the handles of a session and its runs share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) recipe: Arc<Recipe>,
    pub(crate) id: SessionId,
    pub(crate) conversation: Conversation,
    pub(crate) seen: Seen,
    pub(crate) tally: Tally,
    pub(crate) grants: Grants,
    /// What nobody has heard yet.
    pub(crate) unheard: Unheard,
    pub(super) live: Mutex<Live>,
    pub(super) idle: Notify,
    pub(super) held: HeldCalls,
}

/// The held calls that run, apart from any turn.
#[derive(Debug)]
pub(super) struct HeldCalls {
    /// Cancelled when the session is closed or the agent is shut down.
    pub(super) token: CancellationToken,
    pub(super) tracker: TaskTracker,
}

#[derive(Debug, Default)]
pub(super) struct Live {
    /// What is stored beside the messages; `system` and `tools` are set by the first turn.
    pub(super) state: SessionState,
    /// What the turn under way took so far, or the last one in all.
    pub(super) taken: Spending,
    /// Whether that is part of what the session took.
    pub(super) is_taken_counted: bool,
    /// The token of the turn under way.
    pub(super) running: Option<CancellationToken>,
    pub(super) steered: VecDeque<String>,
    pub(super) review: Option<ReviewHandle>,
    pub(super) lock: Option<SessionLock>,
    pub(super) last: LastTurn,
    /// Calls that were interrupted, with their turn, and are to be recorded as such.
    pub(super) interrupted: VecDeque<(u64, Call)>,
    pub(super) is_closed: bool,
}

/// What this process knows of the last turn that had begun.
#[derive(Debug, Default)]
pub(super) struct LastTurn {
    /// On whose behalf it was.
    pub(super) by: Option<Arc<str>>,
    pub(super) has_failed: bool,
    /// How it ended, also if it failed after that.
    pub(super) finish: Option<Finish>,
    /// Whether it is part of the counts.
    pub(super) is_counted: bool,
}

impl Shared {
    pub(super) fn live(&self) -> MutexGuard<'_, Live> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a turn the one under way and returns its token.
    pub(super) fn begin(&self) -> Result<CancellationToken, AgentError> {
        let mut live = self.live();
        if live.is_closed {
            return Err(AgentError::Closed);
        }
        if live.running.is_some() {
            return Err(AgentError::Busy);
        }
        let token = self.recipe.tasks.child_token();
        live.running = Some(token.clone());
        (live.taken, live.is_taken_counted) = (Spending::default(), false);
        Ok(token)
    }

    /// Notes that no turn is under way any more.
    pub(crate) fn end(&self) {
        self.live().running = None;
        self.idle.notify_waiters();
    }

    /// Returns who is asked about calls of this conversation and its forks.
    pub(crate) fn desk(&self) -> Desk {
        Desk { approver: self.recipe.approver.clone(), grants: self.grants.clone() }
    }

    /// Lets a held call run and returns its token, and what it holds while it runs.
    pub(crate) fn begin_held(&self) -> Result<(CancellationToken, TaskTrackerToken), AgentError> {
        let live = self.live();
        if live.is_closed {
            return Err(AgentError::Closed);
        }
        Ok((self.held.token.child_token(), self.held.tracker.token()))
    }

    /// Returns why nothing can be started any more, or not from here.
    pub(crate) fn not_spawned() -> AgentError {
        let has_runtime = tokio::runtime::Handle::try_current().is_ok();
        if has_runtime { AgentError::Closed } else { AgentError::NoRuntime }
    }

    /// Returns what the session remembers of its compressions.
    pub(crate) fn compress_state(&self) -> CompressState {
        self.live().state.compress.clone()
    }

    /// Notes what the session remembers of its compressions.
    pub(crate) fn set_compress_state(&self, state: CompressState) {
        self.live().state.compress = state;
    }

    /// Returns whether a review of this session is under way.
    pub(crate) fn is_in_review(&self) -> bool {
        self.live().review.as_ref().is_some_and(|review| !review.is_over())
    }

    /// Notes the review that is under way.
    pub(crate) fn set_review(&self, review: ReviewHandle) {
        self.live().review = Some(review);
    }

    /// Returns what was sent since the last call.
    pub(crate) fn take_steered(&self) -> Vec<String> {
        self.live().steered.drain(..).collect()
    }
}
