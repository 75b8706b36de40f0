//! Collects the parts of an agent and checks how they fit together.

use std::sync::Arc;

use super::{
    Agent, Limits, SessionLimits, Unheard, Waiting,
    hook::{Hook, Hooks},
    recipe::Recipe,
    tasks::{Reports, Tasks},
};
use crate::{
    approval::{Approver, NeedsApproval},
    audit::{AuditFailure, AuditSink, Auditor},
    clock::{Clock, SystemClock},
    compress::Compressor,
    context::ResultHint,
    cost::Pricing,
    prompt::{FixedSection, PromptSource, Slot},
    provider::{ModelId, Provider, Sampling, ToolChoice},
    review::ReviewPolicy,
    store::{CounterStore, SessionStore},
    tool::{ResultSpill, Tool, ToolRegistry, ToolSpec},
};

/// Something that brings several parts of an agent at once, such as a memory with its prompt
/// section and its tool.
pub trait Extension {
    /// Adds its parts to `builder`.
    fn install(self, builder: AgentBuilder) -> AgentBuilder;
}

/// Collects the parts of an [`Agent`].
///
/// Setters can come in any order; [`build`](Self::build) checks how the parts fit together. Parts
/// can be passed as they are or in an `Arc`, to keep a handle on them.
#[derive(Debug)]
#[must_use = "a builder does nothing until `build` is called"]
pub struct AgentBuilder {
    provider: Arc<dyn Provider>,
    model: Option<ModelId>,
    sampling: Sampling,
    tool_choice: ToolChoice,
    tools: Vec<Arc<dyn Tool>>,
    sections: Vec<Arc<dyn PromptSource>>,
    hints: Option<Arc<dyn ResultHint>>,
    hooks: Vec<Arc<dyn Hook>>,
    review: Option<Arc<dyn ReviewPolicy>>,
    approver: Option<Arc<dyn Approver>>,
    audit: Option<Arc<dyn AuditSink>>,
    audit_failure: AuditFailure,
    sessions: Option<Arc<dyn SessionStore>>,
    counters: Option<Arc<dyn CounterStore>>,
    compressor: Option<Arc<dyn Compressor>>,
    clock: Arc<dyn Clock>,
    pricing: Option<Arc<dyn Pricing>>,
    limits: Limits,
    max_requests: Option<u32>,
    session_limits: SessionLimits,
    max_depth: u32,
    max_result_chars: usize,
    max_round_chars: usize,
    max_parallel_calls: usize,
    traces_content: bool,
    spill: Option<Arc<dyn ResultSpill>>,
    max_repeats: u32,
}

impl AgentBuilder {
    /// Sub-agents of the conversation's own agent, but none of theirs.
    const DEFAULT_MAX_DEPTH: u32 = 1;
    /// As hermes-agent cuts a single result.
    const DEFAULT_MAX_RESULT_CHARS: usize = 100_000;
    /// As hermes-agent bounds those of one reply.
    const DEFAULT_MAX_ROUND_CHARS: usize = 200_000;
    /// As hermes-agent.
    const DEFAULT_MAX_PARALLEL_CALLS: usize = 8;
    /// As hermes-agent does where it stops such calls.
    const DEFAULT_MAX_REPEATS: u32 = 5;

    pub(super) fn new(provider: Arc<dyn Provider>) -> Self {
        Self {
            provider,
            model: None,
            sampling: Sampling::default(),
            tool_choice: ToolChoice::default(),
            tools: Vec::new(),
            sections: Vec::new(),
            hints: None,
            hooks: Vec::new(),
            review: None,
            approver: None,
            audit: None,
            audit_failure: AuditFailure::default(),
            sessions: None,
            counters: None,
            compressor: None,
            clock: Arc::new(SystemClock),
            pricing: None,
            limits: Limits::default(),
            max_requests: None,
            session_limits: SessionLimits::default(),
            max_depth: Self::DEFAULT_MAX_DEPTH,
            max_result_chars: Self::DEFAULT_MAX_RESULT_CHARS,
            max_round_chars: Self::DEFAULT_MAX_ROUND_CHARS,
            max_parallel_calls: Self::DEFAULT_MAX_PARALLEL_CALLS,
            traces_content: false,
            spill: None,
            max_repeats: Self::DEFAULT_MAX_REPEATS,
        }
    }

    /// Sets the model to ask. Required.
    pub fn model(mut self, model: impl Into<ModelId>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Sets how the model samples. By default everything is left to the endpoint.
    pub fn sampling(mut self, sampling: Sampling) -> Self {
        self.sampling = sampling;
        self
    }

    /// Sets the tool choice of the first request of every turn; the others are
    /// [`ToolChoice::Auto`], or a forced tool would be called for ever. [`ToolChoice::None`] holds for
    /// the whole turn. `Auto` by default.
    pub fn tool_choice(mut self, choice: ToolChoice) -> Self {
        self.tool_choice = choice;
        self
    }

    /// Says who the agent is, at the top of the system prompt; said again, the texts follow one another.
    /// Without it the prompt has only what the other parts bring.
    pub fn identity(self, text: impl Into<String>) -> Self {
        self.section(FixedSection::new(Slot::Identity, text))
    }

    /// Adds a section of the system prompt. It is read when a conversation starts.
    pub fn section(mut self, section: impl PromptSource + 'static) -> Self {
        self.sections.push(Arc::new(section));
        self
    }

    /// Sets what is added to the results of calls.
    pub(crate) fn hints(mut self, hints: impl ResultHint + 'static) -> Self {
        self.hints = Some(Arc::new(hints));
        self
    }

    /// Adds a tool.
    pub fn tool(mut self, tool: impl Tool + 'static) -> Self {
        self.tools.push(Arc::new(tool));
        self
    }

    /// Adds tools of different types.
    pub fn tools(mut self, tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Self {
        self.tools.extend(tools);
        self
    }

    /// Adds whatever `extension` brings.
    pub fn with(self, extension: impl Extension) -> Self {
        extension.install(self)
    }

    /// Adds a memory: its prompt section and its tool, such as `hermes_memory::Memory`. Without one
    /// the agent knows nothing of earlier conversations.
    pub fn memory(self, memory: impl Extension) -> Self {
        self.with(memory)
    }

    /// Adds skills: their index and their tools, such as `hermes_skills::Skills`. Without them the
    /// agent has no procedures to go by.
    pub fn skills(self, skills: impl Extension) -> Self {
        self.with(skills)
    }

    /// Adds a hook, which is asked after those added before it.
    pub fn hook(mut self, hook: impl Hook + 'static) -> Self {
        self.hooks.push(Arc::new(hook));
        self
    }

    /// Sets when the agent reflects and what becomes of what it wants to keep. Without a policy it
    /// never reflects, and every write is applied.
    pub fn review(mut self, policy: impl ReviewPolicy + 'static) -> Self {
        self.review = Some(Arc::new(policy));
        self
    }

    /// Sets who is asked about calls that need approval, of the conversation and of its reviews and
    /// sub-agents. Without an approver all of them are denied, with a reason.
    pub fn approver(mut self, approver: impl Approver + 'static) -> Self {
        self.approver = Some(Arc::new(approver));
        self
    }

    /// Sets where a record is kept of every call, approval, write and review, such as
    /// [`JsonlAudit`](crate::audit::JsonlAudit). Without a sink nothing is recorded.
    pub fn audit(mut self, sink: impl AuditSink + 'static) -> Self {
        self.audit = Some(Arc::new(sink));
        self
    }

    /// Sets what it means for a turn that something could not be recorded. By default the host is
    /// warned, and the turn goes on.
    pub fn audit_failure(mut self, failure: AuditFailure) -> Self {
        self.audit_failure = failure;
        self
    }

    /// Sets where conversations are kept. Without a store they end with the process.
    pub fn sessions(mut self, store: impl SessionStore + 'static) -> Self {
        self.sessions = Some(Arc::new(store));
        self
    }

    /// Sets where the counts that reviews go by are kept. Without it each session has its own.
    pub fn counters(mut self, store: impl CounterStore + 'static) -> Self {
        self.counters = Some(Arc::new(store));
        self
    }

    /// Sets what makes room in conversations that near the model's window, such as
    /// [`Summariser`](crate::compress::Summariser). It is asked before every request, and after one
    /// that the endpoint refused as too long, at most twice in a row. Without it such a turn fails.
    pub fn compressor(mut self, compressor: impl Compressor + 'static) -> Self {
        self.compressor = Some(Arc::new(compressor));
        self
    }

    /// Sets the clock. The machine's own by default.
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Sets how far one turn may go; its requests count only without
    /// [`max_requests`](Self::max_requests).
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets how far a whole conversation may go. No limit by default.
    pub fn session_limits(mut self, limits: SessionLimits) -> Self {
        self.session_limits = limits;
        self
    }

    /// Sets where prices come from, such as `hermes_providers::PriceTable`. Without them no cost is
    /// known.
    pub fn pricing(mut self, pricing: impl Pricing + 'static) -> Self {
        self.pricing = Some(Arc::new(pricing));
        self
    }

    /// Sets how many model requests one turn may make. 90 by default.
    pub fn max_requests(mut self, requests: u32) -> Self {
        self.max_requests = Some(requests);
        self
    }

    /// Sets how deep agents may be nested below a conversation. 1 by default; 0 allows reviews only.
    pub fn max_depth(mut self, depth: u32) -> Self {
        self.max_depth = depth;
        self
    }

    /// Sets how many characters of a result the model is shown; what is over is cut from the middle,
    /// with a marker. 100,000 by default.
    pub fn max_result_chars(mut self, chars: usize) -> Self {
        self.max_result_chars = chars;
        self
    }

    /// Sets how many characters the results of one reply may have together; what is over is cut as with
    /// [`max_result_chars`](Self::max_result_chars), the later results first, but none to less than
    /// 2,000. 200,000 by default.
    pub fn max_round_chars(mut self, chars: usize) -> Self {
        self.max_round_chars = chars;
        self
    }

    /// Sets how many calls of one reply run at the same time, of those that
    /// [may](crate::tool::ToolSpec::runs_in_parallel); the others wait for one of them to end. Their
    /// results keep the order of the calls. 8 by default, at least 1. A sub-agent counts by itself.
    pub fn max_parallel_calls(mut self, calls: usize) -> Self {
        self.max_parallel_calls = calls.max(1);
        self
    }

    /// Sets whether spans hold what was said: prompts, messages, arguments and results, which may be
    /// private and long. They do not by default.
    pub fn trace_content(mut self, is_on: bool) -> Self {
        self.traces_content = is_on;
        self
    }

    /// Sets where results over [`max_result_chars`](Self::max_result_chars) are kept whole, such as
    /// [`SpillFolder`](crate::tool::SpillFolder); the model is then shown 1,500 characters of them and
    /// where the rest is. Without it they are cut.
    pub fn spill_results(mut self, spill: impl ResultSpill + 'static) -> Self {
        self.spill = Some(Arc::new(spill));
        self
    }

    /// Sets how often in a row the same call may fail in a turn before it is refused without running,
    /// until something has been changed or the user has said something. 5 by default; 0 for no limit.
    /// From the second failure on, and from the second reading of the same thing, the model is told.
    pub fn max_repeats(mut self, repeats: u32) -> Self {
        self.max_repeats = repeats;
        self
    }

    /// Puts the agent together.
    ///
    /// # Errors
    ///
    /// - [`BuildError::NoModel`] if no model is set.
    /// - [`BuildError::NoRequests`] if a turn may make no request at all.
    /// - [`BuildError::NoPricing`] if money is limited and there are no prices.
    /// - [`BuildError::DuplicateTool`] if two tools have the same name.
    /// - [`BuildError::InvalidTool`] if a tool's name or schema is one that endpoints refuse, or its
    ///   approval goes by an argument that its schema does not have.
    /// - [`BuildError::MissingTool`] if a section of the prompt needs a tool that is not there.
    pub fn build(self) -> Result<Agent, BuildError> {
        let model = self.model.filter(|it| !it.as_str().trim().is_empty());
        let model = model.ok_or(BuildError::NoModel)?;
        let requests = self.max_requests.unwrap_or(self.limits.requests);
        if requests == 0 {
            return Err(BuildError::NoRequests);
        }
        let limits = self.limits.requests(requests);
        let limits_cost = limits.cost.is_some() || self.session_limits.has_cost();
        if limits_cost && self.pricing.is_none() {
            return Err(BuildError::NoPricing);
        }
        let registry = ToolRegistry::new(self.tools)
            .map_err(|err| BuildError::DuplicateTool { name: err.name })?;
        check_specs(&registry)?;
        check_sections(&self.sections, &registry)?;
        let unheard = Unheard::default();
        let auditor =
            |sink| Auditor::new(sink, self.audit_failure, Arc::clone(&self.clock), unheard.clone());
        let audit = self.audit.map(|sink| Arc::new(auditor(sink)));
        Ok(Agent::new(Recipe {
            provider: self.provider,
            model,
            sampling: self.sampling,
            tool_choice: self.tool_choice,
            registry,
            sections: self.sections,
            hints: self.hints,
            hooks: Hooks::new(self.hooks),
            policy: self.review,
            approver: self.approver,
            audit,
            sessions: self.sessions,
            counters: self.counters,
            compressor: self.compressor,
            clock: self.clock,
            pricing: self.pricing,
            limits,
            session_limits: self.session_limits,
            max_depth: self.max_depth,
            max_result_chars: self.max_result_chars,
            max_round_chars: self.max_round_chars,
            max_parallel_calls: self.max_parallel_calls,
            traces_content: self.traces_content,
            spill: self.spill,
            max_repeats: self.max_repeats,
            tasks: Tasks::default(),
            reports: Reports::default(),
            unheard,
            waiting: Waiting::default(),
        }))
    }
}

fn check_specs(registry: &ToolRegistry) -> Result<(), BuildError> {
    for spec in registry.specs().iter() {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        let is_named =
            !spec.name.is_empty() && spec.name.len() <= 64 && spec.name.bytes().all(is_plain);
        let has_schema = spec.parameters.get("type").and_then(|it| it.as_str()) == Some("object");
        let reason = match (is_named, has_schema, judges_nothing(spec)) {
            (false, ..) => "its name must be 1 to 64 of a-z, A-Z, 0-9, '_' and '-'",
            (_, false, _) => "its schema must have \"type\": \"object\"",
            (.., true) => "its schema has no property of the name that approval goes by",
            _ => continue,
        };
        return Err(BuildError::InvalidTool { name: Arc::clone(&spec.name), reason });
    }
    Ok(())
}

/// Returns whether approval goes by an argument that no call can have.
fn judges_nothing(spec: &ToolSpec) -> bool {
    let NeedsApproval::Dangerous { argument } = &spec.needs_approval else { return false };
    spec.parameters.get("properties").and_then(|it| it.get(&**argument)).is_none()
}

fn check_sections(
    sections: &[Arc<dyn PromptSource>],
    registry: &ToolRegistry,
) -> Result<(), BuildError> {
    for section in sections {
        if let Some(tool) = section.needs_tool()
            && registry.get(tool).is_none()
        {
            return Err(BuildError::MissingTool { section: section.slot(), tool: tool.to_owned() });
        }
    }
    Ok(())
}

/// Parts that do not fit together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// No model is set.
    #[error("no model is set; call `model`")]
    NoModel,
    /// A turn may make no request.
    #[error("a turn may make no model request; set `max_requests` to at least 1")]
    NoRequests,
    /// Money is limited and there are no prices.
    #[error("money is limited and no prices are known; call `pricing`")]
    NoPricing,
    /// Two tools have the same name.
    #[error("two tools are called {name:?}")]
    DuplicateTool {
        /// The name.
        name: Arc<str>,
    },
    /// A tool that endpoints would refuse, or that nobody would ever be asked about.
    #[error("the tool {name:?} cannot be offered: {reason}")]
    InvalidTool {
        /// Its name.
        name: Arc<str>,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A section speaks of a tool that is not there.
    #[error("the {section:?} section of the prompt needs the tool {tool:?}, which is not there")]
    MissingTool {
        /// The section.
        section: Slot,
        /// The tool.
        tool: String,
    },
}
