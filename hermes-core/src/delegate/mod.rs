//! The `delegate` tool: sub-agents with conversations of their own, side by side.

mod report;
mod task;

use std::{
    panic::AssertUnwindSafe,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use futures::{FutureExt, future::join_all};
use serde_json::{Value, json};

use self::{report::Report, task::Task};
use crate::{
    change::Change,
    cost::Cost,
    fork::{Fork, ForkContext, ForkTask},
    origin::{Origin, OriginKind},
    provider::{ModelId, Provider},
    tool::{Tool, ToolContext, ToolError, ToolOutput, ToolSpec},
};

/// The tool by which a model hands tasks to sub-agents and gets their reports.
///
/// Each sub-agent is a [`Fork`]: the same loop under the same system prompt, but with a conversation
/// that begins with its task and nothing else, a budget of its own, and only the tools named here, of
/// which the model may choose fewer for a task. The sub-agents of one call run at the same time and
/// their reports come back in the order of the tasks; one that fails has a report that says so. What
/// they change counts as changed by the call, and their calls are on the account of
/// [`OriginKind::Delegate`]. They are cancelled with the turn.
///
/// How deep sub-agents may be nested is set by
/// [`AgentBuilder::max_depth`](crate::agent::AgentBuilder::max_depth), 1 by default: at the limit the
/// model is told to do the work itself. A deeper limit has an effect only if `delegate` is among the
/// tools.
///
/// # Examples
///
/// ```
/// # #[cfg(feature = "testing")]
/// # fn main() -> Result<(), hermes_core::agent::BuildError> {
/// use hermes_core::{Agent, delegate::Delegate, testing::ScriptedProvider};
///
/// let agent = Agent::builder(ScriptedProvider::new())
///     .model("scripted")
///     .tool(Delegate::new(["read_file", "search_files"]).max_requests(20))
///     .build()?;
/// # let _ = agent;
/// # Ok(())
/// # }
/// # #[cfg(not(feature = "testing"))]
/// # fn main() {}
/// ```
#[derive(Clone, Debug)]
pub struct Delegate {
    tools: Vec<Arc<str>>,
    max_tasks: usize,
    max_requests: u32,
    max_tokens: Option<u64>,
    max_cost: Option<Cost>,
    timeout: Duration,
    max_summary_chars: usize,
    model: Option<ModelId>,
    provider: Option<Arc<dyn Provider>>,
}

/// What the model is told where no sub-agent may be started.
const TOO_DEEP: &str = "No sub-agent can be started here: the limit of nesting is reached. Do the \
                        work yourself with the tools you have.";

impl Delegate {
    /// As in hermes-agent.
    const DEFAULT_MAX_TASKS: usize = 3;
    /// As in hermes-agent.
    const DEFAULT_MAX_REQUESTS: u32 = 50;
    const DEFAULT_MAX_TOKENS: u64 = 1_000_000;
    /// How long a cancelled turn waits for its sub-agents, which are cancelled with it: longer than any
    /// tool of this library takes to end.
    const CANCEL_GRACE: Duration = Duration::from_secs(20);
    const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30 * 60);
    /// As in hermes-agent.
    const DEFAULT_MAX_SUMMARY_CHARS: usize = 24_000;

    /// Creates the tool for sub-agents that may call `tools`, which are tools of the agent by name.
    pub fn new<T: Into<Arc<str>>>(tools: impl IntoIterator<Item = T>) -> Self {
        Self {
            tools: tools.into_iter().map(Into::into).collect(),
            max_tasks: Self::DEFAULT_MAX_TASKS,
            max_requests: Self::DEFAULT_MAX_REQUESTS,
            max_tokens: Some(Self::DEFAULT_MAX_TOKENS),
            max_cost: None,
            timeout: Self::DEFAULT_TIMEOUT,
            max_summary_chars: Self::DEFAULT_MAX_SUMMARY_CHARS,
            model: None,
            provider: None,
        }
    }

    /// Sets how many tasks one call may have, all of which run at the same time. 3 by default, at
    /// least 1.
    #[must_use]
    pub fn max_tasks(mut self, tasks: usize) -> Self {
        self.max_tasks = tasks.max(1);
        self
    }

    /// Sets how many model requests each sub-agent may make. 50 by default.
    #[must_use]
    pub fn max_requests(mut self, requests: u32) -> Self {
        self.max_requests = requests;
        self
    }

    /// Sets how many tokens each sub-agent may use, input and output together; `None` for no limit.
    /// A million by default.
    #[must_use]
    pub fn max_tokens(mut self, tokens: Option<u64>) -> Self {
        self.max_tokens = tokens;
        self
    }

    /// Sets how much money each sub-agent may cost, where [prices](crate::agent::AgentBuilder::pricing)
    /// are known. No limit of its own by default; those of the turn and of the session hold in any case.
    #[must_use]
    pub fn max_cost(mut self, cost: Cost) -> Self {
        self.max_cost = Some(cost);
        self
    }

    /// Sets how long each sub-agent may take. Half an hour by default.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets how many characters of a report come back; what is over is cut from its middle. 24,000 by
    /// default.
    #[must_use]
    pub fn max_summary_chars(mut self, chars: usize) -> Self {
        self.max_summary_chars = chars;
        self
    }

    /// Sets another model for the sub-agents. The conversation's own by default.
    #[must_use]
    pub fn model(mut self, model: impl Into<ModelId>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Sets another provider for the sub-agents. The conversation's own by default.
    #[must_use]
    pub fn provider(mut self, provider: impl Provider + 'static) -> Self {
        self.provider = Some(Arc::new(provider));
        self
    }

    /// Runs one task to its report, whatever happens in it.
    async fn one(
        &self,
        number: usize,
        task: &Task,
        fork: &Arc<dyn Fork>,
        context: &ToolContext,
    ) -> (Report, Vec<Change>) {
        let work = self.fork_task(number, task, context);
        let token = work.token.clone();
        let record = Unreturned { record: work.record.clone().unwrap_or_default(), context };
        let run = AssertUnwindSafe(fork.run(work)).catch_unwind();
        tokio::pin!(run);
        let (ended, is_late) = tokio::select! {
            biased;
            ended = &mut run => (ended, false),
            () = tokio::time::sleep(self.timeout) => {
                token.cancel();
                (run.await, true)
            }
        };
        let changes = record.take();
        let mut report = Report::of(number, ended, &changes, self.max_summary_chars);
        if is_late {
            report.mark_late(self.timeout);
        }
        context.report_progress(format!("Task {}: {}", number.saturating_add(1), report.status()));
        (report, changes)
    }

    fn fork_task(&self, number: usize, task: &Task, context: &ToolContext) -> ForkTask {
        let own = format!("{}/{}", context.call(), number.saturating_add(1));
        let task_id = match &context.origin().task {
            Some(outer) => format!("{outer}/{own}"),
            None => own,
        };
        let origin = Origin {
            kind: OriginKind::Delegate,
            task: Some(task_id.into()),
            ..context.origin().clone()
        };
        let tools = task.tools.as_ref().unwrap_or(&self.tools);
        let mut work = ForkTask::new(task.prompt(tools), origin).with_tools(tools.iter().cloned());
        work.context = ForkContext::Messages(Vec::new());
        work.max_requests = self.max_requests;
        work.max_tokens = self.max_tokens;
        work.max_cost = self.max_cost;
        work.model.clone_from(&self.model);
        work.provider.clone_from(&self.provider);
        work.token = context.token().child_token();
        work.record = Some(Arc::default());
        work
    }

    fn description(&self) -> String {
        let tools = if self.tools.is_empty() {
            "They have no tools.".to_owned()
        } else {
            format!("They have these tools: {}.", self.tools.join(", "))
        };
        format!(
            "Hands tasks to sub-agents that work on them at the same time, up to {}, and returns their \
             reports in order. Use it for work that would fill this conversation with detail, such as \
             reading many files, and for parts that do not depend on each other. Do small things \
             yourself. A sub-agent sees nothing of this conversation and cannot ask: put all it needs \
             into its task. {tools} A report is its author's word; check what matters.",
            self.max_tasks
        )
    }

    fn parameters(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "tasks": {
                    "type": "array",
                    "minItems": 1,
                    "maxItems": self.max_tasks,
                    "items": {
                        "type": "object",
                        "properties": {
                            "goal": {
                                "type": "string",
                                "description": "What is to be done, and what the report must contain.",
                            },
                            "context": {
                                "type": "string",
                                "description": "What the sub-agent needs to know: paths, names, errors, \
                                                decisions, the user's wishes.",
                            },
                            "tools": {
                                "type": "array",
                                "items": {"type": "string", "enum": self.tools},
                                "description": "The tools it may call, if not all it could have.",
                            },
                        },
                        "required": ["goal"],
                        "additionalProperties": false,
                    },
                },
            },
            "required": ["tasks"],
            "additionalProperties": false,
        })
    }
}

/// What a sub-agent changed; noted with the call if that is dropped before it returns.
struct Unreturned<'a> {
    record: Arc<Mutex<Vec<Change>>>,
    context: &'a ToolContext,
}

impl Unreturned<'_> {
    fn take(&self) -> Vec<Change> {
        std::mem::take(&mut *self.record.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for Unreturned<'_> {
    fn drop(&mut self) {
        self.take().into_iter().for_each(|change| self.context.note_change(change));
    }
}

#[async_trait]
impl Tool for Delegate {
    fn spec(&self) -> ToolSpec {
        ToolSpec::new("delegate", self.description())
            .with_parameters(self.parameters())
            .with_cancel_grace(Self::CANCEL_GRACE)
    }

    async fn call(&self, arguments: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let Some(fork) = context.fork() else { return Ok(ToolOutput::rejected(TOO_DEEP)) };
        let tasks = match task::read(&arguments, &self.tools, self.max_tasks) {
            Ok(tasks) => tasks,
            Err(problems) => {
                let problems = problems.join(" ");
                return Ok(ToolOutput::rejected(format!("No task was started. {problems}")));
            }
        };
        let each = tasks.iter().enumerate();
        let ended =
            join_all(each.map(|(number, task)| self.one(number, task, fork, context))).await;
        let (reports, changes): (Vec<Report>, Vec<Vec<Change>>) = ended.into_iter().unzip();
        let output = ToolOutput::done(report::json(&reports));
        Ok(changes.into_iter().flatten().fold(output, ToolOutput::with_change))
    }
}
