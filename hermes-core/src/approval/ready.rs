//! Ready-made approvers.

use std::{fmt, time::Duration};

use async_trait::async_trait;

use super::{Answer, Approval, ApprovalRequest, Approver};

/// Denies everything, which is also what happens without an approver.
#[derive(Clone, Copy, Debug, Default)]
pub struct DenyAll;

#[async_trait]
impl Approver for DenyAll {
    async fn approve(&self, _: &ApprovalRequest) -> Approval {
        Approval::Deny("nothing that needs approval is allowed here".to_owned())
    }

    fn name(&self) -> &'static str {
        "policy"
    }
}

/// Allows everything, dangerous or not. For tests, and for sandboxes in which nothing is of value.
#[derive(Clone, Copy, Debug, Default)]
pub struct AllowAll;

#[async_trait]
impl Approver for AllowAll {
    async fn approve(&self, _: &ApprovalRequest) -> Approval {
        Approval::AllowOnce
    }

    fn name(&self) -> &'static str {
        "policy"
    }
}

/// An approver made of a closure. Made by [`from_fn`] and [`from_answer_fn`].
#[derive(Clone)]
pub struct FnApprover<F>(F);

/// Makes an approver of a closure.
///
/// # Examples
///
/// ```
/// use hermes_core::{approval::{self, Approval, ApprovalRequest}, origin::OriginKind};
///
/// // Whatever nobody asked for waits for a person.
/// let approver = approval::from_fn(|request: ApprovalRequest| async move {
///     match request.origin.kind {
///         OriginKind::User => Approval::AllowOnce,
///         _ => Approval::Hold,
///     }
/// });
/// # let _ = approver;
/// ```
pub fn from_fn<F, Fut>(ask: F) -> FnApprover<F>
where
    F: Fn(ApprovalRequest) -> Fut + Send + Sync,
    Fut: Future<Output = Approval> + Send,
{
    FnApprover(ask)
}

/// Makes an approver of a closure that also says who decided.
///
/// # Examples
///
/// ```
/// use hermes_core::approval::{self, Approval, ApprovalRequest};
///
/// let approver = approval::from_answer_fn(|request: ApprovalRequest| async move {
///     // A real one shows `request` and waits for whoever of the team takes it.
///     Approval::Deny(format!("no {} today", request.call.name)).by("sam")
/// });
/// # let _ = approver;
/// ```
pub fn from_answer_fn<F, Fut>(ask: F) -> FnApprover<F>
where
    F: Fn(ApprovalRequest) -> Fut + Send + Sync,
    Fut: Future<Output = Answer> + Send,
{
    FnApprover(ask)
}

impl<F> fmt::Debug for FnApprover<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FnApprover")
    }
}

#[async_trait]
impl<F, Fut> Approver for FnApprover<F>
where
    F: Fn(ApprovalRequest) -> Fut + Send + Sync,
    Fut: Future<Output: Into<Answer>> + Send,
{
    async fn approve(&self, request: &ApprovalRequest) -> Approval {
        self.answer(request).await.approval
    }

    async fn answer(&self, request: &ApprovalRequest) -> Answer {
        (self.0)(request.clone()).await.into()
    }
}

/// Denies what has no answer in time, so that silence is a no.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
///
/// use hermes_core::approval::{DenyAll, Within};
///
/// let approver = Within::new(DenyAll, Duration::from_secs(60)); // in place of `DenyAll`, a person
/// # let _ = approver;
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Within<A> {
    inner: A,
    limit: Duration,
}

impl<A> Within<A> {
    /// Wraps `inner`, which has `limit` for each answer.
    pub fn new(inner: A, limit: Duration) -> Self {
        Self { inner, limit }
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods, reason = "a wrapper forwards everything")]
impl<A: Approver> Approver for Within<A> {
    async fn approve(&self, request: &ApprovalRequest) -> Approval {
        self.answer(request).await.approval
    }

    async fn answer(&self, request: &ApprovalRequest) -> Answer {
        tokio::time::timeout(self.limit, self.inner.answer(request)).await.unwrap_or_else(|_| {
            let reason = format!("nobody answered within {} s", self.limit.as_secs());
            Approval::Deny(reason).by("time limit")
        })
    }

    fn name(&self) -> &str {
        self.inner.name()
    }
}
