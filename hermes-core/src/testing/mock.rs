//! `mockall` mocks of the five traits, of [`Approver`] and of [`AuditSink`].

use async_trait::async_trait;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::{
    agent::FinishedTurn,
    approval::{Approval, ApprovalRequest, Approver},
    audit::{AuditError, AuditRecord, AuditSink},
    memory::{
        Entries, MemoryBackend, MemoryChange, MemoryCommit, MemoryError, Revision, RevisionId,
        Target,
    },
    origin::Origin,
    provider::{EventStream, Provider, ProviderError, Request},
    review::{ProposedWrite, ReviewPolicy, ReviewTask, Verdict},
    skill::{
        SkillChange, SkillCommit, SkillError, SkillFile, SkillList, SkillName, SkillRecord,
        SkillStore, SkillText, SkillUse,
    },
    tool::{Tool, ToolContext, ToolError, ToolOutput, ToolSpec},
    version::Versioned,
};

mockall::mock! {
    /// A [`Provider`] that answers as a test expects it to be asked.
    ///
    /// Prefer [`ScriptedProvider`](super::ScriptedProvider) where the order of answers is all that
    /// matters.
    ///
    /// # Examples
    ///
    /// ```
    /// use hermes_core::{
    ///     Agent,
    ///     agent::AgentError,
    ///     provider::{ProviderError, ProviderErrorKind},
    ///     testing::MockProvider,
    /// };
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut model = MockProvider::new();
    /// model
    ///     .expect_stream()
    ///     .withf(|request, _| request.model.as_str() == "small")
    ///     .times(1)
    ///     .returning(|_, _| Err(ProviderError::new(ProviderErrorKind::Auth, "no key")));
    ///
    /// let agent = Agent::builder(model).model("small").build()?;
    /// let outcome = agent.session().send("hello").await;
    ///
    /// assert!(matches!(outcome, Err(AgentError::Provider(_))));
    /// # Ok(())
    /// # }
    /// ```
    #[derive(Debug)]
    pub Provider {}

    #[async_trait]
    impl Provider for Provider {
        async fn stream(
            &self,
            request: &Request,
            token: &CancellationToken,
        ) -> Result<EventStream, ProviderError>;
    }
}

mockall::mock! {
    /// A [`Tool`] that expects certain calls.
    ///
    /// # Examples
    ///
    /// ```
    /// use hermes_core::{
    ///     testing::MockTool,
    ///     tool::{Tool, ToolContext, ToolOutput, ToolSpec},
    /// };
    /// use serde_json::json;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), hermes_core::tool::ToolError> {
    /// let mut tool = MockTool::new();
    /// tool.expect_spec().returning(|| ToolSpec::new("ping", "Answers with pong."));
    /// tool.expect_call().times(1).returning(|_, _| Ok(ToolOutput::done("pong")));
    ///
    /// let output = tool.call(json!({}), &ToolContext::detached()).await?;
    ///
    /// assert_eq!(output.content, "pong");
    /// # Ok(())
    /// # }
    /// ```
    #[derive(Debug)]
    pub Tool {}

    #[async_trait]
    impl Tool for Tool {
        fn spec(&self) -> ToolSpec;

        async fn call(
            &self,
            arguments: Value,
            context: &ToolContext,
        ) -> Result<ToolOutput, ToolError>;
    }
}

mockall::mock! {
    /// A [`MemoryBackend`] that expects certain calls, for what [`InMemory`](super::InMemory) does
    /// not do: failing.
    ///
    /// # Examples
    ///
    /// ```
    /// use hermes_core::{
    ///     memory::{MemoryBackend, MemoryError, Target},
    ///     testing::MockMemoryBackend,
    /// };
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let mut memory = MockMemoryBackend::new();
    /// memory.expect_read().returning(|_| Err(MemoryError::Backend("disk full".into())));
    ///
    /// assert!(memory.read(Target::User).await.is_err());
    /// # }
    /// ```
    #[derive(Debug)]
    pub MemoryBackend {}

    #[async_trait]
    impl MemoryBackend for MemoryBackend {
        async fn read(&self, target: Target) -> Result<Versioned<Entries>, MemoryError>;

        async fn commit(&self, change: MemoryChange) -> Result<MemoryCommit, MemoryError>;

        async fn history(
            &self,
            target: Target,
            limit: usize,
        ) -> Result<Vec<Revision>, MemoryError>;

        async fn undo(
            &self,
            target: Target,
            revision: &RevisionId,
            origin: Origin,
        ) -> Result<MemoryCommit, MemoryError>;
    }
}

mockall::mock! {
    /// A [`SkillStore`] that expects certain calls, for what [`InMemorySkills`](super::InMemorySkills)
    /// does not do: failing.
    ///
    /// # Examples
    ///
    /// ```
    /// use hermes_core::{skill::{SkillList, SkillStore}, testing::MockSkillStore};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), hermes_core::skill::SkillError> {
    /// let mut skills = MockSkillStore::new();
    /// skills.expect_list().times(1).returning(|| Ok(SkillList::default()));
    ///
    /// assert!(skills.list().await?.skills.is_empty());
    /// # Ok(())
    /// # }
    /// ```
    #[derive(Debug)]
    pub SkillStore {}

    #[async_trait]
    impl SkillStore for SkillStore {
        async fn list(&self) -> Result<SkillList, SkillError>;

        async fn read(&self, id: &str, file: &SkillFile) -> Result<SkillText, SkillError>;

        async fn commit(&self, change: SkillChange) -> Result<SkillCommit, SkillError>;

        async fn history(
            &self,
            skill: &SkillName,
            limit: usize,
        ) -> Result<Vec<Revision>, SkillError>;

        async fn undo(
            &self,
            skill: &SkillName,
            revision: &RevisionId,
            origin: Origin,
        ) -> Result<SkillCommit, SkillError>;

        async fn record(&self, skill: &SkillName) -> Result<Option<SkillRecord>, SkillError>;

        async fn note(&self, skill: &SkillName, what: SkillUse) -> Result<(), SkillError>;
    }
}

mockall::mock! {
    /// A [`ReviewPolicy`] that expects certain questions.
    ///
    /// # Examples
    ///
    /// ```
    /// use hermes_core::{review::ReviewPolicy, testing::{MockReviewPolicy, finished_turn}};
    ///
    /// let mut policy = MockReviewPolicy::new();
    /// policy.expect_after_turn().times(1).returning(|_| None);
    ///
    /// assert!(policy.after_turn(&finished_turn("done")).is_none());
    /// ```
    #[derive(Debug)]
    pub ReviewPolicy {}

    impl ReviewPolicy for ReviewPolicy {
        fn after_turn(&self, turn: &FinishedTurn) -> Option<ReviewTask>;

        fn judge(&self, write: &ProposedWrite) -> Verdict;
    }
}

mockall::mock! {
    /// An [`Approver`] that expects certain questions.
    ///
    /// # Examples
    ///
    /// ```
    /// use hermes_core::{
    ///     approval::{Approval, ApprovalRequest, Approver},
    ///     message::Call,
    ///     store::SessionId,
    ///     testing::MockApprover,
    /// };
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let mut approver = MockApprover::new();
    /// approver
    ///     .expect_approve()
    ///     .withf(|request| &*request.call.name == "deploy")
    ///     .times(1)
    ///     .returning(|_| Approval::AllowOnce);
    ///
    /// let call = Call::new("c1", "deploy", "{}");
    /// let answer = approver.approve(&ApprovalRequest::new(call, SessionId::new("s1"))).await;
    ///
    /// assert_eq!(answer, Approval::AllowOnce);
    /// # }
    /// ```
    #[derive(Debug)]
    pub Approver {}

    #[async_trait]
    impl Approver for Approver {
        async fn approve(&self, request: &ApprovalRequest) -> Approval;
    }
}

mockall::mock! {
    /// An [`AuditSink`] that keeps what a test expects.
    ///
    /// Prefer [`RecordingAudit`](super::RecordingAudit) where the records are all that matters.
    ///
    /// # Examples
    ///
    /// ```
    /// use hermes_core::{Agent, testing::{MockAuditSink, ScriptedProvider}};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut audit = MockAuditSink::new();
    /// audit.expect_append().withf(|records| records[0].turn == 1).times(1).returning(|_| Ok(()));
    /// let model = ScriptedProvider::new().call("nothing", serde_json::json!({})).say("done");
    ///
    /// Agent::builder(model).model("m").audit(audit).build()?.session().send("go").await?;
    /// # Ok(())
    /// # }
    /// ```
    #[derive(Debug)]
    pub AuditSink {}

    #[async_trait]
    impl AuditSink for AuditSink {
        async fn append(&self, records: &[AuditRecord]) -> Result<(), AuditError>;
    }
}
