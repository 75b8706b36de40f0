//! What an agent runs in the background, and how to wait for it.

use std::{
    collections::VecDeque,
    fmt,
    future::IntoFuture,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::{runtime::Handle, sync::watch};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::review::{ReviewReport, ReviewScope};

/// Everything an agent has running, so that a shutdown can wait for it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tasks {
    tracker: TaskTracker,
    token: CancellationToken,
}

impl Tasks {
    /// Runs `future` on the current runtime. Returns whether there is one and the agent is open.
    pub(crate) fn spawn(&self, future: impl Future<Output = ()> + Send + 'static) -> bool {
        let Ok(runtime) = Handle::try_current() else { return false };
        if self.token.is_cancelled() {
            return false;
        }
        self.tracker.spawn_on(future, &runtime);
        true
    }

    /// Returns a token that is cancelled when the agent shuts down.
    pub(crate) fn child_token(&self) -> CancellationToken {
        self.token.child_token()
    }

    /// Waits until nothing runs any more.
    pub(crate) async fn settled(&self) {
        self.tracker.close();
        self.tracker.wait().await;
        self.tracker.reopen();
    }

    /// Cancels what runs, takes no more, and waits for the end.
    pub(crate) async fn shutdown(&self) {
        self.token.cancel();
        self.tracker.close();
        self.tracker.wait().await;
    }
}

/// A review under way. Await it for the report, which is `None` only if the runtime went away
/// before the review was over; dropping the handle does not stop the review.
#[derive(Clone)]
pub struct ReviewHandle {
    id: Arc<str>,
    scope: ReviewScope,
    token: CancellationToken,
    report: watch::Receiver<Option<Arc<ReviewReport>>>,
}

impl ReviewHandle {
    /// Returns the review's id, which is in the origin of its writes.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns what it looks for.
    pub fn scope(&self) -> ReviewScope {
        self.scope
    }

    /// Asks it to stop. What it has saved stays.
    pub fn cancel(&self) {
        self.token.cancel();
    }

    /// Returns whether the review is over, with a report or lost with its runtime.
    pub fn is_over(&self) -> bool {
        self.report.borrow().is_some() || self.report.has_changed().is_err()
    }

    /// Returns the report if the review is over.
    pub fn report(&self) -> Option<Arc<ReviewReport>> {
        self.report.borrow().clone()
    }
}

impl fmt::Debug for ReviewHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReviewHandle")
            .field("id", &self.id)
            .field("scope", &self.scope)
            .finish_non_exhaustive()
    }
}

impl IntoFuture for ReviewHandle {
    /// The report; `None` if the review was lost with its runtime.
    type Output = Option<Arc<ReviewReport>>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(mut self) -> Self::IntoFuture {
        Box::pin(async move {
            let report = self.report.wait_for(Option::is_some).await;
            report.ok().and_then(|it| it.clone())
        })
    }
}

/// The side of a [`ReviewHandle`] that the review itself holds.
#[derive(Debug)]
pub(crate) struct ReviewTicket {
    pub(crate) id: Arc<str>,
    pub(crate) scope: ReviewScope,
    report: watch::Sender<Option<Arc<ReviewReport>>>,
}

impl ReviewTicket {
    /// Creates both sides.
    pub(crate) fn open(
        id: Arc<str>,
        scope: ReviewScope,
        token: CancellationToken,
    ) -> (Self, ReviewHandle) {
        let (sender, receiver) = watch::channel(None);
        let handle = ReviewHandle { id: Arc::clone(&id), scope, token, report: receiver };
        (Self { id, scope, report: sender }, handle)
    }

    /// Hands over the report.
    pub(crate) fn close(self, report: Arc<ReviewReport>) {
        self.report.send_replace(Some(report));
    }
}

/// The latest reports, for hosts that look later.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reports(Arc<Mutex<VecDeque<Arc<ReviewReport>>>>);

impl Reports {
    const KEPT: usize = 64;

    pub(crate) fn push(&self, report: Arc<ReviewReport>) {
        let mut reports = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if reports.len() == Self::KEPT {
            reports.pop_front();
        }
        reports.push_back(report);
    }

    pub(crate) fn all(&self) -> Vec<Arc<ReviewReport>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }
}
