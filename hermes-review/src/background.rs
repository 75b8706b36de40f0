//! The ready-made review: a fork of the conversation that may only read and write memory and skills.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use hermes_core::{
    Cost,
    agent::{AgentError, Finish},
    async_trait,
    change::Change,
    fork::{Fork, ForkContext, ForkOutcome, ForkTask},
    origin::Origin,
    provider::{ModelId, Provider},
    review::{Review, ReviewOutcome, ReviewReport, ReviewScope},
};
use tokio::time::Instant;

use crate::{digest, prompt};

/// Looks back at a conversation in a [`Fork`] of it and saves what is worth saving.
///
/// On the conversation's own model the fork sends the same prompt, tools and messages, so that the
/// provider's cache is warm; what it may not call is refused when it is called. On another model it
/// reads a [`digest`](crate::digest()) instead.
///
/// # Examples
///
/// ```
/// use hermes_review::{BackgroundReview, Intervals, NudgePolicy};
///
/// let review = BackgroundReview::new().model("a-cheaper-model").max_requests(8);
/// let policy = NudgePolicy::new(Intervals::default()).by(review);
/// # let _ = policy;
/// ```
#[derive(Clone, Debug)]
pub struct BackgroundReview {
    model: Option<ModelId>,
    provider: Option<Arc<dyn Provider>>,
    max_requests: u32,
    max_tokens: Option<u64>,
    max_cost: Option<Cost>,
    time_limit: Duration,
}

impl Default for BackgroundReview {
    fn default() -> Self {
        Self::new()
    }
}

impl BackgroundReview {
    /// As hermes-agent bounds its review.
    const DEFAULT_MAX_REQUESTS: u32 = 16;
    const DEFAULT_TIME_LIMIT: Duration = Duration::from_secs(600);

    /// Creates a review on the conversation's own model.
    pub fn new() -> Self {
        Self {
            model: None,
            provider: None,
            max_requests: Self::DEFAULT_MAX_REQUESTS,
            max_tokens: None,
            max_cost: None,
            time_limit: Self::DEFAULT_TIME_LIMIT,
        }
    }

    /// Sets another model, which then reads a digest. The conversation's own by default.
    #[must_use]
    pub fn model(mut self, model: impl Into<ModelId>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Sets another provider, whose model then reads a digest. The conversation's own by default.
    #[must_use]
    pub fn provider(mut self, provider: impl Provider + 'static) -> Self {
        self.provider = Some(Arc::new(provider));
        self
    }

    /// Sets how many model requests a review may make. 16 by default, and at least 1.
    #[must_use]
    pub fn max_requests(mut self, requests: u32) -> Self {
        self.max_requests = requests;
        self
    }

    /// Sets how many tokens a review may use, input and output together. No limit by default.
    #[must_use]
    pub fn max_tokens(mut self, tokens: u64) -> Self {
        self.max_tokens = Some(tokens);
        self
    }

    /// Sets how much money a review may cost, where the agent knows
    /// [prices](hermes_core::agent::AgentBuilder::pricing). No limit by default; those of the session do
    /// not count reviews.
    #[must_use]
    pub fn max_cost(mut self, cost: Cost) -> Self {
        self.max_cost = Some(cost);
        self
    }

    /// Sets how long a review may take. Ten minutes by default.
    #[must_use]
    pub fn time_limit(mut self, limit: Duration) -> Self {
        self.time_limit = limit;
        self
    }

    fn task(&self, id: &str, scope: ReviewScope, fork: &dyn Fork) -> ForkTask {
        let tools = tools(scope);
        let prompt = prompt::review_prompt(scope, &tools);
        let mut task = ForkTask::new(prompt, Origin::review(id)).with_tools(tools);
        task.max_requests = self.max_requests;
        task.max_tokens = self.max_tokens;
        task.max_cost = self.max_cost;
        task.model.clone_from(&self.model);
        task.provider.clone_from(&self.provider);
        if self.model.is_some() || self.provider.is_some() {
            task.context = ForkContext::Messages(digest(&fork.history()));
        }
        task
    }
}

/// Returns the tools that a review of `scope` may call, sorted.
fn tools(scope: ReviewScope) -> Vec<&'static str> {
    let memory = scope.has_memory().then_some("memory");
    let skills = ["skill_manage", "skill_view", "skills_list"];
    let skills = skills.into_iter().filter(|_| scope.has_skills());
    memory.into_iter().chain(skills).collect()
}

#[async_trait]
impl Review for BackgroundReview {
    async fn run(&self, id: &str, scope: ReviewScope, fork: Arc<dyn Fork>) -> ReviewReport {
        let start = Instant::now();
        let record: Arc<Mutex<Vec<Change>>> = Arc::default();
        let mut task = self.task(id, scope, &*fork);
        task.record = Some(Arc::clone(&record));
        let token = task.token.clone();

        let running = fork.run(task);
        tokio::pin!(running);
        let (ended, is_late) = tokio::select! {
            biased;
            ended = &mut running => (ended, false),
            () = tokio::time::sleep(self.time_limit) => {
                token.cancel();
                (running.await, true)
            }
        };

        let mut report = ReviewReport::new(id, scope);
        report.changes =
            std::mem::take(&mut *record.lock().unwrap_or_else(PoisonError::into_inner));
        report.took = start.elapsed();
        close(&mut report, ended, is_late);
        report
    }
}

/// Puts into the report how the fork ended.
fn close(report: &mut ReviewReport, ended: Result<ForkOutcome, AgentError>, is_late: bool) {
    let outcome = match ended {
        Ok(outcome) => outcome,
        Err(err) => {
            report.outcome = ReviewOutcome::Failed(err.describe());
            return;
        }
    };
    report.outcome = match outcome.finish {
        Finish::Cancelled if is_late => ReviewOutcome::CutOff,
        Finish::Cancelled => ReviewOutcome::Cancelled,
        Finish::OutOfRounds => ReviewOutcome::CutOff,
        _ if report.changes.is_empty() => ReviewOutcome::NothingToSave,
        _ => ReviewOutcome::Saved,
    };
    report.note = outcome.text;
    report.requests = outcome.requests;
    report.usage = outcome.usage;
    report.cost = outcome.cost;
}
